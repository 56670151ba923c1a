"""The claims of a sentence one by one, as a reader is shown them beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Statement, group

Kind = Literal["number", "name", "line", "subject", "cause", "comparison", "level", "verdict", "quotation"]
Status = Literal["supported", "repaired", "struck"]
#: What a claim rests on that no measurement prints: advice, what a cause means, notes.
DIAGNOSIS = "diagnosis"


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: the words that make it, what became of it, and what it rests on.

    `query` says how a number was found: `evidence` where it is printed there, `diagnosis` for what only its findings say (advice, what a
    cause means), else the computation (`ratio`, `sum`, `difference`,
    `part`, `complement`, `mean`, `count` of the names in the sentence) or the question to the profile (`time of`, `time of line`,
    `count of`, `spread over`, `callers of`).
    """

    kind: Kind
    text: str
    status: Status = "supported"
    evidence: tuple[str, ...] = ()
    query: str = ""


def itemised(sentence: str, statement: Statement, world: World) -> tuple[Claim, ...]:
    """All claims of a sentence: numbers, names, lines, subjects, causes, and words that say how much or compare."""
    return tuple(_claims(sentence, statement, world))


def _claims(sentence: str, statement: Statement, world: World) -> Iterable[Claim]:
    stems, tokens = statement.stems, statement.tokens
    for quantity in statement.quantities:
        yield Claim("number", sentence[quantity.start : quantity.end])
    for name in sorted(statement.names):
        yield Claim("name", name)
    for line in statement.lines:
        yield Claim("line", str(line))
    for key in sorted(_subjects(statement)):
        yield Claim("subject", key.partition(":")[2])
    for position, _ in world.words.phrases.found(stems):
        length, _ = world.words.phrases.at(stems, position)
        yield Claim("cause", sentence[tokens[position].start : tokens[position + length - 1].end])
    for position, _ in world.words.states.found(stems):
        yield Claim("level", tokens[position].text)
    for position, _ in world.words.comparisons.found(stems):
        yield Claim("comparison", tokens[position].text)
    for token in tokens:
        if token.stem in world.words.levels:
            yield Claim("level", token.text)
    if world.healthy and "bottleneck" in stems:
        yield Claim("verdict", "bottleneck")


def _subjects(statement: Statement) -> frozenset[str]:
    return frozenset(
        key
        for segment in statement.segments
        for key in segment.keys
        if not key.startswith("in:") or group(segment.keys, "who")
    )
