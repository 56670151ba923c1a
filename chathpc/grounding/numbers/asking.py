"""A number that no evidence holds, asked of the profile: by name, read only, and told with the claim."""

from __future__ import annotations

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.evidence.queries import Measured
from chathpc.grounding.language.quantities import TOTAL, Keys, Quantity
from chathpc.grounding.numbers import match
from chathpc.grounding.numbers.rounding import is_rounding

#: What a clause about the time of a function may say beside its name.
_OF_TIME: Keys = frozenset({"act:work", "what:cost", "what:calls", "what:kernel"}) | TOTAL
#: What one about a count may say.
_OF_COUNT: Keys = _OF_TIME | {"what:launch", "what:samples"}
_KINDS = {"in:rank": "rank", "in:process": "rank", "in:thread": "thread", "in:device": "device"}


def asked(quantity: Quantity, world: World) -> str:
    """The question that gives a number (`time of`, `time of line`, `count of`, `spread over`); empty where none does."""
    if quantity.is_base or quantity.per or quantity.is_each:
        return ""
    names = quantity.names or quantity.inherited_names
    if not names:
        return "spread over" if _is_spread(quantity, world) else ""
    if len(names) != 1:
        return ""
    name = next(iter(names))
    said = quantity.keys - match.is_context(quantity.keys, world)
    if quantity.dimension == "count" and quantity.noun and not said - _OF_COUNT:
        counted = world.queries.count_of(name, quantity.noun)
        return "count of" if counted is not None and is_rounding(quantity, counted) else ""
    if said - _OF_TIME:
        return ""
    if _is_time(quantity, world.queries.time_of(name)):
        return "time of"
    return "time of line" if _is_time(quantity, world.queries.time_of_line(name)) else ""


def _is_time(quantity: Quantity, measured: Measured | None) -> bool:
    if measured is None or not measured.total:
        return False
    if quantity.dimension == "share" and quantity.base in (None, TOTAL):
        values = [100 * measured.exclusive / measured.total, 100 * measured.inclusive / measured.total]
    elif quantity.dimension == "time":
        values = [measured.exclusive, measured.inclusive]
    else:
        return False
    return any(is_rounding(quantity, value) for value in values)


def _is_spread(quantity: Quantity, world: World) -> bool:
    """True for `the busiest rank takes 3.2 s` and `2.9 s on average over the threads`."""
    kinds = [_KINDS[key] for key in sorted(quantity.keys & _KINDS.keys())]
    role = {key for key in quantity.own if key.startswith("who:")}
    said = quantity.keys - match.is_context(quantity.keys, world) - role - _OF_TIME
    if quantity.dimension != "time" or len(kinds) != 1 or len(role) != 1 or said:
        return False
    spread = world.queries.spread_over(kinds[0])
    if spread is None:
        return False
    found = {"who:busiest": spread.most, "who:idlest": spread.least, "who:mean": spread.mean}.get(next(iter(role)))
    return found is not None and is_rounding(quantity, found)
