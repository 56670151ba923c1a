from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chathpc.bench.case import Case, Label, Split, Spot
from chathpc.bench.figures import figures_of
from chathpc.bench.outcome import Answer, Outcome, Read, from_data, to_data
from chathpc.bench.score import answers_of, rank_of, score
from chathpc.bench.statistics import Stated
from chathpc.diagnosis.facts import plain_name

FAULT = Case(
    name="tiles",
    group="set",
    paths=(Path("tiles/database"),),
    label=Label.PLANTED,
    cause="io-bound",
    right=frozenset({"io-bound", "io-small-requests"}),
    family="host",
    origin="set",
    split=Split.SEEN,
    spots=(Spot("save", "out.c", 10, 12), Spot("main")),
)
HEALTHY = replace(FAULT, cause="healthy", right=frozenset({"healthy", "hot-compute"}), healthy=True, spots=())
HIDDEN = replace(
    FAULT, cause="io-bound", right=frozenset({"hot-spot", "suspected", "insufficient-data"}), visible=False
)
NOTHING = replace(FAULT, cause="insufficient-data", right=frozenset({"insufficient-data"}), spots=())
TWIN = replace(FAULT, label=Label.TWIN, right=frozenset(), wrong=frozenset({"io-bound"}))


def told(*findings: Answer, verdict: str = "bottleneck") -> Outcome:
    return Outcome(verdict, findings)


def said(cause: str, weight: float = 0.5, confidence: float = 0.8, **place: object) -> Answer:
    return Answer(cause, weight=weight, confidence=confidence, **place)  # type: ignore[arg-type]


# -- answers -------------------------------------------------------------------------------------------------


def test_answers_are_causes_in_their_order_each_once() -> None:
    outcome = told(said("io-bound"), said("page-faults"), said("io-bound"))
    assert answers_of(outcome) == ({"io-bound"}, {"page-faults"})
    assert rank_of(answers_of(outcome), frozenset({"page-faults"})) == 2
    assert rank_of(answers_of(outcome), frozenset({"deep-recursion"})) is None


def test_a_verdict_without_a_bottleneck_comes_first_with_what_a_healthy_run_spends_its_time_on() -> None:
    hot = told(said("hot-compute", 0), said("io-bound", 0.01), verdict="healthy")
    assert answers_of(hot) == ({"healthy", "hot-compute"}, {"io-bound"})
    small = told(said("io-bound", 0.01), said("hot-compute", 0), verdict="healthy")
    assert answers_of(small) == ({"healthy"}, {"io-bound"}, {"hot-compute"})
    assert answers_of(told(verdict="insufficient-data")) == ({"insufficient-data"},)
    assert answers_of(Outcome(failure="damaged")) == ()


# -- faults --------------------------------------------------------------------------------------------------


def test_a_fault_told_first_at_its_place_is_all_right() -> None:
    found = score(FAULT, told(said("io-bound", function="save", file="/src/out.c", line=11)))
    assert (found.rank, found.function, found.line, found.first_function) == (1, True, True, True)
    assert found.good
    assert found.stated == (Stated(0.8, True),)


def test_an_acceptable_cause_is_right_and_its_place_is_that_of_its_own_finding() -> None:
    found = score(FAULT, told(said("page-faults", function="elsewhere"), said("io-small-requests", function="main")))
    assert (found.rank, found.function, found.line) == (2, True, False)
    assert found.first_function is False
    assert [each.true for each in found.stated] == [False, True]
    assert not found.good


def test_a_fault_that_was_not_found_is_not_localised() -> None:
    found = score(FAULT, told(said("page-faults", function="save", file="out.c", line=11)))
    assert (found.rank, found.function, found.line, found.first_function) == (None, False, False, True)


def test_a_fault_told_behind_three_other_causes_is_not_looked_for() -> None:
    others = [said(name) for name in ("page-faults", "deep-recursion", "lock-contention")]
    found = score(FAULT, told(*others, said("io-bound", function="save")))
    assert (found.rank, found.function) == (4, False)


