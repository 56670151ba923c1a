"""Types of real expressions of Fortran, and where more variables may be declared."""

from __future__ import annotations

import re

from chathpc.diagnosis.source.model import Declaration, Expr, Kind
from chathpc.fix.recipes.analysis.program import Procedure, Program

#: What the model has without blanks.
_WRITTEN = {"doubleprecision": "double precision"}


def type_text(expr: Expr, procedure: Procedure, program: Program) -> str | None:
    """The type of a real expression as it is declared (`real(dp)`): that of all its real names; None where they differ."""
    kinds = set()
    for one in expr.walk():
        declared: Declaration | None = None
        if one.kind == Kind.MEMBER:
            declared = component(one, procedure, program)
        if one.kind == Kind.NAME:
            declared = procedure.model.declared(one.text) or program.variables.get(one.text)
        elif one.kind == Kind.CALL and len(named := program.named(one.text)) == 1:
            declared = named[0].model.returns
        if declared is not None and declared.type.startswith(("real", "double", "complex")):
            kinds.add(declared.type)
    kind = kinds.pop() if len(kinds) == 1 else None
    return None if kind is None else _WRITTEN.get(kind, kind)


def component(expr: Expr, procedure: Procedure, program: Program) -> Declaration | None:
    """The declaration of `cell%e`, by the types of what stands before it."""
    base = expr.base.base if expr.base is not None and expr.base.kind == Kind.INDEX else expr.base
    if base is None:
        return None
    holder = (
        component(base, procedure, program)
        if base.kind == Kind.MEMBER
        else procedure.model.declared(base.text) or program.variables.get(base.text)
    )
    match = re.fullmatch(r"(?:type|class)\((\w+)\)", holder.type if holder is not None else "")
    record = program.records.get(match[1]) if match else None
    return next((one for one in record.fields if one.name == expr.text), None) if record is not None else None


def declarations_end(procedure: Procedure) -> int | None:
    """Where another declaration may be put: behind the last one of the procedure."""
    listed = [each for each in procedure.node.named_children if each.type == "variable_declaration"]
    return listed[-1].end_byte if listed else None
