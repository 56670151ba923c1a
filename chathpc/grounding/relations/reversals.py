"""Sentences in the words of the evidence that turn them round: another one does it, the opposite stands beside the word, what is denied is so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.evidence.readings import hottest, lines, looped, members, products
from chathpc.grounding.evidence.ways import Ways, is_turned, ordered, ways
from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.quotation import content
from chathpc.grounding.language.tokens import plain_code
from chathpc.grounding.language.vocabulary import stem
from chathpc.profile.languages import ENDINGS

#: Words of which one says the opposite of the others where it stands beside the same word.
_OPPOSITES: Mapping[str, frozenset[str]] = {
    stem(word): frozenset(map(stem, other))
    for ones, others in (
        (("before", "ahead"), ("after", "behind")),
        (("half",), ("twice",)),
        (("double",), ("float", "single", "half")),
        (("inner", "innermost"), ("outer", "outermost")),
        (("first",), ("last",)),
        (("row",), ("column",)),
        (("above",), ("below",)),
        (("serial",), ("parallel",)),
        (("deep", "deepest"), ("shallow",)),
        (("constant",), ("linear",)),
    )
    for one, other in ((ones, others), (others, ones))
    for word in one
}
_HYPOTHETICAL = frozenset({"if", "would", "could", "should", "might", "may", "can", "whether"})


def turned_round(statement: Statement, world: World) -> bool:
    """True if a sentence says of one what trusted texts say of another, or the opposite of what they say of it."""
    order = Ways(ordered(ways(statement, world.words)), frozenset(), frozenset(), frozenset())
    if is_turned(order, [world.readings.order]):
        return True
    return (
        _affirms(statement, world)
        or _opposes(statement, world)
        or _does(statement, world)
        or _mistakes(statement, world)
        or _misplaces(statement, world)
    )


def _affirms(statement: Statement, world: World) -> bool:
    """True for `arguments that change` where trusted texts only have arguments that do not change."""
    stems = statement.stems
    if _HYPOTHETICAL & set(stems) or world.words.negations & set(stems):
        return False
    return any(t.kind == "word" and t.stem in world.readings.denied for t in statement.tokens)


def _opposes(statement: Statement, world: World) -> bool:
    """True for `at twice the rate` where it is half the rate, `before each wait` where it is after each."""
    for segment in statement.segments:
        words = [w for token in statement.tokens[segment.first : segment.last] for w in content(token, world.words)]
        for first, second in pairwise(words):
            if _is_opposite(second, first, [(first, one) for one in _OPPOSITES], world):
                return True
            if _is_opposite(first, second, [(one, second) for one in _OPPOSITES], world):
                return True
    return False


def _is_opposite(word: str, beside: str, pairs: Sequence[tuple[str, str]], world: World) -> bool:
    """True if trusted texts have the opposite of a word beside another one, and neither it nor a word of its kind."""
    if word not in _OPPOSITES or beside in _OPPOSITES or beside in world.words.plain | world.words.negations:
        return False
    for pair in pairs:
        one = pair[0] if pair[1] == beside else pair[1]
        same = one == word or not _OPPOSITES[one].isdisjoint(_OPPOSITES[word])
        if same and pair in world.pairs:
            return False
    return any((pair[0] in _OPPOSITES[word] or pair[1] in _OPPOSITES[word]) and pair in world.told for pair in pairs)


def _mistakes(statement: Statement, world: World) -> bool:
    """True where one of several of a kind is given the words or numbers of another: `stall reason wait is for data from global memory`."""
    behind = (*statement.segments[1:], None)
    for segment, following in zip(statement.segments, behind, strict=True):
        # `stall reason wait: 20.1 %` is one clause.
        last = following.last if following is not None and following.joint == ":" else segment.last
        tokens = statement.tokens[segment.first : last]
        pairs = [pair for pair in pairwise(t.stem for t in tokens) if pair in world.readings.siblings]
        if len(pairs) == 1:
            own, others = world.readings.siblings[pairs[0]]
            said = {f"={t.value:g}" if t.kind == "number" else t.stem for t in tokens} - world.words.plain - own
            if said & others:
                return True
    return False


def _does(statement: Statement, world: World) -> bool:
    """True for `f allocates` where another function does."""
    for position, (token, following) in enumerate(pairwise(statement.tokens)):
        at = _named_at(statement, position, world)
        told = following.stem in world.readings.doers.keys() - (world.words.plain - _CALLS)
        if at is None and told and _is_unknown(statement, position):
            return True
        doer = statement.tokens[at] if at is not None else token
        opens = at == 0 or (
            at is not None and (statement.tokens[at - 1].kind == "punctuation" or statement.stems[at - 1] in _JOINS)
        )
        if at is None or not (doer.kind == "code" or opens) or following.kind != "word":
            continue
        owners = world.readings.doers.get(following.stem, frozenset())
        if owners and plain_code(doer.text) not in owners and following.stem not in world.words.plain - _CALLS:
            return True
    return False


def _named_at(statement: Statement, position: int, world: World) -> int | None:
    """Where the name of who does something stands that ends at a position: there, or before its place in `f (jobs.c:53)`, `f in jobs.c`."""
    tokens = statement.tokens
    if not _FILE.search(tokens[position].text.partition(":")[0]):
        return position if tokens[position].text in world.names else None
    before = [p for p in range(max(0, position - _PLACED), position) if tokens[p].text in world.names]
    return before[-1] if before else None


def _is_unknown(statement: Statement, position: int) -> bool:
    """True for the `finish` of `finish (jobs.c:53) waits`, which is no function that the diagnosis knows; not for `the loop at jobs.c:53`."""
    if not _FILE.search(statement.tokens[position].text.partition(":")[0]):
        return False
    before = [word for word in statement.stems[max(0, position - _PLACED) : position] if word not in _AT]
    return bool(before) and before[-1] not in _THINGS


_AT = frozenset({"in", "at", "of"})
_THINGS = frozenset(map(stem, ("loop", "line", "lines", "code", "call", "calls", "function", "place", "source", "file", "it", "that", "which", "region",
                               "program", "kernel", "section", "statement")))  # fmt: skip
#: A place stands so many words behind its name at most.
_PLACED = 3
_JOINS = frozenset({"and", "but", "while", "function"})
_CALLS = frozenset({stem("calls")})


def _misplaces(statement: Statement, world: World) -> bool:
    """True for another line as the hottest one, and for the line of a loop that is told as that of a number or as hot."""
    known = world.readings
    if known.hottest and hottest(statement) - known.hottest:
        return True
    told = bool(statement.quantities) or bool(hottest(statement))
    misplaced = (lines(statement) & known.loops) - looped(statement) if told else frozenset()
    return any(world.queries.time_of_line(line) is None for line in misplaced)


#: `edges.c` is a file and no member.
_FILE = re.compile(rf"\.(?i:{'|'.join(map(re.escape, sorted(ENDINGS)))})\Z")


def unknown_member(sentence: str, world: World) -> str:
    """A member of an object, an array with an index, or a product that no trusted text has; empty if there is none."""
    invented = min(products(sentence) - world.readings.products, default="")
    if invented:
        return invented
    found = sorted(one for one in members(sentence) - world.readings.members if not _FILE.search(one))
    return next((one for one in found if not _is_known(one, sentence, world)), "")


def _is_known(member: str, sentence: str, world: World) -> bool:
    parts = [part for part in re.split(r"\.|->", member) if part]
    if len(parts) < _MEMBER:
        return (
            member in world.names
            or stem(member) in world.stems | world.advice_stems
            or member in world.readings.letters
        )
    last = member in world.names or any(
        name.startswith(member) or name.endswith(member) for name in world.names | world.advice_names
    )
    return last or all(len(part) == 1 for part in parts)


_MEMBER = 2
