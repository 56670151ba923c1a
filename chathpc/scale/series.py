"""Runs of one program at several scales: which profiles they are, at which values of which parameters, and what was scaled."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import TypeVar

import numpy as np
import yaml
from numpy.typing import NDArray

from chathpc.adapters.glance import Glance
from chathpc.adapters.load import detect, load, refuse_repeated, refuse_same
from chathpc.comparison.comparable import common_metric
from chathpc.comparison.run import Run as Measured
from chathpc.errors import AdapterError, UsageError
from chathpc.measure.record import RECORD, read_record
from chathpc.profile.profile import Profile
from chathpc.profile.run import PEAK_MEMORY
from chathpc.profile.text import clean
from chathpc.profile.tree import FloatArray
from chathpc.scale import activities
from chathpc.scale.laws import FEWEST, Measurement, fit, gathered
from chathpc.scale.thresholds import threshold

#: Folders are searched for profiles so deep.
_DEPTH = 4
#: What parameters are called in the names of files and folders. `p` may be any of them, and is settled by the profiles.
_NAMES = {
    "ranks": ("ranks", "rank", "np", "mpi", "procs", "proc", "processes", "tasks", "ntasks", "nprocs"),
    "threads": ("threads", "thread", "t", "th", "omp", "nt", "nthreads"),
    "GPUs": ("gpus", "gpu", "g", "devices"),
    "nodes": ("nodes", "node"),
    "cores": ("cores", "core", "cpus"),
}
_KNOWN = {short: name for name, every in _NAMES.items() for short in every}
_WORKERS = ("p", "P")
#: Of a series' values or kind: the caller told them.
AS_GIVEN = "as given"
_REPETITION = {"rep", "run", "r", "repetition", "trial", "iter", "it", "sample", "seed", "job", "jobid"}
#: A word of a name that holds a value: `n1000`, `ranks=8`, `size_2k`, or with the number first `64_cores`.
_VALUE = re.compile(
    r"(?<![^-_.,+/])(?:([A-Za-z][A-Za-z_]*?)([=_]?)(\d+(?:\.\d+)?)([kKMG]?)|(\d+)_?((?i:{})))(?![^-_.,+/])".format(
        "|".join(name for name in _KNOWN if len(name) > 1)
    )
)
#: A word that holds several: `x100y1z1`, as Extra-P names folders.
_PAIRS = re.compile(r"(?<![^-_.,+/])(?:[A-Za-z]\d+){2,}(?![^-_.,+/])")
_PREFIX = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}


class Kind(StrEnum):
    """What was kept when the scale grew."""

    STRONG = "strong"  #: the whole problem
    WEAK = "weak"  #: the part of each worker
    PROBLEM_SIZE = "problem size"  #: the workers
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A profile of one run, where it was found, the values of the parameters, and what chathpc measure wrote beside it."""

    path: Path
    measured: Measured
    parameters: Mapping[str, float]
    record: Mapping[str, object] = field(default_factory=dict)

    @property
    def profile(self) -> Profile:
        """What was measured."""
        return self.measured.profile

    @property
    def on_devices(self) -> bool:
        """True if the metric is the time of devices."""
        return self.measured.metric.id == activities.ALL and bool(self.profile.where.is_gpu.any())

    @property
    def on_threads(self) -> bool:
        """True if the metric is the time of the program's threads."""
        return self.measured.is_host_time and not self.on_devices

    @property
    def kinds(self) -> NDArray[np.uint8]:
        """What the time of each node was spent on; computing where that is not known."""
        if self.on_devices:
            return activities.kinds_of(self.profile)
        return self.measured.facts.activities.kind if self.on_threads else np.zeros(len(self.profile.tree), np.uint8)

    @property
    def values(self) -> FloatArray:
        """The metric at each node itself."""
        return self.profile.dense(activities.ALL) if self.on_devices else self.measured.values

    @property
    def computing(self) -> dict[str, float]:
        """What each function of the program computes, by its name."""
        facts = self.measured.facts
        labels, sums = facts.by_function(np.where(activities.is_useful(self.kinds), self.values, 0.0))
        return {facts.label_names[label]: value for label, value in zip(labels.tolist(), sums.tolist(), strict=True)}


