"""MPI: what one process computes for all, and then broadcasts, all processes compute together, each its share (C)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.layout import type_size
from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, indent_step
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import Counted, counted
from chathpc.fix.recipes.analysis.own_scalars import own_scalars
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import C_LOOPS, bare, field, line_of, nodes, statements, text_of
from chathpc.fix.recipes.analysis.types import type_of
from chathpc.fix.recipes.mpi.calls import Call, blocks, mpi_call
from chathpc.fix.recipes.mpi.collectives import is_for_all
from chathpc.fix.recipes.mpi.elements import factor_of
from chathpc.fix.recipes.mpi.order import is_work
from chathpc.fix.recipes.mpi.packing import ELEMENTS
from chathpc.fix.recipes.mpi.ranks import RANK, SIZE, asked, names_of
from chathpc.fix.recipes.mpi.uniform import is_uniform, is_uniform_name
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node


def shared(context: Context, spot: Spot) -> Iterator[Change]:
    """`if (rank == 0) for (…) a[k] = …; MPI_Bcast(a, …)` becomes the own part of the loop and `MPI_Allgatherv`."""
    procedure, program = spot.procedure, context.program
    text = spot.source.text
    if procedure.is_broken or procedure.source.is_cpp or b"stdlib.h" not in text or program.has_threads:
        return
    sizes = names_of(SIZE, procedure, program)
    for block in blocks(procedure):
        for one, other in pairwise(block):
            call = mpi_call(other)
            if call is None or call.name != "MPI_Bcast" or not sizes or not is_for_all(one, procedure, program):
                continue
            rank = _root(one, call, procedure, program)
            found = _work(one, call, procedure, program) if rank else None
            if found is None or not _is_known_to_all(found, one, call.word(0), procedure, program):
                continue
            yield Change(
                {spot.source.path: _edits(one, found, call, rank, sizes[0], procedure)},
                line_of(one),
                f"lets every process compute its share of {call.word(0)} instead of one process all of it",
            )


def _root(statement: Node, call: Call, procedure: Procedure, program: Program) -> str:
    """The variable with the number of the process, where the statement is what the root of the broadcast does alone."""
    if statement.type != "if_statement" or field(statement, "alternative") is not None:
        return ""
    condition = bare(field(statement, "condition"))
    if condition is None or text_of(field(condition, "operator")) != "==" or call.word(4) != "MPI_COMM_WORLD":
        return ""
    rank, root = text_of(field(condition, "left")), text_of(field(condition, "right"))
    return rank if root == "0" == call.word(3) and asked(rank, RANK, procedure, program) else ""


def _work(statement: Node, call: Call, procedure: Procedure, program: Program) -> Counted | None:
    """The only loop in the statement, which computes each element of what is broadcast, and nothing else that is seen outside."""
    inner = statements(field(statement, "consequence"))
    loops = [each for each in inner if each.type == "for_statement"]
    others = [each for each in inner if each not in loops]
    if len(loops) != 1 or any(each.type != "declaration" for each in others):
        return None
    if any(True for each in others for _ in nodes(each, "init_declarator")):
        return None
    header = counted(loops[0], procedure)
    if header is None or header.operator != "<" or header.step != 1 or text_of(header.start) != "0":
        return None
    if text_of(header.bound).replace(" ", "") != call.word(1) or call.arguments[0].type != "identifier":
        return None
    done = effects(header.body, procedure, program)
    if not done.is_known or done.jumps - {"continue", "break"} or done.pragmas or _leaves(header):
        return None
    own = {*own_scalars(header.body, header.node, procedure, program), *done.declared}
    name = call.word(0)
    if any((one.name not in own) if not one.memory else not _is_element(one.node, name, header) for one in done.writes):
        return None
    written = [one for one in done.writes if one.memory]
    if not written or any(
        one.memory and not _is_element(one.node, name, header) and may_overlap(write, one, program)
        for write in written
        for one in done.accesses
    ):
        return None
    bound = effects(header.bound, procedure, program)
    if (
        not bound.is_known
        or bound.writes
        or any(may_overlap(write, one, program) for write in written for one in bound.accesses)
    ):
        return None
    kind, unit, told = type_of(written[0].node, procedure, program), procedure.source.file.unit, call.word(2)
    if kind is None or kind.depth or told not in ELEMENTS:
        return None
    if type_size(ELEMENTS[told], unit) != type_size(kind.name, unit):
        return None
    return header if is_work(header.body, procedure, program) else None


def _leaves(header: Counted) -> bool:
    """True if the loop itself may be left before its end."""
    for each in nodes(header.body, "break_statement", "continue_statement"):
        one = each.parent
        while one is not None and one != header.node and one.type not in (*C_LOOPS, "switch_statement"):
            one = one.parent
        if one == header.node:
            return True
    return False


def _is_element(node: Node, name: str, header: Counted) -> bool:
    return (
        node.type == "subscript_expression"
        and text_of(field(node, "argument")) == name
        and text_of(bare(field(node, "index"))) == header.variable
    )


def _is_known_to_all(header: Counted, statement: Node, name: str, procedure: Procedure, program: Program) -> bool:
    """True if all that the loop reads is the same in all processes."""
    done = effects(header.body, procedure, program)
    own = {*own_scalars(header.body, header.node, procedure, program), *done.declared, header.variable}
    for one in done.accesses:
        node: Node | None = one.node
        while node is not None and node.type == "subscript_expression":
            node = field(node, "argument")
        if node is None or node.type != "identifier":
            return False
        word = text_of(node)
        if one.procedure is procedure and (word in own or (one.write and word == name)):
            continue
        if not is_uniform_name(word, one.procedure, program, statement):
            return False
    return is_uniform(header.bound, procedure, program, statement)


def _edits(
    statement: Node, header: Counted, call: Call, rank: str, size: str, procedure: Procedure
) -> tuple[Edit, ...]:
    text = procedure.source.text
    blank, step = indent(text, statement.start_byte).decode(), indent_step(text).decode()
    counts, starts, process = (fresh_name(each, text) for each in ("counts", "starts", "process"))
    whole = factor_of(text_of(header.bound))
    low, high = header.header
    head = text[low:high].decode()
    kind = re.split(rf"\b{header.variable}\b", head)[0] if header.own else ""
    own = f"{kind}{header.variable} = {starts}[{rank}]; {header.variable} < {starts}[{rank}] + {counts}[{rank}]; {header.variable}++"
    body = field(statement, "consequence")
    done = text[header.node.start_byte : low] + own.encode() + text[high : header.node.end_byte]
    before = body.named_children if body is not None and body.type == "compound_statement" else []
    inner = [text_of(each) for each in before if each.end_byte <= header.node.start_byte]
    kind_of = text_of(call.arguments[2])
    lines = [
        "{",
        *(f"{step}{each}" for each in inner),
        f"{step}int {process}, *{counts} = malloc(sizeof(int) * 2 * (size_t){size}), *{starts} = {counts} + {size};",
        f"{step}for ({process} = 0; {process} < {size}; {process}++) {{",
        f"{step}{step}{starts}[{process}] = (int)((long){whole} * {process} / {size});",
        f"{step}{step}{counts}[{process}] = (int)((long){whole} * ({process} + 1) / {size}) - {starts}[{process}];",
        f"{step}}}",
        f"{step}{done.decode()}",
        f"{step}MPI_Allgatherv(MPI_IN_PLACE, 0, {kind_of}, {call.word(0)}, {counts}, {starts}, {kind_of}, MPI_COMM_WORLD);",
        f"{step}free({counts});",
        "}",
    ]
    return (Edit(statement.start_byte, call.statement.end_byte, f"\n{blank}".join(lines).encode()),)
