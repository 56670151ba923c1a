"""`chathpc models`: the language models of this machine."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

from chathpc.commands.options import PLACE, quiet_option
from chathpc.commands.streams import complain

if TYPE_CHECKING:
    from chathpc.llm.fitness import Reads
    from chathpc.llm.weights import Weights


@click.group("models")
def command() -> None:
    """List, fetch and test local language models."""


@command.command("list")
def list_models() -> None:
    """List the known models, what they have shown they can do, and the engines."""
    from chathpc.llm.engine import ENGINES, INSTALL_HINT, engine_version, installed_engines
    from chathpc.llm.settings import load_settings
    from chathpc.llm.weights import known_weights, models_folder

    folder = models_folder(load_settings().models)
    width = max(len(weights.name) for weights in known_weights())
    wide = shutil.get_terminal_size((_WIDE, 24)).columns >= _WIDE
    groups = (
        (True, "Tried by us: chathpc models pull NAME", ""),
        (
            False,
            "Larger, not tried (sizes: about): models pull NAME --path FILE or --sha256 SUM",
            "FROM" if wide else "USES",
        ),
    )
    for tried, heading, last in groups:
        click.echo(heading)
        click.echo(f"{'NAME'.ljust(width)}     SIZE   MEMORY  LICENCE     ABILITY   {last}".rstrip())
        for weights in known_weights():
            if (weights.sha256 is not None) == tried:
                click.echo(_row(weights, folder, width, source=wide and not tried))
        click.echo()
    click.echo(f"Folder: {folder or 'none; set CHATHPC_MODELS'}")
    found = ", ".join(f"{ENGINES[name]} {engine_version(name)}" for name in installed_engines())
    click.echo(f"Engine: {found or 'none; ' + INSTALL_HINT}")


#: Columns of a terminal in which the repositories of models have room too.
_WIDE = 120


def _row(weights: Weights, folder: Path | None, width: int, *, source: bool) -> str:
    """One model: what it has shown if it is here, and where it is from if there is room."""
    from chathpc.llm import fitness
    from chathpc.llm.spec import file_identity
    from chathpc.llm.weights import installed_file

    here = installed_file(weights, folder)
    shown = None if here is None else fitness.remembered(file_identity(here))
    state = "not here" if here is None else "untested" if shown is None else _ABILITIES[shown.ability]
    size, memory = f"{weights.bytes / 1e9:.1f} GB", f"{weights.memory:g} GB"
    last = weights.hub.repository if source and weights.hub is not None else weights.about
    return f"{weights.name.ljust(width)}  {size:>7}  {memory:>7}  {weights.licence:10}  {state:8}  {last}"


@command.command()
@click.argument("name", required=False)
@click.option("--from", "mirror", metavar="WHERE", help="A folder, file or URL to try first.")
@click.option("--path", "file", metavar="FILE", type=PLACE, help="Use this local file.")
@click.option(
    "--sha256", "sum_", metavar="SUM", help="Fetch a model that is only listed, and keep it if this is its checksum."
)
@quiet_option
def pull(name: str | None, mirror: str | None, file: Path | None, sum_: str | None, quiet: bool) -> None:
    """Fetch the model NAME (without it, the default one) and print its path.

    A download that was interrupted is continued. The file is kept only if its SHA-256 checksum matches.
    """
    from chathpc.llm.settings import load_settings
    from chathpc.llm.sources import sources_of
    from chathpc.llm.weights import find_weights, models_folder, pull_by_sum, take
    from chathpc.llm.weights import pull as pull_weights

    settings = load_settings({"mirror": mirror})
    weights, folder = find_weights(name), models_folder(settings.models)
    if file is not None:
        click.echo(take(weights, folder, file))
        return
    sources = sources_of(weights, settings.mirror)
    with _progress(weights, quiet=quiet) as progress:
        if sum_ is None:
            path = pull_weights(weights, folder, sources, progress=progress)
        else:
            path = pull_by_sum(weights, folder, sources, sum_.strip().lower(), progress=progress)
    click.echo(path)


@command.command()
@click.argument("name", required=False)
def path(name: str | None) -> None:
    """Print the path of the model NAME (without it, of the default one)."""
    from chathpc.llm.settings import load_settings
    from chathpc.llm.spec import find_local
    from chathpc.llm.weights import find_weights

    _, file = find_local(name or find_weights().name, load_settings())
    click.echo(file)


@command.command()
@click.argument("model", metavar="[NAME|SPEC]", required=False)
@click.option("--base-url", metavar="URL", help="The OpenAI-compatible server of openai:MODEL.")
@click.option("--api-key-file", metavar="FILE", type=click.Path(), help="File with its key, of mode 0600.")
@click.option(
    "--limit", metavar="SECONDS", type=click.FloatRange(min=1), help="Time for the test: 300, at a server 900."
)
def test(model: str | None, base_url: str | None, api_key_file: str | None, limit: float | None) -> None:
    """Test whether a model reads source or only retells facts, and remember it.

    `--llm auto` uses a local model only if it reads. It is asked about pieces of programs with a known fault and about the
    same programs without it, as a report asks, until the outcome is certain or the time is up.
    """
    from chathpc.commands.progress import Progress
    from chathpc.errors import ModelUnavailableError
    from chathpc.llm import fitness
    from chathpc.llm.settings import load_settings
    from chathpc.llm.spec import PULL_HINT, resolve
    from chathpc.reading.trial import LIMIT, LIMIT_SERVER, examine

    known = model is None or model in ("auto", "local") or ":" in model
    wanted = model if known else f"local:{model}"
    settings = load_settings({"llm": wanted, "base_url": base_url, "api_key_file": api_key_file})
    # What `auto` would take has been tested already.
    choice = resolve("local" if settings.llm == "auto" else settings.llm, settings)
    if choice.backend is None:
        raise ModelUnavailableError(choice.note or "There is no model to test.", hint=PULL_HINT)
    most = limit or (LIMIT_SERVER if choice.serves else LIMIT)
    with Progress() as progress:
        progress(f"asking the model about pieces of source ({most / 60:.0f} minutes at most)")
        result = examine(
            choice.backend,
            deadline=settings.deadline,
            limit=most,
            note=lambda text: progress(f"asking the model, {text}"),
        )
    kept = fitness.remember(choice.identity, result)
    speed, wait = result.tokens_per_second, result.first_token
    click.echo(f"model        {choice.backend.label}")
    click.echo(f"ability      {_ABILITIES[result.ability]}: {_MEANINGS[result.ability]}")
    for head, told in zip(("source", "", ""), _reads_in_words(result.reads, settings.deadline), strict=False):
        click.echo(f"{head:<13}{told}")
    click.echo(
        f"facts        {result.retells.told} of {result.retells.asked} retold in full (required: {100 * fitness.LEAST_RETOLD:.0f} %)"
    )
    click.echo(f"speed        {'unknown' if speed is None else f'{speed:.1f} tokens/s'}")
    click.echo(f"first token  {'never' if wait is None else f'{wait:.1f} s'}")
    click.echo(f"test took    {result.seconds:.0f} s")
    if kept is None:
        click.echo("The result could not be saved: no cache folder is writable.", err=True)


#: How an ability is called, and what follows from it.
_ABILITIES = {"reads": "reads", "retells": "retells", "none": "neither"}
_MEANINGS = {
    "reads": "it gets source and facts, and a report has its hypotheses",
    "retells": "it puts a few facts into prose where it is named (--llm local:NAME); auto does without it",
    "none": "auto does without it",
}


def _reads_in_words(reads: Reads, deadline: float) -> list[str]:
    from chathpc.llm.fitness import LEAST_ASKED, LEAST_RIGHT, MOST_BLAMED
    from chathpc.reading.trial import pieces

    told = [
        f"{reads.right} of {reads.asked} faulty pieces right, cause and line (required: {100 * LEAST_RIGHT:.0f} %)",
        f"{reads.blamed} of {reads.twins} healthy ones blamed (at most {100 * MOST_BLAMED:.0f} %)",
    ]
    half = len(pieces()) // 2
    if reads.enough or reads.settled(half - reads.asked, half - reads.twins):
        return told
    if reads.late:
        told.append(f"{reads.late} answers took longer than {deadline:.0f} s: CHATHPC_DEADLINE sets a longer time")
    else:
        told.append(f"time ran out before {LEAST_ASKED} of each: --limit SECONDS gives more")
    return told


class _Progress(Protocol):
    def __call__(self, done: int, source: str, /) -> None: ...


def _progress(weights: Weights, *, quiet: bool) -> AbstractContextManager[_Progress]:
    """A progress bar on standard error; where that is no terminal a line for each tenth of the file."""
    if quiet:
        return nullcontext(lambda done, source: None)
    return _bar(weights) if sys.stderr.isatty() else nullcontext(_in_lines(weights))


def _in_lines(weights: Weights) -> _Progress:
    told: set[int] = set()

    def progress(done: int, source: str, /) -> None:
        tenth = 10 * done // weights.bytes
        if tenth not in told:
            told.add(tenth)
            complain(f"{weights.name}: {done / 1e9:.1f} of {weights.bytes / 1e9:.1f} GB, from {source}")

    return progress


@contextmanager
def _bar(weights: Weights) -> Iterator[_Progress]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    described = TextColumn("{task.description}", markup=False)
    columns = (described, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(weights.name, total=weights.bytes)
        yield lambda done, source: bar.update(task, completed=done, description=source)
