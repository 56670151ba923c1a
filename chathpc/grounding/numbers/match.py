"""Whether a claim is supported: a number by a fact about the same subject, words by what the diagnosis says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chathpc.grounding.evidence.facts import Fact, World
from chathpc.grounding.language.claims import EXCLUSIVE, group
from chathpc.grounding.language.quantities import IT, NONE, TOTAL, Keys, Quantity
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.appositions import is_of_named_part, is_of_nearly_all
from chathpc.grounding.numbers.rounding import equals

_COST: Keys = frozenset({"what:cost"}) | TOTAL
#: What has a scale of its own, so that its percentage is never one of the time.
_OWN_SCALE: Keys = frozenset({"what:occupancy", "what:efficiency"})
SIDES: Keys = frozenset({"in:host", "in:device"})
ACTS: Keys = frozenset({"act:work", "act:wait"})
#: Even and uneven are said of one thing.
EVENNESS: Keys = frozenset({"what:imbalance", "what:balance"})
_EFFICIENCY: Keys = frozenset({"what:efficiency"})
_INSTANCES = frozenset(map(stem, ("thread", "rank", "process", "gpu", "device", "core", "node")))
_NO_ROLE = ("who:others", "who:total", "who:mean")
_OTHERS_MEAN: Keys = frozenset({"who:others", "who:mean"})
_FREE = ("who:others", "who:total")
#: Who does things; naming them says nothing about what is done.
_AGENTS = frozenset({"in:thread", "in:rank", "in:process", "in:cpu", "in:host", "in:device", "in:openmp"})


@dataclass(frozen=True, slots=True)
class Support:
    """What became of one claim: the evidence it rests on, or why it has none."""

    evidence: tuple[str, ...]
    problem: str = ""


def is_context(keys: Keys, world: World) -> Keys:
    """The keys of context groups, and calls, which are only how something is reached."""
    return frozenset(key for key in keys if key.split(":")[0] in world.words.context or key == "what:calls")


def same_subject(quantity: Quantity, fact: Fact, world: World) -> bool:
    """True if a claim's number and a fact can be about the same thing, whatever their values: nothing that is said speaks against it."""
    other = fact.quantity
    if not same_measure(quantity, fact):
        return False
    if quantity.dimension == "rate" and quantity.own & TOTAL > fact.subjects & TOTAL:
        return False  # a rate is no total
    if (
        fact.quantity.base == IT
        and quantity.base
        and not (quantity.base - _KERNEL) & (_bundled(fact, world) | fact.around | IT)
    ):
        return False
    if (
        quantity.dimension == "count"
        and quantity.noun in _INSTANCES
        and not quantity.is_base
        and other.value.is_integer()
    ):
        return True  # how many ranks there are is the same wherever it is said
    if quantity.agent and other.agent and quantity.agent != other.agent:
        return False
    if quantity.is_base and quantity.dimension == "count":
        return True  # nor does how many there are of which it is a part
    if quantity.is_base and other.is_base and quantity.dimension == "time":
        return True  # how long the whole is does not depend on what is said to be a part of it
    around = fact.around | (other.base or NONE) | (quantity.base or NONE) | _bundled(fact, world)
    known = fact.subjects | around | _COST
    if not quantity.own.isdisjoint(EVENNESS) and "what:speedup" in other.own:
        known |= EVENNESS
    if "what:speedup" in other.own:
        known |= ACTS
    elif not group(fact.subjects | fact.around, "act"):
        known |= _WORK  # nothing says whether it is work or waiting
        known -= NONE if "what:cost" in fact.subjects else _WAIT
    if quantity.in_words and quantity.dimension == "share" and not _is_about(quantity, fact, world):
        return False
    if not _words_fit(quantity, fact, world):
        return False
    if "what:imbalance" in known or "what:balance" in known:
        known |= EVENNESS
    if not frozenset(k for k in quantity.own if not k.startswith(("word:", "who:", "what:calls"))) <= known:
        return False
    elsewhere = group(quantity.own, "what") - fact.subjects - fact.around - _VAGUE - EVENNESS
    if elsewhere and "what:speedup" not in other.own and not elsewhere & _reasons(fact, world):
        return False  # what its finding is about elsewhere is not what this number is of
    ends = (fact.quantity.own | fact.subjects) & SIDES, quantity.own & SIDES
    if all(ends) and not ends[0] & ends[1]:
        return False
    return _names_fit(quantity, fact, world) and _groups_fit(quantity, fact, around, world)


