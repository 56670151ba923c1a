"""Numbers that follow by one step from others of their sentence: `15.1 ms of its 2.49 s, about 0.6 %`, `34.7 % and 19.2 %, so about 54 %`.

The others are known to be right where they stand; here it is only seen that the step is the one that the sentence says, and its result
the number: what is a part of what, which of two is the larger one, what is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from chathpc.grounding.evidence.facts import Fact, World
from chathpc.grounding.language.claims import Segment, Statement
from chathpc.grounding.language.quantities import DETERMINERS, IT, NONE, OF_NUMBER, TOTAL, Keys, Quantity
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.amounts import whole_behind
from chathpc.grounding.numbers.operands import Side, fits, side, value, values

_SIZES = ("time", "bytes", "rate", "share", "count", "bare")
#: A percentage of these is no part of a time.
_OWN_SCALE: Keys = frozenset(
    {"what:efficiency", "what:occupancy", "what:utilisation", "what:throughput", "what:bandwidth"}
)
_PARTS = ("time", "bytes", "share")
_ADDED = frozenset(map(stem, ("together", "combined", "altogether", "sum", "total", "add", "adds", "all", "full")))
_SO = frozenset({"so", "thus", "hence", "or", "i.e"})
_WHOLE_RUN = frozenset(map(stem, ("run", "program", "total", "overall", "whole", "entire", "wall", "application")))
_POINTS = frozenset(map(stem, ("point", "points")))
_FEWER = frozenset(map(stem, ("less", "shorter", "lower", "smaller", "fewer", "short", "little", "few", "faster")))
_VERSUS = frozenset(
    map(stem, ("versus", "vs", "against", "compared", "to", "instead", "of", "with", "and", "rather", "than"))
)
#: How far behind a number the words of what it is told of begin.
_NEAR = 4
_MOST_ADDED = 4


def follows(quantity: Quantity, statement: Statement, known: Sequence[Quantity], world: World) -> str:
    """By what step a number follows from `known` ones of its sentence: `part`, `ratio`, `sum`, `difference`, `mean`, `product`; empty for none."""
    others = [q for q in known if q.start != quantity.start]
    for query, test in (
        ("part", _part),
        ("part", _whole),
        ("part", _in_words),
        ("part", _amount),
        ("ratio", _ratio),
        ("sum", _sum),
        ("difference", _points),
        ("mean", _per),
        ("product", _product),
    ):
        if test(quantity, statement, others, world):
            return query
    return ""


def _alike(one: Quantity, other: Quantity) -> bool:
    return one.dimension == other.dimension and one.noun == other.noun and one.dimension in _SIZES and one is not other


def _quotients(one: Quantity, other: Quantity, scale: float = 1.0) -> tuple[float, ...]:
    """What the quotient of two written numbers can be, from least to most."""
    least, most = max(other.interval[0], 1e-300), max(other.interval[1], 1e-300)
    return tuple(
        scale * x for x in (one.interval[0] / most, one.value / max(other.value, 1e-300), one.interval[1] / least)
    )


def _is_within(quantity: Quantity, results: Sequence[float]) -> bool:
    """True if a number is a right rounding of a result, or of one that the rounding of what went in allows."""
    if fits(results[1], quantity):
        return True
    return quantity.exactness != "above" and quantity.exactness != "below" and _overlap(quantity, results)


def _overlap(quantity: Quantity, results: Sequence[float]) -> bool:
    return quantity.interval[0] <= results[2] and results[0] <= quantity.interval[1]


def _part(quantity: Quantity, statement: Statement, known: Sequence[Quantity], world: World) -> bool:
    """`10.5 s, roughly half of the 21.0 s` and `15.1 ms of its 2.49 s, about 0.6 %`."""
    if quantity.dimension != "share" or quantity.base not in (None, TOTAL, IT, OF_NUMBER) or quantity.is_base:
        return False
    whole = _behind_of(quantity, statement, known)
    if whole is not None:
        before = [q for q in known if _alike(q, whole) and q.start < quantity.start and not q.is_base]
        behind = [q for q in known if _alike(q, whole) and q.start > whole.start and not q.is_base]
        near = before[-1:] if before and _is_said_of(quantity, before[-1], statement) else behind[:1]
        return any(_is_within(quantity, _quotients(part, whole, 100)) for part in near)
    for part, of in ((p, w) for p in known for w in known if w.is_base and p.start < w.start and _alike(p, w)):
        rivals = [q for q in statement.quantities if q.dimension in _PARTS]
        between = [q for q in rivals if part.start < q.start < of.start]
        beside = not [q for q in rivals if of.start < q.start < quantity.start or quantity.start < q.start < part.start]
        if between or not beside or not _is_said_of(quantity, part, statement):
            continue
        if _is_of_run(quantity, statement) and not _is_run(of, world):
            continue
        if _is_within(quantity, _quotients(part, of, 100)):
            return True
    return False


def _behind_of(quantity: Quantity, statement: Statement, known: Sequence[Quantity]) -> Quantity | None:
    whole = whole_behind(quantity, statement)
    return None if whole is None else next((q for q in known if q.start == whole.start), None)


def _whole(quantity: Quantity, statement: Statement, known: Sequence[Quantity], world: World) -> bool:
    """The whole of `2.11 s of 2.25 s` where one item of evidence has both, and nothing is said of what it is the time of."""
    if not quantity.is_base or quantity.dimension not in ("time", "bytes"):
        return False
    end = next((i for i, t in enumerate(statement.tokens) if t.start >= quantity.end), len(statement.tokens))
    segment = _segment(quantity, statement)
    parts = [q for q in known if _alike(q, quantity) and q.start < quantity.start and not q.is_base]
    if (
        not parts
        or segment is None
        or any(m.position >= end for m in segment.marks)
        or _WHOLE_RUN & set(statement.stems[end : end + _NEAR])
    ):
        return False
    if any(parts[-1].start < q.start < quantity.start for q in statement.quantities):
        return False
    having = [
        [f for f in world.facts if f.evidence and f.quantity.dimension == q.dimension and _is_value(q, f)]
        for q in (parts[-1], quantity)
    ]
    said = frozenset(k for s in statement.segments for k in s.keys) | statement.names
    return any(
        p.evidence == w.evidence and value(p) <= value(w) and p is not w and (w.quantity.own | w.quantity.names) & said
        for p in having[0]
        for w in having[1]
    )


def _is_value(quantity: Quantity, fact: Fact) -> bool:
    return quantity.interval[0] <= value(fact) <= quantity.interval[1] or fact.quantity.value == quantity.value


def _in_words(quantity: Quantity, statement: Statement, known: Sequence[Quantity], world: World) -> bool:
    """`More than half of it (55.6 %)`: a part in words beside the percentage that it is."""
    if quantity.dimension != "share" or not quantity.in_words:
        return False
    shares = [q for q in known if q.dimension == "share" and not q.in_words]
    for share in shares:
        first, second = sorted((quantity, share), key=lambda q: q.start)
        between = [q for q in statement.quantities if first.start < q.start < second.start]
        far = sum(first.end <= t.start < second.start for t in statement.tokens) > _BESIDE
        same = share.base == quantity.base or (share.base in (None, TOTAL) and quantity.base in (None, TOTAL))
        if not between and not far and same and _is_said_of(quantity, share, statement) and fits(share.value, quantity):
            return True
    return False


_BESIDE = 9


def _amount(quantity: Quantity, statement: Statement, known: Sequence[Quantity], world: World) -> bool:
    """`3 % of the time, so 0.3 s of 9.5 s`: the share before of the whole behind."""
    if quantity.dimension not in ("time", "bytes") or quantity.is_base:
        return False
    behind = [q for q in known if q.is_base and q.dimension == quantity.dimension and q.start > quantity.start]
    shares = [q for q in known if q.dimension == "share" and q.start < quantity.start and q.base in (None, TOTAL)]
    if not behind or not shares or not _is_run(behind[0], world) or not _is_said_of(quantity, shares[-1], statement):
        return False
    share, whole = shares[-1], behind[0]
    if any(share.start < q.start < whole.start and q.start != quantity.start for q in statement.quantities):
        return False
    shares_of = (share.interval[0], share.value, share.interval[1])
    wholes = (whole.interval[0], whole.value, whole.interval[1])
    return _is_within(quantity, tuple(s * w / 100 for s, w in zip(shares_of, wholes, strict=True)))


def _segment(quantity: Quantity, statement: Statement) -> Segment | None:
    return next((s for s in statement.segments if any(q.start == quantity.start for q in s.quantities)), None)


def _is_said_of(quantity: Quantity, part: Quantity, statement: Statement) -> bool:
    """True if the clause of a share names nothing else than that of the part does."""
    mine, theirs = _segment(quantity, statement), _segment(part, statement)
    if mine is None or theirs is None or mine is theirs:
        return mine is not None
    told = part.names | part.inherited_names | theirs.names
    before = mine.names if quantity.start > part.start else NONE
    who = frozenset(k for k in mine.keys if k.startswith("who:") and k[-1].isdigit())
    return before <= told and who <= theirs.keys | part.keys and not mine.keys & _OWN_SCALE - theirs.keys


def _is_of_run(quantity: Quantity, statement: Statement) -> bool:
    """True for `a third of the run time`: its whole is that of the run."""
    position = next((i for i, t in enumerate(statement.tokens) if t.start >= quantity.end), len(statement.tokens))
    return quantity.base == TOTAL and bool(_WHOLE_RUN & set(statement.stems[position : position + _NEAR]))


def _is_run(whole: Quantity, world: World) -> bool:
    return any(
        f.quantity.is_base
        and f.quantity.dimension == whole.dimension
        and whole.interval[0] <= value(f) <= whole.interval[1]
        for f in world.facts
    )


def _ratio(quantity: Quantity, statement: Statement, known: Sequence[Quantity], world: World) -> bool:
    """`The busiest computes 1.06 s, the idlest 525 ms, so the first has twice as much to do as the second`."""
    if quantity.dimension != "factor" or "what:speedup" in quantity.own:
        return False
    return any(
        _is_within(quantity, _quotients(one, other)) for one, other in _compared(quantity, statement, known, world)
    )


def _compared(
    quantity: Quantity, statement: Statement, known: Sequence[Quantity], world: World
) -> Iterable[tuple[Quantity, Quantity]]:
    """The numbers that `as long as`, `times the …` compare, the larger one's side first."""
    stems = statement.stems
    position = next((i for i, t in enumerate(statement.tokens) if t.start == quantity.start), -1)
    end = next((i for i, t in enumerate(statement.tokens) if t.start >= quantity.end), len(stems))
    segment = _segment(quantity, statement)
    if position < 0 or segment is None:
        return
    fewer = bool(_FEWER & set(stems[end : end + 2]))
    left, right = side(statement, segment.first, position), side(statement, end, segment.last)
    before = [q for q in known if q.start < quantity.start]
    behind = [q for q in known if q.start > quantity.start]
    pairs: list[tuple[Quantity, Quantity]] = []
    following = end
    while following < len(stems) and stems[following] in DETERMINERS:
        following += 1
    if behind and following < len(stems) and statement.tokens[following].start == behind[0].start:
        pairs += [(q, behind[0]) for q in before[-1:] if _alike(q, behind[0])]  # `22.8 s are 900 times the 25.1 ms`
    elif len(behind) > 1 and _alike(behind[0], behind[1]) and _are_against(behind[0], behind[1], statement):
        if _has(left, behind[0], world) and _has(right, behind[1], world):
            pairs.append((behind[0], behind[1]))
    elif len(before) > 1 and _alike(before[-1], before[-2]):
        first, last = before[-2], before[-1]
        if right and (left or segment.first):
            for one, other in ((first, last), (last, first)):
                if _is_of(one, left, other, world) and _is_of(other, right, one, world):
                    pairs.append((one, other))
        elif left:
            pairs += [(a, b) for a, b in ((first, last), (last, first)) if _is_of(a, left, b, world)]
        elif not right:
            pairs.append((last, first))
    elif before and right.names and not right.names & (before[-1].names or before[-1].inherited_names):
        # `61 % hit in L2, about twice that of the L1 cache`
        base = before[-1].base if before[-1].dimension == "share" else None
        pairs += [(before[-1], f.quantity) for f in values(Side(NONE, right.names), before[-1].dimension, world, base)]
    elif before and left and not right and not before[-1].names & left.names:
        # `g needs 984 µs, so f runs seven times as long`
        for fact in values(left, before[-1].dimension, world):
            if not fact.quantity.is_base and left.names and before[-1].names | before[-1].inherited_names:
                pairs.append((fact.quantity, before[-1]))
    yield from ((b, a) if fewer else (a, b) for a, b in pairs)


