from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.records import Diagnosis, Verdict
from chathpc.grounding import Claimed, check
from chathpc.grounding.numbers.parts import ranges
from tests.grounding.diagnoses import gpu_copies, healthy, low_occupancy, mpi_halo, omp_triangle
from tests.grounding.measure import SOUND, Labelled, diagnosis, labelled, outcome

TRUE = "Threads wait 3.17 s of 9.01 s in the OpenMP runtime."


def statuses(text: str, diagnosis: Diagnosis) -> list[str]:
    return [sentence.status for sentence in check(text, diagnosis, form="prose").sentences]


def test_evidence_ids_are_attached_by_code() -> None:
    grounded = check(f"{TRUE} Thread 3 is the busiest with 1.47 s.", omp_triangle(), form="prose")
    assert [s.evidence[0] for s in grounded.sentences] == ["E1", "E4"]
    assert grounded.sufficient


def test_ids_that_the_model_wrote_are_taken_off() -> None:
    sentence = check(
        "Threads wait 3.17 s of 9.01 s [E4, E9] in the OpenMP runtime.", omp_triangle(), form="prose"
    ).sentences[0]
    assert (sentence.text, sentence.status, sentence.evidence[0]) == (TRUE, "supported", "E1")


def test_one_good_sentence_is_not_sufficient() -> None:
    assert not check(TRUE, omp_triangle(), form="prose").sufficient
    assert not check("", omp_triangle(), form="prose").sufficient


def test_claims_add_up_over_supported_repaired_and_struck_sentences() -> None:
    text = f"{TRUE} The idlest thread works 0.43 s. The loop is memory-bound."
    statistics = check(text, omp_triangle(), form="prose").statistics
    assert statuses(text, omp_triangle()) == ["supported", "repaired", "struck"]
    assert statistics.repaired == 1
    assert statistics.struck >= 1
    assert statistics.checked == statistics.supported + statistics.repaired + statistics.struck


def test_values_are_put_into_placeholders() -> None:
    answer = '{"sentences": [{"text": "Threads wait {E1} in the OpenMP runtime.", "evidence": ["E1"]}]}'
    sentence = check(answer, omp_triangle(), form="structured").sentences[0]
    assert sentence.text == "Threads wait 3.17 s in the OpenMP runtime."
    assert sentence.status == "supported"


def test_a_unit_behind_a_placeholder_is_not_doubled() -> None:
    claimed = [Claimed("Host-to-device copies take {E1} seconds."), Claimed("The copies reach {E5} GB/s.")]
    grounded = check(claimed, gpu_copies(), form="structured")
    assert grounded.text == "Host-to-device copies take 4.10 s. The copies reach 8.50 GB/s."


def test_a_value_in_a_sentence_about_something_else_is_not_supported() -> None:
    claimed = [
        Claimed("The kernels take {E1}.", ("E1",)),
        Claimed("Device-to-host copies take {E99}."),
        Claimed(TRUE, ("E99",)),
    ]
    grounded = check(claimed, gpu_copies(), form="structured")
    assert "supported" not in {s.status for s in grounded.sentences}


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "no JSON",
        "{",
        '{"sentences": 3}',
        '{"sentences": [1, {"text": 2}, {}]}',
        "[" * 100_000,
        '{"sentences":' + "[" * 50_000 + "}",
    ],
)
def test_an_answer_that_is_not_of_the_schema_leaves_nothing(answer: str) -> None:
    assert check(answer, omp_triangle(), form="structured").sentences == ()


@pytest.mark.parametrize(
    "sentence",
    [
        "Here is a summary of the results.",
        "I hope that this helps you.",
        "Run hpcrun -e REALTIME -t ./stencil_omp now.",
        "See https://example.org/?q=3.17 for the threads that wait 3.17 s.",
        "![threads wait](http://example.org) 3.17 s.",
        "<b>Threads</b> wait 3.17 s.",
        "Threads wait 3.17 s <|im_end|> in the OpenMP runtime.",
        "Threads wait \x1b[31m3.17 s\x1b[0m in the OpenMP runtime.",
        "Threads wait 3.17 s in the Open\u202eMP runtime.",
        "Threads wait 3.17 s in the OpenMP runtime [INST] now [/INST].",
    ],
)
def test_empty_talk_markup_commands_and_control_characters_are_struck(sentence: str) -> None:
    assert statuses(sentence, omp_triangle()) == ["struck"]


def test_marks_for_bold_and_code_are_taken_off_and_do_not_matter() -> None:
    grounded = check("The **busiest** thread works 1.47 s in `triangular_work`.", omp_triangle(), form="prose")
    assert grounded.text == "The busiest thread works 1.47 s in triangular_work."


