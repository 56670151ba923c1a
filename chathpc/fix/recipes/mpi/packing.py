"""MPI: single numbers that a loop sends or receives among other work are gathered in an array, which is one message (C and C++)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.layout import type_size
from chathpc.fix.recipes.analysis.accesses import Access
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, shifted
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import Counted, counted, used_after
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.reach import overlaps, reach
from chathpc.fix.recipes.analysis.syntax import bare, children, field, nodes, statements, text_of
from chathpc.fix.recipes.analysis.types import type_of
from chathpc.fix.recipes.mpi.calls import Call, mpi_call

if TYPE_CHECKING:
    from tree_sitter import Node

#: Types of messages with those of their elements: other ones may lie at other distances than the elements do.
ELEMENTS = {
    "MPI_CHAR": "char", "MPI_BYTE": "char", "MPI_UNSIGNED_CHAR": "unsigned char", "MPI_SHORT": "short", "MPI_INT": "int",
    "MPI_UNSIGNED": "unsigned", "MPI_LONG": "long", "MPI_UNSIGNED_LONG": "unsigned long", "MPI_LONG_LONG": "long long",
    "MPI_FLOAT": "float", "MPI_DOUBLE": "double", "MPI_INT32_T": "int32_t", "MPI_INT64_T": "int64_t",
}  # fmt: skip
_SENDS = frozenset({"MPI_Send", "MPI_Ssend"})


@dataclass(frozen=True, slots=True)
class _Packed:
    """The new text of a loop, how many numbers each iteration has in the message, and the tags that there were."""

    edits: tuple[Edit, ...]
    numbers: int
    sends: bool
    tags: tuple[str, ...]


def packed(loop: Node, procedure: Procedure, program: Program) -> _Packed | None:
    """The loop with one message behind it (of what it sends) or before it (of what it receives); None where that may differ."""
    header, body = counted(loop, procedure), field(loop, "body")
    if (
        header is None
        or header.step != 1
        or header.operator not in ("<", "<=")
        or body is None
        or procedure.source.is_cpp
    ):
        return None
    if b"stdlib.h" not in procedure.source.text or (not header.own and used_after(header.variable, loop, procedure)):
        return None
    listed = statements(body)
    calls = [call for each in listed if (call := mpi_call(each)) is not None]
    if not calls or len({call.name for call in calls}) != 1 or calls[0].name not in (*_SENDS, "MPI_Recv"):
        return None
    others = [each for each in listed if all(each != call.statement for call in calls)]
    reached = [reach(each, procedure, program) for each in others]
    if any(each is None for each in reached):
        return None
    accesses = [access for each in reached if each is not None for access in each.accesses]
    declared = {name for each in reached if each is not None for name in each.declared} | {header.variable}
    elements = [_element(call, procedure, program) for call in calls]
    if any(each is None for each in elements) or len({text_of(call.arguments[2]) for call in calls}) != 1:
        return None
    sends = calls[0].name in _SENDS
    written = [one for one in accesses if one.write]
    written += [
        Access(each, procedure, text_of(each), each.type != "identifier", True)
        for each in elements
        if each is not None and not sends
    ]
    fixed = [header.start, header.bound, *(call.arguments[each] for call in calls for each in (3, 5))]
    if any(not _stays(each, written, declared, procedure, program) for each in fixed):
        return None
    if len({(call.word(3), call.word(5)) for call in calls}) != 1 or not all(
        _drops_status(call, procedure) for call in calls
    ):
        return None
    edits = _edits(header, calls, [each for each in elements if each is not None], procedure)
    return _Packed(edits, len(calls), sends, tuple(call.word(4) for call in calls))


def _element(call: Call, procedure: Procedure, program: Program) -> Node | None:
    """The number that the call sends or receives, if its type is what the call says."""
    one = bare(call.arguments[0])
    if one is None or one.type != "pointer_expression" or text_of(field(one, "operator")) != "&" or call.word(1) != "1":
        return None
    element, told = bare(field(one, "argument")), text_of(call.arguments[2])
    kind, unit = type_of(element, procedure, program), procedure.source.file.unit
    if element is None or kind is None or not kind.is_arithmetic or told not in ELEMENTS:
        return None
    known = effects(element, procedure, program)
    plain = known.is_known and not known.writes and not known.jumps
    return element if plain and type_size(ELEMENTS[told], unit) == type_size(kind.name, unit) is not None else None


def _stays(node: Node, written: list[Access], declared: set[str], procedure: Procedure, program: Program) -> bool:
    known = effects(node, procedure, program)
    if not known.is_known or known.writes or known.pure_calls:
        return False
    return not any(
        (not one.memory and one.name in declared) or any(overlaps(one, other, program) for other in written)
        for one in known.accesses
    )


def _drops_status(call: Call, procedure: Procedure) -> bool:
    """True if nobody looks at what a receive tells besides what it receives, and the sender is known."""
    if call.name != "MPI_Recv":
        return True
    if "MPI_ANY" in call.word(3) or "MPI_ANY" in call.word(4):
        return False
    status = call.word(6)
    if status == "MPI_STATUS_IGNORE":
        return True
    uses = procedure.identifiers.get(status.lstrip("&"), ())
    return status.startswith("&") and all(
        each.parent is not None and each.parent.type in ("pointer_expression", "declaration") for each in uses
    )


def _edits(header: Counted, calls: list[Call], elements: list[Node], procedure: Procedure) -> tuple[Edit, ...]:
    text = procedure.source.text
    loop, blank = header.node, indent(text, header.node.start_byte).decode()
    start, bound = text_of(header.start), text_of(header.bound)
    more = " + 1" if header.operator == "<=" else ""
    count = f"{bound}{more}" if start == "0" else f"{bound}{more} - ({start})"
    each = header.variable if start == "0" else f"{header.variable} - ({start})"
    parts = fresh_name("message", text)
    whole = count if len(calls) == 1 else f"{len(calls)} * {_factor(count)}"
    kind = ELEMENTS[text_of(calls[0].arguments[2])]
    new = text[loop.start_byte : loop.end_byte]
    for place, (call, element) in reversed(list(enumerate(zip(calls, elements, strict=True)))):
        at = f"{parts}[{each}]" if len(calls) == 1 else f"{parts}[{len(calls)} * {_factor(each)} + {place}]"
        one = text_of(element)
        line = f"{at} = {one};" if call.name in _SENDS else f"{one} = {at};"
        new = (
            new[: call.statement.start_byte - loop.start_byte]
            + line.encode()
            + new[call.statement.end_byte - loop.start_byte :]
        )
    arguments = [text_of(one) for one in calls[0].arguments]
    arguments[0], arguments[1] = parts, whole
    if any(text_of(one) == header.variable for one in nodes(calls[0].arguments[4], "identifier")):
        arguments[4] = "0"  # one message takes the place of many
    message = f"{calls[0].name}({', '.join(arguments)});"
    sends = calls[0].name in _SENDS
    inner = shifted(new, b"  ").decode("utf-8", "surrogateescape")
    lines = [
        f"if ({count} > 0) {{",
        f"  {kind} *{parts} = malloc(sizeof *{parts} * (size_t)({whole}));",
        *(() if sends else (f"  {message}",)),
        f"  {inner}",
        *((f"  {message}",) if sends else ()),
        f"  free({parts});",
        "}",
    ]
    return (Edit(loop.start_byte, loop.end_byte, f"\n{blank}".join(lines).encode("utf-8", "surrogateescape")),)


def _factor(text: str) -> str:
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def messages_of(loop: Node) -> list[Node]:
    """Calls that send or receive from one process to another."""
    kinds = ("MPI_Send", "MPI_Ssend", "MPI_Recv")
    return [each for each in nodes(loop, "call_expression") if text_of(field(each, "function")) in kinds]


def tag_of(call: Node) -> str:
    """The tag as it is written."""
    listed = children(field(call, "arguments"))
    return text_of(listed[4]).replace(" ", "") if len(listed) > 4 else ""
