"""What an entry of the catalogue holds: a performance problem, how it is recognised and what is done about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

#: Families of causes in the order in which a reader meets them.
FAMILIES = {
    "host": "Host code",
    "openmp": "OpenMP",
    "mpi": "MPI",
    "gpu-system": "GPU: the program around the kernels",
    "gpu-kernel": "GPU: inside kernels",
}

#: The language of a program that is in none of the others.
OTHER = "other language"
#: Names that `Advice.applies` may hold, in groups of alternatives: [c, c++, openmp] is for OpenMP in C or C++.
LANGUAGES = frozenset({"c", "c++", "fortran", "python", "julia", "rust", OTHER})
THREADING = frozenset({"pthreads", "openmp"})
MESSAGES = frozenset({"mpi"})
DEVICE = frozenset({"cuda", "hip", "sycl", "openacc", "openmp-target"})
GROUPS = (LANGUAGES, THREADING, MESSAGES, DEVICE)
ANY = "any"

#: What a family or a programming model says of the program: an OpenMP problem is one of an OpenMP program.
_IMPLIED = {"openmp": "openmp", "mpi": "mpi"}
_CXX = frozenset({"cuda", "hip", "sycl"})

#: What `refuted_by` may ask for: chathpc.diagnosis.refutation measures it.
MEASURES = ("allocation", "files", "mpi", "openmp", "threads")

#: What a repair can remove at most.
BOUNDS = ("none", "cost", "place")

#: What else may be true of a cause: a unit of the machine is used as well as it can be; it goes with the type of the data, which callers of
#: a library choose; the summary says what it is, in the words of the device's maker.
TRAITS = ("machine-limit", "data-type", "told-by-summary")

#: Units of thresholds. A `share` is 0..1 of the whole; a `ratio` compares two other quantities.
UNITS = frozenset({
    "share", "percent", "ratio", "samples", "ranks", "standard deviations", "storage targets", "seconds", "bytes",
    "bytes/s", "frames", "instructions", "launches", "sectors/request", "waves", "threads", "gaps", "blocks",
    "calls", "lines", "registers", "reasons", "values", "digits", "iterations", "runs", "functions",
    "degrees of freedom",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Threshold:
    """A number that a rule compares with, its unit (one of UNITS) and where it comes from."""

    value: float
    unit: str
    source: str


class Thresholds:
    """A room's own thresholds, those of `file`, which holds nothing else, by name; it is read once, when the first is asked for.

    thresholds = Thresholds(Path(__file__).with_name("thresholds.yaml"))
    thresholds()["confidence"].source    where it comes from
    thresholds.value("confidence")       0.95
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read: Mapping[str, Threshold] | None = None

    def __call__(self) -> Mapping[str, Threshold]:
        """All of them; ChathpcError for a file that breaks the schema."""
        if self._read is None:
            from chathpc.diagnosis.catalogue.schema import read_thresholds

            self._read = read_thresholds(self._file)
        return self._read

    def value(self, name: str) -> float:
        """Value of a threshold, in the unit that the file gives; KeyError for an unknown one."""
        return self()[name].value


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to do, as an imperative sentence that names the directive, clause, flag or call.

    `applies` names the languages and programming models that it is for. The example, where there is one, is a whole
    function in `example_language` before and after.
    """

    applies: tuple[str, ...]
    do: str
    example_language: str | None = None
    example_before: str | None = None
    example_after: str | None = None

    def fit(self, models: frozenset[str], open_groups: tuple[frozenset[str], ...] = ()) -> int:
        """How well this suits a program of the given languages and models: number of groups that match, −1 if it does not.

        `open_groups` are those of which nothing is known about the program: any of their names suits, but is no match.
        """
        wanted = frozenset(self.applies)
        matches = 0
        for group in GROUPS:
            if not wanted & group or group in open_groups:
                continue
            if not wanted & models & group:
                return -1
            matches += 1
        return matches


@dataclass(frozen=True, slots=True)
class NextMeasurement:
    """A command that would settle a doubt, and what its result tells."""

    command: str
    tells: str


@dataclass(frozen=True, slots=True)
class Refutation:
    """What excludes a cause: a measure (of chathpc.diagnosis.refutation) below a value, a share (0..1) or a count; and why."""

    measure: str
    below: float
    source: str


@dataclass(frozen=True, slots=True)
class Cause:
    """An entry of the catalogue.

    `headroom` is the part of the cost (0..1) that can typically go; a finding is ranked by its share × headroom.
    `bound` says what a repair can remove at most (one of BOUNDS), and `bound_source` why: "cost" what the finding costs, "place" all that its
    function has with what it calls, "none" where a repair may also remove work around it, so that no bound
    is stated.
    `detected` is false while no rule finds this cause. `keywords` are words (lower case) by any of which a text may be
    taken to name this cause. `refuted_by` says what excludes it where it is measured.
    `traits` are some of TRAITS. `metrics` are ids of metrics that show, where they were measured, how near a run is to it.
    `functions` are patterns of names (as in a shell, `MKL_*`) by which a user's entry is found;
    `origin` the user's files that it comes from or was changed by, empty for a built-in one.
    """

    id: str
    title: str
    family: str
    detected: bool
    what: str
    why: str
    evidence: tuple[str, ...]
    speaks_against: tuple[str, ...]
    gain: str
    headroom: float
    headroom_source: str
    bound: str
    bound_source: str
    thresholds: Mapping[str, Threshold]
    advice: tuple[Advice, ...]
    next_measurement: NextMeasurement
    references: tuple[str, ...]
    keywords: tuple[str, ...]
    refuted_by: tuple[Refutation, ...] = ()
    traits: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    origin: tuple[str, ...] = ()

    def threshold(self, name: str) -> float:
        """Value of a threshold, in the unit that the entry gives; KeyError if the entry has none of that name."""
        return self.thresholds[name].value

    @property
    def where_only(self) -> bool:
        """True for entries that say where the time is and not why: by itself nothing of it can go."""
        return self.headroom == 0

    @property
    def meaning(self) -> str:
        """The first sentence of `what`, on one line."""
        flat = " ".join(self.what.split())
        end = flat.find(". ")
        return flat if end < 0 else flat[: end + 1]

    def matching(self, *models: str) -> tuple[Advice, ...]:
        """Advice for a program of the given languages and programming models, the most specific first.

        Names are those of GROUPS; others are ignored. Without a language, advice for any language suits (C++ is assumed
        for CUDA, HIP and SYCL); without a model for devices, a GPU problem gets advice for any of them.
        """
        known = {*models}
        if "pthreads" not in known or not any("pthreads" in advice.applies for advice in self.advice):
            known.add(_IMPLIED.get(self.family, ""))
        if not known & LANGUAGES and known & _CXX:
            known.add("c++")
        open_groups = []
        if not known & LANGUAGES:
            open_groups.append(LANGUAGES)
        if self.family.startswith("gpu") and not known & DEVICE:
            open_groups.append(DEVICE)
        fits = [(advice.fit(frozenset(known), tuple(open_groups)), advice) for advice in self.advice]
        return tuple(advice for fit, advice in sorted(fits, key=lambda pair: -pair[0]) if fit >= 0)

    def advice_for(self, *models: str) -> tuple[str, ...]:
        """The sentences of `matching(*models)`."""
        return tuple(advice.do for advice in self.matching(*models))
