"""The third gate: the changed program answers as the original does, on inputs that nobody could prepare for."""

from __future__ import annotations

from chathpc.fix.gates import altered, inputs, instrumented
from chathpc.fix.gates.examination import Examination, Problem
from chathpc.fix.gates.races import message_races, new_races
from chathpc.fix.records import GateResult, Verdict
from chathpc.fix.thresholds import threshold
from chathpc.profile.text import clean


def examine(examined: Examination) -> GateResult:
    """What the gate says: all steps in order, of which the first that finds something ends it."""
    steps = (
        _races,
        inputs.declared,
        inputs.other_sizes,
        inputs.own_check,
        inputs.answers,
        instrumented.memory,
        instrumented.variables,
        instrumented.sanitizers,
        altered.constants,
    )
    for step in steps:
        problem = step(examined)
        if problem is not None:
            verdict, statement = problem
            return GateResult("correctness", False, statement, verdict, examined.figures())
        if step is inputs.declared and (quick := _hopeless(examined)):
            said = f"Same answers in {examined.cases} runs; the other checks were skipped because it is not faster."
            return GateResult("correctness", True, said, None, {**examined.figures(), "quick": list(quick)})
    said = f"Same answers in {examined.cases} runs ({', '.join(examined.tried)})"
    if examined.largest:
        said += f"; numbers differ by at most {examined.largest:.1g} (relative)"
    said += "."
    if sizes := inputs.named_sizes(examined):
        said += (
            f" The change names {', '.join(map(clean, sizes))}, a size of a declared run: look what it does beyond it."
        )
    return GateResult("correctness", True, said, None, examined.figures())


def _hopeless(examined: Examination) -> list[float]:
    """Ratios of a few pairs of runs if none of them reaches what is worth a closer look; else nothing."""
    ratios: list[float] = []
    while examined.pair is not None and len(ratios) < threshold("quick_pairs"):
        found = examined.pair()
        if found is None or found[0] >= threshold("clear") * found[1]:
            return []
        ratios.append(found[0] / found[1])
    return ratios


def _races(examined: Examination) -> Problem | None:
    found = [
        *new_races(examined.original_texts, examined.texts),
        *message_races(examined.original_texts, examined.texts),
    ]
    return (Verdict.WRONG_ANSWER, f"A race: {clean(found[0])}.") if found else None
