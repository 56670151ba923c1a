"""Whether a number of an assessment or of a gain is that of the finding that the sentence speaks of."""

from __future__ import annotations

from dataclasses import replace

from chathpc.grounding.evidence.assessed import ASSESSED, ASSESSING
from chathpc.grounding.evidence.facts import Fact, World
from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.quantities import NONE, Quantity
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.gains import WON, at_least, caps, is_upper, position_of
from chathpc.grounding.numbers.match import ACTS, EVENNESS
from chathpc.grounding.numbers.meant import described, leading, mentioned
from chathpc.grounding.numbers.operands import Recomputed, rests_on
from chathpc.grounding.numbers.rounding import equals

#: What may be said of any gain.
_ANYWHERE = frozenset(
    {"what:speedup", "what:cost", "what:speed", "what:samples", "what:calls", "who:total", "in:device", "in:runtime"}
)
_REST = frozenset({"who:others"})  # of `what would remain`
_CAN = frozenset({"could", "can", "may", "might"})
_EACH, _NEAR = frozenset(map(stem, ("each", "both", "either", "all"))), 4
_SAMPLE = stem("sample")
_OF_WHOM = frozenset(map(stem, ("for", "in", "on", "from", "by", "with", "of")))


def as_assessed(quantity: Quantity) -> Quantity | None:
    """A speed-up, or a number of samples, as the number of an assessment; None for what can be none."""
    if quantity.dimension == "factor":
        return replace(quantity, dimension=ASSESSED, noun="bound")
    if quantity.dimension == "count" and quantity.noun == _SAMPLE:
        return replace(quantity, dimension=ASSESSED, noun="samples")
    return quantity if quantity.dimension == ASSESSED else None


def assessed(quantity: Quantity, statement: Statement, world: World) -> Recomputed | None:
    """What a number of an assessment or a gain rests on; None where the finding that is meant has another one."""
    if quantity.dimension != ASSESSED:
        return None
    if quantity.noun in WON and not _is_possible(quantity, statement):
        return None
    position = position_of(quantity, statement)
    near = set(statement.stems[position : position + _NEAR])
    if near & _EACH and len(several := mentioned(statement, world)) > 1:
        facts = [f for i in sorted(several) for f in world.assessments[i].facts if f.quantity.noun == quantity.noun]
        right = len(facts) == len(several) and all(_is(quantity, fact, capped=False) for fact in facts)
        return rests_on("assessment", facts) if right else None
    capped = any(one.stop == position for one in caps(statement))
    for index in sorted(meant(quantity, statement, world)):
        for fact in world.assessments[index].facts:
            if _is(quantity, fact, capped=capped) and _can_be_of(quantity, index, world):
                return rests_on("assessment", (fact,))
    return None


def is_of_another(quantity: Quantity, statement: Statement, world: World) -> bool:
    """True for a speed-up that is the bound of a finding, and not of the one that the sentence describes."""
    bound = as_assessed(quantity)
    if quantity.dimension != "factor" or bound is None or "what:speedup" not in quantity.keys:
        return False
    owners = {i for i, one in enumerate(world.assessments) for fact in one.facts if _is(bound, fact, capped=False)}
    about = frozenset(i for i in meant(bound, statement, world) if world.assessments[i].bound)
    return bool(owners and about) and not owners & about


def _is(quantity: Quantity, fact: Fact, *, capped: bool) -> bool:
    # `No more than a factor of 1.22` may be the rounded bound itself.
    return fact.quantity.noun == quantity.noun and (
        equals(quantity, fact) or (capped and equals(replace(quantity, exactness="exact"), fact))
    )


def _can_be_of(quantity: Quantity, index: int, world: World) -> bool:
    """True if a finding has all that the clause of a number speaks of."""
    bundle, one = world.bundles[index], world.assessments[index]
    cause = world.words.causes.get(bundle.cause or "")
    own = bundle.subjects | (cause.reason | cause.effect if cause else NONE) | _ANYWHERE | ACTS
    own |= EVENNESS if own & EVENNESS else NONE
    own |= frozenset(k for k in world.with_roles(own) if k.startswith("who:")) | {"who:total"}
    strict = frozenset(k for k in quantity.own if not k.startswith("word:")) - (
        _REST if quantity.noun == "left" else NONE
    )
    words = (
        {k.partition(":")[2] for k in quantity.own if k.startswith("word:")}
        - world.words.neutral
        - world.words.beside
        - ASSESSING
    )
    near = {
        b.evidence[:1] for b in world.bundles if b.cause is None and b.evidence[:1] and b.evidence[0] in bundle.evidence
    }
    told = (
        bundle.stems
        | one.stems
        | frozenset(s for b in world.bundles if b.evidence[:1] in near for s in b.stems)
        | world.advice_stems
    )
    return strict <= own and words <= told and quantity.names <= bundle.names | one.near


def _is_possible(quantity: Quantity, statement: Statement) -> bool:
    """False for a gain that is promised, or told as the least."""
    if quantity.noun != "left":
        return not at_least(quantity, statement) and (is_upper(statement) or bool(_CAN & set(statement.stems)))
    position = position_of(quantity, statement)
    most = tuple(w for w in statement.stems[max(0, position - 3) : position] if w != "about")[-2:] == ("at", "most")
    return not most and (is_upper(statement) or bool(_CAN & set(statement.stems)))


def meant(quantity: Quantity, statement: Statement, world: World) -> frozenset[int]:
    """The findings whose number this one can be: those that the words beside it describe, or else the sentence, or the first one."""
    again = (as_assessed(q) or q for q in statement.quantities)
    alike = [q for q in again if _kind(q) == _kind(quantity)]
    starts = [position_of(q, statement) for q in alike]
    here = position_of(quantity, statement)
    number = starts.index(here) if here in starts else 0
    if len(alike) < 2 or _kind(quantity) == "whole":
        return described(statement, range(len(statement.tokens)), world) or leading(world)
    after = starts[number + 1] if number + 1 < len(starts) else len(statement.tokens)
    before = starts[number - 1] + 1 if number else 0
    behind = next((i for i, t in enumerate(statement.tokens) if t.start >= quantity.end), after)
    follows = set(statement.stems[behind : behind + 1]) & _OF_WHOM
    words = range(behind, after) if follows else range(before, here)
    found = described(statement, words, world)
    if not found:  # `0.83 and 0.95 for the stride and for the copies`
        found = described(statement, range(starts[0]), world)
    return found or described(statement, range(len(statement.tokens)), world) or leading(world)


def _kind(quantity: Quantity) -> str:
    return quantity.noun or "" if quantity.dimension == ASSESSED else quantity.dimension