def _bundled(fact: Fact, world: World) -> Keys:
    return frozenset(key for index in fact.bundles for key in world.bundles[index].subjects)


def _reasons(fact: Fact, world: World) -> Keys:
    found = [world.bundles[index].cause for index in fact.bundles]
    known = [world.words.causes[cause] for cause in found if cause is not None and cause in world.words.causes]
    return frozenset(key for one in known for key in one.reason | one.effect)


def _is_about(quantity: Quantity, fact: Fact, world: World) -> bool:
    """True if a fact is about all that a rough part (`most of the time`) is said of: many facts are as large as that."""
    said = frozenset(k for k in quantity.own if k.startswith(("what:", "act:", "who:", "direction:", "operation:")))
    about = world.with_roles(fact.subjects | fact.around | _COST) | (fact.quantity.base or NONE)
    return said <= about | _CALLED and bool(
        said & fact.subjects or quantity.names & fact.names or not said | quantity.names
    )


def _words_fit(quantity: Quantity, fact: Fact, world: World) -> bool:
    """True if the words that have no entry of their own (`gap`, `fsync`) are in the fact's texts or its finding's."""
    words = (
        {key.partition(":")[2] for key in quantity.own if key.startswith("word:")}
        - world.words.neutral
        - world.words.beside
    )
    if not words or not fact.evidence:
        return words <= world.said
    told = frozenset(s for b in world.bundles if b.evidence == fact.evidence[:1] for s in b.stems)
    return words <= told | frozenset(s for index in fact.bundles for s in world.bundles[index].stems)


#: What nearly any number can be called.
_UNTELLING: Keys = frozenset({"what:cost", "what:calls", "what:speedup"})
_CALLED: Keys = frozenset({"what:calls"})
#: What tells little of a number: how fast or large something is.
_VAGUE: Keys = _UNTELLING | {"what:speed", "what:throughput", "what:peak", "what:size", "what:samples"}
_COMMUNICATION, _MPI = frozenset({"what:communication"}), frozenset({"in:mpi"})
_KERNEL: Keys = frozenset({"what:kernel"})
_WORK: Keys = frozenset({"act:work"})
_WAIT: Keys = frozenset({"act:wait"})


def _telling(keys: Keys) -> Keys:
    return frozenset(key for key in keys - _UNTELLING if key.startswith(("what:", "operation:")))


#: `L1` is no function.
_ABBREVIATION = re.compile(r"[A-Z][A-Z0-9]{0,4}")
_COST_ONLY: Keys = frozenset({"what:cost"})


def _names_fit(quantity: Quantity, fact: Fact, world: World) -> bool:
    bundled = frozenset(name for index in fact.bundles for name in world.bundles[index].names)
    placed = fact.names | fact.near
    if fact.evidence and not fact.bundles:
        bundled |= frozenset(
            n for b in world.bundles if b.cause is None and b.evidence == fact.evidence for n in b.names
        )
    if not quantity.names <= placed | bundled:
        return False
    own = frozenset(n for n in quantity.names if not _ABBREVIATION.fullmatch(n))
    if own and placed and not own & placed and not fact.subjects & _COST_ONLY:
        return False  # it is of another place of the finding
    if quantity.inherited_names and not quantity.names and placed and not quantity.inherited_names & (placed | bundled):
        return False
    if (
        quantity.names
        and not fact.bundles
        and not placed & quantity.names
        and not _telling(quantity.own & fact.subjects)
    ):
        return False
    cost = "what:cost" in fact.subjects or not fact.evidence
    shared = frozenset(
        key for key in quantity.own & fact.subjects if key.startswith(("what:", "act:", "who:", "operation:"))
    )
    if quantity.names and not quantity.names & placed and not cost and not shared:
        return False  # the place of the finding alone does not have the number of something else
    if quantity.names & world.lines_named - fact.names and not quantity.names & fact.names:
        return False
    if quantity.inherited_names and not quantity.names and fact.bundles and not group(quantity.own, "what"):
        return bool(quantity.inherited_names & (bundled | fact.names | fact.near))
    return True


