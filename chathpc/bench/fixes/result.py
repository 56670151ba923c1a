"""A whole run of the benchmark of changes, ready to be shown: a row for each task, figures for each strategy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, nan
from statistics import median

from chathpc.bench.figures import Figure, Figures, share
from chathpc.bench.fixes.outcome import Outcome
from chathpc.bench.fixes.run import BUGGY, HUMAN
from chathpc.bench.fixes.task import Task
from chathpc.bench.statistics import bootstrap, mean

#: What the project asks of a strategy, and of the two that only show how good the judges are.
_ASKED = {"improved": 0.6, "geometric-mean": 1.75, "healthy-untouched": 1.0, "task-seconds": 300.0}
_ASKED_HUMAN = {"improved": 1.0}


@dataclass(frozen=True, slots=True)
class Row:
    """A task and what came of it, by the names of the strategies."""

    task: Task
    outcomes: dict[str, Outcome]


@dataclass(frozen=True, slots=True)
class Result:
    """All rows; figures of each strategy; what the run was bounded by."""

    rows: tuple[Row, ...]
    strategies: tuple[str, ...]
    figures: tuple[Figures, ...]
    time_limit: float
    sandbox: str
    version: str

    def best(self, row: Row) -> str | None:
        """The strategy whose accepted change is fastest on a task; the two oracles are none."""
        found = [(speed(row.outcomes[name]), name) for name in self.strategies if name not in (HUMAN, BUGGY)]
        return max(
            (each for each in found if each[0] is not None), default=(None, None), key=lambda each: each[0] or 0.0
        )[1]


def result_of(
    tasks: Sequence[Task],
    outcomes: Sequence[tuple[Outcome, ...]],
    strategies: Sequence[str],
    *,
    time_limit: float,
    sandbox: str,
) -> Result:
    """The result of `tasks` whose `outcomes` with each of the `strategies` are given in order."""
    from chathpc import __version__

    rows = tuple(
        Row(task, dict(zip(strategies, each, strict=True))) for task, each in zip(tasks, outcomes, strict=True)
    )
    return Result(
        rows=rows,
        strategies=tuple(strategies),
        figures=tuple(figures_of(name, rows) for name in strategies),
        time_limit=time_limit,
        sandbox=sandbox,
        version=__version__,
    )


def speed(outcome: Outcome) -> float | None:
    """Estimate of the speed-up of what was accepted; None if nothing was."""
    return outcome.speedup.estimate if outcome.improved and outcome.speedup is not None else None


def figures_of(strategy: str, rows: Sequence[Row]) -> Figures:
    """What a strategy reached. Tasks that were skipped count nowhere; one that failed counts as not improved."""
    asked = _ASKED_HUMAN if strategy == HUMAN else {} if strategy == BUGGY else _ASKED
    counted = [
        (row.task, row.outcomes[strategy], row.outcomes.get(HUMAN)) for row in rows if row.outcomes[strategy].counted
    ]
    faults = [each for each in counted if not each[0].healthy]
    healthy = [outcome for task, outcome, _ in counted if task.healthy]
    accepted = [value for _, outcome, _ in faults if (value := speed(outcome)) is not None]
    against = [
        log(found) / log(expert)
        for _, outcome, other in faults
        if other is not None and (expert := speed(other)) is not None and expert > 1
        for found in (speed(outcome) or 1.0,)
    ]
    seconds = [outcome.seconds for _, outcome, _ in counted]
    tokens = sum(outcome.tokens for _, outcome, _ in counted)
    low, high = bootstrap(accepted, geometric_mean)
    figures = [
        share("improved", "tasks with an accepted change", [outcome.improved for _, outcome, _ in faults], asked.get("improved")),
        share("improved-if", "tasks with only a change that gives up durability", [o.ended == "improved-if" for _, o, _ in faults]),
        Figure(
            "geometric-mean", "geometric mean of the accepted speed-ups", "score", geometric_mean(accepted), low, high,
            len(accepted), True, asked.get("geometric-mean"),
        ),
        Figure(
            "of-expert", "mean part of the expert's speed-up, in logarithms", "score", mean(against), *bootstrap(against, mean),
            len(against),
        ),
        share("healthy-untouched", "healthy programs without an accepted change", [not each.improved for each in healthy], asked.get("healthy-untouched")),
        Figure(
            "task-seconds", "seconds of a task, median", "seconds", median(seconds) if seconds else nan, nan, nan, len(seconds),
            False, asked.get("task-seconds"),
        ),
        Figure("failed", "tasks that could not be tried", "count", float(sum(o.ended == "failed" for _, o, _ in counted)), nan, nan, len(counted), False),
        Figure("tokens", "tokens of the model", "count", float(tokens), nan, nan, len(counted), False),
    ]  # fmt: skip
    return Figures(strategy, tuple(figures), ())


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean; nan of nothing."""
    return exp(mean([log(value) for value in values])) if values else nan


def verdicts(outcome: Outcome) -> str:
    """How many candidates ended how: "1 accepted, 2 slower"."""
    counts = Counter(each.verdict for each in outcome.tried)
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())
