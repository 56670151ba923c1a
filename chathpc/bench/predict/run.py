"""Puts the questions to a model, and gives what chathpc says of the same launches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chathpc.bench.predict.counted import Counted
from chathpc.bench.predict.flops import TABLE, Ask, chain
from chathpc.bench.predict.labels import Label, balanced
from chathpc.bench.predict.questions import (
    Kind,
    Program,
    Question,
    counts_question,
    examples_question,
    generated_question,
    read_word,
    source_question,
)
from chathpc.bench.predict.recordings import Keeping
from chathpc.bench.predict.rooflines import counted_class, trials
from chathpc.bench.predict.scores import Judged
from chathpc.bench.predict.sources import read_source
from chathpc.errors import BudgetSpentError, ModelUnavailableError, UsageError
from chathpc.llm.asking import Problem, ask
from chathpc.llm.backend import Request
from chathpc.llm.spec import Choice

#: Longest source of an answered example (characters), so that two fit beside the source that is asked about.
LONGEST_EXAMPLE = 12_000

Tell = Callable[[str], None]


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


class Asker:
    """Puts questions to the model of `choice`, which there must be, and records the answers in `file` where one is named.

    Where it `replays` a recording, a question that this does not hold has no answer.
    """

    def __init__(self, choice: Choice, file: Path | None = None, *, replays: bool = False) -> None:
        if choice.backend is None:
            raise ValueError("there is no back end to ask")
        self.label = choice.backend.label
        self._replays = replays
        self._keeping = None if file is None else Keeping(choice.backend, file)
        self._choice = choice if self._keeping is None else replace(choice, backend=self._keeping)

    def about(self, label: Label) -> Ask:
        """How questions about a launch are put."""
        return lambda kind, request, problem: self.ask((kind, label.program, label.kernel), request, problem)

    def ask(self, about: tuple[str, str, str], request: Request, problem: Problem | None = None) -> str | None:
        """The answer; None where a recording has none, or the model none in time. Raises ModelUnavailableError where it cannot answer at all."""
        if self._keeping is not None:
            self._keeping.about = about
        try:
            return ask(self._choice, request, problem=problem).text
        except BudgetSpentError:
            return None
        except ModelUnavailableError:
            if self._replays:
                return None
            raise


def with_source(labels: Sequence[Label], sources: Path | None) -> tuple[Label, ...]:
    """The launches whose program has a folder in `sources`; all of them where there is no such folder to look in. UsageError if none has one."""
    if sources is None:
        return tuple(labels)
    found = tuple(each for each in labels if _folder(each, sources) is not None)
    if labels and not found:
        hint = "--sources DIR holds one folder a program."
        raise UsageError("No launch of the labels has a folder with its source.", hint=hint)
    return found


def _folder(label: Label, sources: Path) -> Path | None:
    name = label.program
    folder = sources / name
    return folder if name not in ("", ".", "..") and "/" not in name and folder.is_dir() else None


def programs_of(labels: Sequence[Label], sources: Path) -> tuple[Program, ...]:
    """Launches with the source of their programs, as far as there is one."""
    found = [(label, _folder(label, sources)) for label in labels]
    return tuple(Program(label, read_source(folder, label.function)) for label, folder in found if folder is not None)


def questions_of(
    kinds: Sequence[Kind], programs: Sequence[Program], spare: Sequence[Program], counted: Counted | None
) -> list[Question]:
    """The questions of some kinds, kind by kind; examples are of `spare`, counts of `counted`, where there are some."""
    questions: list[Question] = []
    for kind in kinds:
        if kind == "generated":
            questions += [generated_question(trial) for trial in trials()]
        for program in programs if kind != "generated" else ():
            if kind == "source":
                questions.append(source_question(program))
            elif kind == "examples" and (shown := examples_for(program, spare)):
                questions.append(examples_question(program, shown))
            elif kind == "counts" and counted is not None and (found := counted.get(program.label)) is not None:
                questions.append(counts_question(program, found.counts))
    return questions


def examples_for(program: Program, spare: Sequence[Program]) -> tuple[Program, ...]:
    """Two short answered launches in the language of `program`, one of each class, of other programs; none if there are not both."""
    stem = program.label.program.rpartition("-")[0]
    fitting = [
        each
        for each in spare
        if each.label.language == program.label.language
        and each.label.program.rpartition("-")[0] != stem
        and sum(len(file.text) for file in each.source) <= LONGEST_EXAMPLE
    ]
    pair = [next((each for each in fitting if each.label.compute_bound is bound), None) for bound in (False, True)]
    return tuple(each for each in pair if each is not None) if None not in pair else ()


def sample_of(labels: Sequence[Label], count: int | None, seed: int) -> tuple[tuple[Label, ...], tuple[Label, ...]]:
    """The launches to ask about, and the others, from which examples are taken."""
    chosen = tuple(labels) if count is None else balanced(labels, count, seed)
    keys = {each.key for each in chosen}
    others = [each for each in labels if each.key not in keys]
    return chosen, balanced(others, len(others), seed)


def ask_words(questions: Sequence[Question], asker: Asker, tell: Tell) -> tuple[Answered, ...]:
    """The answers of one word, in the order of the questions."""
    found = []
    for number, each in enumerate(questions, 1):
        tell(f"{number} of {len(questions)}: {each.kind}, {each.program}")
        text = asker.ask((each.kind, each.program, each.kernel), each.request)
        found.append(Answered(each.kind, each.program, each.kernel, each.truth, text))
    return tuple(found)


def computed(labels: Sequence[Label], counted: Counted) -> tuple[Judged, ...]:
    """The class of each launch that was counted, by its counts and the three rooflines alone."""
    found = [(each, counted.get(each)) for each in labels]
    return tuple(Judged(each.compute_bound, counted_class(one.counts)) for each, one in found if one is not None)


def table_of(labels: Sequence[Label]) -> tuple[Label, ...]:
    """The launches of the paper's table of operations among `labels`; of two with one name the first."""
    found: Mapping[tuple[str, str], Label] = {(each.program, each.kernel): each for each in reversed(labels)}
    return tuple(found[key] for key in TABLE if key in found)


def operations_of(
    labels: Sequence[Label], programs: Sequence[Program], asker: Asker | None, counted: Counted | None, tell: Tell
) -> tuple[Operations, ...]:
    """The floating-point operations of launches, by a chain of questions and by chathpc."""
    sources = {each.label.key: each for each in programs}
    rows = []
    for number, label in enumerate(labels, 1):
        tell(f"{number} of {len(labels)}: {label.program}")
        model = None
        if asker is not None and label.key in sources:
            estimate = chain(sources[label.key], asker.about(label))
            model = None if estimate is None else estimate.flops
        found = None if counted is None else counted.get(label)
        own = None if found is None else found.counts.total("fp32") + found.counts.total("fp64")
        rows.append(Operations(label.program, label.kernel, label.flops, model, own))
    return tuple(rows)
