"""From the scores of cases to the figures of a set: each with its interval and the number of cases behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import nan
from statistics import median
from typing import Literal

from chathpc.bench.case import HEALTHY, HOT_SPOT, INSUFFICIENT, Label
from chathpc.bench.floors import prior
from chathpc.bench.score import FIRST_THREE, Score, rank_of
from chathpc.bench.statistics import (
    Bin,
    Stated,
    bootstrap,
    brier,
    calibration_error,
    mean,
    reciprocal_rank,
    reliability,
    wilson,
)

Unit = Literal["share", "count", "score", "points", "seconds", "bytes"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure.

    `value` is nan where there is no case for it. `low`..`high` is an interval of 95 %, nan where the figure has none. `of` is the
    number of cases (or findings) behind it. `more` is True if more is better. `asked` is what the project asks of it.
    """

    key: str
    title: str
    unit: Unit
    value: float
    low: float
    high: float
    of: int
    more: bool = True
    asked: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """All that is measured of a set of cases."""

    name: str
    figures: tuple[Figure, ...]
    reliability: tuple[Bin, ...]

    def get(self, key: str) -> Figure | None:
        """The figure with that key."""
        return next((figure for figure in self.figures if figure.key == key), None)


def figures_of(name: str, scores: Sequence[Score]) -> Figures:
    """The figures of `scores`, a set called `name`."""
    labelled = [score for score in scores if score.case.label != Label.TWIN]
    faults = [score for score in labelled if score.case.has_fault]
    return Figures(
        name=name,
        figures=(
            *_detection(labelled, faults),
            *_places(faults),
            *_false(scores, labelled),
            *_calibration(labelled),
            *_floors(labelled, faults),
            *_read(scores, faults),
            *_cost(scores),
        ),
        reliability=reliability(_stated(labelled)),
    )


# -- kinds of figures -----------------------------------------------------------------------------------------


def share(key: str, title: str, flags: Iterable[bool], asked: float | None = None) -> Figure:
    """The share of what is so, with its interval."""
    found = list(flags)
    low, high = wilson(sum(found), len(found))
    return Figure(key, title, "share", mean([float(flag) for flag in found]), low, high, len(found), True, asked)


def _count(key: str, title: str, counts: Sequence[int], asked: float | None = None) -> Figure:
    return Figure(key, title, "count", float(sum(counts)) if counts else nan, nan, nan, len(counts), False, asked)


def _score(
    key: str,
    title: str,
    groups: Sequence[Score],
    measure: Callable[[Sequence[Score]], float],
    *,
    of: int,
    more: bool,
    asked: float | None = None,
) -> Figure:
    low, high = bootstrap(groups, measure)
    return Figure(key, title, "score", measure(groups), low, high, of, more, asked)


def _ranked(key: str, title: str, scores: Sequence[Score], rank: Callable[[Score], int | None]) -> Figure:
    """Mean reciprocal rank."""
    return _score(
        key, title, scores, lambda group: reciprocal_rank([rank(each) for each in group]), of=len(scores), more=True
    )


# -- what is measured -------------------------------------------------------------------------------------------


def _detection(labelled: Sequence[Score], faults: Sequence[Score]) -> Iterable[Figure]:
    yield share("detection1", "Fault named first (detection@1)", (within(each.rank, 1) for each in faults), 0.90)
    yield share(
        "detection3", "Fault among the first three (detection@3)", (within(each.rank, 3) for each in faults), 0.97
    )
    yield _ranked("mrr", "Mean reciprocal rank", faults, lambda each: each.rank)
    second = [each for each in faults if each.case.second]
    yield share("second", "Second fault among the first three", (within(each.second_rank, 3) for each in second))
    yield share(
        "right1",
        "Right answer first, healthy and undecidable programs included",
        (within(each.rank, 1) for each in labelled),
    )
    experts = [each for each in labelled if each.case.label == Label.EXPERT]
    yield share(
        "experts",
        "Experts' cause among the first two, none that is clearly wrong",
        (each.experts_rule for each in experts),
        0.85,
    )


