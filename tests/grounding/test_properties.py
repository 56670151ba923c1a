"""What must hold for any sentence: wrong ones made from right ones are caught, repairs are final, and work grows with length."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chathpc.diagnosis.fact import Fact, Form, Kind, Quantity
from chathpc.diagnosis.records import Diagnosis, Finding, Place, Verdict
from chathpc.grounding import Measured, NoQueries, check
from chathpc.profile import numbers
from tests.grounding.diagnoses import omp_triangle
from tests.grounding.measure import checker, labelled, outcome

_NAMES = ("advect_flux", "solve_rows", "pack_halo", "sum_energy")
_MPI = 40.0


def profile(seconds: list[float]) -> Diagnosis:
    """One function takes each of `seconds`, and 40 s pass in MPI."""
    total = sum(seconds) + _MPI
    evidence = [
        Fact(
            f"E{number}",
            Kind.AMOUNT,
            name,
            value,
            "s",
            "sum",
            form=Form.NAME,
            whole=Quantity(total, "s"),
            metric="cpu.time",
            where=Place(name, f"{name}.c", 10 + number),
        )
        for number, (name, value) in enumerate(zip(_NAMES, seconds, strict=True), 1)
    ]
    evidence.append(Fact("E9", Kind.AMOUNT, "MPI", _MPI, "s", "sum", whole=Quantity(total, "s"), metric="cpu.time"))
    first = Finding(
        "hot-compute", "One place computes for most of the time", f"{_NAMES[0]} computes.", Place(_NAMES[0], "a.c", 11),
        seconds[0], seconds[0] / total, 0.5, None, 0.8, "", ("E1",),
    )  # fmt: skip
    return Diagnosis(Verdict.BOTTLENECK, f"{_NAMES[0]} computes.", (first,), tuple(evidence))


def status(sentence: str, of: Diagnosis) -> str:
    return check(sentence, of, form="prose").sentences[0].status


def shown(value: float) -> str:
    return f"{value:.3g} s" if value >= 1 else f"{1000 * value:.3g} ms"


_SECONDS = st.lists(st.floats(1.5, 90).map(lambda value: float(f"{value:.3g}")), min_size=4, max_size=4, unique=True)


@given(_SECONDS, st.integers(0, 3))
def test_what_the_evidence_says_is_supported_in_other_words(seconds: list[float], which: int) -> None:
    of, value, total = profile(seconds), seconds[which], sum(seconds) + _MPI
    share = numbers.percent(value / total)
    assert status(f"{_NAMES[which]} takes {shown(value)}.", of) == "supported"
    assert status(f"{_NAMES[which]} takes {shown(value)}, {share} of the run.", of) == "supported"


@given(_SECONDS, st.integers(0, 3), st.integers(0, 3))
def test_a_value_of_another_function_is_never_left_as_supported(seconds: list[float], one: int, other: int) -> None:
    assume(abs(seconds[one] - seconds[other]) > 0.15 * seconds[one])
    assert status(f"{_NAMES[one]} takes {shown(seconds[other])}.", profile(seconds)) != "supported"


@given(_SECONDS, st.integers(0, 3), st.sampled_from(["ms", "µs", "minutes", "MB", "hours", "GB/s"]))
def test_another_unit_is_never_left_as_supported(seconds: list[float], which: int, unit: str) -> None:
    assert status(f"{_NAMES[which]} takes {seconds[which]:.3g} {unit}.", profile(seconds)) != "supported"


@given(
    _SECONDS,
    st.integers(0, 3),
    st.sampled_from(["MPI time", "waiting time", "kernel time", "peak", "memory", "critical path"]),
)
def test_another_denominator_is_never_left_as_supported(seconds: list[float], which: int, whole: str) -> None:
    share = numbers.percent(seconds[which] / (sum(seconds) + _MPI))
    assert status(f"{_NAMES[which]} takes {share} of the {whole}.", profile(seconds)) != "supported"


@given(_SECONDS, st.integers(0, 3), st.integers(0, 3))
def test_comparisons_are_recomputed(seconds: list[float], one: int, other: int) -> None:
    a, b = seconds[one], seconds[other]
    assume(one != other and abs(a - b) > 0.01 * a)
    of = profile(seconds)
    assert (status(f"{_NAMES[one]} takes longer than {_NAMES[other]}.", of) == "supported") == (a > b)
    assert (status(f"{_NAMES[one]} takes less time than {_NAMES[other]}.", of) == "supported") == (a < b)


@given(_SECONDS, st.integers(0, 3), st.integers(0, 3), st.floats(0.4, 2.5))
def test_sums_differences_and_ratios_are_recomputed(seconds: list[float], one: int, other: int, factor: float) -> None:
    a, b = seconds[one], seconds[other]
    assume(one != other)
    of = profile(seconds)
    together = f"{_NAMES[one]} and {_NAMES[other]} together take"
    # A number that happens to be whole ("3 times") would be taken for a rounded one.
    if abs(factor - 1) > 0.1:
        assert status(f"{together} {(a + b) * factor:.2f} s.", of) != "supported"
        if a > 1.2 * b:
            assert (
                status(f"{_NAMES[one]} takes {(a - b) * factor:.2f} s longer than {_NAMES[other]}.", of) != "supported"
            )
            times = f"{_NAMES[one]} takes {a / b * factor:.2f} times as long as {_NAMES[other]}."
            assert status(times, of) != "supported"
    assert status(f"{together} {a + b:.3g} s.", of) == "supported"
    if a > 1.2 * b:
        assert status(f"{_NAMES[one]} takes {a / b:.3g} times as long as {_NAMES[other]}.", of) == "supported"


@given(_SECONDS, st.integers(0, 3))
def test_only_the_largest_is_called_so(seconds: list[float], which: int) -> None:
    of, name = profile(seconds), _NAMES[which]
    assert (status(f"{name} takes the most time.", of) == "supported") == (seconds[which] == max(seconds))
    assert (status(f"{name} takes the least time.", of) == "supported") == (seconds[which] == min(seconds))


@given(_SECONDS, st.lists(st.integers(0, 3), min_size=2, max_size=3, unique=True))
def test_only_the_largest_of_all_are_listed_as_the_hottest(seconds: list[float], which: list[int]) -> None:
    of, names = profile(seconds), [_NAMES[one] for one in which]
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    rest = [value for index, value in enumerate(seconds) if index not in which]
    right = min(seconds[one] for one in which) >= max(rest)
    assert (status(f"The hottest functions are {listed}.", of) == "supported") == right


@given(_SECONDS, st.integers(0, 3))
def test_parts_of_another_part_are_recomputed(seconds: list[float], which: int) -> None:
    other = (which + 1) % 4
    seconds = [*seconds]
    seconds[other] = max(seconds[other], 2.5 * seconds[which])  # a part of 40 % is no half
    sentence = f"{_NAMES[which]} takes half of the time of {_NAMES[other]}."
    assert status(sentence, profile(seconds)) != "supported"


def test_two_names_with_two_numbers_keep_their_own() -> None:
    of = profile([50.0, 10.0, 25.0, 75.0])
    assert status("advect_flux takes 50 s and pack_halo 25 s.", of) == "supported"
    assert status("advect_flux takes 25 s and pack_halo 50 s.", of) == "struck"


@pytest.mark.timeout(1800)  # thousands of sentences, under coverage
def test_a_repair_is_final() -> None:
    repaired = [o for o in map(outcome, labelled("seen")) if o.status == "repaired"]
    assert len(repaired) > 20
    for one in repaired:
        assert one.result is not None
        again = checker(one.labelled.diagnosis).check(one.result.text, form="prose").sentences
        assert [s.status for s in again] == ["supported"], one.result.text


@pytest.mark.parametrize(
    "piece", ["3 s more than ", "no ", "(1 %) ", "as f(x) as ", "together and ", "a<b, ", "of it ", "E1 "]
)
def test_work_grows_no_faster_than_the_text(piece: str) -> None:
    def calls(length: int) -> int:
        text = f"{(piece * 400)[:length]}. "
        return counted(lambda: check(text, omp_triangle(), form="prose"))

    base = calls(1)
    assert calls(560) - base < 4 * (calls(280) - base) + 2_000
    many = counted(lambda: check("Threads wait 3.17 s. " * 80, omp_triangle(), form="prose")) - base
    few = counted(lambda: check("Threads wait 3.17 s. " * 40, omp_triangle(), form="prose")) - base
    assert many < 2.2 * few


def counted(run: Callable[[], object]) -> int:
    """How many functions of Python are called."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(before)
    return calls