@pytest.mark.parametrize(
    ("sentence", "status"),
    [
        ("Threads wait 3171 ms in the OpenMP runtime.", "supported"),
        ("Threads wait about 3.2 s in the OpenMP runtime.", "supported"),
        ("Threads wait 3.1710 s in the OpenMP runtime.", "supported"),
        ("Threads wait more than 3 s in the OpenMP runtime.", "supported"),
        ("Threads wait more than 3.2 s in the OpenMP runtime.", "struck"),
        ("Threads wait less than 3.1 s in the OpenMP runtime.", "struck"),
        ("Threads wait 3.18 s in the OpenMP runtime.", "repaired"),
        ("Threads wait 3.17 minutes in the OpenMP runtime.", "repaired"),
        ("Threads wait half of the time.", "struck"),
    ],
)
def test_a_number_must_be_a_rounding_of_the_value_in_any_unit_of_its_kind(sentence: str, status: str) -> None:
    assert statuses(sentence, omp_triangle()) == [status]


def test_a_healthy_run_has_no_bottleneck() -> None:
    assert statuses("No bottleneck was found at this level.", healthy()) == ["supported"]
    assert statuses("The bottleneck is dgemm_kernel.", healthy()) == ["struck"]


def test_a_diagnosis_without_any_evidence_supports_nothing() -> None:
    empty = Diagnosis(Verdict.INSUFFICIENT, "The profile has too few samples.")
    assert statuses(f"{TRUE} The run is memory-bound.", empty) == ["struck", "struck"]


def test_the_busiest_rank_waits_for_nobody() -> None:
    assert statuses("The other ranks wait for rank 5 in MPI. Rank 5 waits for the other ranks in MPI.", mpi_halo()) == [
        "supported",
        "struck",
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "rk4_kernel takes 6.4 s, 12.5 % of the run.",
        "rk4_kernel takes 6.4 s, 11.8 % of the run.",
        "rk4_kernel takes 12.5 % of the run.",
        "rk4_kernel takes 11.8 % of the time.",
    ],
)
def test_a_percentage_of_occupancy_is_no_part_of_the_run(sentence: str) -> None:
    assert statuses(sentence, low_occupancy()) != ["supported"]


_DIGITS = re.compile(
    r"(?<![\w.(])(?<!line )(?<!rank )(?<!Rank )(?<!hread )(?<!least )(?<!most )(?<!than )\d[\d,]*(?:\.\d+)?(?![\w.:(])(?!\.\d)"
)


def test_what_only_looks_like_a_number_agrees_with_none() -> None:
    base = omp_triangle()
    literal = replace(base.evidence[0], text="The loop multiplies by 1e-3 in 2.5 s.", value=2.5, unit="s")
    base = replace(base, evidence=(literal, *base.evidence[1:]))
    assert statuses("The loop multiplies by 1e-3 in 2.5 s.", base) == ["supported"]
    for wrong in ("1e-3.5", "1e-0.75", "1.2.3", "1e-3.0", "1e999"):
        assert statuses(f"The loop multiplies by {wrong} in 2.5 s.", base) == ["struck"]


def _changed(item: Labelled, random: Random) -> str | None:
    """The sentence with one of its numbers multiplied or divided by 1.2 to 9; None where rounding undoes it."""
    place = random.choice(list(_DIGITS.finditer(item.text)))
    old = float(place.group().rstrip(",").replace(",", ""))
    factor = random.uniform(1.2, 9.0)
    new = old * factor if random.random() < 0.5 else old / factor
    written = f"{new:.3g}" if new < 1000 else f"{new:.0f}"
    if abs(float(written) - old) <= 0.15 * old:
        return None
    return item.text[: place.start()] + written + item.text[place.end() :]


# Of 2,900 such changes 2 passed when this was last counted, both by chance the value of something else: the mean of other ranks in
# another function, and 848 ms where 848 ms stood as well. Under coverage a sentence takes a second, hence the limit.
@pytest.mark.timeout(1800)
def test_hardly_a_number_that_was_changed_is_left_as_supported() -> None:
    random = Random(1)
    items = [item for item in labelled("seen") if item.label == SOUND and _DIGITS.search(item.text)]
    tried, passed = 0, []
    while tried < 300:
        item = random.choice(items)
        text = _changed(item, random)
        if text is None or outcome(item).status != "supported":
            continue
        tried += 1
        if "supported" in {s.status for s in check(text, diagnosis(item.diagnosis), form="prose").sentences}:
            passed.append(text)
    assert len(passed) <= 3, passed


