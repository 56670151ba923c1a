"""The profilers of each maker of GPUs, and the maker's words. Rules and catalogue speak NVIDIA's; what is told of another maker's
device is said in its own.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from chathpc.diagnosis.catalogue.entry import NextMeasurement
from chathpc.profile.kernel_names import Filter, filter_of
from chathpc.profile.profile import Profile


class Vendor(StrEnum):
    """Who made the devices of a profile."""

    NVIDIA = "nvidia"
    AMD = "amd"
    INTEL = "intel"


#: What tells the maker, the surest first: names of devices, formats of its own profilers, load modules, functions.
_DEVICES = {
    Vendor.NVIDIA: r"NVIDIA|Tesla|GeForce|Quadro|[RG]TX|\bGH200\b|\b[ABHLPTV]\d{1,3}\b",
    Vendor.AMD: r"\bAMD\b|\bMI\d{2,3}|\bgfx\d|Radeon|Instinct",
    Vendor.INTEL: r"\bIntel\b|\bArc\b|Data Center GPU (Max|Flex)",
}  # fmt: skip
_FORMATS = {Vendor.NVIDIA: r"Nsight|nsys", Vendor.AMD: r"^ro?c|^rpd"}
_MODULES = {
    Vendor.NVIDIA: r"/libcu(da|dart|blas|pti)\b", Vendor.AMD: r"/lib(amdhip64|hsa-runtime64|rocprofiler|roctracer)\b",
    Vendor.INTEL: r"/lib(ze_loader|ze_intel_gpu|ur_adapter_level_zero|pi_level_zero|sycl)\b",
}  # fmt: skip
_FUNCTIONS = {
    Vendor.NVIDIA: r"__?cuda\w+|cuda[A-Z]\w+|cu(Launch|Mem|Stream|Ctx|Module|Event)\w*", Vendor.AMD: r"hip[A-Z]\w+|__hip\w+|hsa_\w+",
    Vendor.INTEL: r"ze[A-Z][a-z]+[A-Z]\w+|ur(Enqueue|Queue|Event)\w+",
}  # fmt: skip


@lru_cache(maxsize=4)
def vendor_of(profile: Profile) -> Vendor | None:
    """The maker of the profile's devices; None where nothing tells it."""
    tree = profile.tree
    signs = (
        (_DEVICES, [device.name for device in profile.devices.values()]),
        (_FORMATS, [profile.format]),
        (_MODULES, tree.modules),
        (_FUNCTIONS, tree.names),
    )
    for patterns, texts in signs:
        for vendor, pattern in patterns.items():
            # Devices, formats and modules hold the words anywhere; functions begin with them.
            look = re.compile(pattern)
            if any((look.match if patterns is _FUNCTIONS else look.search)(text) for text in texts):
                return vendor
    return None


#: What the other makers' profilers of kernels and of timelines tell.
_KERNELS = "its speed-of-light page shows whether arithmetic, memory or latency is the limit"
_INTEL_KERNELS = "what the instructions of each kernel wait for"


def fitted(profile: Profile, following: NextMeasurement, kernel: str = "") -> str:
    """A measurement with the profiler of the devices' maker, for the kernel at hand; with what it tells."""
    command, tells = following.command, following.tells
    vendor, tool = vendor_of(profile), command.partition(" ")[0]
    only = filter_of(kernel)
    if tool in ("ncu", "cuobjdump") and vendor == Vendor.AMD:
        command, tells = f"rocprof-compute profile -n {only.word or 'run'}{_amd(only)} -- ./app", _KERNELS
    elif tool in ("ncu", "cuobjdump") and vendor == Vendor.INTEL:
        command, tells = "vtune -collect gpu-hotspots -knob profiling-mode=source-analysis -- ./app", _INTEL_KERNELS
    elif tool == "nsys" and vendor == Vendor.AMD:
        command = "rocprofv3 --sys-trace --output-format pftrace -- ./app"
        tells = f"a timeline for ui.perfetto.dev: {tells[:1].lower()}{tells[1:]}"
    elif tool == "nsys" and vendor == Vendor.INTEL:
        command = "hpcrun -e REALTIME -e gpu=level0 -t ./app"
    command = command.replace(" -k KERNEL", _nvidia(only))
    return f"{command} ({in_words_of(vendor, tells)})"


def counters(profile: Profile, kernel: str = "") -> str:
    """The command that collects the counters of a kernel, of all without one."""
    count = " -k KERNEL -c 3" if kernel else ""
    return fitted(profile, NextMeasurement(f"ncu --set full{count} ./app", ""), kernel).partition(" (")[0]


def timeline(profile: Profile) -> str:
    """The command that records a timeline of the devices."""
    return fitted(profile, NextMeasurement("nsys profile --trace=cuda,nvtx,osrt,mpi ./app", "")).partition(" (")[0]


def stall_events(profile: Profile) -> str:
    """The event by which hpcrun samples what kernels wait for."""
    by: dict[Vendor | None, str] = {Vendor.AMD: "gpu=amd,pc", Vendor.INTEL: "gpu=level0,inst"}
    return by.get(vendor_of(profile), "gpu=nvidia,pc")


def _nvidia(only: Filter) -> str:
    """Options of ncu by which a kernel is chosen: its exact name, or for the functor of a launcher a part of the whole name."""
    if not only.word:
        return ""
    return f" -k {only.word}" if only.exact else f" --kernel-name-base demangled -k 'regex:{only.pattern}'"


def _amd(only: Filter) -> str:
    """rocprof-compute takes part of the name."""
    return f" -k {only.word}" if only.word else ""


#: NVIDIA's words → those of the others.
_WORDS = {
    Vendor.AMD: (
        ("warps", "wavefronts"), ("warp", "wavefront"), ("multiprocessors", "compute units"), ("multiprocessor", "compute unit"),
    ),
    Vendor.INTEL: (
        ("warps", "hardware threads"), ("warp", "hardware thread"), ("multiprocessors", "Xe cores"), ("multiprocessor", "Xe core"),
    ),
}  # fmt: skip


def in_words_of(vendor: Vendor | None, text: str) -> str:
    """A sentence about a device in the words of its maker; words that are part of a name stay."""
    if vendor == Vendor.AMD:  # HIP has CUDA's functions by its own names (hipify)
        text = re.sub(r"\bcudaMallocHost\b", "hipHostMalloc", text)
        text = re.sub(r"\bcuda(?=[A-Z]\w+)|\bcub(?=::)", lambda found: "hipcub" if found[0] == "cub" else "hip", text)
        text = (
            text.replace("cuRAND", "rocRAND").replace("NVLink", "Infinity Fabric").replace("nccl-tests", "rccl-tests")
        )
    for word, own in _WORDS.get(vendor, ()) if vendor else ():
        text = re.sub(rf"(?<![\w:<(,/.]){word}(?![\w:(<])", own, text)
        text = re.sub(rf"(?<![\w:<(,/.]){word.capitalize()}(?![\w:(<])", own[:1].upper() + own[1:], text)
    return text
