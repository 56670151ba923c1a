"""`chathpc predict`."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chathpc.commands.options import PLACE, PROFILE, base_url_option, quiet_option
from chathpc.commands.output import answer, check_output, output_options, style_for
from chathpc.commands.progress import Progress
from chathpc.errors import BudgetSpentError, UsageError
from chathpc.reports import PREDICTION_FORMATS, RANKING_FORMATS

if TYPE_CHECKING:
    from chathpc.predict.devices import Device
    from chathpc.predict.open_values import Estimate, Gap, OpenValue
    from chathpc.predict.prediction import Prediction
    from chathpc.predict.program import Asked


def _three(context: click.Context, option: click.Parameter, value: str | None) -> tuple[int, int, int] | None:
    """Blocks or threads by dimension; what is not said is 1."""
    if value is None:
        return None
    try:
        found = [int(each) for each in value.replace("x", ",").split(",")]
    except ValueError:
        found = []
    if not 1 <= len(found) <= 3 or min(found) < 1:
        raise click.BadParameter(f"{value} is no size: give X, X,Y or X,Y,Z, each at least 1.")
    x, y, z = (*found, 1, 1)[:3]
    return x, y, z


def _named(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Values by name."""
    found: dict[str, str] = {}
    for name, mark, rest in (value.partition("=") for value in values):
        if not mark or not name.strip():
            raise click.BadParameter(f"{name}{rest} is not NAME=VALUE.")
        if name.strip() in found:
            raise click.BadParameter(f"{name.strip()} is given twice.")
        found[name.strip()] = rest.strip()
    return found


