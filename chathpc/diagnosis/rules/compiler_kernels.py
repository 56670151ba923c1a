"""What ptxas says of hot kernels: registers that did not suffice, in the light of the time that the kernel has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from chathpc.diagnosis.catalogue import NextMeasurement, cause
from chathpc.diagnosis.compiled import DEVICE_DEBUG, resources_of
from chathpc.diagnosis.device import Kernel, device_time, kernel_place, kernels
from chathpc.diagnosis.draft import Draft, kernel_time
from chathpc.diagnosis.fact import Fact, Form, Kind, Part
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.gpu_tools import fitted
from chathpc.diagnosis.kernel_counters import counted_names
from chathpc.diagnosis.records import Place
from chathpc.profile import numbers
from chathpc.profile.compiler import FileIndex, KernelResources
from chathpc.profile.kernel_names import kernel_title
from chathpc.profile.profile import Profile

#: What tells how often spilled values are moved.
_LOCAL_MEMORY = NextMeasurement(
    "ncu --section MemoryWorkloadAnalysis --section InstructionStats -k KERNEL -c 3 ./app",
    "the part of loads and stores that go to local memory",
)
#: Kernels that are looked up, the longest first.
_MOST = 8
#: Causes to which it matters how many registers a kernel has.
_ABOUT_REGISTERS = ("gpu-register-spill", "gpu-low-occupancy", "gpu-memory-latency", "gpu-kernel-bound")


def _resources(profile: Profile, kernel: str) -> KernelResources | None:
    capability = next((device.capability for device in profile.devices.values() if device.capability), "")
    return None if profile.build is None else resources_of(profile.build, kernel, capability)


def _spilled(found: KernelResources) -> int:
    return (found.spill_stores or 0) + (found.spill_loads or 0)


def spills(facts: Facts) -> Iterable[Draft]:
    """Hot kernels without counters of which ptxas says that registers are spilled."""
    profile = facts.profile
    if profile.build is None or not profile.build.kernels:
        return
    entry = cause("gpu-register-spill")
    every = kernels(profile)
    device = device_time(profile) or sum(kernel.seconds for kernel in every)
    counted = counted_names(profile)
    for kernel in every[:_MOST]:
        share = kernel.seconds / device if device else 0.0
        if kernel.name in counted or share < entry.threshold("min_kernel_share"):
            continue
        found = _resources(profile, kernel.name)
        if found is None or _spilled(found) < entry.threshold("min_spilled_bytes"):
            continue
        yield _spill_draft(facts, kernel, found, share, device)


def _spill_draft(facts: Facts, kernel: Kernel, found: KernelResources, share: float, device: float) -> Draft:
    entry = cause("gpu-register-spill")
    place, short = kernel_place(facts.profile, kernel), kernel.short
    return Draft(
        cause=entry.id,
        where=place,
        summary=f"{short} has {numbers.percent(share)} of the device's busy time, and runs out of registers: ptxas spills "
        f"{numbers.count(_spilled(found))} bytes per thread.",
        cost=kernel.seconds,
        share=share,
        threshold=entry.threshold("min_kernel_share"),
        headroom=entry.headroom * entry.threshold("by_compiler"),
        evidence=(
            kernel_time(facts, short, kernel.seconds, device, where=place),
            resource_evidence(found, short, place),
        ),
        signs=1,
        against=("ptxas does not report how often the spilled values are moved: outside loops they cost little.",),
        samples=0,
        next_measurement=fitted(facts.profile, _LOCAL_MEMORY, kernel.name),
    )  # fmt: skip


def debug_kernels(facts: Facts) -> Iterable[Draft]:
    """Hot kernels of files that nvcc compiled with -G, which turns the optimisation of device code off."""
    profile = facts.profile
    units = [] if profile.build is None else [unit for unit in profile.build.units if unit.options == DEVICE_DEBUG]
    if not units or (profile.time is None and facts.timeline is None):
        return
    entry = cause("unoptimised-build")
    index = FileIndex(unit.file for unit in units)
    every = kernels(profile)
    device = device_time(profile) or sum(kernel.seconds for kernel in every)
    mine = [kernel for kernel in every if index.find(profile.tree.file_name(kernel.top) or "")]
    cost = sum(kernel.seconds for kernel in mine)
    if not mine or cost < entry.threshold("min_share") * device:
        return
    unit = next(unit for unit in units if unit.file in index.find(profile.tree.file_name(mine[0].top) or ""))
    place, short = kernel_place(profile, mine[0]), mine[0].short
    name = unit.file.rsplit("/", 1)[-1]
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"Kernels with {numbers.percent(cost / device)} of the device's busy time were compiled without optimisation (-G), {short} first.",
        cost=cost,
        share=cost / device,
        headroom=entry.threshold("headroom_by_records"),
        evidence=(
            kernel_time(facts, f"kernels of {name}", cost, device, where=place, form=Form.MANY),
            Fact(
                id="", kind=Kind.REMARK, text=f"compiled with -G ({name}), by {unit.told_by}", value=1.0, unit="files",
                source=f"{unit.told_by} of {unit.compiler}", subject=short, where=place, tool=unit.compiler,
            ),
        ),
        signs=2,
        samples=0,
    )  # fmt: skip


def resource_evidence(found: KernelResources, subject: str, where: Place) -> Fact:
    """What ptxas says of a kernel; its value is what is spilled, in bytes a thread."""
    spilled = _spilled(found)
    told = (
        ("in stores", found.spill_stores, "bytes"),
        ("in loads", found.spill_loads, "bytes"),
        ("stack frame", found.stack, "bytes"),
    )
    return Fact(
        id="", kind=Kind.AMOUNT, subject=f"what ptxas spills of {subject} for {found.architecture}, for each thread,", value=float(spilled),
        parts=(*(Part(label, float(value), unit) for label, value, unit in told if value), Part("", float(found.registers or 0), "registers")),
        unit="bytes", source=f"ptxas -v, {found.architecture}: spill stores + spill loads", where=where, tool="ptxas",
    )  # fmt: skip


def with_resources(facts: Facts, drafts: Iterable[Draft]) -> list[Draft]:
    """`drafts`, those about the registers of a kernel with what ptxas says of it: for them, or against."""
    result = []
    for draft in drafts:
        name = draft.where.kernel
        found = _resources(facts.profile, name) if name and draft.cause in _ABOUT_REGISTERS else None
        if (
            found is None
            or name is None
            or found.spill_stores is None
            or any(item.tool == "ptxas" for item in draft.evidence)
        ):
            result.append(draft)
            continue
        item = resource_evidence(found, kernel_title(name), draft.where)
        draft = replace(draft, evidence=(*draft.evidence, item))
        if draft.cause == "gpu-register-spill" and _spilled(found):
            draft = replace(draft, signs=draft.signs + 1)
        elif draft.cause == "gpu-register-spill":
            draft = replace(
                draft, against=(*draft.against, "ptxas spills nothing: local memory holds arrays with computed indices.")
            )  # fmt: skip
        result.append(draft)
    return result


RULES = (spills, debug_kernels)
