"""How a run is spread over its ranks and threads, at any size: quantiles of each place, groups of locations, those that stand out.

Places are looked at in blocks, each by one task of any `concurrent.futures.Executor` (processes, mpi4py.futures, dask); of a run whose ranks
wrote a file each, a task is a file. A task computes from the values of all locations, so quantiles are exact, and the blocks do not depend
on how many workers there are, so the answer is the same from all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.load import load
from chathpc.diagnosis.facts import readable_function
from chathpc.diagnosis.statistics import FEWEST, far
from chathpc.errors import UsageError
from chathpc.measure.record import RECORD
from chathpc.profile.activity import STARTERS
from chathpc.profile.profile import RANKS_ADDED, Profile
from chathpc.profile.tables import call_of, call_values
from chathpc.profile.text import clean
from chathpc.profile.tree import FloatArray, IntArray, NodeKind
from chathpc.scale.engines import Make, computed
from chathpc.scale.record import GroupRecord, OddRecord, SpreadPlaceRecord, SpreadRecord

#: Values of a block, in numbers: 32 MiB of them.
_BLOCK = 4 << 20
#: Locations × places up to which it is told beside other answers.
_SMALL = 20_000_000
QUANTILES = (0.1, 0.5, 0.9)
#: What has less than this part of the metric at ranks and threads does not show how it is spread over them.
_SEEN = 0.01
#: Nodes by whose places locations are grouped; places and locations that are named.
_FEATURES, _LISTED = 32, 20
#: Nodes of a place: a recursion has as many as it is deep.
_NODES = 100
#: Groups at most, locations that are grouped at once (of more, evenly chosen ones), and rounds.
_GROUPS, _GROUPED, _ROUNDS = 6, 4096, 50
#: A group has at least this part of all locations, and two; how often what has fewer is left aside.
_FEW, _ASIDE = 0.01, 8
#: Groups are told apart if their centres are this many of their standard deviations from each other: halves of a normal distribution have
#: 2.7, of an even one 3.5; and if they differ by this part of their mean.
_APART, _DIFFERENT = 4.0, 0.05
#: A location stands out if it is this many times as far from its group's centre as the median one, and this part of it. That is 5.4 standard
#: deviations of a normal distribution, more than for repetitions: of 100,000 locations 47 are beyond 3.5 by chance.
_FAR, _MUCH = 8.0, 0.1


def spread(
    paths: Sequence[Path],
    make: Make | None = None,
    *,
    metric: str | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> SpreadRecord:
    """The run at `paths`: one profile of all locations, or one file a location. `make` starts the executor (default: none, in this process).

    Errors: AdapterError for what cannot be read, UsageError without a time or a rank, WorkerLostError.
    """
    if not paths:
        raise UsageError("No profile given.")
    first = _opened(str(paths[0]))
    chosen = first.time if metric is None else first.metric(metric)
    if chosen is None:
        raise UsageError(f"{clean(first.title)} has no time.", hint="Name one: --metric (see 'chathpc metrics').")
    id = chosen.id
    if first.where.is_gpu.all():
        raise UsageError(
            f"{clean(first.title)} shows devices alone, no ranks or threads.",
            hint="Give a profile of the program's threads: chathpc measure -- ./app",
        )
    if len(paths) > 1:
        return _of_files(paths, make, id, progress)
    _check(first, id)
    blocks = [(str(paths[0]), id, begin, end) for begin, end in _blocks(first)]
    return _of_table(first, id, np.concatenate(list(computed(_block, blocks, make, progress))))


def _check(profile: Profile, metric: str) -> None:
    """UsageError for a profile in which (nearly) nothing of the metric belongs to a rank or thread."""
    totals = np.nan_to_num(profile.location_totals(metric))
    whole, known = float(np.abs(totals).sum()), float(np.abs(totals[_host(profile, metric)]).sum())
    summed = profile.told(RANKS_ADDED) > 1
    if known > _SEEN * whole and not summed:
        return
    if not summed and not totals[~profile.where.is_gpu].any():
        raise UsageError(
            f"{metric} of {clean(profile.title)} is of devices, not of ranks or threads.",
            hint="Name another with --metric (see 'chathpc metrics').",
        )
    raise UsageError(
        f"{clean(profile.title)} has {metric} as a sum over ranks or threads, not of each.",
        hint="chathpc explain tells what is known of single ones.",
    )


def spread_of(profile: Profile, metric: str) -> SpreadRecord | None:
    """The same of a profile that was read, in this process; None for one location, devices alone, and what takes more than a second or two."""
    if len(profile.where) < 2 or profile.where.is_gpu.all() or len(profile.where) * len(profile.tree) > _SMALL:
        return None
    return _of_table(profile, metric, np.concatenate([_block(profile, metric, *each) for each in _blocks(profile)]))


def _blocks(profile: Profile) -> Iterator[tuple[int, int]]:
    """Places from one to before another: blocks of about as many values."""
    width = max(_BLOCK // max(len(profile.where), 1), 1)
    for begin in range(0, len(profile.tree), width):
        yield begin, min(begin + width, len(profile.tree))


def _of_table(first: Profile, id: str, table: FloatArray) -> SpreadRecord:
    host = _host(first, id)
    node, thread = first.where.node[host].astype(np.int32), first.where.thread[host]
    alone = len(np.unique(thread)) == 1

    def label(at: int) -> str:
        said = first.where.label(int(host[at])).removeprefix(f"node {node[at]} ")
        return said.removesuffix(f" thread {thread[at]}") if alone else said

    def vectors(heavy: IntArray) -> FloatArray:
        return np.ascontiguousarray(call_values(first, id, heavy)[host])

    return _told(first, id, table, _places(first), lambda at: _path(first, at), vectors, label, node)


def _places(profile: Profile) -> IntArray:
    """The number of the place of each node: the same function, line or call below the same one, whatever the way there."""
    tree = profile.tree
    above = np.maximum(tree.parent, 0)
    own: list[NDArray[Any]] = [tree.kind, tree.name, tree.file, tree.line, tree.module]
    own += [] if tree.offset is None else [tree.offset]
    place = np.zeros(len(tree), dtype=np.int64)
    for column in (tree.function_labels[0], *own, *(each[above] for each in own)):
        numbers = np.unique(column, return_inverse=True)[1].reshape(-1)
        place = np.unique(place * (int(numbers.max(initial=0)) + 1) + numbers, return_inverse=True)[1].reshape(-1)
    return place.astype(np.int32)


def _block(source: str | Profile, metric: str, begin: int, end: int) -> FloatArray:
    """Statistics of places `begin` to `end` of a profile, or of that at a path: one row each."""
    profile = _opened(source) if isinstance(source, str) else source
    values = call_values(profile, metric, np.arange(begin, end, dtype=np.int32))
    host = _host(profile, metric)
    return _statistics(values if len(host) == len(values) else values[host])


def _host(profile: Profile, metric: str) -> IntArray:
    """The program's own threads."""
    found = ~profile.where.is_gpu & ~profile.where.is_shared & ~profile.helpers.locations
    if profile.time is not None and profile.time.id == metric:
        found &= ~profile.without_time
    return np.flatnonzero(found).astype(np.int32)


