"""Linux perf: the text of `perf script` in its layouts, and perf.data through the perf that is installed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.glance import Glance
from chathpc.adapters.linux_perf.frames import looks_like_samples

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile

#: First bytes of perf.data: the present format, the same of the other byte order, and that of perf before 2011.
MAGIC = (b"PERFILE2", b"2ELIFREP", b"PERFFILE")


def recognises(glance: Glance) -> bool:
    """True for perf.data by its first bytes, and for text that begins as `perf script` writes samples."""
    if glance.head.startswith(MAGIC):
        return True
    return glance.is_file and looks_like_samples(glance.text)


def read(path: Path) -> Profile:
    """Read perf.data or the text of perf script; see `script.read` and `data.read`."""
    if Glance(path).head.startswith(MAGIC):
        from chathpc.adapters.linux_perf.data import read as read_data

        return read_data(path)
    from chathpc.adapters.linux_perf.script import read as read_text

    return read_text(path)


def needs() -> str:
    """What is missing to read perf.data itself."""
    return "" if shutil.which("perf") else "for perf.data: perf (package linux-perf or linux-tools); text needs nothing"


ADAPTER = Adapter(
    name="linux-perf",
    reads="text of perf script, perf.data",
    recognises=recognises,
    read=read,
    order=40,
    needs=needs,
)
