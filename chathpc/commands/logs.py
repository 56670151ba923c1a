"""`chathpc logs`: what was sent to language models, and what they said."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from chathpc.commands.output import answer, answer_json, output_options
from chathpc.profile.text import clean

if TYPE_CHECKING:
    from chathpc.llm.log import Entry, Log

_FIRST = 60  # characters of an answer in a list


@click.group("logs")
def command() -> None:
    """Show what was sent to language models, and what they said.

    Prompts are kept as they were sent, with placeholders if there were any. Keys are never kept.
    """


@command.command("list")
@click.option(
    "-n", "number", metavar="N", type=click.IntRange(min=1), default=20, show_default=True, help="The last N."
)
@output_options(("text", "json"))
def list_entries(number: int, form: str, output: str | None) -> None:
    """List the last questions, the newest first."""
    entries = list(_log().entries())[-number:][::-1]
    if form == "json":
        return answer_json([asdict(entry) for entry in entries], output)
    lines = [_line(entry) for entry in entries] or ["The log is empty."]
    answer("\n".join(lines) + "\n", output)


@command.command()
@click.argument("wanted", metavar="ID")
@output_options(("text", "json"))
def show(wanted: str, form: str, output: str | None) -> None:
    """Show one question and its answer; ID may be its beginning, or `last`."""
    from chathpc.llm.log import find

    entry = find(_log(), wanted)
    if form == "json":
        return answer_json(asdict(entry), output)
    facts = [
        f"id            {entry.id}",
        f"time          {entry.time}",
        f"model         {entry.model}, {entry.label}",
        f"confidential  {entry.confidential}",
        f"tokens        {_count(entry.prompt_tokens)} of the prompt, {_count(entry.completion_tokens)} of the answer",
        f"seconds       {entry.seconds:.1f}",
        f"ended by      {entry.error or entry.finish}",
    ]
    parts = [("system", entry.system), ("prompt", entry.user), ("answer", entry.answer)]
    text = "\n".join([*facts, *(f"\n--- {name} ---\n{body}" for name, body in parts)])
    answer("\n".join(clean(line) for line in text.split("\n")) + "\n", output)


@command.command()
def path() -> None:
    """Print where the log is kept."""
    click.echo(_log().path)


@command.command()
def off() -> None:
    """Stop logging; existing entries stay until you remove them."""
    from chathpc.llm.log import turn

    turn(os.environ, on=False)


@command.command()
def on() -> None:
    """Keep a log again, unless the settings say log: false."""
    from chathpc.llm.log import turn

    turn(os.environ, on=True)


def _log() -> Log:
    from chathpc.errors import UsageError
    from chathpc.llm.log import log_of

    log = log_of(os.environ)
    if log is None:
        raise UsageError("There is no home folder to keep a log in.", hint="Set XDG_STATE_HOME.")
    return log


def _line(entry: Entry) -> str:
    said = " ".join((entry.error or entry.answer).split())
    shown = said if len(said) <= _FIRST else said[: _FIRST - 1] + "…"
    return clean(f"{entry.id}  {entry.model}  {entry.seconds:.1f} s  {shown}".rstrip())


def _count(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,}"
