"""The instruction, and the source line, that warps of a kernel wait for, where the profile shows machine code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from chathpc.diagnosis.device import has
from chathpc.diagnosis.sampled_code import Places, called_at, sampled_code
from chathpc.diagnosis.sass.blame import EARLIER, WAITED, Blame, Link, blame
from chathpc.diagnosis.sass.flow import Program, program
from chathpc.diagnosis.sass.opcodes import BARRIERS, Result, words_of
from chathpc.diagnosis.sass.slices import loads_behind, work_before
from chathpc.profile.machine_code import CodeLine, MachineCode
from chathpc.profile.profile import Profile
from chathpc.profile.tree import IntArray

_PREFIX = "gpu.stall."
#: Samples of stalls that are those of a barrier, or of all reasons together.
_NOT_OTHERS = (_PREFIX + "barrier", _PREFIX + "any", _PREFIX + "none")
_EXECUTED = "gpu.instructions.executed"


@dataclass(frozen=True, slots=True)
class StallCause:
    """What most of a kernel's stalled warps wait for. `part` (0..1) is its part of the stall samples; `place` the instruction
    that is waited for, `used` the stalled one with most of these samples; `distance` the instructions from one to the other
    (1: the next); `address` a load that the address of the first is computed from, with its distance; `before` what has most of the other samples
    before a barrier, with its part of them.
    """

    part: float
    samples: float
    opcode: str
    words: str
    place: CodeLine
    used: CodeLine
    link: Link
    distance: int = 0
    address: tuple[CodeLine, int] | None = None
    before: tuple[CodeLine, float] | None = None

    @property
    def elsewhere(self) -> bool:
        """True if another instruction than the stalled one is the cause."""
        return self.link != Link.ITSELF


@lru_cache(maxsize=8)
def _program(code: MachineCode) -> Program:
    return program(code)


def stall_cause(profile: Profile, name: str, nodes: IntArray, metrics: Sequence[str]) -> StallCause | None:
    """What most stalls counted by `metrics` (`gpu.stall.…`) below the `nodes` of kernel `name` are blamed on; by source line
    where the code tells lines, else by instruction. None without machine code, or without stalls that can be placed in it.
    """
    found = sampled_code(profile, name, nodes)
    if found is None:
        return None
    code, places = found
    whole = _program(code)
    issued = places.spread(profile, _EXECUTED, whole, frozenset())
    blames: list[Blame] = []
    for metric in metrics:
        if has(profile, metric):
            reason = metric.removeprefix(_PREFIX)
            kinds = _kinds(profile, reason)
            stalled = places.spread(profile, metric, whole, kinds, reason)
            executed = [issued.get(i, 0.0) for i in range(len(code.lines))] if issued else None
            blames += blame(whole, stalled, reason, executed, kinds)
    cause = _most(whole, blames)
    if cause is not None and cause.opcode in BARRIERS and cause.link == Link.ORDER:
        return replace(cause, before=_work_before(profile, whole, places, cause.place))
    return cause


def _work_before(profile: Profile, whole: Program, places: Places, barrier: CodeLine) -> tuple[CodeLine, float] | None:
    """Where warps are before a barrier while others wait: the line, or instruction, with most samples of anything else."""
    lines = whole.code.lines
    at = next(i for i, line in enumerate(lines) if line is barrier)
    samples: dict[int, float] = {}
    for metric in profile.metrics:
        if metric.startswith(_PREFIX) and metric not in _NOT_OTHERS:
            for i, value in places.spread(profile, metric, whole, frozenset()).items():
                samples[i] = samples.get(i, 0.0) + value
    sums: dict[tuple[object, ...], float] = {}
    first: dict[tuple[object, ...], CodeLine] = {}
    for i in sorted(work_before(whole, at)):
        rest = samples.get(i, 0.0)
        if rest > 0:
            key = _place(lines[i], i)
            sums[key] = sums.get(key, 0.0) + rest
            first.setdefault(key, lines[i])
    if not sums:
        return None
    best = max(sums, key=lambda key: sums[key])
    return first[best], sums[best] / sum(sums.values())


def _kinds(profile: Profile, reason: str) -> frozenset[Result]:
    """What warps wait for by a stall reason; tools that do not tell shared memory apart count it among earlier results."""
    if reason == "dependency" and not has(profile, _PREFIX + "short-scoreboard"):
        return EARLIER
    return WAITED.get(reason, frozenset())


def _most(whole: Program, blames: Sequence[Blame]) -> StallCause | None:
    total = sum(each.samples for each in blames)
    if total <= 0:
        return None
    lines = whole.code.lines
    groups: dict[tuple[object, ...], list[Blame]] = {}
    for each in blames:
        at = lines[each.cause]
        key = _place(at, each.cause)
        groups.setdefault((*key, each.link == Link.ITSELF), []).append(each)
    best = max(groups.values(), key=lambda group: sum(each.samples for each in group))
    samples = sum(each.samples for each in best)
    by_cause, by_use = _sums(best, "cause"), _sums(best, "stalled")
    cause = max(by_cause, key=lambda at: by_cause[at])
    stalled = {each.stalled for each in best if each.cause == cause}
    used = max(stalled, key=lambda at: by_use[at])
    pair = next(each for each in best if each.cause == cause and each.stalled == used)
    loads = loads_behind(whole, cause) if whole.instructions[cause].result == Result.LONG else {}
    opcode = whole.instructions[cause].opcode
    behind = min(loads, key=lambda at: (loads[at], at), default=-1)
    return StallCause(
        min(samples / total, 1.0), samples, opcode, words_of(opcode), lines[cause], lines[used], pair.link,
        pair.distance, (lines[behind], loads[behind]) if behind >= 0 else None,
    )  # fmt: skip


def _place(line: CodeLine, index: int) -> tuple[object, ...]:
    """What tells places apart: the source line, a library's by its caller too; the instruction where lines are not known."""
    return (line.file, line.line, called_at(line)) if line.line else (index,)


def _sums(blames: Sequence[Blame], end: str) -> dict[int, float]:
    found: dict[int, float] = {}
    for each in blames:
        at = int(getattr(each, end))
        found[at] = found.get(at, 0.0) + each.samples
    return found
