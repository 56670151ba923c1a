"""HPCToolkit databases, format 4: meta.db, profile.db, cct.db, trace.db, metrics/default.yaml, src/."""

from __future__ import annotations

from chathpc.adapters.adapter import Adapter, reader
from chathpc.adapters.glance import Glance


def recognises(glance: Glance) -> bool:
    """True for a folder that holds, or should hold, a v4 database: one of its files is there."""
    return glance.is_folder and any((glance.path / name).exists() for name in ("meta.db", "profile.db"))


read = reader("chathpc.adapters.hpctoolkit.database")
ADAPTER = Adapter(
    name="hpctoolkit",
    reads="HPCToolkit database folders, format 4 (meta.db, profile.db, …)",
    recognises=recognises,
    read=read,
    order=0,
)
