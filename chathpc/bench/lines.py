"""The cells that text and Markdown share: figures, tables and cases in words. No renderer computes anything."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from chathpc.bench.case import Label
from chathpc.bench.figures import Figure, Figures
from chathpc.bench.result import ALL, Result, Row
from chathpc.bench.score import Score
from chathpc.bench.statistics import Bin, wilson
from chathpc.profile import numbers

NOTHING = "–"
TABLES = {
    "split": "By half",
    "family": "By family of causes",
    "origin": "By origin of the case",
    "cause": "By cause",
    "format": "By format",
}
#: Titles of the columns of these tables.
ROW_HEADER = ("", "cases", "first", "95 %", "in three", "MRR", "function")
BIN_HEADER = ("stated", "claims", "mean stated", "right", "95 %")
CASE_HEADER = ("case", "expected", "told", "what is wrong")


def columns(result: Result) -> tuple[Figures, ...]:
    """The sets that have a column: each, the halves, and all together where there are several."""
    return (*result.parts, *result.halves) if len(result.parts) == 1 else (*result.parts, *result.halves, result.whole)


def figure_keys(result: Result) -> list[tuple[str, str]]:
    """Key and title of each figure that some set has a case for."""
    return [
        (figure.key, figure.title)
        for figure in result.whole.figures
        if any(not isnan(found.value) for part in columns(result) if (found := part.get(figure.key)))
    ]


def value(figure: Figure | None) -> str:
    """A figure in words, without its interval."""
    if figure is None or isnan(figure.value):
        return NOTHING
    if figure.unit == "share":
        return numbers.percent_cell(figure.value)
    if figure.unit == "points":
        return f"{100 * figure.value:+.1f} points"
    if figure.unit == "count":
        return numbers.count(figure.value)
    if figure.unit == "seconds":
        return numbers.seconds(figure.value)
    if figure.unit == "bytes":
        return numbers.size(figure.value)
    return f"{figure.value:.3f}"


def cell(figure: Figure | None) -> str:
    """A figure with its interval and the number of cases behind it: `78.3 % (58–90) of 23`."""
    if figure is None or isnan(figure.value):
        return NOTHING
    if figure.unit in ("seconds", "bytes"):
        return value(figure)
    if figure.unit == "count":
        return f"{value(figure)} in {figure.of} case{'s' if figure.of != 1 else ''}"
    return f"{value(figure)}{_interval(figure)} of {figure.of}"


def _interval(figure: Figure) -> str:
    if isnan(figure.low):
        return ""
    if figure.unit in ("share", "points"):
        return f" ({100 * figure.low:.0f}–{100 * figure.high:.0f})"
    return f" ({figure.low:.2f}–{figure.high:.2f})"


def asked(figure: Figure | None) -> str:
    """What is asked of a figure: `≥ 90 %`."""
    if figure is None or figure.asked is None:
        return ""
    sign = "≥" if figure.more else "≤"
    if figure.unit == "share":
        return f"{sign} {100 * figure.asked:.0f} %"
    if figure.unit == "points":
        return f"{sign} {100 * figure.asked:.0f} points"
    return f"{sign} {figure.asked:g}"


def row_cells(row: Row) -> tuple[str, ...]:
    """A row of a table by part."""
    low, high = wilson(row.first, row.cases)
    return (
        row.name,
        str(row.cases),
        f"{row.first} ({100 * row.first / row.cases:.0f} %)",
        f"{100 * low:.0f}–{100 * high:.0f}",
        str(row.three),
        f"{row.reciprocal_rank:.2f}",
        f"{row.placed} of {row.places}" if row.places else NOTHING,
    )


def bin_cells(row: Bin) -> tuple[str, ...]:
    """A row of the reliability table."""
    low, high = wilson(round(row.true * row.count), row.count)
    return (
        f"{100 * row.low:.0f}–{100 * row.high:.0f} %",
        str(row.count),
        numbers.percent_cell(row.stated),
        numbers.percent_cell(row.true),
        f"{100 * low:.0f}–{100 * high:.0f}",
    )


def case_cells(score: Score) -> tuple[str, str, str, str]:
    """A case: its name, what its label expects, what was told, and what is wrong with that."""
    return score.case.name, expected(score), told(score), "; ".join(faults(score)) or "nothing"


def expected(score: Score) -> str:
    """What the label expects."""
    case = score.case
    if case.label == Label.TWIN:
        return f"no {case.cause}: it was repaired"
    others = sorted(case.right - {case.cause})
    first = case.cause if case.visible else f"no claim ({case.cause} cannot be seen)"
    if case.healthy and case.cause != "healthy":
        first = f"healthy ({case.cause})"
        others = [name for name in others if name != "healthy"]
    place = next((spot for spot in case.spots if spot.function), None) if case.has_fault else None
    where = f" at {place.function}" if place else ""
    return f"{first}{where}{' or ' + ', '.join(others) if others and case.visible else ''}"


def told(score: Score) -> str:
    """What the report said: the verdict, and findings with the place of the first."""
    outcome = score.outcome
    if outcome.failure:
        return "no answer"
    causes = list(dict.fromkeys(finding.cause for finding in outcome.findings))
    first = outcome.findings[0] if outcome.findings else None
    place = f" at {first.kernel or first.function}" if first and (first.kernel or first.function) else ""
    line = f" ({first.file.rsplit('/', 1)[-1]}:{first.line})" if first and first.file and first.line else ""
    listed = f"{causes[0]}{place}{line}" if causes else "no finding"
    more = f", {', '.join(causes[1:3])}" if causes[1:] else ""
    return f"{outcome.verdict}: {listed}{more}"


def faults(score: Score) -> list[str]:
    """What is wrong with the answer, in words."""
    outcome, case = score.outcome, score.case
    if outcome.failure:
        return [outcome.failure]
    found = []
    if case.label != Label.TWIN:
        if score.rank is None:
            found.append("not found")
        elif score.rank > 1:
            found.append(f"right answer on rank {score.rank}")
    for what, causes in (
        ("false claim", score.false),
        ("claim of what cannot be seen", score.unseen),
        ("ruled out by the label", score.wrong),
    ):
        if causes:
            found.append(f"{what}: {', '.join(causes)}")
    if not score.abstains_rightly:
        found.append(
            "insufficient-data in the wrong place" if outcome.verdict == "insufficient-data" else "should not conclude"
        )
    if score.function is False and score.rank is not None:
        found.append("wrong function")
    return found


def lead(result: Result) -> str:
    """One sentence: how many cases of which sets were run with what."""
    labels = [each.case.label for each in result.scores]
    counts = {label: labels.count(label) for label in Label}
    words = [
        f"{counts[label]} {text}"
        for label, text in (
            (Label.PLANTED, "with a planted fault or none"),
            (Label.EXPERT, "judged by experts"),
            (Label.TWIN, "repaired"),
        )
        if counts[label]
    ]
    half = "" if result.split == ALL else f", {result.split} half"
    model = "no model" if result.llm == "none" else f"model {result.llm}"
    sets = ", ".join(part.name for part in result.parts)
    return f"chathpc {result.version}, {model}; {len(labels)} cases ({', '.join(words)}) in {sets}{half}."


def left_out(result: Result) -> Sequence[str]:
    """Folders that are no case, as sentences."""
    return [f"Excluded: {name}, {why}." for name, why in result.left_out]
