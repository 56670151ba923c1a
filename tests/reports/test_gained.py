"""What could be won, in a line."""

from __future__ import annotations

import pytest

from chathpc.report import ChangeRecord, GainRecord
from chathpc.reports import wording
from tests.reports.sample import sample


@pytest.mark.parametrize(
    ("share", "bound", "free", "typical", "words"),
    [
        (0.3, 1.43, 2.0, None, "at most 1.43x overall"),
        (0.3, 1.43, 2.0, (1.1, 1.2), "at most 1.43x overall; similar fixes gave 1.10x to 1.20x (3 measured cases)"),
        (0.95, 20.0, 20.0, None, "nearly all of the time could go"),
        (0.5, None, 2.0, None, "unknown: it has 50.0 % of the time"),
        (0.25, None, 4.0, None, "unknown: it has 25.0 % of the time, 75.0 % with all that it calls"),
        (0.963, None, 27.0, None, "unknown: it has 96.3 % of the time"),
        (0.25, None, 4.0, (1.1, 1.2), "similar fixes gave 1.10x to 1.20x (3 measured cases)"),
        (1.0, None, None, None, "unknown: it has 100 % of the time"),
    ],
)
def test_a_gain_is_a_bound_or_what_others_got_and_never_a_promise(
    share: float, bound: float | None, free: float | None, typical: tuple[float, float] | None, words: str
) -> None:
    gain = None if typical is None else GainRecord(low=typical[0], high=typical[1], cases=3)
    update = {"share": share, "speedup_bound": bound, "speedup_if_free": free, "typical_gain": gain}
    assert wording.gained(sample().findings[0].model_copy(update=update)) == words


def test_a_bound_that_has_more_than_the_cost_says_so() -> None:
    """18.4 % of 2,429 samples: 1 / (1 − 0.184) is 1.23, and with two standard errors (0.79 percentage points each) 1.25."""
    update = {"share": 0.184, "share_error": 0.0079, "seconds": None, "speedup_bound": 1.25, "typical_gain": None}
    told = wording.gain(sample().findings[0].model_copy(update=update))
    assert told == "at most 1.25x overall; the cost is 18.4 % of the whole, up to 20.0 % with the error of sampling"
    assert round(1 / (1 - 0.2), 2) == 1.25
    whole = wording.gain(sample().findings[0].model_copy(update={**update, "share": 0.999, "speedup_bound": 900.0}))
    assert "up to 100 %" in whole
    exact = wording.gain(sample().findings[0].model_copy(update={**update, "share_error": 0.0}))
    assert exact == "at most 1.25x overall; the cost is 18.4 % of the whole"


def test_what_costs_no_time_costs_memory() -> None:
    leak = sample().findings[0].model_copy(update={"share": 0.0, "seconds": 0.0, "speedup_bound": None})
    assert wording.gained(leak) == wording.gain(leak) == "memory, not time"


def test_the_gain_of_the_whole_is_not_said_of_a_change_of_a_part() -> None:
    change = ChangeRecord(file="a.c", line=3, says="Compute pow(x, 2.0) as x * x", whole=False, edits=[])
    gain = GainRecord(low=4.42, high=7.49, cases=6)
    update = {"share": 0.9, "speedup_bound": None, "typical_gain": gain, "change": change}
    told = wording.gained(sample().findings[0].model_copy(update=update))
    assert told.startswith("unknown, as the change is for a part; without all of it: similar fixes gave 4.42x")