def _statistics(values: FloatArray) -> FloatArray:
    """(places × 6 + quantiles) of values (locations × places): how many are not zero, total, deviation, least, most, whose that is, quantiles."""
    return np.array([_of_place(np.ascontiguousarray(column)) for column in values.T]).reshape(-1, 6 + len(QUANTILES))


def _of_place(column: FloatArray) -> list[float]:
    """The same of one place. Most values are zero: only the others are sorted."""
    used = np.sort(column[column != 0])
    count, zeros = len(column), len(column) - len(used)
    below = int(np.searchsorted(used, 0.0))

    def at(place: int) -> float:
        if below <= place < below + zeros:
            return 0.0
        return float(used[place if place < below else place - zeros])

    mean = float(used.sum()) / count
    deviation = ((float(np.square(used - mean).sum()) + zeros * mean * mean) / count) ** 0.5
    quantiles = []
    for each in QUANTILES:
        low = int((count - 1) * each)
        first, second = at(low), at(min(low + 1, count - 1))
        quantiles.append(first + (second - first) * ((count - 1) * each - low))
    return [len(used), float(used.sum()), deviation, at(0), at(count - 1), int(column.argmax()), *quantiles]


def _file(path: str, metric: str) -> tuple[list[tuple[str, ...]], FloatArray, list[str], IntArray]:
    """The places of one file by their call paths, and their values (locations × places)."""
    profile = _opened(path)
    # Of runs with their ranks added up each would pass for a rank.
    if profile.told(RANKS_ADDED) > 1:
        _check(profile, metric)
    host, where = _host(profile, metric), profile.where
    values = call_values(profile, metric, np.arange(len(profile.tree), dtype=np.int32))[host]
    used = np.flatnonzero((values != 0).any(axis=0))
    names = [_path(profile, node) for node in used.tolist()]
    return names, values[:, used], [where.label(each) for each in host.tolist()], where.node[host].astype(np.int32)


