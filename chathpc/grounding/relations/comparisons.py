"""Whether `A … more … than B` is what the values of A and B say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chathpc.grounding.evidence.facts import Fact, World
from chathpc.grounding.language.claims import Statement, group
from chathpc.grounding.language.quantities import Keys, Quantity
from chathpc.grounding.language.quotation import is_phrase
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.gains import covered
from chathpc.grounding.numbers.operands import Side, is_single, side, value, values
from chathpc.grounding.numbers.rounding import equals
from chathpc.grounding.relations.ranked import ranked
from chathpc.grounding.relations.slight_losses import FACTORS, efficiencies

_ORDER = {"who:busiest": 3, "who:mean": 2, "who:others": 2, "who:idlest": 1}
_TRANSITIVE = frozenset(map(stem, ("exceed", "outweigh", "above", "below")))
_SIDES = frozenset(map(stem, ("above", "below")))
#: What costs is no efficiency.
_COSTS = frozenset(
    map(
        stem,
        (
            "cost",
            "costs",
            "take",
            "takes",
            "spend",
            "spends",
            "lose",
            "loses",
            "need",
            "needs",
            "weigh",
            "weighs",
            "hurt",
            "hurts",
            "matter",
            "matters",
        ),
    )
)
#: `More specific` compares nothing that has a value.
_UNCLAIMED = frozenset(
    map(
        stem,
        (
            "specific",
            "general",
            "detailed",
            "precise",
            "exact",
            "certain",
            "likely",
            "probable",
            "closely",
            "recent",
            "advanced",
        ),
    )
)
_DETERMINERS = frozenset({"the", "a", "an", "its"})
_DIMENSIONS = ("time", "share", "rate", "bytes", "count", "factor")


def comparisons(statement: Statement, world: World) -> bool:
    """False if a comparison is wrong, or one of its sides has no known value."""
    stems, belongs = statement.stems, covered(statement)
    rankings = ranked(statement, world)
    if not all(rankings.values()):
        return False
    for position, meanings in (*world.words.comparisons.found(stems), *_faster(stems)):
        if position in belongs or position in rankings:
            continue
        than = next((p for p in range(position, min(position + 7, len(stems))) if stems[p] == "than"), None)
        if is_phrase(statement.tokens, position, (than or position) + 1, world.words, world.quotable):
            continue
        if than is None and stems[position + 1 : position + 2] and stems[position + 1] in _UNCLAIMED:
            continue  # `none of the more specific causes`
        if than is None and stems[position] not in _TRANSITIVE:
            if _is_bound(statement, position) or _is_measured(statement, position):
                continue
            return False
        split = than if than is not None else position
        after = split + 1
        while after < len(stems) and stems[after] in _DETERMINERS:
            after += 1
        if after < len(stems) and statement.tokens[after].kind == "number":
            if (
                statement.tokens[after].unit
                and _is_bound(statement, position)
                and not _is_known(statement, after, world)
            ):
                continue  # `below 10 %`: the number is checked as a bound
            beside = _two_numbers(statement, position, after)
            if beside is not None:
                one, other = beside
                known = any(f.quantity.dimension == other.dimension and equals(other, f) for f in world.facts)
                if not known or not _is_beyond(one.value, other, "more" in meanings):
                    return False
                continue
            judged = stems[position] in _SIDES and values(side(statement, 0, position), "share", world)
            if (judged or not _is_bound(statement, position)) and not _beside(
                statement, position, after, "more" in meanings, world
            ):
                return False
            continue
        if than is not None and _is_bound(statement, position):
            continue
        if not _is_known_noun(statement, position, split, world):
            return False
        middle = side(statement, position, split).keys
        left, right = _sides(statement, position, split)
        number = _own_number(statement, position)
        if number is not None and right.names:
            if not all(_is_beyond(number.value, one, "more" in meanings) for one in _each(right, number, world)):
                return False
            continue
        left, right = Side(left.keys | middle, left.names), Side(right.keys | middle, right.names)
        placed = left.names or right.names
        if bool(left.names) != bool(right.names) and left.keys and right.keys:
            left, right = Side(left.keys, placed), Side(right.keys, placed)  # `A is busier than B in f`
        waiting = any("act:wait" in m.keys for s in statement.segments for m in s.marks if m.position < split)
        costs = bool(_COSTS & set(stems[: split + 1]))
        if not _ordered(left, right, waiting, "more" in meanings, world, costs=costs):
            return False
    return True


def _sides(statement: Statement, position: int, split: int) -> tuple[Side, Side]:
    """What stands before a comparison and behind its `than`: in its own clause where that names something on both sides, else anywhere."""
    own = statement.segment_at(position)
    if own is not None and split < own.last:
        left, right = side(statement, own.first, position), side(statement, split + 1, own.last)
        if not left and right and own is not statement.segments[0]:
            left = _subject_before(statement, own.first)  # `A takes twice as long as B, and 75 % longer than the mean`
        if left and right:
            return left, right
    return side(statement, 0, position), side(statement, split + 1, len(statement.stems))


def _subject_before(statement: Statement, first: int) -> Side:
    """What the clause before a position is about, without what it is compared with behind its number."""
    before = next(s for s in reversed(statement.segments) if s.first < first)
    start = min((q.start for q in before.quantities), default=0)
    end = next((i for i, t in enumerate(statement.tokens) if t.start >= start), before.last) if start else before.last
    return side(statement, before.first, end)


def _two_numbers(statement: Statement, position: int, after: int) -> tuple[Quantity, Quantity] | None:
    """The numbers of `70.6 % of the peak lies below 80 %`, of one kind and in one clause."""
    one = _own_number(statement, position)
    other = next((q for q in statement.quantities if q.start == statement.tokens[after].start), None)
    if one is None or other is None or one.dimension != other.dimension or one.exactness != "exact":
        return None
    return one, replace(other, exactness="exact")


def _own_number(statement: Statement, position: int) -> Quantity | None:
    """The one number of a clause before a comparison, where that names nothing else: `its 18.6 % are less than …`."""
    own = statement.segment_at(position)
    if own is None or any(m.names for m in own.marks if m.position < position):
        return None
    before = [
        q for q in own.quantities if q.start < statement.tokens[position].start and q.dimension in ("share", "time")
    ]
    return before[0] if len(before) == 1 and not before[0].is_base else None


def _each(of: Side, number: Quantity, world: World) -> Sequence[Quantity]:
    """The values of each of the things that a number is compared with; one that nothing is below or above where one has none."""
    found = []
    for name in sorted(of.names):
        facts = values(Side(of.keys, frozenset({name})), number.dimension, world, number.base)
        if not facts:
            return [replace(number, value=float("nan"))]
        found.append(replace(number, value=max(map(value, facts))))
    return found


def _faster(stems: Sequence[str]) -> Sequence[tuple[int, frozenset[str]]]:
    """`Faster than` compares times; without `than` it is a speed-up."""
    return [
        (p, frozenset({"less"})) for p, word in enumerate(stems) if word in _FAST and "than" in stems[p + 1 : p + 3]
    ]


_FAST = frozenset(map(stem, ("faster", "quicker")))


def _is_known_noun(statement: Statement, position: int, split: int, world: World) -> bool:
    """False for `more particles than`: nothing is known of their number."""
    topics = {m.keys for s in statement.segments for m in s.marks if position < m.position < split and not m.names}
    words = {key.partition(":")[2] for keys in topics for key in keys if key.startswith("word:")}
    return words <= world.said | world.words.telling


def is_limit(quantity: Quantity, statement: Statement, world: World) -> bool:
    """True for the number of `below the 80 % that POP asks for`: `comparisons` has judged it."""
    position = next((i for i, t in enumerate(statement.tokens) if t.start == quantity.start), 0)
    close = [i for i in range(max(0, position - 2), position) if statement.stems[i] in _SIDES]
    if close and _two_numbers(statement, close[0], position) is not None:
        return True
    before = [i for i in range(max(0, position - 2), position) if statement.stems[i] in _SIDES]
    return (
        bool(before)
        and _is_known(statement, position, world)
        and bool(values(side(statement, 0, before[0]), quantity.dimension, world))
    )


def _is_bound(statement: Statement, position: int) -> bool:
    """True where a comparing word belongs to a number: `more than 1.4 s`, `more than half`, `3 s more than`."""
    start = statement.tokens[position].start
    return any(
        (q.exactness in ("above", "below") and 0 <= q.start - start < 24)
        or (q.dimension in ("time", "bytes", "factor") and 0 < start - q.end < 3)
        or (q.in_words and q.dimension in ("factor", "share") and 0 < start - q.end < 12)
        for q in statement.quantities
    )


def _is_measured(statement: Statement, position: int) -> bool:
    """True for the comparative in a clause that has its number: `the second, smaller one takes 319 µs`."""
    segment = statement.segment_at(position)
    return segment is not None and any(not q.in_words and q.dimension != "count" for q in segment.quantities)


def _is_known(statement: Statement, position: int, world: World) -> bool:
    number = next((q for q in statement.quantities if q.start == statement.tokens[position].start), None)
    if number is None:
        return False
    plain = replace(number, exactness="exact")
    return any(f.quantity.dimension == number.dimension and equals(plain, f) for f in world.facts)


def _beside(statement: Statement, position: int, after: int, more: bool, world: World) -> bool:
    """`A is below the 80 %`: the number must be known, and A on the right side of it."""
    limit = next((q for q in statement.quantities if q.start == statement.tokens[after].start), None)
    if limit is None:
        return False
    limit = replace(limit, exactness="exact")
    if not any(f.quantity.dimension == limit.dimension and equals(limit, f) for f in world.facts):
        return False
    found = values(side(statement, 0, position), limit.dimension, world)
    return bool(found) and all(_is_beyond(value(fact), limit, more) for fact in found if not equals(limit, fact))


def _is_beyond(found: float, limit: Quantity, more: bool) -> bool:
    return found > limit.value if more else found < limit.value


def _ordered(left: Side, right: Side, waiting: bool, more: bool, world: World, *, costs: bool) -> bool:
    mine, theirs = _rank(left.keys, world), _rank(right.keys, world)
    if mine and theirs:
        ordered = mine > theirs if more != waiting else mine < theirs
        return ordered and not (left.names | right.names) - world.names
    for dimension in _DIMENSIONS:
        first, second = _alike(left, right, dimension, world)
        if costs and dimension == "share":
            lost = [
                max((100 - one for k in side.keys & FACTORS for one in efficiencies(k, world)), default=None)
                for side in (left, right)
            ]
            if lost[0] is not None and lost[1] is not None:
                return lost[0] > lost[1] if more else lost[0] < lost[1]
            first, second = (
                tuple(f for f in side if "what:efficiency" not in f.around | f.subjects) for side in (first, second)
            )
        if first and second and not (len(first) == len(second) == 1 and first[0] is second[0]):
            one, other = max(map(value, first)), max(map(value, second))
            return one > other if more else one < other
    return False


def _alike(left: Side, right: Side, dimension: str, world: World) -> tuple[Sequence[Fact], Sequence[Fact]]:
    """The facts of both sides that can be compared: the means of both or their sums, where one of them has only the one."""
    first, second = values(left, dimension, world), values(right, dimension, world)
    for ours, theirs in ((first, second), (second, first)):
        kinds = {is_single(fact) for fact in theirs}
        if ours and len(kinds) == 1 and {is_single(fact) for fact in ours} != kinds:
            single = next(iter(kinds))
            again = tuple(values(side, dimension, world, single=single) for side in (left, right))
            if all(again):
                return again[0], again[1]
    return first, second


def _rank(keys: Keys, world: World) -> int:
    return max((_ORDER.get(key, 0) for key in world.with_roles(group(keys, "who"))), default=0)
