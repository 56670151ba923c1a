"""`chathpc bench predict` from its options to its result: questions put to a model, and what chathpc says of the same launches.

Answers are kept without their questions, which hold source that is not ours to copy, as other recordings (chathpc.llm.recorded), so that
`replay:FILE` gives them again; instead of a question's text there is its hash, the program, the kernel and the kind of question.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chathpc.bench.predict.counted import Counted, read_counts
from chathpc.bench.predict.flops import TABLE, Ask, chain
from chathpc.bench.predict.labels import LABELS_DEVICE, Label, balanced, read_labels, read_programs
from chathpc.bench.predict.questions import (
    KINDS,
    Judged,
    Kind,
    Program,
    Question,
    class_question,
    generated_question,
    read_source,
    trials,
)
from chathpc.bench.predict.result import (
    Operations,
    Result,
    count_figures,
    operation_figures,
    result_of,
    time_figures,
    timed,
)
from chathpc.errors import BudgetSpentError, ModelUnavailableError, UsageError
from chathpc.llm.asking import Problem, ask
from chathpc.llm.backend import Backend, Completion, Form, OnToken, Request
from chathpc.llm.recorded import Recording, key_of
from chathpc.llm.spec import Choice
from chathpc.predict.devices import device
from chathpc.predict.roofline import LABELLED, classify

#: Longest source of an answered example (characters), so that two fit beside the source that is asked about.
LONGEST_EXAMPLE = 12_000
_NOTHING = "There is nothing to compare."

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files of a run, which kinds of questions are asked (all that can be, if none is named), and the sample of launches."""

    labels: Path | None = None
    sources: Path | None = None
    programs: Path | None = None
    counts: Path | None = None
    kinds: tuple[str, ...] = ()
    sample: int | None = None
    seed: int = 0


def measure(
    task: str, inputs: Inputs, *, llm: str, base_url: str | None = None, record: Path | None = None, tell: Tell
) -> Result:
    """Ask, count and compare. UsageError for files that are missing or wrong, ModelUnavailableError where the model cannot be had."""
    asker = _asker(llm, base_url, record)
    named = None if inputs.programs is None else read_programs(inputs.programs)
    labels = () if inputs.labels is None else with_source(read_labels(inputs.labels, named), inputs.sources)
    counted = None if inputs.counts is None else read_counts(inputs.counts)
    if task == "time":
        return _time(labels, counted)
    if task == "flops":
        return _flops(inputs, labels, counted, asker, tell)
    kinds = _kinds(inputs)
    chosen, others = sample_of(labels, inputs.sample, inputs.seed)
    spare = programs_of(others, inputs.sources) if "examples" in kinds else ()
    questions = questions_of(kinds, programs_of(chosen, inputs.sources), spare, counted) if asker is not None else []
    answers = []
    for number, each in enumerate(questions, 1):
        tell(f"{number} of {len(questions)}: {each.kind}, {each.program}")
        text = asker.ask((each.kind, each.program, each.kernel), each.request) if asker is not None else None
        answers.append(replace(each, text=text))
    found = [] if counted is None else [(each, one) for each in chosen if (one := counted.get(each)) is not None]
    limits = [classify(one.counts, device(LABELS_DEVICE), LABELLED).bound == "compute" for _, one in found]
    own = [Judged(each.compute_bound, limit) for (each, _), limit in zip(found, limits, strict=True)]
    if not answers and not own:
        raise UsageError(_NOTHING, hint="Name a model (--llm, --replay), or --labels and --counts.")
    missing = len(chosen) - len(found)
    return result_of(
        "roofline", answers, own, by="none" if asker is None else asker.label,
        left_out=[f"{missing} of {len(chosen)} launches have no counts."] if counted is not None and missing else [],
        measured=None if counted is None else count_figures(chosen, counted),
    )  # fmt: skip


def _flops(inputs: Inputs, labels: Sequence[Label], counted: Counted | None, asker: Asker | None, tell: Tell) -> Result:
    table = table_of(labels)
    if not table:
        raise UsageError(
            "The labels have none of the five launches of this task.", hint="--labels CSV names measured launches."
        )
    if asker is None and counted is None:
        raise UsageError(_NOTHING, hint="Name a model (--llm, --replay), or --counts.")
    programs = {each.label.key: each for each in programs_of(table, inputs.sources)} if asker is not None else {}
    if asker is not None and not programs:
        raise UsageError("A model needs the source of the programs.", hint="--sources DIR holds one folder a program.")
    rows = []
    for number, label in enumerate(table, 1):
        tell(f"{number} of {len(table)}: {label.program}")
        model = chain(programs[label.key], asker.about(label)) if asker and label.key in programs else None
        found = None if counted is None else counted.get(label)
        own = None if found is None else found.counts.total("fp32") + found.counts.total("fp64")
        rows.append(Operations(label.program, label.kernel, label.flops, model, own))
    by = "none" if asker is None else asker.label
    return result_of("flops", operations=rows, by=by, measured=operation_figures(rows))


