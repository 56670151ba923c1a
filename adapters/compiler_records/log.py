"""A build's log: messages of GCC, LLVM and ptxas and command lines, in any mixture, line by line."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from chathpc.adapters.compiler_records.collect import Collection
from chathpc.adapters.compiler_records.commands import named_by, unit_of
from chathpc.adapters.compiler_records.gcc import NAME as GCC
from chathpc.adapters.compiler_records.gcc import GccMessages
from chathpc.adapters.compiler_records.llvm import LlvmRemarks
from chathpc.adapters.compiler_records.ptxas import PtxasLog
from chathpc.adapters.lines import lines
from chathpc.errors import AdapterError
from chathpc.profile.compiler import CompiledUnit

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
