"""What a sentence denies: nothing may be denied but what a trusted text denies, what the evidence has none of, and what is no problem."""

from __future__ import annotations

from collections.abc import Iterable

from chathpc.grounding.denials.left_out import is_left_out
from chathpc.grounding.denials.needless import costs_no_time, is_done_already
from chathpc.grounding.denials.promises import is_none_promised
from chathpc.grounding.denials.retold import is_retold
from chathpc.grounding.denials.unsaid import is_counted, is_unsaid
from chathpc.grounding.evidence.facts import Fact, World
from chathpc.grounding.language.claims import Segment, Statement, group
from chathpc.grounding.language.quantities import NONE, TOTAL, Keys, Quantity
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.match import EVENNESS
from chathpc.grounding.numbers.operands import Side, value, values
from chathpc.grounding.numbers.remainders import denial_of
from chathpc.grounding.relations.related import NEAR, NEAR_PEAK, PEAKS, is_quoted, phrase_positions
from chathpc.grounding.relations.slight_losses import costs_little
from chathpc.grounding.relations.states import denies_absent
from chathpc.grounding.relations.superlatives import is_no_extreme


def is_supported(statement: Statement, position: int, world: World) -> bool:
    """True if the negation at a position denies nothing, or what may be denied."""
    segment = statement.segment_at(position)
    if segment is None:
        return True
    return not is_counted(statement, position, world) and (
        position in phrase_positions(statement, world)
        or position in world.words.idioms.positions(statement.stems)
        or is_quoted(statement, position, world)
        or denies_absent(statement, position, world)
        or _is_no_problem(statement, segment, position, world)
        or _is_remainder(statement, segment, position)
        or _is_none(statement, segment, position, world)
        or _is_hardly(statement, segment, position, world)
        or is_greatest(statement, position, world)
        or is_none_promised(statement, position, world)
        or _is_unknown(statement, position, world)
        or is_retold(statement, position, world)
        or is_unsaid(statement, position, world)
        or is_left_out(statement, position, world)
        or costs_no_time(statement, position, world)
        or is_done_already(statement, position, world)
        or costs_little(statement, position, world)
        or is_no_extreme(statement, position, world)
        or _is_far_from_peak(statement, segment, position)
    )


def _is_no_problem(statement: Statement, segment: Segment, position: int, world: World) -> bool:
    """True for `load balance is not the problem`, `not because of load balance` where it is known and the reason of no finding."""
    stems = statement.stems
    following = set(stems[position + 1 : position + 5])
    if following & _PROBLEM:
        said = _what(m.keys for m in segment.marks if m.position < position) or _what(
            m.keys for m in segment.marks if m.position > position
        )
        said = said or _evenness_beside(statement, segment)
    elif following & _BECAUSE or stems[position + 1 : position + 2] == (_WHY,):
        after = next((s for s in statement.segments if s.first > position), segment)
        said = _what(m.keys for m in (*segment.marks, *after.marks) if m.position > position)
    elif segment.first == position and segment.last - segment.first <= _LONGEST_CONTRAST:
        said = _what(m.keys for m in segment.marks)  # `communication, not load balance, …`
    else:
        return False
    found = [world.words.causes[c] for c in world.causes if c in world.words.causes]
    known = frozenset(key for bundle in world.bundles for key in bundle.subjects)
    if said & EVENNESS:
        said, known = said | EVENNESS, known | (EVENNESS if known & EVENNESS else NONE)
    return bool(said) and said <= known and not any(said & (one.reason | one.effect) for one in found)


def _evenness_beside(statement: Statement, segment: Segment) -> Keys:
    """What is even where only its threads or ranks are named: `Threading is not the problem, with a load balance of 99.6 %`."""
    own = frozenset(k for m in segment.marks for k in m.keys)
    beside = _what(m.keys for s in statement.segments if s is not segment for m in s.marks)
    return beside if own and own <= _WORKERS and beside <= EVENNESS | _EFFICIENCY else NONE


