"""The next run, repetitions that are needed, runs that were disturbed, several parameters: against arithmetic."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chathpc.comparison.run import Run as Measured
from chathpc.scale.experiment import needed
from chathpc.scale.loss import costs_of
from chathpc.scale.scaling import scaling_of, scaling_of_series
from chathpc.scale.series import Run, Series, series_of
from tests.scale.made import alone, even, profile, series, strong


def repeated(times: dict[float, list[float]]) -> Series:
    """Runs of one function that takes these seconds."""
    runs = []
    for value, every in times.items():
        for number, seconds in enumerate(every, 1):
            found = profile(1, {"solve": even(seconds)})
            runs.append(Run(Path(f"n={value:g}/rep{number}"), Measured(found, found.metric("cpu.time")), {"n": value}))
    return series_of(runs, "as given")


def test_what_is_settled_needs_no_run() -> None:
    found = strong({"solve": even(8.0), "setup": alone(4.0)})
    record = scaling_of(found, costs_of(found), [64.0])
    assert record.next_run is not None
    assert (record.next_run.at, record.next_run.job, record.next_run.certainty) == (
        None,
        "",
        pytest.approx(1.0, abs=0.02),
    )


def test_what_is_open_is_asked_of_a_run_within_reach() -> None:
    rng = np.random.default_rng(3)

    def noisy(seconds: float) -> float:
        return float(seconds * (1 + 0.1 * rng.standard_normal()))

    sizes = (1000, 2000, 4000, 8000)
    # At n = 64,000 fill takes 64 s and pairs 0.0156 n² / 10⁶ = 64 s.
    found = series(
        "n", {n: profile(1, {"fill": even(noisy(n / 1e3)), "pairs": even(noisy((n / 1e3) ** 2 / 64))}) for n in sizes}
    )
    record = scaling_of(found, costs_of(found), [64000.0])
    assert record.next_run is not None
    assert record.next_run.question == "what costs most"
    assert record.next_run.at is not None
    assert 1000 <= record.next_run.at <= 64000
    assert record.next_run.bits > 0
    assert "chathpc measure" in record.next_run.job


def test_repetitions_that_are_needed_follow_from_the_spread() -> None:
    found = repeated({1000: [1.0, 1.1, 0.9], 2000: [2.0, 2.2, 1.8]})
    # A standard deviation of 10 %: (1.2816 × 0.1 / 0.05)² = 6.57.
    assert needed(found, costs_of(found)) == 7
    assert needed(repeated({1000: [1.0], 2000: [2.0]}), costs_of(repeated({1000: [1.0], 2000: [2.0]}))) == 0


def test_several_parameters_are_predicted_by_one_law() -> None:
    runs = []
    for ranks in (2, 4, 8, 16):
        for n in (1000, 2000, 4000):
            made = profile(ranks, {"solve": even(n / 100)})
            runs.append(
                Run(
                    Path(f"ranks={ranks},n={n}"),
                    Measured(made, made.metric("cpu.time")),
                    {"ranks": float(ranks), "n": float(n)},
                )
            )
    found = scaling_of_series(series_of(runs, "as given", parameter="ranks"), [{"ranks": 64.0, "n": 16000.0}])
    (target,) = found.predictions
    assert target.at == {"n": 16000.0, "ranks": 64.0}
    assert target.elapsed is not None
    assert target.elapsed.low <= 16000 / 100 / 64 * 1.05
    assert target.elapsed.value == pytest.approx(16000 / 100 / 64, rel=0.1)
