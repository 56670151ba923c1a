"""Profile: one measured run (or several views of it), whatever tool it came from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chathpc.errors import UsageError
from chathpc.profile.helper_threads import HelperThreads, ProgramValues, no_helpers
from chathpc.profile.location import LocationCounts, Locations
from chathpc.profile.metric import Aggregation, Clock, Column, Metric, Unit
from chathpc.profile.source_text import SourceExcerpt, SourceReader, files_of, no_source, only_shown, with_sources
from chathpc.profile.text import clean
from chathpc.profile.tree import BoolArray, CallTree, FloatArray, IntArray
from chathpc.profile.values import Values

if TYPE_CHECKING:
    import hatchet
    import networkx
    import pandas as pd

    from chathpc.profile.compiler import Build
    from chathpc.profile.machine_code import MachineCode, SampledCode
    from chathpc.profile.remark import AccessDensity, Device, Disagreement, GrownPlace, PredictedKernel, Remark
    from chathpc.profile.source_text import Provenance
    from chathpc.profile.timeline import Timeline

#: In Profile.run: the command that was run, quoted for a shell, without the profiler.
COMMAND = "command"
#: And how many processes the tool saw, and how many ranks the run had.
PROCESSES, RANKS = "processes", "ranks"
#: Of how many ranks, and of how many threads of each at most, the values of a location are the sum, where the tool does not keep them apart.
RANKS_ADDED, THREADS_ADDED = "ranks added up", "threads added up"
#: Ids under which the time of CPU threads may be found, the one to explain first. Where no time was recorded, numbers of
#: samples stand for it, then numbers of instructions, then bare percentages.
TIME_METRICS = (
    "cpu.time.wall", "cpu.time", "cpu.cycles", "cpu.samples", "gpu.time", "host.time", "io.time", "cpu.instructions", "cpu.share",
)  # fmt: skip


#: Of a number of ranks, threads or cores; what has more is none.
_DIGITS = 9
#: Formats that number processes as they see them, and names of what numbers ranks.
_TRACERS_OF_PROCESSES = ("Nsight", "roc", "rpd", "PyTorch", "Chrome")
_RANKED = re.compile(r"P?MPI_|mpi_|nccl|rccl|shmem_|nvshmem")


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder that a profile was read from, with the tool that wrote it and its version where known."""

    path: Path
    tool: str
    version: str = ""


