"""Who calls a function, whom it calls, and in which loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from chathpc.chat.session import Session, Target
from chathpc.chat.tools.record import METRIC, SHARE, Arguments, Column, Result, amount, facts_on, limit, share_of, whole
from chathpc.diagnosis.fact import Kind
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.timeline_words import counted
from chathpc.profile.metric import Metric
from chathpc.profile.tree import IntArray, NodeKind, outermost_spans
from chathpc.prompts.untrusted import quote

ENTRY = "(entry point)"


class CallArguments(Arguments):
    """Who calls a function, whom it calls, or in which loops."""

    name: str = Field(min_length=1, max_length=2_000, description="A function.")
    metric: str = METRIC
    limit: int = limit()


def callers(session: Session, asked: CallArguments) -> Result:
    """The functions that call a function, with its inclusive value where each of them calls it."""
    target = session.find(asked.name)
    metric = session.metric_at(asked.metric, target)
    tree = session.measured.tree
    labels, texts = tree.function_labels
    heads = np.unique(tree.function[target.nodes]).astype(np.int32)
    callers_label = np.where(tree.parent[heads] >= 0, labels[np.maximum(tree.parent[heads], 0)], -1)
    # What a stub calls in its place was called where the stub was.
    heads = heads[(callers_label == labels[heads]) | ~np.isin(callers_label, labels[heads])]
    above = tree.parent[heads]
    group = np.where(above >= 0, labels[np.maximum(above, 0)], len(texts)).astype(np.int32)
    outer = outermost_spans(heads, tree.end[heads], group)
    names = [texts[number] if number < len(texts) else ENTRY for number in group[outer].tolist()]
    return _calls(session, metric, target, names, heads[outer], asked.limit, called=False)


def callees(session: Session, asked: CallArguments) -> Result:
    """The functions that a function calls, with the inclusive value of each where it calls it."""
    target = session.find(asked.name)
    metric = session.metric_at(asked.metric, target)
    tree = session.measured.tree
    labels, texts = tree.function_labels
    member = np.zeros(len(tree) + 1, dtype=bool)
    member[np.unique(tree.function[target.nodes])] = True
    called = session.is_head & (tree.parent >= 0)
    called[called] = member[tree.function[tree.parent[called]]]
    heads = np.flatnonzero(called).astype(np.int32)
    group = labels[heads]
    outer = outermost_spans(heads, tree.end[heads], group)
    return _calls(
        session,
        metric,
        target,
        [texts[number] for number in group[outer].tolist()],
        heads[outer],
        asked.limit,
        called=True,
    )


def _calls(
    session: Session, metric: Metric, target: Target, names: Sequence[str], nodes: IntArray, most: int, *, called: bool
) -> Result:
    """The table of `names`, one for each of `nodes`, with the inclusive values of these added up by name."""
    total = session.total(metric)
    values = session.inclusive(metric)[nodes]
    added: dict[str, tuple[float, int]] = {}
    for name, value in zip(names, values.tolist(), strict=True):
        before, contexts = added.get(name, (0.0, 0))
        added[name] = (before + value, contexts + 1)
    order = sorted(added.items(), key=lambda item: (-item[1][0], item[0]))
    facts = facts_on(session, metric, "inclusive values of the called function, added up by caller")
    rows = []
    for name, (value, contexts) in order[:most]:
        label = quote(name)
        subject = f"{label} called from {target.title}" if called else f"{target.title} called from {label}"
        subject = target.title if name == ENTRY and not called else subject
        facts.amount(subject, value, where=Place(function=target.title))
        rows.append((label, value, share_of(value, total), contexts))
    if not rows:
        text = f"No call from {target.title} was seen." if called else f"No caller of {target.title} was seen."
        return Result(text)
    relation = f"{target.title} {'calls' if called else 'is called by'} {counted(len(order), 'function')}"
    which = "each as called from there" if called else f"{target.title} below each caller"
    text = f"{relation}. {metric.id} is that of {which}."
    facts.add(Kind.COUNT, target.title, len(order), "called functions" if called else "callers")
    unit = metric.unit.value
    columns = (
        Column("calls" if called else "called by"),
        Column("inclusive", unit),
        Column("share", SHARE),
        Column("contexts", "count"),
    )
    return Result(text, columns, tuple(rows), facts.all(), omitted=len(order) - len(rows))


_LONGEST = 160


def loops(session: Session, asked: CallArguments) -> Result:
    """The loops on the call paths to a function, the closest one of each path, with the time of the function below it."""
    target = session.find(asked.name)
    metric = session.metric_at(asked.metric, target)
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
        by_structure = ", which need hpcstruct" if session.measured.format.startswith("HPCToolkit") else ""
        none = "no loop was seen on the paths to it." if is_loop.any() else f"the profile has no loops{by_structure}."
        return Result(f"No loop around calls of {target.title} was seen: {none}", complete=True)
    facts = facts_on(session, metric, "inclusive values of the function below its closest loop")
    order = sorted(added.items(), key=lambda item: -item[1])
    for (place, _function), value in order[: asked.limit]:
        facts.amount(f"{target.title} in the loop at {place}", value)
    where = order[0][0][0]
    said = f"{target.title} is called in a loop, " + ("at " if len(order) == 1 else "most of it at ") + f"{where}."
    told = f" It has {amount(order[0][1], total, metric)} of {whole(metric)} there."
    outside = ""
    if inside < whole_of_it * (1 - 1e-9):
        facts.amount(f"{target.title} in no loop", whole_of_it - inside)
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
