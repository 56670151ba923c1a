"""The instruction, and the source line, that warps of a kernel wait for, where the profile shows machine code; the stalled line stays in the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.device import Kernel
from chathpc.diagnosis.draft import fact, share_fact
from chathpc.diagnosis.fact import Fact, Kind, Part
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.sampled_code import Places, called_at, moved, node_at, sampled_code, short
from chathpc.diagnosis.sass.blame import EARLIER, WAITED, Blame, Link, blame
from chathpc.diagnosis.sass.flow import Program, loads_behind, program, work_before
from chathpc.diagnosis.sass.opcodes import BARRIERS, Result, words_of
from chathpc.profile.machine_code import CodeLine, MachineCode
from chathpc.profile.names import shorten
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean

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


def stall_cause(profile: Profile, kernel: Kernel, metrics: Sequence[str]) -> StallCause | None:
    """What most stalls counted by `metrics` (`gpu.stall.…`) in a kernel are blamed on; by source line
    where the code tells lines, else by instruction. None without machine code, or without stalls that can be placed in it.
    """
    found = sampled_code(profile, kernel)
    if found is None:
        return None
    code, places = found
    whole = _program(code)
    issued = places.spread(profile, _EXECUTED, whole, frozenset())
    blames: list[Blame] = []
    for metric in metrics:
        if profile.has(metric):
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
    if reason == "dependency" and not profile.has(_PREFIX + "short-scoreboard"):
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


#: Characters of an instruction in a sentence.
_LONGEST = 60
_ADVICE = (
    (
        ("LDL", "STL"),
        "Keep in registers what is read back from local memory {}: constant indices into small arrays, fewer live values, a higher limit "
        "of registers.",
    ),
    (
        ("ATOM", "ATOMG", "RED", "REDG"),
        "Combine the values of a warp or block (__reduce_add_sync, shared memory) before the atomic operation {}.",
    ),
    (
        ("MUFU",),
        "Use the fast forms of the special function {} where the accuracy allows (__expf, __fdividef, rsqrtf, --use_fast_math).",
    ),
    (
        ("F2F", "F2I", "I2F", "I2I", "FRND"),
        "Avoid the conversion {}: keep one type, write constants with the suffix f, move it out of the loop.",
    ),
    (
        ("LDS", "LDSM"),
        "Read from shared memory {} before the arithmetic in between, keep the value in a register, or pass it with __shfl_sync.",
    ),
    (
        ("DADD", "DMUL", "DFMA", "DSETP"),
        "Compute in single precision {} where the accuracy allows, or break the chain into independent parts.",
    ),
)
#: How the stalled place depends on the one that is waited for.
_LINKS = {
    Link.RESULT: "whose result is used {}",
    Link.OPERANDS: "whose registers are needed again {}",
}


def blamed(
    facts: Facts, kernel: Kernel, metrics: Sequence[str], what: str, stalled: Place
) -> tuple[Place, list[Fact], StallCause | None]:
    """The line that stalls counted by `metrics` are blamed on, and the evidence for it; `stalled` and nothing where the profile
    shows no machine code, or the stalled instructions wait for nothing but themselves.

    `what` says what the metrics count.
    """
    cause = stall_cause(facts.profile, kernel, metrics)
    if cause is None or not cause.elsewhere:
        return stalled, [], None
    profile, nodes, place = facts.profile, kernel.nodes, stalled
    if cause.place.line:
        node = node_at(profile, nodes, cause.place)
        file = profile.tree.file_name(node) if node >= 0 else None
        place = replace(
            stalled, file=file or cause.place.file, line=cause.place.line, node=node if node >= 0 else stalled.node
        )
        place = moved(profile, place, nodes, called_at(cause.place))
    evidence = [
        share_fact(
            facts, cause.part, f"waiting for {cause.words} {_at(cause.place)}{_relation(cause)}", f"the {what} in {kernel.short}",
            "samples of stalled instructions, given to the instructions that their operands come from (Zhou et al., GPA, CGO 2021)",
            metric=metrics[0], where=place,
        )
    ]  # fmt: skip
    if cause.link == Link.RESULT:
        between = cause.distance - 1
        evidence.append(
            fact(
                facts, Kind.COUNT, between, subject=f"the code between {_said(cause.place)} and {_said(cause.used)}, which needs its result,",
                unit="instructions", metric=metrics[0], how="machine code", where=place,
            )
        )  # fmt: skip
    if cause.address is not None:
        first, distance = cause.address
        evidence.append(
            fact(
                facts, Kind.CODE, distance, subject="the address of this load",
                text=f"comes from the load {_at(first)}, so that one wait follows the other", parts=(Part("earlier by", distance, "instructions"),),
                unit="instructions", metric=metrics[0], how="machine code, followed backwards", where=place,
            )
        )  # fmt: skip
    if cause.before is not None:
        line, part = cause.before
        evidence.append(
            share_fact(
                facts, part, f"the code {_at(line)}, where the warps are that the others wait for,",
                "the stall samples between this barrier and those before it",
                "samples of other stalls on the ways from one barrier to the next", metric=metrics[0], where=place,
            )
        )  # fmt: skip
    return place, evidence, cause


def advice_for(cause: StallCause | None) -> tuple[str, ...]:
    """What to do about this instruction in particular, before what the catalogue says of the cause in general."""
    if cause is None:
        return ()
    here, use = _at(cause.place), _at(cause.used)
    opcode = cause.opcode
    if cause.address is not None:
        return (
            f"Do not let the load {_at(cause.address[0])} delay the one {here}: fetch it an iteration ahead into a register, or "
            "order the data so that no index has to be loaded first.",
        )
    if opcode in ("LDG", "LD") and cause.link == Link.RESULT and cause.distance <= common()["close_use"].value:
        return (
            f"Issue the load {here} earlier: load what the next iteration needs before the arithmetic of this one, or unroll so that "
            f"several loads are under way before the first is used {use}.",
        )
    return tuple(text.format(here) for opcodes, text in _ADVICE if opcode in opcodes)


def _said(line: CodeLine) -> str:
    return clean(shorten(" ".join(line.text.split()), _LONGEST))


def _at(line: CodeLine) -> str:
    return f"at {clean(short(line))}" if line.line else f"at +{line.offset:#x} ({_said(line)})"


def _relation(cause: StallCause) -> str:
    """How the stalled instruction depends on the one that is waited for, as the end of a sentence."""
    if cause.link not in _LINKS:
        return ""
    same = cause.used.line and (cause.used.file, cause.used.line) == (cause.place.file, cause.place.line)
    return ", " + _LINKS[cause.link].format("in the same line" if same else _at(cause.used)) + ","