@click.command("predict")
@click.argument("program", metavar="[SOURCE...|FOLDER]", nargs=-1, type=PLACE)
@click.option(
    "--kernel", metavar="NAME", help="One kernel, such as gemm or 'ns::gemm<float>'; default: the first launch of each."
)
@click.option(
    "--args", "arguments", metavar="WORDS", help="Arguments of the program. Default: those of `make run`, else none."
)
@click.option(
    "--device",
    "named_devices",
    metavar="NAME",
    multiple=True,
    help="GPU of the catalogue, a YAML file, or own: this machine's. Default: rtx3080; with --on that of the profile.",
)
@click.option(
    "--on",
    "targets",
    metavar="NAME",
    multiple=True,
    help="With --profile: its kernels' times on this GPU, or on all of its maker; repeatable.",
)
@click.option("-D", "definitions", metavar="NAME[=V]", multiple=True, help="Definition for the compiler.")
@click.option("-I", "includes", metavar="DIR", multiple=True, help="Folder of headers for the compiler.")
@click.option("--flags", metavar="WORDS", default="", help="More options of the compiler. Default: -O3.")
@click.option(
    "--make", "variables", metavar="NAME=VALUE", callback=_named, multiple=True, help="With FOLDER: a variable of make."
)
@click.option(
    "--grid",
    metavar="X,Y,Z",
    callback=_three,
    help="Blocks of the launch: chooses one, or says what it is without a main.",
)
@click.option("--block", metavar="X,Y,Z", callback=_three, help="Threads of a block, likewise.")
@click.option(
    "--shared",
    metavar="BYTES",
    type=click.IntRange(0, 1 << 20),
    default=0,
    help="Dynamic shared memory of a launch without a main.",
)
@click.option(
    "--param", "values", metavar="NAME=VALUE", callback=_named, multiple=True,
    help="Parameter of a kernel without a main: n=1024; for pointers elements and content: x=n*n:random (zero, iota, random).",
)  # fmt: skip
@click.option(
    "--launch",
    "occurrence",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Which launch of the kernel.",
)
@click.option(
    "--profile",
    metavar="PATH",
    type=PROFILE,
    help="Take the kernel from this profile, and without a main grid and block.",
)
@click.option(
    "--seconds", metavar="N", type=click.FloatRange(0.1, 600), default=3.0, show_default=True,
    help="How long a launch is followed before the rest is taken to go on alike.",
)  # fmt: skip
@click.option(
    "--llm", metavar="SPEC", help="Model that estimates arguments and sizes that were not given; default: none."
)
@base_url_option
@click.option("--no-sandbox", is_flag=True, help="Run the program's host part with all your rights.")
@output_options(PREDICTION_FORMATS)
@quiet_option
@click.option("-v", "--verbose", is_flag=True, help="All kernels in full.")
def command(
    program: tuple[Path, ...],
    kernel: str | None,
    arguments: str | None,
    named_devices: tuple[str, ...],
    targets: tuple[str, ...],
    definitions: tuple[str, ...],
    includes: tuple[str, ...],
    flags: str,
    variables: dict[str, str],
    grid: tuple[int, int, int] | None,
    block: tuple[int, int, int] | None,
    shared: int,
    values: dict[str, str],
    occurrence: int,
    profile: Path | None,
    seconds: float,
    llm: str | None,
    base_url: str | None,
    no_sandbox: bool,
    form: str,
    output: str | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Predict what a GPU kernel will do, without a GPU.

    SOURCE is CUDA, C and C++ with OpenMP target regions, or one file of OpenCL C, for this machine's processor; FOLDER
    holds a Makefile. The program is compiled with NVIDIA's compiler,
    its host part RUNS on this machine, in a sandbox without network, and the kernels that it launches are interpreted from their machine
    code: operations, bytes, limiter, class by the roofline model and time follow from that.

    For example: chathpc predict gemm.cu --kernel gemm --args "1024" --device h100

    A kernel without a main: chathpc predict k.cu --grid 4096 --block 256 --param n=1<<20 --param x=n:random

    The roofline as a picture: chathpc predict gemm.cu --args 1024 -o roofline.svg

    Which GPU for what was profiled (needs no SOURCE if the profile has counters): chathpc predict --profile run.ncu-rep --on all

    For explain: chathpc predict gemm.cu --args 1024 -o p.json; chathpc explain trace.nsys-rep p.json

    Exits with 0, 1 if the program does not compile or launches nothing, 2 for wrong usage, 4 without the model.
    """
    check_output(output, (*program, *([profile] if profile else ())))
    style = style_for(output, verbose=verbose)
    if not program and not (profile and targets):
        raise UsageError(
            "There is nothing to predict.", hint="Name a source, or a profile and GPUs: --profile PATH --on all"
        )
    if targets and (profile is None or form not in RANKING_FORMATS):
        raise UsageError(
            "--on needs --profile." if profile is None else f"--on writes text, Markdown or JSON, not {form}.",
            hint="For example: --profile run.ncu-rep --on all -o gpus.md",
        )
    if len(named_devices) > 1:
        raise UsageError(f"{len(named_devices)} devices are named, and one is predicted for.", hint="Run it for each.")
    device = named_devices[0] if named_devices else None
    if len(program) > 1 and any(each.is_dir() for each in program):
        raise UsageError("A folder is given alone.", hint="Name sources, or one folder with a Makefile.")
    with Progress(quiet=quiet) as progress, tempfile.TemporaryDirectory(prefix="chathpc-predict-") as work:
        from chathpc.adapters.load import load
        from chathpc.predict.devices import device as named
        from chathpc.predict.prediction import predict
        from chathpc.predict.profiled import device_of, measured, profiled
        from chathpc.predict.program import Asked, Program
        from chathpc.predict.ranking import chosen, ranking
        from chathpc.predict.record import record
        from chathpc.reports import prediction_renderers, ranking_renderers
        from chathpc.sandbox import choose

        words = (
            *(f"-D{each}" for each in definitions),
            *(f"-I{Path(each).resolve()}" for each in includes),
            *_words(flags, "--flags"),
        )
        if words and any(each.is_dir() for each in program):
            raise UsageError("Options of the compiler are for sources.", hint="With a folder: --make NAME=VALUE.")
        given = None if arguments is None else _words(arguments, "--args")
        asked = Asked(kernel, given, grid, block, shared, values, occurrence - 1, seconds)

        def predicted(asked: Asked, device: Device) -> tuple[Prediction, ...]:
            return predict(
                Program(tuple(each.resolve() for each in program), words, variables),
                asked,
                device=device,
                work=Path(work),
                sandbox=choose(allow_none=no_sandbox),
                estimate=_estimate(llm, base_url),
                progress=progress,
            )

        def on_processor(asked: Asked) -> tuple[Prediction, ...]:
            from chathpc.predict.opencl import predict_opencl

            if device not in (None, "own"):
                raise UsageError(
                    f"An OpenCL kernel is followed on this machine's processor, not predicted for {device}.",
                    hint="Leave --device out.",
                )
            if len(program) > 1 or not no_sandbox:
                raise UsageError(
                    "An OpenCL kernel is followed alone, on this machine's processor, where its own code runs without a sandbox.",
                    hint=f"If you trust it: chathpc predict {shlex.quote(str(program[0]))} --no-sandbox --grid X --block X --param NAME=VALUE",
                )
            return (predict_opencl(program[0].resolve(), " ".join(words), asked, progress),)

        if profile is not None:
            progress("reading the profile")
        if profile is not None and targets:
            read = load(profile)
            kernels, here = measured(read, kernel), device_of(read, device)
            there = chosen(targets, here)
            found = predicted(asked, here) if program else ()
            text: str | bytes = ranking_renderers()[form](
                ranking(profile.name, read, kernels, here, there, found), style
            )
        else:
            launched = profiled(profile, kernel) if profile is not None else None
            asked = launched.asked(asked) if launched else asked
            opencl = any(each.suffix == ".cl" for each in program)
            found = on_processor(asked) if opencl else predicted(asked, named(device or "rtx3080"))
            found = tuple(launched.beside(each) for each in found) if launched else found
            text = prediction_renderers()[form](record(" ".join(each.name for each in program), found), style)
    answer(text, output)


def _words(text: str, option: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"{option}: {error}.", hint="Quote it as for a shell.") from error


def _estimate(llm: str | None, base_url: str | None) -> Estimate | None:
    """How values are asked of the model of a SPEC; None where that names none. What it does not answer in form and time stays open."""
    if llm is None:
        return None
    from chathpc.llm.asking import ask
    from chathpc.llm.guard import guarded
    from chathpc.llm.settings import load_settings
    from chathpc.llm.spec import resolve
    from chathpc.predict.open_values import check, problem, question
    from chathpc.privacy.placeholders import Placeholders

    settings = load_settings({"llm": llm, "base_url": base_url})
    choice = resolve(llm, settings)
    if choice.backend is None:
        return None
    choice = replace(choice, backend=guarded(choice, settings, Placeholders))

    def estimate(gap: Gap, source: Sequence[tuple[int, str]]) -> OpenValue | None:
        try:
            answer = ask(choice, question(gap, source), problem=lambda text: problem(gap, text))
            return check(gap, answer.text, choice.backend.label if choice.backend else "")
        except (BudgetSpentError, ValueError):
            return None

    return estimate
