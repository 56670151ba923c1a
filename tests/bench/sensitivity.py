"""How much the diagnosis depends on its thresholds: `python -m tests.bench.sensitivity SET... > docs/thresholds.md`.

Every threshold of the catalogue is made a fifth smaller and a quarter larger, one at a time, and the cases of the seen half whose
diagnosis reads it are diagnosed again. What is told is how many then get another first answer, for better or worse, or any other
finding. A threshold that no case reads was chosen and not measured.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from chathpc.adapters.load import load
from chathpc.bench.case import Case, Label, Split
from chathpc.bench.folders import find_cases
from chathpc.bench.outcome import Answer, Outcome
from chathpc.bench.score import answers_of, rank_of
from chathpc.diagnosis.catalogue import Threshold, causes, common
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.sass import blame
from chathpc.errors import ChathpcError
from chathpc.profile.profile import Profile

#: A fifth less and a quarter more: the same step on a scale of logarithms.
FACTORS = (0.8, 1.25)
#: What a value of these units cannot exceed.
MOST = {"share": 1.0, "percent": 100.0}

_read: set[int] = set()
_instead: dict[int, float] = {}


class Watched(Threshold):
    """A threshold that tells that it was read, and has another value while it is varied."""

    __slots__ = ()

    @property
    def value(self) -> float:  # type: ignore[override]
        """The value, or the one that stands in its place."""
        _read.add(id(self))
        return _instead.get(id(self), _plain(self))


def _plain(threshold: Threshold) -> float:
    value: float = Threshold.value.__get__(threshold)  # type: ignore[attr-defined]
    return value


@contextmanager
def watched() -> Iterator[dict[str, Threshold]]:
    """All thresholds of the catalogue by name (`common` or the cause, a dot, the threshold's), watched while this lasts."""
    found = {f"common.{name}": each for name, each in common().items()}
    found |= {f"{cause.id}.{name}": each for cause in causes() for name, each in cause.thresholds.items()}
    for each in found.values():
        object.__setattr__(each, "__class__", Watched)
    try:
        yield found
    finally:
        for each in found.values():
            object.__setattr__(each, "__class__", Threshold)


@contextmanager
def varied(threshold: Threshold, factor: float) -> Iterator[None]:
    """While this lasts, a watched threshold is `factor` times what it is, as far as its unit allows."""
    _instead[id(threshold)] = min(_plain(threshold) * factor, MOST.get(threshold.unit, float("inf")))
    blame._reach.cache_clear()
    try:
        yield
    finally:
        del _instead[id(threshold)]
        blame._reach.cache_clear()


@dataclass(frozen=True)
class Told:
    """What is said of a case: the first answer, whether it is right, and the causes of all findings in their order."""

    first: frozenset[str]
    right: bool
    causes: tuple[str, ...]


def told(case: Case, profile: Profile) -> Told:
    """The diagnosis of a case as it stands now."""
    found = diagnose(profile)
    outcome = Outcome(verdict=str(found.verdict), findings=tuple(Answer.of(each) for each in found.findings))
    answers = answers_of(outcome)
    causes = tuple(each.cause for each in found.findings)
    return Told(answers[0] if answers else frozenset(), rank_of(answers[:1], case.right) == 1, causes)


@dataclass
class Change:
    """What a threshold does: cases that read it, and for each factor those that get another first answer (better, worse), or any
    other finding.
    """

    reads: int = 0
    first: dict[float, int] = field(default_factory=lambda: dict.fromkeys(FACTORS, 0))
    better: dict[float, int] = field(default_factory=lambda: dict.fromkeys(FACTORS, 0))
    worse: dict[float, int] = field(default_factory=lambda: dict.fromkeys(FACTORS, 0))
    any: dict[float, int] = field(default_factory=lambda: dict.fromkeys(FACTORS, 0))


def measure(thresholds: Mapping[str, Threshold], folders: Sequence[Path]) -> tuple[dict[str, Change], int]:
    """What each of the watched thresholds does, and the number of cases; repaired programs and what cannot be read are left out."""
    changes = {name: Change() for name in thresholds}
    cases = 0
    for case in find_cases(folders, Split.SEEN).cases:
        if case.label == Label.TWIN:
            continue
        try:
            profile = load(*case.paths)
            _read.clear()
            before = told(case, profile)
        except ChathpcError:
            continue
        cases += 1
        for name in [name for name, each in thresholds.items() if id(each) in _read]:
            change = changes[name]
            change.reads += 1
            for factor in FACTORS:
                with varied(thresholds[name], factor):
                    after = told(case, profile)
                change.first[factor] += after.first != before.first
                change.better[factor] += after.right and not before.right
                change.worse[factor] += before.right and not after.right
                change.any[factor] += after.causes != before.causes
    return changes, cases


def page(thresholds: Mapping[str, Threshold], changes: Mapping[str, Change], cases: int, sets: Sequence[str]) -> str:
    """What was measured in cases of some sets, as Markdown."""
    moved = [name for name, change in changes.items() if any(change.first.values()) or any(change.any.values())]
    moved.sort(key=lambda name: (-sum(changes[name].first.values()), -sum(changes[name].any.values()), name))
    still = [name for name, change in changes.items() if change.reads and name not in moved]
    silent = [name for name, change in changes.items() if not change.reads]
    rows = []
    for name in moved:
        change = changes[name]
        cells = [
            f"{change.first[factor]} (+{change.better[factor]} −{change.worse[factor]}) | {change.any[factor]}"
            for factor in FACTORS
        ]
        rows.append(
            f"| {name} | {_plain(thresholds[name]):g} {thresholds[name].unit} | {change.reads} | {' | '.join(cells)} |"
        )
    return "\n".join(
        [
            "# How much the diagnosis depends on its thresholds",
            "",
            "Made by `python -m tests.bench.sensitivity SETS...`: each threshold of the [catalogue](catalogue.md) made a fifth smaller and a",
            "quarter larger, one at a time, and the cases that read it diagnosed again.",
            "",
            f"{cases} cases of the seen half of the [labelled profiles](accuracy.md) in {', '.join(sets)}; repaired programs excluded.",
            "",
            "Most of these programs have clear faults, far from any limit. That nothing changes says that an answer does not hang on the",
            "exact number; it does not say that the number is right.",
            "",
            "*First* counts cases with another first answer, in brackets those that become right (+) and wrong (−); *any* those with any",
            "other finding, or another order of them.",
            "",
            "| threshold | value | read by | first, −20 % | any | first, +25 % | any |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
            "## No case says anything else",
            "",
            f"{len(still)} thresholds are read, and a fifth less or a quarter more changes nothing:",
            "",
            *[f"- {name} (read by {changes[name].reads})" for name in still],
            "",
            "## Not measured",
            "",
            f"{len(silent)} thresholds are read in none of these cases. They were chosen for the reason that stands beside them in the",
            "catalogue, and nothing here says how good the choice is:",
            "",
            *[f"- {name}" for name in silent],
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", type=Path)
    folders = parser.parse_args().sets
    with watched() as thresholds:
        changes, cases = measure(thresholds, folders)
        print(page(thresholds, changes, cases, [each.name for each in folders]), end="")


if __name__ == "__main__":
    main()
