"""OpenCL kernels on this machine's processor under pocl: launch from options, work followed in pocl's own code, time; as a Prediction."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from chathpc.errors import UsageError
from chathpc.predict import host_time
from chathpc.predict.alone import Parameter, described
from chathpc.predict.counts import Counts, Launch, Range
from chathpc.predict.devices import own_processor
from chathpc.predict.emulation import SAMPLED, WHOLE
from chathpc.predict.host_code import Work
from chathpc.predict.kernel_time import Occupancy, Time
from chathpc.predict.opencl import Argument, Local, NDRange, work
from chathpc.predict.prediction import Asked, Prediction, Tell
from chathpc.predict.roofline import classify

__all__ = ["predict_opencl"]

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
