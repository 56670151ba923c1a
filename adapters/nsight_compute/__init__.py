"""Nsight Compute: reports (.ncu-rep, .ncu-repz), their exports to CSV, and folders of these."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.glance import Glance

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile

#: The first bytes of a report.
MAGIC = b"NVR\0"


def recognises(glance: Glance) -> bool:
    """True for a report, for an export that has the header of one of the two pages, and for a folder of several of these."""
    from chathpc.adapters.nsight_compute.recognise import recognises as look

    return look(glance)


def read(path: Path) -> Profile:
    """Read a report, an export or a folder of them; see `read.read`."""
    from chathpc.adapters.nsight_compute.read import read as read_any

    return read_any(path)


def needs() -> str:
    """What is missing to open reports; exports to CSV need nothing."""
    from chathpc.adapters.nsight_compute.native import installed

    if installed():
        return ""
    return "reports (.ncu-rep) need NVIDIA's package: pip install 'chathpc[ncu]'; exports to CSV need nothing"


ADAPTER = Adapter(
    name="nsight-compute",
    reads="Nsight Compute reports (.ncu-rep) and their exports (ncu --page raw|details --csv), one or a folder of them",
    recognises=recognises,
    read=read,
    order=20,
    needs=needs,
)
