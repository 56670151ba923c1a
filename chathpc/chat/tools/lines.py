"""Source lines of a place, each with its time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from pydantic import Field

from chathpc.chat.session import Session, Target, split_place
from chathpc.chat.tools.record import METRIC, PLACE, SHARE, Arguments, Column, Result, facts_on, has, held, share_of
from chathpc.diagnosis.fact import Kind
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.timeline_words import counted
from chathpc.profile import numbers
from chathpc.profile.metric import Metric
from chathpc.profile.tree import NodeKind
from chathpc.prompts.untrusted import quote

#: Lines shown around the hottest one, at most, and characters of a line.
_MOST_CONTEXT = 40
_LONGEST_LINE = 160
#: Hot lines of a place that are listed where they are not in the excerpt.
_HOT = 10


class SourceArguments(Arguments):
    """Source at a place."""

    place: str = PLACE
    metric: str = METRIC
    context: int = Field(default=6, ge=0, le=_MOST_CONTEXT, description="Lines on either side of the hottest one.")


def source(session: Session, asked: SourceArguments) -> Result:
    """The lines of a function or file that cost most, and the source text around the hottest, as far as the profile has it."""
    file_name, wanted = split_place(asked.place)
    measured = session.has_line(file_name, wanted)
    # A line that was not measured is shown all the same, with the times of those that were.
    target = session.find(asked.place if measured else file_name)
    metric = session.metric_at(asked.metric, target)
    tree = session.measured.tree
    total = session.total(metric)
    own = session.measured.exclusive(metric.id)
    member = np.zeros(len(tree), dtype=bool)
    member[target.nodes] = True
    of_function = bool(session.is_head[target.nodes].all()) and not split_place(asked.place)[1]
    chosen = member[tree.function[own.nodes]] if of_function else member[own.nodes]
    nodes, values = own.nodes[chosen], own.values[chosen]
    placed = (tree.file[nodes] >= 0) & (tree.line[nodes] > 0)
    nodes, values = nodes[placed], values[placed]
    if not len(nodes):
        at = int(target.nodes[0])
        if tree.file_name(at) is None or int(tree.line[at]) == 0:
            return _without_lines(session, target, metric)
        nodes, values = np.array([at], dtype=np.int32), np.zeros(1)
    width = int(tree.line.max()) + 1
    keys, row = np.unique(tree.file[nodes].astype(np.int64) * width + tree.line[nodes], return_inverse=True)
    added = np.bincount(row, weights=values, minlength=len(keys))
    order = np.argsort(-added, kind="stable")
    hot = {(int(keys[at]) // width, int(keys[at]) % width): float(added[at]) for at in order.tolist()}
    facts = facts_on(session, metric, "exclusive values added up by source line")
    rows = []
    for (file, line), value in list(hot.items())[:_HOT]:
        place = quote(f"{tree.files[file].rsplit('/', 1)[-1]}:{line}")
        facts.amount(place, value, where=Place(function=target.title, file=quote(tree.files[file]), line=line))
        rows.append((place, value, share_of(value, total)))
    (file, line), _ = next(iter(hot.items()))
    excerpt = session.measured.read_source(tree.files[file], line if measured else wanted, asked.context)
    shown = {} if excerpt is None else dict(enumerate(excerpt.lines, excerpt.first))
    around = _of_lines(session, metric, file_name, shown) if wanted else {one: (hot.get((file, one)),) for one in shown}
    lines = [_numbered(one, line_text, around[one], total) for one, line_text in shown.items()]
    if wanted and measured:  # what it calls is what a reader sees on the line
        itself, below = session.value_at(target, metric)
        text = has(target.title, itself, below, total, metric)
        if (tree.kind[target.nodes] == NodeKind.LOOP).any():
            text = text.replace("with all it calls", "with the loop that begins there")
        facts.amount(target.title, itself, parts=held(itself, below, metric))
    else:
        text = f"{counted(len(hot), 'line')} of {target.title} {'has' if len(hot) == 1 else 'have'} {metric.id}."
        facts.add(Kind.COUNT, target.title, len(hot), "lines", metric=metric.id)
    if not measured:
        text += f" At line {wanted} nothing was measured."
    if wanted and lines:
        lines.insert(0, f"{'itself':>8}{'in all':>8} {'line':>6}")
    if not lines:
        text += " The profile has no source text."
    columns = (Column("line"), Column("itself", metric.unit.value), Column("share", SHARE))
    if wanted and measured:  # the text has it already
        return Result(text, facts=facts.all(), lines=tuple(lines))
    return Result(text, columns, tuple(rows), facts.all(), omitted=max(0, len(hot) - len(rows)), lines=tuple(lines))


def _without_lines(session: Session, target: Target, metric: Metric) -> Result:
    """The time of a place without source lines."""
    own, below = session.value_at(target, metric)
    facts = facts_on(session, metric, "added up over contexts")
    facts.amount(target.title, own, parts=held(own, below, metric))
    time = has(target.title, own, below, session.total(metric), metric)
    lacking = "The profile has no source lines for it."
    if session.measured.timed is False:  # a sampler finds them in debug information
        lacking += " Compile with -g to have them."
    return Result(f"{time} {lacking}", facts=facts.all())


def _of_lines(
    session: Session, metric: Metric, file: str, numbers_of: Iterable[int]
) -> dict[int, tuple[float | None, ...]]:
    """Values of lines themselves, and with what they call or the loop that begins there; None where nothing was measured."""
    here = session.find(file).nodes
    lines = session.measured.tree.line[here]
    nodes = {number: here[lines == number] for number in numbers_of}
    return {
        number: session.value_at(Target(file, found), metric) if len(found) else (None, None)
        for number, found in nodes.items()
    }


def _numbered(number: int, text: str, values: Sequence[float | None], total: float) -> str:
    """A line with its number, its shares where it has any, and its indentation."""
    shares = ("" if not value or total <= 0 else numbers.percent_cell(value / total) for value in values)
    text = text.expandtabs(4)
    indent = " " * min(len(text) - len(text.lstrip(" ")), 40)
    return f"{''.join(f'{share:>8}' for share in shares)} {number:6d}  {indent}{quote(text, longest=_LONGEST_LINE)}".rstrip()
