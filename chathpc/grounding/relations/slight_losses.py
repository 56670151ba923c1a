"""What is said to lose little or much where efficiencies tell how much: `the threads lose little time`, `neither costs much`."""

from __future__ import annotations

from collections.abc import Iterable

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Segment, Statement
from chathpc.grounding.language.quantities import NONE, Keys
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.operands import value

#: What an efficiency tells the loss of.
FACTORS: Keys = frozenset({"what:efficiency", "what:balance", "what:synchronisation", "what:communication"})
_LOSES = frozenset(
    map(stem, ("lose", "lost", "loss", "losses", "cost", "costs", "gain", "gained", "win", "won", "left", "leave", "leaves", "waste", "wasted", "hurt", "hurts",
               "matter", "matters", "weigh", "weighs", "burden", "slow", "harm"))
)  # fmt: skip
#: Percent: what loses less is no loss that anyone would act on.
_GOOD = 95.0
_PARALLEL: Keys = frozenset({"in:thread", "in:rank", "in:openmp", "in:mpi", "in:process"})
_LOST: Keys = frozenset({"what:cost", "what:speedup", "word:hurt", "word:harm", "word:matter", "word:weigh"})
_REACH = 5


def is_slight(statement: Statement, position: int, world: World) -> bool:
    """True for the word `little` of `the threads lose little time`, `leaves little to gain` where all efficiencies that are meant are good."""
    segment = statement.segment_at(position)
    around = set(statement.stems[max(0, position - _REACH) : position + _REACH])
    if segment is None or not around & _LOSES:
        return False
    about = segment.keys & FACTORS
    if not about and not segment.keys & _PARALLEL:
        about = frozenset(k for s in statement.segments for k in s.keys) & FACTORS
        if not about:
            return False
    return loses_little(about, segment, world)


def costs_little(statement: Statement, position: int, world: World) -> bool:
    """True for the negation of `neither the load balance nor the synchronisation costs much` where both efficiencies are good."""
    segment = statement.segment_at(position)
    if segment is None or not _LOSES & set(statement.stems[position : segment.last]):
        return False
    about = segment.keys & FACTORS
    return bool(about) and not segment.keys - about - _PARALLEL - _LOST and loses_little(about, segment, world)


def is_denied(statement: Statement, position: int, world: World) -> bool:
    """True for the word `much` of `neither costs much`."""
    segment = statement.segment_at(position)
    before = range(segment.first, position) if segment else range(0)
    return any(statement.stems[p] in world.words.negations and costs_little(statement, p, world) for p in before)


def is_told(segment: Segment, statement: Statement, world: World) -> bool:
    """True for a clause that only says that efficiencies lose little: they are the evidence for it, no finding has to be."""
    if not segment.keys <= FACTORS | _PARALLEL | _LOST or segment.names:
        return False
    denied = (p for p in range(segment.first, segment.last) if statement.stems[p] in world.words.negations)
    if any(costs_little(statement, p, world) for p in denied):
        return True
    small = (
        p for p in range(segment.first, segment.last) if world.words.levels.get(statement.stems[p]) in ("low", "small")
    )
    return any(is_slight(statement, p, world) for p in small)


def loses_little(about: Keys, segment: Segment, world: World) -> bool:
    """True if each of some factors of the parallel efficiency is known and good, for no factor the efficiency itself; of nothing with a name."""
    if segment.names:
        return False
    for key in about or frozenset({"what:efficiency"}):
        found = list(efficiencies(key, world))
        if not found or min(found) < _GOOD:
            return False
    return True


def efficiencies(key: str, world: World) -> Iterable[float]:
    """The values of one factor of the parallel efficiency."""
    for fact in world.facts:
        own = fact.quantity.own & FACTORS
        pop = "what:efficiency" in fact.subjects | fact.around and fact.quantity.base in (None, NONE)
        if fact.quantity.dimension == "share" and own == {key} and pop and fact.evidence:
            yield value(fact)
