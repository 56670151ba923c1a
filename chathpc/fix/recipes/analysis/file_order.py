"""Whether a program may write a file while it reads it: what `main` does before, meanwhile and afterwards (C and C++)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.descriptors import Descriptor, called, is_read_only
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, code_of, field, inside, nodes, statements, text_of
from chathpc.fix.recipes.analysis.types import owner

if TYPE_CHECKING:
    from tree_sitter import Node

#: Calls that open files, with the place of the mode among their arguments.
_OPENING = {"fopen": 1, "freopen": 1, "fdopen": 1, "open": -1, "mkstemp": -1, "mkostemp": -1, "tmpfile": -1}
#: Calls that write, with the place of the stream or descriptor among their arguments; closing and flushing writes what is left.
_WRITING = {
    "fprintf": 0, "vfprintf": 0, "fwrite": 3, "fputs": 1, "fputc": 1, "putc": 1, "putw": 1, "fputws": 1, "fputwc": 1,
    "fwprintf": 0, "fflush": 0, "fclose": 0, "write": 0, "dprintf": 0, "vdprintf": 0, "fwrite_unlocked": 3, "putc_unlocked": 1,
}  # fmt: skip
#: Calls that put another file in the place of one.
_REPLACING = frozenset({"rename", "link", "symlink"})
_STANDARD = frozenset({"stdout", "stderr", "1", "2", "STDOUT_FILENO", "STDERR_FILENO", "NULL"})
_LITERAL = re.compile(r'"[^"\\]*"\Z')
_READING = re.compile(r'"rb?e?"\Z')
_WORDS = re.compile(rf"\b(?:{'|'.join((*_OPENING, *_WRITING, *_REPLACING))})\b".encode())
_MESSAGE = re.compile(rb"\b(?:v?fprintf|fflush)\s*\(\s*(?:stderr|stdout)\b")

#: What happens, with the function in which it does.
_Events = list[tuple[Procedure, "Node"]]


def is_written_meanwhile(found: Descriptor, program: Program) -> bool:
    """True if a file may be written that is the one which is read, between its opening and the last that is done with it.

    Files under different literal names are different ones. All others may be the same: they are written before `main` comes to the
    statement that first opens or reads, or after the last such one.
    """
    for source in program.sources.values():
        for body in nodes(source.file.tree.root_node, "preproc_arg"):
            if _WORDS.search(_MESSAGE.sub(b" ", code_of(body.text or b""))):
                return True
    if "freopen" in program.calls or _is_opened_outside(program):
        return True
    openings = [
        (home, call)
        for name, at in _OPENING.items()
        for home, call in program.calls.get(name, [])
        if not _is_reading(call, at)
    ]
    openings += [each for name in _REPLACING for each in program.calls.get(name, [])]
    if not openings:
        return False
    read = {_path(call) for _, call in found.opened}
    written = {_path(call) if called(call).removeprefix("std::") in ("fopen", "open") else None for _, call in openings}
    if None not in read | written and not read & written:
        return False
    writing = [
        (home, call)
        for name, at in _WRITING.items()
        for home, call in program.calls.get(name, [])
        if name == "fclose" or _argument(call, at) not in _STANDARD
    ]
    before = _steps([*openings, *writing], program)
    meanwhile = _steps([*found.uses, *found.opened], program)
    if not before or not meanwhile:
        return True
    return any(min(meanwhile) <= each <= max(meanwhile) for each in before)


def _is_opened_outside(program: Program) -> bool:
    """True if a variable outside functions is given a file, as C++ may do before `main`."""
    for source in program.sources.values():
        for call in nodes(source.file.tree.root_node, "call_expression") if source.is_cpp else ():
            known = called(call).removeprefix("std::") in _OPENING
            if known and not any(inside(call, one.node) for one in source.procedures):
                return True
    return False


def _is_reading(call: Node, at: int) -> bool:
    """True for a call that opens a file for reading alone."""
    if called(call) == "open":
        return is_read_only(call)
    return at >= 0 and _READING.match(_argument(call, at)) is not None


def _argument(call: Node, at: int) -> str:
    listed = children(field(call, "arguments"))
    return text_of(listed[at]) if at < len(listed) else ""


def _path(call: Node) -> str | None:
    """The name of a file that is opened, without its folder, where it is a literal."""
    named = _argument(call, 0)
    return named.strip('"').rsplit("/", 1)[-1] if _LITERAL.match(named) else None


def _steps(events: _Events, program: Program) -> set[int] | None:
    """The statements of `main` in which something of it may happen, by their place; None where that is not known."""
    main = program.named("main")[0]
    reaching = {home.model.name for home, _ in events if home is not main}
    size = -1
    while size != len(reaching):
        size = len(reaching)
        reaching |= {
            one.model.name for one in program.procedures if one is not main and reaching & one.identifiers.keys()
        }
    if reaching & program.handed_on or "main" in program.calls:
        return None
    if any(owner(one) for one in program.procedures if one.model.name in reaching):
        return None  # members are called by objects, and some of them by nobody
    own = [node for home, node in events if home is main]
    return {
        at
        for at, one in enumerate(statements(main.body))
        if any(inside(each, one) for each in own) or any(text_of(each) in reaching for each in nodes(one, "identifier"))
    }