_WORKERS: Keys = frozenset({"in:thread", "in:rank", "in:openmp", "in:mpi", "in:process"})
_EFFICIENCY: Keys = frozenset({"what:efficiency", "what:synchronisation"})


def _what(keys: Iterable[Keys]) -> Keys:
    return frozenset(
        key for some in keys for key in some if key.startswith(("what:", "in:network", "in:disk", "in:io"))
    )


_PROBLEM = frozenset(
    map(stem, ("problem", "issue", "bottleneck", "cause", "reason", "limit", "culprit", "blame", "role", "part", "matter", "trouble", "worry", "worrying",
               "worth", "concern", "importance", "wrong", "fault"))
)  # fmt: skip
_WHY = stem("because")
_BECAUSE = frozenset(map(stem, ("due", "because", "caused")))
_LONGEST_CONTRAST = 5


def _is_remainder(statement: Statement, segment: Segment, position: int) -> bool:
    """True for `the remaining 44 % is not spent on files`: the number is what a share leaves of 100 %."""
    before = set(statement.stems[segment.first : position])
    shares = any(q.dimension == "share" for q in segment.quantities)
    if before & _REMAINING and shares and not _OUTSIDE & set(statement.stems[position:]):
        return True
    return any(denial_of(q, statement) == position for q in segment.quantities) or (
        statement.stems[position] == "nor" and any(denial_of(q, statement) is not None for q in statement.quantities)
    )


_OUTSIDE = frozenset(map(stem, ("outside", "elsewhere", "else")))
_REMAINING = frozenset(map(stem, ("remaining", "rest", "remainder", "other")))


def _is_none(statement: Statement, segment: Segment, position: int, world: World) -> bool:
    """True for `rank 0 does nothing there`, `the other rank nothing` where the evidence has 0 s of it: the same names, one of the same role."""
    if statement.stems[position] not in _NOTHING:
        return False
    who = frozenset(k for k in group(segment.keys, "who") if k != "who:total")
    names = segment.names or statement.names
    about = frozenset(k for m in segment.marks for k in m.keys if k.startswith(("what:", "word:"))) - _VAIN
    about = frozenset(k for k in about if k.partition(":")[2] not in world.words.neutral | world.words.beside)
    for fact in world.facts:
        if value(fact) != 0 or not fact.evidence or fact.quantity.dimension not in ("time", "share", "count"):
            continue
        placed = names <= fact.names | fact.near
        role = world.with_roles(who) & world.with_roles(group(fact.subjects | fact.around, "who"))
        same = about <= fact.subjects | fact.around
        if placed and same and (names or about) and (role or not who):
            return True
    return False


_NOTHING = frozenset(map(stem, ("nothing", "none", "no")))
_VAIN: Keys = frozenset({"what:cost", "what:calls"})


def _is_hardly(statement: Statement, segment: Segment, position: int, world: World) -> bool:
    """True for `hardly any time goes into moving data`: all that is known of it is a small part of something."""
    stems = statement.stems
    almost = position > 0 and stems[position - 1] in _ALMOST and stems[position] in _NOTHING
    if stems[position] not in _HARDLY and not almost:
        return False
    following = next((w for w in stems[position + 1 :] if w not in world.words.plain), "")
    if any((few, following) in world.told for few in _FEW):
        return True  # `hardly any arithmetic` for `little arithmetic`
    if _does_the_opposite(segment, world):
        return True
    of = {key for q in segment.quantities if q.base for key in q.base}
    marks = [m for m in segment.marks if not m.keys <= of] or list(segment.marks)
    about = Side(frozenset(k for m in marks for k in m.keys if not k.startswith("word:")), segment.names)
    found = values(about, "share", world)
    return bool(found) and all(value(fact) <= _SMALL for fact in found)