class _Answers(NoQueries):
    def time_of(self, name: str) -> Measured | None:
        return {"relax_edges": Measured(2.5, 4.0, 50.0)}.get(name)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("relax_edges takes 2.5 s.", "supported"),
        ("relax_edges takes 4.0 s, 8 % of the run.", "supported"),
        ("relax_edges takes 3.3 s.", "struck"),
        ("relax_edges takes 5 % of the MPI time.", "struck"),
        ("relax_edges waits 2.5 s.", "struck"),
        ("tighten_edges takes 2.5 s.", "struck"),
    ],
)
def test_the_profile_is_asked_for_what_no_evidence_holds(sentence: str, expected: str) -> None:
    grounded = check(sentence, omp_triangle(), form="prose", queries=_Answers())
    assert [s.status for s in grounded.sentences] == [expected]
    if expected == "supported":
        assert {claim.query for claim in grounded.sentences[0].details if claim.kind == "number"} == {"time of"}
    assert status(sentence, omp_triangle()) == "struck"


def test_each_number_says_what_it_was_computed_from() -> None:
    of = profile([10.0, 20.0, 30.0, 50.0])
    text = (
        "solve_rows takes 2 times as long as advect_flux. pack_halo and sum_energy together take 80 s. "
        "sum_energy takes 20 s longer than pack_halo. pack_halo takes 31 s."
    )
    sentences = check(text, of, form="prose").sentences
    found = [next(c for c in s.details if c.kind == "number") for s in sentences]
    assert [(c.query, set(c.evidence), c.status) for c in found] == [
        ("ratio", {"E1", "E2"}, "supported"),
        ("sum", {"E3", "E4"}, "supported"),
        ("difference", {"E3", "E4"}, "supported"),
        ("evidence", {"E3"}, "repaired"),
    ]
    assert sentences[3].text == "pack_halo takes 30.0 s."
