"""What statements of C and C++ do, with all that functions of the program do that they call, also where these change something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.effects import Access, Effects, effects, is_own_memory
from chathpc.fix.recipes.program import Procedure, Program
from chathpc.fix.recipes.syntax import children, field, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 4
#: Functions of the library that write only what their first argument points to, and read what the second does.
_COPYING = frozenset({"memcpy", "memmove", "memset"})
#: Those that change nothing that a program can see but what they return.
_SILENT = frozenset({"rand", "drand48", "sqrt", "sin", "cos", "exp", "log", "fabs", "pow"})


def reach(node: Node, procedure: Procedure, program: Program, depth: int = 0) -> Effects | None:
    """All accesses of a statement; None where it may be left, or something in it is not known (input and output, messages)."""
    found = effects(node, procedure, program)
    leaves = found.jumps - ({"return", "continue", "break", "switch"} if depth else set())
    if not depth and leaves <= {"continue", "break", "switch"} and _is_loop(node):
        leaves = set()
    if found.opaque or found.pragmas or leaves or depth > _DEEPEST:
        return None
    result = Effects(accesses=list(found.accesses), declared=set(found.declared))
    for call in found.calls:
        name = text_of(field(call, "function"))
        if name in _COPYING:
            listed = children(field(call, "arguments"))
            result.accesses += [
                Access(each, procedure, text_of(each), True, at == 0) for at, each in enumerate(listed[:2])
            ]
            continue
        if name in _SILENT and not program.named(name):
            continue
        inner = _of_callee(name, len(children(field(call, "arguments"))), program, depth)
        if inner is None:
            return None
        result.accesses += inner
    return result


def _is_loop(node: Node) -> bool:
    return node.type in ("for_statement", "while_statement", "do_statement", "switch_statement")


def _of_callee(name: str, count: int, program: Program, depth: int) -> list[Access] | None:
    named = program.named(name)
    if len(named) != 1 or name in program.handed_on or named[0].body is None or named[0].is_broken:
        return None
    callee = named[0]
    if len(callee.model.parameters) != count or callee.source.is_fortran:
        return None
    inner = reach(callee.body, callee, program, depth + 1) if callee.body is not None else None
    if inner is None:
        return None
    own = callee.parameters | inner.declared | set(callee.declarations)
    return [
        one
        for one in inner.accesses
        if (one.memory or one.name not in own or one.procedure is not callee) and not is_own_memory(one, callee)
    ]
