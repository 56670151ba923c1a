"""What the model may do on its workbench: read, search, edit, build, check, time; and ask the profile what a conversation may ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import ConfigDict, Field

from chathpc.chat import tools as profile_tools
from chathpc.chat.tools.record import Arguments, NoArguments, Result, function
from chathpc.errors import ChathpcError
from chathpc.fix.agent.workbench import NOTHING, Workbench, clean_lines, described
from chathpc.fix.models.answers import replaced
from chathpc.llm.backend import ToolCall

DONE = "Done."
#: Lines of a file that are shown at once, and places that a search finds.
_LINES, _FOUND = 400, 60
_LONGEST_TEXT, _LONGEST_CALL = 60_000, 200_000


class Lines(Arguments):
    """A file, and some of its lines."""

    file: str = Field(description="Path relative to the program's folder.")
    first: int = Field(1, ge=1, description="First line.")
    last: int | None = Field(None, ge=1, description="Last line.")


class Search(Arguments):
    """A text to look for in all files."""

    text: str = Field(min_length=1, description="Plain text, matched literally.")


class Edit(Arguments):
    """One replacement."""

    model_config = ConfigDict(str_max_length=_LONGEST_TEXT)

    file: str = Field(description="Path of an editable file, or of a new file next to one.")
    search: str = Field(description="Text exactly as in the file, where it must occur once; empty for a new file.")
    replace: str = Field(description="Its replacement.")


class OneFile(Arguments):
    """A file."""

    file: str


class Submit(Arguments):
    """A change to be judged."""

    title: str = Field(max_length=200, description="The change in one line, in the imperative.")
    functions: list[str] = Field(
        default_factory=list,
        max_length=20,
        description="All functions whose own work it reduces, named as in the profile, the program's own before those of libraries, the "
        "most important first: the first that a finding names, else the first, has to take less time, and work that disappears elsewhere "
        "counts as skipped.",
    )


class Finish(Arguments):
    """The end."""

    reason: str = Field(max_length=1000, description="Why nothing (more) should be changed.")


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that the model may do: its description, its arguments, and what is said of it; None for what the agent itself does."""

    name: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Workbench, Any], str] | None


def _files(bench: Workbench, _: NoArguments) -> str:
    return "\n".join(described(bench.sources, bench.paths))


def _read(bench: Workbench, given: Lines) -> str:
    text = bench.text(given.file)
    if text is None:
        return f"There is no text file {given.file}."
    lines = text.splitlines()
    last = min(given.last or len(lines), given.first + _LINES - 1, len(lines))
    shown = [f"{number:5} {lines[number - 1]}" for number in range(given.first, last + 1)]
    return "\n".join([*shown, *([f"({len(lines) - last} more lines)"] if last < len(lines) else [])])


def _search(bench: Workbench, given: Search) -> str:
    found = [
        f"{path}:{number}: {line.strip()[:200]}"
        for path in bench.paths
        for number, line in enumerate((bench.text(path) or "").splitlines(), 1)
        if given.text in line
    ]
    return "\n".join(found[:_FOUND]) + (f"\n({len(found) - _FOUND} more)" if len(found) > _FOUND else "") or "Nowhere."


def _edit(bench: Workbench, given: Edit) -> str:
    if given.file not in bench.sources and not given.search.strip() and not bench.may_make(given.file):
        return f"You may not create the file {given.file[:80]}."
    changed = replaced(given.file, given.search, given.replace, bench.sources)
    if changed.problem:
        return changed.problem
    bench.edits.update(changed.files)
    return DONE


def _undo(bench: Workbench, _: NoArguments) -> str:
    bench.edits.clear()
    return "All edits since the last accepted change are discarded."


def _build(bench: Workbench, _: NoArguments) -> str:
    built, problem = bench.build()
    return problem or f"It builds; {built.warnings} warnings."


TOOLS: Mapping[str, Tool] = {
    each.name: each
    for each in (
        Tool("files", "List the files of the program.", NoArguments, _files),
        Tool("read", "Show lines of a file in its current state.", Lines, _read),
        Tool("search", "Search all files for a text.", Search, _search),
        Tool("edit", "Replace lines of a file in the working copy.", Edit, _edit),
        Tool("undo", "Discard all edits since the last accepted change.", NoArguments, _undo),
        Tool("patch", "Show all edits as a patch.", NoArguments, lambda bench, _: bench.patch() or NOTHING),
        Tool("build", "Build the working copy.", NoArguments, _build),
        Tool("check", "Compare its output with the original's for the declared inputs.", NoArguments, lambda bench, _: bench.check() or "Same answers."),
        Tool("time", "Time it without and with the edits that are not accepted yet, in a few runs.", NoArguments, lambda bench, _: bench.time()),
        Tool("remarks", "Ask the compiler what it did with the loops of a file, or why it could not.", OneFile, lambda bench, given: bench.remarks(given.file)),
        Tool("submit", "Let the gates judge the edits: they build, check, time and profile a fresh copy.", Submit, None),
        Tool("finish", "Finish: nothing (more) should be changed.", Finish, None),
    )
}  # fmt: skip
#: What makes no sense in the same turn once an edit failed.
AFTER_EDITS = frozenset({"build", "check", "time", "submit"})
#: What may be asked of the profile.
_OF_PROFILE = (
    "findings", "evidence", "top", "activities", "tree", "callers", "callees", "loops", "locations", "what_if", "missing", "catalogue",
)  # fmt: skip


@cache
def descriptions() -> tuple[Mapping[str, object], ...]:
    """All tools as OpenAI's chat protocol describes functions."""
    own = (function(tool.name, tool.description, tool.arguments) for tool in TOOLS.values())
    asked = (profile_tools.TOOLS[name] for name in _OF_PROFILE)
    return (*own, *(function(tool.name, tool.description, tool.arguments) for tool in asked))


def use(bench: Workbench, call: ToolCall) -> str:
    """What a tool answers to a call of the model; never raises for what the model wrote."""
    tool = TOOLS.get(call.name)
    if tool is None or tool.run is None:
        return (
            profile_tools.call(bench.asked, call.name, call.arguments).as_text()
            if call.name in _OF_PROFILE
            else f"There is no tool {call.name[:80]}."
        )
    given = arguments(call)
    if isinstance(given, Result):
        return given.as_text()
    try:
        return clean_lines(tool.run(bench, given))
    except ChathpcError as error:
        return f"{error.message} {error.hint}".rstrip()


def arguments(call: ToolCall) -> Arguments | Result:
    """The arguments of a call of one of the tools here, or what is wrong with them."""
    return profile_tools.validated(call.name, TOOLS[call.name].arguments, call.arguments, _LONGEST_CALL)
