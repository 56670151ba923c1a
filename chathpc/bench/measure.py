"""Runs one case in this process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from chathpc.bench.floors import biggest_nodes
from chathpc.bench.outcome import Answer, Outcome, Words
from chathpc.errors import ChathpcError
from chathpc.profile.text import clean

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
    words: Words | None = None
    if llm != "none":
        from chathpc.bench.words import words_of

        words = words_of(report.explanation)
    return Outcome(
        verdict=report.verdict,
        findings=tuple(Answer.of(finding) for finding in findings),
        biggest=biggest,
        format=profile.format,
        seconds=seconds,
        peak=peak,
        words=words,
    )


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
