"""Numbers that no evidence holds are asked of the profile, by name, and the claim says by which question."""

from __future__ import annotations

from pathlib import Path

import pytest

import chathpc
from chathpc.grounding import Measured, NoQueries, Spread, check
from chathpc.profile.profile import Profile
from chathpc.profile_queries import ProfileQueries
from tests.grounding.diagnoses import omp_triangle

DATABASE = Path(__file__).parents[2] / "examples" / "omp-triangle" / "database"


class _Answers(NoQueries):
    def time_of(self, name: str) -> Measured | None:
        return Measured(2.5, 4.0, 50.0) if name in ("relax_edges", "sweep_rows") else None

    def time_of_line(self, place: str) -> Measured | None:
        return Measured(1.25, 1.25, 50.0) if place == "edges.c:31" else None

    def count_of(self, name: str, what: str) -> float | None:
        return 640.0 if (name, what) == ("relax_edges", "call") else None

    def spread_over(self, kind: str) -> Spread | None:
        return Spread(12.5, 7.25, 10.4) if kind == "rank" else None

    def callers_of(self, name: str) -> frozenset[str]:
        return frozenset({"sweep_rows"}) if name == "relax_edges" else frozenset()


@pytest.mark.parametrize(
    ("sentence", "query"),
    [
        ("edges.c:31 takes 1.25 s.", "time of line"),
        ("edges.c:31 takes 2.5 % of the run.", "time of line"),
        ("edges.c:31 takes 1.45 s.", None),
        ("edges.c:32 takes 1.25 s.", None),
        ("relax_edges has 640 calls.", "count of"),
        ("relax_edges has 460 calls.", None),
        ("relax_edges has 640 samples.", None),
        ("The busiest rank takes 12.5 s.", "spread over"),
        ("The busiest rank takes 7.25 s.", None),
        ("The busiest thread takes 12.5 s.", None),
        ("sweep_rows calls relax_edges.", "callers of"),
        ("relax_edges calls sweep_rows.", None),
    ],
)
def test_a_claim_beyond_the_evidence_is_recomputed_by_a_named_query(sentence: str, query: str | None) -> None:
    (checked,) = check(sentence, omp_triangle(), form="prose", queries=_Answers()).sentences
    assert (checked.status == "supported") == (query is not None)
    if query is not None:
        assert query in {claim.query for claim in checked.details}
    (without,) = check(sentence, omp_triangle(), form="prose").sentences
    assert without.status != "supported"


@pytest.fixture(scope="module")
def profile() -> Profile:
    return chathpc.load(DATABASE)


def test_a_profile_answers_by_its_tables(profile: Profile) -> None:
    queries = ProfileQueries(profile)
    lines = profile.table("line")
    row = lines[lines["name"] == "work_item"].iloc[0]
    measured = queries.time_of_line(f"{Path(row['file']).name}:{row['line']}")
    assert measured is not None
    assert measured.exclusive == pytest.approx(row["exclusive"])
    assert measured.total == pytest.approx(profile.total("cpu.time"))
    assert queries.time_of_line("stencil_omp.c") is None


def test_the_spread_over_threads_is_that_of_the_locations(profile: Profile) -> None:
    totals = profile.locations["cpu.time"]
    spread = ProfileQueries(profile).spread_over("thread")
    assert spread is not None
    assert (spread.most, spread.least, spread.mean) == pytest.approx((totals.max(), totals.min(), totals.mean()))
    assert ProfileQueries(profile).spread_over("rank") is None
    assert ProfileQueries(profile).spread_over("street") is None


def test_callers_are_those_of_the_call_graph(profile: Profile) -> None:
    graph = profile.callgraph()
    assert ProfileQueries(profile).callers_of("work_item") == frozenset(graph.predecessors("work_item"))
    assert ProfileQueries(profile).callers_of("nobody") == frozenset()


def test_what_was_not_counted_has_no_count(profile: Profile) -> None:
    assert ProfileQueries(profile).count_of("work_item", "call") is None
    assert ProfileQueries(profile).count_of("work_item", "egg") is None