def _groups_fit(quantity: Quantity, fact: Fact, around: Keys, world: World) -> bool:
    """False if a claim says another one of a group of which a thing can only be one: who, which way, how."""
    said = world.with_roles(quantity.keys)
    subjects = fact.subjects
    mine = frozenset(key for key in group(quantity.own, "who") if key not in _FREE)
    if fact.quantity.is_each:
        mine -= {"who:mean"}  # `2.1 MB each` is a mean
    if mine and not world.with_roles(mine) & world.with_roles(subjects):
        return False
    ours, theirs = (
        frozenset(k for k in group(one, "who") if k not in _NO_ROLE) for one in (quantity.own, fact.quantity.own)
    )
    if ours and theirs and not world.with_roles(ours) & world.with_roles(theirs):
        return False  # `the idlest has 1.27 times the mean` for the busiest
    if quantity.own >= _OTHERS_MEAN and not fact.subjects | fact.around >= _OTHERS_MEAN:
        return False  # the mean of all is not that of the others
    for name in EXCLUSIVE:
        if name == "act" and "what:speedup" in fact.quantity.own:
            continue
        ours, theirs = group(quantity.own, name) or group(said, name), group(subjects, name)
        if fact.quantity.is_each:
            ours -= {"who:mean"}
        if ours and theirs and not world.with_roles(ours) & world.with_roles(theirs):
            return False
    theirs = frozenset(key for key in group(fact.quantity.own, "who") if key not in _FREE)
    # A mean size is a size, and an imbalance is always that to the busiest; the busiest kernel is not the kernels.
    implied = "what:imbalance" in said or (theirs == {"who:mean"} and group(said & subjects, "what"))
    return not theirs or bool(world.with_roles(theirs) & said) or bool(implied) or quantity.is_base


#: What a term of a claim is worth by where the fact has it: in its own clause, its statement, its finding.
_OWN, _STATED, _AROUND, _BUNDLED = 1.0, 0.9, 0.4, 0.2
#: A term that only an earlier clause says; one of the fact that the claim leaves out.
_EARLIER, _UNSAID = 0.5, 0.15


def closeness(quantity: Quantity, fact: Fact, world: World) -> float:
    """How much of what a claim says its number is about is what a fact is about; rare terms count more (inverse document frequency)."""
    said = quantity.own | quantity.names
    earlier = (quantity.inherited | quantity.inherited_names) - said
    own = fact.quantity.own | fact.quantity.names
    bundled = frozenset(
        term for index in fact.bundles for term in (*world.bundles[index].subjects, *world.bundles[index].names)
    )
    score = 0.0
    for terms, weight in ((said, 1.0), (earlier, _EARLIER)):
        for term in world.with_roles(terms):
            rarity = world.rarity.get(term, 0.0)
            if term in own:
                score += weight * rarity * _OWN
            elif term in fact.subjects or term in fact.names or term in fact.around & _EFFICIENCY:
                score += weight * rarity * _STATED
            elif term in fact.around or term in fact.near:
                score += weight * rarity * _AROUND
            elif term in bundled:
                score += weight * rarity * _BUNDLED
    everything = said | earlier
    return score - _UNSAID * sum(world.rarity.get(term, 0.0) for term in own - everything)


def _files(names: Keys) -> Keys:
    return frozenset(name for name in names if "." in name)


