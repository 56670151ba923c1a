"""What the model is told first (what was measured and diagnosed, how the program is built, run and judged, where its files are), and what it
says that its change makes shorter, as a finding that the gates can hold it to.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Literal

from chathpc.chat import tools
from chathpc.diagnosis.facts import plain_name
from chathpc.diagnosis.records import Diagnosis, Finding, Place
from chathpc.fix.agent.workbench import Workbench, described
from chathpc.fix.lanes import cores
from chathpc.fix.records import Attempt, Problem, Verdict
from chathpc.profile.profile import Profile
from chathpc.profile.text import estimate_tokens
from chathpc.prompts.untrusted import block, marker_of, quote
from chathpc.report import HypothesisRecord

#: What a model is guided by beside the facts: its own knowledge alone, or the catalogue's suggestions too.
Guidance = Literal["own", "catalogue"]
#: Findings and hot functions that are told at once; more is there for the asking.
_FINDINGS, _HOT = 5, 10
#: Sources that are small altogether are shown at once (tokens).
_SHOWN = 12_000
_LONGEST = 600


def briefing(
    problem: Problem,
    bench: Workbench,
    guidance: Guidance,
    hypotheses: Sequence[HypothesisRecord],
    tried: Sequence[Attempt],
    task: str,
) -> str:
    """The first message: data between marks, and the task."""
    parts = [
        ("program", _program(problem, bench)),
        ("diagnosis", diagnosed(problem, bench, guidance)),
        ("suspected by a model, not measured", [_hypothesis(each) for each in hypotheses]),
        ("tried before", [verdict_of(each) for each in tried]),
        ("files", described(problem.sources, bench.paths)),
    ]
    if sum(map(estimate_tokens, problem.sources.values())) <= _SHOWN:
        parts += [(f"source of {path}", text.splitlines()) for path, text in problem.sources.items()]
    parts = [(name, lines) for name, lines in parts if lines]
    marker = marker_of(line for _, lines in parts for line in lines)
    return "\n\n".join([*(block(name, lines, marker) for name, lines in parts), task])


def diagnosed(problem: Problem, bench: Workbench, guidance: Guidance) -> list[str]:
    """Verdict, findings with their facts (and the catalogue's suggestions, where these are to guide), and where the time is."""
    facts = {each.id: each.statement for each in problem.diagnosis.evidence}
    lines = [f"{problem.diagnosis.verdict.value}: {quote(problem.diagnosis.headline, longest=_LONGEST)}"]
    for each in problem.diagnosis.findings[:_FINDINGS]:
        place = f"{quote(each.where.function or 'the program')} {quote(each.where.short)}".strip()
        said = " ".join(facts[one] for one in each.evidence[:4] if one in facts)
        lines.append(
            f"- {each.title} in {place}: {quote(each.summary, longest=_LONGEST)} {quote(said, longest=_LONGEST)}"
        )
        if guidance == "catalogue":
            lines += [f"  suggestion: {quote(one, longest=_LONGEST)}" for one in each.advice]
    top = tools.call(bench.asked, "top", {"by": "function", "limit": _HOT})
    return [*lines, *top.as_text().splitlines()]


def verdict_of(attempt: Attempt) -> str:
    """What became of a change: each gate's sentence where it was refused, the measured gain where not."""
    fast = "" if attempt.speedup is None else f" Measured {attempt.speedup.estimate:.2f} times as fast."
    said = " ".join(f"{gate.gate}: {gate.statement}" for gate in attempt.gates if not gate.passed)
    if attempt.verdict == Verdict.IMPROVED_IF:
        gate = next(gate for gate in attempt.gates if gate.gate == "effects")
        said = f"It is kept for the user to decide on, and nothing builds on it, because it trades something away. effects: {gate.statement}"
    return quote(f"{attempt.candidate.title}: {attempt.verdict.value}.{fast} {said}".rstrip(), longest=2 * _LONGEST)


def _program(problem: Problem, bench: Workbench) -> list[str]:
    project, check = problem.project, problem.project.check
    flags = project.flags
    lines = [
        f"build: {quote(project.build, longest=_LONGEST)}",
        f"flags: {quote(flags.variable)}={quote(flags.value, longest=_LONGEST)}" if flags is not None else "",
        f"timed: {quote(f'{project.launcher} {project.run.command}'.strip(), longest=_LONGEST)}",
        *(f"checked: {quote(run.command, longest=_LONGEST)}" for run in project.inputs if run != project.run),
        f"threads: OMP_NUM_THREADS = {', '.join(map(str, project.threads))}" if project.threads else "",
        f"cores: {cores()}",
        f"compared: {', '.join(check.outputs)}, numbers within {check.relative:g} (relative) or {check.absolute:g} (absolute)",
        f"own check: {quote(check.command, longest=_LONGEST)}" if check.command else "",
    ]
    left = bench.left()
    if left:
        lines.append(f"a run also leaves these files, and must: {quote(', '.join(left[:20]), longest=_LONGEST)}")
    if "durability" in project.allow:
        lines.append("files need to be durable only when the run ends: syncs may be dropped")
    return [line for line in lines if line]


def _hypothesis(each: HypothesisRecord) -> str:
    place = f"{each.where.function or ''} {each.where.file or ''}".strip()
    return quote(f"{each.id} {each.name} ({each.confidence}) in {place}: {each.mechanism}", longest=_LONGEST)


#: The cause of a claim that no rule made: time at a place.
_CAUSE = "hot-compute"


def claimed(profile: Profile, diagnosis: Diagnosis, *functions: str) -> Finding | None:
    """The diagnosis' finding in the first of `functions` that has one, else the time in and below the first that has some, else the first
    finding there is.

    Names are compared without arguments and scopes.
    """
    names = [name for name in map(_plain, functions) if name]
    same = [each for name in names for each in diagnosis.findings if _plain(each.where.function or "") == name]
    if same:
        return same[0]
    times = (found for found in (_time_in(profile, name) for name in names) if found is not None)
    return next(chain(times, diagnosis.findings), None)


def _time_in(profile: Profile, name: str) -> Finding | None:
    time = profile.time
    if time is None:
        return None
    table, total = profile.table("function", time.id), profile.total(time.id)
    found = [
        (float(seconds), str(function))
        for function, seconds in zip(table["name"].tolist(), table["inclusive"].tolist(), strict=True)
        if _plain(str(function)) == name
    ]
    if not found or not total:
        return None
    seconds, function = max(found)
    return Finding(
        cause=_CAUSE,
        title=f"Time in {function}",
        summary="",
        where=Place(function=function),
        seconds=seconds,
        share=min(seconds / total, 1.0),
        headroom=1.0,
        speedup_bound=None,
        confidence=0.0,
        confidence_reason="",
        evidence=(),
    )


def _plain(name: str) -> str:
    return plain_name(name).lower()
