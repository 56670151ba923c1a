"""Arrays of which every process computes some elements, and which are then summed over all: whose elements these are does not matter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.loops import counted
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import bare, block_of, children, field, inside, nodes, statements, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 2


def is_assembled(name: str, work: Node, whole: str, procedure: Procedure, program: Program, depth: int = 0) -> bool:
    """True if the array is zero before the statement, and behind it summed over all processes; `whole` is how many elements it has."""
    if _is_assembled_here(name, work, whole, procedure):
        return True
    handed = name in procedure.parameters and depth < _DEEPEST
    return handed and _is_assembled_outside(name, work, whole, procedure, program, depth)


def _is_assembled_here(name: str, work: Node, whole: str, procedure: Procedure) -> bool:
    """As `is_assembled`, by the statements of its own block."""
    listed = statements(work.parent)
    if work not in listed:
        return False
    at = listed.index(work)
    using = [each for each in listed if name in {text_of(one) for one in nodes(each, "identifier")}]
    behind = next((each for each in using if each.start_byte > work.start_byte), None)
    before = next((each for each in reversed(using) if each.start_byte < work.start_byte), None)
    call = bare(behind)
    if call is None or before is None or call.type != "call_expression" or before not in listed[:at]:
        return False
    arguments = [text_of(each) for each in children(field(call, "arguments"))]
    function = text_of(field(call, "function"))
    if arguments[2:3] != [whole] or arguments[-1:] != ["MPI_COMM_WORLD"] or arguments[4:5] != ["MPI_SUM"]:
        return False
    if not _clears(before, name, whole, procedure):
        return False
    if function == "MPI_Allreduce" and arguments[:2] == ["MPI_IN_PLACE", name]:
        return True
    if function not in ("MPI_Allreduce", "MPI_Reduce") or arguments[0] != name or arguments[1] == name:
        return False
    if name in procedure.parameters or name not in procedure.declarations:
        return False
    return all(
        any(inside(node, each) for each in (work, before, call)) or _is_no_use(node)
        for node in procedure.identifiers.get(name, ())
    )


def _is_assembled_outside(
    name: str, work: Node, whole: str, procedure: Procedure, program: Program, depth: int
) -> bool:
    """As `is_assembled`, for an array that the only caller hands over, and that nothing but the statement uses."""
    own = procedure.model.name
    calls = program.calls.get(own, [])
    if (
        len(calls) != 1
        or own in program.handed_on
        or len(program.named(own)) != 1
        or not (program.named("main") or "static" in procedure.model.marks)
    ):
        return False
    if not all(inside(node, work) or _is_parameter(node) for node in procedure.identifiers.get(name, ())):
        return False
    caller, call = calls[0]
    places = [one.name for one in procedure.model.parameters]
    given = [text_of(each) for each in children(field(call, "arguments"))]
    statement = block_of(call)
    if len(given) != len(places) or statement is None or given.count(given[places.index(name)]) != 1:
        return False
    if whole in places:
        if procedure.assigned.get(whole) or whole in procedure.addressed:
            return False
        whole = given[places.index(whole)]
    elif whole in procedure.declarations:
        return False
    array = given[places.index(name)]
    if not array.isidentifier() or any(True for _ in _loops_around(call, statement)):
        return False
    return is_assembled(array, statement, whole, caller, program, depth + 1)


def _loops_around(call: Node, statement: Node) -> list[Node]:
    return [each for each in nodes(statement, "for_statement", "while_statement", "do_statement") if inside(call, each)]


def _is_parameter(node: Node) -> bool:
    one = node.parent
    while one is not None and one.type in ("pointer_declarator", "array_declarator", "reference_declarator"):
        one = one.parent
    return one is not None and one.type == "parameter_declaration"


def _is_no_use(node: Node) -> bool:
    """True where the name is only declared, or its memory given back."""
    one: Node | None = node.parent
    while one is not None and one.type in ("pointer_declarator", "array_declarator"):
        one = one.parent
    if one is not None and one.type == "argument_list":
        return text_of(field(one.parent, "function")) == "free"
    return one is not None and one.type == "declaration"


def _clears(statement: Node, name: str, whole: str, procedure: Procedure) -> bool:
    """`a = calloc(…)`, `memset(a, 0, …)` of all of it, or a loop that sets all its elements to zero."""
    header = counted(statement, procedure)
    if header is not None:
        body = statements(header.body)
        zero = rf"{re.escape(name)}\[{header.variable}\] = (?:0|0\.0?f?);"
        return (
            len(body) == 1
            and re.fullmatch(zero, text_of(body[0])) is not None
            and (text_of(header.start), header.operator, text_of(header.bound), header.step) == ("0", "<", whole, 1)
        )
    if statement.type not in ("declaration", "expression_statement"):
        return False
    if any(text_of(field(each, "function")) == "calloc" for each in _values(statement, name)):
        return True
    words = text_of(bare(statement)).replace(" ", "").replace("(size_t)", "")
    sizes = [rf"sizeof\*{name}", rf"sizeof\(\*{name}\)", r"sizeof\(\w+\)", rf"sizeof{name}\[0\]"]
    parts = "|".join(f"{whole}\\*{each}|{each}\\*{whole}" for each in sizes)
    return re.fullmatch(rf"memset\({re.escape(name)},0,(?:{parts})\)", words) is not None


def _values(statement: Node, name: str) -> list[Node]:
    """What the statement gives a pointer of that name."""
    found = []
    for each in nodes(statement, "init_declarator", "assignment_expression"):
        target = field(each, "declarator") or field(each, "left")
        while target is not None and target.type == "pointer_declarator":
            target = field(target, "declarator")
        value = bare(field(each, "value") or field(each, "right"))
        while value is not None and value.type == "cast_expression":
            value = bare(field(value, "value"))
        if text_of(target) == name and value is not None:
            found.append(value)
    return found
