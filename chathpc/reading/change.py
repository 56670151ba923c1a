"""A change that a model proposes: a list of edits of the code that it was shown, checked by construction, and not tried.

Each search text stands exactly once in the shown code; the result parses without a new error, declares the names that it brings, and
brings no comments and no strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.text import parsed
from chathpc.pruners.source import Shown, SourceText, declared_names
from chathpc.report import EditRecord

if TYPE_CHECKING:
    from tree_sitter import Node

#: A change of more lines, searched and new together, is a rewrite that nobody checks at a glance.
MOST_LINES = 40
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.){2,}\'')
_PRAGMA = re.compile(r"^\s*(?:#\s*pragma|!\$)\s*(\w+)", re.IGNORECASE | re.MULTILINE)
_PRAGMAS = frozenset({"omp", "acc", "gcc", "unroll", "ivdep", "simd", "clang", "nounroll", "vector"})


@dataclass(frozen=True, slots=True)
class Change:
    """Edits that may be shown; or why they may not, in a clause."""

    edits: tuple[EditRecord, ...] = ()
    wrong: str = ""


def checked(edits: Sequence[Mapping[str, str]], shown: Shown, is_public: Callable[[str], bool]) -> Change:
    """The change that a model wrote as `edits` (file, search, replace), if it may be shown."""
    if not edits:
        return Change()
    lines = sum(len(each[key].strip("\n").split("\n")) for each in edits for key in ("search", "replace"))
    if lines > MOST_LINES:
        return Change(wrong=f"it has more than {MOST_LINES} lines")
    result: dict[str, str] = {}
    found: list[EditRecord] = []
    for each in edits:
        name = shown.file_called(each["file"])
        if name is None:
            return Change(wrong="it is about a file that was not shown")
        text = shown.files[name]
        edit = _placed(each["search"], each["replace"], text, shown.lines[name])
        if edit is None:
            return Change(wrong="what it searches for does not occur exactly once in the shown code")
        before = result.get(name, text.raw)
        if before.count(edit.search) != 1:
            return Change(wrong="its edits overlap")
        wrong = _new_words(edit, text)
        if wrong:
            return Change(wrong=wrong)
        result[name] = before.replace(edit.search, edit.replace)
        found.append(edit.model_copy(update={"file": shown.labels[name]}))
    known = shown.names()
    for name, after in result.items():
        wrong = _wrong_result(name, shown.files[name], after, known, is_public)
        if wrong:
            return Change(wrong=wrong)
    return Change(tuple(found))


def _placed(search: str, replace: str, text: SourceText, lines: frozenset[int]) -> EditRecord | None:
    """The edit in the file as it is written: the shown text is compared line by line, blanks at their ends aside; None unless it
    stands there exactly once. An edit within a line becomes one of the whole line.
    """
    wanted = [line.rstrip() for line in search.strip("\n").split("\n")]
    replace = _without_comments(text.name, replace)
    if not any(line.strip() for line in wanted):
        return None
    kept = text.lines
    at = _found(kept, lines, wanted)
    raw = text.raw.split("\n")
    if len(at) == 1:
        first, last = at[0], at[0] + len(wanted)
        new = _merged(
            kept[first - 1 : last - 1],
            raw[first - 1 : last - 1],
            _indented(replace.strip("\n"), wanted[0], kept[first - 1]),
        )
    elif not at and len(wanted) == 1:
        within = [number for number in sorted(lines) if number <= len(kept) and wanted[0].strip() in kept[number - 1]]
        if len(within) != 1 or kept[within[0] - 1].count(wanted[0].strip()) != 1:
            return None
        first, last = within[0], within[0] + 1
        new = kept[first - 1].replace(wanted[0].strip(), replace.strip())
    else:
        return None
    while (
        "\n".join(raw).count("\n".join(raw[first - 1 : last - 1])) != 1
    ):  # unique in the whole file, also where it was not shown
        if first > 1:
            first -= 1
            new = f"{raw[first - 1]}\n{new}"
        elif last <= len(raw):
            new = f"{new}\n{raw[last - 1]}"
            last += 1
        else:
            return None
    return EditRecord(file=text.name, search="\n".join(raw[first - 1 : last - 1]), replace=new)


def _found(kept: Sequence[str], lines: frozenset[int], wanted: Sequence[str]) -> list[int]:
    """Where the wanted lines stand in the shown ones: exactly, or else but for the blanks that they begin with."""
    firsts = [first for first in sorted(lines) if all(first + offset in lines for offset in range(len(wanted)))]
    exact = [first for first in firsts if kept[first - 1 : first - 1 + len(wanted)] == [*wanted]]
    if exact:
        return exact
    bare = [line.strip() for line in wanted]
    return [first for first in firsts if [line.strip() for line in kept[first - 1 : first - 1 + len(wanted)]] == bare]


def _indented(replace: str, wanted: str, here: str) -> str:
    """The new text, indented as the code is where the model's was not."""
    missing = (len(here) - len(here.lstrip())) - (len(wanted) - len(wanted.lstrip()))
    if missing <= 0:
        return replace
    return "\n".join(" " * missing + line if line.strip() else line for line in replace.split("\n"))


def _without_comments(name: str, code: str) -> str:
    """Code without what a model remarks in it."""
    return "\n".join(SourceText(name, code.split("\n")).lines)


def _merged(kept: Sequence[str], raw: Sequence[str], new: str) -> str:
    """The new lines; those that did not change are as the file has them, with their comments."""
    lines = new.split("\n")
    for block in SequenceMatcher(None, kept, lines, autojunk=False).get_matching_blocks():
        lines[block.b : block.b + block.size] = raw[block.a : block.a + block.size]
    return "\n".join(lines)


def _new_words(edit: EditRecord, text: SourceText) -> str:
    """Whether an edit brings comments, strings or directives that are none of the program's."""
    if any(
        string not in text.raw for string in _STRING.findall(edit.replace) if f"#include {string}" not in edit.replace
    ):
        return "it adds a string"
    directives = {each.lower() for each in _PRAGMA.findall(edit.replace)} - {"$omp"}
    if not directives <= _PRAGMAS:
        return "it adds a directive that no compiler has"
    return ""


def _wrong_result(
    name: str, before: SourceText, after: str, known: frozenset[str], is_public: Callable[[str], bool]
) -> str:
    tree = parsed(name, after.encode("utf-8", "replace"))
    old = parsed(name, before.raw.encode("utf-8", "replace"))
    if tree is None or old is None:
        return "" if before.lines else "its language is not known"
    if _errors(tree.tree.root_node) > _errors(old.tree.root_node):
        return "its result does not parse"
    text = SourceText(name, after.split("\n"))
    every = range(1, len(after.split("\n")) + 1)
    new = text.names_on(every) - before.names_on(range(1, len(before.lines) + 1)) - known
    undeclared = sorted(each for each in new - declared_names(tree.tree.root_node) if not is_public(each))
    return f"{undeclared[0]} is declared nowhere" if undeclared else ""


def _errors(root: Node) -> int:
    """Errors in a tree."""
    pending, count = [root], 0
    while pending:
        node = pending.pop()
        count += node.is_error + node.is_missing
        if node.has_error:
            pending.extend(node.children)
    return count
