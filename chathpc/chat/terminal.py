"""Line editing at a terminal: history in a file of the user's own, completion, Ctrl-C and Ctrl-D."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.chat.completion import completions
from chathpc.chat.session import Session

if TYPE_CHECKING:
    from prompt_toolkit.completion import CompleteEvent, Completer
    from prompt_toolkit.document import Document
    from prompt_toolkit.history import History

PROMPT = "> "
_PRIVATE = 0o600


def terminal_lines(session: Session, history: Path | None) -> Iterator[str]:
    """The lines that are typed. Ctrl-C discards the line, Ctrl-D ends."""
    from prompt_toolkit import PromptSession

    prompt: PromptSession[str] = PromptSession(
        PROMPT, completer=_completer(session), history=_history(history), complete_while_typing=False
    )
    while True:
        try:
            yield prompt.prompt()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def _history(path: Path | None) -> History:
    """What was typed before, in a file that nobody else can read; in memory where there can be none."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    if path is None:
        return InMemoryHistory()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Not through a link that somebody else laid there.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE)
        try:
            os.fchmod(descriptor, _PRIVATE)
        finally:
            os.close(descriptor)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))


def _completer(session: Session) -> Completer:
    from prompt_toolkit.completion import Completer, Completion

    class Names(Completer):
        """Offers what `completions` finds."""

        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
            """What may stand in the place of the word before the cursor."""
            word, found = completions(document.text_before_cursor, session)
            for text in found:
                yield Completion(text, start_position=-len(word))

    return Names()
