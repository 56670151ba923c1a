"""Single runs of a series: which are far from the others, and what the profiler costs, by arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from chathpc.comparison.run import Run as Measured
from chathpc.scale.loss import costs_of
from chathpc.scale.series import Kind, Series
from chathpc.scale.words import outliers, overhead, too_few_cores
from tests.scale.made import even, profile, repeated, strong


def made(*factors: tuple[float, ...]) -> Series:
    """Runs on 1, 2, 4, … threads whose times are 8 s / threads times the factors."""
    counts = [2**at for at in range(len(factors))]
    return repeated(
        "threads",
        {
            float(n): [profile(n, {"solve": even(8.0 * each)}) for each in row]
            for n, row in zip(counts, factors, strict=True)
        },
        Kind.STRONG,
    )


def told_of(series: Series, records: Sequence[Mapping[str, object]]) -> str:
    """What the profiler costs, by what chathpc measure wrote beside the runs."""
    runs = tuple(replace(run, record=record) for run, record in zip(series.runs, records, strict=True))
    return " ".join(overhead(replace(costs_of(series), series=replace(series, runs=runs))))


def test_a_run_far_from_the_others_is_named() -> None:
    found = made((1.0, 1.01, 0.99), (1.02, 1.0, 1.5), (1.0, 0.98, 1.01))
    (told,) = outliers(costs_of(found))
    assert told == "At 2 threads threads2/rep3 took 47.1 % more time than the median there."  # 1.5 / 1.02


def test_noise_and_few_repetitions_name_nobody() -> None:
    even_ones = made((1.0, 1.1, 0.9), (1.12, 1.0, 0.91), (1.0, 0.92, 1.08))
    assert outliers(costs_of(even_ones)) == []
    pairs = made((1.0, 1.5), (1.0, 1.0), (1.0, 1.0))
    assert outliers(costs_of(pairs)) == []


def test_rates_tell_what_the_profiler_costs() -> None:
    # T (1 + c r) with c = 1e-4 s: 1 % at 100, 10 % at 1,000 samples a second.
    found = made((1.01, 1.10, 1.0101), (1.01, 1.10, 1.0999))
    told = told_of(found, [{"rate": rate} for rate in (100, 1000, 100, 100, 1000, 1000)])
    # Relative to the mean of the scale's runs: 0.09 / 900 for a mean of 1.04 to 1.07, times 1,000.
    share = float(told.split()[3])
    assert share == pytest.approx(9.5, abs=0.3)
    assert "1,000 samples a second and thread" in told


def test_without_different_rates_nothing_is_claimed() -> None:
    found = made((1.0, 1.1), (1.0, 1.1))
    assert told_of(found, [{"rate": 499}] * 4) == ""
    assert told_of(found, [{}] * 4) == ""
    noise = made((1.0, 1.02, 1.02, 1.0), (1.01, 1.0, 1.0, 1.01))
    assert "no cost of the profiler beyond noise" in told_of(noise, [{"rate": r} for r in (100, 999, 100, 999) * 2])


def test_scales_at_different_rates_are_told() -> None:
    found = made((1.0,), (1.0,), (1.0,))
    told = told_of(found, [{"rate": rate} for rate in (19_999, 3500, 499)])
    assert "499 to 20,000 samples a second" in told
    assert told.endswith("--rate 499.")
    assert told_of(found, [{"rate": rate} for rate in (499, 499, 499)]) == ""


def test_what_differs_between_runs_hides_the_cost_of_the_profiler() -> None:
    noise = made((1.0, 1.5, 1.4, 1.0), (1.3, 1.0, 1.0, 1.4))
    assert told_of(noise, [{"rate": rate} for rate in (100, 999, 100, 999) * 2]) == ""


def test_runs_with_and_without_the_profiler_tell() -> None:
    found = made((1.0,), (1.0,), (1.0,))
    told = told_of(found, [{"overhead": share} for share in (0.02, 0.03, 0.10)])
    assert told == "The profiler costs 3.00 % of the time (3 runs with and without it)."


def test_a_next_run_with_more_workers_than_the_machine_has_cores_is_told_so() -> None:
    runs = strong({"solve": even(8.0)}, counts=(1, 2))
    known = tuple(
        replace(run, measured=Measured(replace(run.profile, hardware={"processors": "2"}), run.measured.metric))
        for run in runs.runs
    )
    costs = costs_of(replace(runs, runs=known))
    assert too_few_cores(costs, 4.0) == ["The machine of these runs has 2 cores: the next run needs a larger one."]
    assert too_few_cores(costs, 2.0) == too_few_cores(costs, None) == too_few_cores(costs_of(runs), 4.0) == []
