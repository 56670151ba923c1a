"""How good answers of one word are: accuracy, macro F1, Matthews' correlation and the confusion matrix, beside those of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import nan, sqrt

from chathpc.bench.figures import Figure, Figures
from chathpc.bench.statistics import bootstrap, wilson


@dataclass(frozen=True, slots=True)
class Judged:
    """The truth of a question (compute-bound?) and its answer; None for one that is neither word, which counts as the wrong word."""

    truth: bool
    answer: bool | None

    @property
    def said(self) -> bool:
        """The answer, or the wrong one where there is none."""
        return not self.truth if self.answer is None else self.answer


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
    matrix, count = confusion(judged), len(judged)
    paper = PUBLISHED.get(kind, Published("", nan))
    right = wilson(matrix.right, count)
    figures = [
        Figure("accuracy", "Right answers", "share", matrix.accuracy, *right, count, True, _known(paper.accuracy))
    ]
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
