"""Lines of libraries in kernels, and the line of the program that calls them: where a finding about them belongs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chathpc.diagnosis.records import Place
from chathpc.diagnosis.sampled_code import node_at, sampled_code
from chathpc.profile.library_source import is_library_source
from chathpc.profile.machine_code import CodeLine, SourceLine
from chathpc.profile.profile import Profile
from chathpc.profile.tree import IntArray, NodeKind

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


def in_program(profile: Profile, kernel: str, nodes: IntArray, place: Place) -> tuple[Place, str]:
    """The place at the line of the program that calls it, if it is in a library, and what to call it: both lines. `place.node` stays."""
    if not place.line or place.file is None or not is_library_source(place.file):
        return place, place.short
    tree = profile.tree
    same = nodes[(tree.line[nodes] == place.line) & (tree.file[nodes] == tree.file[place.node])].tolist()
    callers = _in_tree(profile, nodes, same) or _in_code(profile, kernel, nodes, same)
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


def _in_code(profile: Profile, kernel: str, nodes: IntArray, chosen: Sequence[int]) -> dict[int, SourceLine]:
    """Callers of the chosen nodes, from machine code; of those alone whose instructions all have the same."""
    sampled = sampled_code(profile, kernel, nodes)
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
