"""Block sizes as the source sets them: found where they are constants, and searched among powers of two.

A block size is either a name that is a number (`#define BLOCK 256`, `constexpr int BLOCK = 256;`) and all launches of the kernel use it, or
the number itself in a launch whose grid rounds up by it (`<<<(n + 255) / 256, 256>>>`). Whatever else has the number in the kernel (an array
in shared memory, a stride) must follow the name, else nothing is changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial

from chathpc.diagnosis.source.kernels import launches_of
from chathpc.diagnosis.source.layout import value
from chathpc.diagnosis.source.model import Expr, Function, Kind, Launch
from chathpc.diagnosis.source.text import SourceFile
from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.program import Source, Spot
from chathpc.fix.recipes.recipe import Change, Context, Recipe

#: Whole warps, up to the most threads of a block (CUDA C++ Best Practices Guide, "Thread and block heuristics": multiples of the warp's size,
#: between 128 and 256 first).
SIZES = (64, 128, 256, 512, 1024)
_CAUSES = (
    "gpu-low-occupancy",
    "gpu-small-grid",
    "gpu-tail-effect",
    "gpu-barrier-stall",
    "gpu-memory-latency",
    "gpu-kernel-bound",
)
_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
#: `#define NAME 256`, `constexpr int NAME = 256`, `const int NAME = 256`.
_DEFINED = rb"(?:^[ \t]*#[ \t]*define[ \t]+%b[ \t]+|\b(?:constexpr|const)\b[\w\s:]*?\b%b\s*=\s*)(\d+)\b"
_BOUNDS = ("gpu-low-occupancy", "gpu-register-spill", "gpu-memory-latency", "gpu-dependency-stall")


def block_of(source: SourceFile, kernel: str) -> int | None:
    """Threads of a block in all launches of the kernel in the file; None where they differ or are no number."""
    sizes = {_number(function, source, launch.block) for function, launch in launches_of(source, kernel)}
    return sizes.pop() if len(sizes) == 1 else None


def _number(function: Function, source: SourceFile, expr: Expr) -> int | None:
    if expr.kind == Kind.NAME:
        own = [one for one in function.declarations if one.name == expr.text]
        if own:
            constant = own[0].value if len(own) == 1 and own[0].const else None
            return None if constant is None else value(constant, source.unit.constants)
    return value(expr, source.unit.constants)


def _other_size(context: Context, spot: Spot, size: int) -> Iterable[Change]:
    """The kernel at the spot with blocks of `size` threads, where its source sets the size in one place."""
    kernel = spot.procedure.model
    if "global" not in kernel.marks or spot.procedure.is_broken or "launch_bounds" in _head(spot):
        return
    found = [(one, *pair) for one in context.program.sources.values() for pair in launches_of(one.file, kernel.name)]
    if not found or any(_number(function, one.file, launch.block) is None for one, function, launch in found):
        return
    sizes = {_number(function, one.file, launch.block) for one, function, launch in found}
    if len(sizes) != 1 or size in sizes:
        return
    old = sizes.pop()
    source = found[0][0]
    names = {launch.block.text if launch.block.kind == Kind.NAME else None for _, _, launch in found}
    did = f"Launch blocks of {size} threads instead of {old}"
    if names == {None}:
        edits = _in_launches(spot, [(one, launch) for one, _, launch in found], int(old or 0), size)
        if edits:
            yield Change(edits, kernel.first, did)
    elif len(names) == 1 and None not in names:
        name = str(names.pop())
        edit = _definition(source, name, int(old or 0), size)
        if edit is not None and not _has_number(spot, int(old or 0)) and _is_block_alone(context, spot, name):
            yield Change({source.path: (edit,)}, kernel.first, did)


def _definition(source: Source, name: str, old: int, size: int) -> Edit | None:
    """The number in the only definition of a name; None where there are several, or it is more than a number."""
    found = list(re.finditer(_DEFINED % (2 * (re.escape(name).encode(),)), source.text, re.MULTILINE))
    if len(found) != 1 or int(found[0][1]) != old:
        return None
    return Edit(found[0].start(1), found[0].end(1), str(size).encode())


def _is_block_alone(context: Context, spot: Spot, name: str) -> bool:
    """The name stands for a block's threads and for nothing else of the program.

    It is used in its definition, in launches of which each grid rounds up by it, in variables for such grids, and in the kernel itself.
    """
    text = re.escape(name).encode()
    rounds = rb"\(\s*[\w.\->]+\s*\+\s*" + text + rb"\s*-\s*1\s*\)\s*/\s*" + text + rb"\b"
    grid = re.compile(rb"\b(\w+)\s*=\s*" + rounds + rb"\s*;")
    for source in context.program.sources.values():
        body = spot.procedure.body if source is spot.source else None
        whole = _COMMENT.sub(lambda match: b" " * len(match[0]), source.text)
        if body is not None:
            whole = whole[: body.start_byte] + b" " * (body.end_byte - body.start_byte) + whole[body.end_byte :]
        grids = {match[1] for match in grid.finditer(whole)}
        rest = grid.sub(b" ", whole)
        given = rb"(?:" + rb"|".join([rounds, *(re.escape(one) + rb"\b" for one in sorted(grids))]) + rb")"
        rest = re.sub(rb"<<<\s*" + given + rb"\s*,\s*" + text + rb"\b", b" ", rest)
        rest = re.sub(_DEFINED % (text, text), b" ", rest, flags=re.MULTILINE)
        if re.search(rb"\b" + text + rb"\b", rest):
            return False
    return True


def _in_launches(spot: Spot, launches: list[tuple[Source, Launch]], old: int, size: int) -> dict[str, tuple[Edit, ...]]:
    """The number in the launches themselves, where the grid rounds up by it and the kernel does not know it."""
    if _has_number(spot, old) or _has_number(spot, old - 1) or b"__shared__" in _body(spot):
        return {}
    edits: dict[str, tuple[Edit, ...]] = {}
    name = re.escape(spot.procedure.model.name).encode()
    rounded = rb"(\(\s*[\w.\->]+\s*\+\s*)(%d)(\s*\)\s*/\s*)(%d)(\s*,\s*)(%d)(\s*(?:,[^>]*)?>>>)" % (old - 1, old, old)
    for source, _ in launches:
        found = list(re.finditer(rb"\b" + name + rb"\s*<<<\s*" + rounded, source.text))
        if len(found) != len([one for one, _ in launches if one is source]):
            return {}
        edits[source.path] = tuple(
            Edit(match.start(group), match.end(group), str(number).encode())
            for match in found
            for group, number in ((2, size - 1), (4, size), (6, size))
        )
    return edits


def _launch_bounds(context: Context, spot: Spot) -> Iterable[Change]:
    """Tells the compiler how many threads a block of the kernel has, where all launches agree (CUDA C++ Programming Guide, "Launch Bounds")."""
    kernel = spot.procedure.model
    if "global" not in kernel.marks or spot.procedure.is_broken or "launch_bounds" in _head(spot):
        return
    sizes = {
        block_of(one.file, kernel.name)
        for one in context.program.sources.values()
        if launches_of(one.file, kernel.name)
    }
    size = sizes.pop() if len(sizes) == 1 else None
    if size is None or not 32 <= size <= 1024:
        return
    at = spot.source.text.find(kernel.name.encode(), spot.procedure.node.start_byte)
    void = spot.source.text.rfind(b"void", spot.procedure.node.start_byte, at)
    if void < 0:
        return
    text = f"void __launch_bounds__({size})".encode()
    yield Change(
        {spot.source.path: (Edit(void, void + 4, text),)},
        kernel.first,
        f"Set launch bounds of {size} threads per block",
    )


def _head(spot: Spot) -> str:
    body = spot.procedure.body
    end = spot.procedure.node.end_byte if body is None else body.start_byte
    return spot.source.text[spot.procedure.node.start_byte : end].decode("utf-8", "replace")


def _body(spot: Spot) -> bytes:
    body = spot.procedure.body
    return b"" if body is None else spot.source.text[body.start_byte : body.end_byte]


def _has_number(spot: Spot, number: int) -> bool:
    return re.search(rb"(?<![\w.])%d(?![\w.])" % number, _body(spot)) is not None


RECIPES: tuple[Recipe, ...] = (
    *(
        Recipe(
            f"block-size-{size}",
            f"Launches a kernel with blocks of {size} threads.",
            "The size is set in one place of the source, all launches agree on it, and the kernel itself does not rely on a particular one.",
            _CAUSES, ("cuda",), "reassociates floating point", partial(_other_size, size=size), promise, everywhere=False,
        )
        for size, promise in zip(SIZES, (0.3, 0.5, 0.5, 0.3, 0.2), strict=True)
    ),
    Recipe(
        "launch-bounds",
        "Gives the compiler the number of threads per block, so that it can use all the registers available to them.",
        "All launches have the same constant number of threads per block.",
        _BOUNDS, ("cuda",), "exact", _launch_bounds, 0.3, everywhere=False,
    ),
)  # fmt: skip
