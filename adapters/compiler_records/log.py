"""A build's log: messages of GCC, LLVM and ptxas and command lines, in any mixture, line by line."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from chathpc.adapters.compiler_records.collect import Collection, name_of
from chathpc.adapters.compiler_records.commands import named_by, unit_of
from chathpc.adapters.compiler_records.gcc import NAME as GCC
from chathpc.adapters.compiler_records.gcc import GccMessages
from chathpc.adapters.compiler_records.llvm import LlvmRemarks
from chathpc.adapters.lines import lines
from chathpc.errors import AdapterError
from chathpc.profile.compiler import CompiledUnit, KernelResources

#: A message: place, kind, text. Old GCC says `note` of everything.
MESSAGE = re.compile(
    r"(?P<file>[^\s:][^:\n]{0,400}):(?P<line>\d{1,10}):(?P<column>\d{1,10}): (?P<kind>optimized|missed|note|remark): ?(?P<text>.*)"
)
_FLAG = re.compile(r" \[-Rpass(?:-(?P<kind>missed|analysis))?=(?P<work>[\w-]{1,60})\]\s*$")
#: GCC's summary of a unit, the only message of a unit without optimisation.
SUMMARY = re.compile(r"Inlined (?P<calls>\d{1,9}) calls, eliminated \d{1,9} functions\s*$")
_CALLS = re.compile(r"not inlinable|will not early inline|Inlined |Inlining ")
#: Characters of a line that are looked at.
_LONGEST = 1 << 20
HOW = "Write it again: gcc -O3 -g -fopt-info-vec-missed -fopt-info-inline-missed …, clang -O3 -g -Rpass-missed=…, nvcc -Xptxas -v …"


def read_log(path: Path, collection: Collection) -> None:
    """Everything that the lines of a log hold; AdapterError if that is nothing."""
    gcc, llvm, ptxas = GccMessages(collection), LlvmRemarks(collection), PtxasLog(collection)
    summaries: list[tuple[int, bool]] = []
    known = 0
    unit = ""
    produced: CompiledUnit | None = None  # by debug information, which names the file later
    for line in lines(path, longest=_LONGEST):
        if (found := MESSAGE.match(line)) is not None:
            if found["kind"] == "remark":
                known += _remark(llvm, found)
            elif found["kind"] != "note" or _is_gcc(found["text"]):
                gcc.take(found["kind"], found["file"], int(found["line"]), "", found["text"])
                known += 1
                unit = unit or found["file"]
        elif (summary := SUMMARY.match(line)) is not None:
            summaries.append((int(summary["calls"]), gcc.count > 0))
            known += 1
        elif "ptxas" in line or "bytes stack frame" in line or "Function properties" in line:
            known += ptxas.take(line)
        elif (made := unit_of(line)) is not None:
            if produced is not None:
                collection.unit(produced)
            produced = made if not made.file else None
            if made.file:
                collection.unit(made)
            known += 1
        elif produced is not None and (name := named_by(line)):
            collection.unit(replace(produced, file=name))
            produced = None
    if produced is not None:
        collection.unit(produced)
    if not known:
        raise AdapterError("contains no known compiler message", path=path, hint=HOW)
    gcc.finish()
    llvm.finish()
    if gcc.count:
        collection.unit(CompiledUnit(unit, GCC, gcc.optimised or None, told_by="its messages"))
    elif summaries and not any(calls for calls, _ in summaries):
        # With -fopt-info-all, of which these summaries are, a unit that is optimised has messages of its passes.
        collection.unit(CompiledUnit("", GCC, False, told_by="its messages"))
    if llvm.count:
        collection.unit(CompiledUnit("", "LLVM", llvm.optimised or None, told_by="its remarks"))


def _remark(llvm: LlvmRemarks, found: re.Match[str]) -> bool:
    text = found["text"]
    flag = _FLAG.search(text[-120:])
    if flag is None:
        return False
    text = text[: text.rfind(" [-Rpass")]
    llvm.take(flag["kind"] or "passed", flag["work"], found["file"], int(found["line"]), "", text)
    return True


def _is_gcc(text: str) -> bool:
    """True for a note of the optimisers: those of warnings and errors look the same."""
    return "vectorized" in text or "===" in text or _CALLS.search(text) is not None


# -- what ptxas -v (nvcc -Xptxas -v) says of kernels --------------------------------------------------------------
#
#     ptxas info    : Compiling entry function '_Z4axpyPfPKffi' for 'sm_90'
#     ptxas info    : Function properties for _Z4axpyPfPKffi
#         16 bytes stack frame, 12 bytes spill stores, 12 bytes spill loads
#     ptxas info    : Used 10 registers, used 1 barriers, 1024 bytes smem, 376 bytes cmem[0]

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
