"""What statements of C and C++ do, with all that functions of the program do that they call, also where these change something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.accesses import Access, Effects
from chathpc.fix.recipes.analysis.aliases import base_of, may_overlap
from chathpc.fix.recipes.analysis.c_accesses import is_own_memory
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.origins import origins
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, field, text_of
from chathpc.fix.recipes.analysis.types import type_of

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 4
#: An object of one of them is not accessed as the other (strict aliasing: C11 6.5 p7).
_APART = ({"double", "int"}, {"double", "float"}, {"int", "float"}, {"double", "long"})
#: Begins the name of an access to all that a pointer leads to.
WHOLE = "*"
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
                Access(each, procedure, f"{WHOLE}{text_of(each)}", True, at == 0) for at, each in enumerate(listed[:2])
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
    if callee.arity != count or callee.source.is_fortran:
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


def meets(one: Access, other: Access, program: Program) -> bool:
    """True if the two may be of the same memory and one of them changes it."""
    return (one.write or other.write) and overlaps(one, other, program)


def overlaps(one: Access, other: Access, program: Program) -> bool:
    """True unless the two are proved to be of different variables or memory, also where one is to all that a pointer leads to."""
    if not _is_whole(one) and not _is_whole(other):
        if one.memory != other.memory:
            variable = other if one.memory else one
            if variable.name in variable.procedure.addressed and _is_given_to_mpi_alone(variable):
                return False
        return may_overlap(one, other, program)
    whole, rest = (one, other) if _is_whole(one) else (other, one)
    mine, its = type_of(whole.node, whole.procedure, program), type_of(rest.node, rest.procedure, program)
    plain = mine is not None and its is not None and mine.depth == 1 and its.is_arithmetic and not _is_whole(rest)
    if plain and mine is not None and its is not None and {mine.name, its.name} in _APART:
        return False
    if not rest.memory:
        pointed_at = rest.name in rest.procedure.addressed or rest.name in program.addressed
        return rest.name == text_of(whole.node) or (pointed_at and not _is_given_to_mpi_alone(rest))
    node = rest.node if _is_whole(rest) else base_of(rest)
    if node is None:
        return True
    ours, theirs = origins(whole.node, whole.procedure, program), origins(node, rest.procedure, program)
    return ours is None or theirs is None or bool(ours & theirs)


def _is_whole(access: Access) -> bool:
    return access.memory and access.name.startswith(WHOLE) and access.name != text_of(access.node)  # `*p` is one number


def _is_given_to_mpi_alone(variable: Access) -> bool:
    """True for a variable of the procedure whose address nobody keeps: no pointer leads to it."""
    procedure = variable.procedure
    own = procedure.declarations.get(variable.name)
    if own is None or own.dims or own.reference or variable.name in procedure.parameters:
        return False
    for node in procedure.identifiers.get(variable.name, ()):
        parent = node.parent
        if parent is not None and parent.type == "pointer_expression" and text_of(field(parent, "operator")) == "&":
            listed = parent.parent
            call = listed.parent if listed is not None and listed.type == "argument_list" else None
            if not text_of(field(call, "function")).startswith("MPI_") or "MPI_I" in text_of(field(call, "function")):
                return False
    return True
