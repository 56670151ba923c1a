"""Numbers that no evidence prints but that follow from it: sums, differences, ratios, and which of two values is larger.

Each has a name, so that a reader can be told how a claim was recomputed. Operands are looked up by subject in the facts; where a
subject has several values of one kind, one of them must fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

from chathpc.grounding.claims import Mark, Statement
from chathpc.grounding.facts import Fact, World
from chathpc.grounding.match import equals, number
from chathpc.grounding.quantities import NONE, TOTAL, Keys, Quantity
from chathpc.grounding.vocabulary import stem

_TOGETHER = frozenset(map(stem, ("together", "combined", "altogether", "both", "sum", "total")))
_MORE = frozenset(map(stem, ("more", "longer", "higher", "larger", "greater", "bigger")))
_LESS = frozenset(map(stem, ("less", "shorter", "lower", "smaller", "fewer")))
_DIFFERENCE = frozenset(map(stem, ("difference", "gap")))
#: A thread or rank is a place, not what is measured there.
_PLACES = frozenset({"in:thread", "in:rank", "in:process", "in:openmp", "in:device", "in:loop", "in:runtime"})
_IGNORED = frozenset({"what:cost", "who:total", "what:speedup", "what:calls"})
#: `Most` is no sum: nearly any two parts are most of something.
_VAGUE = 0.25
#: What a sentence counts instead of naming it: `the two functions take 71 %`.
COUNTED_THINGS = frozenset(map(stem, ("function", "kernel", "loop", "line", "call", "file")))
#: Operands beyond this many are no sum that a sentence spells out.
_MOST_OPERANDS = 4
_SHORT_CLAUSE = 2
_DIMENSIONS = ("time", "share", "rate", "bytes", "count")


@dataclass(frozen=True, slots=True)
class Side:
    """What one operand is about."""

    keys: Keys
    names: Keys

    @staticmethod
    def of(marks: Iterable[Mark]) -> Side:
        """The subjects and names of some words."""
        found = tuple(marks)
        return Side(
            frozenset(key for m in found for key in m.keys) - _IGNORED,
            frozenset(name for m in found for name in m.names),
        )

    def __bool__(self) -> bool:
        return bool(self.keys - _PLACES or self.names)


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A number found again: `query` says by what (`sum`, `difference`, `ratio`), from which evidence."""

    query: str
    evidence: tuple[str, ...]


def side(statement: Statement, first: int, last: int) -> Side:
    """What the words `first:last` of a statement are about."""
    return Side.of(m for s in statement.segments for m in s.marks if first <= m.position < last)


def values(
    of: Side, dimension: str, world: World, base: Keys | None = None, *, single: bool | None = None
) -> Sequence[Fact]:
    """The facts of one dimension that fit a side best; of `single` things (their mean, or each of them), of all, or whatever."""
    if not of:
        return ()
    wanted = world.with_roles(of.keys) if any(key.startswith("who:") for key in of.keys) else of.keys
    asked = of.keys - _PLACES
    fitting = []
    for fact in world.facts:
        quantity = fact.quantity
        if (
            not fact.evidence
            or quantity.dimension != dimension
            or quantity.is_base
            or (single is not None and single != is_single(fact))
            or (base is not None and quantity.base != base)
        ):
            continue
        about = fact.subjects | fact.around
        if not (asked <= about | world.with_roles(about)) or not of.names <= (fact.names | fact.near):
            continue
        own = world.with_roles(quantity.own)
        if any(key.startswith("who:") for key in asked) and not {k for k in asked if k.startswith("who:")} <= own:
            continue
        strange = {k for k in quantity.own - wanted - _PLACES - _IGNORED if not k.startswith("word:")}
        missing = asked - fact.subjects
        named = bool(of.names) and not of.names & fact.names
        fitting.append((len(strange) + 2 * len(missing) + named + len(fact.names - of.names) * (not named), fact))
    least = min((distance for distance, _ in fitting), default=0)
    return [fact for distance, fact in fitting if distance == least]


def is_single(fact: Fact) -> bool:
    """True for a number of one of several things: their mean, or that of each."""
    return fact.quantity.is_each or "who:mean" in fact.quantity.own


def value(fact: Fact) -> float:
    """A fact's value, unrounded where it is known so."""
    return fact.exact if fact.exact is not None else fact.quantity.value


