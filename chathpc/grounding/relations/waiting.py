"""Whether a sentence gives ranks, threads, host and device their own roles: who has the most work, who waits, and for whom."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Mark, Segment, Statement, group
from chathpc.grounding.language.quantities import NONE, Keys
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.match import SIDES

#: Who can wait.
_WAITING: Keys = frozenset({"in:host", "in:device", "what:kernel", "what:copy", "what:warps", "in:rank", "in:thread"})
_WORKERS: Keys = frozenset({"in:rank", "in:thread"})
_AT_A_DEVICE: Keys = frozenset({"in:device"})
#: Words between two sides of a comparison.
_COMPARING = frozenset(map(stem, ("than", "as", "while", "versus", "against", "from", "between")))


def roles(segment: Segment, statement: Statement, world: World) -> bool:
    """False if a clause gives a thread or rank a role that is not its own, or names one that is unknown."""
    who = group(segment.keys, "who")
    instances = {key for key in who if key[-1].isdigit()}
    known = {key for s in world.segments for key in group(s.keys, "who") if key[-1].isdigit()}
    known |= {one for one, _ in world.roles}
    if not instances <= known:
        return False
    marks = [m for m in segment.marks if group(m.keys, "who")]
    for first, second in pairwise(marks):
        if _COMPARING & set(statement.stems[first.position : second.position]):
            continue
        for one, role in ((first, second), (second, first)):
            for key in one.keys:
                for said in role.keys & {"who:busiest", "who:idlest"}:
                    if key[-1].isdigit() and (key, said) not in world.roles:
                        return False
    return True


def does_nothing(statement: Statement, world: World) -> bool:
    """True if a sentence lets a rank or thread do what the evidence has 0 s of: `rank 0 runs validate`."""
    for segment in statement.segments:
        who = world.with_roles(frozenset(k for k in group(segment.keys, "who") if k[-1].isdigit()))
        stems = statement.stems[segment.first : segment.last]
        if not who or not segment.names or segment.quantities or world.words.negations & set(stems):
            continue
        for fact in world.facts:
            zero = fact.quantity.dimension == "time" and fact.evidence and fact.quantity.value == 0
            own = group(fact.quantity.own, "who")
            if (
                zero
                and own
                and segment.names <= fact.names | fact.near
                and own <= who
                and "act:wait" not in segment.keys
            ):
                return True
    return False


def waits(segment: Segment, statement: Statement, world: World) -> bool:
    """False if a clause lets the wrong one wait: the busiest waits for nobody, and nobody waits for the idlest."""
    position = next((m.position for m in segment.marks if "act:wait" in m.keys), None)
    if position is None:
        return True
    before = [m for m in segment.marks if m.position < position]
    objects = frozenset(
        k
        for m in segment.marks
        if m.position > position and _stem_between(statement, position, m.position, "for")
        if not _stem_between(statement, position, m.position, "each") and not group(segment.keys, "what")
        for k in m.keys
    )
    who = frozenset(k for m in before for k in group(m.keys, "who"))
    instances = frozenset(k for k in who if k[-1].isdigit())
    stated = any({"act:wait"} | instances <= _subjects_of_wait(s) for s in world.segments)
    stated = stated or any({"act:wait", "who:others"} <= _subjects_of_wait(s) for s in world.segments)
    timed = bool(segment.quantities) and bool(_AT_A_DEVICE & segment.keys)
    if "who:busiest" in world.with_roles(who) or (instances and not stated and not timed):
        return False
    if objects and group(objects, "who") and "who:busiest" not in world.with_roles(objects):
        return False
    places = frozenset(n for m in before if _is_place(m, before, statement) for n in m.names)
    if places and not any(b.cause is None and "act:wait" in b.subjects and places <= b.names for b in world.bundles):
        return False
    callers = (
        frozenset(n for m in before for n in m.names if "." not in n) - places
    )  # not the `(jobs.c:53)` behind a name
    if callers and not any(callers <= _names_before_wait(s) for s in world.segments):
        return False
    inside = frozenset(n for m in segment.marks if m.position > position for n in m.names if "." not in n)
    if inside and not inside & _waited_in(world):
        return False
    agents = frozenset(k for m in before[-1:] for k in m.keys & _WAITING)
    if segment.quantities and "in:device" in agents:
        return True  # the number tells
    workers = agents & _WORKERS
    if any({"act:wait"} | workers <= bundle.subjects for bundle in world.bundles):
        agents -= workers
    return agents <= frozenset(k for s in world.segments for k in _subjects_of_wait(s))


def _is_place(mark: Mark, before: Sequence[Mark], statement: Statement) -> bool:
    """True for the kernel of `the warps of f wait`: the warps do."""
    waiter = any(other.keys & _CREWS and 0 < mark.position - other.position <= _BESIDE for other in before)
    return bool(mark.names) and waiter and statement.stems[mark.position - 1] in _IN


_CREWS: Keys = frozenset({"what:warps", "in:thread", "in:rank"})
_BESIDE = 3
_IN = frozenset({"of", "in"})


def _waited_in(world: World) -> Keys:
    """The names that stand in a trusted clause on waiting or on what waits: MPI, OpenMP, locks; and the places of such findings."""
    found = frozenset(n for s in world.segments if s.keys & _WAITS for n in s.names)
    found |= frozenset(n for f in world.facts if f.subjects & _WAITS for n in f.names)
    waiting = {c for c, one in world.words.causes.items() if "act:wait" in one.effect and not one.reason & _ELSEWHERE}
    return found | frozenset(n for b in world.bundles if b.cause in waiting for n in b.names)


#: What makes others wait than those who do it.
_ELSEWHERE: Keys = frozenset({"what:imbalance", "what:serial"})


_WAITS: Keys = frozenset(
    {"act:wait", "in:mpi", "in:openmp", "what:lock", "what:critical", "in:collective", "what:barrier"}
)


def _names_before_wait(segment: Segment) -> Keys:
    """The names before `wait` in a trusted clause; all names of one that says nothing of who waits."""
    position = next((m.position for m in segment.marks if "act:wait" in m.keys), None)
    if position is None:
        return NONE
    before = frozenset(n for m in segment.marks if m.position < position for n in m.names)
    return before or (NONE if any(m.position < position for m in segment.marks) else segment.names)


def _stem_between(statement: Statement, first: int, last: int, stem: str) -> bool:
    return any(statement.tokens[p].stem == stem for p in range(first + 1, last))


def _subjects_of_wait(segment: Segment) -> Keys:
    """Who stands before `wait` in a trusted clause, with the act itself."""
    position = next((m.position for m in reversed(segment.marks) if "act:wait" in m.keys), None)
    if position is None:
        return NONE
    return frozenset({"act:wait"}) | frozenset(k for m in segment.marks if m.position < position for k in m.keys)


def in_order(statement: Statement, world: World) -> bool:
    """False if the busiest is done first, the idlest last, or `X waits for Y` where trusted texts say that Y waits for X."""
    for segment in statement.segments:
        stems = set(statement.stems[segment.first : segment.last])
        who = world.with_roles(frozenset(k for k in group(segment.keys, "who")))
        first = next((m for m in segment.marks if group(m.keys, "who")), None)
        leading = world.with_roles(group(first.keys, "who")) if first else NONE
        if stems & _DONE and who:
            if "who:busiest" in leading and stems & _EARLY and not stems & _LATE:
                return False
            if leading & {"who:idlest"} and stems & _LATE and not stems & _EARLY:
                return False
    said = awaited(statement)
    return not said or said <= world.awaited or not frozenset((b, a) for a, b in said) & world.awaited


_DONE = frozenset(
    map(
        stem,
        (
            "done",
            "finish",
            "finishes",
            "finished",
            "arrive",
            "arrives",
            "come",
            "comes",
            "ready",
            "complete",
            "completes",
        ),
    )
)
_EARLY = frozenset(map(stem, ("first", "early", "earlier", "before", "earliest")))
_LATE = frozenset(map(stem, ("last", "late", "later", "after", "latest")))


def awaited(statement: Statement) -> frozenset[tuple[str, str]]:
    """Of host and device who waits for whom in a statement."""
    found = set()
    marks = [m for s in statement.segments for m in s.marks]
    for mark in marks:
        if "act:wait" not in mark.keys or statement.stems[mark.position] != "wait":
            continue
        who = [k for m in marks if m.position < mark.position for k in m.keys & SIDES]
        until = [
            p
            for p in range(mark.position, min(mark.position + 3, len(statement.stems)))
            if statement.stems[p] in _UNTIL
        ]
        whom = [k for m in marks if until and m.position > until[0] for k in m.keys & SIDES]
        if who and whom and who[-1] != whom[0]:
            found.add((who[-1], whom[0]))
    return frozenset(found)


_UNTIL = frozenset({"until", "for"})
