"""MPI in Fortran: iterations that are dealt out in blocks are dealt out in turn, and barriers that order nothing are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.fortran import expression
from chathpc.fix.recipes.analysis.dependences import is_independent
from chathpc.fix.recipes.analysis.edits import Edit, without_line
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, inside, line_of, nodes, text_of
from chathpc.fix.recipes.fortran.accesses import is_safe
from chathpc.fix.recipes.fortran.loops import control, dependences, is_index_free_after, own_text
from chathpc.fix.recipes.fortran.statements import arguments, called, identifiers, squeezed
from chathpc.fix.recipes.mpi.block_bounds import Bounds, Setting, names_in, needed, settled
from chathpc.fix.recipes.mpi.calls import Call, is_repeated, mpi_call
from chathpc.fix.recipes.mpi.collectives import is_for_all
from chathpc.fix.recipes.recipe import Change, Context, Semantics

if TYPE_CHECKING:
    from tree_sitter import Node

_SEEN_OUTSIDE = re.compile(
    r"\b(?:mpi_any_(?:source|tag)|mpi_(?:win|file|put|get|accumulate|i?m?probe|comm_spawn)\w*|open|inquire|execute_command_line|system|sleep)\b\s*\(?"
)


def in_turn(context: Context, spot: Spot) -> Iterator[Change]:
    """`do k = my_first, my_last` becomes `do k = rank + 1, n, size` where only sums over all processes are used of what it gives."""
    procedure, program = spot.procedure, context.program
    if not is_safe(procedure):
        return
    ranks, sizes = (_asked(each, procedure) for each in ("mpi_comm_rank", "mpi_comm_size"))
    for loop in procedure.all("do_loop"):
        head = control(loop)
        parts = children(head) if head is not None else []
        if len(parts) != 3 or not ranks or not sizes or not is_for_all(loop, procedure, program):
            continue
        found = _share(loop, parts, ranks[0], sizes[0], procedure)
        exact = _is_for_all_sums(loop, procedure, program) if found is not None else None
        if found is None or exact is None or not (exact or context.may_round):
            continue
        first, whole = found
        start = f"{first} + {ranks[0]}" if first else ranks[0]
        end = whole.removesuffix(" + 1") if whole.endswith(" + 1") else f"{whole} - 1"
        new = f"{start}, {end}, {sizes[0]}".encode()
        semantics: Semantics = "exact" if exact else "reassociates floating point"
        yield Change(
            {spot.source.path: (Edit(parts[1].start_byte, parts[2].end_byte, new),)},
            line_of(loop),
            f"deals the iterations over {text_of(parts[0])} out in turn instead of in blocks",
            semantics,
        )


def _asked(question: str, procedure: Procedure) -> list[str]:
    """Variables that the procedure asks that of all processes, and gives no other value."""
    found = []
    for node in procedure.all("subroutine_call"):
        listed = arguments(node)
        if called(node) == question and len(listed) > 1 and own_text(listed[0]) == "mpi_comm_world":
            name = squeezed(listed[1])
            if name.isidentifier() and len(_given(name, procedure)) == 1:
                found.append(text_of(listed[1]))
    return found


def _given(name: str, procedure: Procedure) -> list[Node]:
    """Where a variable may get a value: by an assignment, as a counter, by reading, as an argument."""
    found = []
    for node in identifiers(procedure.node, name):
        parent = node.parent
        if parent is None:
            continue
        if parent.type in ("assignment_statement", "init_declarator"):
            if node in (field(parent, "left"), children(parent)[0]):
                found.append(node)
        elif parent.type == "loop_control_expression":
            found += [node] if children(parent)[0] == node else []
        elif parent.type == "argument_list":
            is_call = parent.parent is not None and parent.parent.type == "subroutine_call"
            found += [node] if is_call and not _is_sent(node) else []
        elif parent.type in ("input_item_list", "keyword_argument"):
            found.append(node)
    return found


def _is_sent(node: Node) -> bool:
    """True for an argument that a call of MPI only reads."""
    listed = node.parent
    name = called(listed.parent) if listed is not None else ""
    places = {
        "mpi_bcast": (1, 3),
        "mpi_send": (0, 1, 3, 4),
        "mpi_reduce": (0, 2, 5),
        "mpi_allreduce": (0, 2),
        "mpi_comm_size": (),
        "mpi_comm_rank": (),
    }
    return listed is not None and any(
        at < len(arguments(listed.parent)) and arguments(listed.parent)[at] == node for at in places.get(name, ())
    )


def _share(loop: Node, parts: list[Node], rank: str, size: str, procedure: Procedure) -> tuple[int, str] | None:
    low, high = expression(parts[1]), expression(parts[2])
    relevant = needed([one for each in _before(loop, procedure) for one in _settings(each)], low, high)
    kept = settled(relevant, low, high, lambda name, mine: _are_all(name, mine, procedure))
    if kept is None:
        return None
    bounded = Bounds(low, high, True, tuple(kept), rank.lower(), size.lower())
    for name in bounded.free:
        first = min([*(one.at for one in kept if name in one.names), loop.start_byte])
        if any(each.start_byte >= first for each in _given(name, procedure)) or "%" in name or "." in name:
            return None
    return bounded.shared()


def _are_all(name: str, mine: list[Setting], procedure: Procedure) -> bool:
    """True if the variable gets no other values than these."""
    return len(_given(name, procedure)) == len(mine)


def _before(loop: Node, procedure: Procedure) -> Iterator[Node]:
    around: list[list[Node]] = []
    one = loop
    while one.parent is not None and one != procedure.node:
        around.append([each for each in children(one.parent) if each.end_byte <= one.start_byte])
        one = one.parent
    for listed in reversed(around):
        yield from listed


def _settings(statement: Node) -> list[Setting]:
    """Names that the statement gives a value, also under a condition."""
    if statement.type == "assignment_statement":
        name = field(statement, "left")
        if name is not None and name.type == "identifier":
            return [Setting(squeezed(name), expression(field(statement, "right")), None, True, statement.start_byte)]
    if statement.type != "if_statement" or any(True for _ in nodes(statement, "elseif_clause")):
        return []
    listed = children(statement)
    condition = expression(listed[0])
    arms = [(each, True) for each in listed[1:] if each.type != "else_clause"]
    arms += [(one, False) for each in listed[1:] if each.type == "else_clause" for one in children(each)]
    found: list[Setting] = []
    for each, holds in arms:
        inner = _settings(each)
        if any(one.condition is not None or one.name in names_in(condition) for one in inner):
            return []
        found += [replace(one, condition=condition, holds=holds) for one in inner]
    return found


def _is_for_all_sums(loop: Node, procedure: Procedure, program: Program) -> bool | None:
    """Whether the loop only gathers what is summed over all processes: True if sums stay the same to the last bit, None if not at all."""
    function = procedure.model
    model = next((one for one in function.loops if one.first == line_of(loop) and one.counted), None)
    if model is None:
        return None
    found, _ = dependences([model], function, program, procedure.source.file.unit.constants)
    arrays = {
        squeezed(children(left)[0])
        for each in nodes(loop, "assignment_statement")
        if (left := field(each, "left")) is not None and left.type == "call_expression"
    }
    if not found.is_known or not is_independent(found.vectors) or not found.reductions or arrays:
        return None
    if not is_index_free_after(model.variable, model, function):
        return None
    if any(not _is_summed(name, loop, procedure) for name in found.reductions):
        return None
    return all(one.exact for one in found.reductions.values())


def _is_summed(name: str, loop: Node, procedure: Procedure) -> bool:
    """True if the variable is begun, added to in the loop, and then summed over all processes and not used otherwise."""
    if name in procedure.parameters or (procedure.model.returns is not None and procedure.model.returns.name == name):
        return False
    summed = 0
    for node in identifiers(procedure.node, name):
        parent = node.parent
        if inside(node, loop) or parent is None or parent.type in ("variable_declaration", "init_declarator"):
            continue
        if (
            parent.type == "assignment_statement"
            and field(parent, "left") == node
            and node.start_byte < loop.start_byte
        ):
            continue
        statement = parent.parent if parent.type == "argument_list" else None
        call = mpi_call(statement, procedure)
        if call is None or not _is_sum_of(call, node) or node.start_byte < loop.end_byte:
            return False
        summed += 1
    return summed == 1


def _is_sum_of(call: Call, node: Node) -> bool:
    words = [squeezed(each) for each in call.arguments]
    return (
        call.name in ("MPI_Reduce", "MPI_Allreduce")
        and call.arguments[0] == node
        and "mpi_sum" in words
        and words[-1] == "mpi_comm_world"
    )


def without_barriers(context: Context, spot: Spot) -> Iterator[Change]:
    """Barriers in loops are left out where messages alone order what is seen."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    whole = "\n".join(own_text(one.node) for one in program.procedures)
    if any(not each.is_fortran for each in program.sources.values()) or _SEEN_OUTSIDE.search(
        re.sub(r"!(?!\$)[^\n]*", "", whole)
    ):
        return
    if not all(_is_of_one(one) for one in program.procedures):
        return
    edits, first = [], None
    for node in procedure.all("subroutine_call"):
        call = mpi_call(node, procedure)
        if call is None or call.name != "MPI_Barrier" or not is_repeated(node, procedure):
            continue
        edits.append(without_line(node, text, b"continue"))
        first = first or node
    if first is not None:
        yield Change(
            {spot.source.path: tuple(edits)},
            line_of(first),
            "leaves out barriers: messages alone order what processes see of each other",
        )


def _is_of_one(procedure: Procedure) -> bool:
    """True if lines are printed under a condition alone, which is taken for that of one process."""
    for node in procedure.all("print_statement", "write_statement"):
        one = node.parent
        while one is not None and one != procedure.node and one.type != "if_statement":
            one = one.parent
        condition = squeezed(children(one)[0]) if one is not None and one.type == "if_statement" else ""
        if not re.search(r"==\d|\.eq\.\d|root|master", condition):
            return False
    return True