def _are_against(one: Quantity, other: Quantity, statement: Statement) -> bool:
    """True for `23.5 s versus 8.75 s`."""
    between = [t for t in statement.tokens if one.end <= t.start < other.start]
    return bool(between) and all(t.stem in _VERSUS | DETERMINERS or t.kind == "punctuation" for t in between)


def _has(of: Side, quantity: Quantity, world: World) -> bool:
    return any(_is_value(quantity, f) for f in values(of, quantity.dimension, world))


def _is_of(quantity: Quantity, of: Side, other: Quantity, world: World) -> bool:
    """True if a side of a comparison is what a number is of, and not what the other one is of."""

    def shared(one: Quantity) -> Keys:
        keys = frozenset(k for k in one.own if k.startswith(("who:", "what:", "direction:", "operation:")))
        return (world.with_roles(keys) & world.with_roles(of.keys)) | ((one.names or one.inherited_names) & of.names)

    return bool(shared(quantity) - shared(other)) and not shared(other) - shared(quantity)


def _sum(quantity: Quantity, statement: Statement, known: Sequence[Quantity], world: World) -> bool:
    """`44.8 % and 22.3 %, which together makes about two thirds`; `add the 405 ms to the 341 ms and you get 746 ms`."""
    if quantity.dimension not in ("time", "bytes", "share", "count") or quantity.is_base:
        return False
    segment = _segment(quantity, statement)
    parts = [q for q in known if _alike(q, quantity) and q.start < quantity.start and not q.is_base and not q.in_words]
    position = next((i for i, t in enumerate(statement.tokens) if t.start == quantity.start), -1)
    if segment is None or len(parts) < 2:
        return False
    cued = bool(_ADDED & set(statement.stems[segment.first : segment.last])) or bool(
        _SO & set(statement.stems[max(0, position - 3) : position])
    )
    cued = cued or bool(_ADDED & set(statement.stems))
    told = frozenset(n for p in parts for n in p.names | p.inherited_names)
    named = frozenset(n for m in segment.marks if m.position < position for n in m.names)
    bases = {q.base for q in (*parts, quantity)} - {None, TOTAL, IT}
    if not cued or not named <= told or len(bases) > 1:
        return False
    return any(
        _is_within(
            quantity,
            tuple(sum(x) for x in zip(*((p.interval[0], p.value, p.interval[1]) for p in chosen), strict=True)),
        )
        for chosen in ([parts] if len(parts) <= _MOST_ADDED else combinations(parts, 2))
    )


