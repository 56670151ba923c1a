from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.errors import UsageError
from chathpc.translation import LANGUAGES, language_code, question, translations

ENGLISH = [
    "Threads wait 3.17 s of 9.01 s (35.2 %) in the OpenMP runtime.",
    "What to do first: use schedule(dynamic,16) on the loop at stencil_omp.c:47.",
    "MPI_Waitall in halo::exchange takes 1,234 calls.",
]
GERMAN = [
    "Die Threads warten 3.17 s von 9.01 s (35.2 %) in der OpenMP-Laufzeit.",
    "Zuerst zu tun: schedule(dynamic,16) an der Schleife bei stencil_omp.c:47 verwenden.",
    "MPI_Waitall in halo::exchange braucht 1,234 Aufrufe.",
]


def numbered(lines: list[str]) -> str:
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


def test_faithful_translations_are_taken() -> None:
    assert translations(numbered(GERMAN), ENGLISH) == GERMAN


@pytest.mark.parametrize(
    "wrong",
    [
        "Die Threads warten 3.71 s von 9.01 s (35.2 %) in der OpenMP-Laufzeit.",  # another number
        "Die Threads warten 3.17 s von 9.01 s in der OpenMP-Laufzeit.",  # one is missing
        "Die Threads warten 3.17 s von 9.01 s (35.2 %), also 2 mal, in der OpenMP-Laufzeit.",  # one too many
        "Die Threads warten 3.17 s von 9.01 s (35.2 %) in MPI_Barrier der OpenMP-Laufzeit.",  # a name of its own
        "Die Threads warten 3.17 s von 9.01 s (35.2 %) in der Laufzeit.",  # without the name
        "Die Threads warten 3.17 s von 9.01 s (35.2 %) in der OpenMP-Laufzeit, siehe https://example.org",
        "Die Threads warten 3.17 s von 9.01 s (35.2 %) in der OpenMP-Laufzeit.\x1b[31m",
        "Die Threads warten 3.17 s von 9.01 s (35.2 %) in der OpenMP-Laufzeit" + " und warten" * 30 + ".",
        ENGLISH[0],
    ],
)
def test_what_is_not_the_same_stays_in_english(wrong: str) -> None:
    assert translations(numbered([wrong, *GERMAN[1:]]), ENGLISH) == [None, *GERMAN[1:]]


def test_options_and_files_stay_as_they_are() -> None:
    english = ["Compile app.c with -O3 -march=native."]
    assert translations("1. Übersetze app.c mit -O3 -march=native.", english) == [
        "Übersetze app.c mit -O3 -march=native."
    ]
    assert translations("1. Übersetze app.c mit -O2 -march=native.", english) == [None]
    assert translations("1. Übersetze main.c mit -O3 -march=native.", english) == [None]


@given(st.text(max_size=2000), st.lists(st.text(max_size=80), max_size=6))
def test_any_answer_is_taken_or_left(answer: str, sentences: list[str]) -> None:
    found = translations(answer, sentences)
    assert len(found) == len(sentences)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_no_other_number_passes(true: int, said: int) -> None:
    (kept,) = translations(f"1. Es braucht {said} Aufrufe.", [f"It takes {true} calls."])
    assert (kept is not None) == (true == said)


@pytest.mark.parametrize(("text", "code"), [("de", "de"), ("German", "de"), (" FRENCH ", "fr"), ("en", "en")])
def test_a_language_goes_by_code_or_name(text: str, code: str) -> None:
    assert language_code(text) == code


def test_a_language_that_is_not_known_is_refused_with_those_that_are() -> None:
    with pytest.raises(UsageError, match="'Klingon' is not known") as caught:
        language_code("Klingon")
    assert "de (German)" in caught.value.hint


def test_the_question_holds_each_sentence_with_its_number() -> None:
    request = question(ENGLISH, "fr", deadline=5.0)
    assert request.user.startswith(f"Translate into {LANGUAGES['fr']}:\n\n1. Threads wait 3.17 s")
    assert "\n3. MPI_Waitall" in request.user
    assert request.deadline == 5.0
