"""Writes what compilers say of loops, calls and kernels: records of GCC (JSON, text), remarks of LLVM (YAML, text), output of ptxas.

Layouts: GCC internals manual, "Dump optimization records"; GCC manual, -fopt-info; LLVM documentation, "Remarks"; CUDA compiler driver
documentation, "Printing code generation statistics".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Loop:
    """A loop: `reason` None means that it was vectorised; else the words of the compiler, at line `at`."""

    file: str
    line: int
    function: str = "work"
    reason: str | None = None
    at: int = 0


@dataclass(frozen=True)
class Call:
    """A call: `reason` None means that it was inlined."""

    file: str
    line: int
    caller: str
    callee: str
    reason: str | None = None


@dataclass(frozen=True)
class Kernel:
    """A kernel as ptxas tells of it; sizes in bytes."""

    name: str
    registers: int = 32
    stack: int = 0
    stores: int = 0
    loads: int = 0
    shared: int = 0
    architecture: str = "sm_90"


Item = Loop | Call


def gcc_text(items: Iterable[Item]) -> str:
    """Messages of -fopt-info-optimized-missed."""
    lines = []
    for item in items:
        place = f"{item.file}:{item.line}:7:"
        if isinstance(item, Call):
            lines.append(
                f"{place} optimized:   Inlining {item.callee}/3 into {item.caller}/4."
                if item.reason is None
                else f"{place} missed:   not inlinable: {item.caller}/4 -> {item.callee}/3, {item.reason}"
            )
        elif item.reason is None:
            lines.append(f"{place} optimized: loop vectorized using 16 byte vectors")
        else:
            lines.append(f"{place} missed: couldn't vectorize loop")
            lines.append(f"{item.file}:{item.at or item.line}:9: missed: {item.reason}")
    return "".join(f"{line}\n" for line in lines)


def gcc_records(items: Iterable[Item], version: str = "12.2.0") -> str:
    """Records of -fsave-optimization-record: generator, passes, records."""
    records: list[dict[str, Any]] = []
    for item in items:
        if isinstance(item, Call):
            words = (
                ["  Inlining ", _node(item.callee), " into ", _node(item.caller), ".\n"]
                if item.reason is None
                else ["  not inlinable: ", _node(item.caller), " -> ", _node(item.callee), f", {item.reason}\n"]
            )
            records.append(_record("success" if item.reason is None else "failure", item, item.line, words))
            continue
        inside = []
        if item.reason is not None:
            inside.append(_record("failure", item, item.at or item.line, [item.reason + "\n"]))
        records.append(_record("scope", item, item.line, ["=== analyze_loop_nest ===\n"]) | {"children": inside})
        end = "couldn't vectorize loop\n" if item.reason is not None else "loop vectorized using 16 byte vectors\n"
        records.append(_record("failure" if item.reason is not None else "success", item, item.line, [end]))
    generator = {"version": version, "name": "GNU C17", "pkgversion": "", "target": "x86_64-linux-gnu"}
    passes = [{"num": 1, "type": "gimple", "name": "vect", "id": "0x1", "optgroups": ["vec"]}]
    return json.dumps([{"format": "1", "generator": generator}, passes, records])


def _node(name: str) -> dict[str, Any]:
    return {"symtab_node": f"{name}/3", "location": {"line": 1, "file": "x.c", "column": 1}}


def _record(kind: str, item: Item, line: int, message: list[Any]) -> dict[str, Any]:
    function = item.function if isinstance(item, Loop) else item.caller
    return {
        "kind": kind,
        "location": {"line": line, "file": item.file, "column": 7},
        "pass": "0x1",
        "message": message,
        "impl_location": {"line": 1, "file": "tree-vect-loop.cc", "function": "f"},
        "function": function,
    }


def llvm_documents(items: Iterable[Item]) -> str:
    """YAML documents of -fsave-optimization-record."""
    documents = []
    for item in items:
        if isinstance(item, Call):
            words = (
                [("Callee", item.callee), ("String", "' inlined into '"), ("Caller", item.caller), ("String", "' with '"), ("String", "(cost=")]
                if item.reason is None
                else [("Callee", item.callee), ("String", "' will not be inlined into '"), ("Caller", item.caller), ("String", f"' because {item.reason}'")]
            )  # fmt: skip
            kind, name = ("Passed", "Inlined") if item.reason is None else ("Missed", "NoDefinition")
            documents.append(_document(kind, "inline", name, item.file, item.line, item.caller, words))
        elif item.reason is None:
            words = [
                ("String", "'vectorized loop (vectorization width: '"),
                ("VectorizationFactor", "'2'"),
                ("String", "')'"),
            ]
            documents.append(
                _document("Passed", "loop-vectorize", "Vectorized", item.file, item.line, item.function, words)
            )
        else:
            words = [("String", "'loop not vectorized: '"), ("String", item.reason)]
            documents.append(
                _document("Analysis", "loop-vectorize", "Reason", item.file, item.at or item.line, item.function, words)
            )
            words = [("String", "loop not vectorized")]
            documents.append(
                _document("Missed", "loop-vectorize", "MissedDetails", item.file, item.line, item.function, words)
            )
    return "".join(documents)


def _document(
    kind: str, work: str, name: str, file: str, line: int, function: str, words: Sequence[tuple[str, str]]
) -> str:
    said = "".join(f"  - {f'{key}:':<17}{value}\n" for key, value in words)
    return (
        f"--- !{kind}\nPass:            {work}\nName:            {name}\n"
        f"DebugLoc:        {{ File: {file}, Line: {line}, Column: 5 }}\nFunction:        {function}\nArgs:\n{said}...\n"
    )


def llvm_text(items: Iterable[Item]) -> str:
    """Remarks of -Rpass, -Rpass-missed and -Rpass-analysis."""
    lines = []
    for item in items:
        place = f"{item.file}:{item.line}:5: remark:"
        if isinstance(item, Call):
            lines.append(
                f"{place} '{item.callee}' inlined into '{item.caller}' with (cost=5, threshold=225) at callsite {item.caller}:1:2; [-Rpass=inline]"
                if item.reason is None
                else f"{place} '{item.callee}' not inlined into '{item.caller}' because {item.reason} [-Rpass-missed=inline]"
            )
        elif item.reason is None:
            lines.append(
                f"{place} vectorized loop (vectorization width: 2, interleaved count: 2) [-Rpass=loop-vectorize]"
            )
        else:
            lines.append(
                f"{item.file}:{item.at or item.line}:9: remark: loop not vectorized: {item.reason} [-Rpass-analysis=loop-vectorize]"
            )
            lines.append(f"{place} loop not vectorized [-Rpass-missed=loop-vectorize]")
    return "".join(f"{line}\n" for line in lines)


def ptxas_text(kernels: Iterable[Kernel]) -> str:
    """Output of ptxas -v."""
    lines = ["ptxas info    : 0 bytes gmem"]
    for kernel in kernels:
        lines += [
            f"ptxas info    : Compiling entry function '{kernel.name}' for '{kernel.architecture}'",
            f"ptxas info    : Function properties for {kernel.name}",
            f"    {kernel.stack} bytes stack frame, {kernel.stores} bytes spill stores, {kernel.loads} bytes spill loads",
            f"ptxas info    : Used {kernel.registers} registers, used 1 barriers, {kernel.shared} bytes smem, 372 bytes cmem[0]",
        ]
    return "".join(f"{line}\n" for line in lines)