def _of_files(paths: Sequence[Path], make: Make | None, metric: str, progress: Callable[[str], None]) -> SpreadRecord:
    tasks = [(str(path), metric) for path in paths]
    numbers: dict[tuple[str, ...], int] = {}
    rows: list[tuple[list[int], FloatArray]] = []
    labels: list[str] = []
    nodes: list[int] = []
    ranks: set[str] = set()
    for path, (names, values, each, places) in zip(paths, computed(_file, tasks, make, progress), strict=True):
        # chathpc measure keeps all ranks of a run in one folder.
        own = {RECORD} if (path / RECORD).is_file() else {label for label in each if "rank" in label}
        if own & ranks:
            raise UsageError("These are several runs.", hint="Give one; chathpc scale compares several.")
        ranks |= own
        rows.append(([numbers.setdefault(name, len(numbers)) for name in names], values))
        labels += [f"{clean(path.name)} {label}" if len(values) > 1 else clean(path.name) for label in each]
        nodes += places.tolist()
    if not numbers:
        raise UsageError(f"None of the files has a value of {clean(metric)}.")
    whole = np.zeros((len(labels), len(numbers)))
    begin = 0
    for columns, values in rows:
        whole[begin : begin + len(values), columns] = values
        begin += len(values)
    node = np.array(nodes, dtype=np.int32)
    first, path_of = _opened(str(paths[0])), list(numbers).__getitem__
    alike: dict[tuple[str, ...], int] = {}
    place = np.array([alike.setdefault(path[-2:], len(alike)) for path in numbers], dtype=np.int32)
    return _told(
        first, metric, _statistics(whole), place, path_of, lambda nodes: whole[:, nodes], labels.__getitem__, node
    )


