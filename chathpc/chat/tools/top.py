"""The largest functions, lines, loops, load modules or kernels."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import numpy as np
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from chathpc.chat.index import of_profiler, short_name
from chathpc.chat.session import Session
from chathpc.chat.tools.measured import MeasuredArguments, measured
from chathpc.chat.tools.record import (
    METRIC,
    SHARE,
    Arguments,
    Cell,
    Column,
    Result,
    amount,
    facts_on,
    held,
    limit,
    of_what,
    share_of,
)
from chathpc.diagnosis.fact import Form, Kind
from chathpc.diagnosis.records import Place
from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.kernel_names import lambda_title
from chathpc.profile.metric import Aggregation, Metric
from chathpc.prompts.untrusted import quote


class TopArguments(Arguments):
    """The largest functions, lines, loops, modules or kernels."""

    by: Literal["function", "line", "loop", "module", "kernel"] = Field(
        default="function", description="Rows of the table."
    )
    metric: str = METRIC
    order: Literal["itself", "inclusive"] = Field(
        default="itself", description="By the value of the row itself, or with all it calls."
    )
    file: str = Field(default="", max_length=500, description="Only rows of this source file; empty: all.")
    # Models read it in the table of all.
    least: SkipJsonSchema[bool] = Field(default=False, description="Those with least first.")
    limit: int = limit()


def top(session: Session, asked: TopArguments) -> Result:
    """The rows with the largest values of a metric."""
    name = asked.metric or ("gpu.kernel.time" if asked.by == "kernel" and "gpu.kernel.time" in session.additive else "")
    if asked.by == "kernel" and session.any_metric(name).aggregation == Aggregation.DERIVED:  # a value of each
        return measured(session, MeasuredArguments(metric=name, most=not asked.least, least=asked.least))
    metric = session.metric(name)
    table = session.rows(asked.by, metric)
    total = session.total(metric)
    if asked.by in ("function", "line") and not asked.file and _in_stubs(session, metric):
        return _of_program(session, asked, metric)
    order = np.arange(len(table)) if asked.order == "itself" else np.argsort(-table.inclusive, kind="stable")
    tree = session.measured.tree
    if asked.file:
        numbers_of_file = session.files.get(asked.file.rsplit("/", 1)[-1].casefold())
        if not numbers_of_file:
            raise session.no_place(asked.file)
        order = order[np.isin(tree.file[table.node[order]], numbers_of_file)]
    if asked.by == "line" and not (tree.line[table.node[order]] > 0).any():
        order = order[:0]  # functions without lines are none
    order = order[::-1] if asked.least else order
    if not len(order):
        raise UsageError(
            f"The profile has no {asked.by} with {metric.id}.", hint=session.asker.see("metrics", "what it has")
        )
    facts = facts_on(session, metric, f"added up by {asked.by}")
    launches = _launches(session, metric) if asked.by == "kernel" else {}
    titles = Counter(quote(lambda_title(table.name[row])) for row in order[: asked.limit].tolist()) if launches else {}
    rows: list[tuple[Cell, ...]] = []
    for row in order[: asked.limit].tolist():
        node, own, inclusive = int(table.node[row]), float(table.exclusive[row]), float(table.inclusive[row])
        label, place = quote(table.name[row]), "" if asked.by == "module" else quote(tree.place(node))
        subject = f"{label} at {place}" if asked.by in ("line", "loop") and place else label
        where = Place(function=label, file=place.rsplit(":", 1)[0] or None, line=int(tree.line[node]) or None)
        value = inclusive if asked.order == "inclusive" else own
        facts.amount(subject, value, parts=held(own, inclusive, metric, first=asked.order), where=where)
        if launches:  # a kernel calls nothing that has launches of its own
            title, count = quote(lambda_title(table.name[row])), launches.get(table.name[row], 0.0)
            # A name that is cut can neither be told from others nor asked about.
            title = title if title and titles[title] == 1 and label.endswith("…") else label
            rows.append((title, place, own, share_of(own, total), count, own / count if count else None))
        else:
            rows.append((label, place, own, share_of(own, total), inclusive, share_of(inclusive, total)))
    unit = metric.unit.value
    kind = "load modules" if asked.by == "module" else f"{asked.by}s"
    most = "themselves" if asked.order == "itself" else "with all they call"
    text = f"The {kind} with {'least' if asked.least else 'most'} {metric.id} {most}: {len(rows)} of {numbers.count(len(order))}."
    if asked.by == "kernel":
        text += f" All kernels have {numbers.quantity(float(table.exclusive[order].sum()), unit)}."
        facts.value("the sum of all kernels", float(table.exclusive[order].sum()), form=Form.ONE)
    text += of_what(session)
    facts.add(Kind.COUNT, "the run", len(order), kind, form=Form.ONE, metric=metric.id)
    if asked.by == "line" and not asked.file and metric.id == session.facts.metric:
        text += _own(session, int(table.node[order[0]]), metric)
    others = (Column("inclusive", unit), Column("incl.share", SHARE))
    if launches:
        others = (Column("launches", "count"), Column("on average", unit))
    columns = (Column(asked.by), Column("place"), Column("itself", unit), Column("share", SHARE), *others)
    return Result(text, columns, tuple(rows), facts.all(), omitted=len(order) - len(rows))


def _in_stubs(session: Session, metric: Metric) -> bool:
    """Whether all of a metric stands in functions of the profiler, which count what the program calls them for."""
    table = session.rows("function", metric)
    holders = [name for name, own in zip(table.name, table.exclusive.tolist(), strict=True) if own > 0]
    return bool(holders) and all(map(of_profiler, holders))


def _of_program(session: Session, asked: TopArguments, metric: Metric) -> Result:
    """The program's functions or lines with most of a metric, with what libraries do for them."""
    tree, told = session.measured.tree, session.facts
    weight = session.measured.dense(metric.id)
    if asked.by == "line":
        nodes, sums = told.by_line(weight)
        names = [(tree.function_name(node), tree.place(node)) for node in nodes[: asked.limit].tolist()]
    else:
        labels, sums = told.by_function(weight)
        names = [(told.label_names[label], "") for label in labels[: asked.limit].tolist()]
    facts = facts_on(session, metric, f"added up by {asked.by} of the program, with what libraries do for it")
    total = session.total(metric)
    rows = [
        (quote(name), quote(place), value, share_of(value, total))
        for (name, place), value in zip(names, sums.tolist(), strict=False)
    ]
    for name, place, value, _ in rows:
        facts.amount(f"{name} at {place}" if place else name, value, where=Place(function=name))
    text = f"The {asked.by}s of the program with most {metric.id}, with what libraries do for them: {len(rows)} of {len(sums)}."
    columns = (Column(asked.by), Column("place"), Column("value", metric.unit.value), Column("share", SHARE))
    return Result(text, columns, tuple(rows), facts.all(), omitted=len(sums) - len(rows))


def _launches(session: Session, metric: Metric) -> dict[str, float]:
    """How often each kernel was launched, where their time is told; empty where that was not counted."""
    if metric.id != "gpu.kernel.time" or "gpu.kernel.count" not in session.additive:
        return {}
    counted = session.rows("kernel", session.metric("gpu.kernel.count"))
    return dict(zip(counted.name, counted.exclusive.tolist(), strict=True))


def _own(session: Session, hottest: int, metric: Metric) -> str:
    """The line of the program's own source with most time where libraries take it, so that no other line shows it."""
    lines, sums = session.own_lines
    tree = session.measured.tree
    if not len(lines) or tree.place(int(lines[0])) == tree.place(hottest):
        return ""
    at = f"{quote(tree.place(int(lines[0])))} in {quote(short_name(tree.function_name(int(lines[0]))))}"
    took = amount(float(sums[0]), session.total(metric), metric)
    return f" Of the program's own source {at} has most, with what libraries do for it: {took}."
