"""Names that read like sentences: whoever chose such a name would otherwise have it said as a fact.

A symbol, a region or a kernel can be called anything. Its words stand in the statements about it, but nothing was measured of them;
so they are taken out of the texts before these are trusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from chathpc.diagnosis.records import Diagnosis, Place
from chathpc.grounding.language.vocabulary import Vocabulary, stems

#: Plain words in a name: `unsigned long f`, `main thread`, `loop at heat.c:12`.
_MOST_WORDS = 3
_NESTING = 4
_BRACKETS = re.compile(r"<[^<>]*>|\([^()]*\)|\[[^\[\]]*\]")
#: Words of types and storage, which stand before a function's name.
_TYPES = frozenset(
    [
        "unsigned",
        "signed",
        "long",
        "short",
        "const",
        "static",
        "void",
        "int",
        "float",
        "double",
        "char",
        "bool",
        "struct",
        "class",
        "auto",
        "inline",
    ]
)
#: What stands for such a name in a text.
_SOMETHING = "it"


def reads_like_a_sentence(name: str) -> bool:
    """Whether a name has more plain words, outside of brackets, than names of functions have (`unsigned long f`)."""
    return len(_plain_words(name)) > _MOST_WORDS


def claims(name: str, words: Vocabulary) -> bool:
    """Whether a name of several words says something itself: it reads like a sentence, or names a cause, an amount or a limit."""
    plain = [word for word in _plain_words(name) if word.lower() not in _TYPES]
    if len(plain) > _MOST_WORDS:
        return True
    found = tuple(part for word in plain for part in stems(word))
    said = set(found) & (words.levels.keys() | words.negations)
    return len(plain) > 1 and bool(said or words.phrases.found(found) or words.limits.found(found))


def without_claims(diagnosis: Diagnosis, words: Vocabulary) -> Diagnosis:
    """The diagnosis with names that say something taken out of its texts; the same object where there are none."""
    told = sorted({name for name in _names(diagnosis) if claims(name, words)}, key=len, reverse=True)
    if not told:
        return diagnosis
    pattern = re.compile("|".join(map(re.escape, told)))

    def plain(text: str) -> str:
        return pattern.sub(_SOMETHING, text)

    def place(where: Place | None) -> Place | None:
        if where is None:
            return None
        function, kernel = (None if name in told else name for name in (where.function, where.kernel))
        return replace(
            where, function=function, kernel=kernel, path=tuple(name for name in where.path if name not in told)
        )

    return replace(
        diagnosis,
        headline=plain(diagnosis.headline),
        notes=tuple(map(plain, diagnosis.notes)),
        findings=tuple(
            replace(
                finding,
                title=plain(finding.title),
                summary=plain(finding.summary),
                against=tuple(map(plain, finding.against)),
                advice=tuple(map(plain, finding.advice)),
                where=place(finding.where) or Place(),
            )
            for finding in diagnosis.findings
        ),
        evidence=tuple(replace(item.renamed(plain), where=place(item.where)) for item in diagnosis.evidence),
    )


def _plain_words(name: str) -> list[str]:
    for _ in range(_NESTING):
        name = _BRACKETS.sub(" ", name)
    return [word for word in name.split() if word.strip(".,:;!?").isalpha()]


def _names(diagnosis: Diagnosis) -> Iterable[str]:
    places = (*(f.where for f in diagnosis.findings), *(e.where for e in diagnosis.evidence))
    for place in places:
        if place is not None:
            yield from (name for name in (place.function, place.kernel, *place.path) if name)
