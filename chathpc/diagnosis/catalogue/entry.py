"""What an entry of the catalogue holds: a performance problem, how it is recognised and what is done about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

#: Families of causes in the order in which a reader meets them.
FAMILIES = {
    "host": "Host code",
    "openmp": "OpenMP",
    "mpi": "MPI",
    "gpu-system": "GPU: the program around the kernels",
    "gpu-kernel": "GPU: inside kernels",
}

#: Names that `Advice.applies` may hold, in groups of alternatives: [c, c++, openmp] is for OpenMP in C or C++.
LANGUAGES = frozenset({"c", "c++", "fortran", "python", "julia"})
MODELS = (frozenset({"pthreads", "openmp"}), frozenset({"mpi"}), frozenset({"cuda", "hip", "sycl", "openacc"}))
ANY = "any"

#: Units of thresholds. A `share` is 0..1 of the whole; a `ratio` compares two other quantities.
UNITS = frozenset(
    {
        "share",
        "percent",
        "ratio",
        "samples",
        "standard deviations",
        "seconds",
        "bytes",
        "bytes/s",
        "frames",
        "launches",
        "sectors/request",
        "waves",
    }
)


@dataclass(frozen=True, slots=True)
class Threshold:
    """A number that a rule compares with, its unit (one of UNITS) and where it comes from."""

    value: float
    unit: str
    source: str


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

    def fit(self, models: frozenset[str]) -> int:
        """How well this suits a program of the given languages and models: number of groups that match, −1 if it does not.

        Advice for one programming model does not suit a program of another. Where the language is not known, advice for any
        language suits, but is not counted as a match.
        """
        if ANY in self.applies:
            return 0
        wanted = frozenset(self.applies)
        matches = 0
        for group in (LANGUAGES, *MODELS):
            if not wanted & group or (group is LANGUAGES and not models & group):
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
class Cause:
    """An entry of the catalogue.

    `headroom` is the part of the cost (0..1) that can typically go; a finding is ranked by its share × headroom.
    `detected` is false while no rule finds this cause. `keywords` are words (lower case) by any of which a text may be
    taken to name this cause.
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
    thresholds: Mapping[str, Threshold]
    advice: tuple[Advice, ...]
    next_measurement: NextMeasurement
    references: tuple[str, ...]
    keywords: tuple[str, ...]

    def threshold(self, name: str) -> float:
        """Value of a threshold, in the unit that the entry gives; KeyError if the entry has none of that name."""
        return self.thresholds[name].value

    def matching(self, *models: str) -> tuple[Advice, ...]:
        """Advice for a program of the given languages and programming models, the most specific first.

        Names are those of LANGUAGES and MODELS; others are ignored.
        """
        known = frozenset(models)
        fits = [(advice.fit(known), advice) for advice in self.advice]
        return tuple(advice for fit, advice in sorted(fits, key=lambda pair: -pair[0]) if fit >= 0)

    def advice_for(self, *models: str) -> tuple[str, ...]:
        """The sentences of `matching(*models)`."""
        return tuple(advice.do for advice in self.matching(*models))
