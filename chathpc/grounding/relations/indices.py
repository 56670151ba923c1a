"""Loops told apart by their index: `the loop over i` does what trusted texts say of it, not what they say of the one over j."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Segment, Statement
from chathpc.grounding.language.vocabulary import stem


def owners(statements: Iterable[Statement]) -> dict[str, frozenset[str]]:
    """For each word of a trusted clause with `over x` the indices that it is said of."""
    found: dict[str, set[str]] = {}
    for statement in statements:
        for segment in statement.segments:
            letters = _over(segment, statement)
            if len(letters) == 1:
                for word in statement.stems[segment.first : segment.last]:
                    found.setdefault(word, set()).update(letters)
    return {word: frozenset(letters) for word, letters in found.items()}


def right_index(statement: Statement, world: World) -> bool:
    """False if a clause says of the loop over one index what is only known of the loop over another."""
    known = world.indices
    for segment in statement.segments:
        letters = _over(segment, statement) or _nested(segment, statement, known)
        if len(letters) != 1 or not any(letters <= owned for owned in known.values()):
            continue
        said = set(statement.stems[segment.first : segment.last]) - world.words.plain - letters - _LOOP
        if any(not letters <= known[word] for word in said if word in known):
            return False
    return True


def _nested(segment: Segment, statement: Statement, known: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The index of `the innermost loop` where trusted texts tell it; none where something is denied or set against something."""
    words = statement.stems[segment.first : segment.last]
    if _AGAINST & set(statement.stems):
        return frozenset()
    return next((known[one] for one in words if one in _NESTED and one in known and len(known[one]) == 1), frozenset())


_NESTED = frozenset(map(stem, ("innermost", "inner", "outer", "outermost")))
_AGAINST = frozenset(
    map(
        stem,
        ("not", "without", "never", "instead", "rather", "no", "whereas", "while", "but", "should", "would", "though"),
    )
)
_LOOP = frozenset({"loop", ""})


def _over(segment: Segment, statement: Statement) -> frozenset[str]:
    words: Sequence[str] = statement.stems[segment.first : segment.last]
    behind = (words[p + 1] for p in range(len(words) - 1) if words[p] == "over")
    return frozenset(word for word in behind if len(word) == 1 and word.isalpha())
