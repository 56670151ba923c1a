"""What a sentence says that a diagnosis does not promise, and on what it says that a confidence rests."""

from __future__ import annotations

from chathpc.grounding.evidence.assessed import ASSESSED
from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.vocabulary import stem, stem_set
from chathpc.grounding.numbers.meant import described, leading, mentioned
from chathpc.grounding.relations.ranked import ranked

_GAIN = stem_set("headroom", "saving", "savings", "gain", "speedup", "improvement", "potential")
_BOUND = stem("bound")
_SPEED_UP = (stem("speed"), "up")
#: What a diagnosis does with a gain.
_GIVES = stem_set("promise", "give", "name", "state", "see", "get", "has", "have", "come", "offer", "foresee", "expect", "predict", "assign", "quantify",
                "contain", "list", "show", "leave", "there", "find", "with", "any")  # fmt: skip
_DENIES = stem_set("no", "not", "neither", "nor", "none", "can't", "cannot", "doesn't", "don't", "without")
_FAR = 10
#: Behind one of these it is a comparison or a part, no denial of all.
_ELSE = stem_set("more", "less", "than", "larger", "higher", "only", "lower", "smaller", "other", "further")


def is_none_promised(statement: Statement, position: int, world: World) -> bool:
    """True for `promises no gain`, `has no headroom`, where no finding that the sentence is about has any."""
    stems = statement.stems
    if stems[position] not in _DENIES:
        return False
    end = min(position + _FAR, len(stems))
    behind = stems[position + 1 : end]
    noun = next((i for i, w in enumerate(behind) if w in _GAIN or (w, *behind[i + 1 : i + 2]) == _SPEED_UP), None)
    if noun is None or _ELSE & set(behind[:noun]) or "than" in behind:
        return False
    if not _GIVES & set(stems[max(0, position - _FAR) : end]):
        return False
    about = mentioned(statement, world) or frozenset(range(len(world.assessments)))
    return bool(about) and all(not world.assessments[i].headroom and not world.assessments[i].bound for i in about)


def assesses(statement: Statement, world: World) -> bool:
    """True for a sentence on what a finding knows of itself, in whose words it may speak."""
    return (
        any(q.dimension == ASSESSED for q in statement.quantities)
        or bool(ranked(statement, world))
        or any(is_none_promised(statement, p, world) for p in range(len(statement.stems)))
    )


def rests_rightly(statement: Statement, world: World) -> bool:
    """False if a sentence says of a confidence that its times were not sampled, its signs independent or from the source, and they are not."""
    stems = statement.stems
    told = any(q.dimension == ASSESSED and q.noun in ("confidence", "signs", "against") for q in statement.quantities)
    if not told:
        return True
    about = described(statement, range(len(stems)), world) or leading(world)
    reasons = [world.assessments[i].reason for i in about]
    sampled = next((p for p, w in enumerate(stems) if w == _SAMPLED), None)
    needed = set()
    if sampled is not None and world.words.negations & set(stems[max(0, sampled - 2) : sampled]):
        needed.add(stem("measured"))
    if _SIGN in stems:
        needed |= {w for w in (stem("source"), stem("independent"), stem("counter")) if w in stems}
    return any(needed <= reason for reason in reasons)


_SAMPLED, _SIGN = stem("sampled"), stem("sign")
