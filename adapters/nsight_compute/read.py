"""Reading what Nsight Compute wrote: one file, or a folder of them as the parts of one run."""

from __future__ import annotations

import re
from pathlib import Path

from chathpc.adapters.glance import Glance
from chathpc.adapters.nsight_compute.assemble import Part, profile_of
from chathpc.adapters.nsight_compute.launch import Report
from chathpc.adapters.nsight_compute.pages import joined
from chathpc.adapters.nsight_compute.recognise import files_in, is_report
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile

#: How ranks stand in names of files: `rank3`, `rank_3`, `mpi-3`, `report.r3`.
_RANK = re.compile(r"(?:rank|mpi|proc|pe)[-_.]?(\d{1,7})(?!\d)", re.IGNORECASE)


def read(path: Path) -> Profile:
    """The profile of a report, an export, or a folder of them. AdapterError for anything that cannot be read."""
    glance = Glance(path)
    if not glance.is_folder:
        return profile_of([Part(path, _report(path))], path)
    names = files_in(glance)
    if not names:
        raise AdapterError(
            "no report or export of Nsight Compute in the folder",
            path=path,
            hint="Give the .ncu-rep file or its export.",
        )
    ranks = [_rank(name) for name in names]
    known = len(set(ranks)) == len(ranks) and -1 not in ranks
    reports = joined([_report(path / name) for name in names])
    parts = [
        Part(path / name, report, rank if known else -1)
        for name, report, rank in zip(names, reports, ranks, strict=True)
    ]
    return profile_of(parts, path)


def _report(path: Path) -> Report:
    if is_report(Glance(path)):
        from chathpc.adapters.nsight_compute.native import read_report

        return read_report(path)
    from chathpc.adapters.nsight_compute.export import read_export

    return read_export(path)


def _rank(name: str) -> int:
    found = _RANK.search(name)
    return int(found[1]) if found else -1
