"""This profile beside another one that was loaded for comparison."""

from __future__ import annotations

from difflib import get_close_matches

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from chathpc.chat.index import short_name
from chathpc.chat.session import Session
from chathpc.chat.tools.record import Arguments, Column, FactList, Result, limit, prose
from chathpc.comparison.words import fate, signed, signed_percent, stays
from chathpc.diagnosis.fact import Kind, Part, Quantity, told
from chathpc.errors import UsageError
from chathpc.profile.run import run_facts
from chathpc.prompts.untrusted import quote


class CompareArguments(Arguments):
    """The other profile."""

    other: str = Field(
        default="", max_length=500, description="Name of a profile that was loaded for comparison; empty: the only one."
    )
    metric: str = Field(default="", max_length=200, description="Id of a metric that both have; empty: the time.")
    # Models read it in the table of all.
    place: SkipJsonSchema[str] = Field(default="", max_length=2_000, description="Only this place; empty: the run.")
    limit: int = limit()


def compare(session: Session, asked: CompareArguments) -> Result:
    """What changed from another loaded profile (before) to this one (after), beyond noise, and where."""
    other = _other(session, asked.other)
    if asked.place:
        return _at(session, session.before(other), asked)
    found = session.compared(other, asked.metric)
    unit = found.unit or "count"
    facts = FactList("chathpc diff: values of both profiles at matching contexts")
    if found.total is not None and found.metric is not None:
        before, after = found.total.before, found.total.after
        facts.add(Kind.VALUE, f"{found.metric} of the run before", before, unit, metric=found.metric)
        _add(facts, f"{found.metric} of the run after", before, after, unit, found.metric)
    rows = []
    for one in found.functions[: asked.limit]:
        name = quote(one.name)
        noise = () if one.beyond_noise else (Part("within noise"),)
        _add(facts, name, one.before, one.after, unit, found.metric, *noise)
        rows.append((name, one.before, one.after, one.change, "" if one.beyond_noise else "within noise"))
    columns = (Column("function"), Column("before", unit), Column("after", unit), Column("change", unit), Column(""))
    lines = [
        f"{fate(one)} (in the run {'before' if one.status == 'gone' else 'after'}): {prose(one.summary)}"
        for one in found.findings[: asked.limit]
        if not stays(one)
    ]
    lines += [prose(note) for note in found.notes[: asked.limit]]
    return Result(
        prose(found.headline),
        columns if rows else (),
        tuple(rows),
        facts.all(),
        omitted=len(found.functions) - len(rows),
        lines=tuple(lines),
    )


def _at(session: Session, earlier: Session, asked: CompareArguments) -> Result:
    """How much a place has in both runs, with all that it calls."""
    metric = session.metric(asked.metric)
    values: list[float | None] = []
    title = ""
    for each in (earlier, session):
        try:
            target = each.find(asked.place)
        except UsageError:
            values.append(None)
        else:
            values.append(each.value_at(target, each.metric(metric.id))[1])
            title = target.title
    if not title:
        raise session.no_place(asked.place)
    before, after = (value or 0.0 for value in values)
    unit, change = metric.unit.value, after - before
    times = " and ".join(
        f"{'none' if value is None else told(value, unit)} {when}"
        for value, when in zip(values, ("before", "after"), strict=True)
    )
    rate = f", {signed_percent(change / before)}" if before else ""
    text = f"{title} had {times} ({signed(change, unit)}{rate}), with all that it calls, by {metric.id}."
    shapes = [run_facts(each.measured).shape or "one thread" for each in (earlier, session)]
    text += f" The runs had {shapes[0]} before and {shapes[1]} after." if shapes[0] != shapes[1] else ""
    rows = session.compared(_other(session, asked.other), asked.metric).functions
    noise = change and any(not one.beyond_noise for one in rows if one.name in (title, short_name(title)))
    text += " That is within noise." if noise else ""
    facts = FactList("inclusive values of both profiles at the place")
    _add(facts, title, before, after, unit, metric.id)
    return Result(text, facts=facts.all())


def _add(
    facts: FactList, subject: str, before: float, after: float, unit: str, metric: str | None, *noise: Part
) -> None:
    """Take up what a value was before and is after."""
    whole, parts = Quantity(before, unit, "before"), (Part("a change of", after - before, unit), *noise)
    facts.add(Kind.COMPARISON, subject, after, unit, whole=whole, parts=parts, metric=metric)


def _other(session: Session, name: str) -> str:
    if not session.others:
        raise UsageError("There is no other profile to compare with.", hint=session.asker.load)
    if not name and len(session.others) == 1:
        return next(iter(session.others))
    if name in session.others:
        return name
    known = [quote(one) for one in session.others]
    near = get_close_matches(name, known, n=3, cutoff=0.3) or known[:5]
    what = (
        f"No profile '{quote(name)}' was loaded for comparison."
        if name
        else "Several profiles were loaded for comparison."
    )
    raise UsageError(what, hint=f"Loaded: {', '.join(near)}.")
