"""Slash commands: `/top line 5`, `/callers solve`, `/whatif solve 3x`, and what each of them asks a tool."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import get_args

from chathpc.chat.tools import TOOLS
from chathpc.errors import UsageError
from chathpc.profile.text import clean


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command: the tool that it calls (empty for commands to the program itself), how it is written, what it does.

    `rest` is the argument that takes all words which are no option.
    """

    name: str
    usage: str
    help: str
    tool: str = ""
    rest: str = ""


_ALL = (
    Command("summary", "[about=size|time|tool]", "what was measured, and the verdict; or one thing of the run", "summary"),
    Command("findings", "[N|WORDS] [part=fix|confidence]", "the problems that were found, number N in full, or whether there is one", "findings", "words"),
    Command("evidence", "[E7]", "the facts behind the findings, or one of them", "evidence", "id"),
    Command("top", "[function|line|loop|module|kernel] [N] [METRIC]", "where most of the time is", "top"),
    Command("activities", "[waiting|mpi|io|openmp|…]", "what kinds of work the time goes into", "activities", "kind"),
    Command("tree", "[PLACE] [depth=N] [by=loop]", "the call tree, or the part of it below a place", "tree", "place"),
    Command("callers", "FUNCTION", "who calls it", "callers", "name"),
    Command("callees", "FUNCTION", "whom it calls", "callees", "name"),
    Command("loops", "FUNCTION", "the loops that it is called in", "loops", "name"),
    Command("source", "PLACE", "source lines with their time", "source", "place"),
    Command("why", "PLACE", "why a place is slow: its time, findings, callers, and lines or calls", "why", "place"),
    Command("locations", '[PLACE] [who="rank 0"]', "how time is distributed over ranks and threads, or one against the others", "locations", "place"),
    Command("whatif", "PLACE [2x]", "the gain if it were so many times as fast (Amdahl)", "what_if", "place"),
    Command("diff", "[PATH...]", "compare with another profile (that one is before, this one after)", "compare", "other"),
    Command("timeline", "", "how long GPUs and calls were busy or idle", "timeline"),
    Command("files", "[by=size|read|written|opens]", "the files with most time, bytes or opens", "files"),
    Command("devices", "", "which GPUs the run used", "devices"),
    Command("metrics", "[WORD]", "what was measured", "metrics", "search"),
    Command("measured", "METRIC", "how much of it the run has, or a place (place=solve) or rank (who=\"rank 0\")", "measured", "metric"),
    Command("missing", "", "what the profile cannot show, and what would", "missing"),
    Command("examined", "", "which checks ran, and which could not", "examined"),
    Command("scaling", "", "what is known about more ranks or threads", "scaling"),
    Command("catalogue", "WORDS", "look up a performance problem or a term", "catalogue", "words"),
    Command("query", "JSON", 'contexts by a hatchet query: ["*", {"name": "solve*"}]', "query", "query"),
    Command("statements", "", "what became of each statement of the model's last answer"),
    Command("model", "[SPEC]", "the model that words answers; none, local, openai:MODEL"),
    Command("budget", "[TOKENS]", "tokens that the model may use and has used"),
    Command("save", "FILE", "save the conversation; --resume FILE goes on with it"),
    Command("help", "", "this list"),
    Command("quit", "", "the end"),
)  # fmt: skip

#: All slash commands by name.
COMMANDS: Mapping[str, Command] = {command.name: command for command in _ALL}

_OPTION = re.compile(r"([a-z_]{2,12})=(.*)", re.DOTALL)
_FACTOR = re.compile(r"(-?\d+(?:\.\d+)?)x", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Typed:
    """A slash command as typed: its words, and what they ask its tool."""

    command: Command
    words: tuple[str, ...]
    arguments: Mapping[str, object]


def parse(line: str, commands: str = "See /help.") -> Typed:
    """The command in `line`, which begins with a slash; UsageError, with the nearest command or where all `commands` are listed, if there is
    none.
    """
    name, _, rest = line.strip()[1:].partition(" ")
    command = COMMANDS.get(name.casefold())
    if command is None:
        near = get_close_matches(name.casefold(), COMMANDS, n=3, cutoff=0.6)
        hint = f"Nearest: {', '.join(f'/{one}' for one in near)}." if near else commands
        raise UsageError(f"There is no command '/{clean(name)[:40]}'.", hint=hint)
    if command.tool == "query":  # JSON, as it stands
        return Typed(command, (rest.strip(),), {"query": rest.strip()})
    words = _words(rest)
    return Typed(command, words, _arguments(command, words) if command.tool else {})


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:  # a quotation mark that is part of a name
        return tuple(text.split())


def _arguments(command: Command, words: tuple[str, ...]) -> dict[str, object]:
    fields = TOOLS[command.tool].arguments.model_fields
    given: dict[str, object] = {}
    rest: list[str] = []
    for word in words:
        option = _OPTION.fullmatch(word)
        if option and option[1] in fields:
            given[option[1]] = _value(option[2])
        elif command.tool == "top":
            given |= _of_top(word)
        elif command.tool == "what_if" and (factor := _FACTOR.fullmatch(word)):
            given["factor"] = float(factor[1])
        else:
            rest.append(word)
    if rest and command.rest:
        joined = " ".join(rest)
        counted = "number" in fields and joined.isdecimal()
        given["number" if counted else command.rest] = int(joined) if counted else joined
    elif rest:
        raise UsageError(
            f"/{command.name} takes no '{clean(rest[0])[:40]}'.", hint=f"/{command.name} {command.usage}".strip()
        )
    return given


def _of_top(word: str) -> dict[str, object]:
    """`/top lines 5 gpu.time`: words in any order."""
    if word.isdecimal():
        return {"limit": int(word)}
    kinds = get_args(TOOLS["top"].arguments.model_fields["by"].annotation)
    singular = word.casefold().removesuffix("s")
    if singular in kinds:
        return {"by": singular}
    if word.casefold() in ("inclusive", "itself"):
        return {"order": word.casefold()}
    return {"metric": word}


def _value(text: str) -> object:
    if text.isdecimal():
        return int(text)
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text)
    except ValueError:
        return text


def usages() -> list[tuple[str, str]]:
    """How each command is written, and what it does."""
    return [(f"/{one.name} {one.usage}".rstrip(), one.help) for one in _ALL]
