"""How a run is spread over its ranks and threads, at any size: quantiles of each place, groups of locations, those that stand out.

Places are looked at in blocks, each by one task of any `concurrent.futures.Executor` (processes, mpi4py.futures, dask); of a run whose ranks
wrote a file each, a task is a file. A task computes from the values of all locations, so quantiles are exact, and the blocks do not depend
on how many workers there are, so the answer is the same from all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, as_completed
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from chathpc.adapters.load import load
from chathpc.diagnosis.statistics import FEWEST, far
from chathpc.errors import ChathpcError, UsageError
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean
from chathpc.profile.tree import FloatArray, IntArray, NodeKind
from chathpc.scale.record import GroupRecord, OddRecord, SpreadPlaceRecord, SpreadRecord

#: Values of a block, in numbers: 32 MiB of them.
_BLOCK = 4 << 20
#: Locations × places up to which threads that a library runs for itself are left aside.
_SMALL = 20_000_000
QUANTILES = (0.1, 0.5, 0.9)
#: Places by which locations are grouped, groups at most, locations that are grouped at once (of more, evenly chosen ones), and rounds.
_FEATURES, _GROUPS, _GROUPED, _ROUNDS = 32, 6, 4096, 50
#: A group has at least this part of all locations, and two; how often what has fewer is left aside.
_FEW, _ASIDE = 0.01, 8
#: Groups are told apart if their centres are this many of their standard deviations from each other: halves of a normal distribution have
#: 2.7, of an even one 3.5; and if they differ by this part of their mean.
_APART, _DIFFERENT = 4.0, 0.05
#: A location stands out if it is this many times as far from its group's centre as the median one, and this part of it. That is 5.4 standard
#: deviations of a normal distribution, more than for repetitions: of 100,000 locations 47 are beyond 3.5 by chance.
_FAR, _MUCH = 8.0, 0.1
_LISTED = 20

Make = Callable[[], AbstractContextManager[Executor]]
Found = TypeVar("Found")


class WorkerLostError(ChathpcError):
    """A process that computed was ended from outside, twice."""


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
    id = metric or (first.time.id if first.time is not None else None)
    if id is None or id not in first.metrics:
        raise UsageError(
            f"{clean(first.title)} has no {'time' if metric is None else clean(metric)}.",
            hint="Name one: --metric (see 'chathpc metrics').",
        )
    if first.where.is_gpu.all():
        raise UsageError(f"{clean(first.title)} shows devices alone, no ranks or threads.")
    if len(paths) > 1:
        return _of_files(paths, make, id, progress)
    blocks = [(str(paths[0]), id, begin, end) for begin, end in _blocks(first)]
    return _of_table(first, id, np.concatenate(list(_all(_block, blocks, make, progress))))


def spread_of(profile: Profile, metric: str) -> SpreadRecord:
    """The same of a profile that was read, in this process."""
    return _of_table(profile, metric, np.concatenate([_in_block(profile, metric, *each) for each in _blocks(profile)]))


def is_small(profile: Profile) -> bool:
    """True for a run whose values are looked at in a second or two."""
    return len(profile.where) * len(profile.tree) <= _SMALL


def _blocks(profile: Profile) -> Iterator[tuple[int, int]]:
    """Places from one to before another: blocks of about as many values."""
    width = max(_BLOCK // max(len(profile.where), 1), 1)
    for begin in range(0, len(profile.tree), width):
        yield begin, min(begin + width, len(profile.tree))


@dataclass(frozen=True, slots=True, eq=False)
class _Locations:
    """Ranks and threads at the places where they differ most: their values (locations × places), the places' names, what a location is
    called, and its compute node (−1 for all where there is one alone).
    """

    vectors: FloatArray
    places: Sequence[str]
    label: Callable[[int], str]
    node: IntArray


def _of_table(first: Profile, id: str, table: FloatArray) -> SpreadRecord:
    host, heavy = _host(first), _heaviest(table)
    node, thread = first.where.node[host].astype(np.int32), first.where.thread[host]
    alone = len(np.unique(thread)) == 1

    def label(at: int) -> str:
        said = first.where.label(int(host[at])).removeprefix(f"node {node[at]} ")
        return said.removesuffix(f" thread {thread[at]}") if alone else said

    vectors = np.ascontiguousarray(first.values.per_location(id, heavy, inclusive=False)[host])
    return _told(first, id, table, lambda at: _path(first, at), heavy, vectors, label, node)


def _block(path: str, metric: str, begin: int, end: int) -> FloatArray:
    """Statistics of places `begin` to `end` of a profile: one row each."""
    return _in_block(_opened(path), metric, begin, end)


def _in_block(profile: Profile, metric: str, begin: int, end: int) -> FloatArray:
    values = profile.values.per_location(metric, np.arange(begin, end, dtype=np.int32), inclusive=False)
    host = _host(profile)
    return _statistics(values if len(host) == len(values) else values[host])


def _host(profile: Profile) -> IntArray:
    """The program's own threads; of a large run all that are of the host, since what tells helpers reads every value."""
    found = ~profile.where.is_gpu
    if is_small(profile):
        found &= ~profile.helpers.locations
    return np.flatnonzero(found).astype(np.int32)


