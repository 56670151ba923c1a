"""One SQLite export, read into what the exports of a job have in common."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chathpc.adapters.nsight_systems import sources, target
from chathpc.adapters.nsight_systems.assembly import Assembly
from chathpc.adapters.nsight_systems.columns import LATEST, Rows
from chathpc.adapters.nsight_systems.device import DeviceReader, Launches, kernel_rows
from chathpc.adapters.nsight_systems.host import make_threads, place_host
from chathpc.adapters.sqlite import EXPORT_AGAIN, Database, open_database, quoted
from chathpc.errors import AdapterError

#: Bytes of an export from which on its kernels are read by a thread of their own.
LARGE = 64 << 20
#: The highest ordinal that is believed; no node has as many GPUs.
MOST_GPUS = 4_095
ERRORS = "The profiler reported errors during the capture: {}. Parts may be missing."
DROPPED = "The profiler reports that events are missing from the capture."


@dataclass(frozen=True, slots=True)
class Read:
    """What is known of an export after it was read."""

    path: Path
    version: str
    epoch: int | None
    programs: tuple[str, ...]


def read_export(path: Path, assembly: Assembly, *, several: bool = False) -> Read:
    """Read the export at `path` into `assembly`; AdapterError for damage. `several`: it is one of several of a job."""
    with open_database(path) as database:
        try:
            with ExitStack() as stack:
                return _Export(database, assembly, several, stack).read()
        except OverflowError:
            raise AdapterError("the times of its events are centuries apart", path=path, hint=EXPORT_AGAIN) from None


class _Export:
    def __init__(self, database: Database, assembly: Assembly, several: bool, stack: ExitStack) -> None:
        self.database, self.assembly, self.several, self.stack = database, assembly, several, stack
        self.number: dict[int, int] = {}  # processes by their global ids
        self.names = target.process_names(database)
        self.visible = target.visible_devices(database)
        self.gpus, self.identity = target.gpus(database)
        self.local: dict[int, int] = {}  # ordinals in the whole job by those in this export

    def read(self) -> Read:
        """Host first: GPU operations hang below the calls that launched them."""
        database, assembly = self.database, self.assembly
        cuda = sources.calls_of_cuda(database, assembly)
        ranges, ranks = sources.ranges(database, assembly, self._end)
        libraries, system = sources.other_calls(database, assembly)
        # Of spans that begin and end together the first is the outer one.
        events = [*ranges, *libraries, *([] if cuda is None else [cuda]), *system]
        samples = sources.samples(database, assembly)
        assembly.seen.update(str(piece.lane) for piece in events)
        assembly.seen.update(["samples"] if samples is not None else [])
        tids = [piece.tids for piece in events] + ([] if samples is None else [samples.tids])
        ids = np.unique(np.concatenate(tids)) if tids else np.zeros(0, dtype=np.int64)
        for pid in np.unique(ids & sources.PROCESS_BITS).tolist():
            self._process(pid)
        for pid, rank in {**ranks, **target.mpi_ranks(database)}.items():
            assembly.processes[self._process(pid)].rank = rank
        threads = make_threads(assembly, ids, self.number, target.thread_names(database, ids))
        correlation = None if cuda is None else cuda.correlation
        process = np.zeros(0, dtype=np.int32)
        if cuda is not None and correlation is not None:
            process = threads.process[threads.numbers(cuda.tids)][cuda.thread]
        kernels = self._kernels_meanwhile()
        nodes = place_host(assembly, events, threads, samples)
        if correlation is None:
            correlation = np.zeros(0, dtype=np.int64)
        launches = Launches(
            process,
            correlation,
            nodes[len(ranges) + len(libraries)] if len(correlation) else np.zeros(0, dtype=np.int32),
        )
        del cuda, events, nodes, correlation, process
        DeviceReader(database, assembly, self._process, launches, self._ordinal, kernels).read()
        assembly.note(ERRORS, target.errors(database))
        assembly.note(DROPPED, int(target.lost_events(database)))
        programs = tuple(dict.fromkeys(name for pid in self.number if (name := self.names.get(pid, ""))))
        return Read(database.path, target.version(database), target.session_start(database), programs)

    def _kernels_meanwhile(self) -> Callable[[], Rows | None]:
        """What gives the kernels; those of a large export are read from now on, beside what the caller does."""
        if self.database.path.stat().st_size < LARGE:
            return lambda: kernel_rows(self.database)
        ahead = self.stack.enter_context(ThreadPoolExecutor(1)).submit(kernel_rows, self.database)
        return ahead.result

    def _process(self, pid: int) -> int:
        """The number of a process; an export without process ids (−1) is taken to be of the only process, if there is one."""
        if pid not in self.number:
            if pid < 0 and len(self.number) == 1:
                return next(iter(self.number.values()))
            self.number[pid] = self.assembly.process(self.names.get(pid, ""))
        return self.number[pid]

    def _ordinal(self, pid: int, device: int) -> int:
        """The GPU's ordinal in the job: that of this export, unless another export of the job uses it for another GPU."""
        ordinal = self.visible.get(((pid >> 24) & 0xFFFFFF, device), device)
        if not 0 <= ordinal <= MOST_GPUS:
            ordinal = 0
        if ordinal not in self.local:
            gpu = self.gpus.get(ordinal)
            self.local[ordinal] = self.assembly.gpu(ordinal, self.identity.get(ordinal), gpu, shared=self.several)
        return self.local[ordinal]

    def _end(self) -> int:
        """The latest time of any event: where open ranges end."""
        latest = 0
        for table in sorted(self.database.tables):
            if not table.startswith(("CUPTI_ACTIVITY_KIND_", "NVTX_EVENTS", "OSRT_API", "MPI_")):
                continue
            for name in {"start", "end"} & set(self.database.columns(table)):
                statement = f"SELECT max({quoted(name)}) FROM {table} WHERE {quoted(name)} < {LATEST}"  # noqa: S608
                ((value,),) = self.database.rows(statement)
                latest = max(latest, value) if isinstance(value, int) else latest
        return latest
