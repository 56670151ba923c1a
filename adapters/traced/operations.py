"""What an operation of the device is, told from its name: kernels that communicate, copies by direction, memsets."""

from __future__ import annotations

import re
from functools import lru_cache

from chathpc.profile.timeline import LaneKind

#: Kernels of NCCL and RCCL: ncclKernel_AllReduce_RING…, ncclDevKernel_Generic_1, rcclGenericKernel…; mangled or not.
_COLLECTIVE = re.compile(
    r"(?:^|[^A-Za-z])(?:nccl|rccl)(?:Dev)?(?:Generic)?[A-Za-z]*(?:Kernel|Kern|_)|_Z\d+(?:nccl|rccl)", re.I
)

#: Calls in which the host waits for the device and does nothing else.
_SYNC = re.compile(
    r"(?:cuda|hip)(?:Device|Stream|Event|Thread)Synchronize|cu(?:Ctx|Stream|Event)Synchronize|hipCtxSynchronize"
    r"|hsa_signal_wait"
)

_DIRECTIONS = (
    (LaneKind.UNIFIED, re.compile(r"unified memory|migrat", re.I)),
    (LaneKind.H2D, re.compile(r"H(?:ost)?[ _-]?(?:to|2)[ _-]?D", re.I)),
    (LaneKind.D2H, re.compile(r"D(?:evice)?[ _-]?(?:to|2)[ _-]?H", re.I)),
    (LaneKind.P2P, re.compile(r"P(?:eer)?[ _-]?(?:to|2)[ _-]?P|peer", re.I)),
    (LaneKind.D2D, re.compile(r"D(?:evice)?[ _-]?(?:to|2)[ _-]?D|A[ _-]?to[ _-]?D|D[ _-]?to[ _-]?A", re.I)),
)  # fmt: skip


@lru_cache(maxsize=1 << 14)
def kernel_lane(name: str) -> LaneKind:
    """The lane of a kernel: one that communicates, or one that computes."""
    return LaneKind.COLLECTIVE if _COLLECTIVE.search(name[:400]) else LaneKind.COMPUTE


def copy_lane(*texts: str) -> LaneKind | None:
    """The lane of a copy from the first of `texts` that tells its direction; None if none does."""
    for text in texts:
        for lane, pattern in _DIRECTIONS:
            if pattern.search(text[:200]):
                return lane
    return None


def is_synchronisation(name: str) -> bool:
    """True for a call of the runtime in which the host only waits for the device."""
    return _SYNC.match(name) is not None
