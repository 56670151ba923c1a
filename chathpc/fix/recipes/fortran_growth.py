"""Lists of free-form Fortran that are made one longer with each item: they double their room instead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.edits import Edit, indent, line_end, line_start
from chathpc.fix.recipes.fortran_loops import is_safe
from chathpc.fix.recipes.fortran_rooms import may_have_room
from chathpc.fix.recipes.fortran_statements import (
    arguments,
    beside,
    called,
    declaration,
    identifiers,
    mentions,
    named_argument,
    squeezed,
)
from chathpc.fix.recipes.program import Procedure, Spot
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.syntax import children, field, line_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: So many elements a list has room for when it first grows.
_FIRST = 16


@dataclass(frozen=True, slots=True)
class Growth:
    """Statements that replace a list by one that is one longer: `first` to `last` in the text, and what is put behind the old items."""

    first: Node
    last: Node
    temporary: str
    items: Node  #: the list, as `move_alloc` names it
    old: str  #: how many items there were, as it is written
    new: str  #: how many there are then
    value: Node | None  #: what is put there, where that is done on the way


def doubled(context: Context, spot: Spot) -> Iterator[Change]:
    """`allocate (t(n + 1)); t(1:n) = l; t(n + 1) = x; call move_alloc(t, l)` is done only where `l` is full, and doubles its room."""
    procedure, text = spot.procedure, spot.source.text
    if not is_safe(procedure):
        return
    for call in procedure.all("subroutine_call"):
        grown = growth(call, procedure) if called(call) == "move_alloc" else None
        if grown is None or "size(" in grown.old.replace(" ", "").lower():
            continue
        if not may_have_room(grown.items, procedure, context.program, (grown.first.start_byte, grown.last.end_byte)):
            continue
        yield Change(
            {spot.source.path: (_doubling(grown, text),)},
            line_of(call),
            f"doubles the room of {text_of(grown.items)} when it is full instead of making it one longer for each item",
        )


def _doubling(grown: Growth, text: bytes) -> Edit:
    blank = indent(text, grown.first.start_byte).decode()
    items, temporary = text_of(grown.items), grown.temporary
    before = grown.first.prev_named_sibling
    is_allocated = squeezed(before).startswith(f"if(.not.allocated({squeezed(grown.items)}))allocate(")
    lines = [
        *(() if is_allocated else (f"if (.not. allocated({items})) allocate ({items}(0))",)),
        f"if (size({items}) < {grown.new}) then",
        f"  allocate ({temporary}(max({_FIRST}, 2*({grown.new}))))",
        f"  {temporary}(1:{grown.old}) = {items}(1:{grown.old})",
        f"  call move_alloc({temporary}, {items})",
        "end if",
    ]
    if grown.value is not None:
        value = text[grown.value.start_byte : grown.value.end_byte].decode("utf-8", "surrogateescape")
        lines.append(f"{items}({grown.new}) = {value}")
    return Edit(
        grown.first.start_byte, grown.last.end_byte, f"\n{blank}".join(lines).encode("utf-8", "surrogateescape")
    )


def growth(call: Node, procedure: Procedure) -> Growth | None:
    """What a `move_alloc` ends, if nothing else happens on the way: the room, the old items, perhaps the new one."""
    moved, items = named_argument(call, "from", 0), named_argument(call, "to", 1)
    if moved is None or items is None or len(arguments(call)) != 2 or moved.type != "identifier":
        return None
    if items.type not in ("identifier", "derived_type_member_expression"):
        return None
    temporary, name = text_of(moved).lower(), squeezed(items)
    own = declaration(procedure, temporary)
    if own is None or not own.is_allocatable or own.rank != 1 or temporary in procedure.parameters:
        return None
    listed = beside(call)
    at = listed.index(call)
    first = next((place for place in range(at - 1, -1, -1) if listed[place].type == "allocate_statement"), None)
    if first is None:
        return None
    room = _room(listed[first], temporary)
    if room is None:
        return None
    old: str | None = None
    value: Node | None = None
    for one in listed[first + 1 : at]:
        copied = _copied(one, temporary, name, squeezed(room))
        if copied is not None and old is None:
            old = copied
        elif _is_element(field(one, "left"), temporary, squeezed(room)) and value is None:
            value = field(one, "right")
        elif not (one.type == "deallocate_statement" and squeezed(one) == f"deallocate({name})"):
            return None
    if old is None:
        return None
    if value is not None and mentions(value, temporary):
        return None
    used = sum(len(identifiers(one, temporary)) for one in listed[first : at + 1])
    everywhere = len(identifiers(procedure.node, temporary))
    if everywhere - used > 1:  # its declaration is one more
        return None
    return Growth(listed[first], call, text_of(moved), items, old, text_of(room), value)


def _room(node: Node, temporary: str) -> Node | None:
    """The size with which the temporary is allocated, if nothing else is."""
    listed = children(node)
    if len(listed) != 1 or listed[0].type != "sized_allocation":
        return None
    name, size = children(listed[0])[0], children(children(listed[0])[-1])
    if text_of(name).lower() != temporary or len(size) != 1 or size[0].type == "extent_specifier":
        return None
    return size[0]


def one_more(old: str, new: str) -> bool:
    """True if one number, as it is written without blanks, is that of the other and one more."""
    return new in (f"{old}+1", f"1+{old}") or old in (f"{new}-1",)


def _copied(node: Node, temporary: str, items: str, room: str) -> str | None:
    """How many items the statement copies to the temporary's beginning; None if it does anything else."""
    if node.type == "if_statement":  # `if (n > 0) t(1:n) = l`, `if (allocated(l)) …`
        inner = [each for each in children(node)[1:] if not each.type.startswith("end_")]
        condition = squeezed(children(node)[0])
        if len(inner) != 1:
            return None
        copied = _copied(inner[0], temporary, items, room)
        if copied is None:
            return None
        count = re.sub(r"\s", "", copied).lower()
        known = (f"(allocated({items}))", f"({count}>0)", f"({count}>=1)", f"({count}/=0)", f"({room}>1)")
        return copied if condition in known else None
    if node.type == "do_loop":
        return _copied_by_loop(node, temporary, items, room)
    if node.type != "assignment_statement":
        return None
    left, right = field(node, "left"), field(node, "right")
    upper = _section(left, temporary)
    if upper is None or not one_more(re.sub(r"\s", "", upper).lower(), room):
        return None
    if squeezed(right) == items:
        return upper
    of = _section(right, items)
    return upper if of is not None and re.sub(r"\s", "", of).lower() == re.sub(r"\s", "", upper).lower() else None


