"""Findings of two diagnoses in pairs."""

from __future__ import annotations

import pytest

from chathpc.comparison.findings import Pair, compare_findings, work_of
from chathpc.diagnosis.records import Finding, Place
from chathpc.profile.activity import Activity


def finding(cause: str, function: str, seconds: float | None, share: float = 0.5) -> Finding:
    return Finding(
        cause=cause, title=cause, summary="", where=Place(function=function), seconds=seconds, share=share, headroom=1.0,
        speedup_bound=None, confidence=1.0, confidence_reason="", evidence=(),
    )  # fmt: skip


def pairs(before: list[Finding], after: list[Finding], *, changed: bool = True, comparable: bool = True) -> list[Pair]:
    return compare_findings(before, after, lambda _: changed, comparable=comparable)


def states(found: list[Pair]) -> list[tuple[str, str]]:
    return [(pair.finding.cause, pair.status) for pair in found]


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [(1.0, 2.0, "grown"), (2.0, 1.0, "shrunk"), (1.0, 1.05, "same"), (1.0, 1.2, "grown")],
)
def test_costs_that_differ_by_more_than_a_tenth_have_changed(before: float, after: float, status: str) -> None:
    mine, theirs = (finding("io-bound", "f", seconds) for seconds in (before, after))
    assert states(pairs([mine], [theirs])) == [("io-bound", status)]
    assert states(pairs([mine], [theirs], changed=False)) == [("io-bound", "same")]
    assert states(pairs([mine], [theirs], comparable=False)) == [("io-bound", "same")]


def test_parts_of_the_run_decide_where_more_ranks_have_more_seconds() -> None:
    mine, theirs = finding("mpi-load-imbalance", "f", 1.30, 0.202), finding("mpi-load-imbalance", "f", 2.24, 0.184)
    (pair,) = compare_findings([mine], [theirs], lambda _: True, comparable=True, as_parts=True)
    assert pair.status == "same"  # 18.4 % are 0.91 of 20.2 %
    assert states(pairs([mine], [theirs])) == [("mpi-load-imbalance", "grown")]


def test_without_seconds_parts_of_the_run_are_compared() -> None:
    found = pairs([finding("io-bound", "f", None, 0.2)], [finding("io-bound", "f", 5.0, 0.4)])
    assert states(found) == [("io-bound", "grown")]


def test_the_same_cause_at_the_same_place_is_one_finding_in_any_spelling() -> None:
    before = [finding("io-bound", "f", 1.0), finding("io-bound", "g<int>", 2.0)]
    after = [finding("io-bound", "g<long>.constprop.0", 2.0), finding("io-bound", "h", 1.0)]
    found = pairs(before, after)
    places = [
        (pair.before.where.function if pair.before else None, pair.after.where.function if pair.after else None)
        for pair in found
    ]
    assert sorted(places) == [("f", "h"), ("g<int>", "g<long>.constprop.0")]  # then by the cause alone
    assert {pair.status for pair in found} == {"same"}


def test_what_differs_stands_first_and_the_costlier_before_the_cheaper() -> None:
    before = [finding("io-bound", "f", 1.0, 0.1), finding("memory-leak", "g", 1.0, 0.3)]
    after = [finding("io-bound", "f", 1.0, 0.1), finding("page-faults", "h", 1.0, 0.6)]
    assert states(pairs(before, after)) == [("page-faults", "new"), ("memory-leak", "gone"), ("io-bound", "same")]


def test_findings_that_only_say_where_the_time_is_are_not_compared() -> None:
    assert pairs([finding("hot-compute", "f", 1.0)], [finding("gpu-kernel-bound", "k", 1.0)]) == []


def test_waits_show_in_their_kind_of_work_and_computing_at_its_place() -> None:
    assert work_of(finding("mpi-load-imbalance", "f", 1.0)) == (Activity.MPI,)
    assert Activity.OMP_WAIT in work_of(finding("omp-load-imbalance", "f", 1.0))
    assert work_of(finding("expensive-math", "f", 1.0)) == ()


def test_a_pair_has_a_finding() -> None:
    with pytest.raises(ValueError, match="without findings"):
        _ = Pair(None, None, "same", True).finding
