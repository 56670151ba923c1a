"""How sampling errors are written."""

from __future__ import annotations

import pytest

from chathpc.reports import wording
from tests.reports.sample import sample


@pytest.mark.parametrize(
    ("error", "unit", "mark"),
    [
        (0.0812, "s", " (± 80 ms)"), (0.106, "s", " (± 100 ms)"), (2.4, "s", " (± 2 s)"), (0.0093, "ratio", " (± 0.9 %)"),
        (31.0, "samples", " (± 30 samples)"), (None, "s", ""), (0.0, "s", ""),
    ],
)  # fmt: skip
def test_an_error_has_one_digit_and_the_unit_of_its_value(error: float | None, unit: str, mark: str) -> None:
    record = sample().evidence[0].model_copy(update={"error": error, "unit": unit, "statement": "It takes long."})
    assert wording.statement(record, False) == f"It takes long.{mark}"


def test_error_and_tool_stand_in_one_bracket() -> None:
    record = sample().evidence[0].model_copy(update={"error": 0.08, "unit": "s", "tool": "perf", "statement": "S."})
    assert wording.statement(record, True) == "S. (± 80 ms, perf)"


@pytest.mark.parametrize(
    ("error", "more"), [(0.0049, ", up to 36.2 % with the error of sampling"), (None, ""), (0.0, "")]
)
def test_a_share_stands_with_what_it_may_be(error: float | None, more: str) -> None:
    """Two standard errors above it, as in the bound; the error itself is told where it is said how sure a finding is."""
    finding = sample().findings[0].model_copy(update={"share": 0.352, "share_error": error})
    assert wording.gain(finding).endswith(f" 35.2 % of the whole{more}")
    unbounded = finding.model_copy(update={"speedup_bound": None, "typical_gain": None, "speedup_if_free": None})
    assert wording.gain(unbounded).endswith(" 35.2 % of the whole")


def test_a_share_too_small_for_digits_has_no_error_beside_it() -> None:
    finding = sample().findings[0].model_copy(update={"share": 0.0001, "share_error": 0.001})
    assert "<0.1 % of the whole" in wording.gain(finding)
