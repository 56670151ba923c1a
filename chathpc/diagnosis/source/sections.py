"""Sections of Fortran's arrays that are handed on by copying them, because the routine wants them in one piece."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.c_expressions import text_of
from chathpc.diagnosis.source.model import Declaration, Expr, Function, Kind
from chathpc.diagnosis.source.sign import Sign
from chathpc.diagnosis.source.text import SourceFile

if TYPE_CHECKING:
    from tree_sitter import Node


def packed(function: Function, files: Sequence[SourceFile], line: int) -> Sign | None:
    """A call at the line that hands a section with gaps, like a row, to a routine of the files that declares it with its size (`q(n)`).

    Such an argument lies in one piece (Fortran 2018, 15.5.2.4), so the section is copied before the call and back after it. Columns are in
    one piece already, and `q(:)` takes a section as it is.
    """
    if not function.fortran:
        return None
    for call in function.calls_at(line):
        if call.base is not None:
            continue
        name = call.short.removeprefix("call ")
        for file, callee in ((each, one) for each in files if each.is_fortran for one in each.functions_named(name)):
            for at, parameter in enumerate(callee.parameters):
                given = _argument(call, at, parameter)
                if given is None or not _has_gaps(given) or not _in_one_piece(parameter, callee, file):
                    continue
                shown = function.show(given)
                return Sign(
                    "redundant-copies", line, line, line,
                    f"passes {shown} to {callee.name}, which needs {parameter.name} contiguous: the section is copied before each call and back after it",
                    f"copies {shown} at each call of {callee.name}",
                    ("The copy makes the routine's data contiguous, which pays off where it reads them many times.",),
                )  # fmt: skip
    return None


def _argument(call: Expr, at: int, parameter: Declaration) -> Expr | None:
    """What a call hands over for a parameter, by its place or its name."""
    for part in call.parts:
        if part.text == "keyword_argument" and len(part.parts) == 2 and part.parts[0].text == parameter.name:
            return part.parts[1]
    if at < len(call.parts) and call.parts[at].text != "keyword_argument":
        return call.parts[at]
    return None


def _has_gaps(given: Expr) -> bool:
    """True for a section of which the elements do not all lie side by side, whatever the bounds: a range behind a single index, or one with
    a step.
    """
    if given.kind != Kind.INDEX:
        return False
    single = False
    for part in given.parts:
        if part.text == "extent_specifier":
            if single or (len(part.parts) == 3 and part.parts[2].text != "1"):
                return True
        else:
            single = True
    return False


def _in_one_piece(parameter: Declaration, callee: Function, file: SourceFile) -> bool:
    """True for a dummy argument of explicit shape (`q(n)`, `q(0:n)`) or assumed size; the dimensions of `q(:)` have no end."""
    if parameter.pointers or not parameter.dims:
        return False
    if any(dim is not None for dim in parameter.dims):
        return True
    node = next((each for each, one in file.procedures() if one is callee), None)
    ends = [text_of(each) for each in _bounds(node, parameter.name)] if node is not None else []
    return bool(ends) and not any(each.endswith(":") for each in ends)


def _bounds(procedure: Node, name: str) -> list[Node]:
    """The bounds of an array by its declaration in the routine."""
    for node in procedure.named_children:
        if node.type != "variable_declaration":
            continue
        shared = [each for each in node.children_by_field_name("attribute") if "dimension" in text_of(each).lower()]
        for one in node.children_by_field_name("declarator"):
            sized = one.type == "sized_declarator"
            if text_of(one.named_child(0) if sized else one).lower() == name:
                around = one.named_child(1) if sized else next(iter(shared), one).named_child(0)
                return around.named_children if around is not None else []
    return []
