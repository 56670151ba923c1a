"""The loops that a function is called in."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from chathpc.chat.session import Session
from chathpc.chat.tools.amounts import METRIC, amount, limit, run_total, share_of, source_of, whole
from chathpc.chat.tools.record import SHARE, Arguments, Column, FactList, Result
from chathpc.diagnosis.fact import Kind
from chathpc.profile.tree import NodeKind
from chathpc.prompts.untrusted import quote

_LONGEST = 160


class LoopArguments(Arguments):
    """A function that may be called in a loop."""

    name: str = Field(min_length=1, max_length=2_000, description="A function.")
    metric: str = METRIC
    limit: int = limit()


def loops(session: Session, asked: LoopArguments) -> Result:
    """The loops on the call paths to a function, the closest one of each path, with the time of the function below it."""
    metric = session.metric(asked.metric)
    target = session.find(asked.name)
    tree, total = session.measured.tree, session.total(metric)
    heads = tree.outermost(np.unique(tree.function[target.nodes]).astype(np.int32))
    values = session.inclusive(metric)[heads]
    is_loop = tree.kind == NodeKind.LOOP
    # The closest loop above each call: of the caller, or of who called that.
    closest = tree.nearest(is_loop)[np.maximum(tree.parent[heads], 0)]
    closest = np.where(tree.parent[heads] >= 0, closest, -1)
    added: dict[tuple[str, str], float] = {}
    source: dict[tuple[str, str], str] = {}
    for loop, value in zip(closest.tolist(), values.tolist(), strict=True):
        if loop < 0:
            continue
        key = (quote(tree.place(loop)), quote(tree.function_name(loop)))
        added[key] = added.get(key, 0.0) + value
        if key not in source:
            file, line = tree.file_name(loop), int(tree.line[loop])
            excerpt = session.measured.read_source(file, line, 0) if file and line else None
            source[key] = quote(excerpt.lines[0].strip(), longest=_LONGEST) if excerpt and excerpt.lines else ""
    inside, whole_of_it = sum(added.values()), float(values.sum())
    if not added:
        none = (
            "no loop was seen on the paths to it."
            if is_loop.any()
            else "the profile has no loops, which need hpcstruct."
        )
        return Result(f"No loop around calls of {target.title} was seen: {none}", complete=True)
    facts = FactList(source_of(session, metric, "inclusive values of the function below its closest loop"))
    order = sorted(added.items(), key=lambda item: -item[1])
    for (place, _function), value in order[: asked.limit]:
        facts.add(
            Kind.AMOUNT, f"{target.title} in the loop at {place}", value, metric.unit.value,
            whole=run_total(total, metric), metric=metric.id,
        )  # fmt: skip
    where = order[0][0][0]
    said = f"Yes: {target.title} is called in a loop, " + ("at " if len(order) == 1 else "most of it at ") + f"{where}."
    told = f" It has {amount(order[0][1], total, metric)} of {whole(metric)} there."
    outside = ""
    if inside < whole_of_it * (1 - 1e-9):
        facts.add(
            Kind.AMOUNT, f"{target.title} in no loop", whole_of_it - inside, metric.unit.value,
            whole=run_total(total, metric), metric=metric.id,
        )  # fmt: skip
        outside = f" On call paths without a loop it has {amount(whole_of_it - inside, total, metric)}."
        if session.measured.counts.threads > 1:  # a worker's path begins at the thread, not at who started the region
            outside += " Worker threads' paths do not show the loop in which they were started."
    rows = tuple(
        (place, function, value, share_of(value, total), source[place, function])
        for (place, function), value in order[: asked.limit]
    )
    columns = (
        Column("loop at"), Column("in"), Column("inclusive", metric.unit.value), Column("share", SHARE), Column("source", prose=True),
    )  # fmt: skip
    unknown = " Its calls were not counted." if session.measured.timed is False else ""
    return Result(said + told + outside + unknown, columns, rows, facts.all(), omitted=max(len(order) - asked.limit, 0))