Sliced = TypeVar("Sliced", Run, Measurement)


@dataclass(frozen=True, slots=True)
class Point:
    """Repetitions at one value of the parameter: the numbers of their runs."""

    value: float
    runs: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Runs along one parameter, from its smallest value on.

    `points` are those along `parameter`; all other parameters are as in `fixed` there. `others` are runs at other points.
    `reason` says in words how `kind` was found, `source` where the values came from (either may be AS_GIVEN). `notes` are sentences.
    `given` are the paths that were named, profiles or folders of them.
    """

    parameter: str
    kind: Kind
    reason: str
    source: str
    points: tuple[Point, ...]
    runs: tuple[Run, ...]
    fixed: Mapping[str, float]
    others: tuple[Run, ...] = ()
    notes: tuple[str, ...] = ()
    given: tuple[Path, ...] = ()

    @property
    def values(self) -> list[float]:
        """The parameter's values, ascending."""
        return [point.value for point in self.points]

    @property
    def largest(self) -> Run:
        """The first run at the largest value."""
        return self.runs[self.points[-1].runs[0]]

    @property
    def hybrid(self) -> bool:
        """True if some run has several ranks of several threads."""
        return any(run.measured.ranks > 1 and run.measured.threads > run.measured.ranks for run in self.runs)


def short_name(place: Path) -> str:
    """The end of a profile's path, safe to show."""
    return clean("/".join(place.parts[-2:]))


def known_name(name: str) -> str:
    """What a parameter is called here: `ranks` for np, procs or processes; others as they are."""
    return _KNOWN.get(name.lower(), name)


def is_workers(parameter: str) -> bool:
    """True for parameters that count who works: ranks, threads, GPUs, nodes, cores."""
    return parameter in (*_NAMES, *_WORKERS, "workers")


# -- reading ---------------------------------------------------------------------------------------------------


