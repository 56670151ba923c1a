"""Which files take the time: those that the program reads and writes where a log has them, else those of its source."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from chathpc.chat.session import Session, Target
from chathpc.chat.tools.record import (
    SHARE,
    Arguments,
    Cell,
    Column,
    FactList,
    Result,
    facts_on,
    limit,
    share_of,
    source_of,
    whole,
)
from chathpc.diagnosis.fact import Kind, Quantity
from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.metric import Metric
from chathpc.prompts.untrusted import quote

#: What a log has of a file, the metric that counts it, and how a column calls it.
_LOGGED = {
    "time": ("io.time", "time"),
    "read": ("io.read.bytes", "read"),
    "written": ("io.write.bytes", "written"),
    "opens": ("io.meta.count", "opens and stats"),
}
_MOST = {
    "time": "takes longest",
    "size": "has most data read and written",
    "read": "is read most",
    "written": "is written most",
    "opens": "is opened and looked up most",
}


class FileArguments(Arguments):
    """The order of the files."""

    by: Literal["time", "size", "read", "written", "opens"] = Field(
        default="time", description="The files with most time, bytes moved, read or written, or opens."
    )
    limit: int = limit()


def files(session: Session, asked: FileArguments) -> Result:
    """The files with most time, bytes or opens."""
    if "io.files" in session.additive:
        return _logged(session, asked)
    if asked.by != "time":
        raise UsageError(
            "The profile has no log of the files that the program reads and writes.",
            hint="Darshan makes one: LD_PRELOAD=libdarshan.so.",
        )
    return _of_source(session, asked.limit)


def _logged(session: Session, asked: FileArguments) -> Result:
    """Files of a log; one that several layers access counts once, with what each of them has of it."""
    profile, tree = session.measured, session.measured.tree
    label, names = tree.function_labels
    counted = np.unique(label[profile.exclusive("io.files").nodes])
    places = [Target(names[one], session.nodes_named([names[one]])) for one in counted]
    metrics = {by: (session.metric(id), title) for by, (id, title) in _LOGGED.items() if id in session.additive}
    known = {
        by: (metric, title, np.array([session.value_at(place, metric)[1] for place in places]))
        for by, (metric, title) in metrics.items()
    }
    orders = {by: values for by, (_, _, values) in known.items()}
    orders["size"] = np.asarray(sum(orders.get(by, np.zeros(len(counted))) for by in ("read", "written")))
    if asked.by not in orders or not (orders[asked.by] > 0).any():
        return Result(f"Nothing of the kind was counted for any of the {numbers.count(len(counted))} files.")
    order = np.argsort(-orders[asked.by], kind="stable")[: asked.limit].tolist()
    first = quote(names[counted[order[0]]])
    facts, parts = FactList(source_of(session, known["time"][0], "added up by file")), []
    for metric, title, values in known.values():
        total = session.total(metric)
        for at in order:
            facts.add(
                Kind.AMOUNT, f"{metric.id} of {quote(names[counted[at]])}", values[at], metric.unit.value,
                whole=Quantity(total, metric.unit.value, metric.id), metric=metric.id,
            )  # fmt: skip
        if values[order[0]] > 0:
            share = share_of(values[order[0]], total)
            parts.append(
                f"{title} {numbers.quantity(values[order[0]], metric.unit.value)} ({numbers.percent(share)} of all)"
            )
    text = f"Of {numbers.count(len(counted))} files {first} {_MOST[asked.by]}: {', '.join(parts)}."
    text += " The log counts what is moved, not how large files are." if asked.by == "size" else ""
    columns = (Column("file"), *(Column(title, metric.unit.value) for metric, title, _ in known.values()))
    rows: list[tuple[Cell, ...]] = [
        (quote(names[counted[at]]), *(float(values[at]) for _, _, values in known.values())) for at in order
    ]
    return Result(text, columns, tuple(rows), facts.all(), omitted=len(counted) - len(rows))


def _of_source(session: Session, most: int) -> Result:
    metric: Metric = session.metric()
    tree, own = session.measured.tree, session.measured.exclusive(metric.id)
    sums = np.bincount(tree.file[own.nodes] + 1, weights=own.values, minlength=len(tree.files) + 1)[1:]
    known = {number for numbers_of in session.files.values() for number in numbers_of}
    order = [at for at in np.argsort(-sums, kind="stable").tolist() if sums[at] > 0 and at in known]
    if not order:
        raise UsageError("The profile has no source files.", hint=session.asker.see("missing", "what would show them"))
    total = session.total(metric)
    facts = facts_on(session, metric, "added up by source file")
    rows: list[tuple[Cell, ...]] = []
    for at in order[:most]:
        name, value = quote(tree.files[at].rsplit("/", 1)[-1]), float(sums[at])
        facts.amount(name, value)
        rows.append((name, value, share_of(value, total)))
    text = f"The source file with most of {whole(metric)} is {rows[0][0]}. What the program reads and writes is in no log here."
    columns = (Column("file"), Column("itself", metric.unit.value), Column("share", SHARE))
    return Result(text, columns, tuple(rows), facts.all(), omitted=len(order) - len(rows))
