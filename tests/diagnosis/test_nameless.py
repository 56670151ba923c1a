"""Samples without names say that time was spent, and not where."""

from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.adapters.linux_perf.script import profile_of
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.records import Verdict
from tests.profile.build import build, called_code, entry
from tests.synthetic.perf_script import LOST, MAIN, SOLVE, Frame, Sample, write

STRIPPED = Frame("[unknown]", "/opt/app")


@pytest.mark.parametrize(
    ("lost", "found", "silent"),
    [
        ((LOST,), (SOLVE, MAIN), True),
        ((LOST,), (STRIPPED,), True),
        ((LOST, MAIN), (SOLVE, MAIN), False),
        ((STRIPPED,), (STRIPPED,), False),
    ],
)
def test_time_without_any_name_allows_no_conclusion(
    lost: tuple[Frame, ...], found: tuple[Frame, ...], silent: bool
) -> None:
    text = write([Sample(lost if number % 20 else found, seconds=number) for number in range(400)])
    diagnosis = diagnose(profile_of(text.split("\n"), Path("samples.txt")))
    assert (diagnosis.verdict == Verdict.INSUFFICIENT) == silent
    assert diagnosis.headline.startswith("95.0 % of the time is in frames without a name") == silent


def test_addresses_in_a_known_module_are_places() -> None:
    for module, silent in (("app", False), (None, True)):
        nodes = [called_code(module, time=20.0) for _ in range(400)]
        diagnosis = diagnose(build(entry("main thread", *nodes)))
        assert diagnosis.headline.startswith("100 % of the time is in frames without a name") == silent
