"""A whole run of the benchmark, ready to be shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from chathpc.bench.case import HEALTHY, Case, Label, Split
from chathpc.bench.figures import Figures, figures_of, within
from chathpc.bench.outcome import Outcome
from chathpc.bench.score import FIRST_THREE, Score, score
from chathpc.bench.statistics import reciprocal_rank
from chathpc.reports.style import Style

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


@dataclass(frozen=True, slots=True)
class Row:
    """A part of the cases: how many, and how many of them are answered rightly first, among three, and at the right place.

    `placed` is of `places`, the faults with a place in the label.
    """

    name: str
    cases: int
    first: int
    three: int
    reciprocal_rank: float
    placed: int
    places: int


def table(scores: Sequence[Score], key: Callable[[Score], str]) -> tuple[Row, ...]:
    """The scores by what `key` says of each, sorted; twins are left out, for their labels have no right answer."""
    parts: dict[str, list[Score]] = {}
    for each in scores:
        if each.case.label != Label.TWIN:
            parts.setdefault(key(each), []).append(each)
    return tuple(_row(name, parts[name]) for name in sorted(parts))


def _row(name: str, scores: Sequence[Score]) -> Row:
    places = [each.function for each in scores if each.function is not None]
    return Row(
        name=name,
        cases=len(scores),
        first=sum(within(each.rank, 1) for each in scores),
        three=sum(within(each.rank, FIRST_THREE) for each in scores),
        reciprocal_rank=reciprocal_rank([each.rank for each in scores]),
        placed=sum(places),
        places=len(places),
    )


def tables(scores: Sequence[Score]) -> tuple[tuple[str, tuple[Row, ...]], ...]:
    """All tables with their titles: by half, family of causes, origin, cause and format."""
    return (
        ("split", table(scores, lambda each: str(each.case.split))),
        ("family", table(scores, lambda each: each.case.family)),
        ("origin", table(scores, lambda each: each.case.origin)),
        ("cause", table(scores, lambda each: HEALTHY if each.case.healthy else each.case.cause)),
        ("format", table(scores, lambda each: each.case.format or each.outcome.format or "unreadable")),
    )


Renderer = Callable[[Result, Style, str], str]

_MODULES = {"text": "chathpc.bench.text", "markdown": "chathpc.bench.markdown", "json": "chathpc.bench.data"}


def renderers() -> Mapping[str, Renderer]:
    """Every renderer; its arguments are the result, the style and which cases to list (`--show`)."""
    return {name: import_module(module).render for name, module in _MODULES.items()}
