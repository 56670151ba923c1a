"""MPI: messages of one element in a loop become one message of all, and reductions one by one become one of a vector (C and C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.affine import Scope, factor, linear
from chathpc.diagnosis.source.c_expressions import expression
from chathpc.diagnosis.source.layout import type_size
from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent
from chathpc.fix.recipes.analysis.effects import Access, effects
from chathpc.fix.recipes.analysis.loops import Counted, counted, loops_of
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import bare, children, field, inside, line_of, nodes, statements, text_of
from chathpc.fix.recipes.analysis.types import type_of
from chathpc.fix.recipes.mpi.packing import ELEMENTS, messages_of, packed, tag_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

#: Which arguments are buffers, with the places of their counts; the partner and the tag.
_CALLS: dict[str, tuple[tuple[tuple[int, int], ...], tuple[int, ...], tuple[int, ...]]] = {
    "MPI_Send": (((0, 1),), (3, 5), (4,)),
    "MPI_Ssend": (((0, 1),), (3, 5), (4,)),
    "MPI_Recv": (((0, 1),), (3, 5, 6), (4,)),
    "MPI_Bcast": (((0, 1),), (3, 4), ()),
    "MPI_Sendrecv": (((0, 1), (5, 6)), (3, 8, 10, 11), (4, 9)),
    "MPI_Reduce": (((0, 2), (1, 2)), (3, 4, 5, 6), ()),
    "MPI_Allreduce": (((0, 2), (1, 2)), (3, 4, 5), ()),
}  # fmt: skip


def batched(context: Context, spot: Spot) -> Iterator[Change]:
    """Loops in which every iteration sends, receives or broadcasts one element of an array exchange all elements at once.

    All such loops of the program change together, so that whoever receives still gets what is sent; a loop that cannot
    change although it exchanges single elements refuses all.
    """
    program = context.program
    if "all" not in program.known_exchanges:
        program.known_exchanges["all"] = _exchanges(program)
    known = program.known_exchanges["all"]
    if known is not None and spot.procedure.node.start_byte in known[1].get(spot.source.path, {}):
        edits, lines = known
        yield Change(
            {path: tuple(each) for path, each in edits.items()},
            lines[spot.source.path][spot.procedure.node.start_byte],
            "exchanges all elements in one message instead of one message each",
        )


def _exchanges(program: Program) -> tuple[dict[str, list[Edit]], dict[str, dict[int, int]]] | None:
    """Edits by path, and the line of the first loop by path and beginning of its function; None where some must stay."""
    found: dict[str, list[Edit]] = {}
    lines: dict[str, dict[int, int]] = {}
    numbers: dict[bool, set[int]] = {True: set(), False: set()}
    tags: set[str] = set()
    left: set[str] = set()
    for procedure in program.procedures:
        if procedure.source.is_fortran:
            return None
        if b"MPI_" not in procedure.source.text:
            continue
        for loop in loops_of(procedure):
            listed = statements(field(loop, "body"))
            calls = [_call(each) for each in listed]
            exchanging = [
                each
                for each in nodes(field(loop, "body") or loop, "call_expression")
                if text_of(field(each, "function")) in _CALLS
            ]
            single = [each for each in exchanging if _is_single(each)]
            if not single or any(
                True
                for each in nodes(field(loop, "body") or loop, "for_statement", "while_statement")
                if any(inside(one, each) for one in single)
            ):
                continue
            edits = (
                _together(loop, [each for each in calls if each is not None], procedure, program)
                if all(each is not None for each in calls)
                else None
            )
            if edits is None:
                one = packed(loop, procedure, program)
                if one is None:
                    if any(
                        _is_of_loop(each, loop, procedure) and not _is_of_partners(each, loop, procedure)
                        for each in single
                    ):
                        return None
                    left.update(tag_of(each) for each in messages_of(loop))
                    continue
                edits, numbers[one.sends] = list(one.edits), numbers[one.sends] | {one.numbers}
                tags.update(one.tags)
            tags.update(tag_of(each) for each in messages_of(loop))
            found.setdefault(procedure.source.path, []).extend(edits)
            lines.setdefault(procedure.source.path, {}).setdefault(procedure.node.start_byte, line_of(loop))
    if tags & left or (all(numbers.values()) and numbers[True] != numbers[False]):
        return None  # what is sent together would not be received together
    return found, lines


def _is_of_loop(call: Node, loop: Node, procedure: Procedure) -> bool:
    header = counted(loop, procedure)
    return header is None or any(text_of(each) == header.variable for each in nodes(call, "identifier"))


def _is_of_partners(call: Node, loop: Node, procedure: Procedure) -> bool:
    """True if every iteration exchanges with another process, or is a call of all of them: such calls stay one by one."""
    header = counted(loop, procedure)
    _, fixed, _ = _CALLS[text_of(field(call, "function"))]
    listed = children(field(call, "arguments"))
    return header is not None and any(
        text_of(one) == header.variable
        for each in fixed
        if each < len(listed)
        for one in nodes(listed[each], "identifier")
    )


def _call(statement: Node) -> Node | None:
    inner = next(iter(children(statement)), None) if statement.type == "expression_statement" else None
    return (
        inner
        if inner is not None and inner.type == "call_expression" and text_of(field(inner, "function")) in _CALLS
        else None
    )


def _is_single(call: Node) -> bool:
    listed = children(field(call, "arguments"))
    buffers = _CALLS[text_of(field(call, "function"))][0]
    return all(count < len(listed) and text_of(listed[count]) == "1" for _, count in buffers)


def _together(loop: Node, calls: list[Node], procedure: Procedure, program: Program) -> list[Edit] | None:
    header = counted(loop, procedure)
    if header is None or header.step != 1 or header.operator != "<" or not header.own or not calls:
        return None
    text = procedure.source.text
    start, bound = text_of(header.start), text_of(header.bound)
    known = effects(header.bound, procedure, program)
    if not known.is_known or known.pure_calls or known.writes:
        return None
    count = bound if start == "0" else f"{bound} - ({start})"
    lines: list[str] = []
    written: list[Access] = []
    for at, call in enumerate(calls):
        name = text_of(field(call, "function"))
        listed = children(field(call, "arguments"))
        buffers, fixed, tags = _CALLS[name]
        arguments = [text[each.start_byte : each.end_byte].decode() for each in listed]
        if not _is_single(call) or any(
            header.variable in {text_of(one) for one in nodes(listed[each], "identifier")} for each in fixed
        ):
            return None
        if (name in ("MPI_Recv", "MPI_Sendrecv") and "MPI_ANY" in text_of(call)) or any(
            "STATUS" not in arguments[each] for each in fixed if name == "MPI_Recv" and each == 6
        ):
            return None
        for place, count_at in buffers:
            base = _first_element(listed[place], header, procedure)
            if base is None or not _is_plain_type(
                listed[count_at + 1], field(listed[place], "argument"), procedure, program
            ):
                return None
            arguments[place], arguments[count_at] = base, count
            element = field(listed[place], "argument")
            if element is not None:
                written.append(Access(element, procedure, base, True, _is_received(name, place)))
        for place in tags:
            # One message takes the place of many: its tag is that of the statement, not of the iteration.
            if header.variable in {text_of(one) for one in nodes(listed[place], "identifier")}:
                arguments[place] = str(at)
        lines.append(f"{name}({', '.join(arguments)});")
    if len(calls) > 1 and not all(text_of(field(each, "function")) == "MPI_Sendrecv" for each in calls):
        return None
    if _overlap(written, program) or any(
        may_overlap(one, other, program) for one in known.accesses for other in written if other.write
    ):
        return None
    blank = indent(text, loop.start_byte)
    body = (b"\n" + blank).join(each.encode() for each in lines)
    guard = f"if ({count} > 0) ".encode()
    if len(lines) > 1:
        body = (
            b"{\n"
            + blank
            + b"  "
            + (b"\n" + blank + b"  ").join(each.encode() for each in lines)
            + b"\n"
            + blank
            + b"}"
        )
    return [Edit(loop.start_byte, loop.end_byte, guard + body)]


def _is_received(name: str, place: int) -> bool:
    return (
        name == "MPI_Recv"
        or (name == "MPI_Sendrecv" and place == 5)
        or (name in ("MPI_Reduce", "MPI_Allreduce") and place == 1)
    )


def _is_plain_type(told: Node, element: Node | None, procedure: Procedure, program: Program) -> bool:
    """True if the type of the message is that of the elements."""
    kind = type_of(element, procedure, program)
    if kind is None or not kind.is_arithmetic or text_of(told) not in ELEMENTS:
        return False
    unit = procedure.source.file.unit
    return type_size(ELEMENTS[text_of(told)], unit) == type_size(kind.name, unit) is not None


def _first_element(node: Node, header: Counted, procedure: Procedure) -> str | None:
    """The address of the first element for `&a[… + i]`; None where elements do not lie side by side."""
    one = bare(node)
    if one is None or one.type != "pointer_expression" or text_of(field(one, "operator")) != "&":
        return None
    element = field(one, "argument")
    index = bare(field(element, "index") or next(iter(children(field(element, "indices"))), None))
    base = field(element, "argument")
    if (
        element is None
        or element.type != "subscript_expression"
        or index is None
        or base is None
        or header.variable in {text_of(each) for each in nodes(base, "identifier")}
    ):
        return None
    terms = linear(expression(index), Scope({}, {}), frozenset({header.variable}))
    step = factor(terms, header.variable) if terms is not None else None
    if step is None or dict(step) != {(): 1}:
        return None
    names = [each for each in nodes(index, "identifier") if text_of(each) == header.variable]
    if len(names) != 1:
        return None
    text = procedure.source.text
    replaced = (
        text[index.start_byte : names[0].start_byte]
        + text_of(header.start).encode()
        + text[names[0].end_byte : index.end_byte]
    )
    return f"&{text_of(base)}[{replaced.decode()}]"


def vector_reduction(context: Context, spot: Spot) -> Iterator[Change]:
    """`MPI_Allreduce` of one number in each iteration becomes one of a vector behind the loop, which is finished in a second loop."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or procedure.source.is_cpp:
        return
    for loop in loops_of(procedure):
        header = counted(loop, procedure)
        listed = statements(field(loop, "body"))
        at = [place for place, each in enumerate(listed) if _reduction(each) is not None]
        if (
            header is None
            or header.operator != "<"
            or header.step != 1
            or text_of(header.start) != "0"
            or not header.own
            or len(at) != 1
        ):
            continue
        call = _reduction(listed[at[0]])
        arguments = children(field(call, "arguments"))
        if (
            call is None
            or len(arguments) != 6
            or text_of(arguments[2]) != "1"
            or text_of(arguments[3]) not in ("MPI_DOUBLE", "MPI_INT", "MPI_LONG")
        ):
            continue
        mine, total = (
            text_of(field(each, "argument")) if each.type == "pointer_expression" else "" for each in arguments[:2]
        )
        before, after = listed[: at[0]], listed[at[0] + 1 :]
        change = _split(header, call, mine, total, before, after, spot, program, text)
        if change is not None:
            yield change


