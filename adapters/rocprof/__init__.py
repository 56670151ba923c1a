"""What AMD's profilers write: rocprofv3 (CSV, JSON, rocpd databases), rpd, rocprof of before, rocprofiler-compute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.glance import Glance

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile


def recognises(glance: Glance) -> bool:
    """True for one of the files that AMD's profilers write, and for a folder that holds some."""
    from chathpc.adapters.rocprof.kinds import kind_of

    return kind_of(glance) is not None


def read(path: Path) -> Profile:
    """Read a file or folder of AMD's profilers; see `kinds.read`."""
    from chathpc.adapters.rocprof.kinds import read as read_any

    return read_any(path)


ADAPTER = Adapter(
    name="rocprof",
    reads="rocprofv3 CSV, JSON and rocpd databases, .rpd, rocprof results.db, rocprof-compute workloads (AMD)",
    recognises=recognises,
    read=read,
    order=45,
)
