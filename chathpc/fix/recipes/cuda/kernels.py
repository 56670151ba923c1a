"""CUDA kernels: tiles of shared memory whose columns meet in one bank, threads that walk along rows, atomics on few addresses, and literals
of double precision.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.c_expressions import expression
from chathpc.diagnosis.source.kernel_memory import uncoalesced
from chathpc.diagnosis.source.kernels import launches_of
from chathpc.diagnosis.source.lanes import Lanes
from chathpc.diagnosis.source.layout import type_size, value
from chathpc.diagnosis.source.model import Kind
from chathpc.diagnosis.source.text import parsed
from chathpc.fix.recipes.analysis.edits import Edit, applied, fresh_name, indent, line_start
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, nodes, text_of
from chathpc.fix.recipes.analysis.types import FLOATING
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

#: Shared memory has 32 banks, four bytes wide (CUDA C++ Programming Guide, "Shared Memory").
_BANKS = 32
#: Bytes of shared memory that a block's own sums may take: less than a third of the 48 KiB that every device has.
_MOST_BYTES = 16 * 1024
_AXIS = re.compile(rb"\b(threadIdx|blockIdx|blockDim|gridDim)\s*\.\s*([xyz])\b")
_LANES = re.compile(
    rb"\b(?:__shfl\w*|__syncwarp|__ballot\w*|__any\w*|__all\w*|__shared__|cooperative_groups|warpSize|__activemask|__syncthreads\w*)\b"
)
_COVERS = re.compile(r"\(\s*(?P<extent>[\w.>-]+)\s*\+\s*(?P<block>[\w.]+)\s*(?P<less>-\s*1\s*)?\)\s*/\s*(?P<by>[\w.]+)")


def _is_kernel(spot: Spot) -> bool:
    return "global" in spot.procedure.model.marks and not spot.procedure.is_broken and spot.procedure.body is not None


def padded_tiles(context: Context, spot: Spot) -> Iterator[Change]:
    """Rows of a tile in shared memory get one element more, so that its columns lie in different banks."""
    procedure, text = spot.procedure, spot.source.text
    if not _is_kernel(spot):
        return
    constants = spot.source.file.unit.constants
    for node in procedure.all("declaration"):
        if "__shared__" not in text_of(node) or "extern" in text_of(node).split():
            continue
        for one in node.children_by_field_name("declarator"):
            inner = field(one, "declarator")
            if one.type != "array_declarator" or inner is None or inner.type != "array_declarator":
                continue
            name, size = field(inner, "declarator"), field(one, "size")
            row = value(expression(size), constants) if size is not None else None
            width = type_size(text_of(field(node, "type")).replace("__shared__", "").strip(), spot.source.file.unit)
            if name is None or name.type != "identifier" or size is None or row is None or width is None:
                continue
            if row % _BANKS or width not in (4, 8) or not _has_two_indices(text_of(name), one, procedure):
                continue
            yield Change(
                {
                    spot.source.path: (
                        Edit(size.end_byte, size.end_byte, b" + 1" if not text_of(size).isdigit() else b""),
                        *_number(size, text),
                    )
                },
                line_of(node),
                f"makes the rows of {text_of(name)} one element longer, so that its columns lie in different banks",
            )
    del context


def _number(size: Node, text: bytes) -> list[Edit]:
    shown = text_of(size)
    del text
    return [Edit(size.start_byte, size.end_byte, str(int(shown) + 1).encode())] if shown.isdigit() else []


def _has_two_indices(name: str, declarator: Node, procedure: Procedure) -> bool:
    """True if the tile is used by single elements only: nothing knows how long its rows are."""
    for each in procedure.identifiers.get(name, ()):
        if declarator.start_byte <= each.start_byte < declarator.end_byte:
            continue
        parent = each.parent
        above = parent.parent if parent is not None else None
        if (
            parent is None
            or above is None
            or parent.type != "subscript_expression"
            or field(parent, "argument") != each
        ):
            return False
        if above.type != "subscript_expression" or field(above, "argument") != parent:
            return False
        if above.parent is not None and above.parent.type == "pointer_expression" and _is_walked(above.parent):
            return False
    return True


def _is_walked(node: Node) -> bool:
    """True for the address of an element that is more than handed to an atomic function."""
    call = node.parent.parent if node.parent is not None else None
    return not (
        call is not None and call.type == "call_expression" and text_of(field(call, "function")).startswith("atomic")
    )


def swapped_axes(context: Context, spot: Spot) -> Iterator[Change]:
    """The two axes of a kernel change places, where neighbouring threads would then take neighbouring elements."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    body = procedure.body
    if not _is_kernel(spot) or body is None or not _is_strided(spot.source.path, text, procedure.model.name):
        return
    whole = text[body.start_byte : body.end_byte]
    axes = {match[2] for match in _AXIS.finditer(whole)}
    if axes != {b"x", b"y"} or _LANES.search(whole):
        return
    other = {b"x": b"y", b"y": b"x"}
    edits = [
        Edit(body.start_byte + match.start(2), body.start_byte + match.end(2), other[match[2]])
        for match in _AXIS.finditer(whole)
    ]
    if not _is_guarded(procedure) or _is_strided(spot.source.path, applied(text, edits) or text, procedure.model.name):
        return
    grids = _grids(procedure.model.name, program, spot)
    if grids is None:
        return
    yield Change(
        {spot.source.path: (*edits, *grids)},
        procedure.model.first,
        f"lets neighbouring threads of {procedure.model.name} take neighbouring elements: its axes x and y change places",
    )


