"""Devices ranked for a profile as Markdown: safe to show whatever names the profile holds."""

from __future__ import annotations

from chathpc.predict.ranking import RankingRecord
from chathpc.reports.markdown import code, prose, table
from chathpc.reports.ranked_terminal import DEVICES, KERNELS, device_rows, head, headline, kernel_rows, lacking, others
from chathpc.reports.style import Style


def render(record: RankingRecord, style: Style) -> str:
    """All devices, and all kernels on the fastest, with -v on each; tables are those of GitHub's dialect."""
    verdict, said = headline(record)
    blocks = [
        f"# {prose(record.profile)} on other devices", prose(head(record)), ": ".join((f"**{verdict.capitalize()}**", prose(said))),
        table(DEVICES, device_rows(record, record.devices)),
    ]  # fmt: skip
    for each in others(record) if style.verbose else others(record)[:1]:
        rows = [(code(row[0]), *row[1:]) for row in kernel_rows(record.kernels, each)]
        blocks += [f"## Kernels on {prose(each.device.name)}", table(KERNELS, rows)]
    for title, texts in (("Not there", list(lacking(record.devices))), ("Notes", record.notes)):
        if texts:
            blocks.append(f"{title}:\n\n" + "\n".join(f"- {prose(text)}" for text in texts))
    return style.fit("\n\n".join(blocks) + "\n")
