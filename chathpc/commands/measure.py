"""`chathpc measure`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from copy import copy
from math import prod
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import click

from chathpc.commands.explain import command as explain
from chathpc.commands.fix_options import ended_by_term
from chathpc.commands.options import PLACE, Share
from chathpc.commands.streams import complain
from chathpc.errors import MeasurementError, UsageError

if TYPE_CHECKING:
    from chathpc.measure import Measured, Tool

#: Options of explain that are handed on; its -o is --report here, because -o is where the measurement goes.
_HANDED = [copy(one) for one in explain.params if isinstance(one, click.Option) and one.name not in ("output", "quiet")]
for _one in _HANDED:
    _one.help = _one.help and _one.help.replace("extension of -o,", "extension of --report,")
#: Without a limit of ours; the user's own hold, and Ctrl-C (bytes of output that are kept).
_KEPT = 64 << 20


@click.command("measure", context_settings={"allow_interspersed_args": False})
@click.argument("program", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("-o", "--output", metavar="DIR", type=PLACE, help="Default: chathpc-measure-NAME-N.")
@click.option(
    "--tool",
    type=click.Choice(["auto", "hpctoolkit", "perf", "py-spy", "nsys", "ncu"]),
    default="auto",
    show_default=True,
    help="Profiler; auto: the best available.",
)
@click.option(
    "--rate", metavar="HZ", type=click.IntRange(1, 100_000), help="Samples per second and thread. Default: by run time."
)
@click.option("--kernel", metavar="NAME", help="Kernel for ncu; regex:… for a pattern.")
@click.option(
    "--launches",
    metavar="N",
    type=click.IntRange(1, 1000),
    default=3,
    show_default=True,
    help="Launches of it that ncu measures.",
)
@click.option(
    "--vary", "varied", metavar="NAME=N,N", multiple=True,
    help="Measure a series: {NAME} in COMMAND is each of the numbers in turn; threads also set OMP_NUM_THREADS. "
    "Excludes --kernel, --launches, --no-overhead and --explain.",
)  # fmt: skip
@click.option(
    "--interval", metavar="P", type=Share(), default="5%", show_default=True,
    help="With --vary: repeat until the time of each run is known to ± P.",
)  # fmt: skip
@click.option(
    "--most",
    metavar="N",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="With --vary: repetitions at most.",
)
@click.option("--no-overhead", is_flag=True, help="Only one run under the profiler; the overhead is then unknown.")
@click.option("--explain", "explained", is_flag=True, help="Continue with the report; takes the options of explain.")
@click.option("--report", metavar="FILE", help="With --explain: write the report to FILE instead of stdout.")
@click.option("-q", "--quiet", is_flag=True, help="No remarks on stderr.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    program: tuple[str, ...],
    output: Path | None,
    tool: Tool,
    rate: int | None,
    kernel: str | None,
    launches: int,
    varied: tuple[str, ...],
    interval: float,
    most: int,
    no_overhead: bool,
    explained: bool,
    report: str | None,
    quiet: bool,
    **handed: Any,
) -> int:
    """Run a program under the best available profiler.

    COMMAND runs alone, for the overhead and to choose the sampling rate, and under the profiler, between a launcher such as mpirun
    and the program; three times each in turns if that takes seconds only. What the first run under the profiler prints is passed
    on. Everything is kept in one new folder.

    For example: chathpc measure -- ./app 2000

    A series for chathpc scale: chathpc measure --vary n=1000,2000,4000 -- ./app {n}

    With a report: chathpc measure --explain --llm none -- mpirun -n 4 ./app

    Exits with the status of the program, and with 130 if Ctrl-C or SIGTERM stopped it: then nothing is kept.
    """
    _refuse_idle_options(ctx, explained, varied)
    from chathpc.measure import measure
    from chathpc.measure.live import Direct

    if varied:
        with ended_by_term():
            return _series(program, varied, output, interval, most, tool, rate, quiet)

    def tell(stage: str) -> None:
        if not quiet and stage == "running the program alone":
            complain("running the program alone first, for the overhead; --no-overhead skips this.")

    # With a report on stdout the program's own words go to stderr: stdout is the answer.
    stdout = 2 if explained and report in (None, "-") else 1
    with ended_by_term():
        measured = measure(
            program,
            Path.cwd(),
            shown=Direct(shown=(stdout, 2), reads="own"),
            output=output,
            tool=tool,
            rate=rate,
            kernel=kernel,
            launches=launches,
            overhead=not no_overhead and kernel is None and tool != "ncu",
            repeat=not no_overhead,
            progress=tell,
            **_always(),
        )
    if not quiet:
        _tell(measured, explained)
    if explained:
        ctx.invoke(explain, paths=(measured.path,), output=report, quiet=quiet, **handed)
    return measured.code if measured.code >= 0 else 128 - measured.code


command.params.extend(_HANDED)


def _series(
    program: tuple[str, ...],
    varied: tuple[str, ...],
    output: Path | None,
    interval: float,
    most: int,
    tool: Tool,
    rate: int | None,
    quiet: bool,
) -> int:
    """Measure all points of a series into one new folder."""
    from chathpc.measure import measure, vary

    # The largest first: usually the longest, whose rate the others can bear too.
    points = sorted(vary.points_of(varied), key=lambda each: -prod(map(float, each.values())))
    vary.check(program, points)
    folder = _series_folder(output)

    used = tool

    def one(words: tuple[str, ...], environment: Mapping[str, str], place: Path) -> tuple[Measured, float]:
        nonlocal used, rate
        try:
            measured = measure(
                words,
                Path.cwd(),
                output=place,
                tool=used,
                environment=environment,
                rate=rate,
                overhead=False,
                **_always(),
            )
        except MeasurementError as error:
            if rate is None:
                raise
            raise MeasurementError(
                str(error), hint="Vary larger values, or sample all of them more often: --rate."
            ) from error
        # Times of different tools and rates cannot be compared.
        used, rate = measured.tool, rate or (round(measured.rate) if measured.rate else None)
        return measured, _elapsed(measured, place)

    def tell(stage: str) -> None:
        if not quiet:
            complain(f"{stage}.")

    found = vary.vary(program, points, folder, measure=one, interval=interval, most=most, progress=tell)
    if not quiet:
        for each in reversed(found):
            name = ", ".join(f"{key}={value}" for key, value in each.point.items())
            times = f"{sum(each.seconds) / len(each.seconds):.3g} s"
            known = f" ± {each.interval * 100:.1f} %" if len(each.seconds) > 1 else ""
            runs = f"{len(each.seconds)} runs" if len(each.seconds) > 1 else "one run"
            complain(f"{name}: {times}{known} of the busiest worker, {runs}.")
        complain(f"everything is in {os.path.relpath(folder)}; next: chathpc scale {os.path.relpath(folder)}")
    return 0


def _always() -> dict[str, Any]:
    """What holds for every measurement."""
    from chathpc.measure.live import Direct
    from chathpc.sandbox import Limits

    limits = Limits(seconds=float("inf"), output=_KEPT)
    return {"runner": Direct(reads="file"), "limits": limits, "sources": _sources(Path.cwd())}


def _elapsed(measured: Measured, place: Path) -> float:
    """Seconds of a run at `place` as chathpc scale will tell them; where the profile does not tell, those of the clock."""
    from chathpc.adapters.load import load
    from chathpc.comparison.run import Run as Compared
    from chathpc.profile.metric import Unit
    from chathpc.scale.loss import elapsed_of
    from chathpc.scale.series import Run, named_values

    profile = load(measured.path)
    if profile.time is None or profile.time.unit != Unit.SECONDS:
        return measured.seconds
    run = Run(place, Compared(profile, profile.time), named_values(place.parent.name))
    return elapsed_of(run) or measured.seconds


def _series_folder(output: Path | None) -> Path:
    """A new folder for a series; UsageError for one that exists and holds something."""
    if output is not None:
        if output.exists() and not (output.is_dir() and not any(output.iterdir())):
            raise UsageError(f"{output} exists.", hint="A result is never overwritten: name another folder with -o.")
        return output.absolute()
    number = 1
    while (folder := Path.cwd() / f"chathpc-series-{number}").exists():
        number += 1
    return folder


def _refuse_idle_options(ctx: click.Context, explained: bool, varied: tuple[str, ...]) -> None:
    """Options of the report without a report, and of a series without one, would be passed over in silence."""
    given = {
        option.name
        for option in ctx.command.params
        if option.name and ctx.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE
    }
    if not varied and given & {"interval", "most"}:
        raise UsageError("--interval and --most are about a series.", hint="Add --vary NAME=N,N.")
    if varied and given & {"kernel", "launches", "explained", "no_overhead"}:
        raise UsageError(
            "--vary excludes --kernel, --launches, --no-overhead and --explain.", hint="Give it without them."
        )
    if explained:
        return
    for name in ("report", *(str(option.name) for option in _HANDED)):
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise UsageError(
                f"--{'format' if name == 'form' else name.replace('_', '-')} is about the report.",
                hint="Add --explain.",
            )


def _sources(folder: Path) -> Path:
    """Where sources are looked for: the folder, or the whole working tree of git that it lies in, but no home folder."""
    for above in (folder, *folder.parents):
        if above == Path.home() or above == Path(above.anchor):
            break
        if (above / ".git").exists():
            return above
    return folder


def _tell(measured: Measured, explained: bool) -> None:
    """What was measured, how, and where it is."""
    from chathpc.profile.numbers import seconds

    rate = "" if measured.rate is None else f" at {measured.rate:g} samples per second and thread"
    cost = measured.overhead
    own = (
        ""
        if cost is None or cost.start_up is None
        else f", of which {measured.tool} took {seconds(cost.start_up)} to start and to end"
    )
    # Waits for a core are no part of the program's time, neither with the profiler nor without.
    alone = (
        ""
        if cost is None
        else f"{own}; without waits for a core, estimated by idle cores, the program took {seconds(mean(cost.under))}, alone {seconds(cost.seconds)}: {cost}"
    )
    complain(f"{', '.join(measured.events)} by {measured.tool}{rate}: {seconds(measured.seconds)}{alone}.")
    for remark in measured.remarks:
        complain(remark)
    where = os.path.relpath(measured.folder)
    complain(
        f"everything is in {where}"
        + ("." if explained else f"; next: chathpc explain {os.path.relpath(measured.path)}")
    )
    sys.stderr.flush()
