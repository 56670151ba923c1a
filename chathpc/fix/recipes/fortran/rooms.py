"""Whether an allocatable list of Fortran may have more room than items: nobody asks for its size or uses it as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, field, nodes, text_of
from chathpc.fix.recipes.fortran.statements import arguments, called, declaration, identifiers, squeezed

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_PROCEDURES = 40


def may_have_room(items: Node, procedure: Procedure, program: Program, besides: tuple[int, int]) -> bool:
    """True if all uses of the list in the program, but for those in some bytes of the file, are of single elements or of sections with
    both ends.
    """
    if any(not source.is_fortran for source in program.sources.values()) or program.unread:
        return False
    if any(each.has_errors for each in program.procedures):
        return False
    if items.type == "identifier":
        return _variable_may(text_of(items).lower(), procedure, program, besides)
    owner, member = children(items)[0], children(items)[-1]
    kind = _record(owner, procedure)
    return kind is not None and all(
        _is_partial(node.parent) or (source is procedure.source and besides[0] <= node.start_byte < besides[1])
        for source in program.sources.values()
        for node in nodes(source.file.tree.root_node, "type_member")
        if text_of(node).lower() == text_of(member).lower()
        and node.parent is not None
        and _may_be(kind, node.parent, source.procedures)
    )


def _record(owner: Node, procedure: Procedure) -> str | None:
    """The type of a variable, if it is declared in the procedure as a derived type."""
    if owner.type == "call_expression":
        owner = children(owner)[0]
    own = declaration(procedure, text_of(owner).lower()) if owner.type == "identifier" else None
    kind = own.type.lower().replace(" ", "") if own is not None else ""
    return kind.partition("(")[2].rstrip(")") if kind.startswith(("type(", "class(")) else None


def _may_be(kind: str, member: Node, procedures: tuple[Procedure, ...]) -> bool:
    around = [one for one in procedures if one.node.start_byte <= member.start_byte < one.node.end_byte]
    found = _record(children(member)[0], around[-1]) if around else None
    return found is None or found == kind


def _is_partial(use: Node | None) -> bool:
    """True if what stands there names elements, a section with both ends, or nothing but where the list lies."""
    parent = use.parent if use is not None else None
    if use is None or parent is None:
        return False
    if parent.type == "call_expression" and children(parent)[0] == use:
        return bool(arguments(parent)) and _is_bounded(arguments(parent)[-1])  # it is the last dimension that grows
    if parent.type == "sized_allocation":
        return all(each.type != "extent_specifier" for each in children(children(parent)[-1]))
    if parent.type == "deallocate_statement":
        return True
    if parent.type in ("argument_list", "keyword_argument"):
        call = parent.parent if parent.type == "argument_list" else parent.parent and parent.parent.parent
        if called(call) == "allocated":
            return True
        to = arguments(call)[-1:] if called(call) == "move_alloc" else []
        return bool(to) and (to[0] == use or (to[0] == parent and text_of(field(parent, "name")).lower() == "to"))
    return False


def _is_bounded(index: Node) -> bool:
    if index.type == "keyword_argument":
        return False
    return index.type != "extent_specifier" or (not squeezed(index).endswith(":") and "::" not in squeezed(index))


def _variable_may(name: str, procedure: Procedure, program: Program, besides: tuple[int, int]) -> bool:
    """The same for a variable: in its procedure, in those that hand it over, and in those that are handed it."""
    todo: list[tuple[Procedure, str]] = [(procedure, name)]
    shared = declaration(procedure, name) is None and name in procedure.source.file.unit.variables
    if shared:  # a variable of the module
        todo = [(one, name) for one in program.procedures if declaration(one, name) is None]
    outer = len(todo) if shared else 0
    seen: set[tuple[int, str]] = set()
    while todo:
        one, own = todo.pop()
        if (id(one), own) in seen:
            continue
        seen.add((id(one), own))
        known = declaration(one, own)
        if (known is None and not (shared and own == name)) or len(seen) > _MOST_PROCEDURES + outer:
            return False
        if one.model.returns is not None and own == one.model.returns.name:
            return False
        if own in one.parameters:
            handed = _handed(one, own, program)
            if handed is None:
                return False
            todo += handed
        for node in identifiers(one.node, own):
            here = one.source is procedure.source and besides[0] <= node.start_byte < besides[1]
            if here or _is_declared_there(node) or _is_partial(node):
                continue
            taking = _taker(node, program)
            if taking is None:
                return False
            callee, dummy = taking
            shape = declaration(callee, dummy)
            if shape is None:
                return False
            if not _has_sizes(callee, dummy):
                todo.append((callee, dummy))
    return True


def _is_declared_there(node: Node) -> bool:
    one = node.parent
    while one is not None and one.type in ("sized_declarator", "init_declarator"):
        one = one.parent
    return one is not None and one.type in ("variable_declaration", "parameters")


def _taker(node: Node, program: Program) -> tuple[Procedure, str] | None:
    """Who is handed the variable as a whole, and under which name."""
    listed = node.parent
    call = listed.parent if listed is not None and listed.type == "argument_list" else None
    named = program.named(called(call)) if call is not None and called(call) else []
    if call is None or len(named) != 1:
        return None
    places = [at for at, each in enumerate(arguments(call)) if each == node]
    dummies = [each.name for each in named[0].model.parameters]
    return (named[0], dummies[places[0]]) if places and places[0] < len(dummies) else None


def _has_sizes(callee: Procedure, dummy: str) -> bool:
    """True for a dummy argument that is as long as it says itself: `v(n)`."""
    one = next((each for each in callee.model.parameters if each.name == dummy), None)
    return one is not None and bool(one.dims) and all(each is not None for each in one.dims)


def _handed(procedure: Procedure, dummy: str, program: Program) -> list[tuple[Procedure, str]] | None:
    """The variables that callers hand over for a dummy argument; None where that may be anything else."""
    name = procedure.model.name
    if len(program.named(name)) != 1:
        return None
    place = [each.name for each in procedure.model.parameters].index(dummy)
    found: list[tuple[Procedure, str]] = []
    for one in program.procedures:
        for node in identifiers(one.node, name):
            call = node.parent
            if call is None or call.type not in ("subroutine_call", "call_expression") or called(call) != name:
                return None
            if len(one.node.children) and _is_inside_other(call, one, program):
                continue
            listed = arguments(call)
            if place >= len(listed) or any(each.type == "keyword_argument" for each in listed):
                return None
            if listed[place].type != "identifier":
                return None
            found.append((one, text_of(listed[place]).lower()))
    return found


def _is_inside_other(node: Node, procedure: Procedure, program: Program) -> bool:
    """True if the node is in a procedure that the procedure contains."""
    return any(
        one is not procedure
        and one.source is procedure.source
        and procedure.node.start_byte
        < one.node.start_byte
        <= node.start_byte
        < one.node.end_byte
        <= procedure.node.end_byte
        for one in program.procedures
    )
