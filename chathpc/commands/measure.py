"""`chathpc measure`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chathpc.commands.explain import command as explain
from chathpc.commands.streams import complain
from chathpc.errors import UsageError

if TYPE_CHECKING:
    from chathpc.measure import Measured, Tool

#: Options of explain that are handed on; its -o is --report here, because -o is where the measurement goes.
_HANDED = [one for one in explain.params if isinstance(one, click.Option) and one.name not in ("output", "quiet")]
#: Without a limit of ours; the user's own hold, and Ctrl-C (bytes of output that are kept).
_KEPT = 64 << 20


@click.command("measure", context_settings={"allow_interspersed_args": False})
@click.argument("program", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("-o", "--output", metavar="DIR", type=click.Path(path_type=Path), help="Default: chathpc-measure-NAME-N.")
@click.option(
    "--tool",
    type=click.Choice(["auto", "hpctoolkit", "perf", "nsys", "ncu"]),
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

    With a report: chathpc measure --explain --llm none -- mpirun -n 4 ./app

    Exits with the status of the program.
    """
    _refuse_idle_options(ctx, explained)
    from chathpc.measure import measure
    from chathpc.measure.live import Direct
    from chathpc.sandbox import Limits

    def tell(stage: str) -> None:
        if not quiet and stage == "running the program alone":
            complain("running the program alone first, for the overhead; --no-overhead skips this.")

    # With a report on stdout the program's own words go to stderr: stdout is the answer.
    stdout = 2 if explained and report in (None, "-") else 1
    measured = measure(
        program,
        Path.cwd(),
        runner=Direct(reads="file"),
        shown=Direct(shown=(stdout, 2), reads="own"),
        output=output,
        tool=tool,
        rate=rate,
        kernel=kernel,
        launches=launches,
        overhead=not no_overhead and kernel is None and tool != "ncu",
        limits=Limits(seconds=float("inf"), output=_KEPT),
        sources=_sources(Path.cwd()),
        progress=tell,
    )
    if not quiet:
        _tell(measured, explained)
    if explained:
        ctx.invoke(explain, paths=(measured.path,), output=report, quiet=quiet, **handed)
    return measured.code if measured.code >= 0 else 128 - measured.code


command.params.extend(_HANDED)


def _refuse_idle_options(ctx: click.Context, explained: bool) -> None:
    """Options of the report without a report would be passed over in silence."""
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
        else f", of which {seconds(cost.start_up)} are its startup and shutdown"
    )
    alone = "" if cost is None else f"{own}; alone {seconds(cost.seconds)}: {cost}"
    complain(f"{', '.join(measured.events)} by {measured.tool}{rate}: {seconds(measured.seconds)}{alone}.")
    for remark in measured.remarks:
        complain(remark)
    where = os.path.relpath(measured.folder)
    complain(
        f"everything is in {where}"
        + ("." if explained else f"; next: chathpc explain {os.path.relpath(measured.path)}")
    )
    sys.stderr.flush()
