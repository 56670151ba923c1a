"""Score-P and Scalasca profiles in the CUBE4 format: .cubex files, and measurement folders that hold one."""

from __future__ import annotations

import re

from chathpc.adapters.adapter import Adapter, reader
from chathpc.adapters.glance import Glance

#: Profiles of a measurement folder, the one that tells most first: Scalasca's traces analysed, then sums.
FILES = ("trace.cubex", "scout.cubex", "profile.cubex", "summary.cubex")
_MEMBER = re.compile(rb"(\./)?(anchor\.xml|\d{1,9}\.(data|index)|remapping\.spec|[a-z_]+\.(cal|spec|txt))\0")

#: What profiles and traces of Score-P say alike: a caveat, and how to collect what they lack.
FLUSHED = "The trace buffer was flushed during the run, which distorts its times: raise SCOREP_TOTAL_MEMORY."
FOR_WAITING = "scan -t ./app (the same as scalasca -analyze -t; then square)"
FOR_FUNCTIONS = "scorep mpicc -c app.c (build all files with scorep, without --nocompiler)"


def recognises(glance: Glance) -> bool:
    """True for a tar archive whose first file is one of CUBE4's, and a folder with such an archive."""
    if glance.is_folder:
        return any(name in glance.names and recognises(glance.inside(name)) for name in FILES)
    head = glance.head
    if not _MEMBER.match(head[:100].ljust(100, b"\0")):
        return False
    return glance.path.suffix == ".cubex" or b"anchor.xml\0" in head or b"CUBEX." in head


read = reader("chathpc.adapters.cube.profile")
ADAPTER = Adapter(
    name="score-p",
    reads="Score-P and Scalasca profiles (.cubex, scorep_* and scorep_*_sum folders)",
    recognises=recognises,
    read=read,
    order=30,
)