def _places(faults: Sequence[Score]) -> Iterable[Figure]:
    functions = [each.function for each in faults if each.function is not None]
    yield share("function", "Fault found at the right function", functions, 0.90)
    yield share(
        "line", "Fault found at the right file and line", [each.line for each in faults if each.line is not None]
    )
    anyhow = [each.first_function for each in faults if each.first_function is not None]
    yield share("place", "First finding at the right function, whatever its cause", anyhow)
    found = [each for each in faults if within(each.rank, FIRST_THREE)]
    yield share(
        "function-of-found",
        "Right function, of the faults that were found",
        [each.function for each in found if each.function is not None],
    )
    yield share(
        "line-of-found",
        "Right file and line, of the faults that were found",
        [each.line for each in found if each.line is not None],
    )


def _false(scores: Sequence[Score], labelled: Sequence[Score]) -> Iterable[Figure]:
    stated = _stated(labelled)
    yield share("precision", "Claims whose cause is right or acceptable (precision)", [each.true for each in stated])
    healthy = [each for each in labelled if each.case.healthy]
    yield _count("false-on-healthy", "False claims about healthy programs", [len(each.false) for each in healthy], 0)
    yield share(
        "healthy",
        "Healthy programs called healthy or a hot spot",
        [bool({HEALTHY, HOT_SPOT} & _first(each)) for each in healthy],
    )
    unhealthy = [each for each in labelled if HEALTHY not in each.case.right]
    yield _count(
        "called-healthy",
        "Unhealthy programs called healthy",
        [int(each.outcome.verdict == HEALTHY) for each in unhealthy],
        0,
    )
    hidden = [each for each in labelled if not each.case.visible]
    yield _count("unseen", "Claims of faults that the profile cannot show", [len(each.unseen) for each in hidden], 0)
    ruled_out = [each for each in labelled if each.case.wrong]
    yield _count("wrong", "Reported causes that the label rules out", [len(each.wrong) for each in ruled_out], 0)
    yield share(
        "abstention",
        "insufficient-data where the label says so, and not elsewhere",
        [each.abstains_rightly for each in labelled],
    )
    must = [each for each in labelled if each.case.cause == INSUFFICIENT or not each.case.visible]
    yield share("abstains", "No claim where the profile cannot show it", [each.abstains_rightly for each in must])
    twins = [each for each in scores if each.case.label == Label.TWIN]
    yield share(
        "twins",
        "Repaired programs whose fault is no longer claimed",
        [not each.wrong and not each.outcome.failure for each in twins],
    )
    yield _count("failed", "Cases without an answer", [int(bool(each.outcome.failure)) for each in scores], 0)


def _calibration(labelled: Sequence[Score]) -> Iterable[Figure]:
    claiming = [each for each in labelled if each.stated]
    stated = _stated(labelled)
    of = len(stated)
    yield _score(
        "brier",
        "Brier score of the claims' confidence",
        claiming,
        lambda group: brier(_stated(group)),
        of=of,
        more=False,
    )
    yield _score(
        "ece",
        "Expected calibration error",
        claiming,
        lambda group: calibration_error(_stated(group)),
        of=of,
        more=False,
        asked=0.1,
    )
    confidence = mean([each.probability for each in stated])
    yield Figure("confidence", "Mean confidence of the claims", "share", confidence, nan, nan, of)


