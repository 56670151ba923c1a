"""The fourth gate: faster beyond noise, in pairs of runs whose answers are checked as well."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from chathpc.fix.left_files import missing_or_other
from chathpc.fix.outputs import compare
from chathpc.fix.records import Figure, GateResult, Speedup, Verdict
from chathpc.fix.runner import Built, Case, Ran, Runner
from chathpc.fix.speed import Timing, judge, measure_pairs
from chathpc.fix.thresholds import threshold


@dataclass(frozen=True, slots=True)
class Fault:
    """What was wrong in a timed run, and what that makes of the change."""

    says: str
    verdict: Verdict


_VERDICTS = {"slower": Verdict.SLOWER, "inconclusive": Verdict.INCONCLUSIVE, "invalid": Verdict.INVALID}


def measure(
    runner: Runner,
    original: Built,
    changed: Built,
    *,
    seconds: float,
    random: np.random.Generator,
    clock: Callable[[], float] = time.monotonic,
    tell: Callable[[str], None] = lambda stage: None,
    fewest: float | None = None,
    unexamined: Collection[str] = (),
    watched: float | None = None,
) -> tuple[Timing, Fault | None]:
    """Time the project's run in pairs, for some `seconds`; and what was wrong in one of the timed runs, if anything was.

    Each pair has a fresh seed where the program takes one. Every timed run is checked, with the files that it leaves (but those that
    `unexamined` names) and with how much it writes, which is `watched` times as much as the original writes: a program that works only
    when it is checked and not when it is timed gains nothing.
    """
    project = runner.project
    state: dict[str, object] = {}
    problem: list[Fault] = []
    pairs = 0

    def run(side: str) -> float | None:
        nonlocal pairs
        if not state:
            pairs += 1
            tell(f"timing, pair {pairs}")
            state["seed"] = int(random.integers(1, 2**31 - 1)) if project.run.seeded else None
        case = Case(project.run, seed=state["seed"])  # type: ignore[arg-type]
        ran = runner.run(original if side == "original" else changed, case)
        other = state.get("ran")
        if ran.completed.status != "exited":
            # The original is right by definition: that it was ended says nothing of the change.
            verdict = Verdict.INVALID if side == "original" else Verdict.WRONG_ANSWER
            problem.append(Fault(f"a timed run of the {side} program was ended ({ran.completed.status})", verdict))
            return None
        if other is None:
            state["ran"], state["side"] = ran, side
            return ran.seconds
        first, second = (other, ran) if state["side"] == "original" else (ran, other)
        state.clear()
        fault = _fault(first, second)  # type: ignore[arg-type]
        if fault:
            problem.append(Fault(fault, Verdict.WRONG_ANSWER))
            return None
        return ran.seconds

    def _fault(first: Ran, second: Ran) -> str:
        found = compare(first.outputs, second.outputs, project.check)
        if not found.same:
            return found.statement
        return missing_or_other(first.left, second.left, project.check, unexamined) or (
            "" if watched is None else writes_less(first.completed.written, second.completed.written, watched)
        )

    mine, theirs = measure_pairs(run, seconds=seconds, random=random, clock=clock, fewest=fewest)
    return judge(mine, theirs, fewest), problem[0] if problem else None


def writes_less(original: int | None, changed: int | None, watched: float) -> str:
    """What is wrong where a change writes less when it is timed than when it was watched; nothing where the kernel does not count."""
    if original is None or changed is None:
        return ""
    expected = original * watched
    if changed >= expected * threshold("unwatched") - threshold("unwatched_bytes"):
        return ""
    return f"it writes {changed} bytes, but when watched {expected:.0f}"


def result(timing: Timing, problem: Fault | None) -> tuple[GateResult, Speedup | None]:
    """The gate's verdict on what was measured."""
    figures: dict[str, Figure] = {
        "ratio": timing.ratio,
        "low": timing.low,
        "high": timing.high,
        "pairs": timing.pairs,
        "seconds_original": list(timing.original),
        "seconds_changed": list(timing.changed),
        "outliers": timing.outliers,
        "baseline_drift": timing.drift,
    }
    if problem is not None:
        said = f"A timed run differs: {problem.says}."
        return GateResult("speed", False, said, problem.verdict, figures), None
    statement = timing.statement[0].upper() + timing.statement[1:] + "."
    speedup = Speedup(timing.ratio, timing.low, timing.high, timing.pairs) if timing.pairs else None
    if timing.outcome == "faster":
        return GateResult("speed", True, statement, None, figures), speedup
    return GateResult("speed", False, statement, _VERDICTS[timing.outcome], figures), speedup


def dropped(ratios: Sequence[float]) -> GateResult:
    """The verdict on a change that in a first look was never faster by what is worth a closer one."""
    said = f"In {len(ratios)} pairs of runs never {threshold('clear'):g}x as fast, {max(ratios):.2f}x at best."
    return GateResult("speed", False, said, Verdict.INCONCLUSIVE, {"ratios": list(ratios)})
