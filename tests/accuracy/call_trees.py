"""A program as a call tree with a value for each location, written as different profilers would write it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.synthetic import caliper, tau
from tests.synthetic.cube import CubeSpec, MetricSpec, RegionSpec, write_cube
from tests.synthetic.hpctoolkit_v4 import (
    TIME,
    Context,
    Database,
    Location,
    Metric,
    Options,
    entry,
    function,
    line,
    point,
    write,
)
from tests.synthetic.perf_script import Frame, Sample
from tests.synthetic.perf_script import write as write_script

EVENTS = 10_000_000  #: hardware events of a sample
PERIOD = 1 / 256  #: seconds of a sample (exact in binary, so that sums are)


@dataclass(slots=True)
class Part:
    """A function: own seconds at each location (or none), the line of its caller that calls it, and further metrics.

    `role` is "" for the program's own functions, else what runs it: mpi, openmp, libc, libm, kernel, …; `calls` are visits.
    """

    name: str
    own: Sequence[float] = ()
    below: Sequence[Part] = ()
    file: str = ""
    line: int = 0
    at: int = 0
    role: str = ""
    calls: float = 1
    more: Mapping[str, Sequence[float]] = field(default_factory=dict)


def total(part: Part) -> list[float]:
    """Seconds of the part and all below, at each location."""
    columns = [list(part.own)] if part.own else []
    columns += [total(each) for each in part.below]
    return [sum(values) for values in zip(*[column for column in columns if column], strict=True)]


def share(root: Part | Sequence[Part], chosen: Callable[[Part], bool]) -> float:
    """Own seconds of the chosen parts over those of all."""
    roots = [root] if isinstance(root, Part) else root
    each = [part for one in roots for part in walk(one)]
    whole = sum(sum(part.own) for part in each)
    return sum(sum(part.own) for part in each if chosen(part)) / whole


def walk(part: Part) -> Iterator[Part]:
    """The part and all below."""
    yield part
    for each in part.below:
        yield from walk(each)


# -- HPCToolkit ------------------------------------------------------------------------------------------------

_LIBRARIES = {
    "mpi library": "/usr/lib/x86_64-linux-gnu/libopen-pal.so.40.30.2",
    "mpi": "/usr/lib/x86_64-linux-gnu/libmpi.so.40.30.4", "libc": "/usr/lib/x86_64-linux-gnu/libc.so.6",
    "libm": "/usr/lib/x86_64-linux-gnu/libm.so.6", "gomp": "/usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0",
    "kernel": "<vmlinux.0>", "llvm": "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "cpp": "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
}  # fmt: skip


def context(part: Part) -> Context:
    """The part and all below as HPCToolkit has them: calls stand below the line that makes them; libraries have no lines."""
    columns = {TIME: part.own, **part.more} if len(part.own) else dict(part.more)
    samples = {
        name: {number: value for number, value in enumerate(values) if value} for name, values in columns.items()
    }
    samples = {name: values for name, values in samples.items() if values}
    if part.role == "placeholder":
        return function(part.name, module=None, samples=samples)
    if part.role:
        module = _LIBRARIES[part.role]
        name = f"P{part.name}" if part.role == "mpi" else part.name
        shown = f"{name} [{module.rsplit('/', 1)[-1]}]"
        return function(shown, *[context(each) for each in part.below], module=module, samples=samples)
    rows: dict[int, list[Context]] = {part.line + 2: [point(0x1000 + part.line * 16, samples)]} if samples else {}
    for each in part.below:
        rows.setdefault(each.at or part.line + 3, []).append(context(each))
    found = [line(part.file, number, *inside) for number, inside in rows.items()]
    return function(part.name, *found, file=part.file, line=part.line, module="/opt/app/bin/app")


def rounded(part: Part) -> Part:
    """The same with whole samples."""
    own = [round(value / PERIOD) * PERIOD for value in part.own]
    return Part(part.name, own, [rounded(each) for each in part.below], part.file, part.line, part.at, part.role, part.calls,
                part.more)  # fmt: skip


def write_hpctoolkit(
    folder: Path,
    main: Part,
    *,
    threads: Sequence[Part] = (),
    ranks: bool = False,
    cores: int = 0,
    metrics: Sequence[str] = (),
    sources: Mapping[str, str] | None = None,
) -> list[str]:
    """A database; `threads` are the roots of threads other than the first, `ranks`: locations are MPI ranks."""
    count = len(total(main))
    locations = [
        Location(thread=0 if ranks else n, rank=n if ranks else None, core=n % cores if cores else n)
        for n in range(count)
    ]
    roots = [entry(context(rounded(main)))] + [entry(context(rounded(one)), kind=2) for one in threads]
    named = [Metric(TIME), *(Metric(name) for name in metrics)]
    write(folder / "database", Database(roots, locations, named, sources=sources or {}), Options())
    return ["database"]


# -- Score-P ---------------------------------------------------------------------------------------------------

_ROLES = {
    "mpi": ("mpi", "function"), "openmp parallel": ("openmp", "parallel"), "openmp loop": ("openmp", "loop"),
    "openmp barrier": ("openmp", "implicit barrier"), "openmp critical": ("openmp", "critical"),
}  # fmt: skip
_COLLECTIVE = {"MPI_Allreduce": "all2all", "MPI_Alltoall": "all2all", "MPI_Alltoallv": "all2all", "MPI_Allgather": "all2all",
               "MPI_Bcast": "one2all", "MPI_Barrier": "barrier", "MPI_Reduce": "all2one"}  # fmt: skip


def write_scorep(folder: Path, root: Part, *, ranks: bool = True) -> list[str]:
    """profile.cubex with inclusive time, visits and further metrics."""
    regions: list[RegionSpec] = []
    calls: list[tuple[int, int]] = []
    parts: list[Part] = []

    def add(part: Part, parent: int) -> None:
        paradigm, role = _ROLES.get(part.role, ("compiler", "function"))
        if part.role == "mpi":
            role = _COLLECTIVE.get(part.name, "point2point")
        module = "MPI" if part.role == "mpi" else part.file
        regions.append(RegionSpec(part.name, module, part.line or -1, paradigm, role))
        number = len(calls)
        calls.append((parent, len(regions) - 1))
        parts.append(part)
        for each in part.below:
            add(each, number)

    add(root, -1)
    count = len(total(root))
    metrics = [
        MetricSpec("visits", {n: [part.calls] * count for n, part in enumerate(parts)}, type="UINT64", unit="occ"),
        MetricSpec("time", {n: total(part) for n, part in enumerate(parts)}, kind="INCLUSIVE"),
    ]
    for name in dict.fromkeys(name for part in parts for name in part.more):
        values = {n: part.more[name] for n, part in enumerate(parts) if name in part.more}
        metrics.append(MetricSpec(name, values, type="UINT64", unit="bytes"))
    where = [(n if ranks else 0, 0 if ranks else n, "thread") for n in range(count)]
    write_cube(folder / "profile.cubex", CubeSpec(regions, calls, metrics, where))
    return ["profile.cubex"]


# -- TAU and Caliper -------------------------------------------------------------------------------------------


def write_tau(folder: Path, root: Part, *, ranks: bool = True, events: Sequence[str] = ()) -> list[str]:
    """A folder of profile.N.C.T files."""
    groups = {f"{part.name}()": "MPI" for part in walk(root) if part.role == "mpi"}
    trees = {}
    for n in range(len(total(root))):
        tree: dict[tuple[str, ...], tuple[float, int]] = {}

        def add(part: Part, above: tuple[str, ...], tree: dict[tuple[str, ...], tuple[float, int]], n: int) -> None:
            shown = (
                f"{part.name}()"
                if part.role
                else f"{part.name} [{{{part.file}}} {{{part.line},1}}-{{{part.line + 20},1}}]"
            )
            path = (*above, shown)
            tree[path] = ((part.own[n] if len(part.own) else 0.0) * 1e6, int(part.calls))
            for each in part.below:
                add(each, path, tree, n)

        add(root, (".TAU application",), tree, n)
        tree[(".TAU application",)] = (1.0, 1)
        trees[(n, 0, 0) if ranks else (0, 0, n)] = tree
    return [tau.write_run(folder / "tau", trees, groups=groups, events=events).name]


def write_caliper(folder: Path, root: Part) -> list[str]:
    """A .cali file with sums and extremes over ranks."""
    records = []

    def add(part: Part, above: tuple[tuple[str, str], ...]) -> None:
        path = (*above, ("mpi.function" if part.role == "mpi" else "function", part.name))
        records.append(caliper.Record(path, caliper.across(total(part))))
        for each in part.below:
            add(each, path)

    add(root, ())
    caliper.write_cali(folder / "run.cali", records, facts={"jobsize": str(len(total(root)))})
    return ["run.cali"]


# -- Linux perf ------------------------------------------------------------------------------------------------


def write_perf(folder: Path, root: Part, *, hertz: int = 250) -> list[str]:
    """The text of perf script: samples of each thread in turn, each with its call stack, the innermost frame first.

    `more` of a part are counts of hardware events, of which each ten millionth gives a sample.
    """
    period = round(1e9 / hertz)
    samples: list[tuple[int, tuple[Frame, ...], str, int]] = []

    def add(part: Part, above: tuple[Frame, ...]) -> None:
        module = {"": "/opt/app/bin/app", "kernel": "[kernel.kallsyms]"}.get(part.role) or _LIBRARIES[part.role]
        address = 0xFFFFFFFF81000000 if part.role == "kernel" else 0x401000
        stack = (Frame(part.name, module, address=address + part.line * 16), *above)
        for thread, seconds in enumerate(part.own):
            samples.extend((thread, stack, "cpu-clock", period) for _ in range(round(seconds * hertz)))
        for event, counts in part.more.items():
            for thread, count in enumerate(counts):
                samples.extend((thread, stack, event, EVENTS) for _ in range(round(count / EVENTS)))
        for each in part.below:
            add(each, stack)

    add(root, (Frame("_start", "/opt/app/bin/app"),))
    made = [
        Sample(stack, comm="app", pid=4000, tid=4000 + thread, seconds=100 + n / hertz, period=count, event=event)
        for n, (thread, stack, event, count) in enumerate(samples)
    ]
    (folder / "perf-script.txt").write_text(write_script(made))
    return ["perf-script.txt"]
