"""Reports, call trees and comparisons as fragments of HTML, for notebooks.

They are put together from parts: whatever is not HTML already is escaped, and cannot become anything else. Only what is written here
stands in a tag: no links, no images, no scripts, no class or address that comes from a profile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from chathpc.comparison import words
from chathpc.comparison.record import ChangeRecord, Diff, RowRecord, ShareRecord
from chathpc.profile import numbers
from chathpc.profile.names import shorten
from chathpc.profile.text import clean
from chathpc.report import FindingRecord, Report, TreeRecord
from chathpc.reports import wording
from chathpc.reports.calltree import largest
from chathpc.reports.diff_terminal import VERDICTS
from chathpc.reports.table import column

_NAME = 120
_PAGE = "max-width:60em"
_DIM = "opacity:0.7"
_BAR = "display:inline-block;height:0.7em;background:"
#: Width of the bar of a node that has all of the time.
_BAR_EM = 8.0
_INDENT_EM = 1.0
_DEEPEST = 30


def report(report: Report) -> Html:
    """A report: verdict, findings, call tree, and, folded, what it rests on and cannot tell."""
    evidence = {one.id: wording.statement(one, wording.several_tools(report)) for one in report.evidence}
    parts = [
        tag("p", " · ".join(wording.run_line(report)), style=_DIM),
        tag("p", tag("b", wording.VERDICTS[report.verdict]), " ", tag("b", report.headline)),
        *_explanation(report),
        *(tag("p", line, style=_DIM) for line in wording.examined(report)),
        *(
            _finding(number, one, report.headline, evidence, mends=wording.mends(report))
            for number, one in enumerate(report.findings, start=1)
        ),
    ]
    parts += _suspected(report)
    uncited = [evidence_item(key, evidence[key]) for key in wording.uncited(report)]
    if uncited:
        parts += [tag("h4", "Measured"), listed(uncited)]
    if report.tree is not None and report.tree.rows:
        shown = largest(report.tree)
        parts += [
            tag("h4", "Where the time is" if shown.unit == "s" else "Where it is"),
            tag("p", f"{wording.coverage(report, len(shown.rows))}.", style=_DIM),
            tree(shown),
        ]
    limits = [*report.profile.caveats, *report.notes]
    if limits:
        parts.append(folded("Bear in mind", listed(limits)))
    missing = [
        joined((what, ": ", tag("code", wording.command_of(how)), " ", wording.purpose_of(how)))
        for what, how in report.profile.not_collected.items()
    ]
    if missing:
        parts.append(folded("Not collected", listed(missing)))
    if report.evidence:
        sources = [evidence_item(one.id, one.source) for one in report.evidence]
        parts.append(folded("Where the evidence comes from", listed(sources)))
    return tag("div", *parts, tag("p", wording.checked(report), style=_DIM), style=_PAGE)


def evidence_item(key: str, statement: str) -> Html:
    """A fact behind its id."""
    return joined((tag("b", key), " ", statement))


def _finding(number: int, finding: FindingRecord, headline: str, evidence: dict[str, str], *, mends: bool) -> Html:
    names = [name for name in (finding.where.kernel or finding.where.function, wording.place(finding.where)) if name]
    rows = [evidence_item(key, evidence[key]) for key in finding.evidence if key in evidence]
    if len(finding.where.path) > 1:
        rows.append(evidence_item("Path", " › ".join(shorten(name, _NAME) for name in finding.where.path)))
    if finding.source:
        rows.append(joined((tag("b", "Code"), " ", tag("code", finding.source))))
    if mends:
        rows.append(evidence_item("Gain", wording.gain(finding)))
        rows += [evidence_item("Do" if at == 0 else "Or", advice) for at, advice in enumerate(finding.advice)]
    rows.append(evidence_item("Confidence", wording.sure(finding)))
    if finding.next_measurement:
        rows.append(evidence_item("Next", finding.next_measurement))
    where = joined((tag("code", shorten(name, _NAME)) for name in names), " at ")
    summary = wording.summary(finding, headline)
    return joined(
        (
            tag("h4", f"{number}. {finding.title}"),
            tag("p", where),
            tag("p", summary) if summary else Html(),
            listed(rows),
        )
    )


def _suspected(report: Report) -> list[Html]:
    """What a model suspects, under its name, and what else it read."""
    parts: list[Html] = []
    if report.suspected:
        parts += [tag("h4", "Suspected"), tag("p", f"{wording.readers(report)}.", style=_DIM)]
    for each in report.suspected:
        names = [name for name in (each.where.kernel or each.where.function, wording.place(each.where)) if name]
        rows = [evidence_item("Confidence", wording.standing(each))]
        rows += [evidence_item("Against", against) for against in each.against]
        if each.measurement:
            rows.append(evidence_item("Trial", each.measurement))
        parts += [
            tag("h4", f"{each.id}. {each.name}"),
            tag("p", joined((tag("code", shorten(name, _NAME)) for name in names), " at ")),
            tag("p", tag("i", wording.mechanism(each))),
            listed(rows),
        ]
        if each.change:
            parts += [tag("p", "Proposed, not tried:"), tag("pre", "\n".join(wording.change_lines(each)))]
    said = [
        joined((each.text, f" [{', '.join(each.cites)}]" if each.cites else "")) for each in wording.statements(report)
    ]
    return [*parts, tag("h4", "Read in the source"), listed(said)] if said else parts


def _explanation(report: Report) -> list[Html]:
    told = wording.told(report)
    said = [joined((wording.words(one), f" [{', '.join(one.cites)}]" if one.cites else "")) for one in told]
    label = wording.author(report)
    parts = []
    if said:
        parts.append(tag("h4", "In short"))
        parts += [tag("p", f"{label[0].upper()}{label[1:]}.", style=_DIM)] if label else []
        parts.append(tag("p", joined(said, " ")))
    if report.explanation.note:
        parts.append(tag("p", report.explanation.note, style=_DIM))
    return parts


def tree(record: TreeRecord) -> Html:
    """A call tree: share with a bar (dark: in the place itself), value, name indented by depth, place."""
    values = column((row.inclusive for row in record.rows), record.total, record.unit)
    rows = [
        (
            joined((numbers.percent_cell(row.share), " ", _bar(row.share, row.exclusive, record.total))),
            value,
            tag("span", shorten(row.label, _NAME), style=f"margin-left:{_INDENT_EM * min(row.depth, _DEEPEST):g}em"),
            shorten(row.place, _NAME),
        )
        for row, value in zip(record.rows, values, strict=True)
    ]
    return table(("share", record.metric, "context", "place"), rows, numbers=frozenset({1}))


def _bar(share: float, exclusive: float, total: float) -> Html:
    whole = _BAR_EM * min(max(share, 0.0), 1.0)
    own = min(whole, _BAR_EM * max(exclusive, 0.0) / total) if total > 0 else 0.0
    return joined(
        (
            tag("span", style=f"{_BAR}#c0392b;width:{own:.2f}em"),
            tag("span", style=f"{_BAR}#95a5a6;width:{whole - own:.2f}em"),
        )
    )


def diff(diff: Diff) -> Html:
    """A comparison: what changed beyond noise, where, and what became of the findings."""
    title, *rest = words.comparison(diff)
    unit = diff.unit or ""
    parts = [
        tag("p", " · ".join((title, *rest)), style=_DIM),
        tag("p", tag("b", VERDICTS[diff.verdict][0]), " ", tag("b", diff.headline)),
    ]
    runs = [
        (name, "" if run.total is None else numbers.quantity(run.total, unit), words.wall(run, diff), *run.paths[:1])
        for name, side in (("before", diff.before), ("after", diff.after))
        for run in side.runs
        if run.paths
    ]
    if runs:
        parts.append(table(("", "total", "wall time", "profile"), runs, numbers=frozenset({1, 2})))
    if diff.gate is not None:
        parts.append(tag("p", tag("b", f"Gate {diff.gate.outcome}."), " ", diff.gate.statement))
    if diff.shares and diff.rest is not None and diff.total is not None:
        rows = [(*_values(one, unit), shorten(words.subject(one), _NAME), _spot(one)) for one in diff.shares]
        rows += [(*_values(diff.rest, unit), "everything else", ""), (*_values(diff.total, unit), "total", "")]
        parts += [tag("h4", "Where it changed"), _changes((*_CHANGE, "what", "where"), rows)]
    if diff.findings:
        found = [joined((tag("b", words.fate(one)), " ", one.title, ". ", words.cost(one))) for one in diff.findings]
        parts += [tag("h4", "Findings"), listed(found)]
    kinds: Sequence[tuple[str, Sequence[RowRecord]]] = (
        ("kind of work", diff.activities), ("function (exclusive)", diff.functions),
    )  # fmt: skip
    for kind, changes in kinds:
        if changed := [(*_values(one, unit), shorten(one.name, _NAME)) for one in changes if one.beyond_noise]:
            parts += [tag("h4", f"By {kind}"), _changes((*_CHANGE, kind.partition(" (")[0]), changed)]
    if diff.notes:
        parts.append(folded("Bear in mind", listed(diff.notes)))
    noise = "" if diff.noise is None else diff.noise.statement
    return tag("div", *parts, tag("p", noise, style=_DIM), style=_PAGE)


def _spot(share: ShareRecord) -> str:
    where = words.spot(share)
    return "" if where is None else wording.place(where)


_CHANGE = ("change", "±", "before", "after")


def _changes(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Html:
    return table(header, rows, numbers=frozenset(range(len(_CHANGE))))


def _values(change: ChangeRecord, unit: str) -> tuple[str, str, str, str]:
    written = (numbers.quantity(value, unit) for value in (change.error, change.before, change.after))
    error, before, after = written
    return words.signed(change.change, unit), error, before, after


_WHITE = re.compile(r"\s")
_MATHEMATICS = re.compile(r"[$\\]")
#: Notebooks have a style for tables, other pages that show these parts have none.
_CELL = "white-space:pre-wrap;vertical-align:top;padding:0.1em 0.6em"


class Html(str):
    """Text that is HTML and safe."""

    __slots__ = ()


def text(content: str) -> Html:
    """`content` as HTML that shows it on one line; blanks are kept, for elements that show them.

    Each dollar sign and backslash is an element of its own: notebooks set what stands between two of them as mathematics, in which
    there are links (MathJax looks for its marks within one element).
    """
    safe = escape(clean(_WHITE.sub(" ", content)))
    return Html(_MATHEMATICS.sub(r"<span>\g<0></span>", safe))


def tag(name: str, *children: str, style: str = "") -> Html:
    """An element with its children, those that are no HTML as text. `style` is CSS of ours."""
    inner = "".join(child if isinstance(child, Html) else text(child) for child in children)
    attribute = f' style="{style}"' if style else ""
    return Html(f"<{name}{attribute}>{inner}</{name}>")


def joined(parts: Iterable[str], separator: str = "") -> Html:
    """Parts one after the other."""
    between = separator if isinstance(separator, Html) else text(separator)
    return Html(between.join(part if isinstance(part, Html) else text(part) for part in parts))


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: frozenset[int] = frozenset()) -> Html:
    """A table; the columns `numbers` are aligned to the right."""

    def row(cells: Sequence[str], kind: str) -> Html:
        return tag(
            "tr",
            *(
                tag(kind, cell, style=f"text-align:{'right' if at in numbers else 'left'};{_CELL}")
                for at, cell in enumerate(cells)
            ),
        )

    return tag("table", tag("thead", row(header, "th")), tag("tbody", *(row(cells, "td") for cells in rows)))


def listed(items: Iterable[str]) -> Html:
    """A list; nothing for no items."""
    parts = [tag("li", item) for item in items]
    return tag("ul", *parts) if parts else Html()


def folded(title: str, *content: str) -> Html:
    """Content that a reader opens by a click on its title."""
    return tag("details", tag("summary", title), *content)