def recomputed(quantity: Quantity, statement: Statement, world: World) -> Recomputed | None:
    """The derivation that gives a number, or None."""
    position = next((i for i, t in enumerate(statement.tokens) if t.start == quantity.start), -1)
    if position < 0:
        return None
    for query in (_ratio, _difference, _sum, _part, _complement, _more_by, _mean):
        found = query(quantity, statement, position, world)
        if found is not None:
            return found
    return None


def has_cue(quantity: Quantity, statement: Statement) -> bool:
    """True for a number that a sentence itself calls a sum, a difference or a ratio of two things."""
    position = next((i for i, t in enumerate(statement.tokens) if t.start == quantity.start), -1)
    stems = statement.stems
    if quantity.dimension in ("time", "share", "bytes") and _is_together(statement, position):
        return len(_operands(statement, position)) > 1
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
    if quantity.dimension == "share" and quantity.in_words and quantity.base is None:
        low, high = (bound / 100 for bound in quantity.interval)
        quantity = replace(quantity, dimension="factor", value=(low + high) / 2, interval=(low, high))
    if quantity.dimension != "factor":
        return None
    second = _second(statement.stems, position, statement)
    start = second[0] if second else position + 1
    left, right = side(statement, 0, position), side(statement, start, len(statement.tokens))
    right = _completed(right, left)
    if not left or not right or left == right:
        return None
    for dimension in _DIMENSIONS:
        for single in (None, True, False):
            ours, theirs = (values(each, dimension, world, single=single) for each in (left, right))
            for one, other in product(ours, theirs):
                if value(other) and one is not other and _fits(value(one) / value(other), quantity):
                    return _from("ratio", (one, other))
    return None


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
    if second is not None:
        left, right = side(statement, 0, position), side(statement, second[0], len(stems))
        more = bool(_MORE & set(stems[position : second[0]]))
    elif "between" in stems and _DIFFERENCE & set(stems):
        start = stems.index("between")
        middle = next((i for i in range(start, len(stems)) if stems[i] == "and"), None)
        if middle is None:
            return None
        end = position if position > middle else len(stems)
        left, right, more = side(statement, start, middle), side(statement, middle, end), True
    else:
        return None
    around = Side.of(m for s in statement.segments for m in s.marks)
    names = around.names if not left.names and not right.names else NONE
    left, right = Side(left.keys, left.names | names), Side(right.keys, right.names | names)
    right = _completed(right, left)
    for one, other in product(values(left, quantity.dimension, world), values(right, quantity.dimension, world)):
        difference = value(one) - value(other) if more else value(other) - value(one)
        if one is not other and _close(difference, (one, other), quantity):
            return _from("difference", (one, other))
    return None


def _part(quantity: Quantity, statement: Statement, position: int, world: World) -> Recomputed | None:
    """`Most of the serial time is in f`: the time of f by the serial time."""
    if quantity.dimension != "share" or not quantity.base or quantity.base == TOTAL:
        return None
    printed = (fact for fact in world.facts if fact.quantity.dimension == "share" and fact.text)
    if not quantity.in_words and any(equals(quantity, fact) for fact in printed):
        return None  # it is a part of something else
    subject = Side.of(m for s in statement.segments for m in s.marks)
    named = frozenset(key.partition(":")[2] for key in quantity.base if key.startswith("name:"))
    whole = Side(frozenset(key for key in quantity.base if not key.startswith("name:")), named)
    part = Side(subject.keys - quantity.base, subject.names - named)
    for dimension in ("time", "bytes"):
        for one, other in product(values(part, dimension, world), values(whole, dimension, world)):
            if one is not other and value(other) and _fits(100 * value(one) / value(other), quantity):
                return _from("part", (one, other))
    return None


def _operands(statement: Statement, position: int) -> list[Side]:
    """The parts of `A and B together take …`: the names, else the subjects, before the number in its clause."""
    segment = next((s for s in statement.segments if s.first <= position < s.last), None)
    marks = [m for m in segment.marks if m.position < position] if segment else []
    names = [Side(NONE, m.names) for m in marks if m.names]
    for earlier in reversed(statement.segments[: statement.segments.index(segment)] if segment else ()):
        if earlier.last - earlier.first > _SHORT_CLAUSE or not earlier.names:
            break  # `f, g and h together`: each name before the comma is a clause of its own
        names += [Side(NONE, m.names) for m in earlier.marks if m.names]
    if len(names) > 1:
        return names[: _MOST_OPERANDS + 1]
    return [one for one in (Side.of([m]) for m in marks if not _only_words(m)) if one][: _MOST_OPERANDS + 1]


