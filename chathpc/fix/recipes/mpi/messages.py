"""MPI: messages of one element in a loop become one message of all that lie side by side (C and C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.affine import Scope, factor, linear
from chathpc.diagnosis.source.c_expressions import expression
from chathpc.diagnosis.source.layout import type_size
from chathpc.fix.recipes.analysis.accesses import Access
from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.edits import Edit, indent
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import Counted, counted, loops_of
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import bare, children, field, inside, line_of, nodes, statements, text_of
from chathpc.fix.recipes.analysis.types import Type, type_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

#: Types of messages with those of their elements: other ones may lie at other distances than the elements do.
_ELEMENTS = {
    "MPI_CHAR": "char", "MPI_BYTE": "char", "MPI_UNSIGNED_CHAR": "unsigned char", "MPI_SHORT": "short", "MPI_INT": "int",
    "MPI_UNSIGNED": "unsigned", "MPI_LONG": "long", "MPI_UNSIGNED_LONG": "unsigned long", "MPI_LONG_LONG": "long long",
    "MPI_FLOAT": "float", "MPI_DOUBLE": "double", "MPI_INT32_T": "int32_t", "MPI_INT64_T": "int64_t",
}  # fmt: skip

_SIZE = re.compile(r"(?:\(int\))?sizeof\((?:struct\s*)?(\w+)\)")


@dataclass(frozen=True, slots=True)
class First:
    """The address of the first element as text; `node` is an element, or the address of one where `is_address` holds."""

    address: str
    node: Node
    is_address: bool

    def type_of(self, procedure: Procedure, program: Program) -> Type | None:
        """The type of the elements."""
        kind = type_of(self.node, procedure, program)
        if kind is None or not self.is_address:
            return kind
        return Type(kind.name, kind.depth - 1) if kind.depth else None


def first_element(node: Node, header: Counted, procedure: Procedure) -> First | None:
    """The address of the first element for `&a[… + i]` and `a + … + i`; None where elements do not lie side by side."""
    one = bare(node)
    if one is None:
        return None
    if one.type == "pointer_expression" and text_of(field(one, "operator")) == "&":
        element = bare(field(one, "argument"))
        index = bare(field(element, "index") or next(iter(children(field(element, "indices"))), None))
        base = bare(field(element, "argument"))
        if element is None or element.type != "subscript_expression" or index is None or base is None:
            return None
        if header.variable in procedure.names(base) or not _is_side_by_side(index, header.variable):
            return None
        new = _from_start(index, header, procedure)
        return None if new is None else First(f"&{text_of(base)}[{new or 0}]", element, False)
    if one.type == "binary_expression" and _is_side_by_side(one, header.variable):
        new = _from_start(one, header, procedure)
        base = _leftmost(one)
        return None if not new or header.variable in procedure.names(base) else First(new, base, True)
    return None


def _leftmost(node: Node) -> Node:
    """The pointer in `a + … + i`."""
    while node.type == "binary_expression" and text_of(field(node, "operator")) == "+":
        left = field(node, "left")
        if left is None:
            return node
        node = left
    return node


def _is_side_by_side(index: Node, variable: str) -> bool:
    terms = linear(expression(index), Scope({}, {}), frozenset({variable}))
    step = factor(terms, variable) if terms is not None else None
    return step is not None and dict(step) == {(): 1}


def _from_start(index: Node, header: Counted, procedure: Procedure) -> str | None:
    """The index with the loop's start in place of its variable, without a last summand of nought; None where it stands there twice."""
    names = [each for each in nodes(index, "identifier") if text_of(each) == header.variable]
    if len(names) != 1:
        return None
    text, name = procedure.source.text, names[0]
    start = text_of(header.start)
    last = name
    while last.parent is not None and last.parent.type == "parenthesized_expression":
        last = last.parent
    around = last.parent
    if (
        start == "0"
        and around == index
        and text_of(field(around, "operator")) == "+"
        and field(around, "right") == last
        and (left := field(around, "left")) is not None
    ):
        return text[index.start_byte : left.end_byte].decode()
    before, after = text[index.start_byte : name.start_byte], text[name.end_byte : index.end_byte]
    return (before + start.encode() + after).decode()


def factor_of(text: str) -> str:
    """An expression as a factor: in brackets where it needs them."""
    return text if re.fullmatch(r"\w+", text) else f"({text})"


def is_of_one(count: Node) -> bool:
    """True for the number of one element: 1, or as many bytes as a type has."""
    words = text_of(count).replace(" ", "")
    return words == "1" or _SIZE.fullmatch(words) is not None


def is_of_elements(count: Node, told: Node, element: Type | None, procedure: Procedure) -> bool:
    """True if a message of that number and type is one element, and the next one lies directly behind it."""
    if element is None or element.depth:
        return False
    unit, kind = procedure.source.file.unit, text_of(told)
    if text_of(count) != "1":
        size = _SIZE.fullmatch(text_of(count).replace(" ", ""))
        return size is not None and kind == "MPI_BYTE" and size[1] == element.name
    told_size = type_size(_ELEMENTS[kind], unit) if kind in _ELEMENTS else None
    return element.is_arithmetic and told_size == type_size(element.name, unit) is not None


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
_MESSAGES = ("MPI_Send", "MPI_Ssend", "MPI_Recv")


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
            "Exchange all elements in one message instead of one message each",
        )


