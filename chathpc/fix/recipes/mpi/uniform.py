"""Which values are the same in all processes of a program in C, because each computes them alike from what all have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import Counted, around, counted
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import C_LOOPS, bare, children, field, inside, nodes, text_of
from chathpc.fix.recipes.mpi.ranks import SIZE, asked

if TYPE_CHECKING:
    from tree_sitter import Node

_BRANCHES = ("if_statement", "switch_statement", "conditional_expression", *C_LOOPS)
#: What may be done with an array's address: places of what these calls read, or give to all alike.
_ALIKE = {"MPI_Bcast": (0,), "MPI_Allreduce": (0, 1), "MPI_Send": (0,), "MPI_Reduce": (0,), "free": (0,)}
_MEMORY = frozenset({"malloc", "calloc"})
_READING = frozenset({"atoi", "atol", "atof"})

Seen = frozenset[tuple[int, str]]


def is_uniform(node: Node, procedure: Procedure, program: Program, trusted: Node, seen: Seen = frozenset()) -> bool:
    """True if an expression has the same value in all processes; what `trusted` writes is handed to all of them."""
    one = bare(node)
    if one is not None and one.type == "call_expression" and text_of(field(one, "function")) in _MEMORY | _READING:
        return all(is_uniform(each, procedure, program, trusted, seen) for each in children(field(one, "arguments")))
    if any(True for _ in nodes(node, "field_expression", "pointer_expression")):
        return False
    if one is not None and one.type == "conditional_expression":
        return all(is_uniform(each, procedure, program, trusted, seen) for each in children(one))
    if one is not None and one.type == "initializer_list":
        return all(is_uniform(each, procedure, program, trusted, seen) for each in children(one))
    known = effects(node, procedure, program)
    if not known.is_known or known.jumps or known.declared:
        return False
    for access in known.accesses:
        inner: Node | None = access.node
        while inner is not None and inner.type == "subscript_expression":
            inner = field(inner, "argument")
        if inner is None or inner.type != "identifier":
            return False
        loop = _loop_of(inner, access.procedure)
        if loop is not None:
            key = (loop.node.start_byte, loop.variable)
            sides = () if key in seen else (loop.start, loop.bound)
            if not all(is_uniform(each, loop.procedure, program, trusted, seen | {key}) for each in sides):
                return False
        elif not is_uniform_name(text_of(inner), access.procedure, program, trusted, seen):
            return False
    return True


def _loop_of(name: Node, procedure: Procedure) -> Counted | None:
    """The loop around a name that alone gives it its values there."""
    own = procedure.declarations.get(text_of(name))
    if own is None or own.static or own.reference or text_of(name) in procedure.addressed:
        return None
    for one in around(name, procedure):
        header = counted(one, procedure)
        if header is None or header.variable != text_of(name):
            continue
        uses = [each.parent for each in nodes(header.body, "identifier") if text_of(each) == header.variable]
        changes = ("assignment_expression", "update_expression", "init_declarator", "declaration")
        set_there = any(each is not None and each.type in changes and _sets(each, header.variable) for each in uses)
        return None if set_there else header
    return None


def _sets(node: Node, name: str) -> bool:
    target = field(node, "left") or field(node, "declarator") or field(node, "argument")
    return text_of(target) == name


def is_uniform_name(name: str, procedure: Procedure, program: Program, trusted: Node, seen: Seen = frozenset()) -> bool:
    """As `is_uniform`, for a variable or all elements of an array."""
    is_local = name in procedure.declarations
    key = (procedure.node.start_byte if is_local else -1, name)
    if key in seen or asked(name, SIZE, procedure, program):
        return True
    if not is_local and name not in program.variables:
        return name in procedure.source.file.unit.constants
    if name in procedure.parameters and procedure.model.name == "main":
        return True
    if name in procedure.parameters and not _is_given_alike(name, procedure, program, trusted, seen | {key}):
        return False
    users = [procedure] if is_local else [each for each in program.procedures if name not in each.declarations]
    return all(
        inside(node, trusted) or _keeps(node, name, user, program, trusted, seen | {key})
        for user in users
        for node in user.identifiers.get(name, ())
    )


def _is_given_alike(name: str, procedure: Procedure, program: Program, trusted: Node, seen: Seen) -> bool:
    """True if all that callers hand over for a parameter is the same in all processes."""
    own = procedure.model.name
    calls = program.calls.get(own, [])
    place = [one.name for one in procedure.model.parameters].index(name)
    if own in program.handed_on or len(program.named(own)) != 1 or not calls:
        return False
    given = [(caller, children(field(call, "arguments"))) for caller, call in calls]
    return all(
        place < len(listed) and is_uniform(listed[place], caller, program, trusted, seen) for caller, listed in given
    )


def _keeps(node: Node, name: str, procedure: Procedure, program: Program, trusted: Node, seen: Seen) -> bool:
    """True if a use of the variable leaves it the same in all processes."""
    used, indices = node, []
    while (
        used.parent is not None
        and used.parent.type == "subscript_expression"
        and field(used.parent, "argument") == used
    ):
        used = used.parent
        indices.append(field(used, "index"))
    parent = used.parent
    if parent is None:
        return False
    own = procedure.declarations.get(name) if name in procedure.declarations else program.variables.get(name)
    if own is None or own.reference or (own.static and name in procedure.declarations):
        return False
    depth = own.pointers + len(own.dims)
    if parent.type == "pointer_expression" or (parent.type == "argument_list" and len(indices) < depth):
        listed = parent if parent.type == "argument_list" else parent.parent
        call = listed.parent if listed is not None and listed.type == "argument_list" else None
        argument = parent if listed != parent else used
        return call is not None and _hands_alike(call, argument, program, trusted, seen)
    value = field(parent, "right") or field(parent, "value")
    target = field(parent, "left") or field(parent, "declarator")
    if parent.type in ("assignment_expression", "init_declarator") and target == used and value is not None:
        parts = [value, *(each for each in indices if each is not None)]
        return all(is_uniform(each, procedure, program, trusted, seen) for each in parts) and _is_done_alike(
            parent, procedure, program, trusted, seen
        )
    if parent.type == "update_expression":
        return _is_done_alike(parent, procedure, program, trusted, seen)
    if _is_parameter(used):
        return True
    if parent.type in ("pointer_declarator", "array_declarator"):
        return (parent.parent is not None and parent.parent.type == "declaration") or _begins(
            parent, procedure, program, trusted, seen
        )
    return len(indices) == depth or parent.type in ("declaration", "sizeof_expression")


def _is_parameter(node: Node) -> bool:
    one = node.parent
    while one is not None and one.type in ("pointer_declarator", "array_declarator"):
        one = one.parent
    return one is not None and one.type == "parameter_declaration"


def _begins(declarator: Node, procedure: Procedure, program: Program, trusted: Node, seen: Seen) -> bool:
    """True for the declaration of a pointer to memory of its own."""
    one: Node | None = declarator
    while one is not None and one.type in ("pointer_declarator", "array_declarator"):
        one = one.parent
    value = field(one, "value") if one is not None and one.type == "init_declarator" else None
    return value is not None and is_uniform(value, procedure, program, trusted, seen)


def _hands_alike(call: Node, argument: Node, program: Program, trusted: Node, seen: Seen) -> bool:
    """True if what is called leaves the argument the same in all processes."""
    name, listed = text_of(field(call, "function")), children(field(call, "arguments"))
    if argument not in listed:
        return False
    place = listed.index(argument)
    if name in _ALIKE:
        of_all = not name.startswith("MPI_") or text_of(listed[-1]) == "MPI_COMM_WORLD"
        return of_all and place in _ALIKE[name]
    named = program.named(name)
    if len(named) != 1 or place >= len(named[0].model.parameters) or argument.type != "identifier":
        return False
    return is_uniform_name(named[0].model.parameters[place].name, named[0], program, trusted, seen)


def _is_done_alike(
    node: Node, procedure: Procedure, program: Program, trusted: Node, seen: Seen, depth: int = 0
) -> bool:
    """True if all processes come by equally often: conditions around it, and around calls of its function, are the same in all."""
    one = node.parent
    while one is not None and one != procedure.node:
        if one.type == "binary_expression" and text_of(field(one, "operator")) in ("&&", "||"):
            return False
        condition = field(one, "condition") if one.type in _BRANCHES else None
        if condition is not None and not is_uniform(condition, procedure, program, trusted, seen):
            return False
        if one.type in C_LOOPS and any(True for _ in nodes(one, "break_statement", "continue_statement")):
            return False
        one = one.parent
    if any(each.parent != procedure.body for each in procedure.all("return_statement", "goto_statement")):
        return False
    name = procedure.model.name
    if name == "main":
        return True
    calls = program.calls.get(name, [])
    return (
        depth < 4
        and name not in program.handed_on
        and all(_is_done_alike(call, caller, program, trusted, seen, depth + 1) for caller, call in calls)
    )
