"""What chat and ask share: their options, and how a conversation begins with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chathpc.commands.allocation import keep_freed_memory
from chathpc.commands.output import quiet_option
from chathpc.commands.paths import PROFILE
from chathpc.commands.source import source_option

if TYPE_CHECKING:
    from chathpc.chat.asker import Asker
    from chathpc.chat.conversation import Conversation
    from chathpc.commands.progress import Progress
    from chathpc.llm.price import Notice
    from chathpc.llm.settings import Settings


@dataclass(frozen=True, slots=True)
class ConversationOptions:
    """The options as they were given."""

    compared: tuple[Path, ...]
    llm: str | None
    base_url: str | None
    confidential: str | None
    patterns: Path | None
    source: tuple[Path, ...]
    budget: int | None
    quiet: bool

    def begin(
        self,
        paths: Sequence[Path],
        progress: Progress,
        *,
        asker: Asker,
        resume: Path | None = None,
        notice: Notice | None = None,
    ) -> tuple[Conversation, dict[str, list[str]], str, Settings]:
        """As open_conversation, and the settings; raises what that raises."""
        keep_freed_memory(paths)
        from chathpc.chat.opening import open_conversation
        from chathpc.llm.settings import load_settings

        given = {"base_url": self.base_url, "confidential": self.confidential}
        settings = load_settings({**given, "patterns": self.patterns, "source": self.source})
        begun = open_conversation(
            paths,
            compared=self.compared,
            llm=self.llm,
            settings=settings,
            budget=self.budget,
            resume=resume,
            progress=progress,
            asker=asker,
            notice=notice,
        )
        return *begun, settings


def conversation_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: --compare, --llm, --base-url, --confidential, --patterns, --source, --budget, -q; the command gets them as `options`."""
    place = click.Path(path_type=Path)

    @wraps(function)
    def command(**given: Any) -> Any:
        options = ConversationOptions(**{field.name: given.pop(field.name) for field in fields(ConversationOptions)})
        return function(options=options, **given)

    for option in (
        quiet_option,
        click.option(
            "--budget", metavar="TOKENS", type=click.IntRange(min=0), help="What the model may read and write."
        ),
        source_option,
        click.option("--patterns", metavar="DIR", type=place, help="Folder with patterns of your own."),
        click.option(
            "--confidential",
            type=click.Choice(["none", "default", "all"]),
            help="What is replaced by placeholders for a hosted model; see explain.",
        ),
        click.option("--base-url", metavar="URL", help="Server of openai:MODEL, if it is not OpenAI's."),
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
        command = option(command)
    return command
