"""TAU profiles: text files profile.NODE.CONTEXT.THREAD, in one folder or one folder for each metric (MULTI__…)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.glance import Glance

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile

FILE_NAME = re.compile(r"profile\.(\d{1,9})\.(\d{1,9})\.(\d{1,9})")
_FIRST_LINE = re.compile(rb"\s*\d+ templated_functions")


def recognises(glance: Glance) -> bool:
    """True for a file that begins as TAU's do, and a folder (or its MULTI__ folders) with such a file."""
    if not glance.is_folder:
        return bool(_FIRST_LINE.match(glance.head[:200]))
    for name in glance.names:
        if FILE_NAME.fullmatch(name):
            return bool(_FIRST_LINE.match(glance.inside(name).head[:200]))
    inner = next((name for name in glance.names if name.startswith("MULTI__")), None)
    if inner is None:
        return False
    folder = glance.inside(inner)
    first = next((name for name in folder.names if FILE_NAME.fullmatch(name)), None)
    return first is not None and bool(_FIRST_LINE.match(folder.inside(first).head[:200]))


def read(path: Path) -> Profile:
    """Read one profile file, or a folder of them; see `profile.read`."""
    from chathpc.adapters.tau.profile import read as read_profile

    return read_profile(path)


ADAPTER = Adapter(
    name="tau",
    reads="TAU profiles (profile.N.C.T files, MULTI__ folders)",
    recognises=recognises,
    read=read,
    order=30,
)