def _is_strided(path: str, text: bytes, kernel: str) -> bool:
    """True if neighbouring threads of the kernel reach for elements that lie far apart, as far as its source tells."""
    source = parsed(path, text)
    found = source.functions_named(kernel) if source is not None else []
    return len(found) == 1 and source is not None and uncoalesced([Lanes(found[0], source.unit)]) is not None


def _is_guarded(procedure: Procedure) -> bool:
    """True if both places of a thread are compared with how many there are: threads beyond do nothing."""
    body = procedure.body
    places = [
        text_of(field(node, "declarator"))
        for node in procedure.all("init_declarator")
        if (found := field(node, "value")) is not None and b"threadIdx" in (found.text or b"")
    ]
    if body is None or len(places) != 2:
        return False
    compared = {
        text_of(field(node, "left"))
        for fork in procedure.all("if_statement")
        for node in nodes(field(fork, "condition") or fork, "binary_expression")
        if text_of(field(node, "operator")) in ("<", ">=", "<=", ">")
    }
    return set(places) <= compared


def _grids(kernel: str, program: Program, spot: Spot) -> list[Edit] | None:
    """Edits that let grids cover what the axes stand for then; None where a launch is not understood."""
    edits: list[Edit] = []
    seen: set[tuple[str, int]] = set()
    for source in program.sources.values():
        for function, launch in launches_of(source.file, kernel):
            if source is not spot.source or launch.grid.kind != Kind.NAME:
                return None
            home = [one for one in source.procedures if one.model.first == function.first]
            if len(home) != 1:
                return None
            own = home[0]
            whole = source.text[own.node.start_byte : own.node.end_byte].decode("utf-8", "replace")
            found = list(re.finditer(rf"\b{re.escape(launch.grid.text)}\s*\(", whole))
            if len(found) != 1:
                return None
            parts = _arguments(whole, found[0].end())
            if len(parts) != 2:
                return None
            covers = [_COVERS.fullmatch(part.strip()) for part, _ in parts]
            if covers[0] is None or covers[1] is None:
                return None
            if any(not _is_rounding(one) for one in covers):
                return None
            extents = [one["extent"] for one in covers if one is not None]
            if (source.path, own.node.start_byte + found[0].start()) in seen or extents[0] == extents[1]:
                continue
            seen.add((source.path, own.node.start_byte + found[0].start()))
            if not whole.isascii():
                return None
            for (part, at), one, new in zip(parts, covers, reversed(extents), strict=True):
                if one is not None:
                    start = own.node.start_byte + at + (len(part) - len(part.lstrip())) + one.start("extent")
                    edits.append(Edit(start, start + len(one["extent"]), new.encode()))
    return edits


