"""A whole run of the benchmark, ready to be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chathpc.bench.case import Case, Split
from chathpc.bench.figures import Figures, figures_of
from chathpc.bench.outcome import Outcome
from chathpc.bench.score import Score, score
from chathpc.bench.tables import Row, tables

ALL = "all"


@dataclass(frozen=True, slots=True)
class Result:
    """Scores and figures: of all cases, of each set where there are several, and of the `halves` where both were run.

    `split` is the half that was asked for, or `all`; `llm` the model; `left_out` names folders that are no case, with the reason.
    """

    scores: tuple[Score, ...]
    whole: Figures
    parts: tuple[Figures, ...]
    tables: tuple[tuple[str, tuple[Row, ...]], ...]
    split: str
    llm: str
    version: str
    left_out: tuple[tuple[str, str], ...] = ()
    halves: tuple[Figures, ...] = ()


def result_of(
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    *,
    split: str = ALL,
    llm: str = "none",
    left_out: tuple[tuple[str, str], ...] = (),
) -> Result:
    """The result of `cases` that ended with `outcomes`."""
    from chathpc import __version__

    scores = tuple(score(case, outcome) for case, outcome in zip(cases, outcomes, strict=True))
    groups = list(dict.fromkeys(case.group for case in cases))
    parts = [figures_of(group, [each for each in scores if each.case.group == group]) for group in groups]
    by_half = {half.value: [each for each in scores if each.case.split == half] for half in Split}
    return Result(
        scores=scores,
        whole=figures_of(ALL, scores) if len(parts) != 1 else parts[0],
        parts=tuple(parts),
        tables=tables(scores),
        split=split,
        llm=llm,
        version=__version__,
        left_out=left_out,
        halves=tuple(figures_of(f"{name} half", half) for name, half in by_half.items())
        if all(by_half.values())
        else (),
    )


def shown(scores: Sequence[Score], which: str) -> list[Score]:
    """The cases that `--show` asks for: `wrong`, `all` or `none`."""
    if which == "none":
        return []
    return [each for each in scores if which == "all" or not each.good]
