"""From a model's answer to edited files: search/replace blocks or whole functions, each validated before anything is built."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from chathpc.fix.models import functions

Edits = Literal["blocks", "functions"]

#: How a model is asked to write its edits; what `edited` understands.
INSTRUCTIONS: Mapping[Edits, str] = {
    "blocks": (
        "Answer with edits and nothing else. Each edit is:\n"
        "FILE: path\n<<<<<<< SEARCH\nlines exactly as in the file\n=======\nthe lines that replace them\n>>>>>>> REPLACE\n"
        "The lines to search for must occur exactly once in the file; take whole lines, a few around the change."
    ),
    "functions": (
        "Answer with one code block that holds the whole changed function, from its first line to its last, and nothing else. "
        "Keep its name, its parameters and its results."
    ),
}
#: A longer answer is no edit of a function or two (characters).
LONGEST_ANSWER = 200_000
MOST_BLOCKS = 40

_FILE = re.compile(r"^[\s#*/`]*FILE:\s*`?([^\s`*]{1,300})`?[\s*`]*$", re.MULTILINE)
_BLOCK = re.compile(
    r"^<{5,9} ?SEARCH[^\n]*\n(?P<search>.*?)^={5,9}[ \t]*\n(?P<replace>.*?)^>{5,9} ?REPLACE", re.MULTILINE | re.DOTALL
)
_FENCE = re.compile(r"^[ \t]*```[\w+-]*[ \t]*\n(?P<code>.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Edited:
    """Whole new texts of the files that an answer changes; if none, `problem` says in one sentence why."""

    files: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


def edited(answer: str, sources: Mapping[str, str], place: str | None = None) -> Edited:
    """Apply the edits of `answer` to `sources` (path → text). `place` is the file that is meant where the answer names none.

    All edits must apply, or none does: half a change is another change. Never raises for what a model wrote; linear in its length.
    """
    if len(answer) > LONGEST_ANSWER:
        return Edited(problem=f"The answer is longer than {LONGEST_ANSWER:,} characters.")
    changed = dict(sources)
    blocks = list(_BLOCK.finditer(answer))[: MOST_BLOCKS + 1]
    if len(blocks) > MOST_BLOCKS:
        return Edited(problem=f"The answer contains more than {MOST_BLOCKS} edits.")
    problem = _replaced(answer, blocks, changed, place) if blocks else _functions(answer, changed, place)
    if problem:
        return Edited(problem=problem)
    return _valid(changed, sources)


def replaced(path: str, search: str, replace: str, sources: Mapping[str, str]) -> Edited:
    """Put `replace` in the place of the lines `search` of one file; without these it is the text of a new file."""
    known = _known(path, sources)
    if not search.strip():
        if known is not None:
            return Edited(problem=f"{known} already exists: name the lines to replace.")
        return _valid({**sources, path: replace}, sources)
    if known is None:
        return Edited(problem=f"There is no file {path[:80]} that may be edited.")
    text = _once(sources[known], search, replace)
    if isinstance(text, int):
        return Edited(problem=_not_once(known, text))
    return _valid({**sources, known: text}, sources)


def _valid(changed: Mapping[str, str], sources: Mapping[str, str]) -> Edited:
    """The texts that differ, unless there are none or one cannot be parsed any more."""
    different = {path: text for path, text in changed.items() if text != sources.get(path)}
    if not different:
        return Edited(problem="The answer changes nothing.")
    for path, text in different.items():
        faults = functions.faults(path, text)
        if len(faults) > len(functions.faults(path, sources.get(path, ""))):
            return Edited(
                problem=f"{path} cannot be parsed after the change, at line {faults[0]}. Make edits that belong together as one."
            )
    return Edited(different)


def _replaced(answer: str, blocks: list[re.Match[str]], changed: dict[str, str], place: str | None) -> str:
    named = [(match.start(), match[1]) for match in _FILE.finditer(answer)]
    for block in blocks:
        before = [path for start, path in named if start < block.start()]
        path = _known(before[-1] if before else place, changed)
        if path is None:
            return f"There is no file {before[-1][:80] if before else '(none was named)'} that may be edited."
        found = _once(changed[path], block["search"], block["replace"])
        if isinstance(found, int):
            return _not_once(path, found)
        changed[path] = found
    return ""


def _functions(answer: str, changed: dict[str, str], place: str | None) -> str:
    """Put the functions that code blocks define in the place of those of the same name; new ones before the first of these."""
    codes = [match["code"] for match in _FENCE.finditer(answer)] or [answer]
    named = [match[1] for match in _FILE.finditer(answer)]
    preferred = _known(named[0] if named else place, changed)
    paths = list(changed) if preferred is None else [preferred, *(path for path in changed if path != preferred)]
    language = paths[0] if paths else ""
    given = {name: text for code in codes for name, text in functions.definitions(language, code)}
    homes = {name: _home(name, text, changed, paths) for name, text in given.items()}
    replaced = [(name, path) for name, path in homes.items() if path is not None]
    if not replaced:
        return "The answer contains no function of the program."
    new = [given[name] for name, path in homes.items() if path is None]
    for number, (name, path) in enumerate(replaced):
        definition = given[name] if number else "\n\n".join(text.strip("\n") for text in (*new, given[name]))
        changed[path] = functions.with_definition(path, changed[path], name, definition) or changed[path]
    return ""


def _home(name: str, text: str, sources: Mapping[str, str], paths: list[str]) -> str | None:
    """The first of `paths` that defines a function of this name, once."""
    return next(
        (path for path in paths if functions.with_definition(path, sources[path], name, text) is not None), None
    )


def _known(path: str | None, sources: Mapping[str, str]) -> str | None:
    """The one source that a path means: itself, or the only one with that base name."""
    if path is None:
        return next(iter(sources)) if len(sources) == 1 else None
    if path in sources:
        return path
    base = path.rsplit("/", 1)[-1]
    fitting = [one for one in sources if one.rsplit("/", 1)[-1] == base]
    return fitting[0] if len(fitting) == 1 else None


def _not_once(path: str, times: int) -> str:
    return f"In {path} the lines to replace do not occur exactly once, but {times} times."


def _once(text: str, search: str, replace: str) -> str | int:
    """`text` with the lines `search` replaced; how often they occur unless that is once, as they stand or but for blanks at line ends."""
    if not search.strip():
        return 0
    first = text.find(search)
    # Occurrences may overlap: blank lines around a line are also the ends of lines.
    if first >= 0 and text.find(search, first + 1) < 0:
        return text.replace(search, replace)
    lines, wanted = text.splitlines(keepends=True), [line.rstrip() for line in search.splitlines()]
    bare = [line.rstrip() for line in lines]
    at = [i for i in range(len(bare) - len(wanted) + 1) if bare[i] == wanted[0] and bare[i : i + len(wanted)] == wanted]
    if len(at) != 1:
        return max(len(at), len(re.findall(f"(?={re.escape(search)})", text)))
    ended = replace if not replace or replace.endswith("\n") else f"{replace}\n"
    return "".join(lines[: at[0]]) + ended + "".join(lines[at[0] + len(wanted) :])