def _floors(labelled: Sequence[Score], faults: Sequence[Score]) -> Iterable[Figure]:
    cases = [each.case for each in labelled]
    blind = {
        id(each): rank_of([frozenset({cause}) for cause in prior(each.case, cases)], each.case.right) for each in faults
    }
    yield from _floor("biggest", "the biggest node", faults, lambda each: each.biggest.rank)
    functions = [each.biggest.function for each in faults if each.biggest.function is not None]
    yield share("biggest-function", "Floor, the biggest node: right function", functions)
    yield from _floor("prior", "the profile-blind prior", faults, lambda each: blind[id(each)])

    def ahead(group: Sequence[Score]) -> float:
        return mean([float(within(each.rank, 1)) - float(within(each.biggest.rank, 1)) for each in group])

    low, high = bootstrap(faults, ahead)
    yield Figure(
        "ahead", "Detection@1 above the biggest node", "points", ahead(faults), low, high, len(faults), True, 0.3
    )


def _floor(key: str, what: str, faults: Sequence[Score], rank: Callable[[Score], int | None]) -> Iterable[Figure]:
    yield share(f"{key}1", f"Floor, {what}: detection@1", (within(rank(each), 1) for each in faults))
    yield share(f"{key}3", f"Floor, {what}: detection@3", (within(rank(each), FIRST_THREE) for each in faults))
    yield _ranked(f"{key}-mrr", f"Floor, {what}: mean reciprocal rank", faults, rank)


def _read(scores: Sequence[Score], faults: Sequence[Score]) -> Iterable[Figure]:
    """What a model that reads suspects, where one was asked: its first hypothesis, and what a report prints of all."""
    asked = [each for each in scores if each.outcome.read is not None]
    if not asked:
        return
    of = [each for each in faults if each.outcome.read is not None]
    yield share("read1", "A model's first hypothesis names the fault", (within(each.read_rank, 1) for each in of), 0.97)
    yield share(
        "read-place",
        "… and its place is right",
        (within(each.read_rank, 1) and each.read_function is not False for each in of),
        0.97,
    )
    yield share(
        "read-shown",
        "The fault is among the hypotheses that are printed",
        (each.read_shown is not None for each in of),
        0.97,
    )
    healthy = [each for each in asked if each.case.healthy]
    yield _count(
        "read-healthy", "Hypotheses printed about healthy programs", [len(each.read_false) for each in healthy], 0.0
    )
    yield _count(
        "read-wrong", "Hypotheses printed that the label rules out", [len(each.read_wrong) for each in asked], 0.0
    )
    statements = [each.outcome.read for each in asked if each.outcome.read is not None]
    yield _count("read-dropped", "Statements dropped", [len(each.dropped) for each in statements])
    yield _count("read-again", "Answers that were asked for again", [each.tries - 1 for each in statements])
    tokens = [float(sum(each.tokens)) for each in statements]
    yield Figure(
        "read-tokens", "Tokens of question and answer, median", "score", median(tokens), nan, nan, len(tokens), False
    )


def _cost(scores: Sequence[Score]) -> Iterable[Figure]:
    done = [each.outcome for each in scores if not each.outcome.failure]
    seconds = [outcome.seconds for outcome in done]
    peaks = [float(outcome.peak) for outcome in done if outcome.peak]
    yield _cost_figure("seconds", "Time of a case, median", "seconds", median(seconds) if seconds else nan, len(done))
    yield _cost_figure("seconds-most", "Time of a case, longest", "seconds", max(seconds, default=nan), len(done))
    yield _cost_figure("memory", "Peak memory of a case, median", "bytes", median(peaks) if peaks else nan, len(peaks))
    yield _cost_figure("memory-most", "Peak memory of a case, largest", "bytes", max(peaks, default=nan), len(peaks))


def _cost_figure(key: str, title: str, unit: Unit, value: float, of: int) -> Figure:
    return Figure(key, title, unit, value, nan, nan, of, more=False)


def within(rank: int | None, most: int) -> bool:
    """True for a rank that is there and not above `most`."""
    return rank is not None and rank <= most


def _first(score: Score) -> frozenset[str]:
    return score.answers[0] if score.answers else frozenset()


def _stated(scores: Sequence[Score]) -> list[Stated]:
    return [each for score in scores for each in score.stated]
