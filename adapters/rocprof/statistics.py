"""Statistics of rocprofv3 (`--stats`): names with their number, sum and extremes of times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from chathpc.adapters.rocprof import rows_of
from chathpc.adapters.rocprof.intake import SYSTEM_TRACE, kernel_name
from chathpc.adapters.traced.aggregates import Row, What, profile_of
from chathpc.adapters.traced.recording import amount
from chathpc.profile.profile import Profile

_CALL = re.compile(r"(?:__)?hip[A-Z]|hsa_|nccl[A-Z]|roctx|rocDec|rocJpeg|omp_")
_COPY = re.compile(r"MEMORY_COPY_|Memcpy|hipMemcpy", re.I)
#: Sums over whole groups of calls: they hold the same time once more.
_DOMAINS = re.compile(
    r"(?:HIP|HSA|MARKER|RCCL|ROCDECODE|ROCJPEG|OMPT)_?[A-Z_]*(?:_API|_EXT|OMPT)|KERNEL_DISPATCH|MEMORY_COPY|SCRATCH_MEMORY|MEMORY_ALLOCATION"
)


def read(path: Path, files: Iterable[Path]) -> Profile:
    """A profile of sums only: no call tree, no timeline."""
    return profile_of(
        chain.from_iterable(map(_rows, files)), path, format="rocprofv3 statistics", title="HIP program", tool="rocprofv3", what="statistics",
        timeline=SYSTEM_TRACE,
    )  # fmt: skip


def _rows(path: Path) -> Iterator[Row]:
    for row in rows_of(path):
        name, time = row.get("name", ""), amount(row.get("totaldurationns"))
        if name and time is not None and not _DOMAINS.fullmatch(name):
            yield Row(_what(name, path.name), kernel_name(name), time, amount(row.get("calls")))


def _what(name: str, file: str) -> What:
    if "marker" in file:
        return What.RANGE
    if _CALL.match(name) or "_api_" in file:
        return What.CALL
    return What.COPY if _COPY.match(name) else What.KERNEL
