"""Arrays of `std::unique_ptr` that are made in every call or iteration: their memory is kept for the next one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.heads import included
from chathpc.fix.recipes.analysis.loops import around
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, inside, line_of, nodes, text_of
from chathpc.fix.recipes.analysis.types import names_number
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.buffers import calls_itself, kept_buffers, stays_inside

if TYPE_CHECKING:
    from tree_sitter import Node

_OWNER = r"(?:std::)?unique_ptr<\s*([\w:\s]+?)\s*\[\]\s*>"
_MAKER = r"(?:std::)?(make_unique(?:_for_overwrite)?)<\s*([\w:\s]+?)\s*\[\]\s*>\s*\((.+)\)"
_NEW = r"new\s+([\w:\s]+?)\s*\[(.+)\](\(\)|\{\})?"
#: `std::unique_ptr<T[]> a(new T[n]);`, in braces as well.
_GIVEN = re.compile(rf"(?:const\s+)?{_OWNER}\s+(\w+)\s*[({{]\s*{_NEW}\s*[)}}]\s*;", re.DOTALL)
#: `… a = std::unique_ptr<T[]>(new T[n]);`
_WRAPPED = re.compile(rf"(?:const\s+)?(?:auto|{_OWNER})\s+(\w+)\s*=\s*{_OWNER}\s*[({{]\s*{_NEW}\s*[)}}]\s*;", re.DOTALL)
#: `… a = std::make_unique<T[]>(n);`
_MADE = re.compile(rf"(?:const\s+)?(?:auto|{_OWNER})\s+(\w+)\s*(?:=\s*|[({{]\s*){_MAKER}\s*[)}}]?\s*;", re.DOTALL)


def kept_memory(context: Context, spot: Spot) -> Iterator[Change]:
    """Buffers that a function takes and gives back in every call, itself or by their owner, are kept for the next one."""
    yield from kept_buffers(context, spot)
    yield from _kept_arrays(context, spot)


def _kept_arrays(context: Context, spot: Spot) -> Iterator[Change]:
    """An array of numbers with one owner keeps its memory for the next call or iteration, and grows where it must."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.body is None or procedure.is_broken or calls_itself(procedure, program) or not spot.source.is_cpp:
        return
    if (program.has_threads and not program.has_only_openmp) or any(True for _ in procedure.all("lambda_expression")):
        return
    again = procedure.model.name != "main" and any(
        True for home, call in program.calls.get(procedure.model.name, []) for _ in around(call, home)
    )
    for node in procedure.all("declaration"):
        found = _array(text_of(node))
        if found is None or node.parent is None or node.parent.type != "compound_statement":
            continue
        kind, name, size, blank = found
        if not (again or any(True for _ in around(node, procedure))) or not names_number(kind, spot.source):
            continue
        if not _is_told(node, size, procedure, program) or not _stays(name, node, procedure, program):
            continue
        room, need = (fresh_name(f"{name}_{each}", text) for each in ("room", "need"))
        static = "static thread_local" if program.has_threads else "static"
        lines = [
            f"{static} std::unique_ptr<{kind}[]> {name};",
            f"{static} size_t {room};",
            f"const size_t {need} = {size};",
            f"if (!{name} || {need} > {room}) {{ {name}.reset(new {kind}[{need}]); {room} = {need}; }}",
            *([f"std::fill_n({name}.get(), {need}, {kind}());"] if blank else []),
        ]
        edits = [
            *(included("algorithm", procedure) if blank else []),
            Edit(
                node.start_byte,
                node.end_byte,
                (b"\n" + indent(text, node.start_byte)).join(each.encode() for each in lines),
            ),
        ]
        yield Change(
            {spot.source.path: tuple(edits)},
            line_of(node),
            f"Reuse the memory of {name} instead of allocating and freeing it each time",
        )


def _array(text: str) -> tuple[str, str, str, bool] | None:
    """Type, name and size of such an array, and whether it begins with zeros."""
    match = _MADE.fullmatch(text)
    if match is not None:
        told, name, how, kind, size = match.groups()
        return (kind, name, size, how == "make_unique") if told in (None, kind) else None
    match = _GIVEN.fullmatch(text)
    if match is not None:
        told, name, kind, size, zeros = match.groups()
        return (kind, name, size, bool(zeros)) if told == kind else None
    match = _WRAPPED.fullmatch(text)
    if match is not None:
        told, name, owned, kind, size, zeros = match.groups()
        return (kind, name, size, bool(zeros)) if told in (None, kind) and owned == kind else None
    return None


def _is_told(node: Node, size: str, procedure: Procedure, program: Program) -> bool:
    """True if asking for the size changes nothing."""
    asked = [each for each in nodes(node, *_SIZES) if text_of(each) == size]
    if not asked:
        return False
    found = effects(asked[0], procedure, program)
    return found.is_known and not found.writes


_SIZES = (
    "identifier", "number_literal", "binary_expression", "call_expression", "field_expression", "cast_expression",
    "parenthesized_expression", "subscript_expression",
)  # fmt: skip


def _stays(name: str, node: Node, procedure: Procedure, program: Program) -> bool:
    """True if the array is only indexed, and lent to what keeps no pointer to it."""
    for each in procedure.identifiers.get(name, ()):
        if inside(each, node):
            continue
        parent = each.parent
        if parent is None or node.parent is None or not inside(each, node.parent):
            return False
        if parent.type == "subscript_expression" and field(parent, "argument") == each:
            continue
        call = parent.parent
        if (
            parent.type != "field_expression"
            or text_of(parent) != f"{name}.get"
            or call is None
            or call.type != "call_expression"
            or not (_is_lent(call, procedure, program) or stays_inside(call, program))
        ):
            return False
    return True


def _is_lent(call: Node, procedure: Procedure, program: Program) -> bool:
    """True where a local pointer gets the array's address, and stays inside as well."""
    parent = call.parent
    pointer = field(parent, "declarator")
    if parent is None or parent.type != "init_declarator" or pointer is None:
        return False
    name = text_of(next(iter(nodes(pointer, "identifier")), None))
    if pointer.type != "pointer_declarator" or procedure.times_declared.get(text_of(pointer)) != 1:
        return False
    own = procedure.declarations.get(name)
    if own is None or own.static or own.pointers != 1 or len(procedure.assigned.get(name, ())) != 1:
        return False
    return all(
        inside(each, pointer) or stays_inside(each, program) for each in procedure.identifiers.get(name, ())
    ) and bool(children(parent))