def _statistics(values: FloatArray) -> FloatArray:
    """(places × 5 + quantiles) of values (locations × places): how many are not zero, total, deviation, least, most, quantiles."""
    return np.array([_of_place(np.ascontiguousarray(column)) for column in values.T]).reshape(-1, 5 + len(QUANTILES))


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
    return [len(used), float(used.sum()), deviation, at(0), at(count - 1), *quantiles]


def _file(path: str, metric: str) -> tuple[list[tuple[str, ...]], FloatArray, list[str], IntArray]:
    """The places of one file by their call paths, and their values (locations × places)."""
    profile = _opened(path)
    host = _host(profile)
    nodes = np.arange(len(profile.tree), dtype=np.int32)
    values = profile.values.per_location(metric, nodes, inclusive=False)[host]
    used = np.flatnonzero((values != 0).any(axis=0))
    return (
        [_path(profile, int(node)) for node in used], values[:, used], [profile.where.label(int(each)) for each in host],
        profile.where.node[host].astype(np.int32),
    )  # fmt: skip


def _of_files(paths: Sequence[Path], make: Make | None, metric: str, progress: Callable[[str], None]) -> SpreadRecord:
    tasks = [(str(path), metric) for path in paths]
    numbers: dict[tuple[str, ...], int] = {}
    rows: list[tuple[list[int], FloatArray]] = []
    labels: list[str] = []
    nodes: list[int] = []
    for path, (names, values, each, places) in zip(paths, _all(_file, tasks, make, progress), strict=True):
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
    table, path_of = _statistics(whole), list(numbers).__getitem__
    heavy = _heaviest(table)
    node = np.array(nodes, dtype=np.int32)
    return _told(_opened(str(paths[0])), metric, table, path_of, heavy, whole[:, heavy], labels.__getitem__, node)


def _told(
    profile: Profile, metric: str, table: FloatArray, path_of: Callable[[int], tuple[str, ...]], heavy: IntArray, vectors: FloatArray,
    label: Callable[[int], str], node: IntArray,
) -> SpreadRecord:  # fmt: skip
    count = len(vectors)
    names = [path_of(place)[-1] for place in heavy.tolist()]
    locations = _Locations(vectors, names, label, node if len(np.unique(node)) > 1 else np.full_like(node, -1))
    places = [
        SpreadPlaceRecord(
            name=path_of(at)[-1], path=list(path_of(at)), locations=int(used), total=total, mean=total / count, deviation=deviation,
            least=least, quantiles=quantiles, most=most,
        )
        for at in np.argsort(-table[:, 1], kind="stable")[:_LISTED].tolist()
        for used, total, deviation, least, most, *quantiles in [table[at].tolist()]
        if total > 0
    ]  # fmt: skip
    member, groups = _groups(locations)
    odd = _odd(locations, member)
    return SpreadRecord(
        title=clean(profile.title), metric=metric, unit=profile.metrics[metric].unit.value, locations=count, contexts=len(table),
        values=int(table[:, 0].sum()), places=places, groups=groups, odd=odd[:_LISTED], all_odd=len(odd),
    )  # fmt: skip


def _heaviest(table: FloatArray) -> IntArray:
    """The places whose values differ most between locations, in the order of the places."""
    return np.sort(np.argsort(-table[:, 2], kind="stable")[:_FEATURES]).astype(np.int32)


def _groups(locations: _Locations) -> tuple[IntArray, list[GroupRecord]]:
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
        own_nodes = np.unique(node[inside])
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


def _odd(locations: _Locations, member: IntArray) -> list[OddRecord]:
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


@lru_cache(maxsize=2)
def _opened(path: str) -> Profile:
    """A profile, read once in each process."""
    return load(Path(path))