def whole_number(text: str) -> int:
    """The number of ranks, threads or cores that `text` says; 0 for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else 0


def no_timeline() -> Timeline | None:
    """The reader of a profile that came without a trace."""
    return None


@dataclass(frozen=True, slots=False, eq=False)
class Profile:
    """A calling context tree, its metrics and values, the locations, and what the data cannot tell.

    `run` holds facts about the run (title, command, …); `hardware` facts about the machine, as text.
    `sample_count` is the number of time samples where the tool tells it. `caveats` are sentences; `not_collected` maps
    what is missing to the command that would collect it. `timed` is True where times were measured from beginning to end
    (instrumentation, traces) and not sampled. `insufficient` says, as a sentence, why nothing at all can be concluded;
    empty otherwise. `devices` are the GPUs by their ordinal; `remarks` what the tool's own rules found;
    `disagreements` what joined views of several tools measured differently; `accesses` how a kernel's accesses to memory
    are spread over its time; `build` what compilers say they did to the program; `code` the machine code of GPU kernels, where a
    report or a disassembly shows it; `sampled_code` that of hot functions of the host, with their samples; `predicted` what was
    predicted of kernels before they ran; `grown` what runs at other sizes of the problem show. `recording` tells this
    recording from all others, in whatever form it is stored; empty where the data has nothing that does.

    All values are those of the program: what threads of libraries that never work for it have is left out (`helpers` says what),
    unless `all_threads` is set.
    """

    format: str
    title: str
    tree: CallTree
    metrics: Mapping[str, Metric]
    values: Values
    where: Locations
    sources: tuple[Source, ...] = ()
    caveats: tuple[str, ...] = ()
    not_collected: Mapping[str, str] = field(default_factory=dict)
    run: Mapping[str, str] = field(default_factory=dict)
    hardware: Mapping[str, str] = field(default_factory=dict)
    sample_count: float | None = None
    timed: bool = False
    insufficient: str = ""
    devices: Mapping[int, Device] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    accesses: tuple[AccessDensity, ...] = ()
    build: Build | None = None
    code: tuple[MachineCode, ...] = ()
    sampled_code: tuple[SampledCode, ...] = ()
    predicted: tuple[PredictedKernel, ...] = ()
    grown: tuple[GrownPlace, ...] = ()
    recording: str = ""
    all_threads: bool = False
    read_source: SourceReader = no_source
    read_timeline: Callable[[], Timeline | None] = no_timeline

    def __post_init__(self) -> None:
        """Lay the values of the program's own threads over those that were measured; nothing is read for that."""
        values = self.values.everything if isinstance(self.values, ProgramValues) else self.values
        if not self.all_threads:
            values = ProgramValues(values, self.tree, self.where, self.metrics, self.time)
        object.__setattr__(self, "values", values)

    def __repr__(self) -> str:
        """What it is of, not its arrays."""
        sizes = f"{len(self.tree):,} contexts, {len(self.where):,} locations"
        return f"<Profile {clean(self.title)}: {clean(self.format)}, {sizes}, metrics {', '.join(map(clean, self.metrics))}>"

    # -- threads -------------------------------------------------------------------------------------------

    @property
    def everything(self) -> Profile:
        """The same with all that was measured, helper threads of libraries too."""
        return self if self.all_threads else replace(self, all_threads=True)

    @property
    def helpers(self) -> HelperThreads:
        """The threads that libraries run for themselves, which no value counts."""
        return self.values.helpers if isinstance(self.values, ProgramValues) else no_helpers(len(self.where))

    @property
    def program(self) -> str:
        """The name of the program; empty where only the file has one."""
        files = {name for source in self.sources for name in (source.path.name, source.path.name.partition(".")[0])}
        return "" if self.title.partition(",")[0] in files else self.title

    @cached_property
    def threads(self) -> IntArray:
        """The locations that are threads of the program: CPU threads that have some of the time, were it to wait for others to end."""
        if self.time is None:
            return np.flatnonzero(~self.where.is_gpu).astype(np.int32)
        timed = self.present(self.time.id) > 0
        return np.flatnonzero(timed & ~self.helpers.locations & ~self.where.is_gpu).astype(np.int32)

    @property
    def counts(self) -> LocationCounts:
        """How many nodes, ranks, threads and GPU streams the program has."""
        counts = self.where.counts(without=self.helpers.locations | self.without_time | self._idle_streams)
        traced = self.format.startswith(_TRACERS_OF_PROCESSES)
        ranked = not traced or any(_RANKED.match(name) for name in self.tree.names)
        return counts if ranked else replace(counts, rank="process")

    @property
    def size(self) -> LocationCounts:
        """The same of the run, where the tool tells more than its locations do; no threads where they are not known."""
        counts, ranks, threads = self.counts, self.told(RANKS_ADDED), self.told(THREADS_ADDED)
        return replace(
            counts,
            ranks=self.told(PROCESSES) or max(counts.ranks, ranks),
            threads=max(counts.threads if ranks < 2 else 0, threads),
        )

    @property
    def single(self) -> IntArray:
        """Those of `threads` whose values are of one thread of one rank, and no sum over several."""
        if self.told(RANKS_ADDED) > 1:
            return self.threads[:0]
        return self.threads[self.where.thread[self.threads] >= 0] if self.told(THREADS_ADDED) > 1 else self.threads

    def told(self, name: str) -> int:
        """A number in `run`, 0 where there is none."""
        return whole_number(self.run.get(name, ""))

    @property
    def shape(self) -> str:
        """The same in words: `4 ranks × 8 threads on 2 nodes`."""
        return self.size.words()

    @cached_property
    def without_time(self) -> BoolArray:
        """True for threads that have none of the time, which other threads of their process have: a CPU clock sees nothing of a thread
        that never works. Of a time of devices several others: where one alone launches, nothing is known of the rest.
        """
        where, timed = self.where, np.isin(np.arange(len(self.where)), self.threads)
        if self.time is None or not self.time.id.startswith(("cpu.", "gpu.")):
            return np.zeros(len(where), dtype=bool)
        process = where.process
        have = np.bincount(process[timed], minlength=len(where))[process] >= (
            1 if self.time.id.startswith("cpu.") else 2
        )
        return np.asarray(~timed & (where.thread >= 0) & ~where.is_gpu & have)

    @cached_property
    def _idle_streams(self) -> BoolArray:
        """True for GPU streams that have none of the devices' time, which others have: one that is only waited for does nothing."""
        is_gpu = self.where.is_gpu
        if not self.has("gpu.time") or not is_gpu.any():
            return np.zeros(len(is_gpu), dtype=bool)
        works = np.nan_to_num(self.location_totals("gpu.time")) > 0
        return is_gpu & ~works if (is_gpu & works).any() else np.zeros(len(is_gpu), dtype=bool)

    # -- metrics -------------------------------------------------------------------------------------------

    def has(self, *metrics: str) -> bool:
        """True if all these metrics were measured and have values."""
        return all(name in self.metrics and self.metrics[name].has_values for name in metrics)

    def metric(self, name: str) -> Metric:
        """The metric with canonical id `name`, or with that name in the source; UsageError if there is none."""
        found = self.metrics.get(name) or self._by_source_name.get(name)
        if found is None:
            known = ", ".join(sorted(self.metrics)) or "none"
            raise UsageError(f"This profile has no metric '{name}'.", hint=f"It has: {known}.")
        return found

    @cached_property
    def _by_source_name(self) -> dict[str, Metric]:
        return {metric.source_name: metric for metric in self.metrics.values()}

    @cached_property
    def time(self) -> Metric | None:
        """The metric that stands for the time of the host: wall clock before CPU clock before cycles, samples,
        instructions and percentages; None without any.
        """
        for name in TIME_METRICS:
            if self.has(name):
                return self.metrics[name]
        return None

    @property
    def sees_waiting(self) -> bool:
        """True if the time was taken from a wall clock, so that blocked threads are seen."""
        return self.time is not None and self.time.clock == Clock.WALL

    # -- values --------------------------------------------------------------------------------------------

    def exclusive(self, metric: str) -> Column:
        """Values that belong to each node itself; they sum to `total(metric)`."""
        return self.values.exclusive(self.metric(metric).id)

    def dense(self, metric: str) -> FloatArray:
        """Exclusive values of all nodes; zeros for a metric that was not measured, or has no value."""
        size = len(self.tree)
        return self.exclusive(metric).dense(size) if self.has(metric) else np.zeros(size)

    def inclusive(self, metric: str) -> Column:
        """Values of each node with all below it."""
        return self.values.inclusive(self.metric(metric).id)

    def total(self, metric: str) -> float:
        """Sum over all entry points and locations, in `Metric.unit` whatever name the metric is asked by."""
        found = self.metric(metric)
        if found.aggregation == Aggregation.DERIVED:
            return self.values.derived_total(found.id)
        column = self.values.inclusive(found.id)
        roots = [value for root in self.tree.roots if (value := column.at(int(root))) is not None]
        summed = found.aggregation == Aggregation.SUM
        return float(np.sum(np.array(roots), dtype=np.longdouble)) if summed else max(roots, default=0.0)

    # -- tables --------------------------------------------------------------------------------------------

    def table(self, by: str = "function", metric: str | None = None) -> pd.DataFrame:
        """One row per function, line, loop, module or kernel, largest exclusive value first.

        Columns: name, file, line, module, exclusive, inclusive (recursion counted once; unit of the metric).
        `metric` defaults to the time of the host. UsageError for another `by` or an unknown metric.
        """
        from chathpc.profile.tables import table

        return table(self, by, self._metric_or_time(metric))

    @cached_property
    def locations(self) -> pd.DataFrame:
        """One row per location: its label and parts, and its total of every summed metric that has values (NaN: none)."""
        from chathpc.profile.tables import location_table

        return location_table(self)

    @cached_property
    def kernels(self) -> pd.DataFrame:
        """One row per GPU kernel with its time, launches and launch facts; empty without GPU data."""
        from chathpc.profile.tables import kernel_table

        return kernel_table(self)

    def _metric_or_time(self, metric: str | None) -> Metric:
        if metric is not None:
            return self.metric(metric)
        if self.time is None:
            raise UsageError(
                "This profile has no time metric.", hint=f"Name one of: {', '.join(sorted(self.metrics))}."
            )
        return self.time

    # -- bridges -------------------------------------------------------------------------------------------

    def callgraph(self, metric: str | None = None) -> networkx.DiGraph:
        """The call graph: one node per function, an edge per caller and callee with the time passed along it."""
        from chathpc.profile.tables import callgraph

        return callgraph(self, self._metric_or_time(metric))

    def graphframe(self) -> hatchet.GraphFrame:
        """The profile as a hatchet GraphFrame: every node, every metric with values as `id` (exclusive) and `id (inc)`.

        Values are added up over ranks and threads: `locations` and `values.per_location` tell these apart. What is left out, such as
        helper threads, is NaN; `everything.graphframe()` has it.
        """
        from chathpc.profile.hatchet_bridge import to_graphframe

        return to_graphframe(self)

    @classmethod
    def from_graphframe(cls, frame: hatchet.GraphFrame, *, title: str = "") -> Profile:
        """A profile of any hatchet GraphFrame; rows per rank or thread become locations."""
        from chathpc.profile.hatchet_bridge import from_graphframe

        return from_graphframe(frame, title=title)

    # -- more ----------------------------------------------------------------------------------------------

    @cached_property
    def timeline(self) -> Timeline | None:
        """What each location did over time, where a trace was recorded; read at the first use."""
        return self.read_timeline()

    def source(self, node: int, *, context: int = 3) -> SourceExcerpt | None:
        """Source text around the place of `node`, where the profile has it."""
        path, line = self.tree.file_name(node), int(self.tree.line[node])
        return self.read_source(path, line, context) if path is not None and line > 0 else None

    @property
    def sources_missing(self) -> tuple[str, ...]:
        """Source files of the program that were sought so far and not found, as the profile names them."""
        return files_of(self.read_source).missing

    @property
    def sources_found(self) -> Mapping[str, Provenance]:
        """Source files that were sought so far and found, and where each came from."""
        return files_of(self.read_source).found

    def with_sources(self, named: Sequence[Path] = (), *, below: Path | None = None) -> Profile:
        """The profile with source from the folders `named`, and what is found by its name `below` a folder; see source_text."""
        return (
            replace(self, read_source=with_sources(self.read_source, named, below=below))
            if named or below is not None
            else self
        )

    def only_shown(self) -> Profile:
        """The profile with what others than the user may be shown: source that is its own or was named, and no arguments of the program."""
        run = {key: value for key, value in self.run.items() if key != COMMAND}
        return replace(self, read_source=only_shown(self.read_source), run=run)

    def seconds(self, metric: str) -> float | None:
        """Total of `metric` in seconds, or None if it is no time."""
        found = self.metrics.get(metric)
        return self.total(metric) if found is not None and found.unit == Unit.SECONDS else None

    def present(self, metric: str) -> FloatArray:
        """Total of each location with its waits for others to end: of a time, how long it was there; 0 where it has no value."""
        if not isinstance(self.values, ProgramValues) or not self.values.joins.any():
            return np.nan_to_num(self.location_totals(metric))
        return self.present_in(metric, np.zeros(len(self.tree), dtype=np.int32), 1)[:, 0]

    def present_in(self, metric: str, group: IntArray, groups: int) -> FloatArray:
        """The same for groups of nodes, −1 for none: array (locations × groups)."""
        grouped = self.values.present if isinstance(self.values, ProgramValues) else self.values.grouped
        return grouped(self.metric(metric).id, group, groups)

    def location_totals(self, metric: str) -> FloatArray:
        """Total of each location, NaN where it has no value."""
        return self.values.location_totals(self.metric(metric).id)