def _does_the_opposite(segment: Segment, world: World) -> bool:
    """True for `they hardly work` where nearly all of the time is waiting, and for `they hardly wait` where little of it is."""
    acts = group(segment.keys, "act")
    if len(acts) != 1 or segment.names or group(segment.keys, "who") or segment.keys - acts - _WORKERS:
        return False
    act = next(iter(acts))
    parts = [
        f for f in world.facts if f.quantity.dimension == "share" and f.quantity.base in (None, TOTAL) and not f.names
    ]
    own = [value(f) for f in parts if act in f.quantity.own]
    other = [value(f) for f in parts if {"act:wait": "act:work", "act:work": "act:wait"}[act] in f.quantity.own]
    return all(one <= _SMALL for one in own) and all(one >= 100 - _SMALL for one in other) and bool(own or other)


_HARDLY = frozenset(map(stem, ("hardly", "barely", "scarcely")))
_FEW = (stem("little"), "few")
_ALMOST = frozenset(map(stem, ("almost", "practically", "virtually", "nearly")))
#: Percent; less is nothing that anyone would act on.
_SMALL = 5.0


def _is_far_from_peak(statement: Statement, segment: Segment, position: int) -> bool:
    """True for `neither A (41 %) nor B (36 %) is near its peak`; the numbers are checked for themselves."""
    behind = statement.stems[position : segment.last]
    shares = [q.value for q in segment.quantities if q.dimension == "share"]
    near = any(one in NEAR and PEAKS & set(behind[i : i + 4]) for i, one in enumerate(behind))
    return near and bool(shares) and max(shares) < NEAR_PEAK


def is_greatest(statement: Statement, position: int, world: World) -> bool:
    """True for `no gap is longer than 30.2 ms` where that is the most of what is known of it."""
    stems = statement.stems
    than = next((p for p in range(position, min(position + _FAR, len(stems))) if stems[p] == "than"), None)
    if than is None or stems[position] not in _NOTHING:
        return False
    limit = next((q for q in statement.quantities if q.start >= statement.tokens[than].start), None)
    if limit is None:
        return False
    segment = next(s for s in statement.segments if s.first <= position < s.last)
    words = {k.partition(":")[2] for m in segment.marks for k in m.keys}
    return any(_is_most(fact, limit, words, world) for fact in world.facts)


def _is_most(fact: Fact, limit: Quantity, words: set[str], world: World) -> bool:
    own = fact.quantity
    same = own.dimension == limit.dimension and abs(own.value - limit.value) <= 1e-9 * abs(limit.value)
    if not same or not fact.evidence:
        return False
    stems = frozenset(s for b in world.bundles if b.evidence == fact.evidence for s in b.stems)
    told = stems | frozenset(s for index in fact.bundles for s in world.bundles[index].stems)
    most = bool(_EXTREME & stems) or "who:busiest" in world.with_roles(fact.subjects)
    return most and words - world.words.neutral <= told | {k.partition(":")[2] for k in fact.subjects | fact.around}


_EXTREME = frozenset(map(stem, ("most", "busiest", "hottest", "largest", "longest", "maximum")))
_FAR = 8


def _is_unknown(statement: Statement, position: int, world: World) -> bool:
    """True for `the path could not be determined` where a trusted text says that it is not known, or cannot be seen."""
    stems = statement.stems
    if not _TOLD & set(stems[position + 1 : position + 6]):
        return False
    segment = next(s for s in statement.segments if s.first <= position < s.last)
    behind, before = stems[position : segment.last], stems[segment.first : position]
    idle = world.words.plain | world.words.negations | _TOLD | {""}
    said = (set(behind) - idle) or (set(before) - idle)
    for text in world.quotable:
        for clause in text.clauses:
            tells = _TOLD & set(clause) and (world.words.negations | {"only"}) & set(clause)
            words = frozenset(w for one in text.clauses for w in one)
            if tells and len(said & words) >= len(said) / 2 and ("how" in words or "how" not in behind):
                return True
    return False


_TOLD = frozenset(
    map(stem, ("determine", "determined", "tell", "told", "prove", "proved", "certain", "sure", "know", "known", "see", "seen", "measured", "say",
               "said", "show", "reveal", "visible"))
)  # fmt: skip
