"""Lists of free-form Fortran that are made one longer with each item: the statements that do so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure
from chathpc.fix.recipes.analysis.syntax import children, field, text_of
from chathpc.fix.recipes.fortran.statements import (
    arguments,
    beside,
    declaration,
    identifiers,
    mentions,
    named_argument,
    squeezed,
)

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class Growth:
    """Statements that replace a list by one that is one longer: `first` in the text, and what is put behind the old items.

    `lead` are the sizes of the dimensions before the last one, which is the one that grows.
    """

    first: Node
    items: Node
    old: str  #: how many items there were, as it is written
    new: str  #: how many there are then
    lead: tuple[str, ...]
    stores: tuple[
        tuple[tuple[str, ...], Node], ...
    ]  #: subscripts before the last, and value, of what is put there on the way


def growth(call: Node, procedure: Procedure) -> Growth | None:
    """What a `move_alloc` ends, if nothing else happens on the way: the room, the old items, perhaps the new one."""
    moved, items = named_argument(call, "from", 0), named_argument(call, "to", 1)
    if moved is None or items is None or len(arguments(call)) != 2 or moved.type != "identifier":
        return None
    temporary, name = text_of(moved).lower(), squeezed(items)
    if items.type not in ("identifier", "derived_type_member_expression") or not _is_own(temporary, procedure):
        return None
    listed = beside(call)
    at = listed.index(call)
    first = next((place for place in range(at - 1, -1, -1) if listed[place].type == "allocate_statement"), None)
    room = _room(listed[first], temporary) if first is not None else None
    if first is None or room is None:
        return None
    lead, new = [text_of(each) for each in room[:-1]], squeezed(room[-1])
    old: str | None = None
    stores: list[tuple[tuple[str, ...], Node]] = []
    for one in listed[first + 1 : at]:
        copied = _copied(one, temporary, name, new, len(lead))
        value = field(one, "right")
        subscripts = _element(field(one, "left"), temporary, new, len(lead))
        if copied is not None and old is None:
            old = copied
        elif subscripts is not None and value is not None and not mentions(value, temporary):
            stores.append((subscripts, value))
        elif not (one.type == "deallocate_statement" and squeezed(one) == f"deallocate({name})"):
            return None
    if old is None or not _is_only_there(temporary, listed[first : at + 1], procedure):
        return None
    return Growth(listed[first], items, old, text_of(room[-1]), tuple(lead), tuple(stores))


def _is_own(temporary: str, procedure: Procedure) -> bool:
    own = declaration(procedure, temporary)
    return own is not None and own.is_allocatable and temporary not in procedure.parameters


def _is_only_there(temporary: str, listed: list[Node], procedure: Procedure) -> bool:
    """True if the temporary is named in these statements and in its declaration alone."""
    used = sum(len(identifiers(one, temporary)) for one in listed)
    return len(identifiers(procedure.node, temporary)) - used <= 1


def _room(node: Node, name: str) -> list[Node] | None:
    """The sizes with which an array is allocated, if nothing else is."""
    listed = children(node)
    if node.type != "allocate_statement" or len(listed) != 1 or listed[0].type != "sized_allocation":
        return None
    sizes = children(children(listed[0])[-1])
    if squeezed(children(listed[0])[0]) != name or any(each.type == "extent_specifier" for each in sizes):
        return None
    return sizes


def plain(text: str) -> str:
    """The text in lower case without blanks."""
    return "".join(text.lower().split())


def one_more(old: str, new: str) -> bool:
    """True if one number, as it is written without blanks, is that of the other and one more."""
    return new in (f"{old}+1", f"1+{old}") or old in (f"{new}-1",)


def _copied(node: Node, temporary: str, items: str, room: str, lead: int) -> str | None:
    """How many items the statement copies to the temporary's beginning; None if it does anything else."""
    if node.type == "if_statement":  # `if (n > 0) t(1:n) = l`, `if (allocated(l)) …`
        inner = [each for each in children(node)[1:] if not each.type.startswith("end_")]
        condition = squeezed(children(node)[0])
        copied = _copied(inner[0], temporary, items, room, lead) if len(inner) == 1 else None
        if copied is None:
            return None
        count = plain(copied)
        known = (f"(allocated({items}))", f"({count}>0)", f"({count}>=1)", f"({count}/=0)", f"({room}>1)")
        return copied if condition in known else None
    if node.type == "do_loop":
        return _copied_by_loop(node, temporary, items, room) if lead == 0 else None
    if node.type != "assignment_statement":
        return None
    left, right = field(node, "left"), field(node, "right")
    upper = _section(left, temporary, lead)
    if upper is None or not one_more(plain(upper), room):
        return None
    if squeezed(right) == items:
        return upper
    of = _section(right, items, lead)
    return upper if of is not None and plain(of) == plain(upper) else None


def _section(node: Node | None, name: str, lead: int) -> str | None:
    """The upper bound of `name(1:upper)` or `name(:upper)`, with a colon for each dimension before."""
    if node is None or node.type != "call_expression" or squeezed(children(node)[0]) != name:
        return None
    listed = arguments(node)
    if (
        len(listed) != lead + 1
        or listed[-1].type != "extent_specifier"
        or any(squeezed(each) != ":" for each in listed[:-1])
    ):
        return None
    lower, colon, upper = text_of(listed[-1]).partition(":")
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


def _element(node: Node | None, name: str, index: str, lead: int) -> tuple[str, ...] | None:
    """The subscripts before the last of `name(…, index)`."""
    if node is None or node.type != "call_expression" or squeezed(children(node)[0]) != name:
        return None
    listed = arguments(node)
    if len(listed) != lead + 1 or squeezed(listed[-1]) != index:
        return None
    return tuple(text_of(each) for each in listed[:-1])
