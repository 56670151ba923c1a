"""A series as Markdown: safe to show whatever names the profiles hold."""

from __future__ import annotations

from chathpc.profile import numbers
from chathpc.reports.markdown import code, prose, table
from chathpc.reports.scale_terminal import (
    VERDICTS,
    columns,
    findings,
    head,
    matrix,
    outlook_sentences,
    table_title,
    workers,
)
from chathpc.reports.style import Style
from chathpc.scale.record import Scaling


def render(record: Scaling, style: Style) -> str:
    """The whole answer; tables are those of GitHub's dialect."""
    blocks = [
        f"# {prose(record.title)}: {prose(record.parameter)} {', '.join(columns(record)).removeprefix(record.parameter + ' ')}",
        prose(head(record)),
        f"**{VERDICTS[record.verdict][0].capitalize()}.** {prose(record.headline)}",
        f"## {table_title(record)}",
        table(("", *columns(record)), [(prose(name.strip()), *cells) for name, *cells in matrix(record)]),
    ]
    if record.findings:
        rows = [
            (share, code(finding.name), _where(finding.where.file, finding.where.line), prose(sentence))
            for finding, share, sentence in findings(record)
        ]
        blocks += ["## Where the loss is", table(("share", "what", "where", "why"), rows)]
    if record.hot_path and record.findings:
        steps = (f"{code(step.name)} {numbers.percent(max(step.loss, 0.0))}" for step in record.hot_path)
        blocks.append(f"Hot path: {' › '.join(steps)}")
    blocks += [prose(each) for each in workers(record)]
    blocks += [
        "## At larger scales",
        "\n".join(f"- {prose(sentence)}" for sentence in outlook_sentences(record)),
    ]
    if record.notes:
        blocks.append("Notes:\n\n" + "\n".join(f"- {prose(note)}" for note in record.notes))
    return style.fit("\n\n".join(block for block in blocks if block) + "\n")


def _where(file: str | None, line: int | None) -> str:
    return "" if not file else code(f"{file.rsplit('/', 1)[-1]}{f':{line}' if line else ''}")
