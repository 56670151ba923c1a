"""The options that chat and ask share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])


def conversation_options(function: Function) -> Function:
    """Decorator: --compare, --llm, --base-url, --confidential, --patterns, --budget, -q."""
    place = click.Path(path_type=Path)
    for option in (
        click.option("-q", "--quiet", is_flag=True, help="No progress on stderr."),
        click.option(
            "--budget", metavar="TOKENS", type=click.IntRange(min=0), help="What the model may read and write."
        ),
        click.option("--patterns", metavar="DIR", type=place, help="Folder with patterns of your own."),
        click.option(
            "--confidential",
            type=click.Choice(["none", "default", "all"]),
            help="What a hosted model gets placeholders for; see explain.",
        ),
        click.option("--base-url", metavar="URL", help="Server of openai:MODEL, if it is not OpenAI's."),
        click.option("--llm", metavar="SPEC", help="Model: none, local[:MODEL], openai:MODEL, auto (default)."),
        click.option(
            "--compare", "compared", metavar="PATH", multiple=True, type=place, help="Another profile to compare with."
        ),
    ):
        function = option(function)
    return function
