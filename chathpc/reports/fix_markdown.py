"""What `chathpc fix` found as Markdown, for a pull request: safe to show whatever names a program has."""

from __future__ import annotations

from chathpc.fix.report import FixReport
from chathpc.report import TreeRecord
from chathpc.reports.calltree import tree_lines
from chathpc.reports.fix_terminal import compiler, outcome, proof, times, untried, verdict_words
from chathpc.reports.markdown import code, fenced, prose
from chathpc.reports.style import Style

_WIDTH = 100


def render(report: FixReport, style: Style) -> str:
    """The whole report."""
    blocks = [
        f"# {prose(verdict_words(report)[0].capitalize())}: {prose(report.headline)}",
        f"{code(report.command)} in {code(report.folder)}",
        f"**Found.** {prose(report.diagnosis)}",
    ]
    if report.speedup is not None:
        blocks.append(f"**Time.** {prose(times(report))}")
    blocks += [f"**Flags.** {prose(compiler(report, each))}" for each in report.baselines]
    if report.new_flags is not None and report.new_flags != report.flags:
        blocks.append(f"**Set.** The flags {code(report.new_flags)} are part of it; a patch cannot set them.")
    blocks += [f"**{label}.** {prose(said)}" for label, said in proof(report)]
    for attempt in report.taken:
        rows = [f"| {gate.gate} | {_cell(gate.statement)} |" for gate in attempt.gates]
        blocks += [f"## Why trust it: {prose(attempt.title)}", "\n".join(["| gate | says |", "|---|---|", *rows])]
    if report.patch:
        blocks += ["## The change", fenced(report.patch)]
    for title, tree in (("Before", report.tree_before), ("After", report.tree_after)):
        if isinstance(tree, TreeRecord) and tree.rows:
            lines = tree_lines(tree, Style(width=_WIDTH, encoding=style.encoding))
            blocks += [f"## {title}", fenced("\n".join(line.plain.rstrip() for line in lines))]
    others = report.not_taken
    if others:
        rows = [
            f"| {_cell(each.title)} | {each.verdict.replace('-', ' ')} | {_cell(outcome(each))} |" for each in others
        ]
        blocks += ["## Tried and not taken", "\n".join(["| change | verdict | why |", "|---|---|---|", *rows])]
    blocks += [f"**Not tried.** {prose(untried(each))}" for each in report.untried]
    if report.remarks:
        blocks += ["## Bear in mind", "\n".join(f"- {prose(each)}" for each in report.remarks)]
    blocks.append(f"---\n\nSandbox: {prose(report.sandbox)}. Ledger, builds and profiles: {code(report.work)}")
    return style.fit("\n\n".join(blocks) + "\n")


def _cell(text: str) -> str:
    return prose(text).replace("|", "\\|")
