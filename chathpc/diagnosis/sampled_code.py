"""Where in a kernel's machine code its samples are, by instruction or source line; of libraries' lines those of the program that call them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.device import Kernel
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.sass.blame import Link, blame
from chathpc.diagnosis.sass.flow import Program
from chathpc.diagnosis.sass.opcodes import Result
from chathpc.diagnosis.sass.text import written
from chathpc.profile.classification import is_library_source
from chathpc.profile.kernel_names import kernel_key
from chathpc.profile.machine_code import CodeLine, MachineCode, SourceLine
from chathpc.profile.profile import Profile
from chathpc.profile.tree import IntArray, NodeKind


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Nodes with samples, and the instructions of the code that each stands for: one, or all of a source line."""

    nodes: Sequence[int]
    instructions: Sequence[tuple[int, ...]]

    def spread(
        self, profile: Profile, metric: str, whole: Program, kinds: frozenset[Result], reason: str = ""
    ) -> dict[int, float]:
        """Value of each instruction: that of its node; of a line's instructions those that can wait so share its value."""
        if not profile.has(metric):
            return {}
        values = profile.dense(metric)
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


def sampled_code(profile: Profile, kernel: Kernel) -> tuple[MachineCode, Places] | None:
    """The code of a kernel, and where in it its nodes are; None if no code is known that fits."""
    if not profile.code:
        return None
    known = _by_key(profile.code).get(kernel_key(kernel.name), [])
    fitting = [(code, places) for code in known if (places := _by_offset(profile, kernel.nodes, code)) is not None]
    if fitting:
        return _joined(tuple(code for code, _ in fitting)), fitting[0][1]
    for code in known:
        by_line = _by_line(profile, kernel.nodes, code) if code.has_sources else None
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
            if same is not None and written(same.text).word == written(line.text).word:
                file, at = (line.file, line.line) if line.line else (same.file, same.line)
                callers = same.callers if (_base(file), at) == (_base(same.file), same.line) else ()
                lines[i] = replace(
                    line, file=file, line=at, callers=line.callers or callers,
                    control=line.control if line.control >= 0 else same.control,
                )  # fmt: skip
    return replace(first, lines=tuple(lines))


@lru_cache(maxsize=4)
def _by_key(codes: tuple[MachineCode, ...]) -> Mapping[str, Sequence[MachineCode]]:
    """Kernel in the one spelling of all tools → its texts."""
    found: dict[str, list[MachineCode]] = {}
    for code in codes:
        found.setdefault(kernel_key(code.kernel), []).append(code)
    return found


def _by_offset(profile: Profile, nodes: IntArray, code: MachineCode) -> Places | None:
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
        if at is not None and written(tree.label(node)).word == written(code.lines[at].text).word:
            same += 1
            kept.append(node)
            places.append((at,))
    return Places(kept, places) if same >= common()["same_code"].value * len(chosen) else None


def _by_line(profile: Profile, nodes: IntArray, code: MachineCode) -> Places | None:
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
    return Places(chosen, places) if chosen else None


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


_BACKSLASH = "\\"


def called_at(line: CodeLine) -> SourceLine | None:
    """The line of the program that an instruction of a library was inlined at; None for the program's own, or where that is not known."""
    if not line.line or not is_library_source(line.file):
        return None
    return next((caller for caller in line.callers if not is_library_source(caller[0])), None)


def short(line: CodeLine) -> str:
    """`kernel.cu:12`, or `block_reduce.cuh:120 (called at kernel.cu:12)`."""
    caller = called_at(line)
    return _with_callers(_short((line.file, line.line)), () if caller is None else (caller,))


def moved(profile: Profile, place: Place, nodes: IntArray, caller: SourceLine | None) -> Place:
    """The place at the line that calls, if there is one: by the file's name in the tree of the kernel's `nodes` where that has it."""
    if caller is None:
        return place
    node = node_at(profile, nodes, CodeLine(0, "", *caller))
    file = profile.tree.file_name(node) if node >= 0 else None
    return replace(place, file=file or caller[0], line=caller[1])


def in_program(profile: Profile, kernel: Kernel, place: Place) -> tuple[Place, str]:
    """The place at the line of the program that calls it, if it is in a library, and what to call it: both lines. `place.node` stays."""
    if not place.line or place.file is None or not is_library_source(place.file):
        return place, place.short
    tree, nodes = profile.tree, kernel.nodes
    same = nodes[(tree.line[nodes] == place.line) & (tree.file[nodes] == tree.file[place.node])].tolist()
    callers = _in_tree(profile, nodes, same) or _in_code(profile, kernel, same)
    caller = callers.get(place.node)
    if caller is None:
        return place, place.short
    return moved(profile, place, nodes, caller), _with_callers(place.short, (caller, *({*callers.values()} - {caller})))


def _in_tree(profile: Profile, nodes: IntArray, chosen: Sequence[int]) -> dict[int, SourceLine]:
    """Callers of the chosen nodes, from the functions that were inlined, where the profile shows them."""
    tree, inside = profile.tree, set(nodes.tolist())
    found = {}
    for node in chosen:
        above = int(tree.parent[node])
        while above in inside:
            file = tree.file_name(above)
            if tree.kind[above] == NodeKind.LINE and tree.line[above] > 0 and file and not is_library_source(file):
                found[node] = file, int(tree.line[above])
                break
            above = int(tree.parent[above])
    return found


def _in_code(profile: Profile, kernel: Kernel, chosen: Sequence[int]) -> dict[int, SourceLine]:
    """Callers of the chosen nodes, from machine code; of those alone whose instructions all have the same."""
    sampled = sampled_code(profile, kernel)
    if sampled is None:
        return {}
    code, places = sampled
    instructions = dict(zip(places.nodes, places.instructions, strict=True))
    found = {}
    for node in chosen:
        callers = {called_at(code.lines[at]) for at in instructions.get(node, ())}
        caller = callers.pop() if len(callers) == 1 else None
        if caller is not None:
            found[node] = caller
    return found


def _short(line: SourceLine) -> str:
    return f"{line[0].replace(_BACKSLASH, '/').rsplit('/', 1)[-1]}:{line[1]}"


def _with_callers(name: str, callers: Sequence[SourceLine]) -> str:
    """The first caller is named."""
    if not callers:
        return name
    return f"{name} (called at {_short(callers[0])}{' and elsewhere' if len(callers) > 1 else ''})"
