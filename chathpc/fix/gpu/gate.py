"""The gate of declared kernels: a change is judged in their harnesses too, beside the whole program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from chathpc.diagnosis.source.text import parsed
from chathpc.fix.gpu import outside
from chathpc.fix.gpu.child import job
from chathpc.fix.gpu.compile import compiled
from chathpc.fix.gpu.examine import Code
from chathpc.fix.gpu.plan import Plan, launch_facts, plan
from chathpc.fix.gpu.signature import Refusal, signature
from chathpc.fix.project import Kernel
from chathpc.fix.recipes.cuda.block_size import block_of
from chathpc.fix.records import Figure, GateResult, Verdict
from chathpc.fix.runner import Runner
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean

Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one kernel: a verdict (None: nothing against the change), a sentence, the timing; `refused` where nothing was tried."""

    kernel: str
    verdict: Verdict | None
    statement: str
    refused: bool = False
    timing: Mapping[str, Any] | None = None


def judge(
    runner: Runner, profile: Profile | None, originals: Texts, files: Texts, random: np.random.Generator,
    *, seconds: float = 0.0, tell: Callable[[str], None] = lambda stage: None,
) -> list[Judged]:  # fmt: skip
    """Every declared kernel whose file is changed, in its harness. `originals` are the texts before the change, as `profile` was
    measured, `files` all that differ from the project's own after it; `seconds` of timing for each, 0 for none.

    What cannot be tried is told as refused and stops nothing: the whole program is judged in any case.
    """
    found: list[Judged] = []
    chosen = [one for one in runner.project.kernels if _is_touched(one, originals, files)]
    arch: str | Refusal | None = None
    for one in chosen:
        tell(f"checking the kernel {clean(one.name)} by itself")
        kept = _kept(originals, files)
        if kept:
            found.append(
                Judged(one.name, Verdict.CHEATED, f"It keeps values on the device between launches: {clean(kept)}.")
            )
            continue
        plans = plans_of(one, profile, originals, files, runner)
        if isinstance(plans, Judged):
            found.append(plans)
            continue
        if one.arch is None and arch is None:
            arch = outside.arch(runner)
        target = one.arch or arch
        if isinstance(target, Refusal) or target is None:
            found.append(_refused(one, target if isinstance(target, Refusal) else Refusal("There is no device.")))
            continue
        found.append(
            _in_harness(
                runner, one, plans, (originals, files), target, int(random.integers(1, 2**31 - 1)), seconds, tell
            )
        )
    return found


def gate(judged: list[Judged], before: GateResult) -> GateResult:
    """The gate of correctness with what the harnesses said of it."""
    figures: dict[str, Figure] = {**before.figures, "kernels": [one.statement for one in judged]}
    against = next((one for one in judged if one.verdict is not None), None)
    if against is not None:
        return GateResult("correctness", False, against.statement, against.verdict, figures)
    return replace(before, figures=figures) if judged else before


def plans_of(
    one: Kernel, profile: Profile | None, originals: Texts, files: Texts, runner: Runner
) -> tuple[Plan, Plan] | Judged:
    """The launches of the original and of the changed kernel. They differ in block and grid where the source's own constants do."""
    text = originals.get(one.file)
    if text is None:
        return _refused(one, Refusal(f"{clean(one.file)} is not an editable file.", "Name it under edit."))
    declared = signature(one.file, text, one.name)
    if isinstance(declared, Refusal):
        return _refused(one, declared)
    check = runner.project.check
    facts = (
        Refusal("No profile has the launch configuration.", "Declare grid and block in chathpc.yaml.")
        if profile is None
        else launch_facts(profile, one.name)
    )
    mine = plan(one, declared, facts, check.relative, check.absolute)
    if isinstance(mine, Refusal):
        return _refused(one, mine)
    now = signature(one.file, files.get(one.file, text), one.name)
    if isinstance(now, Refusal):
        return _refused(one, now)
    if [(each.dtype, each.lanes, each.pointer) for each in now.parameters] != [
        (each.dtype, each.lanes, each.pointer) for each in declared.parameters
    ]:
        return _refused(one, Refusal(f"The change alters the arguments of {clean(one.name)}."))
    return mine, _relaunched(mine, one, text, files.get(one.file, text))


