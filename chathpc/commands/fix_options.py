"""Options that all commands share which try changes of a program."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, TypeVar

import click

from chathpc.errors import Terminated

Function = TypeVar("Function", bound=Callable[..., Any])


@contextmanager
def ended_by_term() -> Iterator[None]:
    """Let SIGTERM, with which batch systems end jobs, do what Ctrl-C does: what is done is told. Where signals cannot be had nothing changes."""

    def end(number: int, frame: FrameType | None) -> None:
        raise Terminated

    before = None
    with suppress(ValueError):  # in another thread than the first
        before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def trial_options(seconds: float, of: str) -> Callable[[Function], Function]:
    """Decorator: adds `--rounds`, `--time-limit` (by default so many seconds; `of` says what they are for) and `--no-sandbox`."""
    rounds = click.option(
        "--rounds",
        metavar="N",
        type=click.IntRange(1, 20),
        default=8,
        show_default=True,
        help="Changes that build on each other.",
    )
    limit = click.option(
        "--time-limit",
        metavar="S",
        type=click.FloatRange(1.0),
        default=seconds,
        show_default=True,
        help=f"Seconds {of}.",
    )
    sandbox = click.option(
        "--no-sandbox", is_flag=True, help="Build and run with all your rights. Only for code that you trust."
    )
    return lambda function: rounds(limit(sandbox(function)))


def agent_options(function: Function) -> Function:
    """Decorator: adds `--guidance`, `--critic`, `--turns` and `--tokens`, which say how the strategy agent works."""
    guidance = click.option(
        "--guidance",
        type=click.Choice(["own", "catalogue"]),
        default="own",
        show_default=True,
        help="What guides the agent: its own knowledge, or also the catalogue's suggestions.",
    )
    critic = click.option(
        "--critic", metavar="SPEC", help="Model that reviews the agent's submissions before they are tried."
    )
    turns = click.option(
        "--turns",
        metavar="N",
        type=click.IntRange(1, 1000),
        default=60,
        show_default=True,
        help="Maximum number of agent turns.",
    )
    tokens = click.option(
        "--tokens",
        metavar="N",
        type=click.IntRange(1000),
        default=1_000_000,
        show_default=True,
        help="Maximum number of tokens that the agent reads and writes.",
    )
    return guidance(critic(turns(tokens(function))))