def _is_together(statement: Statement, position: int) -> bool:
    """True if the clause of a number says `together`, or one of that word alone goes before it."""
    index = next((i for i, s in enumerate(statement.segments) if s.first <= position < s.last), 0)
    before = statement.segments[index - 1] if index else None
    first = before.first if before and before.last - before.first <= _SHORT_CLAUSE else statement.segments[index].first
    return bool(_TOGETHER & set(statement.stems[first : statement.segments[index].last]))


def _are_joined(statement: Statement, position: int) -> bool:
    """True for `f and g take 3 s`: two names or subjects with nothing but `and` or commas between them, and no number of each."""
    segment = next((s for s in statement.segments if s.first <= position < s.last), None)
    if segment is None or len(segment.quantities) > 1:
        return False
    told = [
        m.position
        for m in segment.marks
        if m.position < position and (m.names or any(k.startswith("what:") for k in m.keys))
    ]
    return any(
        all(statement.stems[p] in _AND or statement.tokens[p].text == "," for p in range(one + 1, other))
        and other > one + 1
        for one, other in pairwise(told)
    )


_AND = frozenset({"and", "the", "functions", "function"})


def _only_words(mark: Mark) -> bool:
    return not mark.names and all(key.startswith("word:") for key in mark.keys)


def _sum(quantity: Quantity, statement: Statement, position: int, world: World) -> Recomputed | None:
    if quantity.interval[1] - quantity.interval[0] > _VAGUE * quantity.value:
        return None
    operands = _operands(statement, position)
    several = any(q.noun in COUNTED_THINGS for q in statement.quantities)
    if not _is_together(statement, position) and not _are_joined(statement, position) and not several:
        return None
    if len(operands) < 2 and quantity.dimension == "share" and not quantity.names:
        added = _sums_to(quantity, world)
        return _from("sum", added) if added else None
    if not 1 < len(operands) <= _MOST_OPERANDS:
        return None
    base = (quantity.base or TOTAL) if quantity.dimension == "share" else None
    choices = [values(one, quantity.dimension, world, base)[:4] for one in operands]
    for chosen in product(*choices):
        if len({id(fact) for fact in chosen}) == len(chosen) and _close(sum(map(value, chosen)), chosen, quantity):
            return _from("sum", chosen)
    return None


def _complement(quantity: Quantity, statement: Statement, position: int, world: World) -> Recomputed | None:
    """`The other 46 %`, `a tenth is spent on anything else`: what a share leaves of 100 %."""
    segment = next((s for s in statement.segments if s.first <= position < s.last), None)
    if quantity.dimension not in ("share", "time") or quantity.is_base or segment is None:
        return None
    cue = next((p for p in range(segment.first, segment.last) if statement.stems[p] in REST), None)
    apart = next((p for p in range(segment.first, segment.last) if statement.stems[p] in _APART), segment.last)
    if cue is None or any(_tells(m) and m.position < apart for m in segment.marks):
        return None  # `the copies take the other 29 %`: that is their own part
    beyond = [m for m in segment.marks if m.position > apart]
    own = frozenset(k for m in beyond for k in m.keys if k != "who:others")
    names = frozenset(n for m in beyond for n in m.names)
    if quantity.dimension == "time":
        return _left_of_time(replace(quantity, own=own, names=names, inherited=NONE, inherited_names=NONE), world)
    low, high = quantity.interval
    left = replace(
        quantity, value=100 - quantity.value, interval=(100 - high, 100 - low), base=quantity.base or TOTAL,
        own=own, names=names, inherited=NONE, inherited_names=NONE,
    )  # fmt: skip
    flipped = {"above": "below", "below": "above"}.get(quantity.exactness, quantity.exactness)
    support = number(replace(left, exactness=flipped), world)
    if support.problem and not own and not names:
        together = _sums_to(left, world)
        return _from("complement", together) if together else None
    return None if support.problem else Recomputed("complement", support.evidence)