@given(st.text(max_size=400))
def test_no_text_makes_the_check_fail(text: str) -> None:
    for form in ("prose", "structured"):
        grounded = check(text, omp_triangle(), form=form)  # type: ignore[arg-type]
        counted = grounded.statistics
        assert counted.checked == counted.supported + counted.repaired + counted.struck


_FRAGMENTS = st.sampled_from(
    (
        f"{TRUE} 1e999 1e-999 twice half third line 47 thread 3 rank 5 than more 35.2 because , ; . ( ) [E1] {{E1}} <| |> triangular_work "
        "stencil_omp.c:47 per each times x not _ :: ° ½ ² 9,9,9 1.2.3 -1 --x schedule(guided) of the %"
    ).split()
)


@given(st.lists(_FRAGMENTS, max_size=60))
def test_no_heap_of_words_makes_the_check_fail(words: list[str]) -> None:
    for form in ("prose", "structured"):
        check(" ".join(words), omp_triangle(), form=form)  # type: ignore[arg-type]
    check([Claimed(" ".join(words))], omp_triangle(), form="structured")


@pytest.mark.parametrize(
    "piece",
    ["a", "1", ".", "((", "a.", "+/", "1,", "Threads wait 3.17 s. ", "<|im_end|>", "\n- x", "`", "é", "{E1}", "e.g. "],
)
def test_a_megabyte_of_anything_is_refused_without_being_kept(piece: str) -> None:
    grounded = check(piece * (1_000_000 // len(piece)), omp_triangle(), form="prose")
    assert len(grounded.sentences) <= 100
    assert sum(len(s.text) for s in grounded.sentences) < 70_000


def test_markup_in_a_statement_of_the_evidence_is_struck_although_it_is_quoted() -> None:
    base = omp_triangle()
    statement = "Threads wait 3.17 s in <b>work</b>, see https://example.org/x."
    evil = replace(base, evidence=(replace(base.evidence[0], text=statement), *base.evidence[1:]))
    assert statuses(statement, evil) == ["struck"]


def test_signs_of_code_in_our_own_advice_are_no_markup() -> None:
    base = omp_triangle()
    advice = "Use setvbuf(file, NULL, _IOFBF, 1 << 20) before the first write."
    told = replace(base, findings=(replace(base.findings[0], advice=(advice,)),))
    assert statuses(f"To improve performance, {advice[0].lower()}{advice[1:]}", told) == ["supported"]
    assert statuses("Threads wait 3.17 s << 20 in the OpenMP runtime.", told) == ["struck"]


def test_hostile_names_in_a_diagnosis_do_not_matter() -> None:
    base = omp_triangle()
    evil = replace(base.evidence[0], text="<|im_end|> ignore 3.17 s ((((( {E1} " * 500, subject="\x1b[31m" * 500)
    check(TRUE, replace(base, evidence=(evil, *base.evidence[1:])), form="prose")


def test_what_the_catalogue_says_a_cause_means_may_be_repeated() -> None:
    diagnosis = omp_triangle()
    meaning = cause(diagnosis.findings[0].cause).meaning
    (sentence,) = check(meaning, diagnosis, form="prose").sentences
    assert (sentence.status, sentence.evidence) == ("supported", ())
    assert {claim.query for claim in sentence.details} == {"diagnosis"}
    other = cause("gpu-h2d-copy-bound").meaning
    assert all(one.status == "struck" for one in check(other, diagnosis, form="prose").sentences)


@pytest.mark.parametrize(
    ("sentence", "right"),
    [
        ("Threads wait 3.17 s of 9.01 s in the OpenMP runtime.", True),
        ("Threads wait 3.17 s of 9.01 s (35.2 %) in the OpenMP runtime.", True),
        ("Threads wait 9.01 s of 3.17 s in the OpenMP runtime.", False),  # a part that is larger than its whole
        ("Threads wait 3.17 s of 1.47 s in the OpenMP runtime.", False),
        ("Threads wait 1.47 s of 9.01 s in the OpenMP runtime.", False),  # of no one item of evidence
    ],
)
def test_a_part_is_of_its_whole(sentence: str, right: bool) -> None:
    assert (statuses(sentence, omp_triangle()) == ["supported"]) is right


@pytest.mark.parametrize(("text", "right"), [("lines 28 to 30", True), ("Lines 28 to 10", False), ("line 7-7", True)])
def test_a_range_of_lines_does_not_end_before_it_begins(text: str, right: bool) -> None:
    assert ranges(text) is right
