"""Several exports of one launch: a folder may hold a file for each section of the same kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chathpc.adapters.nsight_compute.launch import Launch, Report

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
