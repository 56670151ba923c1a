"""Kernels of a profile in the source that it brings, and how the host's code launches them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chathpc.diagnosis.source.affine import scope_of
from chathpc.diagnosis.source.kernel_flow import atomics, barriers, chain, divergence, double_precision
from chathpc.diagnosis.source.kernel_memory import bank_conflicts, own_arrays, uncoalesced
from chathpc.diagnosis.source.lanes import Lanes, called
from chathpc.diagnosis.source.layout import product_of, value
from chathpc.diagnosis.source.model import Expr, Function, Kind, Launch
from chathpc.diagnosis.source.sign import Sign
from chathpc.diagnosis.source.text import SourceFile
from chathpc.profile.kernel_names import base_key

#: The order in which signs are named: what explains most of a kernel's time first.
_RECOGNISERS = (atomics, uncoalesced, own_arrays, divergence, bank_conflicts, barriers, double_precision, chain)
#: Blocks of fewer threads fill a warp in part, or hold too few warps for a multiprocessor's limit of blocks (CUDA C++ Best Practices
#: Guide, "Thread and block heuristics": at least 64 threads a block).
LEAST_THREADS = 64
#: Lines of a file with launches that are looked at.
_MOST_LAUNCHES = 200
#: hipLaunchKernelGGL(kernel, blocks, threads, …)
_HIP_LAUNCH = "hipLaunchKernelGGL"


@dataclass(frozen=True, slots=True, eq=False)
class KernelSource:
    """A kernel's function with the file that it stands in, by number."""

    file: int
    source: SourceFile
    function: Function


def in_file(source: SourceFile, file: int, kernel: str, lines: Sequence[int]) -> KernelSource | None:
    """The kernel in a file: the one of its name that holds one of the lines, or the only one of that name; None if that is not known."""
    found = [each for each in source.functions_named(base_key(kernel)) if "global" in each.marks]
    holding = [each for each in found if any(each.first <= line <= each.last for line in lines)]
    chosen = holding or found
    return KernelSource(file, source, chosen[0]) if len(chosen) == 1 and not chosen[0].broken else None


def signs(kernel: KernelSource) -> list[Sign]:
    """What the source of a kernel, and of the device functions that it calls in its file, makes one expect."""
    unit, file = kernel.source.unit, kernel.source
    names = {call.short for one in kernel.function.statements for call in one.calls()}
    functions: dict[str, Function] = {}
    for _ in range(3):
        more = {
            name: own[0]
            for name in names - set(functions)
            if len(own := file.functions_named(name)) == 1 and not own[0].broken
        }
        functions |= more
        names |= {call.short for each in more.values() for one in each.statements for call in one.calls()}
    several = called(Lanes(kernel.function, unit), functions)
    return [sign for recognise in _RECOGNISERS if (sign := recognise(several)) is not None]


def launches_of(source: SourceFile, kernel: str) -> list[tuple[Function, Launch]]:
    """The launches of a kernel in a file."""
    name = base_key(kernel)
    lines = [n for n, line in enumerate(source.text.split(b"\n"), 1) if b"<<<" in line or _HIP_LAUNCH.encode() in line]
    functions = {function.first: function for line in lines[:_MOST_LAUNCHES] if (function := source.function_at(line))}
    return [
        (function, launch)
        for function in functions.values()
        for launch in (*function.launches, *_hip_launches(function))
        if launch.kernel == name
    ]


def _hip_launches(function: Function) -> Iterable[Launch]:
    for one in function.statements:
        for call in one.calls():
            if call.short == _HIP_LAUNCH and len(call.parts) >= 3:
                kernel = call.parts[0].short.split("<", 1)[0]
                yield Launch(kernel, call.parts[1], call.parts[2], call.line, one.loop)


def small_launch(source: SourceFile, kernel: str, few_blocks: int) -> Sign | None:
    """All launches of a kernel in a file have a constant, small number of blocks, or small blocks."""
    launches = launches_of(source, kernel)
    if not launches:
        return None
    sizes = [
        tuple(_count(function, source, each) for each in (launch.grid, launch.block)) for function, launch in launches
    ]
    (function, launch), (grid, block) = launches[0], sizes[0]
    shown = f"<<<{function.show(launch.grid)}, {function.show(launch.block)}>>>"
    if grid is not None and all(one[0] is not None and one[0] < few_blocks for one in sizes):
        return Sign(
            "gpu-small-grid", launch.line, launch.line, launch.line,
            f"launches {launch.kernel} with {shown}: {grid} {'blocks' if grid != 1 else 'block'}, of which each runs on one multiprocessor",
            f"is launched with {grid} {'blocks' if grid != 1 else 'block'}",
        )  # fmt: skip
    if block is not None and all(one[1] is not None and one[1] < LEAST_THREADS for one in sizes):
        return Sign(
            "gpu-low-occupancy", launch.line, launch.line, launch.line,
            f"launches {launch.kernel} with {shown}: {block} threads a block, though a multiprocessor holds a limited number of blocks",
            f"is launched with {block} threads a block",
            ("Many blocks on each multiprocessor make up for it in part.",),
        )  # fmt: skip
    return None


def _count(function: Function, source: SourceFile, expr: Expr) -> int | None:
    """A number of blocks or threads that is constant: also of `dim3(x, y)`, and of a variable that is set once."""
    scope = scope_of(function, source.unit)
    if expr.kind == Kind.NAME and expr.text in scope.values:
        expr = scope.values[expr.text]
    if expr.kind == Kind.CALL and expr.short == "dim3":
        return product_of(_count(function, source, part) for part in expr.parts)
    return value(expr, source.unit.constants)
