"""What an answer leaves for the next question: what `it` means then, and what may be asked of a profile at all."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.chat.index import short_name
from chathpc.chat.intents import Last
from chathpc.chat.record import StepRecord
from chathpc.chat.session import Session, split_place
from chathpc.chat.tools.summary import ABSENT
from chathpc.errors import UsageError

#: Arguments that say what a question was about, and how a question names that.
_SUBJECTS = {
    "place": "`{}`",
    "name": "`{}`",
    "who": "{}",
    "number": "finding {}",
    "id": "{}",
    "words": "{}",
    "file": "{}",
}
#: Tools whose rows are about something of their own, and how a question names that: `#` of a finding.
_ROWS = {
    "findings": "finding {}", "evidence": "{}", "top": "`{}`", "tree": "`{}`", "callers": "`{}`", "callees": "`{}`", "source": "`{}`",
    "locations": "{}", "loops": "`{}`", "activities": "`{}`", "catalogue": "{}",
}  # fmt: skip


#: Longer names (in characters) are none to type.
_LONGEST = 80


def last_of(step: StepRecord, session: Session) -> Last:
    """An answer as the next question sees it: `it` is what was asked about, else what stands in the first row."""
    rows = [_ROWS[step.tool].format(str(row[0]).strip()) for row in step.rows if step.tool in _ROWS]
    if step.tool == "top" and step.arguments.get("by") in ("line", "loop"):
        rows = [f"`{row[1] or row[0]}`" for row in step.rows]  # the name of these is their function's
    absent = step.text.startswith(ABSENT)  # a problem that there is not is nothing to fix
    named = [
        form.format(step.arguments[name]) for name, form in _SUBJECTS.items() if step.arguments.get(name) and not absent
    ]
    subject = " on ".join(named[:2]) if {"place", "who"} <= set(step.arguments) else next(iter([*named, *rows]), "")
    known = bool(named) or step.tool == "locations"
    return Last(step.tool, step.arguments, subject, rows, named=known, inside=_inside(session, subject.strip("`")))


def _inside(session: Session, place: str) -> str:
    """The function with most time at a line; empty for what is no line."""
    file, line = split_place(place)
    if not line or not session.has_line(file, line):
        return ""
    try:
        nodes, values = session.find(place).nodes, session.inclusive(session.metric())
    except UsageError:
        return ""
    return f"`{session.measured.tree.function_name(int(nodes[values[nodes].argmax()]))}`"


def askable(session: Session) -> Sequence[str]:
    """Three questions that this profile answers."""
    found = [one.where.function for one in session.diagnosis.findings if one.where.function in session.index.names]
    named = next(iter([*filter(None, found), *session.index.names]), "")  # rather than what the system does
    hot = short_name(named) if named in session.index.find(short_name(named)) else named
    hot = hot if len(hot) <= _LONGEST else ""
    several = session.measured.counts
    kind = "rank" if several.ranks > 1 else "thread" if several.threads > 1 else ""
    asked = [
        "why is it slow?",
        f"who calls {hot}?" if hot else "",
        f"which {kind} is the slowest?" if kind else "",
        "what was not measured?",
    ]
    return [one for one in asked if one][:3]