def _path(profile: Profile, node: int) -> tuple[str, ...]:
    """What is on the way to a node, itself last; lines and loops with their function."""
    tree = profile.tree
    inner = tree.kind[node] in (NodeKind.LINE, NodeKind.LOOP, NodeKind.INSTRUCTION)
    own = f"{tree.label(node)} in {tree.function_name(node)}" if inner else tree.label(node)
    return (*(clean(tree.label(int(each))) for each in tree.path(node)[:-1]), clean(own))


# -- engines ---------------------------------------------------------------------------------------------------


def _all(
    do: Callable[..., Found], tasks: Sequence[tuple[object, ...]], make: Make | None, progress: Callable[[str], None]
) -> Iterator[Found]:
    """What `do` finds for each task, in their order. Tasks of a worker that was killed are given to new ones, once."""
    if make is None:
        yield from (do(*task) for task in tasks)
        return
    found: dict[int, Found] = {}
    if _compute(do, tasks, make, found, progress) is not None:
        progress("a process was killed; its blocks are computed again")
        lost = _compute(do, tasks, make, found, progress)
        if lost is not None:
            raise WorkerLostError(
                "A process that computed was killed, twice.", hint="Give it more memory, or fewer --workers."
            ) from lost
    yield from (found[at] for at in range(len(tasks)))


def _compute(
    do: Callable[..., Found],
    tasks: Sequence[tuple[object, ...]],
    make: Make,
    found: dict[int, Found],
    progress: Callable[[str], None],
) -> BrokenExecutor | None:
    """Add what `do` finds for the tasks that are not in `found` yet, by their numbers; the error of a worker that was killed meanwhile."""
    lost = None
    futures: dict[Future[Found], int] = {}
    with make() as executor:
        try:
            for at in (at for at in range(len(tasks)) if at not in found):
                futures[executor.submit(do, *tasks[at])] = at
        except BrokenExecutor as error:
            lost = error
        for future in as_completed(futures):
            try:
                found[futures[future]] = future.result()
                progress(f"{len(found)} of {len(tasks)} blocks")
            except BrokenExecutor as error:
                lost = error
    return lost


def engine(name: str, workers: int) -> Make | None:
    """What starts the executor called `name`: none, processes, mpi, dask or dask:ADDRESS.

    UsageError for another name, a library that lacks, and processes that MPI does not connect.
    """
    kind, _, address = name.partition(":")
    if kind == "none" or (kind == "processes" and workers == 1):
        return None
    if kind == "processes":
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        return lambda: ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        if kind == "mpi":
            pool: Any = import_module("mpi4py.futures").MPIPoolExecutor
            _refuse_alone(
                int(import_module("mpi4py.MPI").COMM_WORLD.Get_size()), os.environ.get("SLURM_STEP_NUM_TASKS", "")
            )
            return lambda: pool(workers)
        if kind == "dask":
            client: Any = import_module("dask.distributed").Client
            where: dict[str, Any] = {"address": address} if address else {"n_workers": workers, "threads_per_worker": 1}
            return lambda: _dask(lambda: client(**where))
    except ImportError as error:
        needed = "mpi4py" if kind == "mpi" else "'dask[distributed]'"
        raise UsageError(f"The engine {kind} is not installed.", hint=f"pip install {needed}") from error
    raise UsageError(f"There is no engine {clean(name)}.", hint="There are: processes, mpi, dask, dask:ADDRESS.")


def _refuse_alone(processes: int, started: str) -> None:
    """UsageError where srun started several processes and MPI connects none: each would do all of it. `started` is SLURM_STEP_NUM_TASKS.

    MPICH does so under a plug-in that it does not know (seen: 4.0.2, Slurm 22.05); Open MPI ends by itself.
    """
    if processes == 1 and started.isdecimal() and int(started) > 1:
        raise UsageError(
            f"srun started {started} processes, but MPI connects none of them.",
            hint="Name the plug-in of this MPI: srun --mpi=pmix for Open MPI, --mpi=pmi2 for MPICH (srun --mpi=list shows all).",
        )


@contextmanager
def _dask(connect: Callable[[], Any]) -> Iterator[Executor]:
    """An executor of dask, which computes what a killed worker had again by itself, until three have died of the same task."""
    killed: type[Exception] = import_module("distributed.scheduler").KilledWorker
    try:
        client = connect()
    except OSError as error:
        raise UsageError(f"No scheduler of dask answers: {clean(str(error))}.", hint="Check the address.") from error
    with client, client.get_executor() as pool:
        try:
            yield pool
        except (killed, CancelledError) as error:
            raise WorkerLostError("Workers of dask were killed.", hint="Give them more memory.") from error
