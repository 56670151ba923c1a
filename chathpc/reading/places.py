"""The places that a model may speak of, each with its share of the run: those of findings and facts, and the hottest of the program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Diagnosis, Place
from chathpc.diagnosis.source.hot import Hot
from chathpc.profile.languages import kind_of
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind
from chathpc.pruners.source import NOTHING, Shown, shown
from chathpc.reading.retelling import speaks

#: So many functions of the program are listed by their own time, and so many by what they call.
_BY_TIME, _BY_CALLS = 8, 5
#: Below such shares of the time a place is not worth a reader's.
_LEAST, _LEAST_CALLS = 0.02, 0.10
#: So many hot lines decide what source is shown.
_HOT_LINES = 16


@dataclass(frozen=True, slots=True)
class Listed:
    """A place by its id (P1, …): `share` of the run at the place itself, `below` with all that it calls; None where not known."""

    id: str
    place: Place
    share: float | None
    below: float | None = None

    @property
    def name(self) -> str:
        """`gather (mesh.c:31)`: the place as it stands in a sentence."""
        named = self.place.kernel or self.place.function or ""
        where = self.place.short
        return f"{named} ({where})" if named and where else named or where or "the program"

    @property
    def said(self) -> str:
        """The place as a model may say it: a name that reads like a sentence is none of its words."""
        return self.place.short or "that place" if speaks(self.place.kernel or self.place.function or "") else self.name


def places(facts: Facts, diagnosis: Diagnosis) -> tuple[Listed, ...]:
    """The places of a diagnosis, the most important first."""
    found: dict[tuple[str | None, str | None, int | None], tuple[Place, float | None, float | None]] = {}

    def add(place: Place, share: float | None, below: float | None = None) -> None:
        key = (place.kernel or place.function, place.file, place.line)
        if any(key) and key not in found:
            found[key] = (place, share, below)

    for finding in diagnosis.findings:
        add(finding.where, finding.share)
    if facts.has_host_time:
        for place, share, below in _hottest(facts):
            add(place, share, below)
    for item in diagnosis.evidence:
        if item.where is not None and (item.where.kernel or item.where.line):
            add(item.where, item.share)
    listed = list(found.values()) or [(Place(), None, None)]  # the program as a whole
    return tuple(Listed(f"P{number}", *each) for number, each in enumerate(listed, 1))


def _hottest(facts: Facts) -> list[tuple[Place, float, float]]:
    """Functions of the program by the time at their own lines, library calls included, then by all that they call."""
    tree, hot = facts.profile.tree, Hot(facts)
    label, _ = tree.function_labels
    by_function: dict[int, tuple[float, int]] = {}
    for line in hot.lines:
        function = int(tree.function[line.node])
        if function < 0:
            continue
        mine = int(label[function])
        seconds, node = by_function.get(mine, (0.0, line.node))
        by_function[mine] = (seconds + line.time, node)
    ranked = sorted(by_function.items(), key=lambda item: -item[1][0])[:_BY_TIME]
    found = [
        (facts.place(node), seconds / facts.total, _below(facts, mine))
        for mine, (seconds, node) in ranked
        if seconds >= _LEAST * facts.total
    ]
    return [*found, *((facts.place(node), 0.0, share) for node, share in _call_sites(facts)[:_BY_CALLS])]


def _call_sites(facts: Facts) -> list[tuple[int, float]]:
    """Places of the program's own calls, by the part of the time that they have with all below: the node of each, and that part."""
    tree = facts.profile.tree
    readable = tree.where_file(lambda path: kind_of(path) is not None)
    own = np.isin(tree.kind, (NodeKind.FUNCTION, NodeKind.INLINED)) & (facts.activities.call < 0) & readable
    nodes = np.flatnonzero(own & (facts.inclusive >= _LEAST_CALLS * facts.total) & (tree.parent >= 0))
    sites: dict[tuple[int, int], tuple[int, list[int]]] = {}
    for node in nodes.tolist():
        at = int(tree.parent[node])
        while at >= 0 and not (tree.line[at] > 0 and readable[at]):  # an inlined call has no line of its own
            at = int(tree.parent[at])
        if at >= 0:
            sites.setdefault((int(tree.file[at]), int(tree.line[at])), (at, []))[1].append(node)
    shares = []
    for at, called in sites.values():
        outermost = tree.outermost(np.array(called, dtype=np.int32))
        shares.append((at, float(facts.inclusive[outermost].sum()) / facts.total))
    return sorted(shares, key=lambda each: -each[1])


def _below(facts: Facts, label: int) -> float:
    """The part of the time that functions of a name have with all that they call, recursion counted once."""
    tree = facts.profile.tree
    labels, _ = tree.function_labels
    nodes = np.flatnonzero((labels == label) & np.isin(tree.kind, (NodeKind.FUNCTION, NodeKind.INLINED))).astype(
        np.int32
    )
    return float(facts.inclusive[tree.outermost(nodes)].sum()) / facts.total


def shown_at(profile: Profile, facts: Facts, listed: tuple[Listed, ...], most: int) -> Shown:
    """The source of the hottest lines and of the listed places, in about `most` characters."""
    hot: list[tuple[str, int]] = []
    callers: list[tuple[str, int]] = []
    if facts.has_host_time:
        tree, found = profile.tree, Hot(facts)
        hot += [(tree.files[line.file], line.line) for line in found.lines[:_HOT_LINES]]
        callers += [(tree.files[tree.file[at]], int(tree.line[at])) for at, _ in _call_sites(facts)]
    hot += [(each.place.file, each.place.line) for each in listed if each.place.file and each.place.line]
    return shown(profile.read_source, list(dict.fromkeys(hot)), list(dict.fromkeys(callers)), most) if hot else NOTHING
