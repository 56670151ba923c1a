"""Lists of free-form Fortran that grow by one item in a loop, and whose size is the number of items: they get room for the loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, line_end, line_start
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, inside, line_of, text_of
from chathpc.fix.recipes.fortran.accesses import is_safe
from chathpc.fix.recipes.fortran.growth import growth, one_more, plain
from chathpc.fix.recipes.fortran.loops import declarations_end
from chathpc.fix.recipes.fortran.statements import (
    arguments,
    beside,
    called,
    declaration,
    identifiers,
    is_only_statement,
    is_single,
    is_way_out,
    mentions,
    squeezed,
)
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

_FIRST = 64


@dataclass(frozen=True, slots=True)
class Append:
    """Statements from `start` to `end` that put values behind a list."""

    start: int
    end: int
    name: str
    values: tuple[Node, ...]
    nodes: tuple[Node, ...]


def appended(context: Context, spot: Spot) -> Iterator[Change]:
    """`l = [l, x]` in a loop, or as long a way to the same, puts `x` into room that doubles; behind the loop the list gets its size."""
    procedure, program = spot.procedure, context.program
    at = declarations_end(procedure)
    if not is_safe(procedure) or at is None or "!$omp" in text_of(procedure.node).lower():
        return
    found = list(_appends(procedure, program))
    for name in dict.fromkeys(one.name for one in found):
        own = declaration(procedure, name)
        if own is None or not own.is_allocatable or own.rank != 1 or own.type.lower().startswith("class"):
            continue
        mine = [one for one in found if one.name == name]
        loop = _outermost(name, mine, procedure)
        if loop is None:
            continue
        here = [one for one in mine if loop.start_byte <= one.start < loop.end_byte]
        edits = _edits(name, own.type, here, loop, procedure, at)
        if edits is not None:
            yield Change(
                {spot.source.path: edits}, line_of(here[0].nodes[0]),
                f"puts the items into room that doubles, and gives {name} its size behind the loop, instead of copying it for each",
            )  # fmt: skip


def _appends(procedure: Procedure, program: Program) -> Iterator[Append]:
    for node in procedure.all("assignment_statement", "subroutine_call"):
        one = append(node, procedure) or _called_append(node, program)
        if one is not None:
            yield one


def append(node: Node, procedure: Procedure) -> Append | None:
    """The append that the statement does, or that it ends."""
    if node.type == "assignment_statement":
        name = squeezed(field(node, "left"))
        listed = children(field(node, "right"))
        if field(node, "right", "type") is not None:  # [real(8) :: l, x]
            listed = listed[1:]
        literal = field(node, "right")
        if literal is None or literal.type != "array_literal" or not name.isidentifier() or len(listed) < 2:
            return None
        if squeezed(listed[0]) != name or not all(is_single(each, procedure) for each in listed[1:]):
            return None
        return Append(node.start_byte, node.end_byte, name, tuple(listed[1:]), (node,))
    if called(node) != "move_alloc":
        return None
    grown = growth(node, procedure)
    if grown is None or grown.items.type != "identifier" or grown.lead or len(grown.stores) != 1:
        return None
    name, old = squeezed(grown.items), plain(grown.old)
    if not _is_size(old, name, grown.first) or not one_more(old, plain(grown.new)):
        return None
    listed = beside(node)
    whole = listed[listed.index(grown.first) : listed.index(node) + 1]
    return Append(grown.first.start_byte, node.end_byte, name, (grown.stores[0][1],), tuple(whole))


def _is_size(count: str, name: str, first: Node) -> bool:
    """True for `size(l)`, or a variable that was given it just before."""
    if count == f"size({name})":
        return True
    before = first.prev_named_sibling
    while before is not None and before.type in ("comment", "allocate_statement"):
        before = before.prev_named_sibling
    return before is not None and squeezed(before) == f"{count}=size({name})"


def _called_append(node: Node, program: Program) -> Append | None:
    """A call of a subroutine that does nothing but append its one argument to the other."""
    named = program.named(called(node)) if node.type == "subroutine_call" and called(node) else []
    if len(named) != 1 or named[0].node.type != "subroutine" or not is_safe(named[0]):
        return None
    callee = named[0]
    names = [each.name for each in callee.model.parameters]
    listed = arguments(node)
    if len(names) != 2 or len(listed) != 2 or any(each.type == "keyword_argument" for each in listed):
        return None
    bodies = [
        each
        for each in children(callee.node)[1:]
        if each.type not in ("variable_declaration", "implicit_statement", "use_statement", "end_subroutine_statement")
    ]
    ends = [one for each in bodies if (one := append(each, callee)) is not None]
    if len(ends) != 1 or ends[0].name not in names or len(ends[0].values) != 1:
        return None
    items = ends[0].name
    value = next(each for each in names if each != items)
    dummy, kept = declaration(callee, value), declaration(callee, items)
    if dummy is None or kept is None or squeezed(ends[0].values[0]) != value or dummy.rank:
        return None
    for each in bodies:
        if each in ends[0].nodes:
            continue
        words = squeezed(each)
        if words not in (f"if(.not.allocated({items}))allocate({items}(0))", "return") and not words.endswith(
            f"=size({items})"
        ):
            return None
    at = names.index(items)
    handed = listed[at]
    if handed.type != "identifier":
        return None
    return Append(node.start_byte, node.end_byte, squeezed(handed), (listed[1 - at],), (node,))


def _outermost(name: str, appends: list[Append], procedure: Procedure) -> Node | None:
    """The outermost loop around the first append in which the list is only appended to, counted, and asked for elements."""
    best = None
    one = appends[0].nodes[0].parent
    while one is not None and one != procedure.node:
        if one.type == "do_loop":
            if not _is_contained(name, one, appends, procedure):
                break
            best = one
        one = one.parent
    return best


def _is_contained(name: str, loop: Node, appends: list[Append], procedure: Procedure) -> bool:
    inner = [one for one in appends if loop.start_byte <= one.start < loop.end_byte]
    if is_way_out(loop) or any(inside(each, loop) for each in procedure.all("internal_procedures")):
        return False
    if any(mentions(each, name) for each in procedure.all("internal_procedures")):
        return False
    head = children(loop)[0]
    if mentions(head, name):
        return False
    for node in identifiers(loop, name):
        if any(one.start <= node.start_byte < one.end for one in inner):
            continue
        if not _is_element_or_size(node):
            return False
    return all(_is_element_or_size(each) for one in inner for value in one.values for each in identifiers(value, name))


def _is_element_or_size(node: Node) -> bool:
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "call_expression" and children(parent)[0] == node:
        listed = arguments(parent)
        return len(listed) == 1 and listed[0].type not in ("extent_specifier", "keyword_argument")
    call = parent.parent if parent.type == "argument_list" else None
    return called(call) == "size" and len(arguments(call)) == 1


def _edits(
    name: str, kind: str, appends: list[Append], loop: Node, procedure: Procedure, at: int
) -> tuple[Edit, ...] | None:
    text = procedure.source.text
    room, more, count = (fresh_name(f"{name}_{each}", text) for each in ("room", "more", "count"))
    edge = indent(text, at - 1).decode()
    blank = indent(text, loop.start_byte).decode()
    start, end = line_start(text, loop.start_byte), line_end(text, loop.end_byte - 1)
    if text[start : loop.start_byte].strip():
        return None
    before = [
        f"{count} = 0",
        f"if (allocated({name})) {count} = size({name})",
        f"allocate ({room}(max({_FIRST}, 2*{count})))",
        f"if ({count} > 0) {room}(1:{count}) = {name}",
    ]
    behind = [f"if ({count} > 0) {name} = {room}(1:{count})", f"deallocate ({room})"]
    edits = [
        Edit(at, at, f"\n{edge}{kind}, allocatable :: {room}(:), {more}(:)\n{edge}integer :: {count}".encode()),
        Edit(start, start, "".join(f"{blank}{line}\n" for line in before).encode()),
        Edit(end, end, "".join(f"{blank}{line}\n" for line in behind).encode()),
    ]
    for one in appends:
        inner = indent(text, one.start).decode()
        alone = not text[line_start(text, one.start) : one.start].strip()
        if not alone and not is_only_statement(one.nodes[0]):
            return None
        needed = f"{count} + {len(one.values)}"
        lines = [
            f"if ({needed} > size({room})) then",
            f"  allocate ({more}(2*({needed})))",
            f"  {more}(1:{count}) = {room}(1:{count})",
            f"  call move_alloc({more}, {room})",
            "end if",
            *(
                f"{room}({count} + {place + 1}) = {_renamed(each, name, room, count, text)}"
                for place, each in enumerate(one.values)
            ),
            f"{count} = {needed}",
        ]
        if not alone:  # `if (…) l = [l, x]` in one line
            lines = ["then", *(f"  {line}" for line in lines), "end if"]
        edits.append(Edit(one.start, one.end, f"\n{inner}".join(lines).encode()))
    for node in identifiers(loop, name):
        if any(one.start <= node.start_byte < one.end for one in appends):
            continue
        edits.append(_renaming(node, room, count))
    return tuple(edits)


def _renaming(node: Node, room: str, count: str) -> Edit:
    parent = node.parent
    if parent is not None and parent.type == "argument_list" and parent.parent is not None:
        return Edit(parent.parent.start_byte, parent.parent.end_byte, count.encode())
    return Edit(node.start_byte, node.end_byte, room.encode())


def _renamed(value: Node, name: str, room: str, count: str, text: bytes) -> str:
    new = text[value.start_byte : value.end_byte]
    for node in sorted(identifiers(value, name), key=lambda each: -each.start_byte):
        one = _renaming(node, room, count)
        new = new[: one.start - value.start_byte] + one.new + new[one.end - value.start_byte :]
    return new.decode("utf-8", "surrogateescape")