def _time(labels: Sequence[Label], counted: Counted | None) -> Result:
    if not labels or counted is None:
        raise UsageError(_NOTHING, hint="Name the measured launches and what was counted: --labels, --counts.")
    rows = timed(labels, counted, device(LABELS_DEVICE))
    if not rows:
        raise UsageError(
            "No launch of the labels was followed in its shape.", hint="--counts needs `launch` in each line."
        )
    missing = len(labels) - len(rows)
    left_out = f"{missing} of {len(labels)} launches were not followed in the shape that was measured."
    return result_of("time", left_out=[left_out] if missing else [], measured=time_figures(rows))


def _kinds(inputs: Inputs) -> tuple[Kind, ...]:
    possible: list[Kind] = ["generated"]
    if inputs.labels is not None and inputs.sources is not None:
        possible += ["source", "examples"]
        possible += ["counts"] if inputs.counts is not None else []
    named = [kind for kind in KINDS if kind in inputs.kinds]
    lacking = [kind for kind in named if kind not in possible]
    if lacking:
        needed = "--labels, --sources and --counts" if lacking == ["counts"] else "--labels and --sources"
        raise UsageError(f"Questions of the kind {lacking[0]} need {needed}.")
    return tuple(named or possible)


# -- Who is asked ----------------------------------------------------------------------------------------------------


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


def _asker(llm: str, base_url: str | None, record: Path | None) -> Asker | None:
    """Who asks the model of a SPEC, behind the guard for credentials, money and the log; None for `none`."""
    from chathpc.llm.guard import guarded
    from chathpc.llm.recorded import ReplayBackend
    from chathpc.llm.settings import load_settings
    from chathpc.llm.spec import resolve
    from chathpc.privacy.placeholders import Placeholders

    settings = load_settings({"base_url": base_url})
    choice = resolve(llm, settings)
    if choice.backend is None:
        return None
    if isinstance(choice.backend, ReplayBackend):  # nothing leaves, and nothing new is said that the log should keep
        return Asker(choice, replays=True)
    return Asker(replace(choice, backend=guarded(choice, settings, Placeholders)), record)


# -- What about ------------------------------------------------------------------------------------------------------


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


def programs_of(labels: Sequence[Label], sources: Path | None) -> tuple[Program, ...]:
    """Launches with the source of their programs, as far as there is one."""
    found = [(label, _folder(label, sources)) for label in labels] if sources is not None else []
    return tuple(Program(label, read_source(folder, label.function)) for label, folder in found if folder is not None)


def questions_of(
    kinds: Sequence[Kind], programs: Sequence[Program], spare: Sequence[Program], counted: Counted | None
) -> list[Question]:
    """The questions of some kinds, kind by kind; examples are of `spare`, counts of `counted`, where there are some."""
    questions: list[Question] = []
    for kind in kinds:
        if kind == "generated":
            questions += [generated_question(trial) for trial in trials()]
            continue
        for program in programs:
            shown = examples_for(program, spare) if kind == "examples" else ()
            found = counted.get(program.label) if kind == "counts" and counted is not None else None
            if kind == "source" or shown or found is not None:
                counts = None if found is None else found.counts
                questions.append(class_question(kind, program, counts=counts, examples=shown))
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


def table_of(labels: Sequence[Label]) -> tuple[Label, ...]:
    """The launches of the paper's table of operations among `labels`; of two with one name the first."""
    found: Mapping[tuple[str, str], Label] = {(each.program, each.kernel): each for each in reversed(labels)}
    return tuple(found[key] for key in TABLE if key in found)


def keep(file: Path, request: Request, found: Completion, about: tuple[str, str, str]) -> None:
    """Add an answer to `file`, in one write. `about`: the kind of question, the program and the kernel."""
    kind, program, kernel = about
    entry = {
        "key": key_of(request), "model": found.model, "system": hashlib.sha256(request.system.encode()).hexdigest()[:16], "kind": kind,
        "program": program, "kernel": kernel, "answer": found.text, "prompt_tokens": found.prompt_tokens,
        "completion_tokens": found.completion_tokens,
    }  # fmt: skip
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, (json.dumps(entry, ensure_ascii=False) + "\n").encode())
    finally:
        os.close(handle)


class Keeping:
    """A back end whose answers are kept in `file`; what it holds already is not asked again. `about` says what the next questions are about:
    the kind of question, the program and the kernel.
    """

    def __init__(self, backend: Backend, file: Path) -> None:
        self._backend = backend
        self._file = file
        self._recording = Recording(file)
        self.about = ("", "", "")
        self.name, self.label = backend.name, backend.label
        self.form: Form = backend.form

    def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
        """The recorded answer, else that of the back end, which is recorded; see Backend."""
        found = self._recording.find(request)
        if found is None:
            found = self._backend.complete(request, on_token=on_token)
            keep(self._file, request, found, self.about)
        return found