def _reduction(statement: Node) -> Node | None:
    inner = next(iter(children(statement)), None) if statement.type == "expression_statement" else None
    return inner if inner is not None and text_of(field(inner, "function")) == "MPI_Allreduce" else None


def _split(
    header: Counted,
    call: Node,
    mine: str,
    total: str,
    before: list[Node],
    after: list[Node],
    spot: Spot,
    program: Program,
    text: bytes,
) -> Change | None:
    procedure = spot.procedure
    kind = {"MPI_DOUBLE": "double", "MPI_INT": "int", "MPI_LONG": "long"}[
        text_of(children(field(call, "arguments"))[3])
    ]
    own = [procedure.declarations.get(name) for name in (mine, total)]
    if (
        not mine
        or not total
        or mine == total
        or any(one is None or one.type != kind or one.pointers or one.dims for one in own)
    ):
        return None
    declared = [
        each for each in before if each.type == "declaration" and re.search(rf"\b({mine}|{total})\b", text_of(each))
    ]
    if (
        len(declared) > 2
        or not declared
        or any(re.search(rf"\b{name}\b", text_of(each)) for each in after for name in (mine,))
    ):
        return None
    if any(
        True
        for each in (*before, *after)
        for _ in nodes(
            each, "return_statement", "break_statement", "continue_statement", "goto_statement", "preproc_call"
        )
    ):
        return None
    if not all(any(re.search(rf"\b{name}\b", text_of(each)) for each in declared) for name in (mine, total)):
        return None
    first, second = (
        [effects(each, procedure, program) for each in before],
        [effects(each, procedure, program) for each in after],
    )
    if not all(each.is_known for each in (*first, *second)):
        return None
    shared = {name for each in first for name in each.declared} - {mine, total}
    if any(not one.memory and one.name in shared for each in second for one in each.accesses):
        return None
    if any(one.name == total and not one.memory for each in first for one in each.accesses):
        return None
    local = {name for each in (*first, *second) for name in each.declared}
    if any(not one.memory and one.name not in local for each in (*first, *second) for one in each.writes):
        return None
    # What the second part writes must not be read by the first part of a later iteration.
    if any(
        may_overlap(write, other, program)
        for each in second
        for write in each.writes
        if write.memory
        for part in first
        for other in part.accesses
        if other.memory or other.name not in local
    ):
        return None
    parts = fresh_name(f"{mine}_parts", text)
    blank = indent(text, header.node.start_byte)
    control = text[slice(*header.header)].decode()
    bound = text_of(header.bound)

    def listed(group: list[Node]) -> str:
        return "".join(f"\n{blank.decode()}    {text[each.start_byte : each.end_byte].decode()}" for each in group)

    arguments = [text[each.start_byte : each.end_byte].decode() for each in children(field(call, "arguments"))]
    new = (
        f"if ({bound} > 0) {{\n{blank.decode()}  {kind} *{parts} = malloc(sizeof({kind}) * (size_t)({bound}));\n"
        f"{blank.decode()}  for ({control}) {{{listed(before)}\n{blank.decode()}    {parts}[{header.variable}] = {mine};\n{blank.decode()}  }}\n"
        f"{blank.decode()}  MPI_Allreduce(MPI_IN_PLACE, {parts}, {bound}, {', '.join(arguments[3:])});\n"
        f"{blank.decode()}  for ({control}) {{\n{blank.decode()}    const {kind} {total} = {parts}[{header.variable}];{listed(after)}\n{blank.decode()}  }}\n"
        f"{blank.decode()}  free({parts});\n{blank.decode()}}}"
    )
    if b"stdlib.h" not in text:
        return None
    return Change(
        {spot.source.path: (Edit(header.node.start_byte, header.node.end_byte, new.encode()),)},
        line_of(call),
        f"reduces all {bound} numbers at once instead of one in each iteration",
    )


def _overlap(accesses: list[Access], program: Program) -> bool:
    """True if what one call receives may be what another sends: then their order matters. Parts of one array are told apart by the
    beginnings of their indices only where these differ; such calls are checked by running them.
    """
    received = [one for one in accesses if one.write]
    sent = [one for one in accesses if not one.write]
    return any(may_overlap(one, other, program) and one.name == other.name for one in received for other in sent)
