"""Numbers that no evidence prints but that follow from it: sums, differences, ratios, parts, means and what is left.

Each has a name, so that a reader can be told how a claim was recomputed. Operands are looked up by subject in the facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

from chathpc.grounding.evidence.facts import Fact, World
from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.quantities import IT, NONE, TOTAL, Quantity
from chathpc.grounding.language.quantity import REST_OF_IT
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.amounts import part_of_amount
from chathpc.grounding.numbers.match import number
from chathpc.grounding.numbers.operands import (
    DIMENSIONS,
    IGNORED,
    Recomputed,
    Side,
    close,
    fits,
    is_single,
    rests_on,
    side,
    value,
    values,
)
from chathpc.grounding.numbers.remainders import is_denied, leaves_out, remainder
from chathpc.grounding.numbers.rounding import equals
from chathpc.grounding.numbers.sums import is_together, operands, summed

_MORE = frozenset(map(stem, ("more", "longer", "higher", "larger", "greater", "bigger")))
_LESS = frozenset(map(stem, ("less", "shorter", "lower", "smaller", "fewer")))
_DIFFERENCE = frozenset(map(stem, ("difference", "gap", "spread", "distance")))
#: Verbs that compare: `copies outweigh the kernels by a factor of 2.6`.
_EXCEEDS = frozenset(map(stem, ("outweigh", "exceed", "dwarf")))
#: `Twice as long` compares times, `twice as many` counts.
_LONG, _MANY = frozenset({"long", "longer"}), frozenset({"many", "often"})
_WHAT = ("of", "what")


def recomputed(quantity: Quantity, statement: Statement, world: World) -> Recomputed | None:
    """The derivation that gives a number, or None."""
    position = next((i for i, t in enumerate(statement.tokens) if t.start == quantity.start), -1)
    if position < 0:
        return None
    if is_denied(quantity, statement):
        return remainder(quantity, statement, position, world)
    for query in (_ratio, _difference, summed, part_of_amount, _part, remainder, _more_by, _mean):
        found = query(quantity, statement, position, world)
        if found is not None:
            return found
    return None


def has_cue(quantity: Quantity, statement: Statement, world: World) -> bool:
    """True for a number that a sentence itself calls a sum, a difference or a ratio of two things, or what they leave.

    What one fact is about together is no sum.
    """
    position = next((i for i, t in enumerate(statement.tokens) if t.start == quantity.start), -1)
    stems = statement.stems
    if is_denied(quantity, statement) or leaves_out(quantity, statement):
        return True
    if quantity.dimension in ("time", "share", "bytes") and is_together(statement, position):
        parts = operands(statement, position)
        if quantity.is_base or (len(quantity.names) == 1 and all(one.names for one in parts)):
            return False  # the whole, or one of several numbers, each with its own
        return len(parts) > 1 and not any(
            fact.quantity.dimension == quantity.dimension
            and all(one.keys <= fact.quantity.own and not one.names for one in parts)
            for fact in world.facts
        )
    return _second(stems, position, statement) is not None


def _second(stems: Sequence[str], position: int, statement: Statement) -> tuple[int, int] | None:
    """Where the words of a comparison's second side begin, and where its number's own words end."""
    following = list(stems[position + 1 : position + 9])
    ends = [i for i, t in enumerate(statement.tokens[position + 1 : position + 9]) if t.kind == "punctuation"]
    following = following[: ends[0]] if ends else following
    if "than" in following and (_MORE | _LESS) & set(following[:2]):
        return position + 2 + following.index("than"), position
    if "as" in following[:3]:
        first = following.index("as")
        again = [i for i in range(first + 1, len(following)) if following[i] == "as"]
        if again:
            return position + 2 + again[0], position
    return None


def _ratio(quantity: Quantity, statement: Statement, position: int, world: World) -> Recomputed | None:
    of_what = _of_what(quantity, statement, position)
    if quantity.dimension == "share" and (of_what or (quantity.in_words and quantity.base is None)):
        low, high = (bound / 100 for bound in quantity.interval)
        quantity = replace(quantity, dimension="factor", value=quantity.value / 100, interval=(low, high))
    if quantity.dimension != "factor":
        return None
    second = _second(statement.stems, position, statement)
    verb = next((p for p in range(position) if statement.stems[p] in _EXCEEDS), None)
    if verb is not None:
        left, right = side(statement, 0, verb), side(statement, verb + 1, position)
    else:
        start = second[0] if second else position + 1
        end = next((s.last for s in statement.segments if s.last > start), len(statement.tokens))
        left, right = side(statement, 0, position), side(statement, start, end)
    right = _completed(right, left)
    if not left or not right or left == right:
        return None
    behind = set(statement.stems[position + 1 : position + 4])
    for dimension in ("time",) if behind & _LONG else ("count",) if behind & _MANY else DIMENSIONS:
        for single in (None, True, False):
            ours, theirs = (values(each, dimension, world, single=single) for each in (left, right))
            for one, other in product(ours, theirs):
                if value(other) and one is not other and fits(value(one) / value(other), quantity):
                    return rests_on("ratio", (one, other))
    return None


def _of_what(quantity: Quantity, statement: Statement, position: int) -> bool:
    """True for `57 % of what GPU 0 does`."""
    behind = next((i for i, t in enumerate(statement.tokens) if t.start >= quantity.end), len(statement.tokens))
    return statement.stems[behind : behind + 2] == _WHAT and quantity.dimension == "share"


def _completed(right: Side, left: Side) -> Side:
    """The second side says only what differs: `Rank 0 spends … as the other rank`."""
    kept = frozenset(k for k in left.keys if k.split(":")[0] not in {r.split(":")[0] for r in right.keys})
    roles = frozenset(k for k in kept if not k.startswith("who:"))
    if any(key.startswith("who:") for key in right.keys) and not right.names:
        return Side(right.keys | roles, left.names)
    return right


def _difference(quantity: Quantity, statement: Statement, position: int, world: World) -> Recomputed | None:
    stems = statement.stems
    second = _second(stems, position, statement)
    segment = next((i for i, s in enumerate(statement.segments) if s.first <= position < s.last), 0)
    alone = set(stems[position + 1 : position + 2]) & (_MORE | _LESS)
    if second is not None:
        left, right = side(statement, 0, position), side(statement, second[0], len(stems))
        more = bool(_MORE & set(stems[position : second[0]]))
    elif "between" in stems and _DIFFERENCE & set(stems):
        start = stems.index("between")
        middle = next((i for i in range(start, len(stems)) if stems[i] == "and"), None)
        if middle is None:
            return _apart(quantity, statement, world)
        end = position if position > middle else len(stems)
        left, right, more = side(statement, start, middle), side(statement, middle, end), True
    elif alone and segment:  # `f takes 3 s, while g takes 1 s less`
        before, here = statement.segments[segment - 1], statement.segments[segment]
        left, right = side(statement, here.first, position), side(statement, before.first, before.last)
        more = bool(alone & _MORE)
    else:
        return None
    around = Side.of(m for s in statement.segments for m in s.marks)
    names = around.names if not left.names and not right.names else NONE
    left, right = Side(left.keys, left.names | names), Side(right.keys, right.names | names)
    right = _completed(right, left)
    for one, other in product(values(left, quantity.dimension, world), values(right, quantity.dimension, world)):
        difference = value(one) - value(other) if more else value(other) - value(one)
        if one is not other and difference > 0 and close(difference, (one, other), quantity):
            return rests_on("difference", (one, other))
    return None


def _apart(quantity: Quantity, statement: Statement, world: World) -> Recomputed | None:
    """`The gap between the two ranks`: of one item of evidence the numbers of one rank or thread and of another."""
    names = statement.names
    for one in world.facts:
        if one.quantity.dimension != quantity.dimension or not one.evidence or not _who(one):
            continue
        for other in world.facts:
            same = other.evidence == one.evidence and other.quantity.dimension == one.quantity.dimension
            about = all(names <= f.names | f.near and not f.quantity.is_base for f in (one, other))
            apart = _who(other) and not _who(one) & _who(other) and value(one) > value(other)
            if same and about and apart and close(value(one) - value(other), (one, other), quantity):
                return rests_on("difference", (one, other))
    return None


def _who(fact: Fact) -> frozenset[str]:
    return frozenset(key for key in fact.quantity.own if key.startswith("who:")) - TOTAL - {"who:mean"}


def _part(quantity: Quantity, statement: Statement, position: int, world: World) -> Recomputed | None:
    """`Most of the serial time is in f`: the time of f by the serial time."""
    if quantity.dimension != "share" or not quantity.base or quantity.base == TOTAL:
        return None
    if quantity.base == REST_OF_IT:
        return _part_of_rest(quantity, statement, position, world)
    if quantity.base == IT:
        return _part_of_number(quantity, statement, position, world)
    printed = (fact for fact in world.facts if fact.quantity.dimension == "share" and fact.text)
    if not quantity.in_words and any(equals(quantity, fact) for fact in printed):
        return None  # it is a part of something else
    subject = Side.of(m for s in statement.segments for m in s.marks)
    named = frozenset(key.partition(":")[2] for key in quantity.base if key.startswith("name:"))
    whole = Side(frozenset(key for key in quantity.base if not key.startswith("name:")), named)
    words = frozenset(key for key in subject.keys if key.startswith("word:")) if subject.names - named else NONE
    part = Side(subject.keys - quantity.base - words, subject.names - named)
    for dimension in ("time", "bytes"):
        for one, other in product(values(part, dimension, world), values(whole, dimension, world)):
            if one is not other and value(other) and fits(100 * value(one) / value(other), quantity):
                return rests_on("part", (one, other))
    return None


def _part_of_rest(quantity: Quantity, statement: Statement, position: int, world: World) -> Recomputed | None:
    """`f has 64 % of it and g most of the rest`: a part of what the share before, or the leading cost, leaves."""
    earlier = [q for q in statement.quantities if q.dimension == "share" and q.start < quantity.start]
    base = (earlier[-1].base or TOTAL) if earlier else TOTAL
    taken = earlier[-1].value if earlier else 100 * world.leading_share
    segment = statement.segment_at(position)
    if segment is None or not 0 < taken < 100:
        return None
    own = Side.of(m for m in segment.marks if m.position < position)
    for one in values(own, "share", world, base):
        if fits(100 * value(one) / (100 - taken), replace(quantity, base=None)):
            return rests_on("part", (one,))
    return None


def _part_of_number(quantity: Quantity, statement: Statement, position: int, world: World) -> Recomputed | None:
    """`Rank 1 computes 2.88 s, the other rank less than a third of that`: a part of the number before."""
    segment = statement.segment_at(position)
    earlier = [q for q in statement.quantities if q.dimension in ("time", "bytes") and q.start < quantity.start]
    if segment is None or not earlier or not quantity.in_words:
        return None
    whole = earlier[-1]
    own = Side.of(m for m in segment.marks if m.position < position)
    for one in values(own, whole.dimension, world):
        if whole.value and fits(100 * value(one) / whole.value, quantity):
            return rests_on("part", (one,))
    return None


def _more_by(quantity: Quantity, statement: Statement, position: int, world: World) -> Recomputed | None:
    """`A takes 40 % more time than B`: the ratio less one."""
    following = statement.stems[position + 1 : position + 5]
    sign = 1 if _MORE & set(following[:2]) else -1 if _LESS & set(following[:2]) else 0
    if quantity.dimension != "share" or not sign or quantity.base is not None:
        return None
    bounds = sorted(1 + sign * bound / 100 for bound in quantity.interval)
    slack = 0.02 if quantity.exactness == "about" else 0.0
    ratio = replace(
        quantity,
        dimension="factor",
        value=1 + sign * quantity.value / 100,
        interval=(bounds[0] - slack, bounds[1] + slack),
    )
    support = number(ratio, world)
    if not support.problem:
        return Recomputed("ratio", support.evidence)
    return _ratio(ratio, statement, position, world)


def _mean(quantity: Quantity, statement: Statement, position: int, world: World) -> Recomputed | None:
    """`On average a copy moves 36 MB`, `7.5 ms per launch`: an amount over a count of the same evidence or finding."""
    cued = _MEANS & set(statement.stems) or quantity.is_each or quantity.per
    if quantity.dimension not in ("time", "bytes") or quantity.is_base or not cued:
        return None
    named = quantity.names or quantity.inherited_names
    for count in _counts(quantity, statement, world):
        for amount in _amounts(count, quantity, world):
            about = not named or named <= amount.names | amount.near
            if about and fits(value(amount) / value(count), quantity, (_per(amount, count),)):
                return rests_on("mean", (amount, count))
    return None


def _per(amount: Fact, count: Fact) -> Fact:
    """The amount with the rounding that it has when it is divided."""
    low, high = (bound / value(count) for bound in amount.quantity.interval)
    return replace(amount, quantity=replace(amount.quantity, interval=(low, high)))


def _counts(quantity: Quantity, statement: Statement, world: World) -> Iterable[Fact]:
    """The numbers of the things that a sentence speaks of: `a copy`, `per launch`, `the gaps`."""
    stems = set(statement.stems)
    for fact in world.facts:
        noun = fact.quantity.noun
        if fact.quantity.dimension != "count" or not fact.evidence or not noun or value(fact) <= 1:
            continue
        own = {key.partition(":")[2] for key in quantity.keys}
        if noun in stems or noun in own or f"what:{noun}" in quantity.keys:
            yield fact


def _amounts(count: Fact, quantity: Quantity, world: World) -> Iterable[Fact]:
    for fact in world.facts:
        if (
            fact.quantity.dimension != quantity.dimension
            or fact.quantity.is_base
            or is_single(fact)
            or not fact.evidence
        ):
            continue
        same = fact.evidence == count.evidence
        cost = bool(fact.bundles & count.bundles) and "what:cost" in fact.subjects
        own = frozenset(k for k in quantity.own if k.startswith(("what:", "act:", "direction:"))) - IGNORED
        about = fact.subjects | fact.around | count.subjects | count.around
        if (same or cost) and own <= about:
            yield fact


_MEANS = frozenset(map(stem, ("average", "mean", "each", "per", "every")))