def _exchanges(program: Program) -> tuple[dict[str, list[Edit]], dict[str, dict[int, int]]] | None:
    """Edits by path, and the line of the first loop by path and beginning of its function; None where some must stay."""
    found: dict[str, list[Edit]] = {}
    lines: dict[str, dict[int, int]] = {}
    tags: set[str] = set()
    left: set[str] = set()
    for procedure in program.procedures:
        if procedure.source.is_fortran:
            return None
        if b"MPI_" not in procedure.source.text:
            continue
        for loop in loops_of(procedure):
            body = field(loop, "body") or loop
            calls = [_call(each) for each in statements(field(loop, "body"))]
            known = [each for each in calls if each is not None]
            exchanging = [each for each in nodes(body, "call_expression") if text_of(field(each, "function")) in _CALLS]
            single = [each for each in exchanging if _is_single(each)]
            inner = list(nodes(body, "for_statement", "while_statement"))
            if not single or any(inside(one, each) for each in inner for one in single):
                continue
            edits = _together(loop, known, procedure, program) if len(known) == len(calls) else None
            if edits is None:
                if any(_is_of_loop(each, loop, procedure) for each in single):
                    return None
                left.update(_tags(loop))
                continue
            tags.update(_tags(loop))
            found.setdefault(procedure.source.path, []).extend(edits)
            lines.setdefault(procedure.source.path, {}).setdefault(procedure.node.start_byte, line_of(loop))
    if tags & left:
        return None  # what is sent together would not be received together
    return found, lines


def _tags(loop: Node) -> set[str]:
    """Tags, as they are written, of messages from one process to another."""
    calls = nodes(loop, "call_expression")
    listed = [children(field(each, "arguments")) for each in calls if text_of(field(each, "function")) in _MESSAGES]
    return {text_of(each[4]).replace(" ", "") for each in listed if len(each) > 4}


def _is_of_loop(call: Node, loop: Node, procedure: Procedure) -> bool:
    header = counted(loop, procedure)
    return header is None or header.variable in procedure.names(call)


def _call(statement: Node) -> Node | None:
    inner = next(iter(children(statement)), None) if statement.type == "expression_statement" else None
    return inner if text_of(field(inner, "function")) in _CALLS else None


def _is_single(call: Node) -> bool:
    listed = children(field(call, "arguments"))
    buffers = _CALLS[text_of(field(call, "function"))][0]
    return all(count < len(listed) and is_of_one(listed[count]) for _, count in buffers)


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
        if not _is_single(call) or header.variable in procedure.names(*(listed[each] for each in fixed)):
            return None
        if (name in ("MPI_Recv", "MPI_Sendrecv") and "MPI_ANY" in text_of(call)) or any(
            "STATUS" not in arguments[each] for each in fixed if name == "MPI_Recv" and each == 6
        ):
            return None
        for place, count_at in buffers:
            if arguments[place] == "MPI_IN_PLACE":
                continue
            first = first_element(listed[place], header, procedure)
            if first is None or not is_of_elements(
                listed[count_at], listed[count_at + 1], first.type_of(procedure, program), procedure
            ):
                return None
            arguments[place] = first.address
            one = text_of(listed[count_at])
            arguments[count_at] = count if one == "1" else f"{factor_of(count)} * {one}"
            written.append(Access(first.node, procedure, first.address, True, _is_received(name, place)))
        for place in tags:
            # One message takes the place of many: its tag is that of the statement, not of the iteration.
            if header.variable in procedure.names(listed[place]):
                arguments[place] = str(at)
        lines.append(f"{name}({', '.join(arguments)});")
    if len(calls) > 1 and not all(text_of(field(each, "function")) == "MPI_Sendrecv" for each in calls):
        return None
    if _overlap(written, program) or any(
        may_overlap(one, other, program) for one in known.accesses for other in written if other.write
    ):
        return None
    blank = indent(text, loop.start_byte).decode()
    several = "".join(f"\n{blank}  {each}" for each in lines)
    body = lines[0] if len(lines) == 1 else f"{{{several}\n{blank}}}"
    return [Edit(loop.start_byte, loop.end_byte, f"if ({count} > 0) {body}".encode())]


def _is_received(name: str, place: int) -> bool:
    return (
        name == "MPI_Recv"
        or (name == "MPI_Sendrecv" and place == 5)
        or (name in ("MPI_Reduce", "MPI_Allreduce") and place == 1)
    )


def _overlap(accesses: list[Access], program: Program) -> bool:
    """True if what one call receives may be what another sends: then their order matters. Parts of one array are told apart by the
    beginnings of their indices only where these differ; such calls are checked by running them.
    """
    received = [one for one in accesses if one.write]
    sent = [one for one in accesses if not one.write]
    return any(may_overlap(one, other, program) and one.name == other.name for one in received for other in sent)
