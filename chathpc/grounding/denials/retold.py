"""Denials that trusted texts make in other words: `by their cost and not by their number` for `by the cost instead of the number`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.quantities import DETERMINERS
from chathpc.grounding.language.quotation import content
from chathpc.grounding.language.undenied import LEAST_CLAUSE, ends
from chathpc.grounding.language.vocabulary import stem

_FILLING = (DETERMINERS - {"a"}) | frozenset(
    map(stem, ("is", "are", "was", "be", "do", "does", "did", "has", "have", "in", "on", "at", "of", "to", "by", "for", "with", "from", "as", "it", "they",
               "them", "and", "or", "even", "though", "although", "where", "which", "that", "this", "these", "those", "so", "only", "any", "over", "just"))
)  # fmt: skip
_INSTEAD, _OVER = "instead", "over"
#: Of what is denied so much must be denied in the trusted text, and so much of what it is denied of be in it.
_MOST = 2 / 3
_LONGEST_SCOPE = 8


def is_retold(statement: Statement, position: int, world: World) -> bool:
    """True if what the negation at a position denies is what a trusted text denies, of the same things."""
    segment = statement.segment_at(position)
    if segment is None:
        return False
    denied = _content(_words(statement, range(position + 1, segment.last)))
    before = set(_content(_words(statement, range(segment.first, position))))
    if not denied:  # `… that the others do not`
        said = [
            word for token in statement.tokens[segment.first : position + 1] for word in content(token, world.words)
        ]
        clauses = (clause for text in world.quotable for clause in text.clauses)
        return len(said) > LEAST_CLAUSE and any(any(ends(clause, said)) for clause in clauses)
    if len(denied) > _LONGEST_SCOPE:
        return False
    for text in world.quotable:
        for clause in text.clauses:
            scope = set(_scope(clause, world))
            if not scope or len(scope & set(denied)) < _MOST * len(denied):
                continue
            told = {word for one in text.clauses for word in one}
            known = len(before & told) >= _MOST * len(before) and segment.names <= told
            if set(denied) <= told and known and not before & scope - set(denied):
                return True
    return False


def drops_denial(statement: Statement, world: World) -> bool:
    """True for a clause of a trusted text without its negation: `they do what the others do` for `… what the others do not do`."""
    said = [word for token in statement.tokens for word in content(token, world.words)]
    return any(
        world.words.negations.isdisjoint(_beside(said, end - len(left), end))
        for left in world.undenied
        for end in ends(said, left)
    )


def _beside(words: Sequence[str], first: int, end: int) -> Sequence[str]:
    """The word before `first` and the one at `end`."""
    return [*words[max(0, first - 1) : first], *words[end : end + 1]]


def _words(statement: Statement, positions: range) -> Iterable[str]:
    """Names, numbers and words; the index of `the loop over a` is no article."""
    for p in positions:
        token = statement.tokens[p]
        if token.stem == "a" and statement.stems[p - 1 : p] != (_OVER,):
            continue
        if token.kind in ("code", "file"):
            yield token.text
        elif token.kind == "word":
            yield token.stem
        elif token.kind == "number":
            yield f"={token.value:g}"


def _content(words: Iterable[str]) -> Sequence[str]:
    return [word for word in words if word not in _FILLING]


def _scope(clause: Sequence[str], world: World) -> Sequence[str]:
    """What a trusted clause denies: all behind its negation, or behind `instead of`."""
    for index, word in enumerate(clause):
        if word in world.words.negations:
            return _content(clause[index + 1 :])
        if word == _INSTEAD:
            return _content(list(takewhile(lambda w: w not in world.words.negations, clause[index + 1 :])))
    return ()