def same_measure(quantity: Quantity, fact: Fact) -> bool:
    """True if a number and a fact's can be compared: one dimension, the same counted noun, a part of the same whole."""
    other = fact.quantity
    if quantity.dimension == "bare":
        if other.dimension not in ("count", "bare"):
            return False
    elif quantity.dimension != other.dimension or quantity.noun != other.noun:
        return False
    if quantity.is_base != other.is_base and quantity.dimension not in ("count", "bytes"):
        return False
    if other.is_each and not quantity.is_each and "who:mean" not in quantity.keys and quantity.dimension == "time":
        return False
    same_each = quantity.dimension != "time" or "who:mean" in fact.around
    if quantity.is_each and not other.is_each and not (quantity.own & fact.subjects and same_each):
        return False
    each = quantity.per is not None and f"in:{quantity.per}" in fact.subjects
    if quantity.per is not None and quantity.per != other.per and "who:mean" not in quantity.keys and not each:
        return False
    if quantity.dimension != "share":
        return True
    if quantity.base is None and quantity.keys & _OWN_SCALE:
        return other.base is None or "what:peak" in other.base or bool(other.base & quantity.keys)
    if quantity.base is None:
        words = all(key.startswith("word:") for key in other.base or TOTAL)
        words = words and bool(quantity.own & fact.around or quantity.names & fact.names)
        return other.base in (None, TOTAL) or "what:peak" in other.base or bool(other.base & quantity.keys or words)
    base = other.base or NONE
    if quantity.base == _COMMUNICATION and base == _MPI:
        return True
    if base == IT and quantity.base == TOTAL:
        return False  # of these, not of the whole
    if base == IT:
        return True  # a part of what went before; `same_subject` sees whether it is of that
    if quantity.base == TOTAL or base == TOTAL:
        return quantity.base == base
    return bool(quantity.base & base) and (quantity.base <= base or base <= quantity.base)


def number(quantity: Quantity, world: World) -> Support:
    """Support of one number: a fact of that value that is described at least as well as any of another value."""
    comparable = [fact for fact in world.facts if same_subject(quantity, fact, world)]
    if quantity.is_each:
        each = {fact.evidence for fact in comparable if fact.quantity.is_each}
        comparable = [fact for fact in comparable if fact.quantity.is_each or fact.evidence not in each]
    fitting = [fact for fact in comparable if equals(quantity, fact)]
    if not fitting:
        return Support((), "number")
    scored = [(closeness(quantity, fact, world), fact) for fact in fitting]
    leading = [pair for pair in scored if 0 in pair[1].bundles]
    best = max(score for score, _ in scored)
    # What is said of nothing in particular is said of what the text is about: the leading finding.
    chosen = max(scored if quantity.names or not leading else leading, key=lambda pair: pair[0])[1]
    if is_of_nearly_all(quantity, fitting, world):
        return Support((), "number")
    if not quantity.is_base and any(
        not equals(quantity, fact) and _is_meant(quantity, fact, best, fitting, world) for fact in comparable
    ):
        return Support((), "number")
    return Support(chosen.evidence)


def _is_meant(quantity: Quantity, rival: Fact, best: float, fitting: Sequence[Fact], world: World) -> bool:
    """True if a fact of another value is what a claim describes: it has a term of it that no fact of the value has, and more of it in all."""
    said = world.with_roles(quantity.own | quantity.names)
    told = rival.quantity.own | rival.quantity.names
    if (
        not any(key.startswith(("what:", "who:", "direction:", "operation:")) for key in told)
        and not rival.quantity.names
    ):
        told |= rival.quantity.inherited
    words = frozenset(t for t in quantity.own & rival.quantity.own if t.startswith("word:"))
    around = frozenset(t for f in fitting for t in f.subjects | f.around)
    if words - around and rival.bundles and all(rival.bundles & f.bundles for f in fitting):
        return True  # what the finding has of it has another value
    if is_of_named_part(quantity, rival, fitting):
        return True
    own = (said & (told | (rival.names if rival.exact is not None else NONE))) - _UNTELLING
    theirs = frozenset(
        t
        for f in fitting
        for t in (
            *f.subjects,
            *(f.quantity.names or f.names),
            # `survey calls for 2.71 s of it` is of what the statement before it tells.
            *(f.around if quantity.names and quantity.names <= f.quantity.names else f.around & _EFFICIENCY),
        )
    )
    return bool(own - theirs) and closeness(quantity, rival, world) > best