def _told(
    profile: Profile, metric: str, table: FloatArray, place: IntArray, path_of: Callable[[int], tuple[str, ...]],
    vectors: Callable[[IntArray], FloatArray], label: Callable[[int], str], node: IntArray,
) -> SpreadRecord:  # fmt: skip
    """The record from statistics by node and the nodes' places."""

    def most(column: int, count: int) -> list[int]:
        """The places of the nodes that have most in a column of the table."""
        return list(dict.fromkeys(place[np.sort(np.argsort(-table[:, column], kind="stable")[:count])].tolist()))

    def nodes_at(number: int) -> IntArray:
        """Those of a place that have values, the one with most in all first, of many the first ones; one where none has."""
        nodes = np.flatnonzero(place == number).astype(np.int32)
        nodes = nodes[np.lexsort((-table[nodes, 1], table[nodes, 0] == 0))]
        return nodes[: min(max(np.count_nonzero(table[nodes, 0]), 1), _NODES)]

    # The places whose values differ most between locations; being started is none of the program's.
    names = {number: path_of(int(nodes_at(number)[0]))[-1] for number in most(2, _FEATURES)}
    names = {number: name for number, name in names.items() if name.partition(" ")[0] not in STARTERS} or names
    differing: list[FloatArray] = []
    ways: list[tuple[int, FloatArray]] = []
    listed = most(1, _LISTED)
    for number in dict.fromkeys((*names, *listed)):  # reading values is what takes time: once a place
        nodes = nodes_at(number)
        values = vectors(nodes)
        differing += [values.sum(axis=1)] if number in names else []
        ways += _ways(values, nodes) if number in listed else []
    members = Members(
        np.array(differing).reshape(len(names), len(node)).T, list(names.values()), label,
        node if len(np.unique(node)) > 1 else np.full_like(node, -1),
    )  # fmt: skip
    ways = [way for way in ways if way[1].sum() > 0]
    ways = sorted(ways, key=lambda way: (-float(way[1].sum()), way[0]))[:_LISTED]
    rows = _statistics(np.array([column for _, column in ways]).reshape(len(ways), len(node)).T).tolist()
    places = [
        SpreadPlaceRecord(
            name=path_of(at)[-1], path=list(path_of(at)), locations=int(used), total=total, mean=total / len(node), deviation=deviation,
            least=least, quantiles=quantiles, most=greatest, busiest=label(int(busiest)),
        )
        for (at, _), (used, total, deviation, least, greatest, busiest, *quantiles) in zip(ways, rows, strict=True)
    ]  # fmt: skip
    member, groups = groups_of(members)
    odd = odd_ones(members, member)
    return SpreadRecord(
        title=clean(profile.title), metric=metric, what=profile.metrics[metric].title, unit=profile.metrics[metric].unit.value,
        locations=len(node), contexts=len(table), values=int(table[:, 0].sum()), places=places, groups=groups, odd=odd[:_LISTED], all_odd=len(odd),
    )  # fmt: skip


def _ways(values: FloatArray, nodes: IntArray) -> list[tuple[int, FloatArray]]:
    """The ways to a place, each with its `values` at all locations and the first of its nodes: nodes that no location has two of are one way,
    such as those of a thread that was started and of the one that started it.
    """
    found: list[tuple[int, FloatArray]] = []
    for node, column in zip(nodes.tolist(), values.T, strict=True):
        own = next((each for _, each in found if not ((each != 0) & (column != 0)).any()), None)
        if own is None:
            found.append((node, column.copy()))
        else:
            own += column
    return found


@lru_cache(maxsize=2)
def _opened(path: str) -> Profile:
    """A profile, read once in each process."""
    return load(Path(path))


def _path(profile: Profile, node: int) -> tuple[str, ...]:
    """What is on the way to a node, itself last; lines and loops with their function."""
    tree = profile.tree
    inner = tree.kind[node] in (NodeKind.LINE, NodeKind.LOOP, NodeKind.INSTRUCTION)
    # What lies right below a thread is in no function.
    named = inner and tree.function[node] != node
    own = f"{tree.label(node)} in {tree.function_name(node)}" if named else tree.label(node)
    if not inner and call_of(tree)[node] == node and (above := int(tree.parent[node])) >= 0:
        own = f"{tree.names[tree.name[node]].partition(' [')[0]} in {readable_function(tree.function_name(above))}"
    return (*(clean(tree.label(int(each))) for each in tree.path(node)[:-1]), clean(own))


