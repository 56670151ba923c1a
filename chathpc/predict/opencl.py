"""OpenCL C on pocl and this machine's processor: what a launch does, followed in the code that pocl's own compiler makes of it; as a Prediction.

pocl compiles a kernel to a function that runs a whole work-group, its loops over work-items vectorised or not. That function is taken before it
runs (machine/opencl_compile.c) and followed for a sample of the work-groups, with the launch's real arguments.
"""

from __future__ import annotations

import ctypes
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chathpc.errors import UsageError
from chathpc.predict import host_code, host_time
from chathpc.predict.alone import Parameter, described
from chathpc.predict.counts import Counts, Launch, Range
from chathpc.predict.devices import own_processor
from chathpc.predict.emulation import SAMPLED, WHOLE
from chathpc.predict.host_code import LLVM, Seen, Traced, Work
from chathpc.predict.kernel_time import Occupancy, Time
from chathpc.predict.prediction import Prediction, Tell
from chathpc.predict.program import Asked
from chathpc.predict.roofline import classify

FITS = 0.9  # of the last cache: more of it is full of other lines
LARGEST_LOCAL = 64 << 10
EVENTS = 10_000_000  # accesses and blocks that are followed of a launch, which takes about a second
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
_KERNEL = re.compile(r"\b(?:__)?kernel\s+(?:__attribute__\s*\(\(.*?\)\)\s*)*void\s+(\w+)\s*\(([^)]*)\)", re.S)
_QUALIFIER = re.compile(
    r"\b(?:__)?(?:global|constant|local|private|read_only|write_only|read_write|const|volatile|restrict)\b"
)
#: Types of OpenCL C by their names in CUDA, of the same width.
_SAME = {"uchar": "unsigned char", "ushort": "unsigned short", "uint": "unsigned int", "ulong": "unsigned long"}
_WIDTHS = {"char": 1, "short": 2, "half": 2, "int": 4, "float": 4, "long": 8, "double": 8, "size_t": 8}
_LINE = 64.0
_LEVELS = 3


@dataclass(frozen=True, slots=True)
class Local:
    """An argument in local memory, in bytes."""

    bytes: int


Argument = NDArray[np.generic] | np.generic | Local


