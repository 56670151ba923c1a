"""What excludes a cause: measured rows, none of which excludes a cause that is there."""

from __future__ import annotations

from pathlib import Path

import pytest

import chathpc
from chathpc.diagnosis.catalogue import causes
from chathpc.diagnosis.catalogue.entry import MEASURES
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.refutation import measured, refuting

EXAMPLES = Path(__file__).parents[2] / "examples"


def facts_of(name: str) -> Facts:
    return Facts(chathpc.load(EXAMPLES / name / "database"))


def test_at_most_fifteen_causes_have_rows_and_each_asks_for_a_known_measure() -> None:
    with_rows = [each for each in causes() if each.refuted_by]
    assert 1 <= len(with_rows) <= 15
    assert {row.measure for each in with_rows for row in each.refuted_by} == set(MEASURES)


@pytest.mark.parametrize("id", ["mpi-late-sender", "io-bound", "allocation-churn"])
def test_a_run_of_openmp_excludes_what_it_does_not_do(id: str) -> None:
    told = refuting(facts_of("omp-triangle"), id)
    assert len(told) == 1
    assert told[0].value < 0.1


@pytest.mark.parametrize("folder", sorted(each.parent.name for each in EXAMPLES.glob("*/database")))
def test_no_finding_of_an_example_is_excluded(folder: str) -> None:
    facts = facts_of(folder)
    assert {
        finding.cause for finding in diagnose(facts.profile, facts).findings if refuting(facts, finding.cause)
    } == set()


def test_what_a_profile_cannot_tell_excludes_nothing() -> None:
    facts = facts_of("omp-triangle")
    assert {name for name in MEASURES if measured(facts, name) is None} == set()
    assert refuting(facts, "no-such-cause") == ()
