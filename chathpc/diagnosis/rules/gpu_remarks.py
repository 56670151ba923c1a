"""What Nsight Compute's own rules say of a kernel, set beside our finding: a witness, never the judge."""

from __future__ import annotations

import re
from dataclasses import replace

from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.fact import Fact, Kind, Part
from chathpc.diagnosis.kernel_counters import PREFIX, Counted
from chathpc.profile.remark import Remark
from chathpc.profile.text import clean

#: What makes accesses of memory slow shows as latency or as throughput.
_ACCESSES = frozenset(
    {
        "gpu-memory-latency", "gpu-low-occupancy", "gpu-atomics-contention", "gpu-register-spill", "gpu-uncoalesced-access",
        "gpu-shared-bank-conflicts",
    }
)  # fmt: skip
_LATENCY = _ACCESSES | {"gpu-barrier-stall", "gpu-dependency-stall", "gpu-instruction-fetch", "gpu-divergence"}
_MEMORY = _ACCESSES | {"gpu-memory-bandwidth"}
_COMPUTE = frozenset({"gpu-compute-bound", "gpu-fp64-bound", "gpu-tensor-cores-unused", "gpu-divergence"})
#: Causes about the launch: what limits the kernel once the device is filled may be said beside them.
_LAUNCH = frozenset({"gpu-small-grid", "gpu-tail-effect"})
#: What the speed-of-light rule says → causes that agree with it.
_SPEED = (
    ("grid is too small", frozenset({"gpu-small-grid"})),
    ("small grid", frozenset({"gpu-small-grid"})),
    ("latency", _LATENCY),
    ("compute is more heavily", _COMPUTE),
    ("memory is more heavily", _MEMORY),
    ("greater than 80", _MEMORY | _COMPUTE),
    ("balanced", _MEMORY | _COMPUTE | _LATENCY),
)
#: Rule → causes that it is about, whatever it says.
_THEMES = {
    "UncoalescedGlobalAccess": frozenset({"gpu-uncoalesced-access", "gpu-memory-latency"}),
    "MemoryApertureUsage": frozenset({"gpu-memory-latency"}),
    "MemoryCacheAccessPattern": frozenset({"gpu-uncoalesced-access"}),
    "UncoalescedSharedAccess": frozenset({"gpu-shared-bank-conflicts"}),
    "SharedMemoryConflicts": frozenset({"gpu-shared-bank-conflicts"}),
    "ThreadDivergence": frozenset({"gpu-divergence"}),
    "HighPipeUtilization": frozenset({"gpu-compute-bound", "gpu-fp64-bound"}),
    "TheoreticalOccupancy": frozenset({"gpu-low-occupancy"}),
    "AchievedOccupancy": frozenset({"gpu-tail-effect", "gpu-small-grid"}),
    "Occupancy": frozenset({"gpu-low-occupancy"}),
    "IssueSlotUtilization": frozenset({"gpu-memory-latency", "gpu-dependency-stall", "gpu-barrier-stall"}),
    "WorkloadImbalance": frozenset({"gpu-tail-effect"}),
}
#: Words of a rule about stalls or launches → the cause that they are about.
_WORDS = (
    (("long scoreboard", "l1tex", "lg throttle", "draining"), "gpu-memory-latency"),
    (("barrier",), "gpu-barrier-stall"),
    (("short scoreboard", "fixed latency", "mio throttle", "mio queue"), "gpu-dependency-stall"),
    (("math pipe", "math execution pipeline"), "gpu-compute-bound"),
    (("no instruction", "instruction fetch", "instruction cache"), "gpu-instruction-fetch"),
    (("tail effect", "partial wave"), "gpu-tail-effect"),
    (("small grid", "less than the gpu"), "gpu-small-grid"),
)  # fmt: skip
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
#: A quotation is cut to this many characters, and a finding holds at most so many.
_LONGEST, _MOST = 240, 3


def with_remarks(draft: Draft, kernel: Counted, *, doubt: bool = True) -> Draft:
    """The finding with the tool's own results about the same kernel and theme as evidence; a result of the speed-of-light
    rule that says otherwise becomes something that speaks against it, if `doubt` is wanted.
    """
    evidence: list[Fact] = []
    against: list[str] = []
    seen: set[str] = set()
    for remark in kernel.profile.remarks:
        if remark.node not in kernel.nodes or not _speaks(remark):
            continue
        causes = _about(remark)
        if draft.cause in causes and remark.rule not in seen and len(evidence) < _MOST:
            evidence.append(_quoted(remark, kernel))
            seen.add(remark.rule)
        elif doubt and remark.rule == "SOLBottleneck" and causes and draft.cause not in causes | _LAUNCH:
            against.append(f"{_tool(remark)}'s rule SOLBottleneck sees it otherwise: “{_short(remark)}”")
    return replace(
        draft,
        evidence=(*draft.evidence, *evidence),
        against=(*draft.against, *against[:1]),
        signs=draft.signs + bool(evidence),
    )


def _speaks(remark: Remark) -> bool:
    return remark.kind in ("optimization", "warning") or (remark.rule == "SOLBottleneck" and remark.kind != "error")


def _about(remark: Remark) -> frozenset[str]:
    """Causes that agree with a result of a rule; empty where that is not known."""
    text = f"{remark.title} {remark.text}".replace("_", " ").lower()
    if remark.rule == "SOLBottleneck":
        return next((causes for words, causes in _SPEED if words in text), frozenset())
    if remark.rule in _THEMES:
        return _THEMES[remark.rule]
    if remark.rule.startswith(("CPIStall", "LaunchConfiguration", "Launch")):
        return frozenset({name for words, name in _WORDS if any(word in text for word in words)})
    return frozenset()


def _tool(remark: Remark) -> str:
    return clean(remark.tool)[:40] or "The tool"


def _short(remark: Remark) -> str:
    """The title and the first sentence of a result."""
    text = " ".join(clean(remark.text).split())
    text = _SENTENCE.split(text, maxsplit=1)[0]
    title = " ".join(clean(remark.title).split())
    if title.replace(" ", "").lower() != remark.rule.lower() and title and not text.lower().startswith(title.lower()):
        text = f"{title}: {text}"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"


def _quoted(remark: Remark, kernel: Counted) -> Fact:
    rule = clean(remark.rule)[:40]
    parts: tuple[Part, ...] = ()
    if remark.speedup is not None and 0 <= remark.speedup <= 1:
        of = "the kernel's time" if remark.scope == "global" else "the unit's time"
        parts = (Part(f"part of {of} that could go", remark.speedup, "ratio"),)
    return Fact(
        id="", kind=Kind.REMARK, text=f"{rule}, “{_short(remark)}”", value=1.0, unit="rules", parts=parts, tool=_tool(remark),
        source=f"{_tool(remark)} rule {rule}", subject=kernel.short, metric=PREFIX + "time",
    )  # fmt: skip
