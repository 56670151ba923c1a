"""Checked sentences in another language: a model translates, and code compares the numbers and the names.

What a sentence says is checked in English. A translation is kept only if it has the same numbers and the same names as its
sentence, each as often; else the English sentence stands. What code cannot compare are the words between them, which is why a report
says that they are translated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from chathpc.errors import UsageError

if TYPE_CHECKING:
    from chathpc.llm.backend import Request

#: Languages of an answer by their ISO 639-1 code.
LANGUAGES = {
    "ar": "Arabic",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}

_SYSTEM = (
    "You translate sentences about the performance of a program. Each line has a number and a sentence. Answer with as many lines, "
    "each with its number and the translation of its sentence. Copy numbers, units and names of functions, files and options exactly "
    "as they stand there; keep the decimal points. Add nothing."
)
_LINE = re.compile(r"\s*(\d{1,3})[.):]\s+(\S.*?)\s*\Z")
_NUMBER = re.compile(r"\d+(?:[.,\u00a0\u202f ]\d{3}(?!\d))*(?:\.\d+)?")
#: What no translator may change: names with a mark of code in them, and options.
#: What is joined by a hyphen counts as two names: languages put names and words together ("OpenMP-Laufzeit").
_NAME = re.compile(r"(?<![\w.-])--?[A-Za-z][\w-]*(?:=\w+)?|(?<![\w.])[A-Za-z_][\w.:/<>~*&\[\]]*")
_CODE = re.compile(r"[_:/<>\[\]~*&=\d]|\w\.\w|[a-z][A-Z]|\A[A-Z][A-Z0-9]+\Z|\A--?\w")
#: A translation that is so many times longer says more than its sentence. Finnish and German need about 1.3 times the characters.
_LONGER = 3.0
_TOKENS_PER_CHARACTER = 1.0


def language_code(text: str) -> str:
    """The code of a language given by code or English name; UsageError if it is not known."""
    wanted = text.strip().casefold()
    for code, name in LANGUAGES.items():
        if wanted in (code, name.casefold()):
            return code
    known = ", ".join(f"{code} ({name})" for code, name in LANGUAGES.items())
    raise UsageError(f"The language '{text.strip()[:40]}' is not known.", hint=f"Known are {known}.")


def question(sentences: Sequence[str], language: str, *, deadline: float) -> Request:
    """What a model is asked to translate `sentences` into the language of that code."""
    from chathpc.llm.backend import Request

    lines = "\n".join(f"{number}. {text}" for number, text in enumerate(sentences, 1))
    return Request(
        system=_SYSTEM,
        user=f"Translate into {LANGUAGES[language]}:\n\n{lines}",
        max_tokens=64 + int(sum(map(len, sentences)) * _TOKENS_PER_CHARACTER),
        deadline=deadline,
    )


def translations(answer: str, sentences: Sequence[str]) -> list[str | None]:
    """For each sentence its translation in a model's `answer`; None where there is none that has the same numbers and names."""
    found: dict[int, str] = {}
    for line in answer.splitlines():
        match = _LINE.match(line)
        if match is not None:
            found.setdefault(int(match[1]), match[2])
    return [_faithful(found.get(number), text) for number, text in enumerate(sentences, 1)]


def _faithful(translation: str | None, sentence: str) -> str | None:
    from chathpc.grounding.language.sentences import foreign, has_controls

    if translation is None or translation == sentence or len(translation) > _LONGER * len(sentence) + 20:
        return None
    if has_controls(translation) or foreign(translation):
        return None
    same = _numbers(translation) == _numbers(sentence) and _names(translation) == _names(sentence)
    return translation if same else None


def _numbers(text: str) -> Counter[str]:
    return Counter(re.sub(r"[^\d.]", "", number.replace(",", "")) for number in _NUMBER.findall(text))


def _names(text: str) -> Counter[str]:
    return Counter(_codes(name.rstrip(".:,-") for name in _NAME.findall(text)))


def _codes(words: Iterable[str]) -> list[str]:
    return [word for word in words if _CODE.search(word)]
