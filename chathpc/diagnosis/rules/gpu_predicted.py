"""What was predicted of kernels that have no counters, set beside the finding that kernels fill the device: a suspicion, no measurement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.device import MOST_KERNELS, Kernel, kernel_place, kernels
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.fact import Fact, Form, Kind
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.kernel_counters import counted_names
from chathpc.profile import numbers
from chathpc.profile.kernel_names import base_key, kernel_key
from chathpc.profile.remark import PredictedKernel

#: What a predicted time is most for → the cause that counters may confirm.
_CAUSES = {
    "memory": "gpu-memory-bandwidth", "l2": "gpu-memory-bandwidth", "latency": "gpu-memory-latency", "fp64": "gpu-fp64-bound",
    "fp32": "gpu-compute-bound", "integer": "gpu-compute-bound", "issue": "gpu-compute-bound", "tensor": "gpu-compute-bound",
    "special": "gpu-compute-bound", "atomic": "gpu-atomics-contention", "atomics": "gpu-atomics-contention",
}  # fmt: skip
_WORDS = {
    "memory": "device memory", "l2": "the L2 cache", "l1": "L1 and shared memory", "issue": "instruction issue", "latency": "waiting",
    "atomic": "atomics", "mapped": "host memory",
}  # fmt: skip
#: Kernels whose prediction is told.
_MOST = 3


def with_predictions(facts: Facts, drafts: Sequence[Draft]) -> list[Draft]:
    """`drafts`, where kernels fill the device, with what was predicted of its hottest kernels without counters."""
    profile = facts.profile
    if not profile.predicted:
        return list(drafts)
    counted = {kernel_key(name) for name in counted_names(profile)}
    pairs = [
        (kernel, found)
        for kernel in kernels(profile)[:MOST_KERNELS]
        if kernel_key(kernel.name) not in counted and (found := _of(kernel, profile.predicted)) is not None
    ][:_MOST]
    if not pairs:
        return list(drafts)
    evidence = tuple(_fact(facts, kernel, found) for kernel, found in pairs)
    suspected = _cause(pairs[0][1])
    return [
        replace(
            draft,
            evidence=(*draft.evidence, *evidence),
            suspected=(*draft.suspected, *([suspected] if suspected else [])),
        )
        if draft.cause == "gpu-kernel-bound"
        else draft
        for draft in drafts
    ]


def _of(kernel: Kernel, predicted: Sequence[PredictedKernel]) -> PredictedKernel | None:
    """The prediction for a kernel: of its whole name, else the only one of its own name."""
    exact = [each for each in predicted if kernel_key(each.kernel) == kernel_key(kernel.name)]
    near = [each for each in predicted if base_key(each.kernel) == base_key(kernel.name)]
    return exact[0] if exact else near[0] if len(near) == 1 else None


def _cause(found: PredictedKernel) -> str:
    if (
        found.used is not None
        and 1 - found.used > cause("gpu-uncoalesced-access").threshold("min_excess")
        and found.limiter in ("memory", "l1", "l2")
    ):
        return "gpu-uncoalesced-access"
    return _CAUSES.get(found.limiter, "")


def _fact(facts: Facts, kernel: Kernel, found: PredictedKernel) -> Fact:
    value, low, high = found.seconds
    intensity = (
        f", {numbers.number(found.intensity)} {found.kind} operations per byte of device memory (balance point {numbers.number(found.balance)})"
        if found.kind
        else ""
    )
    used = (
        f" Threads use {numbers.percent(found.used)} of the sectors of device memory that they touch."
        if found.used is not None
        else ""
    )
    likely = min(max(round(100 * found.probability), 1), 99)
    text = (
        f"Predicted for {kernel.short} on {found.device}, not measured: {found.bound}-bound ({likely} % likely)"
        f"{intensity}; {numbers.ranged(value, low, high, numbers.seconds)} a launch, most of it for "
        f"{_WORDS.get(found.limiter, f'{found.limiter} instructions')}.{used}"
    )
    return Fact(
        id="", kind=Kind.REMARK, subject=kernel.short, form=Form.NAME, value=value, unit="s", text=text, metric=None,
        source="chathpc predict: machine code interpreted, time modelled", where=kernel_place(facts.profile, kernel),
    )  # fmt: skip
