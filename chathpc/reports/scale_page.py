"""A series as a page: verdict, efficiencies, curves with their bands, the loss in the call tree; one file of HTML without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from math import ceil, floor, log10

from chathpc.profile import numbers
from chathpc.profile.names import shorten
from chathpc.profile.text import clean
from chathpc.reports import scaled
from chathpc.reports.blocks import plain
from chathpc.reports.fragments import document
from chathpc.reports.style import Style
from chathpc.scale.record import LawRecord, NodeRecord, Scaling
from chathpc.scale.words import at_value, value

_STYLE = """
:root{color-scheme:light dark;--ink:#1b1b22;--dim:#5c5c68;--line:#dcdce2;--paper:#fff;--law:#0072b2;--bad:#b3261e;--good:#00694a}
@media(prefers-color-scheme:dark){:root{--ink:#ececf1;--dim:#a8a8b4;--line:#3a3a44;--paper:#17171c;--law:#56b4e9;--bad:#ff8a80;--good:#5fd3a6}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:2rem auto;max-width:62rem;padding:0 1rem}
h1{font-size:1.4rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}p{margin:.4rem 0}.dim{color:var(--dim)}
.verdict{font-weight:600;font-size:1.1rem;margin:1rem 0}.loses,.grows{color:var(--bad)}.scales{color:var(--good)}
.wide{overflow-x:auto}.wide svg{max-width:none}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid var(--line);font-weight:400;white-space:nowrap}
th:first-child{text-align:left}thead th{color:var(--dim)}tbody th[data-depth="1"]{padding-left:1.7rem}tbody th[data-depth="2"]{padding-left:2.7rem}
tbody th[data-depth="3"]{padding-left:3.7rem}td.e{color:#1b1b22}
svg{max-width:100%;height:auto;display:block}svg text{fill:var(--ink);font-size:12px}svg .d{fill:var(--dim)}
.g{stroke:var(--line)}.l{stroke:var(--law);fill:none;stroke-width:2}.b{fill:var(--law);opacity:.18}.i{stroke:var(--dim);fill:none;stroke-dasharray:4 4}
@media(max-width:700px){svg[width="760"] text{font-size:19px}}
.p{fill:var(--law);stroke:var(--paper)}article{border-left:3px solid var(--line);padding-left:1rem;margin:1rem 0}code{overflow-wrap:anywhere}
"""
#: Pixels of a curve, large and small, and of its margins: left, right, top, bottom.
_LARGE, _SMALL = (760, 320), (420, 200)
_MARGINS = (84, 42, 14, 34)
#: Pixels of the call tree's width and of a row.
_TREE, _ROW = 920, 22
#: Nodes narrower than this (pixels) have no name; a character takes about so many.
_NAMED, _CHARACTER = 30, 7.0
#: Before a place in the table, for each place above it: an en space.
_INDENT = "\u2002"


def render(record: Scaling, style: Style) -> str:
    """The page, in light and dark; `style` is of no use to it."""
    word, _ = scaled.VERDICTS[record.verdict]
    title = f"{record.title}: {record.parameter} {value(record.points[0].value)} to {value(record.points[-1].value)}"
    parts = [
        f"<h1>{_safe(title)}</h1>",
        f'<p class="dim">{_safe(" · ".join(scaled.head(record)))}</p>',
        f'<p class="verdict"><span class="{record.verdict}">{word.capitalize()}.</span> {_safe(record.headline)}</p>',
        f"<h2>{scaled.table_title(record)}</h2>",
        _matrix(record),
        f"<h2>Time along {_safe(record.parameter)}</h2>",
        _curve(record, [point.elapsed for point in record.points], record.law, _LARGE, spread=True),
        *_findings(record),
        *_tree(record),
        *(f"<p>{_safe(each)}</p>" for each in scaled.workers(record)),
        "<h2>At larger scales</h2>",
        '<p class="dim">From laws fitted to these runs, with 80 % intervals.</p>',
        *(f"<p><b>{_safe(about)}</b> {_safe(plain(rest))}</p>" for about, rest in scaled.outlook(record, 12)),
        *_job(record),
        *(["<h2>Notes</h2>"] if record.notes else []),
        *(f"<p>{_safe(note)}</p>" for note in record.notes),
    ]
    return document(clean(title), _STYLE, "\n".join(parts))


def _matrix(record: Scaling) -> str:
    heads = "".join(f'<th scope="col">{_safe(each)}</th>' for each in scaled.columns(record))
    rows = [
        f'<tr><th scope="row" data-depth="{(len(name) - len(name.lstrip())) // 2}">{_safe(name.strip())}</th>{"".join(map(_cell, cells))}</tr>'
        for name, *cells in scaled.matrix(record)
    ]
    return _table("Efficiencies", f"<td></td>{heads}", rows)


def _table(label: str, heads: str, rows: Sequence[str]) -> str:
    return _wide(label, f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>")


def _wide(label: str, content: str) -> str:
    """What may be wider than the page."""
    return f'<div class="wide" tabindex="0" role="region" aria-label="{label}">{content}</div>'


def _cell(text: str) -> str:
    number = text.removesuffix(" %")
    if number == text:
        return f"<td>{_safe(text)}</td>"
    return f'<td class="e" style="background:{_colour(1 - min(float(number) / 100, 1.0))}">{_safe(text)}</td>'


def _colour(loss: float) -> str:
    """From pale green (nothing lost) by yellow to red (half and more); all pale enough for black letters."""
    part = min(max(loss, 0.0) / 0.5, 1.0)
    return f"hsl({130 * (1 - part):.0f} 55% {82 - 10 * part:.0f}%)"


def _findings(record: Scaling) -> Iterator[str]:
    if record.findings:
        yield "<h2>Where the loss is</h2>"
    for finding, share, sentence in scaled.findings(record):
        place = finding.where
        where = f" · {place.file}{f':{place.line}' if place.line else ''}" if place.file else ""
        advice = f"<p>{_safe(finding.advice)}</p>" if finding.advice else ""
        yield (
            f'<article><p><b>{_safe(share)}</b> <code>{_safe(finding.name)}</code><span class="dim">{_safe(where)}</span></p>'
            f"<p>{_safe(sentence)}</p>{advice}{_curve(record, finding.costs, finding.law, _SMALL)}</article>"
        )


# -- curves ----------------------------------------------------------------------------------------------------


def _curve(
    record: Scaling, costs: Sequence[float], law: LawRecord | None, size: tuple[int, int], *, spread: bool = False
) -> str:
    """Costs over the parameter, both logarithmic: points, the law with its band, and for times of strong and weak scaling the ideal."""
    width, height = size
    left, right, top, bottom = _MARGINS
    scales = [point.value for point in record.points]
    curve = [] if law is None else law.curve
    up = [each for each in (*costs, *(bound for one in curve for bound in (one.cost.low, one.cost.high))) if each > 0]
    if not up:
        return ""
    x0, x1 = log10(scales[0]), log10(max([*scales, *(one.at for one in curve)]))
    y0, y1 = log10(min(up)), log10(max(up))
    y0, y1 = y0 - 0.08 * (y1 - y0) - 0.05, y1 + 0.08 * (y1 - y0) + 0.05

    def x(number: float) -> str:
        return f"{left + (log10(number) - x0) / max(x1 - x0, 1e-9) * (width - left - right):.1f}"

    def y(number: float) -> str:
        part = (log10(max(number, 10**y0)) - y0) / (y1 - y0)
        return f"{height - bottom - min(part, 1.0) * (height - top - bottom):.1f}"

    def line(kind: str, x1: object, y1: object, x2: object, y2: object) -> str:
        return f'<line class="{kind}" x1="{x1}" x2="{x2}" y1="{y1}" y2="{y2}"/>'

    def path(shape: str, kind: str, points: Iterable[tuple[float, float]]) -> str:
        return f'<{shape} class="{kind}" points="{" ".join(f"{x(at)},{y(cost)}" for at, cost in points)}"/>'

    parts = []
    for number in _marks(10**y0, 10**y1):
        told = _safe(numbers.quantity(number, record.unit))
        parts.append(line("g", left, y(number), width - right, y(number)))
        parts.append(f'<text x="{left - 6}" y="{y(number)}" dy="4" text-anchor="end">{told}</text>')
    asked = [one.at[record.parameter] for one in record.predictions if record.parameter in one.at]
    beyond = [each for each in asked if curve and each <= curve[-1].at * 1.001]
    shown = 10.0 ** (x0 - 1)
    for number in sorted({*scales, *beyond}):
        if log10(number / shown) < 44 / (width - left - right) * (x1 - x0):
            continue  # its number would stand on the one before
        shown, below = number, height - bottom + 16
        parts.append(f'<text x="{x(number)}" y="{below}" text-anchor="middle">{_safe(value(number))}</text>')
    if curve:
        low = ((one.at, one.cost.low) for one in reversed(curve))
        parts.append(path("polygon", "b", [*((one.at, one.cost.high) for one in curve), *low]))
        parts.append(path("polyline", "l", ((one.at, one.cost.value) for one in curve)))
    ideal = spread and record.kind in ("strong", "weak") and costs[0] > 0
    if ideal:
        # Straight down to where it leaves the plot.
        far = min(10**x1, scales[0] * costs[0] / 10**y0) if record.kind == "strong" else 10**x1
        least = costs[0] * (scales[0] / far if record.kind == "strong" else 1.0)
        parts.append(path("polyline", "i", ((scales[0], costs[0]), (far, least))))
    for point, cost in zip(record.points, costs, strict=True):
        if cost > 0 and spread and point.spread:
            parts.append(line("l", x(point.value), y(cost - point.spread), x(point.value), y(cost + point.spread)))
        if cost > 0:
            parts.append(f'<circle class="p" cx="{x(point.value)}" cy="{y(cost)}" r="4"/>')
    said = f"{len(costs)} measured points over {record.parameter}" + (f"; law {law.text}" if law is not None else "")
    legend = "Points: measured" + (
        ". Line and band: the law and its 80 % interval." if curve else "; no law can be extrapolated."
    )
    legend += " Dashed: ideal scaling." if ideal else ""
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{_safe(said)}">{"".join(parts)}</svg>'
        + (f'<p class="dim">{legend}</p>' if spread else "")
    )


def _marks(low: float, high: float) -> Iterable[float]:
    """1, 2 and 5 of each decade, or the decades alone where there are many."""
    steps = (1, 2, 5) if log10(high / low) < 2.5 else (1,)
    found = [step * 10.0**decade for decade in range(floor(log10(low)), ceil(log10(high)) + 1) for step in steps]
    return [each for each in found if low <= each <= high] or [(low * high) ** 0.5]


# -- call tree -------------------------------------------------------------------------------------------------


def _tree(record: Scaling) -> Iterator[str]:
    """The call tree at the largest scale: a place is as wide as its time, and the redder the more of that it loses."""
    if len(record.tree) < 2:
        return
    depth, start, filled = [0], [0.0], [0.0] * len(record.tree)
    for number, node in enumerate(record.tree[1:], 1):
        above = min(max(node.parent, 0), number - 1)
        depth.append(depth[above] + 1)
        start.append(start[above] + filled[above])
        filled[above] += node.time
    height = _ROW * (max(depth) + 1)
    boxes = "".join(map(_box, record.tree, start, depth))
    last = at_value(record.parameter, record.points[-1].value)
    yield "<h2>The loss in the call tree</h2>"
    yield f'<p class="dim">At {_safe(last)}: as wide as its time, the redder the more of it is lost.</p>'
    yield _wide(
        "Tree",
        f'<svg viewBox="0 0 {_TREE} {height}" width="{_TREE}" height="{height}" role="img" aria-label="Call tree with its loss">{boxes}</svg>',
    )
    rows = [
        f'<tr><th scope="row">{_INDENT * min(deep, 12)}{_safe(shorten(node.name, 80))}</th><td>{numbers.percent(node.time)}</td>'
        f"<td>{node.loss * 100:.1f} %</td></tr>"
        for node, deep in zip(record.tree, depth, strict=True)
    ]
    heads = "".join(f'<th scope="col">{each}</th>' for each in ("place", "time", "loss"))
    yield f"<details><summary>As a table</summary>{_table('Call tree', heads, rows)}</details>"


def _box(node: NodeRecord, start: float, depth: int) -> str:
    width = node.time * _TREE
    told = f"{node.name}: {numbers.percent(node.time)} of the time, loses {numbers.percent(max(node.loss, 0.0))}"
    colour = _colour(node.loss / node.time if node.time else 0.0)
    name = shorten(node.name, max(int((width - 8) / _CHARACTER), 1)) if width > _NAMED else ""
    return (
        f'<g><title>{_safe(told)}</title><rect x="{start * _TREE:.1f}" y="{depth * _ROW}" width="{max(width - 1, 0.5):.1f}" height="{_ROW - 2}" rx="2" '
        f'fill="{colour}"/><text x="{start * _TREE + 4:.1f}" y="{depth * _ROW + 14}" style="fill:#1b1b22">{_safe(name)}</text></g>'
    )


def _job(record: Scaling) -> Iterator[str]:
    if record.next_run is not None and record.next_run.job:
        yield f'<details><summary>A job for the next run</summary><pre class="wide" tabindex="0">{_safe(record.next_run.job)}</pre></details>'


def _safe(text: str) -> str:
    return escape(clean(text))
