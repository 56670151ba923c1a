"""This profile beside another one that was loaded for comparison."""

from __future__ import annotations

from difflib import get_close_matches

from pydantic import Field

from chathpc.chat.session import Session
from chathpc.chat.tools.amounts import limit
from chathpc.chat.tools.record import Arguments, Column, FactList, Result
from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.prompts.untrusted import quote


class CompareArguments(Arguments):
    """The other profile."""

    other: str = Field(
        default="", max_length=500, description="Name of a profile that was loaded for comparison; empty: the only one."
    )
    metric: str = Field(default="", max_length=200, description="Id of a metric that both have; empty: the time.")
    limit: int = limit()


def compare(session: Session, asked: CompareArguments) -> Result:
    """What changed from another loaded profile (before) to this one (after), beyond noise, and where."""
    found = session.compared(_other(session, asked.other), asked.metric)
    unit = found.unit or "count"
    facts = FactList("chathpc diff: values of both profiles at matching contexts")
    if found.total is not None and found.metric is not None:
        before, after = (numbers.quantity(value, unit) for value in (found.total.before, found.total.after))
        facts.add(
            f"The run had {before} of {found.metric} before.",
            found.total.before,
            unit,
            "the run before",
            metric=found.metric,
        )
        facts.add(
            f"The run has {after} of {found.metric} after.",
            found.total.after,
            unit,
            "the run after",
            metric=found.metric,
        )
        change = f"The run changed by {numbers.quantity(found.total.change, unit)} of {found.metric}."
        facts.add(change, found.total.change, unit, "the run", metric=found.metric)
        if found.total.ratio is not None:
            ratio = f"The run takes {numbers.speedup(found.total.ratio)} the {found.metric} that it took before."
            facts.add(ratio, found.total.ratio, "ratio", "the run", metric=found.metric)
    facts.add(quote(found.headline, longest=600), found.total.change if found.total else float("nan"), unit, "the run")
    rows = []
    for one in found.functions[: asked.limit]:
        name = quote(one.name)
        before, after, change = (numbers.quantity(value, unit) for value in (one.before, one.after, one.change))
        noise = "" if one.beyond_noise else ", within noise"
        statement = f"{name} had {before} itself before and has {after} after, a change of {change}{noise}."
        facts.add(statement, one.change, unit, name, metric=found.metric)
        rows.append((name, one.before, one.after, one.change, "" if one.beyond_noise else "within noise"))
    columns = (Column("function"), Column("before", unit), Column("after", unit), Column("change", unit), Column(""))
    lines = [quote(one.summary, longest=600) for one in found.findings[: asked.limit] if one.status != "same"]
    lines += [quote(note, longest=600) for note in found.notes[: asked.limit]]
    return Result(
        quote(found.headline, longest=600),
        columns if rows else (),
        tuple(rows),
        facts.all(),
        omitted=len(found.functions) - len(rows),
        lines=tuple(lines),
    )


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
