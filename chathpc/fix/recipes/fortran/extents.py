"""How many dimensions arrays of Fortran have, and whether what is handed over is as large as the dummy argument says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chathpc.diagnosis.source import fortran
from chathpc.diagnosis.source.affine import Scope, Sum, add, linear, product
from chathpc.diagnosis.source.model import Expr, Kind
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, field, text_of
from chathpc.fix.recipes.fortran.allocations import is_given_away, is_moved
from chathpc.fix.recipes.fortran.ranks import holder, rank_of
from chathpc.fix.recipes.fortran.statements import (
    arguments,
    called,
    declaration,
    identifiers,
    is_single,
    named_argument,
    squeezed,
)

if TYPE_CHECKING:
    from tree_sitter import Node


def are_extents_shown(
    bounds: tuple[Node, ...],
    procedure: Procedure,
    dummies: list[str],
    call: Node,
    caller: Procedure,
    actual: Node,
    program: Program,
) -> bool:
    """True if the first dimensions of what is handed over are by the text as long as `bounds`, those of the dummy argument, say."""
    base, ranges = actual, None
    if actual.type == "call_expression":
        base = children(actual)[0]
        ranges = [(at, each) for at, each in enumerate(arguments(actual)) if each.type == "extent_specifier"]
    for at, bound in enumerate(bounds):
        wanted = _wanted(bound, procedure, dummies, call, caller)
        where, section = ranges[at] if ranges is not None else (at, None)
        if wanted is None or wanted not in _offered(base, where, section, caller, program):
            return False
    return True


def _sum(node: Node | Expr, procedure: Procedure, variables: frozenset[str] = frozenset()) -> Sum | None:
    expr = node if isinstance(node, Expr) else fortran.expression(node)
    known = procedure.source.file.unit.constants
    constants = {name: value for name, value in known.items() if holder(name, procedure) is None}
    return linear(
        expr, Scope({}, {name: value for name, value in constants.items() if name not in variables}), variables
    )


def _wanted(bound: Node, procedure: Procedure, dummies: list[str], call: Node, caller: Procedure) -> Sum | None:
    """The extent of a dummy argument in one dimension, with what the call hands over for the names in it."""
    parts = _ends(bound)
    own = frozenset(dummies)
    upper = _sum(parts[1], procedure, own)
    lower = _sum(parts[0], procedure, own)
    extent = _extent(lower, upper)
    if extent is None:
        return None
    total: Sum | None = {}
    for names, times in extent.items():
        term: Sum | None = {(): times}
        for name in names:
            if name not in own or term is None:
                return None
            given = named_argument(call, name, dummies.index(name))
            value = _sum(given, caller) if given is not None else None
            term = product(term, value) if value is not None else None
        total = add(total, term) if total is not None and term is not None else None
    return total


def _ends(bound: Node) -> tuple[Expr, Expr]:
    one = Expr(Kind.NUMBER, "1")
    if bound.type != "extent_specifier":
        return one, fortran.expression(bound)
    parts = fortran.expression(bound).parts
    lower = parts[0] if parts and (parts[0].kind != Kind.OTHER or parts[0].text) else one
    return lower, parts[1] if len(parts) == 2 else Expr(Kind.OTHER, "unknown")


def _extent(lower: Sum | None, upper: Sum | None) -> Sum | None:
    if lower is None or upper is None:
        return None
    between = add(upper, lower, -1)
    return add(between, {(): 1}) if between is not None else None


def _offered(base: Node, place: int, section: Node | None, caller: Procedure, program: Program) -> list[Sum]:
    """Ways to say how long an array is in one dimension, or a section of it."""
    if section is not None and squeezed(section) != ":":
        words = squeezed(section)
        if words.count(":") != 1 or words.startswith(":") or words.endswith(":"):
            return []
        lower, upper = (_sum(each, caller) for each in _ends(section))
        found = _extent(lower, upper)
        return [found] if found is not None else []
    asked = fortran.expression(base)
    number = Expr(Kind.NUMBER, str(place + 1))
    listed: list[Sum | None] = [_sum(Expr(Kind.CALL, "size", None, (asked, number)), caller)]
    if rank_of(base, caller, program) == 1:
        listed.append(_sum(Expr(Kind.CALL, "size", None, (asked,)), caller))
    if base.type == "identifier":
        listed.append(_declared(text_of(base).lower(), place, caller, program))
    return [each for each in listed if each is not None]


def _declared(name: str, place: int, caller: Procedure, program: Program) -> Sum | None:
    """The extent of a variable by its declaration, or by the one statement that allocates it, as long as the names in it keep their
    values.
    """
    around = holder(name, caller)
    known = declaration(around, name) if around is not None else None
    if around is None or known is None or "save" in known.attributes or "pointer" in known.attributes:
        return None
    bounds: list[Node] = []
    if known.is_allocatable:
        made = [each for each in around.all("sized_allocation") if squeezed(children(each)[0]) == name]
        if len(made) != 1 or _gets_another_shape(name, around, program):
            return None
        bounds = children(children(made[0])[-1])
    else:
        for node in around.node.named_children:
            for one in node.children_by_field_name("declarator") if node.type == "variable_declaration" else []:
                shared = [
                    each for each in node.children_by_field_name("attribute") if "dimension" in text_of(each).lower()
                ]
                if one.type == "sized_declarator" and text_of(children(one)[0]).lower() == name:
                    bounds = children(children(one)[-1])
                elif one.type == "identifier" and text_of(one).lower() == name and shared:
                    bounds = arguments(shared[0])
    if place >= len(bounds) or bounds[place].type == "assumed_size" or squeezed(bounds[place]).endswith((":", "*")):
        return None
    lower, upper = (_sum(each, around) for each in _ends(bounds[place]))
    found = _extent(lower, upper)
    if found is None:
        return None
    for key in found:
        for each in key:
            if not re.fullmatch(r"[a-z]\w*", each) or not _keeps_its_value(
                each, around, caller, known.is_allocatable, program
            ):
                return None
    return found


def _gets_another_shape(name: str, around: Procedure, program: Program) -> bool:
    for one in identifiers(around.node, name):
        parent = one.parent
        if parent is None:
            return True
        if parent.type == "assignment_statement" and field(parent, "left") == one:
            if not is_single(field(parent, "right"), around):
                return True
        elif parent.parent is not None and parent.parent.type == "subroutine_call":
            taker = called(parent.parent)
            if taker != "random_number" and not program.named(taker):
                return True
    return is_moved(name, around, program)


def _keeps_its_value(name: str, around: Procedure, caller: Procedure, allocated: bool, program: Program) -> bool:
    """True for a variable that is the same in `around` and the procedure in it that calls, and is given a value only once, in front of
    everything that could be allocated; or that is an argument which nobody may change.
    """
    known = declaration(around, name)
    if known is None or known.rank or holder(name, caller) is not around:
        return False
    if {"target", "pointer", "volatile"} & set(known.attributes):
        return False
    if "intent(in)" in known.attributes or any(each.startswith("parameter") for each in known.attributes):
        return True
    if not allocated or name in around.parameters:
        return False
    given = 0
    for node in identifiers(around.node, name):
        parent = node.parent
        if parent is None or parent.type == "input_item_list":
            return False
        if parent.type == "loop_control_expression" and children(parent)[0] == node:
            return False
        if parent.type in ("argument_list", "keyword_argument") and is_given_away(node, program):
            return False
        if parent.type == "init_declarator":
            given += 1
        if parent.type == "assignment_statement" and field(parent, "left") == node:
            given += 1
            if parent.parent != around.node:
                return False
    return given == 1
