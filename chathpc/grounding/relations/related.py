"""Whether what a sentence says of its subjects to each other is so: who works, levels, limits, cause and effect."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.evidence.levels import is_of_run, is_slowing, level_claims
from chathpc.grounding.language.claims import Segment, Statement, agent, group
from chathpc.grounding.language.quantities import NONE, TOTAL, Keys
from chathpc.grounding.language.quotation import pairs_at
from chathpc.grounding.language.tokens import Token
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.match import SIDES, is_context
from chathpc.grounding.relations.slight_losses import is_denied, is_slight

#: A part of the run that deserves the word.
_SIGNIFICANT = 0.1
_PARTS = frozenset(
    map(stem, ("portion", "part", "amount", "fraction", "share", "delay", "percentage", "proportion", "cost", "time"))
)


def limits(statement: Statement, world: World) -> bool:
    """False if a sentence says that something limits the program which no finding names as its reason."""
    stems = statement.stems
    limiting = frozenset(
        key
        for name in world.causes
        if name in world.words.causes
        for key in (world.words.causes[name].reason | world.words.causes[name].effect)
    )
    reasons = frozenset(
        key for name in world.causes if name in world.words.causes for key in world.words.causes[name].reason
    )
    for position, _ in world.words.limits.found(stems):
        for segment in statement.segments:
            if not segment.first <= position < segment.last:
                continue
            after = frozenset(k for m in segment.marks if m.position > position for k in m.keys)
            strict = after - is_context(after, world) - group(after, "who")
            bound = any(q.start > statement.tokens[position].start for q in segment.quantities)
            if not after | frozenset(n for m in segment.marks if m.position > position for n in m.names) and not bound:
                return False
            if strict and not (strict <= limiting | _CARRIERS and strict & reasons):
                return False
            before = frozenset(k for m in segment.marks if m.position < position for k in m.keys)
            if strict and before & world.limited and world.limiters and not strict & world.limiters:
                return False
    return True


#: Where what limits happens: `slowed by warps that access the same bank`.
_CARRIERS: Keys = frozenset({"what:warps", "what:calls"})


def slows(statement: Statement, world: World) -> bool:
    """False if something is said to slow the program down that is no reason of a finding, nor the place of one that costs time."""
    stems = statement.stems
    for position in range(len(stems)):
        of_run = is_of_run(statement, position)
        if not (is_slowing(statement, position) or of_run) or world.words.limits.at(stems, position)[0]:
            continue
        if of_run and world.healthy:
            return False
        if of_run and position + 1 == len(stems):
            continue
        asked = position > 0 and stems[position - 1] == "what"
        is_at = next((p for p in range(position, len(stems)) if stems[p] in ("is", "are")), len(stems)) if asked else 0
        marks = [
            m
            for s in statement.segments
            for m in s.marks
            if (m.position > max(is_at, position if of_run else 0) if asked or of_run else m.position < position)
        ]
        keys = frozenset(k for m in marks for k in m.keys)
        names = frozenset(n for m in marks for n in m.names)
        causes = [world.words.causes[c] for c in world.causes if c in world.words.causes]
        # Slow is a program for what a finding costs as well: because the ranks wait.
        because = frozenset(k for one in causes for k in (one.reason | one.effect if of_run else one.reason))
        told = frozenset(k for k in keys if k.startswith(("what:", "act:"))) if of_run else NONE
        placed = not world.healthy and any(
            b.cause is not None and names <= b.names and told <= b.subjects for b in world.bundles
        )
        if not keys & because and not (names and placed):
            return False
    return True


def reasons(statement: Statement, world: World) -> bool:
    """False if cause and effect stand the wrong way round."""
    for index, segment in enumerate(statement.segments):
        if segment.joint not in ("reason", "result") or (index == 0 and segment.joint == "result"):
            continue
        before = frozenset(k for s in statement.segments[:index] for k in s.keys)
        here = segment.keys
        because, then = (here, before) if segment.joint == "reason" else (before, here)
        if index == 0:
            then = frozenset(k for s in statement.segments[1:] for k in s.keys)
        for name in world.causes & world.words.causes.keys():
            entry = world.words.causes[name]
            only_effect = because & entry.effect and not because & entry.reason
            if only_effect and then & entry.reason and not then & entry.effect:
                return False
    return True


def acts(statement: Statement, world: World) -> bool:
    """False if host or device waits or works in a sentence, and no trusted text says that of it."""
    end = statement.tokens[-1].end + 1 if statement.tokens else 0
    for segment in statement.segments:
        who = agent(segment, end, statement.tokens)
        done = segment.keys & frozenset({"act:wait", "act:work"})
        known = world.acts if any(one == who for one, _ in world.acts) else frozenset((who, act) for act in done)
        timed = who == "in:device" and any(q.dimension == "time" and not q.is_base for q in segment.quantities)
        if who is not None and not {(who, act) for act in done} & known and not timed:
            return False
        if not _in_company(segment, world):
            return False
    return True


def calls(statement: Statement, world: World) -> bool:
    """False for `f calls g` where trusted texts know who calls, and it is not f."""
    for segment in statement.segments:
        mine = callers(segment, statement.tokens)
        known = not world.callers or mine <= world.callers or called(segment, statement, world)
        if mine and len(segment.names) > 1 and not known:
            return False
    return True


def called(segment: Segment, statement: Statement, world: World) -> bool:
    """True for `f calls g` where the profile says so, and the clause says nothing more."""
    mine = callers(segment, statement.tokens)
    others = segment.names - mine
    if not mine or not others or segment.quantities or segment.keys - {"what:calls"}:
        return False
    return all(mine <= world.queries.callers_of(name) for name in others)


def callers(segment: Segment, tokens: Sequence[Token]) -> Keys:
    """The names before the verb of `f calls g for 2 s`."""
    position = next((p for p in range(segment.first, segment.last) if tokens[p].text == "calls"), None)
    if position is None:
        return NONE
    return frozenset(n for m in segment.marks if m.position < position for n in m.names)


def _in_company(segment: Segment, world: World) -> bool:
    """False for `the device is in read` where trusted texts have only the host there."""
    sides = segment.keys & SIDES
    things = segment.names | group(segment.keys, "operation")
    if len(sides) != 1 or not things:
        return True
    found = frozenset(
        side for s in world.segments if things & (s.names | group(s.keys, "operation")) for side in s.keys & SIDES
    )
    return not found or bool(found & sides)


def uneven(statement: Statement, world: World) -> bool:
    """False if work is called uneven without a number, and no finding says that it matters."""
    if any(_is_contradicted(s) for s in statement.segments):
        return False
    return (
        world.uneven
        or "than" in statement.stems
        or not any(
            "what:imbalance" in s.keys and not s.quantities and not _is_denied(s, statement, world)
            for s in statement.segments
        )
    )


def _is_contradicted(segment: Segment) -> bool:
    """True for `a balance of 98.7 % shows that the work is shared unevenly`."""
    high = any(q.dimension == "share" and q.value >= _BALANCED and "what:balance" in q.own for q in segment.quantities)
    return high and "what:imbalance" in segment.keys


_BALANCED = 95.0


def _is_denied(segment: Segment, statement: Statement, world: World) -> bool:
    position = next(m.position for m in segment.marks if "what:imbalance" in m.keys)
    return bool(world.words.negations & set(statement.stems[max(0, position - _REACH) : position]))


_REACH = 5


def near_peak(statement: Statement, world: World) -> bool:
    """False if something is said to be near its limit or peak of which the evidence has much less."""
    stems = statement.stems
    for position, word in enumerate(stems):
        behind = [p for p in range(position + 1, min(position + 3, len(stems))) if stems[p] in PEAKS]
        segment = statement.segment_at(position)
        if word not in NEAR or not behind or segment is None or segment.quantities:
            continue
        denied = bool(world.words.negations & set(stems[segment.first : position]))
        topics = {k[5:] for m in segment.marks if m.position < position for k in m.keys if k.startswith("word:")}
        found = [
            fact.quantity.value
            for fact in world.facts
            if fact.quantity.dimension == "share"
            and fact.text
            and fact.evidence
            and segment.names <= fact.names | fact.near
            and topics & {k[5:] for k in fact.subjects | fact.around if k.startswith("word:")}
            and "what:peak" in fact.subjects | fact.around | (fact.quantity.base or NONE)
        ]
        if found and (max(found) < NEAR_PEAK) != denied:
            return False
    return True


NEAR = frozenset(map(stem, ("near", "at", "close", "reach", "reaches", "hit", "hits", "approach")))
PEAKS = frozenset(map(stem, ("limit", "limits", "peak", "maximum", "capacity")))
#: Percent of the peak; from 80 % a unit counts as at its limit (catalogue), from some 60 % as near it (Nsight Compute's speed of light).
NEAR_PEAK = 60.0


def taken(statement: Statement, world: World) -> bool:
    """False for `write takes 80 MB`: what a call takes is time; and for `write calls f` where f is the one who calls."""
    stems = statement.stems
    for quantity in statement.quantities:
        position = next((i for i, t in enumerate(statement.tokens) if t.start == quantity.start), 0)
        if quantity.dimension in ("bytes", "rate") and stems[position - 1 : position] and stems[position - 1] in _TAKES:
            return False
    for segment in statement.segments:
        said = next((p for p in range(segment.first, segment.last) if statement.tokens[p].text == "calls"), None)
        before = [m for m in segment.marks if said is not None and m.position < said]
        after = frozenset(n for m in segment.marks if said is not None and m.position > said for n in m.names)
        if after & world.callers and before and not any(m.names for m in before):
            return False
    return True


_TAKES = frozenset(map(stem, ("takes", "take", "lasts", "spends")))


def limiters(statement: Statement, world: World) -> bool:
    """False if a sentence says `X limits Y` where trusted texts name another limit."""
    stems = statement.stems
    for position, word in enumerate(stems):
        if word != "limit" or (position + 1 < len(stems) and stems[position + 1] == "by") or not world.limiters:
            continue
        segment = statement.segment_at(position)
        before = frozenset(k for m in segment.marks if m.position < position for k in m.keys) if segment else NONE
        strict = frozenset(k for k in before if not k.startswith(("word:", "who:", "act:")))
        if strict and not strict & world.limiters:
            return False
    return True


def levels(statement: Statement, world: World) -> bool:
    """False if a sentence calls something high or low that neither the causes nor the evidence call so."""
    covered = phrase_positions(statement, world)
    return all(
        position in covered
        or any(_is_level(subject, level, world) for subject in subjects)
        or is_quoted(statement, position, world)
        or _is_part(statement, position, level, world)
        or _is_valued(statement, position, level)
        or (level in ("low", "small") and is_slight(statement, position, world))
        or (level in ("high", "big") and is_denied(statement, position, world))
        or _is_distance(statement, position)
        or _is_of_the_diagnosis(statement, position)
        or (world.healthy and statement.stems[position + 1 : position + 2] == ("bottleneck",))
        or (_SIZE[level], statement.stems[position + 1] if position + 1 < len(statement.stems) else "") in world.sized
        for position, level, subjects in level_claims(statement, world.words)
    )


def _is_distance(statement: Statement, position: int) -> bool:
    """True for `f has 93 %, followed at a great distance by g with 2 %`: the numbers are far apart, the larger one first."""
    if not _DISTANCES & set(statement.stems[position + 1 : position + 3]):
        return False
    sizes = [q for q in statement.quantities if q.dimension in ("share", "time") and not q.is_base]
    pair = [q.value for q in sizes if q.dimension == sizes[0].dimension][:2]
    return len(pair) > 1 and pair[0] >= _FAR_APART * pair[1]


_DISTANCES = frozenset(map(stem, ("distance", "margin", "gap", "lead")))
_FAR_APART = 2.0


def _is_of_the_diagnosis(statement: Statement, position: int) -> bool:
    """True for `a weak point of the diagnosis`, which says nothing of the program."""
    following = statement.stems[position + 1 : position + 5]
    return following[:1] in _POINT and bool(_DIAGNOSIS & set(following[1:]))


_POINT = tuple((stem(word),) for word in ("point", "side", "spot", "basis"))
_DIAGNOSIS = frozenset(map(stem, ("diagnosis", "finding", "conclusion", "evidence", "verdict")))


def _is_valued(statement: Statement, position: int, level: str) -> bool:
    """True for `a low occupancy of 5.89 %`: a percentage beside the word that is low, or high, on its own scale."""
    segment = statement.segment_at(position)
    shares = [q for q in segment.quantities if q.dimension == "share" and q.base in (None, TOTAL)] if segment else []
    scaled = segment is not None and bool(segment.keys & _SCALED)
    return (
        scaled and bool(shares) and all(q.value > _HIGH if level in ("high", "big") else q.value < _LOW for q in shares)
    )


#: Percent: POP calls an efficiency below 80 % low; above half nobody objects to `high`.
_HIGH, _LOW = 50.0, 80.0
_SCALED: Keys = frozenset({"what:occupancy", "what:efficiency", "what:balance", "what:utilisation", "what:throughput"})
_SIZE = {"big": "big", "high": "big", "small": "small", "low": "small"}


def _is_level(subject: str, level: str, world: World) -> bool:
    """True if a subject is known to be high or low; what is called small somewhere is not big because there is much of it."""
    if (subject, level) in world.levels:
        return True
    other = {"big": ("high", "small"), "small": ("low", "big"), "high": ("big", ""), "low": ("small", "")}[level]
    return (subject, other[0]) in world.levels and (subject, other[1]) not in world.levels


def _is_part(statement: Statement, position: int, level: str, world: World) -> bool:
    """True for `a significant portion` where the leading finding costs as much."""
    following = statement.stems[position + 1 : position + 2]
    return level in ("high", "big") and world.leading_share >= _SIGNIFICANT and bool(_PARTS & set(following))


def phrase_positions(statement: Statement, world: World) -> frozenset[int]:
    """Positions of words that are part of a longer phrase with a meaning of its own: the `critical` of `critical section`."""
    found: set[int] = set()
    for phrases in (world.words.subjects, world.words.phrases, world.words.approximations):
        position = 0
        while position < len(statement.stems):
            length, _ = phrases.at(statement.stems, position)
            if length > 1:
                found.update(range(position, position + length))
            position += max(length, 1)
    return frozenset(found)


def is_quoted(statement: Statement, position: int, world: World) -> bool:
    """True if a word stands beside the same word as in a trusted text: `no kernel`, `small pieces`, `never freed`."""
    return any(pair in world.pairs for pair in pairs_at(statement.tokens, position, world.words))


def is_told(statement: Statement, position: int, world: World) -> bool:
    """The same of a trusted text that is no advice: what should be is not yet so."""
    return any(pair in world.told for pair in pairs_at(statement.tokens, position, world.words))