def read_series(
    paths: Sequence[Path],
    *,
    values: Mapping[str, Mapping[str, float]] | None = None,
    parameter: str | None = None,
    kind: Kind | None = None,
    metric: str | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> Series:
    """The series of the profiles at `paths`, or in folders there.

    `values` are those of the parameters by path (see `values_from`); without them names of files and folders tell, else what the
    profiles say of ranks, threads and GPUs. `parameter` is the one along which to look, `kind` what was scaled, where the caller knows.
    UsageError where that makes no series, AdapterError for a path without a profile.
    """
    refuse_repeated(list(paths))
    found = {place: top for top in paths for place in profiles_in(top)}
    if not found:
        raise UsageError("There is no profile in these folders.", hint="Give profiles, or folders that hold them.")
    progress(f"reading {len(found)} profiles")
    read: dict[Path, Profile] = {}
    for place, top in found.items():
        try:
            read[place] = load(place)
        except AdapterError:
            if place == top:
                raise
    records = {place: read_record(place) for place in read}
    codes = {place: record.get("code", 0) for place, record in records.items()}
    # Where the program ended with an error in every run, that is how it ends.
    failed = [place for place, code in codes.items() if code != 0 and 0 in codes.values()]
    for place in failed:
        del read[place]
    if len(read) < 2:
        raise UsageError(
            f"A series needs profiles of two scales at least, but {len(read)} was found.",
            hint="Measure one with: chathpc measure --vary n=1000,2000,4000 -- ./app {n}",
        )
    refuse_same(list(read), list(read.values()))
    profiles = list(read.values())
    metrics, notes = common_metric(profiles[:1], profiles[1:], metric)
    if not metrics:
        raise UsageError(
            f"The profiles have no time in common. {notes[0]}", hint="Measure all of them in the same way."
        )
    if failed:
        named = ", ".join(map(short_name, failed))
        notes = [*notes, f"Omitted, since the program failed: {named}."]
    tables, source = _parameters(found, read, values)
    runs = [
        Run(place, Measured(profile, each), tables[place], records[place])
        for (place, profile), each in zip(read.items(), metrics, strict=True)
    ]
    commands = (record.get("command") for record in records.values())
    programs = dict.fromkeys(Path(each[0]).name for each in commands if isinstance(each, list) and each)
    if len(programs) > 1:
        several = f"These are runs of several programs: {clean(', '.join(programs))}."
        if _are_unlike(runs):
            raise UsageError(several, hint="Give runs of one program at several scales.")
        notes = [*notes, several]
    made = series_of(runs, source, parameter=parameter, kind=kind, notes=tuple(notes))
    return replace(made, given=tuple(paths))


def _are_unlike(runs: Sequence[Run]) -> bool:
    """True if the computing of some run is mostly in functions that others have not."""
    held = [run.computing for run in runs]
    common = set(held[0]).intersection(*held[1:])
    return any(2 * sum(each[name] for name in common) < sum(each.values()) for each in held)


def profiles_in(top: Path, depth: int = _DEPTH) -> list[Path]:
    """The profiles at `top`: itself, or those in the folder, in the order of their names."""
    if not top.is_dir() or (top / RECORD).is_file() or (detect(Glance(top)) is not None and not _holds_several(top)):
        return [top]
    if depth == 0:
        return []
    found = []
    for entry in sorted(top.iterdir(), key=lambda entry: entry.name):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            found += profiles_in(entry, depth - 1)
        elif entry.stat().st_size and detect(Glance(entry)) is not None:
            found.append(entry)
    return found


def _holds_several(folder: Path) -> bool:
    """True for a folder that one run may have written, such as the exports of its ranks, but whose files are named after parameters."""
    named = {entry: values for entry in folder.iterdir() if entry.is_file() and (values := named_values(entry.name))}
    return len(named) > 1 and bool(_varying(list(named.values()))) and detect(Glance(next(iter(named)))) is not None


def values_from(file: Path) -> dict[str, dict[str, float]]:
    """Values of the parameters by path, from a YAML file: `runs/a: {ranks: 4, n: 1000}`; paths are relative to the file.

    UsageError for anything else in it.
    """
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{clean(str(file))} cannot be read: {clean(str(error))[:200]}") from error
    hint = "Write one line a run: runs/a: {ranks: 4, n: 1000}"
    if not isinstance(content, dict) or not content:
        raise UsageError(f"{clean(str(file))} does not name any run.", hint=hint)
    found = {}
    for path, row in content.items():
        good = isinstance(row, dict) and row and all(type(each) in (int, float) and each > 0 for each in row.values())
        if not good:
            raise UsageError(f"{clean(str(file))} does not give positive numbers for {clean(str(path))}.", hint=hint)
        found[str(file.parent / str(path))] = {str(name): float(value) for name, value in row.items()}
    return found


def named_values(text: str) -> dict[str, float]:
    """Values that a name holds: `ranks=8`, `n1000`, `app-p4-n2k`, `x10y1`, `64_cores`; those that number repetitions are left out."""
    found = {}
    text = _PAIRS.sub(lambda match: re.sub(r"(?<=\d)(?=[A-Za-z])", ",", match[0]), text)
    for name, separator, number, prefix, count, counted in _VALUE.findall(text):
        if count:
            found[known_name(counted)] = float(count)
            continue
        # `heat_n1000` is n of heat; `grid_size=1000` has a name of two words.
        short = name if separator else name.rsplit("_", 1)[-1]
        if short.lower() not in _REPETITION:
            found[known_name(short)] = float(number) * _PREFIX[prefix]
    return {name: value for name, value in found.items() if value > 0}


def _parameters(
    found: Mapping[Path, Path], read: Mapping[Path, Profile], values: Mapping[str, Mapping[str, float]] | None
) -> tuple[dict[Path, Mapping[str, float]], str]:
    """The parameters of each profile, and where they came from in words. `found` has for each what was given: itself, or a folder."""
    if values is not None:
        known = {Path(path).resolve(): row for path, row in values.items()}
        return {place: _given(place, known) for place in read}, AS_GIVEN
    counted = {place: _counted(profile) for place, profile in read.items()}
    # From the folder that was given on; of what was given itself its name.
    below = {place: place.relative_to(found[place]).as_posix() if place != found[place] else "" for place in read}
    named = {place: named_values(f"{found[place].absolute().name}/{below[place]}") for place in read}
    for rows, source in (
        (_settled(named, counted), "from names of files and folders"),
        (counted, "as the profiles tell"),
    ):
        if varying := _varying(list(rows.values())):
            return {place: {name: row[name] for name in varying} for place, row in rows.items()}, source
    raise UsageError(
        "The profiles do not differ in ranks, threads or GPUs, and their names tell no parameter.",
        hint="Name folders such as p4 or n=1000, or give a YAML file with --parameters.",
    )


def _given(place: Path, known: Mapping[Path, Mapping[str, float]]) -> Mapping[str, float]:
    """What was said of a profile, or of a folder that it is in."""
    for each in (place.resolve(), *place.resolve().parents):
        if each in known:
            return known[each]
    raise UsageError(f"The file with the parameters has no line for {clean(str(place))}.")


def _varying(rows: Sequence[Mapping[str, float]]) -> list[str]:
    """Names that all rows have, with more than one value."""
    shared = [name for name in rows[0] if all(name in row for row in rows)]
    return [name for name in shared if len({row[name] for row in rows}) > 1]


def _counted(profile: Profile) -> dict[str, float]:
    """Ranks, threads of a rank, and GPUs, as the profile tells."""
    counts = profile.counts
    gpus = len(profile.devices) or len(np.unique(profile.where.gpu_context[profile.where.gpu_context >= 0]))
    found = {"ranks": counts.ranks, "threads": counts.threads, "GPUs": gpus}
    return {name: float(value) for name, value in found.items() if value > 0}


def _settled(
    named: Mapping[Path, Mapping[str, float]], counted: Mapping[Path, Mapping[str, float]]
) -> dict[Path, dict[str, float]]:
    """The same values with `p` called what it counts: whatever all profiles that have it count as many of."""

    def meant(name: str) -> str:
        rows = {place: row[name] for place, row in named.items() if name in row}
        for candidate in ("ranks", "threads", "GPUs") if name in _WORKERS else ():
            # A profile of one rank or thread may not number it.
            if all(counted[place].get(candidate, 1.0) == value for place, value in rows.items()):
                return candidate
        return name

    known = {name: meant(name) for row in named.values() for name in row}
    return {place: {known[name]: value for name, value in row.items()} for place, row in named.items()}


# -- what was scaled -------------------------------------------------------------------------------------------


def series_of(
    runs: Sequence[Run],
    source: str,
    *,
    parameter: str | None = None,
    kind: Kind | None = None,
    notes: tuple[str, ...] = (),
) -> Series:
    """The runs as a series along one parameter: the given one, else one that counts workers, else the one with the most values."""
    names = _varying([run.parameters for run in runs])
    if parameter is not None and known_name(parameter) not in names:
        other = f" Name that: --at {names[0]}=N." if len(names) == 1 else ""
        hint = f"They differ in: {', '.join(names)}.{other}"
        raise UsageError(f"The runs do not differ in '{clean(known_name(parameter))}'.", hint=hint)
    counts = {name: len({run.parameters[name] for run in runs}) for name in names}
    chosen = known_name(parameter) if parameter else max(names, key=lambda name: (is_workers(name), counts[name]))
    along, fixed = slice_along(runs, chosen, [name for name in names if name != chosen])
    ordered = sorted(along, key=lambda run: run.parameters[chosen])
    grouped = groupby(range(len(ordered)), key=lambda at: ordered[at].parameters[chosen])
    points = tuple(Point(value, tuple(every)) for value, every in grouped)
    found, reason = _kind(ordered, points, chosen) if kind is None else (kind, AS_GIVEN)
    others = tuple(run for run in runs if run not in along)
    return Series(chosen, found, reason, source, points, tuple(ordered), fixed, others, notes)


def slice_along(runs: Sequence[Sliced], parameter: str, others: Sequence[str]) -> tuple[list[Sliced], dict[str, float]]:
    """The runs or measurements with the most values of the parameter while all others stay; of several such slices that of the largest values."""
    slices: dict[tuple[float, ...], list[Sliced]] = {}
    for run in runs:
        slices.setdefault(tuple(run.parameters[name] for name in others), []).append(run)
    counts = {key: len({run.parameters[parameter] for run in chosen}) for key, chosen in slices.items()}
    best = max(slices, key=lambda key: (counts[key], key))
    if counts[best] < 2:
        raise UsageError(
            f"No two runs differ in {clean(parameter)} alone.",
            hint="Vary one parameter at a time, or give another with --along.",
        )
    return slices[best], dict(zip(others, best, strict=True))


def _kind(runs: Sequence[Run], points: Sequence[Point], parameter: str) -> tuple[Kind, str]:
    """Strong or weak scaling by the growth of all workers' computing, function by function; the size of the problem by its name."""
    if not is_workers(parameter):
        return Kind.PROBLEM_SIZE, f"{parameter} does not count workers"
    shares: dict[str, list[float]] = {}
    for at, point in enumerate((points[0], points[-1])):
        for run in (runs[number] for number in point.runs):
            for name, value in run.computing.items():
                shares.setdefault(name, [0.0, 0.0])[at] += value / len(point.runs)
    table = np.array([row for row in shares.values() if row[0] > 0])
    if not len(table):
        return Kind.UNKNOWN, "no function computes at the smallest scale"
    typical = typical_growth(table[:, 0], table[:, 1], points[-1].value / points[0].value)
    workers = parameter if parameter in _NAMES else "workers"
    if typical <= threshold("strong_growth"):
        return Kind.STRONG, f"the computing time of all {workers} together stays about the same"
    first, last = (np.mean([runs[at].measured.busiest for at in point.runs]) for point in (points[0], points[-1]))
    if last < threshold("falls") * first:
        return Kind.STRONG, f"the run takes less time with more {workers}"
    if typical >= threshold("weak_growth"):
        return Kind.WEAK, f"the computing time of all {workers} together grows with their number"
    return Kind.UNKNOWN, "all workers' computing neither stays nor grows in proportion"


def data_growth(series: Series) -> tuple[float, str]:
    """The exponent with which the data grow with the size of the problem, at least 1, and what tells so in words; empty for 1.

    `-x 20 -y 20` is the side of a grid, unless the memory that the runs hold grows more slowly. Where that hardly grows, it is not most for data, and
    tells nothing; by itself it tells no growth, as what short runs hold is not seen well.
    """
    used = float(_uses(series)) if series.kind == Kind.PROBLEM_SIZE else 1.0
    if used == 1:
        return 1.0, ""
    name, runs, power = series.parameter, series.runs, used
    held = [float(each) for run in runs if isinstance(each := run.record.get(PEAK_MEMORY), int) and each > 0]
    if len(held) == len(runs) and len(series.points) >= FEWEST and held[-1] >= threshold("data_grow") * held[0]:
        law = fit(gathered(({name: run.parameters[name]}, [each]) for run, each in zip(runs, held, strict=True))).law
        power = max(factor.order[0] for (factor,) in law.terms)
    return (used, f"the command has {name} {used:.0f} times") if power >= used / threshold("superlinear") else (1.0, "")


def _uses(series: Series) -> int:
    """How often the commands of the runs have the value of the parameter, in arguments that differ; 1 where they do not tell."""
    rows = [list(map(str, row)) for run in series.runs if isinstance(row := run.record.get("command"), list)]
    if len(rows) < len(series.runs) or len(set(map(len, rows))) > 1:
        return 1
    values = [rf"(?<![\d.]){re.escape(f'{run.parameters[series.parameter]:.12g}')}(?![\d.])" for run in series.runs]
    differing = [column for column in zip(*rows, strict=True) if len(set(column)) > 1]
    uses = [[len(re.findall(*each)) for each in zip(values, column, strict=True)] for column in differing]
    return max(sum(map(min, uses)), 1)


def typical_growth(first: FloatArray, last: FloatArray, ratio: float) -> float:
    """The exponent with which costs grow while the parameter grows by `ratio`: the median, weighted with the costs at first; all above 0."""
    growth = np.log(np.maximum(last, 1e-12) / first) / np.log(ratio)
    order = np.argsort(growth)
    middle = int(np.searchsorted(np.cumsum(first[order]), first.sum() / 2))
    return float(growth[order[min(middle, len(order) - 1)]])
