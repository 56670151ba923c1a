"""What a procedure of Fortran does with an array that it is handed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, text_of, walk
from chathpc.fix.recipes.fortran.accesses import INTRINSICS, OF_ARRAYS
from chathpc.fix.recipes.fortran.statements import arguments, called, declaration, identifiers, mentions, squeezed

if TYPE_CHECKING:
    from tree_sitter import Node

#: Statements and expressions in which an array may stand as a whole.
_AS_A_WHOLE = frozenset(
    {
        "math_expression",
        "unary_expression",
        "relational_expression",
        "logical_expression",
        "parenthesized_expression",
        "assignment_statement",
        "output_item_list",
        "array_literal",
    }
)


def needed(procedure: Procedure, name: str, program: Program) -> str | None:
    """`elements` where the procedure touches only elements and sections with both ends, `size` where the end of the array matters as
    well; None for a use that may have another meaning.
    """
    found = "elements"
    if any(mentions(each, name) for each in procedure.all("internal_procedures")):
        return None
    if any(re.search(rf"\b{name}\b|\bdeclare\b", each) for each in directives(procedure.node)):
        return None
    for node in identifiers(procedure.node, name):
        parent = node.parent
        if parent is None:
            return None
        if parent.type in ("parameters", "variable_declaration"):
            continue
        if parent.type == "sized_declarator" and children(parent)[0] == node:
            continue
        if parent.type == "call_expression" and children(parent)[0] == node:
            listed = arguments(parent)
            ends = [squeezed(each) for each in listed if each.type == "extent_specifier"]
            if not ends and not is_one_number(parent, procedure, program):
                return None
            if any(each.endswith(":") or "::" in each for each in ends):
                found = "size"
        elif parent.type in _AS_A_WHOLE or _is_intrinsic(parent, procedure, program):
            found = "size"
        else:
            return None
    return found


def _is_intrinsic(listed: Node, procedure: Procedure, program: Program) -> bool:
    call = listed.parent if listed.type == "argument_list" else None
    word = called(call)
    return (
        call is not None
        and call.type == "call_expression"
        and word in INTRINSICS | OF_ARRAYS
        and not program.named(word)
        and declaration(procedure, word) is None
    )


def is_one_number(element: Node, procedure: Procedure, program: Program) -> bool:
    """True unless an element stands for the array from there on, as an argument may (Fortran 2018, 15.5.2.11)."""
    listed = element.parent
    if listed is not None and listed.type == "keyword_argument":
        return False
    if listed is None or listed.type != "argument_list":
        return True
    call = listed.parent
    word = called(call)
    if call is None or _is_intrinsic(listed, procedure, program):
        return True
    known = declaration(procedure, word)
    if call.type == "call_expression" and known is not None and known.rank:
        return True
    named = program.named(word)
    dummies = [each.name for each in named[0].model.parameters] if len(named) == 1 else []
    place = arguments(call).index(element)
    dummy = declaration(named[0], dummies[place]) if place < len(dummies) else None
    return dummy is not None and dummy.rank == 0


def directives(root: Node) -> Iterator[str]:
    """Comments that compilers read."""
    for node in walk(root):
        if node.type == "comment" and (text := text_of(node).lower()).startswith(("!$", "!dir$", "!gcc$", "!dec$")):
            yield text
