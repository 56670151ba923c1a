"""A run of the benchmark of predictions, ready to be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

from chathpc.bench.figures import Figure, Figures
from chathpc.bench.predict.questions import Kind, read_word
from chathpc.bench.predict.scores import PUBLISHED, Confusion, Judged, Published, confusion, figures_of
from chathpc.bench.statistics import wilson

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
class Answered:
    """A question of one word and what was said; `text` is null where no answer was recorded for it."""

    kind: Kind
    program: str
    kernel: str
    truth: bool
    text: str | None

    @property
    def judged(self) -> Judged:
        """The answer beside the truth."""
        return Judged(self.truth, None if self.text is None else read_word(self.text))


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
    answers: tuple[Answered, ...]
    left_out: tuple[str, ...] = ()
    measured: Figures | None = None

    @property
    def parts(self) -> tuple[Figures, ...]:
        """The figures by kind of question, and those of counts, operations or times."""
        return (*(row.figures for row in self.rows), *([] if self.measured is None else [self.measured]))


def result_of(
    task: str,
    answers: Sequence[Answered] = (),
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
            near = sum(1 / most <= each <= most for each in known)
            low, high = wilson(near, len(known))
            value = near / len(known) if known else nan
            figures.append(Figure(f"{key}-{name}", f"{title}: {words}", "share", value, low, high, len(known)))
    return Figures("flops", tuple(figures), ())


def ratio(found: float | None, measured: float) -> float | None:
    """What was found over what was measured; None where there is nothing to compare."""
    return None if found is None or measured <= 0 else found / measured
