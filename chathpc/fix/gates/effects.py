"""The gate of effects: what a change does beside its answer is what the original does, or its user is told what would be given up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from chathpc.fix.effects import Compared, compare_effects
from chathpc.fix.gates.examination import Reference, Tell
from chathpc.fix.left_files import LeftFile, missing_or_other, unsteady
from chathpc.fix.outputs import compare
from chathpc.fix.records import GateResult, Verdict
from chathpc.fix.runner import Built, Case
from chathpc.profile.text import clean

#: Of a kind so many are told.
_TOLD = 3
#: Said where nothing but files could be looked at.
WITHOUT_STRACE = "strace does not work here (is it installed?): only the files that a run leaves are compared, not how durably they are written."


@dataclass(slots=True)
class _Found:
    """What all inputs together showed; each sentence once, in the order in which they came."""

    durability: list[str] = field(default_factory=list)
    batched: list[str] = field(default_factory=list)
    unexamined: list[str] = field(default_factory=list)
    written: list[int] | None = None

    def add(self, told: Compared) -> None:
        for name in ("durability", "batched", "unexamined"):
            mine = getattr(self, name)
            mine += [each for each in getattr(told, name) if each not in mine]


def examine(reference: Reference, changed: Built, tell: Tell = lambda stage: None) -> GateResult:
    """Whether a change that answers rightly also does what the original does, on each declared input, once.

    The gate passes where only durability differs; its figure `durability` then says in sentences what is given up.
    """
    found = _Found()
    runs = 0
    for run in reference.declared:
        case = Case.usual(run)
        tell(f"watching what it does with {clean(case.name)}")
        fault, verdict = _one(reference, changed, case, found)
        runs += 1
        if fault:
            return GateResult("effects", False, f"With {clean(case.name)} {fault}.", verdict, asdict(found))
    return GateResult("effects", True, _passed(found, runs, traced=reference.runner.traces), None, asdict(found))


def _one(reference: Reference, changed: Built, case: Case, found: _Found) -> tuple[str, Verdict]:
    """What is wrong with one input, and the verdict on it; what is no fault is added to `found`."""
    runner = reference.runner
    first, second = reference.twice(case)
    if any(each.completed.status != "exited" for each in (first, second)):
        found.unexamined.append(f"{clean(case.name)}: the original does not finish under strace")
        return "", Verdict.EFFECTS_LOST
    theirs = runner.run(changed, case, traced=runner.traces)
    if theirs.completed.status != "exited":
        return f"it is terminated ({theirs.completed.status}) while it is watched", Verdict.CHEATED
    differing = compare(first.outputs, theirs.outputs, runner.project.check)
    if not differing.same:
        return f"its output differs while it is watched: {differing.statement}", Verdict.CHEATED
    unexamined = reference.unsteady()
    fault = missing_or_other(first.left, theirs.left, runner.project.check, unexamined)
    if fault:
        return fault, Verdict.EFFECTS_LOST
    found.add(Compared(unexamined=tuple(map(clean, sorted(unsteady(first.left, second.left))))))
    if first.effects is None or second.effects is None or theirs.effects is None:
        return "", Verdict.EFFECTS_LOST
    if theirs.effects.reached and not first.effects.reached:
        return f"it accesses {theirs.effects.reached}", Verdict.CHEATED
    if not theirs.effects.whole:
        return "the record of its system calls ends too early", Verdict.CHEATED
    told = compare_effects(first.effects, second.effects, theirs.effects, sizes(first.left, theirs.left))
    if told.lost or told.added:
        verdict = Verdict.EFFECTS_LOST if told.lost else Verdict.CHEATED
        return "; ".join(map(clean, (told.lost or told.added)[:_TOLD])), verdict
    found.add(told)
    if case == reference.timed():
        found.written = [first.effects.written, theirs.effects.written]
    return "", Verdict.EFFECTS_LOST


def sizes(original: Mapping[str, LeftFile], changed: Mapping[str, LeftFile]) -> dict[str, tuple[int, int]]:
    """Bytes of the files that both leave."""
    return {
        path: (mine.size, changed[path].size)
        for path, mine in original.items()
        if path in changed and mine.kind == changed[path].kind == "file"
    }


def _passed(found: _Found, runs: int, *, traced: bool) -> str:
    if found.durability:
        more = len(found.durability) - _TOLD
        told = "; ".join(found.durability[:_TOLD]) + (f"; {more} more" if more > 0 else "")
        return f"Leaves the same files in the end, but is less durable until then: {told}."
    what = " and has the same effects" if traced else ""
    said = f"Leaves the same files{what} in {runs} {'watched ' if traced else ''}run{'s' if runs > 1 else ''}"
    if found.batched:
        said += f"; {found.batched[0]}"
    return f"{said}." if traced else f"{said}. {WITHOUT_STRACE}"


def durability(gates: tuple[GateResult, ...] | list[GateResult]) -> tuple[str, ...]:
    """What a change that passed this gate gives up, in sentences without a point."""
    told = next((each.figures.get("durability") for each in gates if each.gate == "effects"), None)
    return tuple(str(each) for each in told) if isinstance(told, list) else ()
