"""What would be won: Amdahl's law."""

from __future__ import annotations

from pydantic import Field

from chathpc.chat.session import Session
from chathpc.chat.tools.record import PLACE, WHOLES, Arguments, FactList, Result, amount, share_of, source_of, whole
from chathpc.diagnosis.coverage import HOST_TIME
from chathpc.diagnosis.fact import Form, Quantity
from chathpc.errors import UsageError
from chathpc.profile import numbers

#: So many times as fast stands for "no time at all".
NO_TIME = 1e9
#: Parts (0..1) of a sum that differ by less are the same.
_ROUNDING = 1e-9


class WhatIfArguments(Arguments):
    """A place that is made faster."""

    place: str = PLACE
    factor: float = Field(default=2.0, gt=0, le=1e9, description="So many times as fast; 0.5 is twice as slow.")
    itself: bool = Field(default=False, description="Only the place itself, without what it calls.")


def what_if(session: Session, asked: WhatIfArguments) -> Result:
    """By how much the whole run would be faster if one place were so many times as fast (Amdahl's law).

    Speed-up of the run = 1 / (1 − p + p / f) with the place's part p of the time and the factor f; without bound on f it is
    1 / (1 − p). Amdahl, AFIPS 1967.
    """
    target = session.find(asked.place)
    metric = session.metric_at("", target)
    own, inclusive = session.value_at(target, metric)
    value = own if asked.itself else inclusive
    known = session.measured.metrics
    of = known[WHOLES[metric.id]] if WHOLES.get(metric.id) in known else metric
    total = session.total(of)
    part = share_of(value, total)
    if not 0 <= part <= 1 + _ROUNDING:
        raise UsageError(f"{target.title} has no part of {whole(of)}.")
    part = part if part < 1 - _ROUNDING else 1.0
    if asked.factor >= NO_TIME and not asked.itself and session.is_whole(target, metric):
        raise UsageError(
            f"{target.title} is the whole program: nothing would be left.",
            hint=session.asker.see("findings", "which part of it to change"),
        )
    left = 1 - part + part / asked.factor
    speedup = 1 / left
    bound = 1 / (1 - part) if part < 1 else float("inf")
    factor = numbers.speedup(asked.factor)
    gone = asked.factor >= NO_TIME and bound != float("inf")
    name = f"{target.title} itself" if asked.itself else target.title
    of_run = of is not metric or metric.id in HOST_TIME
    what = "the run" if of_run else f"all that {metric.id} counts"
    how = source_of(session, metric, "Amdahl's law: 1 / (1 - p + p / f)")
    facts = FactList(how, metric, Quantity(total, metric.unit.value, of.id))
    facts.amount(name, value)
    first = f"If {name} were {factor} as fast, {what} would be {numbers.speedup(speedup)} as fast"
    facts.value(f"the speed-up of {what} with {name} {factor} as fast", speedup, "x", form=Form.ONE)
    saved = value - value / asked.factor
    change = f"{'saves' if saved >= 0 else 'adds'} {numbers.quantity(abs(saved), metric.unit.value)}"
    # A fact of its own, that says all of its subject: what is said of the saved time must not be taken for the time of the place.
    effect = "saving" if saved >= 0 else "cost"
    facts.value(f"the {effect} by {name} {factor} as fast", abs(saved), form=Form.ONE)
    has = f"{name} has {amount(value, total, metric)} of {whole(of)}"
    text = f"{first}: {has}, and that {change}."
    if bound != float("inf"):
        limit = f"If {name} were eliminated, it would be {numbers.speedup(bound)}."
        facts.value(f"the speed-up of {what} if {name} were eliminated", bound, "x", form=Form.ONE)
        taken = f"If {name} were eliminated, {what} would be {numbers.speedup(bound)} as fast: {has}."
        text = taken if gone else f"{text} {limit}"
    if not of_run:
        text += f" What the run would gain is not known: {metric.id} is only a part of it."
    elif session.unseen:
        text += f" This is of the time that was seen, not of the run.{session.unseen}"
    elif len(session.measured.where) > 1:
        text += " This counts all threads together: the gain is larger where others wait for it, smaller where none do."
    return Result(text, facts=facts.all())
