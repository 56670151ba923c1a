"""What chat and ask share: their options, and how a conversation begins with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chathpc.commands.allocation import keep_freed_memory
from chathpc.commands.options import (
    PROFILE,
    base_url_option,
    confidential_option,
    patterns_option,
    quiet_option,
    source_option,
)

if TYPE_CHECKING:
    from chathpc.chat.conversation import Conversation
    from chathpc.llm.settings import Settings


def conversation_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: adds `-q`, and what `begin` takes: --compare, --llm, --base-url, --confidential, --patterns, --source, --budget."""
    for option in (
        quiet_option,
        click.option(
            "--budget", metavar="TOKENS", type=click.IntRange(min=0), help="What the model may read and write."
        ),
        source_option,
        patterns_option,
        confidential_option("; see explain."),
        base_url_option,
        click.option("--llm", metavar="SPEC", help="Model: none, local[:MODEL], openai:MODEL, auto (default)."),
        click.option(
            "--compare",
            "compared",
            metavar="PATH",
            multiple=True,
            type=PROFILE,
            help="Another profile to compare with.",
        ),
    ):
        function = option(function)
    return function


def begin(
    paths: Sequence[Path],
    *,
    base_url: str | None,
    confidential: str | None,
    patterns: Path | None,
    source: tuple[Path, ...],
    **asked: Any,
) -> tuple[Conversation, dict[str, list[str]], str, Settings]:
    """As open_conversation, which gets what else is asked, and the settings; raises what that raises."""
    keep_freed_memory(paths)
    from chathpc.chat.opening import open_conversation
    from chathpc.llm.settings import load_settings

    given = {"base_url": base_url, "confidential": confidential, "patterns": patterns, "source": source}
    settings = load_settings(given)
    return *open_conversation(paths, settings=settings, **asked), settings
