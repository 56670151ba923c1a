"""What a diagnosis does not promise: a finding without headroom says that nothing is to be gained, as far as the profile tells."""

from __future__ import annotations

from chathpc.diagnosis.records import Finding
from chathpc.grounding.claims import Statement
from chathpc.grounding.facts import World
from chathpc.grounding.vocabulary import stem

_GAINS = frozenset(
    map(
        stem,
        ("gain", "headroom", "speedup", "speed-up", "saving", "improvement", "acceleration", "potential", "profit"),
    )
)
#: Who promises, and how it is said; not `transport has no potential for vectorisation`.
_PROMISES = frozenset(map(stem, ("promise", "promises", "give", "given", "name", "get", "gets", "state", "offer", "quote", "report", "estimate", "expect",
                                 "foresee", "predict", "assign", "attribute", "diagnosis", "profile", "finding", "come", "show", "see")))  # fmt: skip
_LEAST_GAIN = 0.005
_FAR = 8


def promises_gain(finding: Finding) -> bool:
    """True if a finding says that something could be gained."""
    bound = finding.speedup_bound
    return finding.headroom > 0 and (bound is None or bound > 1 + _LEAST_GAIN)


def is_no_promise(statement: Statement, position: int, world: World) -> bool:
    """True for `the diagnosis promises no gain in f` where the findings on f, or all where none is named, have no headroom."""
    stems = set(statement.stems)
    near = set(statement.stems[position + 1 : position + 1 + _FAR])
    if not near & _GAINS or not stems & _PROMISES or not world.gainless:
        return False
    names = statement.names
    if not names:
        return not world.gainful
    concerned = [place for place in world.gainless if names & place]
    return names <= frozenset().union(*concerned) and not any(names & place for place in world.gainful)
