from __future__ import annotations

from dataclasses import replace

import pytest

from chathpc.diagnosis.records import Diagnosis, Place
from chathpc.grounding import check
from chathpc.grounding.evidence.names import claims, without_claims
from chathpc.grounding.evidence.readings import products
from chathpc.grounding.language.vocabulary import vocabulary
from tests.grounding.diagnoses import omp_triangle
from tests.grounding.measure import diagnosis

SAYS = "The run is limited by memory bandwidth and slow disks"


def called(name: str) -> Diagnosis:
    """The diagnosis of omp_triangle, of a function called `name`."""
    base = omp_triangle()
    place = Place(name, "/src/stencil_omp.c", 47, path=("main", name))
    evidence = tuple(
        replace(item, text=item.text.replace("triangular_work", name), where=place) for item in base.evidence
    )
    first = replace(base.findings[0], where=place, summary=base.findings[0].summary.replace("triangular_work", name))
    extra = replace(evidence[0], id="E9", text=f"{name} computes for 2.50 s.", subject=name, value=2.5)
    return replace(base, findings=(first,), evidence=(*evidence, extra))


@pytest.mark.parametrize("sentence", [f"{SAYS}.", "The run is limited by memory bandwidth.", "The disks are slow."])
def test_a_name_that_is_a_sentence_supports_no_word_of_it(sentence: str) -> None:
    assert [s.status for s in check(sentence, called(SAYS), form="prose").sentences] == ["struck"]


def test_what_was_measured_of_such_a_name_still_counts() -> None:
    sentences = check("Threads wait 3.17 s of 9.01 s in the OpenMP runtime.", called(SAYS), form="prose").sentences
    assert [s.status for s in sentences] == ["supported"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("triangular_work", False),
        ("unsigned long f", False),
        ("main thread", False),
        ("GPU 0", False),
        ("void a::f<float, 64>(float*, int)", False),
        ("loop at heat.c:12", False),
        ("memory bound loop", True),
        ("never slow", True),
        (SAYS, True),
    ],
)
def test_names_of_programs_say_nothing_and_those_of_wags_do(name: str, says: bool) -> None:
    assert claims(name, vocabulary()) == says


def test_a_diagnosis_without_such_names_is_left_as_it_is() -> None:
    diagnosis = omp_triangle()
    assert without_claims(diagnosis, vocabulary()) is diagnosis


def test_a_function_is_written_as_the_program_writes_it_where_no_sentence_begins() -> None:
    diagnosis = called("sweeping")

    def status(text: str) -> str:
        return check(text, diagnosis, form="prose").sentences[0].status

    assert status("The iterations of sweeping are shared unevenly.") == "supported"
    assert status("Sweeping shares its iterations unevenly.") == status("sweeping shares its iterations unevenly.")
    assert status("The iterations of Sweeping are shared unevenly.") == "struck"


@pytest.mark.parametrize(
    ("sentence", "right"),
    [
        ("Replace std::pow(d + 0.1, 3.0) by x*x*x.", True),
        ("Replace std::pow(d + 0.1, 3.0) by x * x * x.", True),
        ("Replace std::pow(d + 0.1, 3.0) by (x*x)*x.", True),
        ("Replace std::pow(d + 0.1, 3.0) by d*d*d.", False),
        ("Replace std::pow(d + 0.1, 3.0) by x*x.", False),
        ("Replace std::pow(d + 0.1, 3.0) by (x*x)*(x*x).", False),
    ],
)
def test_a_product_is_one_that_the_diagnosis_has(sentence: str, right: bool) -> None:
    (checked,) = check(sentence, diagnosis("math-and-allocation"), form="prose").sentences
    assert (checked.status == "supported") is right


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Replace pow(t, 4.0) by (t*t)*(t*t).", {"t*t*t*t"}),
        ("2.13 s * 0.8 is 1.70 s, as 3 * 4 is 12", set()),
        ("x * sqrt(x) and a->b*c[i], input/output", {"x*sqrt(x)", "a->b*c[i]"}),
        ("**bold** words", set()),
    ],
)
def test_products_are_found_in_prose(text: str, found: set[str]) -> None:
    assert products(text) == found
