"""`chathpc bench`: how good chathpc is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from chathpc.commands.fix_options import agent_options, ended_by_term, trial_options
from chathpc.commands.options import PLACE, PROFILE, base_url_option, quiet_option
from chathpc.commands.output import answer, check_output, output_options, style_for
from chathpc.commands.progress import Progress
from chathpc.commands.streams import complain
from chathpc.errors import ChathpcError, UsageError

if TYPE_CHECKING:
    from chathpc.fix.agent.briefing import Guidance

_required = click.option(
    "--require",
    "required",
    metavar="NAME=VALUE",
    multiple=True,
    help="Fail unless a figure is at least this good; repeatable.",
)


@click.group("bench")
def command() -> None:
    """Measure how good chathpc is, on labelled cases."""


@command.command("diagnosis")
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True, type=PROFILE)
@output_options(("text", "markdown", "json"))
@click.option(
    "--split",
    type=click.Choice(("all", "seen", "held-out")),
    default="all",
    show_default=True,
    help="Half of the cases.",
)
@click.option(
    "--show", type=click.Choice(("wrong", "all", "none")), default="wrong", show_default=True, help="Cases to list."
)
@_required
@click.option("--llm", metavar="SPEC", default="none", show_default=True, help="Also judge the words of this model.")
@base_url_option
@click.option("--record", metavar="FILE", help="Record the answers of openai:MODEL in FILE; recorded ones are reused.")
@click.option("--replay", metavar="FILE", help="Replay the answers in FILE; no model is used.")
@click.option(
    "-j",
    "--jobs",
    metavar="N",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Cases in parallel; distorts times.",
)
@click.option(
    "--seconds",
    metavar="N",
    type=click.IntRange(min=1),
    default=600,
    show_default=True,
    help="CPU time limit per case.",
)
@quiet_option
def diagnosis(
    folders: tuple[Path, ...],
    form: str,
    output: str | None,
    split: str,
    show: str,
    required: tuple[str, ...],
    llm: str,
    base_url: str | None,
    record: str | None,
    replay: str | None,
    jobs: int,
    seconds: int,
    quiet: bool,
) -> None:
    """Diagnose labelled profiles and report how often that is right.

    Each FOLDER is a set of cases: folders with a truth.json beside the profile (docs/labelled-profiles.md). Every case is read
    and explained in a process of its own. Two baselines are measured with it: what the biggest node suggests, and always the most
    frequent causes.

    For example: chathpc bench diagnosis profiles/ --show wrong

    As a gate: chathpc bench diagnosis profiles/ --require detection1=90 --require false-on-healthy=0

    Shares and points are required in percent (at least), counts, errors, seconds and bytes as they are (at most);
    SET:NAME=VALUE is about one FOLDER, 'held-out half:NAME=VALUE' about that half. Exit code 1 if a requirement is not met or a case has no answer.
    """
    check_output(output, folders)
    from chathpc.bench.case import Split
    from chathpc.bench.folders import find_cases
    from chathpc.bench.gates import failures, parse_gate
    from chathpc.bench.result import renderers, result_of
    from chathpc.bench.run import run_cases

    llm = _recorded(llm, record, replay)
    gates = [parse_gate(text) for text in required]
    found = find_cases(folders, None if split == "all" else Split(split))
    if not found.cases:
        raise ChathpcError(f"The {split} half has no cases.", hint="Omit --split.")
    done = 0
    with Progress(quiet=quiet) as progress:

        def tell(name: str) -> None:
            nonlocal done
            done += 1
            progress(f"{done} of {len(found.cases)}: {name}")

        outcomes = run_cases(found.cases, llm=llm, base_url=base_url, seconds=seconds, jobs=jobs, progress=tell)
    result = result_of(found.cases, outcomes, split=split, llm=llm, left_out=found.left_out)
    missed = failures(gates, result.whole, (*result.parts, *result.halves))
    answer(renderers()[form](result, style_for(output), show), output)
    without = [each.case.name for each in result.scores if each.outcome.failure]
    if without:
        missed.append(f"{len(without)} without an answer: {', '.join(without[:5])}{', …' if without[5:] else ''}.")
    if missed:
        raise ChathpcError(" ".join(missed), hint="To see the wrong ones: --show wrong.")


def _recorded(llm: str, record: str | None, replay: str | None) -> str:
    """The SPEC of the model, through a recording where one is named."""
    if record is None and replay is None:
        return llm
    kind, _, model = llm.partition(":")
    if record is not None and replay is not None:
        raise UsageError("--record and --replay exclude each other.", hint="Name one of them.")
    if replay is not None:
        return f"replay:{Path(replay).resolve()}"
    if kind != "openai" or not model:
        raise UsageError("--record keeps the answers of a hosted model.", hint="Name it: --llm openai:MODEL.")
    return f"record:{Path(str(record)).resolve()}:{model}"


@command.command("fix")
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True, type=PROFILE)
@output_options(("text", "markdown", "json"))
@click.option(
    "--strategy",
    "strategies",
    metavar="NAME",
    multiple=True,
    default=("human", "recipes"),
    show_default=True,
    help="Who proposes changes, repeatable: those of chathpc fix, human and buggy.",
)
@click.option("--llm", metavar="SPEC", help="Model for strategies that use one: local[:MODEL], openai:MODEL, auto.")
@agent_options
@click.option(
    "--tasks", "chosen", metavar="NAME", multiple=True, help="Only this task, or a pattern of names; repeatable."
)
@trial_options(300.0, "of one task")
@_required
@click.option(
    "--work",
    metavar="DIR",
    type=PLACE,
    default=Path("bench-results/fix"),
    show_default=True,
    help="Where results are kept; an interrupted run resumes from there.",
)
@quiet_option
def fixes(
    folders: tuple[Path, ...],
    form: str,
    output: str | None,
    strategies: tuple[str, ...],
    llm: str | None,
    guidance: Guidance,
    critic: str | None,
    turns: int,
    tokens: int,
    chosen: tuple[str, ...],
    time_limit: float,
    rounds: int,
    required: tuple[str, ...],
    work: Path,
    no_sandbox: bool,
    quiet: bool,
) -> None:
    """Run chathpc fix on programs whose best known version is included.

    Each FOLDER is a set of tasks: folders with the program (original), what an expert made of it (human), and a chathpc.yaml
    (docs/labelled-tasks.md). Each task is tried with each strategy. The strategy human proposes the expert's version, as a perfect
    model would, and buggy a version with a bug: what becomes of these shows how good the judges are.

    For example: chathpc bench fix tasks/ --strategy recipes --tasks 'mesh*'

    As a gate: chathpc bench fix tasks/ --require recipes:improved=60 --require human:improved=100

    Times are meaningful only on a quiet machine. Exit code 1 if a requirement is not met or a task could not be tried.
    """
    check_output(output, folders)
    from chathpc.bench.fixes.find import find_tasks
    from chathpc.bench.fixes.pages import renderers
    from chathpc.bench.fixes.result import result_of
    from chathpc.bench.fixes.run import Settings, run_tasks
    from chathpc.bench.gates import failures, parse_gate
    from chathpc.fix.agent import Bounds, Manner
    from chathpc.fix.session import Budget
    from chathpc.sandbox import choose

    strategies = tuple(dict.fromkeys(strategies))
    gates = [parse_gate(text) for text in required]
    tasks = find_tasks(folders, chosen)
    budget = Budget(rounds=rounds, seconds=time_limit)
    manner = Manner(guidance, critic, Bounds(turns, tokens))
    settings = Settings(choose(allow_none=no_sandbox), work.resolve(), budget, llm=llm, manner=manner)
    with Progress(quiet=quiet) as progress, ended_by_term():
        outcomes = run_tasks(tasks, strategies, settings, progress=progress)
    if len(outcomes) < len(tasks):
        complain(f"Stopped early: {len(outcomes)} of {len(tasks)} tasks are done. The same command resumes from there.")
    result = result_of(
        tasks[: len(outcomes)], outcomes, strategies, time_limit=time_limit, sandbox=settings.sandbox.name
    )
    missed = failures(gates, result.figures[-1], result.figures)
    answer(renderers()[form](result, style_for(output)), output)
    failed = [row.task.name for row in result.rows if any(each.ended == "failed" for each in row.outcomes.values())]
    if failed:
        missed.append(f"{len(failed)} could not be tried: {', '.join(failed[:5])}{', …' if failed[5:] else ''}.")
    if missed:
        raise ChathpcError(" ".join(missed), hint="The report has the outcome of each task.")


@command.command("predict")
@click.option(
    "--task",
    type=click.Choice(("roofline", "flops", "time")),
    required=True,
    help="What is predicted: the limit, operations, or time.",
)
@output_options(("text", "markdown", "json"))
@click.option("--labels", metavar="CSV", type=PLACE, help="Measured launches (columns of gpuFLOPBench), also .csv.gz.")
@click.option("--sources", metavar="DIR", type=PLACE, help="Folder with the source: one folder a program.")
@click.option("--programs", metavar="FILE", type=PLACE, help="Only the programs named in FILE, one a line.")
@click.option("--counts", metavar="FILE", type=PLACE, help="What chathpc predicts for these launches (JSON lines).")
@click.option(
    "--ask",
    "kinds",
    type=click.Choice(("generated", "source", "examples", "counts")),
    multiple=True,
    help="Kinds of questions about rooflines; repeatable. Default: all for which there is data.",
)
@click.option(
    "--sample", metavar="N", type=click.IntRange(min=1), help="Only N launches, as many of each language and class."
)
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Draws the sample.")
@click.option("--llm", metavar="SPEC", default="none", show_default=True, help="Ask this model.")
@base_url_option
@click.option("--record", metavar="FILE", type=PLACE, help="Record answers in FILE, without the questions.")
@click.option("--replay", metavar="FILE", type=PLACE, help="Replay the answers in FILE; no model is used.")
@_required
@quiet_option
def predict(
    task: str,
    form: str,
    output: str | None,
    labels: Path | None,
    sources: Path | None,
    programs: Path | None,
    counts: Path | None,
    kinds: tuple[str, ...],
    sample: int | None,
    seed: int,
    llm: str,
    base_url: str | None,
    record: Path | None,
    replay: Path | None,
    required: tuple[str, ...],
    quiet: bool,
) -> None:
    """Compare a model's answers about GPU kernels with what chathpc computes.

    The questions are those of the papers. The task roofline asks which limit holds for a kernel: for rooflines in numbers
    (generated), from the source alone (source), after two examples (examples), and with chathpc's counts beside the source
    (counts). The task flops asks for the floating-point operations of five kernels in small steps. The task time asks
    nothing: times that follow from the counts are compared with those measured. Labels, sources and counts are files of
    yours; none is part of chathpc.

    For example: chathpc bench predict --task roofline --ask generated --llm openai:MODEL

    With data: chathpc bench predict --task roofline --labels labels.csv --sources src/ --counts counts.jsonl --replay answers.jsonl

    A hosted model sees names as your settings allow; the papers' models saw all of them (confidential: none).

    As a gate: --require source:mcc=0.314 --require chathpc:accuracy=80. Exit code 1 if a requirement is not met.
    """
    check_output(output, [each for each in (labels, counts, record, replay) if each is not None])
    if record is not None and replay is not None:
        raise UsageError("--record and --replay exclude each other.", hint="Name one of them.")
    from chathpc.bench.gates import failures, parse_gate
    from chathpc.bench.predict.render import renderers
    from chathpc.bench.predict.run import Inputs, measure

    gates = [parse_gate(text) for text in required]
    if replay is not None:
        llm = f"replay:{replay.resolve()}"
    inputs = Inputs(labels, sources, programs, counts, kinds, sample, seed)
    with Progress(quiet=quiet) as progress:
        result = measure(task, inputs, llm=llm, base_url=base_url, record=record, tell=progress)
    missed = failures(gates, result.parts[0], result.parts)
    answer(renderers()[form](result, style_for(output)), output)
    if missed:
        raise ChathpcError(" ".join(missed))
