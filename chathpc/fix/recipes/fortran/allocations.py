"""Work arrays of Fortran that every call allocates anew with the same size: they are kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, indent, line_end, line_start, without_line
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, line_of, text_of
from chathpc.fix.recipes.fortran.statements import called, declarations_end, identifiers, squeezed
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

_INTRINSIC_TYPE = re.compile(r"(?:real|integer|complex|logical|doubleprecision)\b")


def _without(node: Node, text: bytes) -> Edit:
    if text[node.end_byte : node.end_byte + 1] == b";":
        rest = text[node.end_byte + 1 : line_end(text, node.end_byte - 1)]
        return Edit(node.start_byte, node.end_byte + 1 + len(rest) - len(rest.lstrip(b" ")), b"")
    return without_line(node, text, b"continue")


def _allocated(node: Node, procedure: Procedure) -> list[str]:
    """Names of what is allocated, if all of it are arrays of numbers of the procedure's own."""
    names = []
    for each in children(node):
        if each.type != "sized_allocation" or children(each)[0].type != "identifier":
            return []
        name = text_of(children(each)[0])
        if not _is_own_array(name, procedure):
            return []
        names.append(name)
    return names


def _is_own_array(name: str, procedure: Procedure) -> bool:
    own = next((one for one in procedure.model.declarations if one.name == name), None)
    result = procedure.model.returns
    if own is None or not own.allocatable or own.static or (result is not None and result.name == name):
        return False
    return _INTRINSIC_TYPE.match(own.type) is not None


def between_calls(context: Context, spot: Spot) -> Iterator[Change]:
    """An array that a procedure allocates at its beginning is kept from call to call, and allocated anew where its size changes."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    at = declarations_end(procedure)
    if procedure.node.type not in ("subroutine", "function") or at is None or procedure.unstable:
        return
    head = squeezed(children(procedure.node)[0])
    if re.search(r"recursive|pure|elemental", head) or any(
        b"!$omp" in each.text.lower() for each in program.sources.values()
    ):
        return
    if program.has_threads or any(True for _ in procedure.all("internal_procedures")):
        return
    edits: list[Edit] = []
    kept: list[str] = []
    first: Node | None = None
    for node in procedure.all("allocate_statement"):
        names = _allocated(node, procedure)
        if node.parent != procedure.node or not names or not all(_is_allocated_once(each, procedure) for each in names):
            continue
        if (
            any(_is_moved(each, procedure, program) for each in names)
            or text[line_start(text, node.start_byte) : node.start_byte].strip()
        ):
            continue
        edits.append(_allocated_anew(node, procedure))
        kept += names
        first = first or node
    for node in procedure.all("deallocate_statement"):
        listed = [squeezed(each) for each in children(node)]
        if set(listed) & set(kept):
            if not set(listed) <= set(kept):
                return
            edits.append(_without(node, text))
    if first is None:
        return
    edits.append(Edit(at, at, b"\n" + indent(text, at - 1) + f"save :: {', '.join(kept)}".encode()))
    yield Change(
        {spot.source.path: tuple(edits)}, line_of(first),
        f"Keep {', '.join(kept)} between calls instead of allocating in each",
    )  # fmt: skip


def _is_allocated_once(name: str, procedure: Procedure) -> bool:
    made = [each for each in procedure.all("sized_allocation") if squeezed(children(each)[0]) == name]
    freed = [
        each for each in procedure.all("deallocate_statement") if name in [squeezed(one) for one in children(each)]
    ]
    return len(made) == 1 and all(each.parent == procedure.node for each in freed) and len(freed) <= 1


def _is_moved(name: str, procedure: Procedure, program: Program) -> bool:
    """True where an array is asked whether it is allocated, or handed to what may allocate it."""
    for one in identifiers(procedure.node, name):
        parent = one.parent
        if parent is not None and parent.type in ("argument_list", "keyword_argument"):
            call = parent.parent if parent.type == "argument_list" else parent.parent and parent.parent.parent
            callees = program.named(called(call))
            if called(call) in ("allocated", "move_alloc") or any(
                each.allocatable or not each.type for callee in callees for each in callee.model.parameters
            ):
                return True
    return False


def _allocated_anew(node: Node, procedure: Procedure) -> Edit:
    blank, written = indent(procedure.source.text, node.start_byte).decode(), procedure.written
    lines: list[str] = []
    for each in children(node):
        name, sizes = written(children(each)[0]), children(children(each)[-1])
        tests = []
        for at, size in enumerate(sizes, 1):
            lower, colon, upper = (
                written(size).rpartition(":") if size.type == "extent_specifier" else ("", "", written(size))
            )
            tests += [f"lbound({name}, {at}) /= {lower.strip()}"] if colon else []
            tests += [f"ubound({name}, {at}) /= {upper.strip()}" if colon else f"size({name}, {at}) /= {upper.strip()}"]
        lines += [
            f"if (allocated({name})) then",
            f"  if ({' .or. '.join(tests)}) deallocate ({name})",
            "end if",
            f"if (.not. allocated({name})) allocate ({written(each)})",
        ]
    return Edit(node.start_byte, node.end_byte, f"\n{blank}".join(lines).encode())
