"""Numbers that are what others leave of a whole: `the other 46 %`, `everything outside of f`, the time that an idle device is busy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from chathpc.grounding.evidence.facts import Fact, World
from chathpc.grounding.language.claims import Mark, Segment, Statement
from chathpc.grounding.language.quantities import NONE, TOTAL, Keys, Quantity
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.match import number
from chathpc.grounding.numbers.operands import IGNORED, Recomputed, Side, close, fits, rests_on, value, values
from chathpc.grounding.numbers.sums import leading_sum

_APART = frozenset(map(stem, ("outside", "than", "except", "besides", "beside", "but", "apart", "beyond", "without")))
_LEFT = (
    "other", "others", "remaining", "rest", "remainder", "elsewhere", "else", "left", "outside", "leaves", "leaving", "remain", "remains",
    "besides", "apart", "anything", "everything", "except",
)  # fmt: skip
#: Words for what is left; behind them, behind one of `_APART`, what it is left by.
REST = frozenset(map(stem, _LEFT))
_DENIES = frozenset(map(stem, ("not", "neither", "nor")))
_IS = frozenset({"is", "are", "was", "were", "be", "go", "goes", "does", "do"})
_ALL_ELSE = frozenset(map(stem, ("anything", "everything", "something", "other", "others", "else")))
_REMAINS = frozenset(map(stem, ("left", "remain", "remains")))
_RELATIVE = frozenset({"that", "which", "who"})
_OPPOSITE = {"act:wait": "act:work", "act:work": "act:wait"}


def remainder(quantity: Quantity, statement: Statement, position: int, world: World) -> Recomputed | None:
    """The part of the whole that is left by what a clause excludes, or by what a device does otherwise."""
    segment = statement.segment_at(position)
    if quantity.dimension not in ("share", "time") or quantity.is_base or segment is None:
        return None
    excluded = _excluded(segment, statement, position, world)
    if excluded is not None:
        return _left_by(*excluded, quantity, world)
    return _opposite(quantity, world)


def is_denied(quantity: Quantity, statement: Statement) -> bool:
    """True for the number of `22 % of the run is not spent on copies`: what the clause names is what it is not."""
    return denial_of(quantity, statement) is not None


def leaves_out(quantity: Quantity, statement: Statement) -> bool:
    """True for the number of `22 % is anything but copies`, `other places than f cost 1.4 s`: what the clause names is left out."""
    position = next((i for i, t in enumerate(statement.tokens) if t.start == quantity.start), -1)
    segment = statement.segment_at(position)
    if segment is None or quantity.dimension not in ("share", "time") or quantity.is_base:
        return False
    stems = statement.stems
    cue = next((p for p in range(segment.first, segment.last) if stems[p] in _ALL_ELSE), None)
    apart = next((p for p in range(cue, segment.last) if stems[p] in _APART), None) if cue is not None else None
    if apart is None or any(_tells(m) and m.position < apart for m in segment.marks):
        return False
    return any(_tells(m) and m.position > apart for m in segment.marks)


def denial_of(quantity: Quantity, statement: Statement) -> int | None:
    """Where the clause of a number denies what the number is of; None if it does not."""
    position = next((i for i, t in enumerate(statement.tokens) if t.start == quantity.start), -1)
    segment = statement.segment_at(position)
    if segment is None or quantity.dimension not in ("share", "time") or quantity.is_base:
        return None
    cue = _denial(segment, statement, position)
    return cue if cue is not None and any(_tells(m) for m in segment.marks if m.position > cue) else None


def _denial(segment: Segment, statement: Statement, position: int) -> int | None:
    """Where a clause denies behind its number: `… is not`, `… is anything but`."""
    stems = statement.stems
    for p in range(position + 1, segment.last):
        if stems[p] in _DENIES and _IS & set(stems[position + 1 : p]):
            return None if _RELATIVE & set(stems[position + 1 : p]) else p
    return None


def _excluded(segment: Segment, statement: Statement, position: int, world: World) -> tuple[Keys, Keys] | None:
    """Keys and names of what a clause leaves out; None where it speaks of nothing that is left."""
    stems = statement.stems
    denial = _denial(segment, statement, position)
    cue = next((p for p in range(segment.first, segment.last) if stems[p] in REST), None)
    if denial is not None and any(_tells(m) for m in segment.marks if m.position > denial):
        beyond: Iterable[Mark] = [m for m in segment.marks if m.position > denial]
    elif cue is not None:
        if stems[cue] in _REMAINS and "for" in stems[cue : cue + 3]:
            return NONE, NONE  # `… is left for kernels`, by the leading cost
        apart = next((p for p in range(cue, segment.last) if stems[p] in _APART), segment.last)
        if any(_tells(m) and m.position < apart for m in segment.marks):
            return None  # `the copies take the other 29 %`: that is their own part
        beyond = [m for m in segment.marks if m.position > apart]
    else:
        return None
    keys = frozenset(k for m in beyond for k in m.keys if k != "who:others")
    known = frozenset(k for k in keys if not k.startswith("word:") or k[5:] in world.said - world.words.neutral)
    if keys and not known and not any(m.names for m in beyond):
        return None  # nothing is known of that
    keys = known
    return keys, frozenset(n for m in beyond for n in m.names)


def _left_by(own: Keys, names: Keys, quantity: Quantity, world: World) -> Recomputed | None:
    of = replace(quantity, own=own, names=names, inherited=NONE, inherited_names=NONE, agent=None)
    if quantity.dimension == "time":
        return _left_of_time(of, world)
    low, high = quantity.interval
    flipped = {"above": "below", "below": "above"}.get(quantity.exactness, quantity.exactness)
    left = replace(
        of,
        in_words=False,
        value=100 - quantity.value,
        interval=(100 - high, 100 - low),
        base=quantity.base or TOTAL,
        exactness=flipped,
    )
    support = number(left, world)
    if support.problem and not own and not names:
        together = leading_sum(left, world)
        return rests_on("complement", together) if together else None
    several = [Side(frozenset({key}), NONE) for key in sorted(own) if key.startswith("what:")] if not names else []
    if support.problem and len(several) > 1:  # `neither math nor allocation`
        parts = [fact for one in several for fact in values(one, "share", world, left.base)[:1]]
        same = len(parts) == len(several) and close(sum(map(value, parts)), parts, left)
        return rests_on("complement", parts) if same else None
    return None if support.problem else Recomputed("complement", support.evidence)


def _left_of_time(quantity: Quantity, world: World) -> Recomputed | None:
    """`Everything outside of f takes 0.16 s`: what a time leaves of its whole, or of the cost that it is a part of."""
    for part in world.facts:
        if part.quantity.dimension != "time" or part.quantity.is_base or not part.evidence:
            continue
        if not quantity.own and not quantity.names and "what:cost" not in part.subjects:
            continue
        about = quantity.names <= part.names | part.near and quantity.own - IGNORED <= part.subjects | part.around
        if not about:
            continue
        for whole in _wholes(part, world):
            if value(whole) > value(part) and close(value(whole) - value(part), (whole, part), quantity):
                return rests_on("complement", (whole, part))
    return None


def _wholes(part: Fact, world: World) -> Iterable[Fact]:
    """What a time is a part of: the whole of its evidence, the only one there is, or the cost of its finding."""
    bases = [f for f in world.facts if f.quantity.is_base and f.quantity.dimension == "time"]
    only = len({round(value(f), 9) for f in bases}) == 1
    yield from (f for f in bases if f.evidence == part.evidence or only)
    for fact in world.facts:
        same = fact.evidence == part.evidence or (fact.bundles & part.bundles and "what:cost" in fact.subjects)
        if fact.quantity.dimension == "time" and not fact.quantity.is_base and same and fact is not part:
            yield fact


def _opposite(quantity: Quantity, world: World) -> Recomputed | None:
    """`The device is busy for 76 ms` where it is idle for 201 ms of 277 ms."""
    if quantity.dimension == "share":
        return _computing(quantity, world)
    acts = quantity.own & _OPPOSITE.keys()
    others = {key for key in quantity.own if key.startswith(("what:", "operation:", "direction:"))} - IGNORED
    if len(acts) != 1 or "in:device" not in quantity.own or quantity.names or others or quantity.dimension != "time":
        return None
    other = _OPPOSITE[next(iter(acts))]
    who = frozenset(key for key in quantity.own if key.startswith("who:"))
    for part in world.facts:
        same = other in part.quantity.own and who <= world.with_roles(part.quantity.own)
        known = "in:device" in part.subjects | part.around
        if part.quantity.dimension != "time" or part.quantity.is_base or not (same and known):
            continue
        if not who and any(key.startswith("who:") for key in part.quantity.own):
            continue
        for whole in _wholes(part, world):
            if whole.quantity.is_base and close(value(whole) - value(part), (whole, part), quantity):
                return rests_on("complement", (whole, part))
    return None


def _computing(quantity: Quantity, world: World) -> Recomputed | None:
    """`The program computes nearly all of its time` where little of it is waiting or input and output."""
    told = frozenset(k for k in quantity.own if not k.startswith(("who:", "word:")))
    if told - _WORKERS != {"act:work"} or quantity.names or quantity.base not in (None, TOTAL):
        return None
    for part in world.facts:
        both = {"act:wait", "in:io"} <= part.quantity.own and part.quantity.dimension == "share"
        if both and fits(100 - value(part), quantity):
            return Recomputed("complement", part.evidence)
    return None


_WORKERS: Keys = frozenset({"in:rank", "in:thread", "in:host"})


def _tells(mark: Mark) -> bool:
    return bool(mark.names) or any(
        k.startswith(("what:", "act:", "direction:", "operation:", "in:io", "in:memory", "in:mpi")) for k in mark.keys
    )
