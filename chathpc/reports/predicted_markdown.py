"""A prediction as Markdown: safe to show whatever names the source holds."""

from __future__ import annotations

from collections.abc import Iterable

from chathpc.predict.record import KernelRecord, PredictionRecord
from chathpc.profile import numbers
from chathpc.reports.markdown import code, prose, table
from chathpc.reports.predicted_terminal import OVERVIEW, ROOFS, facts, overview_rows, roof_rows
from chathpc.reports.style import Style


def render(record: PredictionRecord, style: Style) -> str:
    """All kernels; tables are those of GitHub's dialect."""
    tools = ", ".join(f"{name} {version}".strip() for name, version in record.tools.items())
    blocks = [
        f"# {prose(record.program)} on {prose(record.device.name)}",
        f"Predicted, nothing was measured. Compiled for {prose(record.compiled_for)} by {prose(tools)}.",
    ]
    if len(record.kernels) > 1:
        blocks.append(table(OVERVIEW, [(code(row[0]), *row[1:]) for row in overview_rows(record)]))
    blocks += [block for kernel in record.kernels for block in _kernel(kernel)]
    return style.fit("\n\n".join(block for block in blocks if block) + "\n")


def _kernel(kernel: KernelRecord) -> Iterable[str]:
    yield f"## {code(kernel.kernel)}"
    yield prose(kernel.headline)
    yield table(ROOFS, roof_rows(kernel))
    yield "\n".join(f"- **{label}**: {prose(text)}" for label, text in facts(kernel))
    yield table(
        ("share", "line", "source"),
        [
            (numbers.percent_cell(each.share), code(f"{each.file}:{each.line}"), code(each.text) if each.text else "")
            for each in kernel.lines
        ],
    )
    yield "\n".join(prose(each) for each in kernel.change)
    if kernel.assumptions:
        yield "Assumed:\n\n" + "\n".join(f"- {prose(each)}" for each in kernel.assumptions)
