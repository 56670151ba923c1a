"""What measured repairs gave is told as far as the run at hand allows it."""

from __future__ import annotations

import statistics

import pytest
import yaml

from chathpc.diagnosis.measured_gains import FILE, typical_gain

MEASURED = {
    cause: sorted(each["speedup"] for each in cases) for cause, cases in yaml.safe_load(FILE.read_text("utf-8")).items()
}


def test_of_many_cases_the_middle_half_is_told() -> None:
    for cause, found in MEASURED.items():
        told = typical_gain(cause)
        if len(found) < 2:  # one case is no evidence
            assert told is None
            continue
        assert told is not None
        assert told.cases == len(found)
        if len(found) >= 4:
            quarters = statistics.quantiles(found, n=4, method="inclusive")
            assert (told.low, told.high) == pytest.approx((quarters[0], quarters[2]))


def test_no_gain_is_told_that_is_above_the_runs_own_bound() -> None:
    cause, found = next((cause, found) for cause, found in MEASURED.items() if len(found) > 2 and found[1] < found[2])
    told = typical_gain(cause, bound=found[1])
    assert told is not None
    assert (told.low, told.high, told.cases) == (found[0], found[1], 2)
    assert typical_gain(cause, bound=found[1] - 0.01) is None
