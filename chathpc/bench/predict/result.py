"""A run of the benchmark of predictions, ready to be shown: how good answers of one word are (accuracy, macro F1, Matthews' correlation and the
confusion matrix, beside those of the paper), and what chathpc computes of launches against what was measured of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, nan, sqrt
from statistics import correlation, mean, median

from chathpc.bench.figures import Figure, Figures, Unit, share
from chathpc.bench.predict.counted import Counted
from chathpc.bench.predict.labels import Label
from chathpc.bench.predict.questions import Judged, Question
from chathpc.bench.statistics import bootstrap
from chathpc.predict.counts import Range
from chathpc.predict.devices import Device
from chathpc.predict.kernel_time import predict_time


@dataclass(frozen=True, slots=True)
class Confusion:
    """Answers by truth: `compute_compute` are compute-bound and were called so, `compute_bandwidth` were called bandwidth-bound, …"""

    compute_compute: int
    compute_bandwidth: int
    bandwidth_compute: int
    bandwidth_bandwidth: int

    @property
    def count(self) -> int:
        """All answers."""
        return self.compute_compute + self.compute_bandwidth + self.bandwidth_compute + self.bandwidth_bandwidth

    @property
    def right(self) -> int:
        """Right answers."""
        return self.compute_compute + self.bandwidth_bandwidth

    @property
    def accuracy(self) -> float:
        """Share of right answers; nan of none."""
        return self.right / self.count if self.count else nan

    @property
    def macro_f1(self) -> float:
        """Mean over both classes of 2 TP / (2 TP + FP + FN), which is 0 for a class that is neither there nor named; nan of no answers."""
        if not self.count:
            return nan
        wrong = self.compute_bandwidth + self.bandwidth_compute
        parts = [
            2 * true / (2 * true + wrong) if true + wrong else 0.0
            for true in (self.compute_compute, self.bandwidth_bandwidth)
        ]
        return sum(parts) / 2

    @property
    def correlation(self) -> float:
        """Matthews' correlation coefficient (B. W. Matthews, 1975), −1 to 1, 0 for chance or where one class is never said; nan of no answers."""
        if not self.count:
            return nan
        tp, fn, fp, tn = self.compute_compute, self.compute_bandwidth, self.bandwidth_compute, self.bandwidth_bandwidth
        scale = sqrt(float(tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        return (tp * tn - fp * fn) / scale if scale else 0.0


def confusion(judged: Sequence[Judged]) -> Confusion:
    """The confusion matrix of answers."""
    cells = Counter((each.truth, each.said) for each in judged)
    return Confusion(cells[True, True], cells[True, False], cells[False, True], cells[False, False])


@dataclass(frozen=True, slots=True)
class Published:
    """The best model of the paper on a kind of question: over 340 launches, half of each class."""

    model: str
    accuracy: float
    macro_f1: float = nan
    correlation: float = nan
    matrix: Confusion | None = None


#: Bolet et al. 2025, by kind of question here. Its questions do not say what ours do, that integer instructions have a roofline of their own
#: and count; its fine-tuned model (GPT-4o mini) has no equal here: what stands beside it is the
#: question with our counts beside the source.
PUBLISHED = {
    "generated": Published("reasoning models", 1.0, 1.0, 1.0),
    "source": Published("o3-mini-high", 0.6412, 0.62, 0.314, Confusion(72, 98, 24, 146)),
    "examples": Published("best of all", 0.6353),
    "counts": Published("fine-tuned", 0.54),
}


def figures_of(kind: str, judged: Sequence[Judged]) -> Figures:
    """The figures of answers to questions of a kind; asked is what the paper's best model reached."""
    count = len(judged)
    paper = PUBLISHED.get(kind, Published("", nan))
    figures = [share("accuracy", "Right answers", (each.said is each.truth for each in judged), _known(paper.accuracy))]
    for key, title, name in (("macro-f1", "Macro F1", "macro_f1"), ("mcc", "Matthews' correlation", "correlation")):
        of = partial(_score, name)
        asked = _known(getattr(paper, name))
        figures.append(Figure(key, title, "score", of(judged), *bootstrap(judged, of), count, True, asked))
    mute = float(sum(each.answer is None for each in judged))
    figures.append(Figure("unanswered", "Answers that are neither word", "count", mute, nan, nan, count, False))
    return Figures(kind, tuple(figures), ())


def _score(name: str, judged: Sequence[Judged]) -> float:
    found: float = getattr(confusion(judged), name)
    return found


def _known(value: float) -> float | None:
    return None if value != value else value


#: Counters are off by less than this many operations or bytes in launches that do none.
_NOTHING = 0.5
#: From here on a tolerance is a factor.
_FACTOR = 1.5


@dataclass(frozen=True, slots=True)
class Timed:
    """A launch whose time was measured and predicted, in seconds."""

    program: str
    kernel: str
    seconds: float
    predicted: Range

    @property
    def error(self) -> float:
        """Relative error of the prediction, at least 0."""
        return abs(self.predicted.value / self.seconds - 1)

    @property
    def within(self) -> bool:
        """Whether the bounds hold the measured time."""
        return self.predicted.low <= self.seconds <= self.predicted.high


def timed(labels: Sequence[Label], counted: Counted, device: Device) -> tuple[Timed, ...]:
    """The launches that were followed in the shape that was measured, with their times on `device`."""
    found = []
    for label in labels:
        one = counted.get(label)
        if one is None or one.launch is None or (one.launch.grid, one.launch.block) != (label.grid, label.block):
            continue
        seconds = predict_time(one.counts, one.launch, device, one.chain).seconds
        found.append(Timed(label.program, label.kernel, label.seconds, seconds))
    return tuple(found)


def time_figures(rows: Sequence[Timed]) -> Figures:
    """Errors of predicted times, how they rank launches, and how often the bounds hold."""
    ratios = [each.predicted.value / each.seconds for each in rows]
    return Figures(
        "time",
        (
            _measure("mape", "Mean error of the time", rows, lambda of: mean([each.error for each in of]), asked=0.35),
            _measure("median", "Median error", rows, lambda of: median(each.error for each in of)),
            _near("twofold", "Within a factor of 2", ratios, 2.0),
            _measure("spearman", "Rank correlation (Spearman)", rows, _correlation, unit="score", asked=0.93),
            share("held", "Times within the bounds (meant: 80 %)", [each.within for each in rows]),
        ),
        (),
    )


def count_figures(labels: Sequence[Label], counted: Counted) -> Figures:
    """How many launches have the measured number of operations and bytes."""
    pairs = [(label, one.counts) for label in labels if (one := counted.get(label)) is not None]
    flops = [_ratio(counts.total("fp32") + counts.total("fp64"), label.flops) for label, counts in pairs]
    integer = [_ratio(counts.total("integer"), label.integer) for label, counts in pairs]
    moved = [_ratio(counts.dram_bytes, label.bytes) for label, counts in pairs]
    return Figures(
        "counts",
        (
            _near("flops-tenth", "Floating-point operations within 10 %", flops, 1.1, 0.8),
            _near("integer-tenth", "Integer instructions within 10 %", integer, 1.1, 0.8),
            _near("bytes-twofold", "Bytes of device memory within a factor of 2", moved, 2.0, 0.8),
        ),
        (),
    )


def _correlation(rows: Sequence[Timed]) -> float:
    """Correlation of the ranks (C. Spearman, 1904), equal ones with their mean rank; nan where all are equal."""
    ranks = [_ranks([each.seconds for each in rows]), _ranks([each.predicted.value for each in rows])]
    return correlation(*ranks) if all(len(set(each)) > 1 for each in ranks) else nan


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [(bisect_left(ordered, each) + bisect_right(ordered, each)) / 2 for each in values]


def _ratio(found: float, measured: float) -> float:
    """What was found over what was measured; 1 where both are nothing."""
    if measured < _NOTHING:
        return 1.0 if found < _NOTHING else inf
    return found / measured


def _near(key: str, title: str, ratios: Sequence[float], most: float, asked: float | None = None) -> Figure:
    """Share of ratios within 10 % (`most` 1.1: 0.9 to 1.1), or a factor."""
    least = 2 - most if most < _FACTOR else 1 / most
    return share(key, title, [least <= each <= most for each in ratios], asked)


def _measure(
    key: str, title: str, rows: Sequence[Timed], of: Callable[[Sequence[Timed]], float], *,
    unit: Unit = "share", asked: float | None = None,
) -> Figure:  # fmt: skip
    """A measure of all launches, with its interval by resampling; of errors (shares) less is better."""
    low, high = bootstrap(rows, of)
    return Figure(key, title, unit, of(rows) if rows else nan, low, high, len(rows), unit != "share", asked)


#: Who answers without a model: the counts and the three rooflines.
TOOL = "chathpc"
#: How the paper calls these questions.
TITLES = {
    "generated": "rooflines in numbers (RQ1)",
    "source": "source alone (RQ2)",
    "examples": "source after two examples (RQ3)",
    "counts": "source beside chathpc's counts (RQ4 fine-tunes instead)",
    TOOL: "chathpc's counts alone, no model",
}


@dataclass(frozen=True, slots=True)
class Operations:
    """The floating-point operations of a launch: measured, by a model's answers, by chathpc; null where there is none."""

    program: str
    kernel: str
    measured: float
    model: float | None
    chathpc: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of question: who answered, the figures, the matrix, the paper's best, and questions that a recording has no answer to."""

    kind: str
    by: str
    figures: Figures
    matrix: Confusion
    paper: Published | None
    unrecorded: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a run, the launches of the task flops, the answers one by one, and what was compared with what was measured."""

    task: str
    version: str
    llm: str
    rows: tuple[Row, ...]
    operations: tuple[Operations, ...]
    answers: tuple[Question, ...]
    left_out: tuple[str, ...] = ()
    measured: Figures | None = None

    @property
    def parts(self) -> tuple[Figures, ...]:
        """The figures by kind of question, and those of counts, operations or times."""
        return (*(row.figures for row in self.rows), *([] if self.measured is None else [self.measured]))


def result_of(
    task: str,
    answers: Sequence[Question] = (),
    own: Sequence[Judged] = (),
    operations: Sequence[Operations] = (),
    *,
    by: str = "none",
    left_out: Sequence[str] = (),
    measured: Figures | None = None,
) -> Result:
    """The result of `answers` by the model `by`, of chathpc's own classes, of counted operations, and of what was measured."""
    from chathpc import __version__

    rows = []
    for kind in dict.fromkeys(each.kind for each in answers):
        of = [each for each in answers if each.kind == kind]
        judged = [each.judged for each in of if each.text is not None]
        unrecorded = len(of) - len(judged)
        rows.append(Row(kind, by, figures_of(kind, judged), confusion(judged), PUBLISHED.get(kind), unrecorded))
    if own:
        rows.append(Row(TOOL, TOOL, figures_of(TOOL, own), confusion(own), None))
    return Result(task, __version__, by, tuple(rows), tuple(operations), tuple(answers), tuple(left_out), measured)


def operation_figures(rows: Sequence[Operations]) -> Figures:
    """How many launches are within 1 % of what was measured, and within a factor of two, by the model and by chathpc."""
    figures = []
    for key, title in (("model", "By the model's answers"), (TOOL, "By chathpc's counts")):
        ratios = [ratio(each.model if key == "model" else each.chathpc, each.measured) for each in rows]
        known = [each for each in ratios if each is not None]
        for name, most, words in (("exact", 1.01, "within 1 %"), ("twofold", 2.0, "within a factor of 2")):
            near = [1 / most <= each <= most for each in known]
            figures.append(share(f"{key}-{name}", f"{title}: {words}", near))
    return Figures("flops", tuple(figures), ())


def ratio(found: float | None, measured: float) -> float | None:
    """What was found over what was measured; None where there is nothing to compare."""
    return None if found is None or measured <= 0 else found / measured