# -- groups ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Ranks and threads at the places where they differ most: their values (locations × places), the places' names, what a location is
    called, and its compute node (−1 for all where there is one alone).
    """

    vectors: FloatArray
    places: Sequence[str]
    label: Callable[[int], str]
    node: IntArray


def groups_of(locations: Members) -> tuple[IntArray, list[GroupRecord]]:
    """The group of each location, and the groups, the largest first: as many as are clearly apart."""
    vectors, node = locations.vectors, locations.node
    chosen = np.unique(np.linspace(0, len(vectors) - 1, min(len(vectors), _GROUPED)).astype(np.int64))
    tried = (_centres(vectors[chosen], count) for count in range(min(_GROUPS, len(chosen) // 2), 1, -1))
    centres = next((found for found in tried if found is not None), vectors.mean(axis=0, keepdims=True))
    distance = _distances(vectors, centres)
    member = distance.argmin(axis=1).astype(np.int32)
    groups = []
    for number in np.unique(member).tolist():
        inside, others, centre = np.flatnonzero(member == number), member != number, centres[number]
        rest = vectors[others].mean(axis=0) if others.any() else centre
        most = int(np.argmax(np.abs(centre - rest)))
        own_nodes = np.unique(node[inside][node[inside] >= 0])
        groups.append(
            GroupRecord(
                members=len(inside), representative=locations.label(int(inside[distance[inside, number].argmin()])),
                nodes=[] if np.isin(node[others], own_nodes).any() else own_nodes.tolist(),
                mean=float(vectors[inside].sum(axis=1).mean()),
                place=locations.places[most], here=float(centre[most]), elsewhere=float(rest[most]),
            )
        )  # fmt: skip
    return member, sorted(groups, key=lambda each: -each.members)


def _centres(vectors: FloatArray, count: int) -> FloatArray | None:
    """Centres of `count` groups; None if they are not apart. What is too few for a group stands out, and is left aside."""
    least = max(2, len(vectors) * _FEW)
    for _ in range(_ASIDE):
        found, member = _means(vectors, count)
        few = np.bincount(member, minlength=count) < least
        if not few.any():
            return found if _are_apart(vectors, found, member) else None
        vectors = vectors[~few[member]]
        if len(vectors) < 2 * count:
            break
    return None


def _means(vectors: FloatArray, count: int) -> tuple[FloatArray, IntArray]:
    """Lloyd's k-means from the point farthest from the mean, then always that farthest from all chosen: no chance is in it."""
    first = _distances(vectors, vectors.mean(axis=0, keepdims=True)).argmax()
    centres = vectors[[first]]
    while len(centres) < count:
        centres = np.vstack([centres, vectors[_distances(vectors, centres).min(axis=1).argmax()]])
    member = np.full(len(vectors), -1, dtype=np.int32)
    for _ in range(_ROUNDS):
        before, member = member, _distances(vectors, centres).argmin(axis=1).astype(np.int32)
        if np.array_equal(before, member):
            break
        for each in np.unique(member):
            centres[each] = vectors[member == each].mean(axis=0)
    return centres, member


def _are_apart(vectors: FloatArray, centres: FloatArray, member: IntArray) -> bool:
    variances = [np.square(vectors[member == each] - centre).mean(axis=0).sum() for each, centre in enumerate(centres)]
    spread, size = np.sqrt(variances), np.linalg.norm(vectors.mean(axis=0))
    first, second = np.triu_indices(len(centres), 1)
    between = np.sqrt(_distances(centres, centres))[first, second]
    return bool((between > np.maximum(_APART * np.maximum(spread[first], spread[second]), _DIFFERENT * size)).all())


def _distances(vectors: FloatArray, centres: FloatArray) -> FloatArray:
    """Squared distances (vectors × centres)."""
    return np.stack([np.square(vectors - centre).sum(axis=1) for centre in centres], axis=1)


def odd_ones(locations: Members, member: IntArray) -> list[OddRecord]:
    """Locations far from the middle of their group, the farthest first."""
    found: list[tuple[float, OddRecord]] = []
    for inside in (np.flatnonzero(member == number) for number in np.unique(member)):
        if len(inside) < FEWEST:
            continue
        vectors = locations.vectors[inside]
        middle = np.median(vectors, axis=0)
        distance = np.sqrt(np.square(vectors - middle).sum(axis=1))
        for at in far(distance, times=_FAR, least=_MUCH * float(np.linalg.norm(middle))).tolist():
            own, node = vectors[at], int(locations.node[inside[at]])
            most = int(np.argmax(np.abs(own - middle)))
            odd = OddRecord(
                label=locations.label(int(inside[at])), node=node if node >= 0 else None, time=float(own.sum()),
                usual_time=float(middle.sum()), place=locations.places[most], here=float(own[most]), usual=float(middle[most]),
            )  # fmt: skip
            found.append((float(distance[at]), odd))
    return [odd for _, odd in sorted(found, key=lambda pair: -pair[0])]
