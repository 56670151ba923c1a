"""How many dimensions what stands in Fortran has: variables, components, sections; and who declares a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.diagnosis.source import fortran
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, nodes, text_of
from chathpc.fix.recipes.fortran.accesses import INTRINSICS
from chathpc.fix.recipes.fortran.loops import component
from chathpc.fix.recipes.fortran.statements import arguments, called, declaration, squeezed

if TYPE_CHECKING:
    from tree_sitter import Node

#: A component of a component of … is not followed further.
_DEEPEST = 12


def holder(name: str, procedure: Procedure) -> Procedure | None:
    """The procedure that declares a name that is used in this one: itself, or one that contains it."""
    around = [
        one
        for one in procedure.source.procedures
        if one.node.start_byte <= procedure.node.start_byte and procedure.node.end_byte <= one.node.end_byte
    ]
    for one in sorted(around, key=lambda each: -each.node.start_byte):
        if declaration(one, name) is not None:
            return one
    return None


def rank_of(node: Node, procedure: Procedure, program: Program) -> int | None:
    """Dimensions of a variable or component, 0 for a scalar; None for what is not known."""
    if node.type == "identifier":
        name = text_of(node).lower()
        around = holder(name, procedure)
        known = declaration(around, name) if around is not None else None
        if known is not None:
            return known.rank
        if program.named(name):
            return None
        outside = [one.file.unit.variables.get(name) for one in program.sources.values()]
        ranks = {len(one.dims) for one in outside if one is not None}
        return ranks.pop() if len(ranks) == 1 else None
    if node.type != "derived_type_member_expression":
        return None
    owner = root = children(node)[0]
    depth = 0
    while root.type != "identifier" and children(root):
        root, depth = children(root)[0], depth + 1
    if depth > _DEEPEST:
        return None
    if any(True for _ in nodes(owner, "extent_specifier")) or not _is_one_record(owner, procedure, program):
        return None
    around = holder(text_of(root).lower(), procedure) or procedure
    found = component(fortran.expression(node), around.model, program)
    return len(found.dims) if found is not None else None


def _is_one_record(owner: Node, procedure: Procedure, program: Program) -> bool:
    if owner.type == "call_expression":
        return rank_of(children(owner)[0], procedure, program) == len(arguments(owner))
    return rank_of(owner, procedure, program) == 0


def handed_rank(actual: Node, caller: Procedure, program: Program) -> int | None:
    """Dimensions of what is handed over, if it is an array or a section of one."""
    if actual.type == "identifier" and _is_of_unknown_size(text_of(actual).lower(), caller):
        return None
    if actual.type in ("identifier", "derived_type_member_expression"):
        return rank_of(actual, caller, program)
    if actual.type != "call_expression":
        return None
    base, listed = children(actual)[0], arguments(actual)
    if rank_of(base, caller, program) != len(listed):
        return None
    sections = [each for each in listed if each.type == "extent_specifier"]
    for each in listed:
        if each.type != "extent_specifier" and not _is_whole_number(each, caller, program):
            return None
    return len(sections) or None


def _is_of_unknown_size(name: str, procedure: Procedure) -> bool:
    """True for `w(*)`, which is no whole array."""
    around = holder(name, procedure)
    known = [one for one in around.model.parameters if one.name == name] if around is not None else []
    return any(dim is not None and dim.text == "assumed_size" for one in known for dim in one.dims)


def _is_whole_number(index: Node, caller: Procedure, program: Program) -> bool:
    """True for an index that is one number and no list of them."""
    todo = [index]
    while todo:
        one = todo.pop()
        if one.type == "identifier":
            if rank_of(one, caller, program) != 0:
                return False
        elif one.type in ("math_expression", "unary_expression", "parenthesized_expression"):
            todo += children(one)
        elif one.type == "call_expression":
            rank = rank_of(children(one)[0], caller, program)
            if rank is None and called(one) in INTRINSICS and not program.named(called(one)):
                todo += [] if called(one) in ("size", "ubound", "lbound") else arguments(one)
            elif rank != len(arguments(one)):
                return False
            else:
                todo += arguments(one)
        elif one.type == "derived_type_member_expression":
            if rank_of(one, caller, program) != 0:
                return False
        elif one.type != "number_literal":
            return False
    return True


def has_gaps(actual: Node | None) -> bool:
    """True for a section that does not lie in one piece: something else than whole dimensions comes before a range."""
    if actual is None or actual.type != "call_expression":
        return False
    whole = True
    for each in arguments(actual):
        words = squeezed(each)
        if each.type == "extent_specifier":
            if not whole or "::" in words or words.count(":") > 1:
                return True
            whole = words == ":"
        else:
            whole = False
    return False
