"""Whether a written number is that of a fact: a right rounding, a bound on the right side and near enough, about as much."""

from __future__ import annotations

from math import isfinite

from chathpc.grounding.evidence.facts import Fact
from chathpc.grounding.language.quantities import Quantity

#: How far a bound in words may be from the value: `more than 1.4 s` for 1.47 s, not for 5 s.
_BOUND_REACH = 0.1
#: A rounding that moves a value by more than this part needs an `about`: 1 s is no plain 1.2 s.
_COARSEST = 0.1


def equals(quantity: Quantity, fact: Fact) -> bool:
    """True if the written number is a right rounding of the fact's value, or its printed form."""
    if not isfinite(quantity.value):
        return False
    value = fact.exact if fact.exact is not None else fact.quantity.value
    low, high = quantity.interval
    if quantity.exactness in ("above", "below"):
        return _is_bounded(quantity, value)
    slack = 1e-9 * max(abs(value), abs(quantity.value))
    if abs(fact.quantity.value - quantity.value) <= slack:
        return True
    if quantity.exactness == "exact" and not quantity.in_words and abs(value - quantity.value) > _COARSEST * abs(value):
        return False
    if quantity.exactness == "about" and not quantity.in_words:
        reach = min(_ABOUT * abs(quantity.value), _trailing(quantity))
        low, high = min(low, quantity.value - reach), max(high, quantity.value + reach)
    # A number with more digits than the fact was printed with cannot be known from it.
    printed_half = (fact.quantity.interval[1] - fact.quantity.interval[0]) / 2 if fact.exact is None else 0.0
    half = (high - low) / 2
    return low - slack <= value <= high + slack and (quantity.in_words or half >= printed_half * 0.999)


def _trailing(quantity: Quantity) -> float:
    """Half a unit of the last digit that is not 0: `about 300 ms` may be any from 250 to 350 ms."""
    step = (quantity.interval[1] - quantity.interval[0]) or 1.0
    for _ in range(_MOST_ZEROS):
        if abs(quantity.value / (10 * step) - round(quantity.value / (10 * step))) > 1e-6:
            break
        step *= 10
    return step / 2


#: What `about` adds to a round number at most, as a part of it.
_ABOUT = 0.05
_MOST_ZEROS = 12


def _is_bounded(quantity: Quantity, value: float) -> bool:
    """True for a bound on the right side of a value and near it; nearness is counted in the digits that the bound is written with."""
    bound = quantity.value
    step = (quantity.interval[1] - quantity.interval[0]) / 2
    reach = _ROUND_REACH if step >= _COARSE_STEP * abs(bound) and not quantity.in_words else _BOUND_REACH
    if quantity.exactness == "above":
        return value >= bound * (1 - 1e-9) and (quantity.in_words or value <= bound * (1 + reach))
    if quantity.in_words and not quantity.nearly:
        reach = _ROUND_REACH
    if quantity.dimension == "share" and bound <= _LITTLE:
        reach = 1.0
    # `nearly 40 %` may be 40.3 % as well.
    return bound * (1 - reach) <= value <= max(bound * (1 + 1e-9), quantity.interval[1] if quantity.nearly else 0.0)


#: A bound of one digit (`less than 5 %`) may be as far as this part of itself from the value.
#: Percent: whatever is less is little.
_LITTLE = 5.0
_ROUND_REACH = 0.5
_COARSE_STEP = 0.05


def is_rounding(quantity: Quantity, value: float) -> bool:
    """True if the written number is a right rounding of a value that is known exactly."""
    low, high = quantity.interval
    slack = 1e-9 * max(abs(value), abs(quantity.value))
    coarse = quantity.exactness == "exact" and abs(value - quantity.value) > _COARSEST * abs(value)
    return low - slack <= value <= high + slack and not coarse
