"""Reading what Nsight Compute wrote: one file, or a folder of them as the parts of one run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from chathpc.adapters.glance import Glance
from chathpc.adapters.nsight_compute import files_in, is_report
from chathpc.adapters.nsight_compute.assemble import Part, profile_of
from chathpc.adapters.nsight_compute.launch import Launch, Report
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile

#: Two exports print one value alike, but for the rounding of their prefixes.
_SAME = 0.01
#: So many files may hold a part of one launch.
_FILES = 64


def joined(reports: Sequence[Report]) -> list[Report]:
    """The reports with launches that stand in several of them made one, in the report that knows most of it.

    A launch is the same if process, number, name and launch configuration are, and if both exports share a counter and
    agree on all that they share.
    """
    seen: dict[tuple[object, ...], list[tuple[int, Launch]]] = {}
    rest: list[tuple[int, Launch]] = []
    for number, report in enumerate(reports):
        for launch in report.launches:
            if launch.identity is None:
                rest.append((number, launch))
                continue
            known = seen.setdefault((launch.identity, launch.kernel, launch.grid, launch.block), [])
            place = number, launch
            for other in [one for one in known[-_FILES:] if one[0] != number and _same(one[1], launch)]:
                known.remove(other)
                place = _together(other, place)
            known.append(place)
    places = [*rest, *(place for known in seen.values() for place in known)]
    return [
        replace(report, launches=tuple(launch for at, launch in places if at == number))
        for number, report in enumerate(reports)
    ]


def _same(one: Launch, other: Launch) -> bool:
    shared = [
        name for name in one.metrics.keys() & other.metrics.keys() if not name.startswith(("launch__", "device__"))
    ]
    return bool(shared) and all(
        abs(one.metrics[name] - other.metrics[name]) <= _SAME * abs(one.metrics[name]) for name in shared
    )


def _together(one: tuple[int, Launch], other: tuple[int, Launch]) -> tuple[int, Launch]:
    (at, more), (_, less) = (one, other) if len(one[1].metrics) >= len(other[1].metrics) else (other, one)
    rules = {(rule.rule, rule.text): rule for rule in (*less.rules, *more.rules)}
    return at, replace(
        more,
        metrics={**less.metrics, **more.metrics},
        texts={**less.texts, **more.texts},
        rules=tuple(rules.values()),
        failed=more.failed and less.failed,
    )


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