def _is_rounding(one: re.Match[str] | None) -> bool:
    if one is None:
        return False
    if one["less"]:
        return one["block"] == one["by"]
    return one["block"].isdigit() and one["by"].isdigit() and int(one["block"]) + 1 == int(one["by"])


def _arguments(text: str, start: int) -> list[tuple[str, int]]:
    """The arguments behind an opening bracket, each with where it begins."""
    found: list[tuple[str, int]] = []
    depth, at = 0, start
    for position in range(start, len(text)):
        letter = text[position]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            if depth == 0:
                found.append((text[at:position], at))
                return found
            depth -= 1
        elif letter == "," and depth == 0:
            found.append((text[at:position], at))
            at = position + 1
    return []


def sums_of_blocks(context: Context, spot: Spot) -> Iterator[Change]:
    """Atomic additions to one address, or to few, go to shared memory of the block first, and are added once for each block."""
    procedure, text, body = spot.procedure, spot.source.text, spot.procedure.body
    if not _is_kernel(spot) or body is None:
        return
    leaving = _only_return(procedure)
    if leaving is None:
        return
    for one in procedure.model.parameters:
        kind = one.type.removeprefix("const ").strip()
        size = type_size(kind, spot.source.file.unit)
        if one.pointers != 1 or size not in (4, 8):
            continue
        found = _additions(one.name, procedure)
        if not found:
            continue
        extents = {_extent(index, procedure) for _, _, index in found}
        extent = extents.pop() if len(extents) == 1 else None
        if extent is None or extent * size > _MOST_BYTES:
            continue
        if kind in FLOATING and not context.may_round:
            continue
        yield Change(
            {spot.source.path: tuple(_summed(one.name, kind, extent, found, leaving, spot))},
            line_of(found[0][0]),
            f"adds to {one.name} once for each block instead of once for each thread",
            "reassociates floating point" if kind in FLOATING else "exact",
        )
    del text


def _only_return(procedure: Procedure) -> list[Node] | None:
    """[] for a kernel without `return`, the `if (…) return;` of one with a single one at the beginning; None for any other."""
    returns = list(procedure.all("return_statement"))
    if not returns:
        return []
    fork = returns[0].parent
    while fork is not None and fork.type == "compound_statement" and len(children(fork)) == 1:
        fork = fork.parent
    if len(returns) != 1 or fork is None or fork.type != "if_statement" or fork.parent != procedure.body:
        return None
    return [fork] if field(fork, "alternative") is None else None


def _additions(name: str, procedure: Procedure) -> list[tuple[Node, Node, Node | None]]:
    """Calls of atomicAdd on a parameter with what is written for the address and the index; nothing if it is used otherwise."""
    found: list[tuple[Node, Node, Node | None]] = []
    for call in procedure.all("call_expression"):
        listed = children(field(call, "arguments"))
        if text_of(field(call, "function")) != "atomicAdd" or len(listed) != 2:
            continue
        address = listed[0]
        target = field(address, "argument") if address.type == "pointer_expression" else address
        if target is None or call.parent is None or call.parent.type != "expression_statement":
            continue
        if target.type == "identifier" and text_of(target) == name and address.type == "identifier":
            found.append((call, address, None))
        elif target.type == "subscript_expression" and text_of(field(target, "argument")) == name:
            index = field(target, "index") or field(target, "indices")
            if index is not None and index.type == "subscript_argument_list" and len(children(index)) == 1:
                index = children(index)[0]
            found.append((call, address, index))
    uses = [
        each
        for each in procedure.identifiers.get(name, ())
        if procedure.body and each.start_byte > procedure.body.start_byte
    ]
    return found if len(uses) == len(found) else []


