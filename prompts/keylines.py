"""The key lines of a diagnosis: few, each with its verdict word, the most important first."""

from __future__ import annotations

from chathpc.diagnosis.records import Diagnosis, Evidence, Finding, Verdict
from chathpc.profile import numbers
from chathpc.prompts.untrusted import quote, sentence

#: Key lines of the prose form: with more, a model of 1.5 billion parameters begins to mix subjects up (docs/architecture.md).
MOST_LINES = 6
#: Shares of the run from which a cost is called so. A third and a tenth are conventions of this project, not of a tool.
HIGH, MODERATE = 1 / 3, 0.1


def level(share: float) -> str:
    """The verdict word of a share (0..1): HIGH, MODERATE or LOW."""
    return "HIGH" if share >= HIGH else "MODERATE" if share >= MODERATE else "LOW"


def key_lines(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Three to six lines about the first finding, or about a run without one; the last are the first to be dropped.

    Order: verdict, cause and place, advice, evidence. Advice comes before evidence because a text without it helps nobody.
    """
    if not diagnosis.findings:
        word = "NO BOTTLENECK was found" if diagnosis.verdict == Verdict.HEALTHY else "NOT ENOUGH DATA for a verdict"
        lines = [f"Verdict: {word}.", sentence(diagnosis.headline), *(_statement(item) for item in diagnosis.evidence[:2])]
        return tuple([*lines, *(sentence(note) for note in diagnosis.notes[:1])][:MOST_LINES])
    finding = diagnosis.findings[0]
    by_id = {item.id: item for item in diagnosis.evidence}
    cited = [by_id[id] for id in finding.evidence if id in by_id]
    lines = [_cost(finding), sentence(finding.summary)]
    if finding.advice:
        lines.append(f"What to do: {sentence(finding.advice[0])}")
    lines += [_statement(item) for item in cited]
    if len(diagnosis.findings) > 1:
        lines.insert(3, f"Second: {_cost(diagnosis.findings[1])}")
    return tuple(lines[:MOST_LINES])


def _cost(finding: Finding) -> str:
    """Title, place, cost with its verdict word, bound on the speed-up."""
    where = " ".join(quote(part) for part in (finding.where.function or finding.where.kernel or "", finding.where.short) if part)
    cost = f" ({numbers.seconds(finding.seconds)})" if finding.seconds is not None else ""
    bound = f"; without it the run is at most {numbers.speedup(finding.speedup_bound)} faster" if finding.speedup_bound else ""
    place = f" in {where}" if where else ""
    return f"{quote(finding.title)}{place}: cost is {level(finding.share)}, {numbers.percent(finding.share)} of the time{cost}{bound}."


def _statement(item: Evidence) -> str:
    return sentence(item.statement)
