"""Why a place is slow: its time, what was found there, who calls it, and the lines or calls that the time is in."""

from __future__ import annotations

from dataclasses import replace

from chathpc.chat.index import short_name
from chathpc.chat.session import Session
from chathpc.chat.tools.calls import ENTRY, CallArguments, callees, callers
from chathpc.chat.tools.lines import SourceArguments, source
from chathpc.chat.tools.record import PLACE, Arguments, Result, facts_on, has, of_what, prose
from chathpc.chat.tools.summary import of_findings
from chathpc.prompts.untrusted import quote

#: Callers and findings that are told.
_TOLD = 3


class WhyArguments(Arguments):
    """A place."""

    place: str = PLACE


def why(session: Session, asked: WhyArguments) -> Result:
    """The time of a place, the findings there, its callers, and its lines or what it calls, wherever most of its time is."""
    target = session.find(asked.place)
    metric = session.metric_at("", target)
    own, below = session.value_at(target, metric)
    inside = session.measured.tree.inside(target.nodes)
    found = [
        (number, one)
        for number, one in enumerate(session.diagnosis.findings, 1)
        if (name := one.where.kernel or one.where.function)
        and inside[session.nodes_named(session.index.find(name))].any()
    ][:_TOLD]
    detail = (
        source(session, SourceArguments(place=asked.place))
        if 2 * own >= below
        else callees(session, CallArguments(name=asked.place))
    )
    facts = facts_on(session, metric, "added up over contexts")
    facts.amount(target.title, own)
    facts.amount(f"{target.title} with all that it calls", below)
    time = has(target.title, own, below, session.total(metric), metric)
    text = [f"Finding {number} ({quote(one.title)}): {prose(one.summary)}" for number, one in found]
    text += [time, detail.text.removeprefix(f"{time} ")]  # where there are no lines it begins with the time, too
    text += _called(session, asked.place)
    text += [] if found else [_none_in(session, target.title, asked.place)]
    return replace(
        detail,
        text=" ".join(text) + of_what(session),
        facts=(*facts.all(), *of_findings(session, [one for _, one in found]), *detail.facts),
    )


def _called(session: Session, place: str) -> list[str]:
    """Who calls a place, those that it has most time below first."""
    names = [short_name(name) for name in _callers(session, place)]
    return [f"Called by {', '.join(names)}."] if names else []


def _callers(session: Session, place: str) -> list[str]:
    rows = callers(session, CallArguments(name=place, limit=_TOLD)).rows
    return [str(row[0]) for row in rows if row[0] != ENTRY]


def _none_in(session: Session, title: str, place: str) -> str:
    """That no finding is in a place, and which are in its callers."""
    above = _callers(session, place)
    of_callers = [
        f"finding {number} in {short_name(one.where.function)} ({quote(one.title)})"
        for number, one in enumerate(session.diagnosis.findings, 1)
        if one.where.function in above
    ]
    calling = f"; of what calls it: {', '.join(of_callers[:_TOLD])}" if of_callers else ""
    return f"No finding is in {short_name(title)}{calling}."