def _left_of_time(quantity: Quantity, world: World) -> Recomputed | None:
    """`Everything outside of f takes 0.16 s`: what a time leaves of the whole."""
    for whole in {value(f): f for f in world.facts if f.quantity.is_base and f.quantity.dimension == "time"}.values():
        for part in world.facts:
            same = part.evidence == whole.evidence and part.quantity.dimension == "time" and not part.quantity.is_base
            about = quantity.names <= part.names | part.near and quantity.own - _IGNORED <= part.subjects | part.around
            if same and about and _close(value(whole) - value(part), (whole, part), quantity):
                return _from("complement", (whole, part))
    return None


def _sums_to(quantity: Quantity, world: World) -> Sequence[Fact]:
    """The leading shares of the whole that add up to a number, first the first two, then the first three, ….

    Facts of findings' costs only: they do not overlap.
    """
    costs = [
        f
        for f in world.facts
        if f.quantity.dimension == "share" and "what:cost" in f.subjects and f.quantity.base in (None, TOTAL)
    ]
    by_bundle = {min(f.bundles): f for f in costs if (f.bundles and f.exact is not None) or f.text}
    chosen = [by_bundle[index] for index in sorted(by_bundle)]
    for count in range(2, min(len(chosen), _MOST_OPERANDS) + 1):
        if _close(sum(map(value, chosen[:count])), chosen[:count], quantity):
            return chosen[:count]
    return ()


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
    """`On average a copy moves 36 MB`: an amount over a count of the same item of evidence."""
    if quantity.dimension not in ("time", "bytes") or not (
        _MEANS & set(statement.stems) or quantity.is_each or quantity.per
    ):
        return None
    keys = frozenset(k for k in quantity.own if k.startswith(("what:", "word:")))
    named = NONE if keys else quantity.names or quantity.inherited_names
    for count in world.facts:
        if count.quantity.dimension != "count" or not count.evidence or not keys | named:
            continue
        if not keys <= count.quantity.own or not named <= count.names | count.near:
            continue
        for amount in world.facts:
            same = amount.evidence == count.evidence and amount.quantity.dimension == quantity.dimension
            if (
                same
                and not amount.quantity.is_base
                and not is_single(amount)
                and value(count)
                and _close(value(amount) / value(count), (amount,), quantity)
            ):
                return _from("mean", (amount, count))
    return None


_APART = frozenset(map(stem, ("outside", "than", "except", "besides", "beside")))


def _tells(mark: Mark) -> bool:
    return bool(mark.names) or any(k.startswith(("what:", "act:", "direction:", "operation:")) for k in mark.keys)


_MEANS = frozenset(map(stem, ("average", "mean", "each", "per", "every")))
REST = frozenset(
    map(
        stem,
        (
            "other",
            "others",
            "remaining",
            "rest",
            "remainder",
            "elsewhere",
            "else",
            "left",
            "outside",
            "leaves",
            "leaving",
        ),
    )
)


#: How far a computed value may be from a bound in digits, or in words (`more than twice`), and from a rough number.
_REACH, _WORD_REACH, _ABOUT = 0.1, 0.5, 0.025


def _fits(found: float, quantity: Quantity) -> bool:
    low, high = quantity.interval
    reach = _WORD_REACH if quantity.in_words else _REACH
    if quantity.exactness == "above":
        return quantity.value <= found <= (1 + reach) * quantity.value
    if quantity.exactness == "below":
        return (1 - reach) * quantity.value <= found <= quantity.value
    slack = _ABOUT * abs(quantity.value) if quantity.exactness == "about" else 0.0
    return low - slack <= found <= high + slack


def _close(found: float, operands: Sequence[Fact], quantity: Quantity) -> bool:
    """True if a number is a right rounding of what was computed from rounded operands."""
    low, high = quantity.interval
    half = sum((f.quantity.interval[1] - f.quantity.interval[0]) / 2 for f in operands if f.exact is None)
    half = min(half, 0.01 * abs(found))
    if quantity.exactness == "about":
        half += 0.05 * abs(found)
    slack = 1e-9 * abs(found)
    return low - half - slack <= found <= high + half + slack


def _from(query: str, facts: Sequence[Fact]) -> Recomputed:
    return Recomputed(query, tuple(dict.fromkeys(id for fact in facts for id in fact.evidence[:1])))
