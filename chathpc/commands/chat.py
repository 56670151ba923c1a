"""`chathpc chat`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chathpc.chat.asker import CHAT
from chathpc.commands.conversation import begin, conversation_options
from chathpc.commands.options import PLACE, PROFILE
from chathpc.commands.output import answer, style_for
from chathpc.commands.progress import Progress
from chathpc.commands.streams import complain

if TYPE_CHECKING:
    from chathpc.chat.session import Session

#: Bytes of a line that is read from a pipe; longer ones are cut.
_LONGEST_LINE = 100_000


@click.command("chat")
@click.argument("paths", metavar="[PATH...]", nargs=-1, type=PROFILE)
@conversation_options
@click.option("--resume", metavar="FILE", type=PLACE, help="Resume a conversation saved with /save.")
def command(paths: tuple[Path, ...], quiet: bool, **asked: Any) -> None:
    """Ask about a profile, line by line.

    Answers are looked up in the profile; a language model, if available, comments on them under its own name.
    Commands begin with a slash: /help lists them. In a pipe, each line of stdin is a question.

    For example: chathpc chat hpctoolkit-app-database

    In a script: echo /top | chathpc chat db --llm none
    """
    with Progress(quiet=quiet) as progress:
        conversation, compared, note, settings = begin(paths, progress=progress, asker=CHAT, **asked)
        from chathpc.chat.opening import choose, read
        from chathpc.chat.repl import Repl

    live = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
    repl = Repl(
        conversation,
        style_for(None),
        write=lambda text: answer(text, None),
        complain=complain,
        load=read,
        choose=lambda spec: choose(spec, conversation.session, settings)[0],
        live=live,
    )
    repl.compared = compared
    if live:
        repl.answer("/summary")
        if not quiet:
            words = f" {note[:1].upper()}{note[1:]}." if note else ""
            complain(f"ask, or /help; Ctrl-D ends.{words}")
        repl.run(_typed(conversation.session))
    else:
        repl.run(_piped())


def _typed(session: Session) -> Iterator[str]:
    from chathpc.chat.terminal import terminal_lines
    from chathpc.llm.places import state_folder

    folder = state_folder(os.environ)
    return terminal_lines(session, None if folder is None else folder / "history")


def _piped() -> Iterator[str]:
    """The lines of stdin; what is no UTF-8 is replaced."""
    if sys.stdin is None:
        return
    buffer = sys.stdin.buffer
    while line := buffer.readline(_LONGEST_LINE):
        yield line.decode("utf-8", "replace")