@pytest.mark.parametrize(("line", "right"), [(9, False), (10, True), (12, True), (13, False), (None, False)])
def test_a_line_is_right_within_the_range_of_the_label(line: int | None, right: bool) -> None:
    assert score(FAULT, told(said("io-bound", file="x/out.c", line=line))).line is right
    assert score(FAULT, told(said("io-bound", file="x/in.c", line=line))).line is False


def test_without_a_place_in_the_label_nothing_is_said_about_it() -> None:
    found = score(replace(FAULT, spots=()), told(said("io-bound", function="save")))
    assert (found.function, found.line, found.first_function) == (None, None, None)
    assert found.good


def test_a_kernel_is_a_place_like_a_function() -> None:
    case = replace(FAULT, spots=(Spot("saxpy"),))
    assert score(case, told(said("io-bound", kernel="void saxpy<float>(float*, int)"))).function is True


def test_the_second_fault_is_right_as_a_claim_but_not_as_the_first_answer() -> None:
    case = replace(FAULT, second="page-faults")
    found = score(case, told(said("page-faults", confidence=0.6), said("io-bound")))
    assert (found.rank, found.second_rank) == (2, 1)
    assert found.stated == (Stated(0.6, True), Stated(0.8, True))


def test_a_finding_worth_less_than_the_verdict_asks_for_is_no_claim() -> None:
    assert score(FAULT, told(said("io-bound"), said("page-faults", 0.04))).stated == (Stated(0.8, True),)


# -- healthy, undecidable, ruled out ------------------------------------------------------------------------------


def test_about_a_healthy_program_every_claim_that_is_not_acceptable_is_false() -> None:
    found = score(HEALTHY, told(said("io-bound"), said("page-faults", 0.01)))
    assert found.false == ("io-bound",)
    assert not found.good
    assert score(HEALTHY, told(said("hot-compute", 0), verdict="healthy")).good


def test_a_claim_of_what_the_profile_cannot_show_is_counted_and_silence_is_right() -> None:
    claimed = score(HIDDEN, told(said("io-bound")))
    assert claimed.unseen == ("io-bound",)
    assert not claimed.abstains_rightly
    healthy = score(HIDDEN, told(verdict="healthy"))
    assert not healthy.abstains_rightly
    for verdict in ("hot-spot", "insufficient-data"):
        silent = score(HIDDEN, told(verdict=verdict))
        assert (silent.unseen, silent.rank, silent.abstains_rightly) == ((), 1, True)
    hint = score(HIDDEN, told(said("hot-compute", 0), said("io-bound", 0.01), verdict="hot-spot"))
    assert hint.unseen == ()


def test_insufficient_data_is_right_where_the_label_says_so_and_only_there() -> None:
    assert score(NOTHING, told(verdict="insufficient-data")).good
    assert not score(NOTHING, told(verdict="healthy")).abstains_rightly
    assert not score(FAULT, told(verdict="insufficient-data")).abstains_rightly
    either = replace(FAULT, right=FAULT.right | {"insufficient-data"})
    assert score(either, told(verdict="insufficient-data")).abstains_rightly


def test_what_the_label_rules_out_counts_wherever_it_stands_and_the_verdict_too() -> None:
    case = replace(FAULT, label=Label.EXPERT, wrong=frozenset({"healthy", "page-faults"}))
    found = score(case, told(said("io-bound"), said("page-faults", 0.0)))
    assert found.wrong == ("page-faults",)
    assert not found.experts_rule
    assert score(case, told(verdict="healthy")).wrong == ("healthy",)
    assert score(case, told(said("deep-recursion"), said("io-bound"))).experts_rule
    assert not score(case, told(said("deep-recursion"), said("lock-contention"), said("io-bound"))).experts_rule


def test_of_a_repaired_program_only_a_claim_of_its_former_fault_counts() -> None:
    assert score(TWIN, told(said("page-faults"))).good
    assert score(TWIN, told(said("io-bound", 0.01), verdict="healthy")).good
    claimed = score(TWIN, told(said("io-bound")))
    assert claimed.wrong == ("io-bound",)
    assert claimed.stated == ()


