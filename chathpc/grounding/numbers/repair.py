"""Put the right number in the place of a wrong one, where subject and unit leave no choice."""

from __future__ import annotations

from chathpc.grounding.evidence.facts import Fact, World
from chathpc.grounding.language.quantities import Quantity
from chathpc.grounding.numbers.match import same_subject
from chathpc.grounding.numbers.rounding import equals
from chathpc.profile import numbers


def candidate(quantity: Quantity, world: World) -> Fact | None:
    """The one fact that a wrong number can have meant; None if there are several values, or the number is in words or a bound.

    A number that is right for something else is no slip: then it is the subject that may be wrong.
    """
    if quantity.in_words or quantity.exactness != "exact" or quantity.dimension == "bare":
        return None
    if any(fact.quantity.dimension == quantity.dimension and equals(quantity, fact) for fact in world.facts):
        return None
    facts = [fact for fact in world.facts if same_subject(quantity, fact, world)]
    if not facts or any(_differ(facts[0], other) for other in facts[1:]):
        return None
    return next((fact for fact in facts if fact.text), facts[0])


def _differ(one: Fact, other: Fact) -> bool:
    """True if two facts cannot be the same value printed with different precision."""
    low, high = one.quantity.interval
    least, most = other.quantity.interval
    slack = 1e-9 * max(abs(high), abs(most))
    return max(low, least) > min(high, most) + slack


def printed(fact: Fact) -> str:
    """A fact's number as the evidence prints it."""
    if fact.text:
        return fact.text
    value = fact.quantity.value
    match fact.quantity.dimension:
        case "time":
            return numbers.seconds(value)
        case "bytes":
            return numbers.size(value)
        case "rate":
            return f"{numbers.size(value)}/s"
        case "share":
            return numbers.percent(value / 100)
        case "factor":
            return numbers.speedup(value)
    return numbers.count(value)


def replaced(sentence: str, corrections: list[tuple[Quantity, Fact]]) -> str:
    """The sentence with each wrong number replaced; the rest stays as it is."""
    for quantity, fact in sorted(corrections, key=lambda pair: -pair[0].start):
        sentence = sentence[: quantity.start] + printed(fact) + sentence[quantity.end :]
    return sentence
