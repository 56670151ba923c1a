"""Line editing at a terminal: history in a file of the user's own, Ctrl-C and Ctrl-D, and what may follow what was typed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from chathpc.chat.index import short_name
from chathpc.chat.session import Session
from chathpc.chat.slash import COMMANDS
from chathpc.chat.tools import TOOLS
from chathpc.prompts.untrusted import quote

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


#: What a menu can show.
MOST = 20


def completions(line: str, session: Session) -> tuple[str, list[str]]:
    """The end of `line` that is completed, and what may stand in its place, the best first."""
    if line.startswith("/") and " " not in line:
        return line, [f"/{name}" for name in COMMANDS if name.startswith(line[1:].casefold())][:MOST]
    word = line.rsplit(" ", 1)[-1]
    if not line.startswith("/"):
        return word, _names(word, session) if len(word) > 1 else []
    name = line[1:].partition(" ")[0]
    command = COMMANDS.get(name.casefold())
    if command is None or not command.tool:
        return word, []
    if "=" in word:
        option, _, begun = word.partition("=")
        return begun, _values(command.tool, option, begun, session)
    offered = _VALUES.get(command.name, _places)(word, session) if command.rest or command.name in _VALUES else []
    fields = [f"{field}=" for field in TOOLS[command.tool].arguments.model_fields if field != command.rest]
    return word, [*offered, *(field for field in fields if word and field.startswith(word))][:MOST]


def _names(begun: str, session: Session) -> list[str]:
    """Functions whose name or short form begins with the word, those with most time first; a name with spaces in quotes."""
    folded = begun.lstrip("\"'`").casefold()
    found = []
    for name in session.index.names:
        if name.casefold().startswith(folded) or short_name(name).casefold().startswith(folded):
            found.append(_typed(name, session))
            if len(found) == MOST:
                break
    return list(dict.fromkeys(found))


def _typed(name: str, session: Session) -> str:
    """A name as it is typed: its short form where that is enough, in quotes where it has spaces; nothing that acts on a terminal."""
    short = short_name(name)
    text = quote(short if len(session.index.find(short)) == 1 else name)
    return f'"{text}"' if " " in text and '"' not in text else text


def _places(begun: str, session: Session) -> list[str]:
    files = [quote(name) for name in session.files if begun and name.startswith(begun.casefold())]
    return [*_names(begun, session), *files][:MOST]


def _metrics(begun: str, session: Session) -> list[str]:
    return [name for name in session.additive if name.startswith(begun.casefold())][:MOST]


def _of_top(begun: str, session: Session) -> list[str]:
    return [*_values("top", "by", begun.casefold(), session), *_metrics(begun, session)]


def _problems(begun: str, session: Session) -> list[str]:
    from chathpc.diagnosis.catalogue import extended, ids

    with extended(session.patterns):
        return [name for name in ids() if name.startswith(begun.casefold())][:MOST]


_VALUES: dict[str, Callable[[str, Session], list[str]]] = {
    "top": _of_top,
    "metrics": _metrics,
    "evidence": lambda begun, of: [each.id for each in of.diagnosis.evidence if each.id.startswith(begun.upper())],
    "catalogue": _problems,
    "diff": lambda begun, of: [quote(name) for name in of.others if name.startswith(begun)],
    "findings": _problems,
    "activities": lambda begun, of: _values("activities", "kind", begun, of),
    "query": lambda begun, of: [],
}


def _values(tool: str, option: str, begun: str, session: Session) -> list[str]:
    """Values of an option: those of a choice, or metrics."""
    field = TOOLS[tool].arguments.model_fields.get(option)
    if field is None:
        return []
    if option == "metric":
        return _metrics(begun, session)
    return [str(value) for value in get_args(field.annotation) if str(value).startswith(begun)]