def test_a_case_without_an_answer_has_nothing_right() -> None:
    found = score(FAULT, Outcome(failure="damaged"))
    assert (found.rank, found.function, found.line, found.abstains_rightly, found.good) == (
        None,
        False,
        False,
        False,
        False,
    )


def test_the_floor_is_scored_as_the_diagnosis_is() -> None:
    outcome = replace(told(), biggest=(Answer("hot-compute", "save"), Answer("io-bound", "other")))
    assert (score(FAULT, outcome).biggest.rank, score(FAULT, outcome).biggest.function) == (2, True)


# -- names and records -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Array2<int>::index(int, int) const", "index"),
        ("__vectors_MOD_triad", "triad"),
        ("work._omp_fn.0", "work"),
        ("void saxpy<float>(float*, int)", "saxpy"),
        ("ns::Grid<double, 3>::operator()", "operator()"),
        ("main", "main"),
        ("<lambda>", "<lambda>"),
    ],
)
def test_names_are_compared_without_what_compilers_add(name: str, plain: str) -> None:
    assert plain_name(name) == plain


def test_an_outcome_survives_the_way_through_json() -> None:
    outcome = Outcome("healthy", (said("io-bound", line=3),), (Answer("hot-compute"),), "gprof", 0.5, 1 << 20)
    assert from_data(to_data(outcome)) == outcome
    assert from_data(to_data(Outcome(failure="x"))) == Outcome(failure="x")


# -- what a model reads ---------------------------------------------------------------------------------------


def read(*said: Answer, shown: int | None = None, dropped: tuple[str, ...] = ()) -> Outcome:
    found = Read(said, said if shown is None else said[:shown], 2, dropped, (1000, 200), 1, "a model")
    return replace(told(verdict="hot-spot"), read=found)


def test_the_first_hypothesis_and_its_place_are_compared_with_the_label() -> None:
    right = score(FAULT, read(said("io-bound", function="save")))
    assert (right.read_rank, right.read_function, right.read_shown) == (1, True, 1)
    elsewhere = score(FAULT, read(said("io-bound", function="other")))
    assert (elsewhere.read_rank, elsewhere.read_function) == (1, False)
    second = score(FAULT, read(said("page-faults"), said("io-bound", function="save"), shown=1))
    assert (second.read_rank, second.read_shown) == (2, None)
    assert score(FAULT, told()).read_rank is None


def test_what_is_printed_about_a_healthy_or_repaired_program_counts() -> None:
    assert score(HEALTHY, read(said("io-bound"))).read_false == ("io-bound",)
    assert score(HEALTHY, read(said("io-bound"), shown=0)).read_false == ()
    assert score(HEALTHY, read(said("hot-compute"))).read_false == ()
    assert score(TWIN, read(said("io-bound"))).read_wrong == ("io-bound",)


def test_the_figures_of_readings_are_there_where_a_model_was_asked() -> None:
    scores = [
        score(FAULT, read(said("io-bound", function="save"))),
        score(FAULT, read(said("page-faults"), dropped=("number: x",))),
        score(HEALTHY, read()),
        score(TWIN, read(said("io-bound"))),
    ]
    found = {each.key: each.value for each in figures_of("set", scores).figures}
    assert (found["read1"], found["read-place"], found["read-shown"]) == (0.5, 0.5, 0.5)
    assert (found["read-healthy"], found["read-wrong"], found["read-dropped"], found["read-again"]) == (0, 1, 1, 0)
    assert found["read-tokens"] == 1200
    assert "read1" not in {each.key for each in figures_of("set", [score(FAULT, told())]).figures}


def test_a_reading_comes_back_as_it_was_told() -> None:
    outcome = read(said("io-bound", function="save"), dropped=("a", "b"))
    assert from_data(to_data(outcome)) == outcome
