"""Where the memory was made that a pointer leads to, followed through all of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, field, text_of
from chathpc.fix.recipes.analysis.types import declared, field_of, of_declaration, type_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Where memory was made: a call of an allocator, or a declared array. None: it may be anywhere.
Origins = frozenset[str] | None
ALLOCATORS = frozenset({"malloc", "calloc", "realloc", "aligned_alloc", "valloc", "memalign"})
_NOTHING: frozenset[str] = frozenset()
_DEEPEST = 8


def origins(
    node: Node | None, procedure: Procedure, program: Program, depth: int = 0, seen: frozenset[str] = frozenset()
) -> Origins:
    """Where the memory was made that a pointer or array leads to, over all of the program; None where that is not known."""
    if node is None or depth > _DEEPEST:
        return None
    if depth == 0:
        key = procedure.node.start_byte, procedure.source.path, node.start_byte, node.end_byte
        if key not in program.known_origins:
            program.known_origins[key] = origins(node, procedure, program, 1, seen)
        return program.known_origins[key]

    def of(child: Node | None) -> Origins:
        return origins(child, procedure, program, depth + 1, seen)

    match node.type:
        case "number_literal" | "null" | "nullptr":
            return _NOTHING
        case "parenthesized_expression" | "cast_expression":
            return of(field(node, "value") or next(iter(children(node)), None))
        case "conditional_expression":
            return united([of(field(node, "consequence")), of(field(node, "alternative"))])
        case "assignment_expression":
            return of(field(node, "right"))
        case "binary_expression":
            if text_of(field(node, "operator")) not in ("+", "-"):
                return None
            sides = [field(node, "left"), field(node, "right")]
            kinds = [type_of(side, procedure, program) for side in sides]
            pointing = [side for side, kind in zip(sides, kinds, strict=True) if kind is not None and kind.depth > 0]
            return of(pointing[0]) if len(pointing) == 1 and None not in kinds else None
        case "pointer_expression":
            if text_of(field(node, "operator")) != "&":
                return None
            inner = field(node, "argument")
            if inner is not None and inner.type == "subscript_expression":
                return of(field(inner, "argument"))
            if inner is not None and inner.type == "identifier":
                return frozenset({object_name(text_of(inner), procedure)})
            return None
        case "subscript_expression":
            kind = type_of(field(node, "argument"), procedure, program)
            base = field(node, "argument")
            one = (
                declared(text_of(base), procedure, program) if base is not None and base.type == "identifier" else None
            )
            nested = one is not None and ((len(one.dims) > 1 and not one.pointers) or "vector" in one.type)
            return of(base) if nested and kind is not None else None
        case "call_expression":
            return _made(node, procedure, program, depth, seen)
        case "new_expression":
            return frozenset({_site(node, procedure)})
        case "identifier":
            return _of_name(text_of(node), procedure, program, depth, seen)
        case "field_expression":
            return _of_member(node, procedure, program, depth, seen)
        case _:
            return None


def _site(node: Node, procedure: Procedure) -> str:
    return f"{procedure.source.path}:{node.start_byte}"


def object_name(name: str, procedure: Procedure) -> str:
    """How a variable's own memory is named among origins."""
    return (
        f"{procedure.source.path}:{procedure.node.start_byte}:{name}"
        if name in procedure.declarations
        else f"global:{name}"
    )


def united(parts: list[Origins]) -> Origins:
    """All origins together; None as soon as one is not known."""
    if not parts or any(part is None for part in parts):
        return None
    return frozenset().union(*(part for part in parts if part is not None))


def _made(node: Node, procedure: Procedure, program: Program, depth: int, seen: frozenset[str]) -> Origins:
    name = text_of(field(node, "function")).rsplit("::", 1)[-1]
    own = program.named(name)
    if name in ALLOCATORS and not own:
        return frozenset({_site(node, procedure)})
    if len(own) != 1 or f"call {name}" in seen:
        return None
    seen = seen | {f"call {name}"}
    callee = own[0]
    returned = [next(iter(children(each)), None) for each in callee.all("return_statement")]
    parts = [origins(each, callee, program, depth + 1, seen) for each in returned]
    merged = united(parts)
    if merged is not None and merged and all(_is_inner_allocation(each, callee, program) for each in merged):
        return frozenset({_site(node, procedure)})  # each call makes its own
    return merged


def _is_inner_allocation(origin: str, callee: Procedure, program: Program) -> bool:
    """True for memory that the function itself allocates and keeps nowhere else."""
    path, _, at = origin.rpartition(":")
    if path != callee.source.path or not at.isdigit() or not callee.node.start_byte <= int(at) < callee.node.end_byte:
        return False
    for each in callee.all("assignment_expression"):
        left, right = field(each, "left"), field(each, "right")
        if left is None or right is None or (left.type == "identifier" and text_of(left) in callee.declarations):
            continue
        kind = type_of(right, callee, program)
        if kind is None or kind.depth:
            return False  # a pointer is kept somewhere
    return not any(one.static for one in callee.model.declarations)


