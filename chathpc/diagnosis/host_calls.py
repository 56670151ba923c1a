"""What a call of the host or a named range is for, by its name: launching, waiting, allocating, compiling, talking to
other ranks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from chathpc.profile.activity import Activity, activity_of_name


class HostCall(IntEnum):
    """Why the host is in a call, as far as it bears on the device."""

    OTHER = 0
    LAUNCH = 1
    WAIT = 2  #: until the device has done something
    COPY = 3  #: a copy that the host issues and may wait for
    ALLOCATION = 4  #: device or pinned memory
    COMPILATION = 5  #: compiling kernels, or loading code onto the device
    SETUP = 6  #: the device's context is made or left
    MPI = 7
    MPI_SETUP = 8


#: The version that CUPTI appends to names of calls: `cudaMalloc_v3020`, `cuMemAlloc_v2`.
_VERSION = re.compile(r"(_v\d+|_ptsz|_ptds|_spt)+$")
_COMPILATION = re.compile(
    r"(?i:nvrtc|hiprtc|nvjitlink|nvvm|comgr|ptxas)|^(cu|hip)(Module|Library)Load|^cudaLibraryLoad|^culink|^(hip)?cuLink"
    r"|(?i:compil(e|er|ing|ation)(?!d))|BuildProgram|(?i:autotun|inductor|_dynamo\b|TorchDynamo)",
)
_ALLOCATION = re.compile(
    r"(cuda|hip|cu)_?(Ext)?(Malloc|Free|Mem(Alloc|Free|Create|Map|Unmap|Release|AddressReserve|AddressFree|HostAlloc|HostRegister|HostUnregister)"
    r"|Host(Alloc|Malloc|Free|Register|Unregister))|hsa_amd_memory_(pool_)?(allocate|free|lock|unlock)|zeMem(Alloc|Free)"
)
_SETUP = re.compile(
    r"(cu|cuda|hip)(Init|InitDevice|SetDevice|GetDeviceCount|GetDevice|DeviceReset|DevicePrimaryCtx\w*|Ctx(Create|Destroy|Attach|Detach))$"
    r"|hsa_init|hsa_shut_down|cu(Init|DriverGetVersion)|cuGetProcAddress|amdgpu_device_initialize|pgi_uacc_(cuda_)?(init|select|enumerate)"
)
_WAIT = re.compile(
    r"(cuda|hip|cu)(Device|Stream|Event|Thread|Ctx)Synchronize|hsa_(amd_)?signal_wait|clFinish|clWaitFor|ze\w*Synchronize"
)
#: The name of the range in which PyTorch waits for the next batch.
_LOADER = re.compile(r"(enumerate\(DataLoader\))#\w+\.__next__")
#: Copies that return before they are done, and memsets, which do so too.
_ASYNCHRONOUS = re.compile(r"Async|Prefetch|[Mm]emset")
_IDLE = (Activity.BLOCKED, Activity.SLEEP, Activity.JOIN, Activity.LOCK)
_BY_ACTIVITY = {
    Activity.GPU_LAUNCH: HostCall.LAUNCH,
    Activity.GPU_COPY: HostCall.COPY,
    Activity.MPI: HostCall.MPI,
    Activity.MPI_SETUP: HostCall.MPI_SETUP,
    Activity.JIT: HostCall.COMPILATION,
}


def plain(name: str) -> str:
    """The call's name as its manual writes it: `cudaLaunchKernel_v7000` → `cudaLaunchKernel`.

    Of PyTorch's range in which it waits for the next batch what the user wrote: `enumerate(DataLoader)`.
    """
    return _LOADER.sub(r"\1", _VERSION.sub("", name.strip()))


def host_call(name: str) -> HostCall:
    """What the call with that name is for."""
    name = plain(name)
    for pattern, call in (
        (_COMPILATION, HostCall.COMPILATION),
        (_ALLOCATION, HostCall.ALLOCATION),
        (_SETUP, HostCall.SETUP),
        (_WAIT, HostCall.WAIT),
    ):
        if (pattern.search if call == HostCall.COMPILATION else pattern.match)(name):
            return call
    activity = activity_of_name(name)
    return HostCall.OTHER if activity is None else _BY_ACTIVITY.get(activity, HostCall.OTHER)


def is_compilation(name: str) -> bool:
    """True for a range or call in which code is compiled or loaded while the program runs."""
    return bool(_COMPILATION.search(plain(name)))


def is_blocking_copy(name: str) -> bool:
    """True for a copy call that returns only when the copy is done."""
    return host_call(name) == HostCall.COPY and not _ASYNCHRONOUS.search(name)


def is_waiting(name: str) -> bool:
    """True for a call of the operating system in which a thread waits for its next work: helper threads do so all the time,
    which says nothing."""
    return activity_of_name(name) in _IDLE


def classes(names: Sequence[str]) -> NDArray[np.uint8]:
    """The HostCall of each of `names`, with one entry more for "no name"."""
    return np.array([*map(host_call, names), HostCall.OTHER], dtype=np.uint8)
