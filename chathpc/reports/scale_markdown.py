"""A series as Markdown: safe to show whatever names the profiles hold."""

from __future__ import annotations

from chathpc.profile import numbers
from chathpc.reports import scale_terminal, wording
from chathpc.reports.markdown import code, prose, table
from chathpc.reports.style import Style
from chathpc.scale.record import Scaling


def render(record: Scaling, style: Style) -> str:
    """The whole answer; tables are those of GitHub's dialect."""
    blocks = [
        f"# {prose(record.title)}: {prose(record.parameter)} {', '.join(scale_terminal.columns(record)).removeprefix(record.parameter + ' ')}",
        prose(scale_terminal.head(record)),
        f"**{scale_terminal.VERDICTS[record.verdict][0].capitalize()}.** {prose(record.headline)}",
        f"## {scale_terminal.table_title(record)}",
        table(
            ("", *scale_terminal.columns(record)),
            [(prose(name.strip()), *cells) for name, *cells in scale_terminal.matrix(record)],
        ),
    ]
    if record.findings:
        rows = [
            (share, code(finding.name), code(place) if (place := wording.place(finding.where)) else "", prose(sentence))
            for finding, share, sentence in scale_terminal.findings(record)
        ]
        blocks += ["## Where the loss is", table(("share", "what", "where", "why"), rows)]
    if record.hot_path and record.findings:
        steps = (f"{code(step.name)} {numbers.percent(max(step.loss, 0.0))}" for step in record.hot_path)
        blocks.append(f"Hot path: {' › '.join(steps)}")
    blocks += [prose(each) for each in scale_terminal.workers(record)]
    blocks += [
        "## At larger scales",
        "\n".join(f"- {prose(sentence)}" for sentence in scale_terminal.outlook_sentences(record)),
    ]
    if record.notes:
        blocks.append("Notes:\n\n" + "\n".join(f"- {prose(note)}" for note in record.notes))
    return style.fit("\n\n".join(block for block in blocks if block) + "\n")
