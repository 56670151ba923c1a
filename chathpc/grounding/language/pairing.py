"""Which of several things a number is of: the one beside it, or that of its place in a list (`f and g take 3 s and 2 s`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chathpc.grounding.language.quantities import DETERMINERS, NONE, Keys, Quantity
from chathpc.grounding.language.segments import Mark, Segment
from chathpc.grounding.language.tokens import Token
from chathpc.grounding.language.vocabulary import stem


def beside(quantity: Quantity, segment: Segment, position: int, stems: Sequence[str], numbers: int) -> Quantity:
    """Of several things in a clause with several numbers the one that a number stands beside: `f (50 s)`, `25 s in g`."""
    told = [m for m in segment.marks if _tells(m)]
    if numbers < 2 or len(told) < 2 or quantity.is_base:
        return quantity
    behind = []
    noun = position + (quantity.dimension == "count")  # `3 launches of f`
    if noun + 1 < len(stems) and stems[noun + 1] in _OF_WHOM:
        behind = [m for m in told if noun + 1 < m.position <= noun + 4][:1]
    before = [m for m in told if m.position < position]
    own = behind or before[-1:]
    if not own:
        return quantity
    others = frozenset(k for m in told if m is not own[0] for k in m.keys if k.startswith(_TELLING))
    keys = quantity.own - (others - own[0].keys)
    return replace(quantity, own=keys, names=own[0].names or (NONE if any(m.names for m in told) else quantity.names))


#: Groups that tell one thing from another in one clause, and words before the thing that a number is of.
_TELLING = ("who:", "what:", "direction:", "operation:")
_OF_WHOM = ("in", "for", "by", "on", "at", "to", "of")
_UNTELLING: Keys = frozenset({"what:cost", "what:calls", "what:speedup", "what:size", "what:speed", "who:total"})


def _tells(mark: Mark) -> bool:
    return bool(mark.names) or any(key.startswith(_TELLING) for key in mark.keys - _UNTELLING)


def paired(segments: tuple[Segment, ...], tokens: Sequence[Token], stems: Sequence[str]) -> tuple[Segment, ...]:
    """The clauses with the numbers of a list given to the things of a list, one by one: `f and g take 3 s and 2 s`."""
    numbers = _runs([p for p, t in enumerate(tokens) if t.kind == "number"], stems, tokens, _AND | _AGAINST)
    by_start = {q.start: q for s in segments for q in s.quantities if not q.is_base}
    marks = sorted((m for s in segments for m in s.marks if _tells(m)), key=lambda m: m.position)
    things = _runs([m.position for m in marks], stems, tokens, _AND)
    named = [m.position for m in marks if m.names]
    if len(named) == 2 and _COMPARED & set(stems[named[0] : named[1]]):
        things.append(named)  # `f takes twice as long as g (3 s versus 1.5 s)`
    at = {m.position: m for m in marks}
    changed: dict[int, Quantity] = {}
    for run in numbers:
        found = [by_start.get(tokens[p].start) for p in run]
        fitting = [t for t in things if len(t) == len(run) and (t[-1] < run[0] or run[-1] < t[0])]
        if len(run) < 2 or None in found or not fitting:
            continue
        nearest = min(fitting, key=lambda t: min(abs(run[0] - t[-1]), abs(t[0] - run[-1])))
        listed = frozenset(k for p in nearest for k in at[p].keys)
        shared = frozenset(k for s in segments for m in s.marks if m.position not in nearest for k in m.keys)
        sizes = [q.value for q in found if q is not None]
        if min(sizes) >= _EQUAL * max(sizes):
            shared -= _BALANCE  # `f and g take about the same, 1.23 s and 1.20 s`
        bases = [q.base for q in found if q is not None and q.base]
        for position, quantity in zip(nearest, found, strict=True):
            if quantity is not None:
                keys = (shared - listed) | at[position].keys
                base = quantity.base or (bases[-1] if quantity.dimension == "share" and bases else None)
                changed[quantity.start] = replace(
                    quantity, own=keys, names=at[position].names, inherited=NONE, inherited_names=NONE, base=base
                )
    if not changed:
        return segments
    return tuple(replace(s, quantities=tuple(changed.get(q.start, q) for q in s.quantities)) for s in segments)


_BALANCE: Keys = frozenset({"what:balance"})
#: What is called equal may differ by a tenth.
_EQUAL = 0.9
_AND = frozenset({"and", "or"})
_AGAINST = frozenset(map(stem, ("versus", "vs", "against", "compared", "with")))
_COMPARED = frozenset({"as", "than"})


def _runs(
    positions: Sequence[int], stems: Sequence[str], tokens: Sequence[Token], joints: frozenset[str]
) -> list[list[int]]:
    """Positions that are items of one list: nothing between them but commas, `and` and articles."""
    runs: list[list[int]] = []
    for position in positions:
        between = range(runs[-1][-1] + 1, position) if runs else range(0)
        if runs and between and all(stems[p] in DETERMINERS | joints or tokens[p].text == "," for p in between):
            runs[-1].append(position)
        else:
            runs.append([position])
    return [run for run in runs if len(run) > 1]
