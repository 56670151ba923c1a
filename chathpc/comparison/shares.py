"""The parts of a difference as records: what changed, where that is, what it was spent on, which findings are about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from chathpc.comparison import words
from chathpc.comparison.attribution import Attribution, Share
from chathpc.comparison.findings import Pair, place_key, work_of
from chathpc.comparison.function_names import function_key, loose_key
from chathpc.comparison.matching import Joint, Part, path_of
from chathpc.comparison.record import ChangeRecord, ShareRecord
from chathpc.comparison.sides import Sides, change_record, figures
from chathpc.comparison.thresholds import threshold
from chathpc.profile.activity import ACTIVITY_WORDS, Activity
from chathpc.profile.tree import BoolArray
from chathpc.report import PlaceRecord

#: At most this many shares are told; the others are in the rest.
MOST = 40
#: What sums of many parts differ by from the whole.
_ROUNDING = 1e-9


def share_records(
    sides: Sides, joint: Joint, attribution: Attribution, pairs: Sequence[Pair], level: float
) -> tuple[list[ShareRecord], ChangeRecord]:
    """The shares, largest change first, and the rest; together they are the difference of the totals."""
    others = [share.values for share in attribution.shares[MOST:]]
    rest = attribution.rest + np.sum(others, axis=0, initial=0.0)
    rest[np.abs(rest) <= _ROUNDING * joint.own.sum(axis=1)] = 0.0
    at = np.zeros(len(joint.tree), dtype=bool)
    at[[0, *(node for share in attribution.shares for node in share.nodes)]] = True
    told = [_record(sides, joint, share, pairs, at) for share in attribution.shares[:MOST]]
    return told, change_record(sides.noise.judge(rest[:, None]), level)


def _mostly_in(sides: Sides, joint: Joint, share: Share, told: BoolArray, change: float) -> str | None:
    """The function with most of a share's change that is not the share's own and not `told` (by context) elsewhere."""
    home = joint.tree.nearest(told)
    below = np.flatnonzero(np.isin(home, share.nodes) & ~told & ~np.isin(np.arange(len(home)), share.merged))
    own = joint.own[:, below]
    moved = own[sides.count :].mean(axis=0) - own[: sides.count].mean(axis=0)
    by_name = np.bincount(joint.tree.name[below], weights=moved, minlength=1)
    most = int(np.argmax(by_name * np.sign(change)))
    if not change or by_name[most] / change <= threshold("mostly"):
        return None
    return joint.name(int(below[joint.tree.name[below] == most][0]))


def _record(sides: Sides, joint: Joint, share: Share, pairs: Sequence[Pair], told: BoolArray) -> ShareRecord:
    node = share.nodes[0]
    call = joint.part[node] == Part.CALL
    function = joint.name(int(joint.tree.parent[node]) if call else node) or words.THE_RUN
    judged = sides.noise.judge(share.values[:, None])
    seen = _nodes(sides, joint, share)
    activity = _activity(sides, seen)
    only: Literal["before", "after"] | None = None
    if float(judged.after[0]) == 0 or float(judged.before[0]) == 0:
        only = "before" if float(judged.after[0]) == 0 else "after"
    paths = [path_of(joint, each) for each in share.nodes]
    if call and only and (caller := _caller(sides, 0 if only == "before" else 1, seen)) not in (None, function):
        function, paths = caller, [[*path[:-1], caller, path[-1]] for path in paths]
    about = (
        pair
        for pair in pairs
        if (pair.status != "same" or pair.is_moved) and _is_about(pair, loose_key(function), activity)
    )
    return ShareRecord(
        **figures(judged, 0),
        beyond_noise=True,
        function=function,
        call=joint.name(node) if call else None,
        activity=None if activity is None else ACTIVITY_WORDS[activity],
        only=only,
        where_before=_place(sides, 0, seen[0]),
        where_after=_place(sides, 1, seen[1]),
        contexts=paths,
        mostly_in=_mostly_in(sides, joint, share, told, float(judged.change[0])),
        merged_before=_merged(joint, share, slice(sides.count)),
        merged_after=_merged(joint, share, slice(sides.count, None)),
        findings=list(dict.fromkeys(pair.finding.cause for pair in about)),
    )


def _merged(joint: Joint, share: Share, runs: slice) -> list[str]:
    """Functions weighed with a share that these runs have."""
    return list(dict.fromkeys(joint.name(each) for each in share.merged if joint.own[runs, each].any()))


def _caller(sides: Sides, side: int, seen: Sequence[BoolArray]) -> str | None:
    """The function that makes all the calls at some nodes of a side, for calls that the other side lacks: the joint tree has them at a
    caller that both have.
    """
    run = sides.runs[sides.typical[side]]
    caller = run.facts.activities.caller[np.flatnonzero(seen[side] & (run.values > 0))]
    names = {function_key(run.profile.tree.function_name(at)) for at in np.unique(caller[caller >= 0]).tolist()}
    return names.pop() if len(names) == 1 else None


def _nodes(sides: Sides, joint: Joint, share: Share) -> list[BoolArray]:
    """For the typical run of either side, its nodes that belong to the contexts of a share themselves."""
    chosen = np.zeros(len(joint.tree), dtype=bool)
    chosen[[*share.nodes, *share.merged]] = True
    return [chosen[joint.place[at]] for at in sides.typical]


def _is_about(pair: Pair, key: str, activity: Activity | None) -> bool:
    """True if a finding is about a function, or about the kind of work that changed."""
    found = [finding for finding in (pair.before, pair.after) if finding is not None]
    return any(place_key(finding) == key or activity in work_of(finding) for finding in found)


def _activity(sides: Sides, seen: Sequence[BoolArray]) -> Activity | None:
    """What most of the change at some nodes was spent on."""
    if not sides.is_host_time:
        return None
    change = np.zeros(len(Activity))
    for sign, at, mask in zip((-1, 1), sides.typical, seen, strict=True):
        run = sides.runs[at]
        kind = run.facts.activities.kind[mask]
        change += sign * np.bincount(kind, weights=run.values[mask], minlength=len(Activity))
    return Activity(int(np.argmax(np.abs(change)))) if change.any() else None


def _place(sides: Sides, side: int, seen: BoolArray) -> PlaceRecord | None:
    """The source line with most of the value of some nodes, library calls counting for the line that makes them."""
    run = sides.runs[sides.typical[side]]
    tree = run.profile.tree
    nodes = np.flatnonzero(seen & (run.values > 0))
    site = run.facts.activities.site[nodes]
    usable = (site >= 0) & (tree.file[np.maximum(site, 0)] >= 0)
    nodes, site = nodes[usable], site[usable]
    if not len(nodes):
        return None
    key = tree.file[site].astype(np.int64) * 2**32 + tree.line[site]
    inverse = np.unique(key, return_inverse=True)[1]
    best = int(np.argmax(np.bincount(inverse, weights=run.values[nodes])))
    line = int(site[np.flatnonzero(inverse == best)[0]])
    return PlaceRecord.model_validate(run.facts.place(int(tree.function[line]), line_node=line))
