"""Measured launches of kernels with their class: a CSV file that the user names.

Columns as in the data of gpuFLOPBench (Scientific-Computing-Lab, MIT): `targetName`, `kernelName`, `Kernel Name`, `language` (CUDA, OMP),
`exeArgs`, `Grid Size`, `Block Size`, `device`, `traffic` (bytes/s), `spPerf`, `dpPerf` (operations/s), `intops` (instructions), `xtime` (ns) and
`class` (Compute-Bound, Bandwidth-Bound).
"""

from __future__ import annotations

import csv
import gzip
import io
import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from chathpc.errors import UsageError
from chathpc.profile.text import clean

#: The device that they were measured on, in the catalogue.
LABELS_DEVICE = "rtx3080"
Extent = tuple[int, int, int]
_EXTENT = re.compile(r"\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)")
#: What compilers call a target region: where it stands in its file, the function around it, its line.
_REGION = re.compile(r"__omp_offloading_[0-9a-f]+_[0-9a-f]+_(?P<function>.+)_l(?P<line>\d+)")
_MANGLED = re.compile(r"_Z(?:TS)?N?K?(\d+)")


@dataclass(frozen=True, slots=True)
class Label:
    """A measured launch.

    `program` is the folder of its source, `arguments` its command line. `fp32` and `fp64` are operations (a fused multiply-add is two),
    `integer` instructions of threads, `bytes` those moved to and from device memory, `seconds` the kernel's time.
    """

    program: str
    kernel: str
    signature: str
    language: str
    arguments: str
    grid: Extent
    block: Extent
    device: str
    fp32: float
    fp64: float
    integer: float
    bytes: float
    seconds: float
    compute_bound: bool

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells launches apart: program, kernel and the kernel with its types."""
        return self.program, self.kernel, self.signature

    @property
    def flops(self) -> float:
        """Floating-point operations."""
        return self.fp32 + self.fp64

    @property
    def function(self) -> str:
        """The kernel, or the function that a target region stands in."""
        region = _REGION.fullmatch(self.kernel)
        if region is None:
            return self.kernel
        name = region["function"]
        mangled = _MANGLED.match(name)
        return name if mangled is None else name[mangled.end() : mangled.end() + int(mangled[1])]

    @property
    def line(self) -> int | None:
        """The line of a target region."""
        region = _REGION.fullmatch(self.kernel)
        return None if region is None else int(region["line"])


def read_labels(path: Path, programs: Collection[str] | None = None) -> tuple[Label, ...]:
    """The launches in a CSV file, also a compressed one (.gz); with `programs` those of these programs alone. UsageError for what is none."""
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
        rows = list(csv.DictReader(io.StringIO(text)))
        found = tuple(_label(row) for row in rows)
    except OSError as error:
        raise UsageError(f"{clean(str(path))} cannot be read: {error.strerror or error}.") from None
    except (ValueError, KeyError, TypeError, EOFError, csv.Error) as error:
        raise UsageError(
            f"{clean(str(path))} is no table of measured launches: {clean(str(error))[:120]}.",
            hint="It needs the columns of gpuFLOPBench: targetName, kernelName, language, class, …",
        ) from None
    return tuple(each for each in found if programs is None or each.program in programs)


def _label(row: dict[str, str]) -> Label:
    seconds = float(row["xtime"]) * 1e-9
    kind = row["class"].lower()
    if not kind.startswith(("compute", "bandwidth")):
        raise ValueError(f"unknown class {row['class']!r}")
    return Label(
        program=row["targetName"],
        kernel=row["kernelName"],
        signature=row["Kernel Name"],
        language=row["language"],
        arguments=row["exeArgs"],
        grid=_extent(row["Grid Size"]),
        block=_extent(row["Block Size"]),
        device=row["device"],
        fp32=float(row["spPerf"]) * seconds,
        fp64=float(row["dpPerf"]) * seconds,
        integer=float(row["intops"]),
        bytes=float(row["traffic"]) * seconds,
        seconds=seconds,
        compute_bound=kind.startswith("compute"),
    )


def _extent(text: str) -> Extent:
    found = _EXTENT.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"no extent in three dimensions: {text!r}")
    return int(found[1]), int(found[2]), int(found[3])


def read_programs(path: Path) -> frozenset[str]:
    """Names of programs, one a line."""
    try:
        return frozenset(path.read_text("utf-8").split())
    except (OSError, ValueError) as error:
        raise UsageError(f"{clean(str(path))} cannot be read: {error}.") from None


def balanced(labels: Iterable[Label], count: int, seed: int = 0) -> tuple[Label, ...]:
    """`count` launches, as many of each language and class as of every other, one a program and language while there are enough.

    The same labels and seed give the same sample. Fewer where a language or class has not enough.
    """
    cells: dict[tuple[str, bool], list[Label]] = defaultdict(list)
    for each in sorted(labels, key=lambda one: one.key):
        cells[each.language, each.compute_bound].append(each)
    chosen: list[Label] = []
    for number, cell in enumerate(sorted(cells)):
        share = count // len(cells) + (number < count % len(cells))
        chosen += _spread(cells[cell], share, random.Random(f"{seed} {cell}"))  # noqa: S311 - a sample, no secret
    return tuple(sorted(chosen, key=lambda one: (one.language, one.key)))


def _spread(labels: Sequence[Label], count: int, source: random.Random) -> list[Label]:
    shuffled = source.sample(labels, len(labels))
    programs: set[str] = set()
    first: list[Label] = []
    rest: list[Label] = []
    for each in shuffled:
        (rest if each.program in programs else first).append(each)
        programs.add(each.program)
    return (first + rest)[:count]
