"""Faster is said only of what is faster: the statistics of pairs of runs, by simulation and by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chathpc.fix.gates.speed import measure, result
from chathpc.fix.outputs import Outputs
from chathpc.fix.project import Project, Run
from chathpc.fix.records import Verdict
from chathpc.fix.runner import Ran
from chathpc.fix.speed import (
    _critical,
    apart,
    drift,
    judge,
    measure_pairs,
    outliers,
    ratio,
    signed_rank_interval,
    span,
    walsh,
)
from chathpc.fix.thresholds import threshold, thresholds
from chathpc.sandbox import Completed
from tests.fix.simulate import NOISES, rates

#: Of Wilcoxon's signed-rank test, two-sided 5 % (F. Wilcoxon, Biometrics Bulletin 1 (1945) 80; tables in any textbook).
CRITICAL = {6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 11: 10, 12: 13, 15: 25, 20: 52, 25: 89}


@pytest.mark.parametrize(("count", "expected"), CRITICAL.items())
def test_critical_values_are_those_of_the_printed_tables(count: int, expected: int) -> None:
    assert _critical(count, 0.05) == expected


def test_five_pairs_have_no_interval() -> None:
    assert _critical(5, 0.05) == -1
    assert signed_rank_interval(walsh(np.zeros(5)), 5, 0.95) == (-np.inf, np.inf)


def test_the_ratio_of_exact_runs_is_exact() -> None:
    assert ratio([2.0] * 10, [1.0] * 10) == pytest.approx((2, 2, 2))
    assert all(np.isnan(ratio([], [])))


@pytest.mark.parametrize("name", NOISES)
def test_intervals_hold_the_truth_and_equal_programs_are_not_faster(name: str) -> None:
    # 400 trials: a true rate of 2.5 % gives more than 4.6 %, and a coverage of 95 % less than 91.7 %, once in 200 times.
    found = rates(NOISES[name], 1.0, 150, seed=7)
    assert found.covered >= 0.90
    assert found.faster <= 0.025


def test_a_program_of_half_the_time_is_faster_and_its_opposite_slower() -> None:
    random = np.random.default_rng(3)
    noise = np.exp(0.05 * random.standard_normal(20))
    fast, slow = list(noise[:10]), list(2 * noise[10:])
    assert judge(slow, fast).outcome == "faster"
    assert judge(fast, slow).outcome == "slower"


def test_a_gain_below_what_code_layout_does_is_not_counted() -> None:
    assert judge([1.01] * 20, [1.0] * 20).outcome == "inconclusive"
    assert judge([1.03] * 20, [1.0] * 20).outcome == "faster"


def test_too_few_and_too_short_runs_say_nothing() -> None:
    assert judge([1.2] * 8 + [1.0], [1.0] * 9).outcome == "invalid"
    assert judge([2.0] * 6, [1.0] * 6, fewest=6).outcome == "faster"
    assert judge([2e-3] * 10, [1e-3] * 10).outcome == "invalid"


def test_a_ratio_that_changes_on_the_way_is_invalid() -> None:
    original = [1.0] * 30
    changed = [1.0] * 10 + [0.8] * 10 + [0.6] * 10
    found = judge(original, changed)
    assert found.outcome == "invalid"
    assert "ratio drifted" in found.statement


def test_a_baseline_that_becomes_four_times_slower_is_invalid() -> None:
    original = [1.0] * 10 + [2.0] * 10 + [4.0] * 10
    found = judge(original, [value / 1.5 for value in original])
    assert found.outcome == "invalid"
    assert "original itself" in found.statement


def test_drift_is_seen_beyond_the_spread_only() -> None:
    random = np.random.default_rng(1)
    assert drift(list(np.exp(0.3 * random.standard_normal(30)))) == 1.0
    assert drift([1.0] * 10 + [1.5] * 10 + [2.0] * 10) == pytest.approx(2.0)
    assert drift([1.0, 2.0]) == 1.0


def test_outliers_are_counted() -> None:
    assert outliers([1.0, 1.01, 0.99, 1.0, 1.02, 5.0]) == 1


def test_pairs_have_a_random_order_and_end_when_they_tell_enough() -> None:
    order: list[str] = []

    def run(side: str) -> float:
        order.append(side)
        return 2.0 if side == "original" else 1.0

    original, changed = measure_pairs(run, seconds=60, random=np.random.default_rng(1), clock=lambda: 0.0)
    assert (original, changed) == ([2.0] * 7, [1.0] * 7)
    assert {tuple(order[at : at + 2]) for at in range(0, 14, 2)} == {("original", "changed"), ("changed", "original")}


def test_seven_pairs_are_enough_where_all_runs_are_apart_which_chance_does_once_in_thousands() -> None:
    assert judge([1.2] * 7, [1.0] * 7).outcome == "faster"
    assert judge([1.2] * 6, [1.0] * 6).outcome == "invalid"
    assert not apart([1.2] * 6 + [1.05], [1.0] * 7)
    random, looks = np.random.default_rng(11), 20_000
    noise = np.exp(random.normal(0, 0.3, size=(looks, 2, 7)))
    found = sum(apart(list(mine), list(theirs)) for mine, theirs in noise)
    assert found / looks < threshold("early_alpha") / 2


def test_what_is_only_told_takes_three_pairs_that_are_alike() -> None:
    def pairs(noisy: list[float]) -> tuple[float, int]:
        left = iter(noisy * 20)
        original, changed = measure_pairs(
            lambda side: next(left) if side == "original" else 1.0,
            seconds=60, random=np.random.default_rng(2), clock=lambda: 0.0, fewest=3,
        )  # fmt: skip
        return ratio(original, changed)[1], len(original)

    assert pairs([1.0, 1.02, 1.1]) == (1.0, 3)
    assert pairs([1.0, 1.5, 1.1])[1] > 6


def test_pairs_end_at_the_time_limit_but_not_before_the_least_number() -> None:
    random, now = np.random.default_rng(5), iter(range(0, 10_000, 7))
    noisy = [1.0, 3.0, 0.3, 2.0, 0.5]
    found, _ = measure_pairs(
        lambda side: float(random.choice(noisy)), seconds=30, random=random, clock=lambda: float(next(now))
    )
    assert len(found) == 10
    never = measure_pairs(lambda side: None, seconds=30, random=random, clock=lambda: 0.0)
    assert never == ([], [])


def test_far_beyond_the_time_limit_not_even_the_least_number_is_waited_for() -> None:
    now = iter(range(0, 10_000, 100))
    found, _ = measure_pairs(
        lambda side: 1.0, seconds=30, random=np.random.default_rng(5), clock=lambda: float(next(now))
    )
    assert len(found) == 1


def test_every_threshold_says_where_it_comes_from() -> None:
    for name, each in thresholds().items():
        assert each.source, name
    assert threshold("min_pairs") == 10


@dataclass
class Ended:
    """A runner whose runs of one side are ended by their time limit."""

    side: str
    project: Project = field(default_factory=lambda: Project(Path(), "", Run("run", "./app"), ("*",)))

    def run(self, built: str, case: object) -> Ran:
        status: Any = "timed-out" if built == self.side else "exited"
        return Ran(Completed(status, 0, b"", b"", 1.0, 1.0), Outputs(0))


@pytest.mark.parametrize(("side", "verdict"), [("original", Verdict.INVALID), ("changed", Verdict.WRONG_ANSWER)])
def test_an_original_that_is_ended_says_nothing_of_the_change(side: str, verdict: Verdict) -> None:
    runner: Any = Ended(side)
    original: Any = "original"
    changed: Any = "changed"
    timing, fault = measure(runner, original, changed, seconds=5, random=np.random.default_rng(1))
    judged, speedup = result(timing, fault)
    assert (judged.passed, judged.verdict, speedup) == (False, verdict, None)
    assert f"{side} program was ended (timed-out)" in judged.statement


def test_few_pairs_have_no_interval() -> None:
    assert span(1.284, 1.21, 1.34, 5) == "1.28x (1.21 to 1.34 in 5 pairs)"
    assert span(1.284, 1.21, 1.34, 6) == "1.28x (95 % interval 1.21 to 1.34, 6 pairs)"
