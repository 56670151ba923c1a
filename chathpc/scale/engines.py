"""Who computes the tasks of a large answer: this process, several, or those of mpi4py.futures or dask; what a killed one had is computed again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, as_completed
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import Any, TypeVar

from chathpc.errors import ChathpcError, UsageError
from chathpc.profile.text import clean

Make = Callable[[], AbstractContextManager[Executor]]
Found = TypeVar("Found")


class WorkerLostError(ChathpcError):
    """A process that computed was ended from outside, twice."""


def computed(
    do: Callable[..., Found], tasks: Sequence[tuple[object, ...]], make: Make | None, progress: Callable[[str], None]
) -> Iterator[Found]:
    """What `do` finds for each task, in their order. Tasks of a worker that was killed are given to new ones, once."""
    if make is None:
        yield from (do(*task) for task in tasks)
        return
    found: dict[int, Found] = {}
    for again in (False, True):
        lost = None
        with make() as executor:
            futures: dict[Future[Found], int] = {}
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
        if lost is None:
            break
        if again:
            hint = "Give it more memory, or fewer --workers."
            raise WorkerLostError("A process that computed was killed, twice.", hint=hint) from lost
        progress("a process was killed; its blocks are computed again")
    yield from (found[at] for at in range(len(tasks)))


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
            started = os.environ.get("SLURM_STEP_NUM_TASKS", "")
            if import_module("mpi4py.MPI").COMM_WORLD.Get_size() == 1 and started.isdecimal() and int(started) > 1:
                # Each would do all of it. MPICH does so under a plug-in that it does not know (seen: 4.0.2, Slurm 22.05); Open MPI ends by itself.
                raise UsageError(
                    f"srun started {started} processes, but MPI connects none of them.",
                    hint="Name the plug-in of this MPI: srun --mpi=pmix for Open MPI, --mpi=pmi2 for MPICH (srun --mpi=list shows all).",
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
