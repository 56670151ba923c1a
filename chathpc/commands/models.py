"""`chathpc models`: the language models of this machine."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol

import click

if TYPE_CHECKING:
    from chathpc.llm.fitness import Trial
    from chathpc.llm.weights import Weights


@click.group()
def models() -> None:
    """List, fetch and test local language models."""


@models.command("list")
def list_models() -> None:
    """Show the models that chathpc can fetch, which are here, and the engines that run them."""
    from chathpc.llm.engine import ENGINES, INSTALL_HINT, engine_version, installed_engines
    from chathpc.llm.settings import load_settings
    from chathpc.llm.weights import installed_file, known_weights, models_folder

    folder = models_folder(load_settings().models)
    engines = installed_engines()
    rows = [("NAME", "SIZE", "LICENCE", "INSTALLED", "ENGINE", "")]
    for weights in known_weights():
        here = installed_file(weights, folder) is not None
        size = f"{weights.bytes / 1e6:.0f} MB"
        rows.append(
            (
                weights.name,
                size,
                weights.licence,
                "yes" if here else "no",
                engines[0] if engines else "-",
                weights.about,
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        click.echo("  ".join([*cells, row[5]]).rstrip())
    click.echo(f"\nFolder: {folder or 'none; set CHATHPC_MODELS'}")
    found = ", ".join(f"{ENGINES[name]} {engine_version(name)}" for name in engines)
    click.echo(f"Engine: {found or 'none; ' + INSTALL_HINT}")


@models.command()
@click.argument("name", required=False)
@click.option("--from", "mirror", metavar="WHERE", help="A folder, a file or a URL to look at first.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar.")
def pull(name: str | None, mirror: str | None, quiet: bool) -> None:
    """Fetch the model NAME (without it, the default one) and print its path.

    A download that was interrupted is continued. What arrives is kept only if its SHA-256 sum is right.
    """
    from chathpc.llm.settings import load_settings
    from chathpc.llm.sources import sources_of
    from chathpc.llm.weights import find_weights, models_folder
    from chathpc.llm.weights import pull as pull_weights

    settings = load_settings({"mirror": mirror})
    weights = find_weights(name)
    with _progress(weights, quiet=quiet) as progress:
        path = pull_weights(
            weights, models_folder(settings.models), sources_of(weights, settings.mirror), progress=progress
        )
    click.echo(path)


@models.command()
@click.argument("name", required=False)
def path(name: str | None) -> None:
    """Print the path of the model NAME (without it, of the default one)."""
    from chathpc.llm.settings import load_settings
    from chathpc.llm.spec import find_local
    from chathpc.llm.weights import find_weights

    _, file = find_local(name or find_weights().name, load_settings())
    click.echo(file)


@models.command()
@click.argument("model", metavar="[NAME|SPEC]", required=False)
@click.option("--base-url", metavar="URL", help="The OpenAI-compatible server of openai:MODEL.")
@click.option("--api-key-file", metavar="FILE", type=click.Path(), help="File with its key, of mode 0600.")
def test(model: str | None, base_url: str | None, api_key_file: str | None) -> None:
    """Have a model explain five invented profiles, within two minutes, and remember what it is fit for."""
    from chathpc.commands.progress import Progress
    from chathpc.errors import ModelUnavailableError
    from chathpc.llm import fitness
    from chathpc.llm.settings import load_settings
    from chathpc.llm.spec import PULL_HINT, resolve
    from chathpc.trial import examine

    known = model is None or model in ("auto", "local") or ":" in model
    settings = load_settings(
        {"llm": model if known else f"local:{model}", "base_url": base_url, "api_key_file": api_key_file}
    )
    choice = resolve(None, settings)
    if choice.backend is None:
        raise ModelUnavailableError(choice.note or "There is no model to test.", hint=PULL_HINT)
    with Progress() as progress:
        progress("asking the model to explain invented profiles (two minutes at most)")
        result = examine(choice.backend, deadline=settings.deadline)
    kept = fitness.remember(choice.identity, result)
    speed, wait = result.tokens_per_second, result.first_token
    click.echo(f"model           {choice.backend.label}")
    click.echo(f"speed           {'unknown' if speed is None else f'{speed:.1f} tokens/s'}")
    click.echo(f"first token     {'never' if wait is None else f'{wait:.1f} s'}")
    click.echo(f"prose           {_trial_in_words(result.prose)}")
    click.echo(f"JSON            {_trial_in_words(result.structured)}")
    click.echo(f"fit for         {', '.join(result.forms) or 'neither prose nor structured answers'}")
    click.echo(f"test took       {result.seconds:.0f} s")
    if kept is None:
        click.echo("The result could not be kept: there is no cache folder that can be written.", err=True)


def _trial_in_words(trial: Trial) -> str:
    if not trial.answers:
        return "not asked: the time was up"
    rate = trial.grounding_rate
    holds = "no sentence" if rate is None else f"{trial.kept} of {trial.sentences} sentences hold ({rate:.0%})"
    return f"{trial.formed} of {trial.answers} answers in time and in form, {holds}"


class _Progress(Protocol):
    def __call__(self, done: int, source: str, /) -> None: ...


def _progress(weights: Weights, *, quiet: bool) -> AbstractContextManager[_Progress]:
    """A progress bar on standard error; nothing where that is no terminal."""
    if quiet or not sys.stderr.isatty():
        return nullcontext(lambda done, source: None)
    return _Bar(weights)


class _Bar:
    def __init__(self, weights: Weights) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(weights.name, total=weights.bytes)

    def __enter__(self) -> _Progress:
        self._bar.start()
        return self._show

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def _show(self, done: int, source: str, /) -> None:
        self._bar.update(self._task, completed=done, description=source)