def _points(quantity: Quantity, statement: Statement, known: Sequence[Quantity], world: World) -> bool:
    """`65.6 % misses the 80 % by more than 14 percentage points`."""
    end = next((i for i, t in enumerate(statement.tokens) if t.start >= quantity.end), len(statement.tokens))
    if quantity.dimension not in ("bare", "share") or not _POINTS & set(statement.stems[end : end + 2]):
        return False
    shares = [q for q in known if q.dimension == "share" and not q.in_words]
    if len(shares) != 2:
        return False
    high, low = max(shares, key=lambda q: q.value), min(shares, key=lambda q: q.value)
    return _is_within(
        quantity,
        (high.interval[0] - low.interval[1], high.value - low.value, high.interval[1] - low.interval[0]),
    )


def _per(quantity: Quantity, statement: Statement, known: Sequence[Quantity], world: World) -> bool:
    """`16 bytes for 2 operations, which is 8 bytes per operation`."""
    if quantity.dimension not in ("time", "bytes") or quantity.per is None:
        return False
    amounts = [q for q in known if q.dimension == quantity.dimension and q.per is None]
    counts = [q for q in known if q.dimension == "count" and q.noun == quantity.per]
    return any(_is_within(quantity, _quotients(a, c)) for a in amounts[-1:] for c in counts[-1:])


def _product(quantity: Quantity, statement: Statement, known: Sequence[Quantity], world: World) -> bool:
    """`34 blocks of 256 threads, 8,704 threads in all`."""
    if quantity.dimension != "count":
        return False
    for one, other in ((a, b) for a in known for b in known if a.start < b.start):
        between = [t.stem for t in statement.tokens if one.end <= t.start < other.start]
        same = one.dimension == other.dimension == "count" and other.noun == quantity.noun != one.noun
        if (
            same
            and between[-1:] == ["of"]
            and len(between) <= _NEAR
            and abs(one.value * other.value - quantity.value) < 1
        ):
            return True
    return False
