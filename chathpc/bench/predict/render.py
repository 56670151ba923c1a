"""A run of the benchmark of predictions as text, Markdown or JSON. No renderer computes anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from math import isnan

from chathpc.bench import lines
from chathpc.bench.data import finite
from chathpc.bench.predict.result import TITLES, Confusion, Published, Result, ratio
from chathpc.profile import numbers
from chathpc.reports.markdown import prose, table
from chathpc.reports.page import Page
from chathpc.reports.style import Style

SCHEMA = "chathpc-bench-predict/1"
HEADER = ("questions", "answered by", "right", "macro F1", "MCC", "compute", "bandwidth")
OPERATIONS = ("program", "kernel", "measured", "model", "ratio", "chathpc", "ratio ")
CLASSES, FIGURES = "Classes", "Against what was measured"
FIGURES_HEADER = ("figure", "measured", "asked")
_SCORES = (("right", "accuracy"), ("macro F1", "macro-f1"), ("MCC", "mcc"))
LEGEND = "compute, bandwidth: compute-bound and bandwidth-bound launches by what was answered, the right word first."


def renderers() -> Mapping[str, Callable[[Result, Style], str]]:
    """Every renderer by the name of its format."""
    return {"text": text, "markdown": markdown, "json": data}


def text(result: Result, style: Style) -> str:
    """For a terminal."""
    page = Page(style)
    page.paragraph(_lead(result), indent=0)
    for sentence in _notes(result):
        page.paragraph(sentence, indent=0, style="dim")
    for row in result.rows:
        page.item(TITLES[row.kind])
        get = row.figures.get
        found = ", ".join(f"{name} {lines.cell(get(key))}" for name, key in _SCORES if key != "accuracy")
        page.paragraph(f"{lines.cell(get('accuracy'))} right; {found}; {_words(row.matrix)}", label=row.by)
        if row.paper is not None:
            page.paragraph(_published(row.paper), label="the paper's best")
    for title, header, rows in _tables(result):
        if title == FIGURES:
            page.heading(title)
            for name, cell, asked in rows:
                page.paragraph(f"{cell}{f'; asked: {asked}' if asked else ''}", label=f"{name}:")
        elif title != CLASSES:
            page.heading(title)
            page.table(header, rows)
    return page.text()


def markdown(result: Result, style: Style) -> str:
    """A page of Markdown."""
    blocks = ["# Predictions", prose(_lead(result)), *map(prose, _notes(result))]
    for title, header, rows in _tables(result):
        blocks += [f"## {title}", table(header, [[prose(cell) for cell in row] for row in rows])]
    if result.rows:
        blocks.append(LEGEND)
    return style.fit("\n\n".join(blocks) + "\n")


def data(result: Result, style: Style) -> str:
    """JSON, schema chathpc-bench-predict/1; what is not defined is null."""
    answers = [each for each in result.answers if each.text is not None]
    content = {
        "schema": SCHEMA, "version": result.version, "task": result.task, "llm": result.llm,
        "rows": [
            {
                "questions": row.kind, "by": row.by, "figures": [asdict(figure) for figure in row.figures.figures],
                "confusion": asdict(row.matrix), "paper": None if row.paper is None else asdict(row.paper), "unrecorded": row.unrecorded,
            }
            for row in result.rows
        ],
        "operations": [asdict(each) for each in result.operations],
        "measured": [] if result.measured is None else [asdict(each) for each in result.measured.figures],
        "answers": [
            {"kind": each.kind, "program": each.program, "kernel": each.kernel, "right": each.judged.truth == each.judged.answer}
            for each in answers
        ],
        "left_out": list(result.left_out),
    }  # fmt: skip
    return json.dumps(finite(content), indent=2) + "\n"


def _lead(result: Result) -> str:
    if result.task == "flops":
        return f"Floating-point operations of {len(result.operations)} launches, against a profiler's count. Model: {result.llm}."
    if result.task == "time":
        of = result.measured.figures[0].of if result.measured is not None else 0
        return f"Times of {of} launches as chathpc predicts them, against what was measured."
    return f"Which roofline holds for a kernel, against what was measured. Model: {result.llm}."


def _notes(result: Result) -> list[str]:
    missing = sum(row.unrecorded for row in result.rows)
    notes = [f"{missing} questions have no recorded answer and do not count."] if missing else []
    return [*notes, *result.left_out]


def _tables(result: Result) -> list[tuple[str, Sequence[str], list[Sequence[str]]]]:
    tables: list[tuple[str, Sequence[str], list[Sequence[str]]]] = []
    if result.rows:
        rows: list[Sequence[str]] = []
        for row in result.rows:
            scores = (lines.cell(row.figures.get(key)) for _, key in _SCORES)
            rows.append((TITLES[row.kind], row.by, *scores, *_matrix(row.matrix)))
            if row.paper is not None:
                rows.append(_paper(row.paper))
        tables.append((CLASSES, HEADER, rows))
    if result.operations:
        counted: list[Sequence[str]] = []
        for each in result.operations:
            cells = [f"{each.measured:,.0f}"]
            for value in (each.model, each.chathpc):
                cells.append(lines.NOTHING if value is None else f"{value:,.0f}")
                share = ratio(value, each.measured)
                cells.append(lines.NOTHING if share is None else f"{share:.3f}")
            counted.append((each.program, each.kernel, *cells))
        tables.append(("Operations", OPERATIONS, counted))
    if result.measured is not None:
        told = [(each.title, lines.cell(each), lines.asked(each)) for each in result.measured.figures]
        tables.append((FIGURES, FIGURES_HEADER, list(told)))
    return tables


def _matrix(found: Confusion | None) -> tuple[str, str]:
    if found is None:
        return lines.NOTHING, lines.NOTHING
    return (
        f"{found.compute_compute} right, {found.compute_bandwidth} wrong",
        f"{found.bandwidth_bandwidth} right, {found.bandwidth_compute} wrong",
    )


def _paper(paper: Published) -> tuple[str, ...]:
    scores = [lines.NOTHING if isnan(each) else f"{each:.3f}" for each in (paper.macro_f1, paper.correlation)]
    return "  the paper's best", paper.model, numbers.percent_cell(paper.accuracy), *scores, *_matrix(paper.matrix)


def _words(found: Confusion) -> str:
    compute, bandwidth = _matrix(found)
    return f"compute-bound {compute}, bandwidth-bound {bandwidth}"


def _published(paper: Published) -> str:
    scores = (("macro F1", paper.macro_f1), ("MCC", paper.correlation))
    told = ", ".join(f"{name} {value:.3f}" for name, value in scores if not isnan(value))
    right = f"{paper.model}: {numbers.percent_cell(paper.accuracy)} right"
    return "; ".join(filter(None, (right, told, "" if paper.matrix is None else _words(paper.matrix))))