@dataclass(frozen=True, slots=True)
class NDRange:
    """A launch: source, kernel, work-items by dimension, those of a group, arguments, options of the compiler."""

    source: Path
    kernel: str
    items: tuple[int, ...]
    local: tuple[int, ...]
    arguments: tuple[Argument, ...]
    options: str = ""

    @property
    def grid(self) -> tuple[int, int, int]:
        """Work-groups by dimension."""
        sizes = [n // m for n, m in zip(self.items, self.local, strict=True)] + [1, 1]
        return (sizes[0], sizes[1], sizes[2])

    @property
    def groups(self) -> int:
        """Work-groups."""
        x, y, z = self.grid
        return x * y * z


def compiled(launch: NDRange, folder: Path) -> str:
    """Assembly of the function that runs a work-group of the launch, as pocl compiles it. ChathpcError: pocl is not there, or the source is wrong."""
    kinds = [f"{_kind(a)}:{a.bytes if isinstance(a, Local) else a.nbytes}" for a in launch.arguments]
    numbers = [str(n) for n in (len(launch.items), *launch.items, *launch.local)]
    program = host_code.compiled("opencl_compile.c", host_code.tool("clang", LLVM), "-O1", "-rdynamic", "-lOpenCL")
    cache = Path(program).parent / "cache"
    cache.mkdir(exist_ok=True)
    environment = {**os.environ, "POCL_CACHE_DIR": str(cache), "POCL_LEAVE_KERNEL_COMPILER_TEMP_FILES": "1"}
    command = [program, str(launch.source), launch.options, launch.kernel, *numbers, *kinds]
    target, library = host_code.run(command, environment).strip().splitlines()[-2:]
    llc = host_code.tool("llc", LLVM)
    assembly = folder / "kernel.s"
    # The code is made for the processor that pocl names, whatever this machine can.
    cpu = f"-mcpu={target.rpartition('-linux-gnu-')[2]}"
    code = str(Path(library).parent / "parallel.bc")
    host_code.run([llc, "-O3", "-relocation-model=pic", cpu, code, "-o", str(assembly)])
    return only(assembly.read_text(), f"_pocl_kernel_{launch.kernel}_workgroup")


def _kind(argument: Argument) -> str:
    return "local" if isinstance(argument, Local) else "buffer" if isinstance(argument, np.ndarray) else "value"


def only(assembly: str, function: str) -> str:
    """Assembly without the other two functions that pocl makes of a kernel."""
    for other in re.findall(r"^\s*\.type\s+(_pocl_kernel_\w+),@function", assembly, re.M):
        if other != function:
            assembly = re.sub(rf"^{other}:.*?^\s*\.size\s+{other},[^\n]*\n", "", assembly, flags=re.M | re.S)
    return assembly


def sample(groups: int, wanted: int) -> list[range]:
    """Up to 8 runs of neighbouring work-groups, evenly spread: neighbours share lines, distant ones may do other work."""
    if wanted >= groups:
        return [range(groups)]
    runs = max(1, min(8, wanted // 4))
    length = max(1, wanted // runs)
    step = (groups - length) / max(1, runs - 1) if runs > 1 else 0
    return [range(round(k * step), round(k * step) + length) for k in range(runs)]


def work(launch: NDRange, caches: Sequence[tuple[int, int]], core: host_code.Core) -> Work:
    """Follow a launch on a machine with `caches` (bytes, ways; three levels) and cores like `core`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        code = host_code.traced(compiled(launch, folder))
        library = host_code.build(code, folder, host_code.tool("clang", LLVM))
        half, whole, followed = host_code.apart(lambda: _follow(launch, library, code, caches), 300)
    scale = launch.groups / followed
    atomics = host_code.count(code, whole, ("lock", "xchg"))
    touched, written = (_grown(launch, half, whole, followed, kind) for kind in (0, 1))
    return Work(
        instructions=host_code.count(code, whole, "") * scale, cycles=host_code.core_cycles(code, whole, core) * scale,
        mispredicted=whole.mispredicted * scale, missed_waits=host_code.missed_waits(code, whole, core) * scale, atomics=atomics * scale,
        calls=host_code.count(code, whole, "call") * scale,
        lines=_scaled(whole, scale, touched, sum(f[0] for f in whole.footprint), caches[2][0]), conflicts=whole.conflicts * scale,
        written_back=whole.written_back * scale, pages=(whole.pages[0] * scale, whole.pages[1] * scale), footprint=(touched, written),
        followed=followed / launch.groups, contended=whole.shared_atomics > 0.5 * atomics,
        operations={kind: n * scale for kind, n in host_code.operations(code, whole).items()},
    )  # fmt: skip


def _grown(launch: NDRange, half: Seen, whole: Seen, followed: int, kind: int) -> float:
    """Distinct lines of all groups, from those of half the sample and of all of it: what grew goes on growing, within the buffers."""
    arrays = [a for a in launch.arguments if isinstance(a, np.ndarray)]
    total = 0.0
    for array, a, b in zip(arrays, half.footprint, whole.footprint, strict=True):
        rest = launch.groups - followed
        more = (b[kind] - a[kind]) / max(1, followed - followed // 2) * rest
        total += min(array.nbytes / 64 + 1, b[kind] + more)
    return total


def _scaled(seen: Seen, scale: float, touched: float, compulsory: float, last: int) -> tuple[tuple[float, ...], ...]:
    """Lines by level of all groups. Those that the caches had never seen grow as the footprint does, the others with the groups; with a footprint
    that fits the last cache they are there from an earlier launch.
    """
    memory = seen.lines[3]
    share = min(1.0, compulsory / sum(memory)) if sum(memory) else 0.0
    grown = tuple(n * ((1 - share) * scale + share * touched / max(1.0, compulsory)) for n in memory)
    first, second, third = (tuple(n * scale for n in level) for level in seen.lines[:3])
    if touched * 64 < FITS * last:
        return (first, second, tuple(a + b for a, b in zip(third, grown, strict=True)), (0.0, 0.0, 0.0))
    return (first, second, third, grown)


def _follow(launch: NDRange, library: Path, code: Traced, caches: Sequence[tuple[int, int]]) -> tuple[Seen, Seen, int]:
    follower = host_code.Follower(library, code, caches)
    run = getattr(follower.library, f"_pocl_kernel_{launch.kernel}_workgroup")
    pointers: list[int] = []
    keep: list[object] = []
    # pocl hands variables in local memory over as further arguments; it does not say of what size.
    for argument in (*launch.arguments, *(Local(LARGEST_LOCAL) for _ in range(8))):
        if isinstance(argument, (Local, np.ndarray)):
            size = argument.bytes if isinstance(argument, Local) else argument.nbytes
            room = np.zeros(size + 4096, np.uint8)
            aligned = 4096 if size >= 4096 else 64
            at = -(-room.ctypes.data // aligned) * aligned
            if isinstance(argument, np.ndarray):
                ctypes.memmove(at, argument.ctypes.data, size)
                follower.buffer(at, size)
            slot = ctypes.c_void_p(at)
            keep += [room, slot]
            pointers.append(ctypes.addressof(slot))
        else:
            value = np.array([argument])
            keep.append(value)
            pointers.append(value.ctypes.data)
    table = (ctypes.c_void_p * max(1, len(pointers)))(*pointers)
    # struct pocl_context: num_groups[3], global_offset[3], local_size[3], printf's buffer, …, work_dim
    local = (*launch.local, 1, 1)[:3]
    context = (ctypes.c_uint64 * 32)(*launch.grid, 0, 0, 0, *local)
    grid = launch.grid

    def one(group: int) -> None:
        x, rest = group % grid[0], group // grid[0]
        run(table, context, *(ctypes.c_uint64(v) for v in (x, rest % grid[1], rest // grid[1])))

    one(0)
    first = follower.seen()
    plan = sample(launch.groups, max(1, EVENTS // max(1, first.accesses + sum(first.counts))))
    order = [g for r in plan for g in r]
    if len(order) == launch.groups:
        # All are followed: as in the second of two launches, the caches hold what fits.
        for group in order:
            one(group)
    follower.library.trace_warm()
    half = follower.seen()
    for k, group in enumerate(order):
        if k == len(order) // 2:
            half = follower.seen()
        one(group)
    return half, follower.seen(), len(order)


def predict_opencl(source: Path, options: str, asked: Asked, progress: Tell) -> Prediction:
    """A kernel of OpenCL C on the cores at hand; `options` are the compiler's. UsageError, ChathpcError if pocl or LLVM's tools are missing."""
    kernels = {
        match[1]: match[2] for match in _KERNEL.finditer(_COMMENT.sub(" ", source.read_text("utf-8", errors="replace")))
    }
    name = asked.kernel or (next(iter(kernels)) if len(kernels) == 1 else "")
    if name not in kernels:
        raise UsageError(
            f"{source.name} has no kernel {name}." if name else f"{source.name} has {len(kernels)} kernels.",
            hint=f"Name one: --kernel {', '.join(kernels)}",
        )
    grid, block = asked.grid or asked.alone_grid, asked.block or asked.alone_block
    if grid is None or block is None:
        raise UsageError(
            "A launch has work-groups and work-items of each.",
            hint="Say both: --grid X,Y,Z --block X,Y,Z --param NAME=VALUE",
        )
    arguments, assumed = _arguments(name, kernels[name], asked.values, grid, block)
    progress("measuring this machine")
    caches, device = _caches(), own_processor()
    host = host_time.measured("native", caches)
    progress("following its work-groups")
    items = tuple(groups * size for groups, size in zip(grid, block, strict=True))
    launch = NDRange(source, name, items, block, arguments, options)
    found = work(launch, caches, host.core)
    parts = host_time.parts(found, host, host_time.FITTED, launch.groups)
    counts = _counts(found, Launch(name, grid, block))
    used = Occupancy(0, 0, 0.0, "", launch.groups / host.threads)
    said = (
        *assumed, "The caches hold what fits, as in the second of two launches.",
        "The costs that are not measured here were fitted on an EPYC of the third generation (Zen 3).",
        *([f"{found.followed:.0%} of the work-groups, spread over the launch, stand for all."] if found.followed < 1 else []),
    )  # fmt: skip
    return Prediction(
        kernel=name, mangled=name, launch=Launch(name, grid, block), counts=replace(counts, assumptions=said), roofline=classify(counts, device),
        time=Time(host_time.predicted(found, host, launch.groups), max(parts, key=lambda part: parts[part]), parts, used),
        lines=(), assumptions=said, device=device, architecture="this processor", tools={"pocl": ""},
    )  # fmt: skip


def _arguments(
    kernel: str, written: str, values: Mapping[str, str], grid: tuple[int, int, int], block: tuple[int, int, int]
) -> tuple[tuple[Argument, ...], list[str]]:
    """Arguments of a launch by the parameters as they are written; what was not given, in sentences."""
    known, local, given = [], set(), dict(values)
    for each in filter(None, map(str.strip, written.split(","))):
        *type_, name = _QUALIFIER.sub(" ", each).replace("*", " * ").split()
        pointer = "*" in type_
        base = _SAME.get(type_[0], " ".join(part for part in type_ if part != "*")) if type_ else ""
        scalar = re.fullmatch(r"(?:unsigned )?(char|short|half|int|float|long|double|size_t)(\d*)", base)
        if scalar is None or (scalar[2] and not pointer):
            raise UsageError(
                f"{name} of {kernel} is of type {base or '?'}, which cannot be given.",
                hint="There are numbers, and buffers of them.",
            )
        known.append(Parameter(name, scalar[1], pointer, _WIDTHS[scalar[1]]))
        if re.search(r"\b(?:__)?local\b", each):
            local.add(name)
            given.setdefault(name, str(block[0] * block[1] * block[2]))
    told = described(kernel, known, given, grid, block)
    made: list[Argument] = []
    for parameter, line in zip(known, told.text.splitlines()[4:], strict=True):
        what, *rest = line.split()
        if what == "value":
            made.append(np.frombuffer(bytes.fromhex(rest[0]), np.dtype(f"V{parameter.size}"))[0])
        elif parameter.name in local:
            made.append(Local(int(rest[0])))
        else:
            made.append(_buffer(parameter, int(rest[0]) // int(rest[1]), rest[3], float(rest[4])))
    return tuple(made), list(told.assumptions)


def _buffer(
    parameter: Parameter, elements: int, content: str, below: float
) -> np.ndarray[tuple[int], np.dtype[np.generic]]:
    kind = np.dtype(f"{'f' if parameter.real else 'i'}{parameter.width}")
    if content == "random":
        return (np.random.default_rng(0).random(elements) * (1.0 if parameter.real else below)).astype(kind)
    return np.arange(elements).astype(kind) if content == "iota" else np.zeros(elements, kind)


def _caches() -> tuple[tuple[int, int], ...]:
    """Bytes and ways of three levels of caches, as Linux tells them of the first core."""
    found: dict[int, tuple[int, int]] = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind, size, ways = (
                (index / name).read_text().strip() for name in ("level", "type", "size", "ways_of_associativity")
            )
            if kind != "Instruction":
                found[int(level)] = (int(size.rstrip("K")) << 10, max(int(ways), 1))
        except (OSError, ValueError):
            continue
    if sorted(found) != [1, 2, 3]:
        raise UsageError(
            f"This machine tells of {len(found)} levels of caches; {_LEVELS} are needed.",
            hint="Predict on a machine with Linux that shows them in /sys.",
        )
    return tuple(found[level] for level in sorted(found))


def _counts(found: Work, launch: Launch) -> Counts:
    def about(value: float) -> Range:
        factor = WHOLE if found.followed >= 1 else SAMPLED
        return Range(value, value / factor, value * factor)

    touched, written = found.footprint
    return Counts(
        operations={kind: about(value) for kind, value in found.operations.items()}, issued={}, requests={}, requested={}, sectors={},
        footprint_read=touched * _LINE, footprint_written=written * _LINE, dram_read=about(sum(found.lines[3]) * _LINE),
        dram_written=about(found.written_back * _LINE), longest=0.0, emulated=found.followed, warps=float(launch.threads),
    )  # fmt: skip
