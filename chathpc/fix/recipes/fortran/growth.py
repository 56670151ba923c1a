"""Lists of free-form Fortran that are made one longer with each item: they double their room instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, indent
from chathpc.fix.recipes.analysis.program import Procedure, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, text_of
from chathpc.fix.recipes.fortran.accesses import is_safe
from chathpc.fix.recipes.fortran.rooms import may_have_room
from chathpc.fix.recipes.fortran.statements import (
    arguments,
    beside,
    called,
    declaration,
    identifiers,
    mentions,
    named_argument,
    squeezed,
)
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

#: So many elements a list has room for when it first grows.
_FIRST = 16


@dataclass(frozen=True, slots=True)
class Growth:
    """Statements that replace a list by one that is one longer: `first` to `last` in the text, and what is put behind the old items.

    `lead` are the sizes of the dimensions before the last one, which is the one that grows.
    """

    first: Node
    last: Node
    temporary: str
    items: Node
    old: str  #: how many items there were, as it is written
    new: str  #: how many there are then
    lead: tuple[str, ...]
    stores: tuple[
        tuple[tuple[str, ...], Node], ...
    ]  #: subscripts before the last, and value, of what is put there on the way


def doubled(context: Context, spot: Spot) -> Iterator[Change]:
    """`allocate (t(n + 1)); t(1:n) = l; t(n + 1) = x; call move_alloc(t, l)` is done only where `l` is full, and doubles its room."""
    procedure, text = spot.procedure, spot.source.text
    if not is_safe(procedure):
        return
    for node in procedure.all("subroutine_call", "deallocate_statement"):
        grown = growth(node, procedure) if called(node) == "move_alloc" else regrowth(node, procedure)
        if grown is None or "size(" in grown.old.replace(" ", "").lower():
            continue
        span = grown.first.start_byte, grown.last.end_byte
        if not may_have_room(grown.items, procedure, context.program, span):
            continue
        yield Change(
            {spot.source.path: (_doubling(grown, text),)},
            line_of(node),
            f"doubles the room of {text_of(grown.items)} when it is full instead of making it one longer for each item",
        )


def _doubling(grown: Growth, text: bytes) -> Edit:
    blank = indent(text, grown.first.start_byte).decode()
    items, temporary = text_of(grown.items), grown.temporary
    before = grown.first.prev_named_sibling
    is_allocated = squeezed(before).startswith(f"if(.not.allocated({squeezed(grown.items)}))allocate(")
    lead = "".join(f"{each}, " for each in grown.lead)
    all_before = ":, " * len(grown.lead)
    dimension = f", {len(grown.lead) + 1}" if grown.lead else ""
    lines = [
        *(() if is_allocated else (f"if (.not. allocated({items})) allocate ({items}({lead}0))",)),
        f"if (size({items}{dimension}) < {grown.new}) then",
        f"  allocate ({temporary}({lead}max({_FIRST}, 2*({grown.new}))))",
        f"  {temporary}({all_before}1:{grown.old}) = {items}({all_before}1:{grown.old})",
        f"  call move_alloc({temporary}, {items})",
        "end if",
    ]
    for subscripts, given in grown.stores:
        value = text[given.start_byte : given.end_byte].decode("utf-8", "surrogateescape")
        lines.append(f"{items}({', '.join((*subscripts, grown.new))}) = {value}")
    return Edit(
        grown.first.start_byte, grown.last.end_byte, f"\n{blank}".join(lines).encode("utf-8", "surrogateescape")
    )


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
    return Growth(listed[first], call, text_of(moved), items, old, text_of(room[-1]), tuple(lead), tuple(stores))


def regrowth(freed: Node, procedure: Procedure) -> Growth | None:
    """`t = l; deallocate (l); allocate (l(n + 1)); l(1:n) = t`: the same by a copy there and back."""
    inner = children(freed)
    if (
        freed.type != "deallocate_statement"
        or len(inner) != 1
        or inner[0].type not in ("identifier", "derived_type_member_expression")
    ):
        return None
    items, listed = inner[0], beside(freed)
    name, at = squeezed(items), listed.index(freed)
    room = _room(listed[at + 1], name) if at + 2 < len(listed) else None
    if room is None or len(room) != 1:
        return None
    back, new = listed[at + 2], squeezed(room[0])
    old = _section(field(back, "left"), name, 0)
    kept = field(back, "right")
    kept = children(kept)[0] if kept is not None and kept.type == "call_expression" else kept
    temporary = squeezed(kept)
    if (
        old is None
        or not one_more(plain(old), new)
        or not temporary.isidentifier()
        or not _is_own(temporary, procedure)
    ):
        return None
    if squeezed(field(back, "right")) not in (
        temporary,
        f"{temporary}(1:{plain(old)})",
        f"{temporary}(:{plain(old)})",
    ):
        return None
    first, last = at - 1, at + 2
    there = squeezed(listed[first]) if first >= 0 else ""
    made = f"allocate({temporary}"
    if there.startswith(f"{temporary}"):
        if _copied(listed[first], temporary, name, new, 0) is None and there != f"{temporary}={name}":
            return None
        if first and squeezed(listed[first - 1]).startswith(made):
            first -= 1
    elif there != f"{made},source={name})":
        return None
    if last + 1 < len(listed) and squeezed(listed[last + 1]) == f"deallocate({temporary})":
        last += 1
    if not _is_only_there(temporary, listed[first : last + 1], procedure):
        return None
    return Growth(listed[first], listed[last], temporary, items, old, text_of(room[0]), (), ())


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
