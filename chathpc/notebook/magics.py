"""`%load_ext chathpc`: `%chathpc` and `%ask`, a profile that is opened once and questions to it, and how our types are shown."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from chathpc.errors import ChathpcError, UsageError
from chathpc.notebook.display import register, unregister
from chathpc.profile.text import clean

if TYPE_CHECKING:
    from chathpc.chat.conversation import Conversation
    from chathpc.chat.record import Answer
    from chathpc.chat.tools import Result
    from chathpc.comparison.record import Diff
    from chathpc.profile.profile import Profile
    from chathpc.report import Report


#: What `%chathpc` does besides the questions of chat: how it is written, and what it does.
_OWN = (
    ("explain PATH...", "open a profile and give its report"),
    ("open PATH...", "open a profile and give it"),
    ("diff BEFORE [AFTER]", "compare two profiles, or one with the open one"),
    ("model SPEC", "the model that words answers of %ask: none (default), local, openai:MODEL, auto"),
)


class Magics:
    """What the magics of one notebook share: the profile that was opened last, and the conversation about it."""

    def __init__(self) -> None:
        self._conversation: Conversation | None = None
        self._model = "none"

    @property
    def conversation(self) -> Conversation:
        """The conversation about the open profile; UsageError while there is none."""
        if self._conversation is None:
            raise UsageError("No profile is open.", hint="Open one: %chathpc open PATH")
        return self._conversation

    def chathpc(self, line: str) -> Report | Profile | Diff | Answer | Result | None:
        """`%chathpc explain PATH...`, `open PATH...`, `diff BEFORE [AFTER]`, `model SPEC`, or a question of chat: `top line 5`."""
        verb, _, rest = line.strip().partition(" ")
        match verb:
            case "":
                return self._help()
            case "explain":
                return self._open(rest).session.report
            case "open":
                return self._open(rest).session.measured
            case "diff":
                return self._diff(rest)
            case "model":
                self._choose(rest)
                return None
        return self._look_up(verb, rest)

    def ask(self, line: str, cell: str | None = None) -> Answer:
        """`%ask QUESTION`, or the question as a cell below `%%ask`."""
        question = " ".join(f"{line} {cell or ''}".split())
        if not question:
            raise UsageError("There is no question.", hint="%ask where is the time?")
        return self.conversation.ask(question)

    def _open(self, rest: str) -> Conversation:
        from chathpc.chat.asker import NOTEBOOK
        from chathpc.chat.opening import open_conversation
        from chathpc.llm.settings import load_settings

        paths = _paths(rest, at_least=1)
        self._conversation = open_conversation(paths, llm=self._model, settings=load_settings(), asker=NOTEBOOK)[0]
        return self._conversation

    def _diff(self, rest: str) -> Diff:
        import chathpc

        before, *after = _paths(rest, at_least=1)
        if len(after) > 1:
            raise UsageError(
                f"Expected two profiles, but {1 + len(after)} were given.", hint="%chathpc diff BEFORE AFTER"
            )
        return chathpc.diff(before, after[0] if after else self.conversation.session.measured)

    def _choose(self, rest: str) -> None:
        from chathpc.chat.opening import choose
        from chathpc.llm.settings import load_settings
        from chathpc.llm.spec import alternatives

        spec = rest.strip() or "none"
        alternatives(spec)
        if self._conversation is not None:
            self._conversation.backend = choose(spec, self._conversation.session, load_settings())[0]
        self._model = spec

    def _look_up(self, verb: str, rest: str) -> Answer:
        from chathpc.chat.slash import COMMANDS

        if verb not in COMMANDS or not COMMANDS[verb].tool:
            raise UsageError(f"There is no '%chathpc {verb[:40]}'.", hint="%chathpc alone lists what there is.")
        return self.conversation.ask(f"/{verb} {rest}")

    def _help(self) -> Result:
        from chathpc.chat.slash import COMMANDS
        from chathpc.chat.tools import Column, Result

        asked = [(f"{one.name} {one.usage}", one.help) for one in COMMANDS.values() if one.tool and one.name != "diff"]
        columns = (Column("%chathpc ..."), Column("what it does", prose=True))
        return Result("Besides %ask QUESTION, which takes plain language:", columns, (*_OWN, *asked))


def _paths(text: str, *, at_least: int) -> list[Path]:
    """The paths in `text`, quoted as in a shell."""
    try:
        paths = [Path(word) for word in shlex.split(text)]
    except ValueError:
        raise UsageError("A quotation mark is open.", hint="Quote paths with blanks: 'my run'.") from None
    if len(paths) < at_least:
        raise UsageError("No path is given.", hint="%chathpc explain PATH")
    return paths


Value = TypeVar("Value")
#: `%ask …`, and `answer = %ask …`.
_ASK = re.compile(r"\s*(?:\w+\s*=\s*)?%ask\s")
_MAGICS = (("chathpc", "line"), ("ask", "line_cell"))


def load(shell: Any) -> None:
    """Make IPython's `shell` know `%chathpc`, `%ask` and how reports, profiles, trees and answers look."""
    magics = Magics()
    for name, kind in _MAGICS:
        shell.register_magic_function(_in_one_sentence(getattr(magics, name)), magic_kind=kind, magic_name=name)
    shell.input_transformers_cleanup.append(without_question_mark)
    register(shell.display_formatter)


def unload(shell: Any) -> None:
    """Take that back."""
    for name, kind in _MAGICS:
        for one in kind.split("_"):
            shell.magics_manager.magics[one].pop(name, None)
    if without_question_mark in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(without_question_mark)
    unregister(shell.display_formatter)


def without_question_mark(lines: list[str]) -> list[str]:
    """The lines of a cell, `%ask` without the question mark at its end: IPython would take that for a call for help."""
    return [f"{line.rstrip().rstrip('?')}\n" if _ASK.match(line) else line for line in lines]


def _in_one_sentence(magic: Callable[..., Value]) -> Callable[..., Value]:
    """`magic` with our errors as IPython's UsageError, which is shown without a traceback."""

    @wraps(magic)
    def run(*arguments: Any) -> Value:
        try:
            return magic(*arguments)
        except ChathpcError as error:
            from IPython.core.error import UsageError

            raise UsageError(clean(f"{error.message} {error.hint}".rstrip())) from None

    return run
