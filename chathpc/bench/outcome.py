"""What chathpc says about a case, as far as it is scored: small, and told from one process to another as JSON."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from chathpc.diagnosis.records import Finding, Place
from chathpc.errors import ChathpcError
from chathpc.profile.text import clean

if TYPE_CHECKING:
    from chathpc.report import HypothesisRecord, PlaceRecord, Report


@dataclass(frozen=True, slots=True)
class Answer:
    """A cause at a place. `weight` is the finding's cost × headroom, `confidence` a probability."""

    cause: str
    function: str | None = None
    kernel: str | None = None
    file: str | None = None
    line: int | None = None
    share: float = 0.0
    weight: float = 0.0
    confidence: float = 0.0

    @classmethod
    def at(
        cls, cause: str, place: Place | PlaceRecord, share: float, weight: float = 0.0, confidence: float = 0.0
    ) -> Answer:
        """A cause at a place of the profile."""
        return cls(cause, place.function, place.kernel, place.file, place.line, share, weight, confidence)

    @classmethod
    def of(cls, finding: Finding) -> Answer:
        """The scored part of a finding."""
        return cls.at(finding.cause, finding.where, finding.share, finding.weight, finding.confidence)


@dataclass(frozen=True, slots=True)
class Read:
    """What a model that reads suspects: hypotheses as answers, in the report's order, those that it prints, and its statements.

    `dropped` says of each statement that was dropped why. `tokens` of question and answer, 0 where they are not told; `tries` how often it
    was asked.
    """

    said: tuple[Answer, ...]
    shown: tuple[Answer, ...]
    statements: int
    dropped: tuple[str, ...]
    tokens: tuple[int, int]
    tries: int
    by: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to one case and its cost; `failure` is a sentence where there is none.

    `findings` are those that the report lists, in its order. `biggest` is what the floor of the biggest node says about the
    same profile. `seconds` is the wall time of reading and explaining, `peak` the largest resident memory in bytes of a process
    that does nothing else (0: unknown).
    """

    verdict: str = ""
    findings: tuple[Answer, ...] = ()
    biggest: tuple[Answer, ...] = ()
    format: str = ""
    seconds: float = 0.0
    peak: int = 0
    read: Read | None = None
    failure: str = ""


def to_data(outcome: Outcome) -> dict[str, Any]:
    """The outcome as values that JSON has."""
    return asdict(outcome)


def from_data(data: Mapping[str, Any]) -> Outcome:
    """The outcome that `to_data` wrote."""
    return TypeAdapter(Outcome).validate_python(data)


_STATUS = Path("/proc/self/status")


def measure(paths: Sequence[Path], llm: str = "none", base_url: str | None = None) -> Outcome:
    """Read the profile at `paths` and explain it, as `chathpc explain` does; an outcome with a `failure` where that ends in an
    expected error.
    """
    import chathpc
    from chathpc.bench.floors import biggest_nodes
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
    share = each.share or 0.0
    confidence = {"likely": 0.9, "possible": 0.5, "unlikely": 0.1}[each.confidence]
    return Answer.at(each.cause, each.where, share, share, confidence)


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
