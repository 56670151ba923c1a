"""Statements of free-form Fortran as nodes: what is called with what, how a variable is declared, of which type an expression is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.model import Declaration, Expr, Kind
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, field, nodes, text_of
from chathpc.fix.recipes.analysis.types import declared

if TYPE_CHECKING:
    from tree_sitter import Node

_CONTINUED = re.compile(r"&[ \t]*(?:!.*)?\n\s*&?|\s+")


def squeezed(node: Node | None) -> str:
    """The text in lower case without blanks and continuations, to compare with another."""
    return _CONTINUED.sub("", text_of(node))


def called(node: Node | None) -> str:
    """Name of the subroutine or function (or array) of a call, in lower case; empty for a member or anything else."""
    if node is None:
        return ""
    name = field(node, "subroutine") if node.type == "subroutine_call" else next(iter(children(node)), None)
    return text_of(name) if name is not None and name.type == "identifier" else ""


def identifiers(node: Node, name: str) -> list[Node]:
    """Where a name stands in the node: neither members of that name nor keywords of arguments."""
    named = (one for one in nodes(node, "identifier") if text_of(one) == name)
    return [one for one in named if one.parent is None or field(one.parent, "name") != one]


#: What the model has without blanks.
_WRITTEN = {"doubleprecision": "double precision"}


def type_text(expr: Expr, procedure: Procedure, program: Program) -> str | None:
    """The type of a real expression as it is declared (`real(dp)`): that of all its real names; None where they differ."""
    kinds = set()
    for one in expr.walk():
        of: Declaration | None = None
        if one.kind == Kind.MEMBER:
            of = component(one, procedure, program)
        elif one.kind == Kind.NAME:
            of = declared(one.text, procedure, program)
        elif one.kind == Kind.CALL and len(named := program.named(one.text)) == 1:
            of = named[0].model.returns
        if of is not None and of.type.startswith(("real", "double", "complex")):
            kinds.add(of.type)
    kind = kinds.pop() if len(kinds) == 1 else None
    return None if kind is None else _WRITTEN.get(kind, kind)


def component(expr: Expr, procedure: Procedure, program: Program) -> Declaration | None:
    """The declaration of `cell%e`, by the types of what stands before it."""
    base = expr.base.base if expr.base is not None and expr.base.kind == Kind.INDEX else expr.base
    if base is None:
        return None
    within = base.kind == Kind.MEMBER
    holder = component(base, procedure, program) if within else declared(base.text, procedure, program)
    match = re.fullmatch(r"(?:type|class)\((\w+)\)", holder.type if holder is not None else "")
    record = program.records.get(match[1]) if match else None
    return next((one for one in record.fields if one.name == expr.text), None) if record is not None else None


def declarations_end(procedure: Procedure) -> int | None:
    """Where another declaration may be put: behind the last one of the procedure."""
    listed = [each for each in procedure.node.named_children if each.type == "variable_declaration"]
    return listed[-1].end_byte if listed else None
