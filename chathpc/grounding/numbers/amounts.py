"""Parts of a number that the sentence names itself: `57 % of the 9.14 s in f` is 5.2 s, `most of the 151 MB` more than 75 MB."""

from __future__ import annotations

from dataclasses import replace

from chathpc.grounding.evidence.facts import Fact, World
from chathpc.grounding.language.claims import Mark, Statement
from chathpc.grounding.language.quantities import DETERMINERS, NONE, TOTAL, Keys, Quantity
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.match import closeness, number, same_subject
from chathpc.grounding.numbers.operands import Recomputed
from chathpc.grounding.numbers.rounding import equals
from chathpc.grounding.numbers.sums import is_together, summed

_AMOUNTS = ("time", "bytes")
_DESCRIBES = frozenset({"of", "in", "for", "that", "which", "at", "on"})
_RELATIVE = frozenset({"that", "which"})
_UNTELLING: Keys = frozenset({"what:cost", "what:calls", "who:total", "act:work"})


def whole_behind(quantity: Quantity, statement: Statement) -> Quantity | None:
    """The number of `half of the 21.0 s`, `a sixth of its 30 s`."""
    position = next((i for i, t in enumerate(statement.tokens) if t.start >= quantity.end), len(statement.tokens))
    if statement.stems[position : position + 1] != ("of",):
        return None
    position += 1
    while position < len(statement.tokens) and statement.stems[position] in DETERMINERS:
        position += 1
    start = statement.tokens[position].start if position < len(statement.tokens) else -1
    return next((q for q in statement.quantities if q.start == start), None)


def part_of_amount(quantity: Quantity, statement: Statement, position: int, world: World) -> Recomputed | None:
    """A share of a number: the amount that it is has a fact of its own, or the share one of the evidence that has the whole."""
    whole = whole_behind(quantity, statement) if quantity.dimension == "share" else None
    if (
        whole is None
        or whole.dimension not in _AMOUNTS
        or not any(equals(_plain(whole), f) for f in _sized(whole, world))
    ):
        return None
    inside = _described(whole, statement, world)
    segment = next(s for s in statement.segments if s.first <= position < s.last)
    behind = next((s for s in statement.segments if s.first == segment.last + 1), segment)
    relative = segment if behind.joint not in _RELATIVE else behind
    own = _of([m for s in (segment, relative) for m in s.marks if m not in inside])
    if not own[0] - _UNTELLING and not own[1]:
        own = _of([m for s in statement.segments for m in s.marks if m not in inside and s.first <= segment.first])
    if not own[0] - _UNTELLING and not own[1]:
        return None
    low, high = (bound / 100 * whole.value for bound in quantity.interval)
    amount = replace(
        quantity,
        value=quantity.value / 100 * whole.value,
        interval=(low, high),
        dimension=whole.dimension,
        own=own[0],
        names=own[1],
        inherited=NONE,
        inherited_names=NONE,
        base=None,
    )
    if is_together(statement, position):
        return summed(amount, statement, position, world)
    support = number(amount, world)
    if not support.problem and (not quantity.in_words or _is_best(amount, whole, world)):
        return Recomputed("part", support.evidence)
    return _share_of(replace(quantity, own=own[0], names=own[1]), whole, world)


def _is_best(amount: Quantity, whole: Quantity, world: World) -> bool:
    """True if what is described best has such an amount: a part in words is so wide that some other number nearly always fits it."""
    told = [f for f in world.facts if f.evidence and same_subject(amount, f, world)]
    told = [f for f in told if f.quantity.names or not equals(_plain(whole), f)]
    scored = [(closeness(amount, f, world), f) for f in told]
    best = max((score for score, _ in scored), default=0.0)
    return bool(scored) and all(equals(amount, f) for score, f in scored if score >= best)


def _share_of(quantity: Quantity, whole: Quantity, world: World) -> Recomputed | None:
    """`99.9 % of the 1.28 s`, where the evidence of the 1.28 s has that share of what these are the time of."""
    for fact in _sized(whole, world):
        if not equals(_plain(whole), fact) or fact.quantity.is_base or not fact.evidence:
            continue
        bases = {
            f.quantity.base for f in world.facts if f.evidence == fact.evidence and f.quantity.dimension == "share"
        }
        for base in bases - {None, TOTAL}:
            if base is None or not (base <= fact.subjects | fact.quantity.own or base == frozenset({"it"})):
                continue
            support = number(replace(quantity, base=base), world)
            if not support.problem and support.evidence == fact.evidence:
                return Recomputed("part", support.evidence)
    return None


def _plain(quantity: Quantity) -> Quantity:
    return replace(quantity, exactness="exact")


def _sized(whole: Quantity, world: World) -> list[Fact]:
    return [f for f in world.facts if f.quantity.dimension == whole.dimension]


def _of(marks: list[Mark]) -> tuple[Keys, Keys]:
    return frozenset(k for m in marks for k in m.keys), frozenset(n for m in marks for n in m.names)


def _described(whole: Quantity, statement: Statement, world: World) -> list[Mark]:
    """What the words behind a number say that it is of: `in math functions`, `that are never freed`."""
    stems, tokens = statement.stems, statement.tokens
    first = next((i for i, t in enumerate(tokens) if t.start >= whole.end), len(tokens))
    if first >= len(tokens) or stems[first] not in _DESCRIBES:
        return []
    last = first + 1
    if stems[first] in _RELATIVE:
        end = next((s.last for s in statement.segments if s.first <= first + 1 < s.last), last)
        verbs = [p for p in range(first + 1, end) if stems[p] in _VERBS and stems[p - 1] not in _VERBS]
        last = verbs[-1] if verbs and verbs[-1] > first + 1 else end  # `that are never freed | were allocated in g`
    else:
        while last < len(tokens) and tokens[last].kind in ("word", "code") and not _is_verb(stems[last], world):
            last += 1
    return [m for s in statement.segments for m in s.marks if first <= m.position < last]


_VERBS = frozenset(map(stem, ("is", "are", "was", "were", "has", "have")))


def _is_verb(word: str, world: World) -> bool:
    return word in _VERBS or word in world.words.verbs