def _section(node: Node | None, name: str) -> str | None:
    """The upper bound of `name(1:upper)` or `name(:upper)`."""
    if node is None or node.type != "call_expression" or squeezed(children(node)[0]) != name:
        return None
    listed = arguments(node)
    if len(listed) != 1 or listed[0].type != "extent_specifier":
        return None
    written = text_of(listed[0])
    lower, colon, upper = written.partition(":")
    return upper.strip() if colon and lower.strip() in ("", "1") and upper.strip() and ":" not in upper else None


def _copied_by_loop(node: Node, temporary: str, items: str, room: str) -> str | None:
    listed = [each for each in children(node) if not each.type.startswith("end_")]
    heads = [each for each in children(listed[0]) if each.type == "loop_control_expression"] if listed else []
    if len(listed) != 2 or not heads or listed[1].type != "assignment_statement":
        return None
    control = children(heads[0])
    if len(control) != 3 or text_of(control[1]) != "1":
        return None
    variable = squeezed(control[0])
    good = squeezed(listed[1]) == f"{temporary}({variable})={items}({variable})"
    return text_of(control[2]) if good and one_more(squeezed(control[2]), room) else None


def _is_element(node: Node | None, name: str, index: str) -> bool:
    return node is not None and squeezed(node) == f"{name}({index})"


def whole_lines(node: Node, text: bytes) -> tuple[int, int]:
    """Bytes of all lines that a statement stands in."""
    return line_start(text, node.start_byte), line_end(text, node.end_byte - 1)
