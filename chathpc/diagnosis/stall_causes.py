"""The instruction, and the source line, that warps of a kernel wait for, where the profile shows machine code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from chathpc.diagnosis.device import dense, has
from chathpc.diagnosis.sass.blame import EARLIER, WAITED, Blame, Link, blame
from chathpc.diagnosis.sass.flow import Program, program
from chathpc.diagnosis.sass.opcodes import BARRIERS, Result, words_of
from chathpc.diagnosis.sass.slices import loads_behind, work_before
from chathpc.profile.kernel_names import kernel_key
from chathpc.profile.machine_code import CodeLine, MachineCode
from chathpc.profile.profile import Profile
from chathpc.profile.tree import IntArray, NodeKind

#: Part of the sampled instructions that must be those of the code for it to be the code that ran.
_SAME = 0.9
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
    found = _sampled(profile, name, nodes)
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


def _work_before(profile: Profile, whole: Program, places: _Places, barrier: CodeLine) -> tuple[CodeLine, float] | None:
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
            key = (lines[i].file, lines[i].line) if lines[i].line else (i,)
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
        key = (at.file, at.line) if at.line else (each.cause,)
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


def _sums(blames: Sequence[Blame], end: str) -> dict[int, float]:
    found: dict[int, float] = {}
    for each in blames:
        at = int(getattr(each, end))
        found[at] = found.get(at, 0.0) + each.samples
    return found


# -- samples in the code -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Nodes with samples, and the instructions of the code that each stands for: one, or all of a source line."""

    nodes: Sequence[int]
    instructions: Sequence[tuple[int, ...]]

    def spread(
        self, profile: Profile, metric: str, whole: Program, kinds: frozenset[Result], reason: str = ""
    ) -> dict[int, float]:
        """Value of each instruction: that of its node; of a line's instructions those that can wait so share its value."""
        if not has(profile, metric):
            return {}
        values = dense(profile, metric)
        found: dict[int, float] = {}
        able: dict[tuple[int, ...], tuple[int, ...]] = {}
        for node, several in zip(self.nodes, self.instructions, strict=True):
            value = float(values[node])
            if value <= 0:
                continue
            chosen = able.get(several)
            if chosen is None:
                chosen = able[several] = (
                    _able(whole, several, reason, kinds) if len(several) > 1 and reason else several
                )
            for one in chosen:
                found[one] = found.get(one, 0.0) + value / len(chosen)
        return found


def _able(whole: Program, several: tuple[int, ...], reason: str, kinds: frozenset[Result]) -> tuple[int, ...]:
    """Those of a line's instructions that can wait for another one; all where none can."""
    blames = blame(whole, dict.fromkeys(several, 1.0), reason, None, kinds)
    return tuple(sorted({each.stalled for each in blames if each.link != Link.ITSELF})) or several


def _sampled(profile: Profile, name: str, nodes: IntArray) -> tuple[MachineCode, _Places] | None:
    """The code of a kernel, and where in it the nodes below the kernel are; None if no code is known that fits."""
    if not profile.code:
        return None
    known = [code for code in profile.code if _key(code.kernel) == kernel_key(name)]
    fitting = [(code, places) for code in known if (places := _by_offset(profile, nodes, code)) is not None]
    if fitting:
        return _joined(tuple(code for code, _ in fitting)), fitting[0][1]
    for code in known:
        by_line = _by_line(profile, nodes, code) if code.has_sources else None
        if by_line is not None:
            return code, by_line
    return None


@lru_cache(maxsize=64)
def _joined(several: tuple[MachineCode, ...]) -> MachineCode:
    """One code of several texts of it: of the first, with the source lines and scheduling bits that only others show."""
    first, *others = several
    if not others:
        return first
    lines = list(first.lines)
    for other in others:
        also = {line.offset: line for line in other.lines}
        for i, line in enumerate(lines):
            same = also.get(line.offset)
            if same is not None and _opcode(same.text) == _opcode(line.text):
                place = (line.file, line.line) if line.line else (same.file, same.line)
                lines[i] = replace(
                    line, file=place[0], line=place[1], control=line.control if line.control >= 0 else same.control
                )
    return replace(first, lines=tuple(lines))


@lru_cache(maxsize=4096)
def _key(name: str) -> str:
    return kernel_key(name)


def _by_offset(profile: Profile, nodes: IntArray, code: MachineCode) -> _Places | None:
    """By address, for reports that name the instruction at each; None if these are others than the code's."""
    tree = profile.tree
    chosen = nodes[tree.kind[nodes] == NodeKind.INSTRUCTION]
    if not len(chosen) or tree.offset is None:
        return None
    index = {line.offset: i for i, line in enumerate(code.lines)}
    places, same = [], 0
    kept = []
    for node, offset in zip(chosen.tolist(), tree.offset[chosen].tolist(), strict=True):
        at = index.get(int(offset))
        if at is not None and _opcode(tree.label(node)) == _opcode(code.lines[at].text):
            same += 1
            kept.append(node)
            places.append((at,))
    return _Places(kept, places) if same >= _SAME * len(chosen) else None


def _opcode(text: str) -> str:
    words = text.split()
    while words and words[0].startswith("@"):
        words.pop(0)
    return words[0].rstrip(";") if words else ""


def _by_line(profile: Profile, nodes: IntArray, code: MachineCode) -> _Places | None:
    """By source line, for profiles that know no instructions or not their text."""
    tree = profile.tree
    lines: dict[tuple[str, int], list[int]] = {}
    for i, line in enumerate(code.lines):
        if line.line:
            lines.setdefault((_base(line.file), line.line), []).append(i)
    chosen, places = [], []
    for node in nodes[tree.line[nodes] > 0].tolist():
        several = lines.get((_base(tree.file_name(node) or ""), int(tree.line[node])))
        if several:
            chosen.append(node)
            places.append(tuple(several))
    return _Places(chosen, places) if chosen else None


def _base(file: str) -> str:
    return file.replace("\\", "/").rsplit("/", 1)[-1]


def node_at(profile: Profile, nodes: IntArray, line: CodeLine) -> int:
    """The first of `nodes` at the source line of an instruction; −1 if none is."""
    tree = profile.tree
    base = _base(line.file)
    for node in nodes[tree.line[nodes] == line.line].tolist() if line.line else ():
        if _base(tree.file_name(node) or "") == base:
            return int(node)
    return -1
