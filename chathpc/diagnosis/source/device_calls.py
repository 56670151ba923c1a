"""Calls of a GPU's runtime in the host's code: in loops, and with memory that is not pinned."""

from __future__ import annotations

from chathpc.diagnosis.host_calls import HostCall, host_call, is_blocking_copy
from chathpc.diagnosis.source.model import Expr, Function, Kind, Loop, Unit, root
from chathpc.diagnosis.source.sign import Sign, is_unrolled

#: Calls and types that give memory which the system may move or page out (CUDA C++ Best Practices Guide, "Pinned memory").
_PAGEABLE = frozenset({"malloc", "calloc", "realloc", "aligned_alloc", "new"})
_PINNING = frozenset({
    "cudaHostRegister", "hipHostRegister", "cudaMallocHost", "hipHostMalloc", "cudaHostAlloc", "hipHostAlloc",
    "cudaMallocManaged",
})  # fmt: skip
_CAUSES = {
    HostCall.ALLOCATION: ("gpu-allocation-in-loop", "calls {call}", "allocates or frees memory of the device in a loop"),
    HostCall.WAIT: ("gpu-sync-overuse", "waits for the device by {call}", "waits for the device in a loop"),
    HostCall.COPY: ("gpu-sync-overuse", "copies by {call}, which returns only when the copy is done,", "copies and waits in a loop"),
    HostCall.LAUNCH: ("gpu-launch-bound", "launches {call}", "launches kernels in a loop"),
}  # fmt: skip


def in_loop(function: Function, unit: Unit, line: int, kind: HostCall) -> Sign | None:
    """A call of that kind at the line, in a loop that is not one of few and constant iterations."""
    if kind not in _CAUSES:
        return None
    name = next((each.kernel for each in function.launches if each.line == line), "") if kind == HostCall.LAUNCH else ""
    for call in function.calls_at(line):
        if host_call(call.short) == kind and (kind != HostCall.COPY or is_blocking_copy(call.short)):
            name = name or call.short
    loop = _around(function, unit, line)
    if not name or loop is None:
        return None
    cause, does, summary = _CAUSES[kind]
    over = f"the loop over {loop.variable}" if loop.variable else f"the loop at line {loop.first}"
    return Sign(cause, line, line, line, f"{does.format(call=name)} in each iteration of {over}", summary, calls=True)


def _around(function: Function, unit: Unit, line: int) -> Loop | None:
    """The innermost loop around a line that is no short one."""
    inner = function.innermost(line)
    around = function.chain(inner.index) if inner is not None else ()
    return next((loop for loop in around if not is_unrolled(loop, unit)), None)


def pageable(function: Function, line: int) -> Sign | None:
    """A copy at the line from or to memory that the same function has from malloc, new or a vector, and does not register."""
    if any(call.short in _PINNING for one in function.statements if one.expr is not None for call in one.expr.calls()):
        return None
    for call in function.calls_at(line):
        if host_call(call.short) != HostCall.COPY or len(call.parts) < 3:
            continue
        for part in call.parts[:2]:
            made = _made(function, part)
            if made:
                shown = function.show(part)
                return Sign(
                    "gpu-pageable-copies", line, line, line,
                    f"copies {shown} by {call.short}, memory from {made}: it is pageable, so the driver copies it once more",
                    "copies memory that is not pinned",
                    calls=True,
                )  # fmt: skip
    return None


def _made(function: Function, part: Expr) -> str:
    """What gave the memory that a pointer names, if that is pageable; empty otherwise."""
    call = next(part.calls(), None)
    name = root(call.base if call is not None and call.base is not None and call.short == "data" else part)
    declared = function.declared(name.text) if name.kind == Kind.NAME else None
    if declared is None:
        return ""
    if declared.type.rsplit("::", 1)[-1].startswith("vector<") and "llocator" not in declared.type:
        return "a std::vector"
    values = function.values(name.text)
    calls = [value.text for value in values if value.kind == Kind.CALL and value.short in _PAGEABLE]
    return calls[0] if calls and len(calls) == len(values) else ""
