"""The changes that a report's hypotheses propose, tried like any other, and what became of the hypotheses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from chathpc import validation
from chathpc.diagnosis.records import Finding
from chathpc.errors import UsageError
from chathpc.fix.records import Attempt, Candidate, Problem, Verdict, identity
from chathpc.fix.thresholds import threshold
from chathpc.profile.source_text import best_match, lines_of_source, recorded_parts
from chathpc.profile.text import clean
from chathpc.report import EditRecord, HypothesisRecord, Report

#: What changes of a report are known by among those of the strategies.
NAME = "report"
#: A report with its whole call tree and evidence has some hundred kilobytes.
_LARGEST = 64 << 20


@dataclass(frozen=True, slots=True)
class Suspected:
    """Proposes the change of each hypothesis that has one; with `chosen` ids only of these."""

    hypotheses: tuple[HypothesisRecord, ...]
    name: str = NAME
    learns: bool = False

    def propose(self, problem: Problem, history: Sequence[Attempt]) -> Iterator[Candidate]:
        """One candidate for each change that applies to the sources as they are and was not tried before."""
        known = {attempt.candidate.id for attempt in history}
        for each in self.hypotheses:
            files = applied(each.change, dict(problem.sources))
            id = identity(files) if files else ""
            if files and id not in known:
                known.add(id)
                yield Candidate(
                    id, NAME, f"{each.id}: {clean(each.name)}", files, finding=_finding(each, problem.diagnosis.findings), recipe=each.id
                )  # fmt: skip


def read_report(file: Path) -> Report:
    """The report in a JSON file; UsageError for anything else."""
    hint = "Write one with: chathpc explain PATH --llm openai:MODEL --format json -o report.json"
    try:
        if file.stat().st_size > _LARGEST:
            raise UsageError(f"{clean(str(file))} is too large for a report.", hint=hint)
        return Report.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        why = error.strerror if isinstance(error, OSError) else validation.words(error)
        raise UsageError(f"{clean(str(file))} is not a JSON report: {why}.", hint=hint) from None


def named_hypotheses(report: Report, ids: Sequence[str]) -> tuple[HypothesisRecord, ...]:
    """Those of a report with these ids; without ids all that were not refuted. UsageError for an id that it does not have."""
    by_id = {each.id: each for each in report.hypotheses}
    unknown = [id for id in ids if id not in by_id]
    if unknown:
        raise UsageError(
            f"The report has no hypothesis {clean(unknown[0])}.", hint=f"It has {', '.join(by_id) or 'none'}."
        )
    return tuple(by_id[id] for id in ids) or tuple(each for each in report.hypotheses if each.status != "refuted")


def with_changes(hypotheses: Sequence[HypothesisRecord], *, alone: bool) -> tuple[Suspected, ...]:
    """The proposer of those that have a change; UsageError where there are none, and nobody else proposes."""
    found = tuple(each for each in hypotheses if each.change)
    if not found and alone:
        raise UsageError(
            "No hypothesis of the report proposes a change.", hint="Have a model work on them: --llm openai:MODEL."
        )
    return (Suspected(found),) if found else ()


def applied(change: Sequence[EditRecord], sources: dict[str, str]) -> dict[str, str]:
    """The files that a change makes of the sources (path → text), whole; empty where a file is not there or a text does not stand once in
    it. Texts are compared with tabs as blanks, as the model saw them.
    """
    files: dict[str, str] = {}
    names = list(sources)
    for edit in change:
        at = best_match(recorded_parts(edit.file), [name.split("/") for name in names], names)
        if at is None:
            return {}
        path = names[at]
        text = files.get(path, sources[path])
        lines, wanted = lines_of_source(path, text), edit.search.split("\n")
        found = [first for first in range(len(lines) - len(wanted) + 1) if lines[first : first + len(wanted)] == wanted]
        if len(found) != 1:
            return {}
        raw = text.split("\n")
        files[path] = "\n".join([*raw[: found[0]], *edit.replace.split("\n"), *raw[found[0] + len(wanted) :]])
    return files


def _finding(hypothesis: HypothesisRecord, findings: Sequence[Finding]) -> Finding | None:
    """What has to fall: the finding at the place of a hypothesis, else one of its cause, else what the run spends most of its time on."""
    same = [each for each in findings if each.where.function and each.where.function == hypothesis.where.function]
    same += [each for each in findings if each.cause == hypothesis.cause]
    return next(iter((*same, *findings)), None)


Status = Literal["suspected", "proved", "refuted", "undecided"]


def status_of(attempt: Attempt) -> Status:
    """What a trial says of its hypothesis: proved if the change passed all gates, with what was diagnosed gone down; refuted if that went
    down and the run is no faster; undecided otherwise.
    """
    if attempt.verdict in (Verdict.ACCEPTED, Verdict.IMPROVED_IF):
        return "undecided" if attempt.candidate.finding is None else "proved"
    speed = next((gate.figures for gate in attempt.gates if gate.gate == "speed"), {})
    ratios = speed.get("ratios")
    high = max(ratios) if isinstance(ratios, list) and ratios else speed.get("high")
    no_faster = isinstance(high, int | float) and high < threshold("min_speedup")
    return "refuted" if speed.get("moved") is True and no_faster else "undecided"


def decided(report: Report, attempts: Sequence[Attempt]) -> Report:
    """The report with what became of its hypotheses; those that were not tried stay as they are."""
    outcome = {each.candidate.recipe: status_of(each) for each in attempts if each.candidate.proposer == NAME}
    hypotheses = [each.model_copy(update={"status": outcome.get(each.id, each.status)}) for each in report.hypotheses]
    return report.model_copy(update={"hypotheses": hypotheses})
