"""What ptxas -v (nvcc -Xptxas -v) says of kernels: registers, stack frame, spilled values, shared memory.

ptxas info    : Compiling entry function '_Z4axpyPfPKffi' for 'sm_90'
ptxas info    : Function properties for _Z4axpyPfPKffi
    16 bytes stack frame, 12 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 10 registers, used 1 barriers, 1024 bytes smem, 376 bytes cmem[0]
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from chathpc.adapters.compiler_records.collect import Collection, name_of
from chathpc.profile.compiler import KernelResources

_ENTRY = re.compile(r"ptxas info\s*: Compiling entry function '([^']{1,4000})' for '(sm_\w{1,12}|compute_\w{1,12})'")
_PROPERTIES = re.compile(r"(?:ptxas info\s*: )?Function properties for '?([^'\s]{1,4000})'?")
_FRAME = re.compile(r"(\d{1,12}) bytes stack frame, (\d{1,12}) bytes spill stores, (\d{1,12}) bytes spill loads")
_USED = re.compile(r"ptxas info\s*: Used (\d{1,6}) registers")
_SHARED = re.compile(r"(\d{1,12})(?:\+\d{1,12})? bytes smem")


@dataclass(slots=True)
class _Open:
    kernel: str
    architecture: str
    inside: bool = True
    frame: tuple[int, int, int] | None = None


class PtxasLog:
    """Takes in lines one after the other."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._open: _Open | None = None

    def take(self, line: str) -> bool:
        """True if the line is one of ptxas."""
        if (entry := _ENTRY.search(line)) is not None:
            self._open = _Open(name_of(entry[1]), entry[2])
        elif (properties := _PROPERTIES.search(line)) is not None:
            if self._open is not None:  # also those of functions that the kernel calls
                self._open.inside = name_of(properties[1]) == self._open.kernel
        elif (frame := _FRAME.search(line)) is not None:
            if self._open is not None and self._open.inside:
                self._open.frame = (int(frame[1]), int(frame[2]), int(frame[3]))
        elif (used := _USED.search(line)) is not None:
            self._close(int(used[1]), line)
        else:
            return line.startswith("ptxas ")
        return True

    def _close(self, registers: int, line: str) -> None:
        kernel, self._open = self._open, None
        if kernel is None:
            return
        stack, stores, loads = kernel.frame or (None, None, None)
        shared = _SHARED.search(line)
        self._collection.kernel(
            KernelResources(
                kernel.kernel, kernel.architecture, registers, stack, stores, loads,
                int(shared[1]) if shared else 0,
            )
        )  # fmt: skip
