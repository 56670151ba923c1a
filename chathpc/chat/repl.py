"""The conversation at a terminal or in a pipe: lines in, answers out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.chat import slash
from chathpc.chat.conversation import Conversation, Step
from chathpc.chat.record import Answer, save
from chathpc.chat.render import answer_text, help_text, statements_text, step_text, words_text
from chathpc.errors import ChathpcError
from chathpc.profile import numbers
from chathpc.profile.profile import Profile
from chathpc.prompts.untrusted import quote

if TYPE_CHECKING:
    from chathpc.llm.backend import Backend
    from chathpc.reports.style import Style

_OPTION = re.compile(r"(metric|limit)=")
#: Characters of a line that stand above its answer.
_LONGEST_ECHO = 400

Write = Callable[[str], None]
Complain = Callable[[str, str], None]


class Repl:
    """Answers lines one after the other.

    `write` takes answers, `complain` messages and hints about what was typed. `load` reads the profiles that /diff names,
    `choose` finds the model that /model names (None: none). With `live` an answer is written piece by piece as it comes, and
    Ctrl-C stops it and not the program.
    """

    def __init__(
        self,
        conversation: Conversation,
        style: Style,
        *,
        write: Write,
        complain: Complain,
        load: Callable[[Sequence[Path]], Profile],
        choose: Callable[[str], Backend | None],
        live: bool = False,
    ) -> None:
        self.conversation = conversation
        self.style = style
        self.compared: dict[str, list[str]] = {}
        self._write = write
        self._complain = complain
        self._load = load
        self._choose = choose
        self._live = live

    def run(self, lines: Iterable[str]) -> None:
        """Answer `lines` until they end, or until /quit."""
        for line in lines:
            if not self.answer(line):
                return

    def answer(self, line: str) -> bool:
        """Answer one line; False if it was the last one. What is wrong with a line is said, and no error."""
        line = line.strip()
        if not line or line.startswith("#"):
            return True
        if not self._live:  # what is typed stands on the terminal already
            self._write(self.style.prose(f"> {quote(line, longest=_LONGEST_ECHO)}") + "\n")
        try:
            if line.startswith("/"):
                return self._command(slash.parse(line), line)
            self._ask(line)
        except ChathpcError as error:
            self._complain(error.message, error.hint)
        except KeyboardInterrupt:
            if not self._live:
                raise
            self._complain("stopped", "")
        return True

    # -- questions -----------------------------------------------------------------------------------------

    def _ask(self, line: str) -> None:
        if not self._live:
            self._write(answer_text(self.conversation.ask(line), self.style) + "\n")
            return
        said: list[str] = []

        def step(done: Step) -> None:
            self._write(step_text(done.result, self.style) + "\n")

        def sentence(text: str) -> None:
            said.append(text)
            self._write(self.style.prose(text) + "\n")

        answer = self.conversation.ask(line, on_step=step, on_sentence=sentence)
        rest = words_text(answer, self.style, said=not said)
        self._write(f"{rest}\n" if rest else "")

    # -- commands ------------------------------------------------------------------------------------------

    def _command(self, typed: slash.Typed, line: str) -> bool:
        name, words = typed.command.name, typed.words
        if name == "quit":
            return False
        if name == "diff" and words:
            line = self._diff(words)
        own = {
            "help": self._help,
            "statements": self._statements,
            "model": self._model,
            "budget": self._budget,
            "save": self._save,
        }.get(name)
        if own is None:
            self._ask(line)
        else:
            own(words)
        return True

    def _diff(self, words: Sequence[str]) -> str:
        """Load the profile that is named, unless it is loaded already; the line that compares with it."""
        options = [word for word in words if _OPTION.match(word)]
        paths = [word for word in words if word not in options]
        name = " ".join(paths)
        if paths and name not in self.conversation.session.others:
            self.compare_with([Path(path).expanduser() for path in paths], name)
        return " ".join(["/diff", *([shlex.quote(name)] if name else []), *map(shlex.quote, options)])

    def compare_with(self, paths: Sequence[Path], name: str) -> None:
        """Load a profile to compare with."""
        self.conversation.session.others[name] = self._load(paths)
        self.compared[name] = [str(path) for path in paths]

    def _help(self, words: Sequence[str]) -> None:
        self._write(help_text(self.style) + "\n")

    def _statements(self, words: Sequence[str]) -> None:
        worded = [turn for turn in self.conversation.turns if turn.statements]
        last: Answer | None = next(reversed(worded), None)
        nothing = "No model has worded an answer yet.\n"
        self._write(self.style.fit(nothing) if last is None else statements_text(last, self.style))

    def _model(self, words: Sequence[str]) -> None:
        if words:
            self.conversation.backend = self._choose(words[0])
        backend = self.conversation.backend
        self._write(self.style.prose(f"Model: {'none' if backend is None else backend.label}.") + "\n")

    def _budget(self, words: Sequence[str]) -> None:
        if words:
            text = words[0].replace(",", "").replace("_", "")
            if not text.isdecimal() or len(text) > 12:  # a trillion
                self._complain("A budget is a number of tokens.", "/budget 50000")
                return
            self.conversation.budget = int(text)
        used, budget = self.conversation.used, self.conversation.budget
        self._write(self.style.prose(f"{numbers.count(used)} of {numbers.count(budget)} tokens used.") + "\n")

    def _save(self, words: Sequence[str]) -> None:
        if not words:
            self._complain("/save needs a file.", "/save FILE")
            return
        path = Path(" ".join(words)).expanduser()
        save(path, self.conversation.record(self.compared))
        turns = len(self.conversation.turns)
        self._write(self.style.prose(f"Saved {turns} answer{'s' if turns != 1 else ''} to {path}.") + "\n")
