"""HPCToolkit databases, format 4: meta.db, profile.db, cct.db, trace.db, metrics/default.yaml, src/."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.glance import Glance

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile


def recognises(glance: Glance) -> bool:
    """True for a folder that holds, or should hold, a v4 database: one of its files is there."""
    return glance.is_folder and any((glance.path / name).exists() for name in ("meta.db", "profile.db"))


def read(path: Path) -> Profile:
    """Read the database in folder `path`; see `database.read`."""
    from chathpc.adapters.hpctoolkit.database import read as read_database

    return read_database(path)


ADAPTER = Adapter(
    name="hpctoolkit",
    reads="HPCToolkit database folders, format 4 (meta.db, profile.db, …)",
    recognises=recognises,
    read=read,
    order=0,
)
