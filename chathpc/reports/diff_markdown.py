"""A comparison as Markdown, for a pull request: safe to show whatever names a profile holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chathpc.comparison import words
from chathpc.comparison.record import ChangeRecord, Diff, FindingChange, RowRecord, ShareRecord, SideRecord
from chathpc.profile import numbers
from chathpc.profile.names import shorten
from chathpc.reports.diff_terminal import VERDICTS
from chathpc.reports.markdown import code, listed, prose
from chathpc.reports.style import Style
from chathpc.reports.wording import place

_NAME_WIDTH = 80
_ROWS = 20


def render(diff: Diff, style: Style) -> str:
    """The whole comparison; tables are those of GitHub's dialect."""
    unit = diff.unit or ""
    title, *rest = words.comparison(diff)
    blocks = [
        f"# {prose(title)}",
        " · ".join(prose(word) for word in rest),
        f"**{VERDICTS[diff.verdict][0].capitalize()}.** {prose(diff.headline)}",
        "" if diff.gate is None else f"**Gate {diff.gate.outcome}.** {prose(diff.gate.statement)}",
        _table(
            ("", "total", "wall time", "samples", "ran with", "profile"),
            [*_side("before", diff.before, diff), *_side("after", diff.after, diff)],
        ),
    ]
    if diff.shares and diff.rest is not None and diff.total is not None:
        rows = [(*_values(share, unit), _subject(share), _where(share)) for share in diff.shares]
        rest_name = "everything else" + ("" if diff.rest.beyond_noise else ", no change beyond noise")
        rows += [(*_values(diff.rest, unit), rest_name, ""), (*_values(diff.total, unit), "**total**", "")]
        blocks += [
            "## Where it changed",
            "Each part is counted once: the lines add up to the total.",
            _table(("change", "±", "before", "after", "what", "where"), rows),
        ]
    if diff.findings:
        blocks += ["## Findings", listed(_finding(finding) for finding in diff.findings)]
    for heading, changes, its_unit in (
        ("By kind of work", diff.activities, unit),
        ("By function (exclusive)", diff.functions, unit),
        ("By GPU kernel", diff.kernels, "s"),
    ):
        blocks += _changes(heading, changes, its_unit)
    measured = [
        (
            code(each.id),
            numbers.quantity(each.before, each.unit),
            numbers.quantity(each.after, each.unit),
            words.ratio(each),
        )
        for each in diff.measurements
        if each.before != each.after
    ]
    if measured:
        blocks += [
            "## Also measured",
            "Their noise is unknown.",
            _table(("metric", "before", "after", "relative"), measured),
        ]
    if diff.notes:
        blocks += ["## Bear in mind", listed(prose(note) for note in diff.notes)]
    if diff.noise is not None:
        blocks.append(f"---\n\n{prose(diff.noise.statement)}")
    return style.fit("\n\n".join(block for block in blocks if block) + "\n")


def _side(name: str, side: SideRecord, diff: Diff) -> list[tuple[str, ...]]:
    return [
        (
            name if number == 0 else "",
            "" if run.total is None else numbers.quantity(run.total, diff.unit or ""),
            words.wall(run, diff),
            "" if run.samples is None else numbers.count(round(run.samples)),
            words.shape(side),
            code(run.paths[0]) if run.paths else "",
        )
        for number, run in enumerate(side.runs)
    ]


def _values(change: ChangeRecord, unit: str) -> tuple[str, str, str, str]:
    return (
        words.signed(change.change, unit),
        numbers.quantity(change.error, unit),
        numbers.quantity(change.before, unit),
        numbers.quantity(change.after, unit),
    )


def _subject(share: ShareRecord) -> str:
    name = code(shorten(share.function, _NAME_WIDTH))
    name = name if share.call is None else f"{code(shorten(share.call, _NAME_WIDTH))} in {name}"
    aside = words.aside(share)
    return f"{name}, {code(aside)}" if aside else name


def _where(share: ShareRecord) -> str:
    where = words.spot(share)
    return code(place(where)) if where is not None and place(where) else ""


def _finding(finding: FindingChange) -> str:
    where = words.found_at(finding)
    name = "" if where is None else where.kernel or where.function or ""
    spot = f" in {code(shorten(name, _NAME_WIDTH))}" if name else ""
    return f"**{words.fate(finding)}** {prose(finding.title)}{spot}. {prose(words.cost(finding))}"


def _changes(heading: str, rows: Sequence[RowRecord], unit: str) -> list[str]:
    changed = [row for row in rows if row.beyond_noise][:_ROWS]
    if not changed:
        return []
    cells = [(code(shorten(row.name, _NAME_WIDTH)), *_values(row, unit), words.part(row)) for row in changed]
    return [f"## {heading}", _table(("name", "change", "±", "before", "after", "relative"), cells)]


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    # A bar would end a cell, also inside of code.
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