def _of_name(name: str, procedure: Procedure, program: Program, depth: int, seen: frozenset[str]) -> Origins:
    one = declared(name, procedure, program)
    if one is None:
        return None
    is_local = name in procedure.declarations
    key = object_name(name, procedure)
    if key in seen:
        return _NOTHING
    seen = seen | {key}
    is_parameter = name in procedure.parameters
    if (
        not is_parameter
        and not one.reference
        and not one.pointers
        and (one.dims or of_declaration(one).depth or not is_local)
    ):
        return frozenset({key})
    if is_parameter and not one.reference and not one.pointers and not one.dims and of_declaration(one).depth:
        return frozenset({key})  # a container handed over by value
    if not is_parameter and not one.reference and not one.pointers and is_local:
        return frozenset({key})
    if one.reference and not is_parameter:
        return None
    if name in (procedure.addressed if is_local else program.addressed) and one.pointers:
        return None
    parts: list[Origins] = []
    if is_parameter:
        parts.append(_handed_in(name, procedure, program, depth, seen))
    given = (
        [(procedure, each) for each in procedure.assigned.get(name, ())] if is_local else program.assigned.get(name, ())
    )
    parts += [origins(value, home, program, depth + 1, seen) for home, value in given]
    if not is_local and one.value is not None and one.value.text not in ("0", "NULL", "nullptr"):
        return None
    return united(parts)


def _handed_in(name: str, procedure: Procedure, program: Program, depth: int, seen: frozenset[str]) -> Origins:
    """What all calls in the program hand over for a parameter."""
    if (
        procedure.model.name in program.handed_on
        or procedure.model.marks & {"virtual", "global"}
        or len(program.named(procedure.model.name)) != 1
    ):
        return None
    if not (program.named("main") or "static" in procedure.model.marks):
        return None  # there are callers that nobody has shown
    at = [one.name for one in procedure.model.parameters].index(name)
    parts: list[Origins] = []
    one = procedure.declarations.get(name)
    for caller, call in program.calls.get(procedure.model.name, []):
        arguments = children(field(call, "arguments"))
        if at >= len(arguments):
            return None
        argument: Node | None = arguments[at]
        if one is not None and one.reference and argument is not None and argument.type == "identifier":
            parts.append(_of_name(text_of(argument), caller, program, depth + 1, seen))
        else:
            parts.append(origins(argument, caller, program, depth + 1, seen))
    return united(parts)


def _of_member(node: Node, procedure: Procedure, program: Program, depth: int, seen: frozenset[str]) -> Origins:
    one = field_of(node, procedure, program)
    if one is None:
        return None
    name = one.name
    key = f"member:{name}"
    if key in seen:
        return _NOTHING
    seen = seen | {key}
    of = of_declaration(one)
    if not one.pointers and not one.reference and of.depth:
        base = field(node, "argument")
        if one.dims:  # an array inside a record: as far away from others as the record's members are
            return frozenset({key}) if name not in program.addressed and base is not None else None
        return frozenset({key})
    if one.reference or name in program.addressed or _is_listed(name, program):
        return None
    given = [*_first_values(name, program), *program.assigned_members.get(name, ())]
    return united([origins(value, home, program, depth + 1, seen) for home, value in given])


def _is_listed(name: str, program: Program) -> bool:
    """True where the member may get its value by a constructor, or by a list outside functions or without an order."""
    question = f"listed {name}"
    if question not in program.known_facts:
        program.known_facts[question] = any(_may_list(node, name, program) for node in program.lists)
    return program.known_facts[question]


def _may_list(node: Node, name: str, program: Program) -> bool:
    holders = program.holders.get(name, {})
    if node.type == "field_initializer":
        return text_of(next(iter(children(node)), None)) == name
    if node.type == "compound_literal_expression":
        return any(word in holders for word in text_of(field(node, "type")).split())
    return bool(
        _listed_type(node) & set(holders)
        and not _is_local_list(node)
        and any(text_of(each) not in ("0", "NULL", "{0}") for each in children(node))
    )


def _listed_type(node: Node) -> set[str]:
    """Words of the type that a list initialises."""
    one: Node | None = node
    while one is not None and one.type in (
        "initializer_list",
        "init_declarator",
        "initializer_pair",
        "array_declarator",
    ):
        one = one.parent
    return set(text_of(field(one, "type")).split()) if one is not None and one.type == "declaration" else set()


def _is_local_list(node: Node) -> bool:
    """True for `Record name = {…}` in a function, with values in the order of the members."""
    one = node.parent
    if one is None or one.type != "init_declarator" or any(each.type == "initializer_pair" for each in children(node)):
        return False
    name = field(one, "declarator")
    while one is not None and one.type != "function_definition":
        one = one.parent
    return one is not None and name is not None and name.type == "identifier"


def _first_values(name: str, program: Program) -> list[tuple[Procedure, Node | None]]:
    """What a member gets from lists in functions."""
    holders = program.holders.get(name, {})
    found: list[tuple[Procedure, Node | None]] = []
    for home in program.procedures:
        for node in home.all("initializer_list"):
            listed = children(node)
            for each in _listed_type(node) & set(holders):
                if len(listed) > holders[each]:
                    found.append((home, listed[holders[each]]))
    return found


def is_fresh(node: Node, procedure: Procedure, program: Program) -> bool:
    """True for a pointer that is always the beginning of memory of its own, and so the same as another such one or apart from it."""
    found = origins(node, procedure, program)
    return found is not None and bool(found)
