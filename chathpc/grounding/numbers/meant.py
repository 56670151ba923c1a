"""Which findings some words of a sentence describe, so that what one of them knows is not said of another one."""

from __future__ import annotations

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.quantities import DETERMINERS, NONE
from chathpc.grounding.language.vocabulary import stem

#: What a term is worth by where a finding has it: its place, its title or cause, its texts.
_PLACE, _TITLE, _TEXT = 3.0, 2.0, 0.5
#: One word of its texts alone tells no finding from another.
_LEAST = 1.0
#: Words that are said of any finding.
_ANY = frozenset(
    map(stem, ("speedup", "speed", "gain", "bound", "limit", "confidence", "headroom", "sign", "finding", "diagnosis", "fast", "faster", "program", "run",
               "time", "part", "thing", "against", "independent", "source", "sample", "cost", "know", "measure", "sure", "certain"))
)  # fmt: skip


def described(statement: Statement, positions: range, world: World) -> frozenset[int]:
    """The findings that the words at some positions fit best; none where these fit no finding at all."""
    scores = [sum(worth for _, worth in terms) for terms in _terms(statement, positions, world)]
    best = max(scores, default=0.0)
    return frozenset(i for i, score in enumerate(scores) if best >= _LEAST and score >= best - 1e-9)


def mentioned(statement: Statement, world: World) -> frozenset[int]:
    """The findings of whose place, title or cause a sentence says something that it says of no other finding as much; those it describes best."""
    whole = range(len(statement.tokens))
    found = [dict(terms) for terms in _terms(statement, whole, world)]
    every = {term for terms in found for term in terms}
    best = {term: max(terms.get(term, 0.0) for terms in found) for term in every}
    least = {term: min(terms.get(term, 0.0) for terms in found) for term in every}
    own = frozenset(
        i
        for i, terms in enumerate(found)
        if any(w >= _TITLE and w == best[t] and (len(found) == 1 or w > least[t]) for t, w in terms.items())
    )
    return own | described(statement, whole, world)


def _terms(statement: Statement, positions: range, world: World) -> list[list[tuple[str, float]]]:
    """Of each finding the terms of some words that it has, and what each is worth."""
    marks = [m for s in statement.segments for m in s.marks if m.position in positions]
    names = frozenset(n for m in marks for n in m.names)
    keys = frozenset(
        k for m in marks for k in m.keys if not k.startswith(("word:", "who:", "what:speedup", "what:cost"))
    )
    words = {statement.stems[p] for p in positions if p < len(statement.stems) and statement.tokens[p].kind == "word"}
    words -= world.words.plain | world.words.negations | world.words.modal | _ANY
    # A function may be called `share`.
    tokens = statement.tokens
    called = {
        tokens[p].text
        for p in positions
        if p < len(tokens) and tokens[p].kind == "word" and not (p and tokens[p - 1].stem in DETERMINERS)
    }
    found = []
    for index, one in enumerate(world.assessments):
        bundle = world.bundles[index]
        cause = world.words.causes.get(bundle.cause or "")
        own = cause.reason | cause.effect if cause else NONE
        terms = [(n, _PLACE if n in one.near else _TEXT) for n in names if n in one.near | bundle.names]
        terms += [(k, _TITLE if k in own else _TEXT) for k in keys if k in own | bundle.subjects]
        terms += [(t, _PLACE) for t in called if t in one.near]
        terms += [(w, _TITLE if w in one.stems else _TEXT) for w in words if w in one.stems | bundle.stems]
        found.append(terms)
    return found


def leading(world: World) -> frozenset[int]:
    """The finding that a text is about where it names none."""
    return frozenset({0} if world.assessments else ())
