"""Runs one case in this process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.bench.floors import biggest_nodes
from chathpc.bench.outcome import Answer, Outcome, Read
from chathpc.errors import ChathpcError
from chathpc.profile.text import clean

if TYPE_CHECKING:
    from chathpc.report import HypothesisRecord, Report

_STATUS = Path("/proc/self/status")


def measure(paths: Sequence[Path], llm: str = "none", base_url: str | None = None) -> Outcome:
    """Read the profile at `paths` and explain it, as `chathpc explain` does; an outcome with a `failure` where that ends in an
    expected error.
    """
    import chathpc
    from chathpc.diagnosis.diagnose import diagnose
    from chathpc.diagnosis.facts import Facts

    begin = time.perf_counter()
    try:
        profile = chathpc.load(*paths)
        report = chathpc.explain(profile, llm=llm, base_url=base_url)
        seconds, peak = time.perf_counter() - begin, peak_bytes()
        # The report rounds and leaves out by what findings are ranked.
        facts = Facts(profile)
        findings = diagnose(profile, facts).findings
        biggest = biggest_nodes(facts)
    except ChathpcError as error:
        return Outcome(failure=clean(error.message), seconds=time.perf_counter() - begin)
    return Outcome(
        verdict=report.verdict,
        findings=tuple(Answer.of(finding) for finding in findings),
        biggest=biggest,
        format=profile.format,
        seconds=seconds,
        peak=peak,
        read=_read(report),
    )


def _read(report: Report) -> Read | None:
    """What a model suspects in a report; None where none was asked that reads."""
    told = report.explanation
    own = [each for each in told.statements if each.kind != "retold"]
    retells = any(each.kind == "retold" and each.by == told.model for each in told.statements)
    if not own and not report.hypotheses and (told.model is None or retells):
        return None
    usage = told.usage
    return Read(
        said=tuple(_suspected(each) for each in report.hypotheses),
        shown=tuple(_suspected(each) for each in report.suspected),
        statements=len(own),
        dropped=tuple(f"{each.dropped_because}: {each.text[:200]}" for each in own if each.dropped_because),
        tokens=(0, 0) if usage is None else (usage.prompt_tokens or 0, usage.completion_tokens or 0),
        tries=0 if usage is None else usage.tries,
        by=told.model or "",
    )


def _suspected(each: HypothesisRecord) -> Answer:
    where, share = each.where, each.share or 0.0
    confidence = {"likely": 0.9, "possible": 0.5, "unlikely": 0.1}[each.confidence]
    return Answer(each.cause, where.function, where.kernel, where.file, where.line, share, share, confidence)


def peak_bytes() -> int:
    """Largest resident memory of this process since it began with its present program; 0 where the system does not tell.

    Not getrusage: its maximum includes the process that this one was started from.
    """
    try:
        status = _STATUS.read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    lines = [line.split() for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0][1]) << 10 if lines else 0
