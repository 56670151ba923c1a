"""The calling context tree below a place."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from chathpc.chat.session import PATH_SEPARATOR, Session, Target
from chathpc.chat.tools.record import (
    METRIC,
    NAME,
    SHARE,
    Arguments,
    Column,
    FactList,
    Result,
    facts_on,
    has,
    held,
    limit,
    share_of,
)
from chathpc.diagnosis.fact import Kind, Quantity
from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.metric import Aggregation, Metric
from chathpc.profile.tree import FloatArray, IntArray
from chathpc.prompts.untrusted import quote


class TreeArguments(Arguments):
    """The tree below a place."""

    place: str = Field(default="", max_length=2_000, description=f"{NAME} Empty: the whole tree.")
    metric: str = METRIC
    by: Literal["function", "loop", "line"] = Field(default="function", description="How fine.")
    depth: int = Field(default=6, ge=1, le=64, description="Levels below the place.")
    limit: int = limit(20)


def tree(session: Session, asked: TreeArguments) -> Result:
    """The calling context tree, or the part of it below a place, its largest nodes only."""
    target = session.find(asked.place) if asked.place else None
    metric = session.metric(asked.metric) if target is None else session.metric_at(asked.metric, target)
    if metric.aggregation != Aggregation.SUM:
        raise UsageError(f"The values of '{metric.id}' cannot be summed over a tree.")
    level = session.level(asked.by)
    own, inclusive = level.values(session.measured, metric)
    total = session.total(metric)
    shown = inclusive > 0
    top, note = None, ""
    if target is not None:
        top, note = _largest_context(session, target, level.home, inclusive)
        inside = np.zeros(len(level.tree), dtype=bool)
        inside[top : int(level.tree.end[top])] = True
        shown &= inside
    deepest = asked.depth + (0 if top is None else int(level.tree.depth[top]))
    shown &= level.tree.depth < deepest
    candidates = np.flatnonzero(shown)
    # The largest inclusive values: a node is never larger than the one it hangs below, so what is left is a tree.
    kept = candidates[np.lexsort((candidates, -inclusive[candidates]))][: asked.limit]
    shown[:] = False
    shown[kept] = True
    rows = level.rows(session.measured.tree, own, inclusive, shown, total, top=top)
    facts = facts_on(session, metric, "added up over contexts")
    whole = ""
    if target is not None:
        itself, below = session.value_at(target, metric)
        whole = has(target.title, itself, below, total, metric, first="inclusive")
        facts.amount(target.title, below, parts=held(itself, below, metric, first="inclusive"))
        if asked.depth == 1:  # no more than how much it has
            return Result(f"{whole}{_of_caller(session, asked.place, below, metric, facts)}", facts=facts.all())
    for row in rows:
        parts = held(row.exclusive, row.inclusive, metric, first="inclusive")
        facts.amount(quote(row.label), row.inclusive, parts=parts)
    title = f"Below {quote(asked.place)}" if asked.place else "The whole tree"
    text = f"{whole} {title}: {numbers.count(len(rows))} of {numbers.count(len(candidates))} contexts, by {metric.id}.{note}".lstrip()
    facts.add(Kind.COUNT, title, len(candidates), "contexts", metric=metric.id)
    table = tuple(
        ("  " * min(row.depth, 20) + quote(row.label), quote(row.place), row.inclusive, row.exclusive, row.share)
        for row in rows
    )
    unit = metric.unit.value
    columns = (
        Column("context"),
        Column("place"),
        Column("inclusive", unit),
        Column("itself", unit),
        Column("share", SHARE),
    )
    return Result(text, columns, table, facts.all(), omitted=len(candidates) - len(rows))


def _of_caller(session: Session, place: str, below: float, metric: Metric, facts: FactList) -> str:
    """Of a call path how much of its first function it has; empty for any other place."""
    first, path, _ = place.partition(PATH_SEPARATOR)
    if not path:
        return ""
    caller = session.find(first)
    share = share_of(below, session.value_at(caller, metric)[1])
    facts.add(Kind.SHARE, quote(place), share, "ratio", whole=Quantity(of=f"the {metric.id} of {caller.title}"))
    return f" That is {numbers.percent(share)} of {caller.title}."


def _largest_context(session: Session, target: Target, home: IntArray, inclusive: FloatArray) -> tuple[int, str]:
    nodes = np.unique(home[session.measured.tree.outermost(target.nodes)])
    nodes = nodes[nodes >= 0]
    if not len(nodes):
        raise UsageError(f"{target.title} is in no function of the tree.")
    top = int(nodes[np.argmax(inclusive[nodes])])
    others = len(nodes) - 1
    contexts = "one other context" if others == 1 else f"{numbers.count(others)} other contexts"
    note = f" {target.title} has {contexts} besides this one, its largest." if others else ""
    return top, note
