"""`chathpc bench predict` from its options to its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chathpc.bench.predict.counted import Counted, read_counts
from chathpc.bench.predict.labels import Label, read_labels, read_programs
from chathpc.bench.predict.measured import count_figures, time_figures, timed
from chathpc.bench.predict.questions import KINDS, Kind, Program
from chathpc.bench.predict.result import Result, operation_figures, result_of
from chathpc.bench.predict.run import (
    Asker,
    Tell,
    ask_words,
    computed,
    operations_of,
    programs_of,
    questions_of,
    sample_of,
    table_of,
    with_source,
)
from chathpc.errors import UsageError
from chathpc.predict.devices import device

#: The device that the labels were measured on, in the catalogue.
LABELS_DEVICE = "rtx3080"


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
    labels = _labels(inputs)
    counted = None if inputs.counts is None else read_counts(inputs.counts)
    if task == "time":
        return _time(labels, counted)
    if task == "flops":
        return _flops(inputs, labels, counted, asker, tell)
    kinds = _kinds(inputs)
    chosen, others = sample_of(labels, inputs.sample, inputs.seed)
    programs = _programs(chosen, inputs.sources)
    spare = _programs(others, inputs.sources) if "examples" in kinds else ()
    answers = ask_words(questions_of(kinds, programs, spare, counted), asker, tell) if asker is not None else ()
    own = computed(chosen, counted) if counted is not None else ()
    if not answers and not own:
        raise UsageError(
            "There is nothing to compare.", hint="Name a model (--llm, --replay), or --labels and --counts."
        )
    left_out = _left_out(chosen, counted)
    return result_of(
        "roofline",
        answers,
        own,
        by="none" if asker is None else asker.label,
        left_out=left_out,
        measured=None if counted is None else count_figures(chosen, counted),
    )


def _flops(inputs: Inputs, labels: Sequence[Label], counted: Counted | None, asker: Asker | None, tell: Tell) -> Result:
    table = table_of(labels)
    if not table:
        raise UsageError(
            "The labels have none of the five launches of this task.", hint="--labels CSV names measured launches."
        )
    if asker is None and counted is None:
        raise UsageError("There is nothing to compare.", hint="Name a model (--llm, --replay), or --counts.")
    programs = _programs(table, inputs.sources) if asker is not None else ()
    if asker is not None and not programs:
        raise UsageError("A model needs the source of the programs.", hint="--sources DIR holds one folder a program.")
    rows = operations_of(table, programs, asker, counted, tell)
    return result_of(
        "flops", operations=rows, by="none" if asker is None else asker.label, measured=operation_figures(rows)
    )


def _time(labels: Sequence[Label], counted: Counted | None) -> Result:
    if not labels or counted is None:
        raise UsageError(
            "There is nothing to compare.", hint="Name the measured launches and what was counted: --labels, --counts."
        )
    rows = timed(labels, counted, device(LABELS_DEVICE))
    if not rows:
        raise UsageError(
            "No launch of the labels was followed in its shape.", hint="--counts needs `launch` in each line."
        )
    missing = len(labels) - len(rows)
    left_out = (
        [f"{missing} of {len(labels)} launches were not followed in the shape that was measured."] if missing else []
    )
    return result_of("time", left_out=left_out, measured=time_figures(rows))


def _labels(inputs: Inputs) -> tuple[Label, ...]:
    if inputs.labels is None:
        return ()
    named = None if inputs.programs is None else read_programs(inputs.programs)
    return with_source(read_labels(inputs.labels, named), inputs.sources)


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


def _programs(labels: Sequence[Label], sources: Path | None) -> tuple[Program, ...]:
    return programs_of(labels, sources) if sources is not None else ()


def _left_out(chosen: Sequence[Label], counted: Counted | None) -> list[str]:
    found = []
    if counted is not None and (missing := sum(counted.get(each) is None for each in chosen)):
        found.append(f"{missing} of {len(chosen)} launches have no counts.")
    return found


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