def _extent(index: Node | None, procedure: Procedure, depth: int = 0) -> int | None:
    """Values that an index may have, from 0 on; None where that is not known."""
    if index is None:
        return 1
    constants = procedure.source.file.unit.constants
    number = value(expression(index), constants)
    if number is not None:
        return number + 1
    while index.type == "parenthesized_expression" and len(children(index)) == 1:
        index = children(index)[0]
    if index.type == "cast_expression":
        inner = field(index, "value")
        return _extent(inner, procedure, depth + 1) if inner is not None and depth < 4 else None
    if index.type == "binary_expression":
        right = field(index, "right")
        last = value(expression(right), constants) if right is not None else None
        operator = text_of(field(index, "operator"))
        return None if last is None else last if operator == "%" else last + 1 if operator == "&" else None
    if index.type != "identifier" or depth > 3:
        return None
    one = procedure.declarations.get(text_of(index))
    if one is not None and one.type in ("unsigned char", "uint8_t", "uchar"):
        return 256
    given = procedure.assigned.get(text_of(index), [])
    return _extent(given[0], procedure, depth + 1) if len(given) == 1 and given[0] is not None else None


def _summed(
    name: str, kind: str, extent: int, found: list[tuple[Node, Node, Node | None]], leaving: list[Node], spot: Spot
) -> Iterator[Edit]:
    text, body = spot.source.text, spot.procedure.body
    if body is None:
        return
    own, at, first, all_ = (fresh_name(each, text) for each in (f"{name}_block", "at", "thread", "threads"))
    inner = children(body)[0]
    blank = indent(text, inner.start_byte).decode()
    yield Edit(
        body.start_byte + 1,
        body.start_byte + 1,
        f"\n{blank}__shared__ {kind} {own}[{extent}];\n"
        f"{blank}const int {first} = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n"
        f"{blank}const int {all_} = blockDim.x * blockDim.y * blockDim.z;\n"
        f"{blank}for (int {at} = {first}; {at} < {extent}; {at} += {all_}) {own}[{at}] = 0;\n"
        f"{blank}__syncthreads();".encode(),
    )
    for _, address, index in found:
        yield Edit(
            address.start_byte, address.end_byte, f"&{own}[{text_of(index) if index is not None else 0}]".encode()
        )
    closing = ""
    for fork in leaving:
        condition = field(fork, "condition")
        if condition is None:
            return
        yield Edit(fork.start_byte, fork.end_byte, f"if (!{text_of(condition)}) {{".encode())
        closing = f"{blank}}}\n"
    end = line_start(text, body.end_byte - 1)
    last = (
        f"{closing}{blank}__syncthreads();\n"
        f"{blank}for (int {at} = {first}; {at} < {extent}; {at} += {all_})\n"
        f"{blank}  if ({own}[{at}] != 0) atomicAdd(&{name}[{at}], {own}[{at}]);\n"
    )
    if text[end : body.end_byte - 1].strip():
        end = body.end_byte - 1
        last = "\n" + last
    yield Edit(end, end, last.encode())


def single_literals(context: Context, spot: Spot) -> Iterator[Change]:
    """Literals in kernels of a program that has no other double precision become single, so that nothing is computed in double."""
    program = context.program
    if not spot.procedure.model.marks & {"global", "device"} or not context.may_round:
        return
    if any(re.search(rb"\bdouble\b", source.text) for source in program.sources.values()):
        return
    edits: dict[str, tuple[Edit, ...]] = {}
    for one in program.procedures:
        if one.source.is_fortran or one.has_errors or not one.model.marks & {"global", "device"}:
            continue
        found = tuple(
            Edit(node.end_byte, node.end_byte, b"f")
            for node in one.all("number_literal")
            if re.fullmatch(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?", text_of(node))
        )
        if found:
            edits[one.source.path] = (*edits.get(one.source.path, ()), *found)
    if edits:
        yield Change(
            edits,
            spot.procedure.model.first,
            f"writes {sum(map(len, edits.values()))} literals of kernels in single precision, in which all else is computed",
            "rounds differently",
        )