def _relaunched(mine: Plan, one: Kernel, before: str, after: str) -> Plan:
    """The plan with the block that the changed source sets, and as many threads in all, rounded up."""
    sizes = []
    for text in (before, after):
        source = parsed(one.file, text.encode("utf-8", "surrogateescape"))
        sizes.append(None if source is None else block_of(source, one.name))
    old, new = sizes
    if old is None or new is None or old == new or mine.block != (old, 1, 1) or mine.grid[1:] != (1, 1):
        return mine
    return replace(mine, block=(new, 1, 1), grid=(ceil(mine.grid[0] * old / new), 1, 1))


def _in_harness(
    runner: Runner, one: Kernel, plans: tuple[Plan, Plan], sides: tuple[Texts, Texts], arch: str, seed: int, seconds: float,
    tell: Callable[[str], None],
) -> Judged:  # fmt: skip
    codes = []
    for side, texts, launch in (("the original", sides[0], plans[0]), ("the change", sides[1], plans[1])):
        made = compiled(runner, texts, one.file, one.name, arch)
        if isinstance(made, Refusal):
            return _refused(one, Refusal(f"{side}: {made.statement}", made.hint))
        codes.append(Code(made.cubin, made.symbol, launch))
    asked = job(codes[0], codes[1], seed, seconds)
    answer, completed = outside.ask(runner, asked)
    said = clean(str(answer.get("statement", "")))[:400]
    name = clean(one.name)
    timing = answer.get("timing")
    if answer.get("status") == "wrong":
        return Judged(one.name, Verdict.WRONG_ANSWER, f"By itself, the kernel {name} {said}.")
    if completed.status == "timed-out":
        return Judged(one.name, Verdict.WRONG_ANSWER, f"By itself, the kernel {name} does not end.")
    if answer.get("status") != "same":
        return _refused(one, Refusal(said))
    if isinstance(timing, dict):
        said += f"; timed alone: {clean(str(timing.get('statement', '')))}"
    for tool in outside.TOOLS:
        tell(f"looking at {name} with compute-sanitizer's {tool}")
        before = outside.sanitized(runner, job(codes[0], codes[0], seed, 0.0) | {"quick": True}, tool)
        if before[0] != "clean":
            said += f"; not checked with {tool}: {before[1] if before[0] == 'absent' else 'the original itself has findings'}"
            continue
        now = outside.sanitized(runner, asked | {"seconds": 0.0, "quick": True}, tool)
        if now[0] == "found":
            said = f"In {name} compute-sanitizer's {tool} finds: {now[1]}."
            return Judged(one.name, Verdict.WRONG_ANSWER, said, timing=timing)
        said += f"; {tool} finds nothing" if now[0] == "clean" else f"; not checked with {tool}: {now[1]}"
    return Judged(one.name, None, f"By itself, the kernel {name} {said}.", timing=timing)


def _is_touched(one: Kernel, originals: Texts, files: Texts) -> bool:
    """A file that it may be made of is another one: its own, or a header beside it."""
    return any(
        text != originals.get(path) and (path == one.file or not path.endswith((".cu", ".c", ".cpp", ".cc", ".f90")))
        for path, text in files.items()
    )


def _kept(originals: Texts, files: Texts) -> str:
    """Variables of the device that a change brings: what they hold stays from launch to launch."""
    for path, text in sorted(files.items()):
        before = _lasting(path, originals.get(path, ""))
        new = _lasting(path, text) - before
        if new:
            return ", ".join(sorted(new))
    return ""


def _lasting(path: str, text: str) -> frozenset[str]:
    source = parsed(path, text.encode("utf-8", "surrogateescape"))
    if source is None:
        return frozenset()
    own = {one.name for one in source.unit.variables.values() if one.space in ("device", "managed")}
    static = {
        f"{function.name}: {one.name}"
        for function in source.everything()
        if function.marks & {"global", "device"}
        for one in function.declarations
        if one.static and one.space != "shared"
    }
    return frozenset(own | static)


def _refused(one: Kernel, why: Refusal) -> Judged:
    return Judged(one.name, None, f"No harness for {clean(one.name)}: {why.statement}", refused=True)
