"""Elements of threads in `parallel for`: kept in variables of a region, in which the loop is then shared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.directives import Directive, directives
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, without_line
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, inside, nodes, statements, text_of
from chathpc.fix.recipes.analysis.types import Type, declared, field_of, type_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.threads.gathering import region_around
from chathpc.fix.recipes.threads.own_elements import LEAVING, is_named_by_callees, label_of, stays, volatile_names

if TYPE_CHECKING:
    from tree_sitter import Node

_CALL = "omp_get_thread_num()"
_WRITES = ("assignment_expression", "update_expression")
_KEPT = re.compile(r"(?:std::)?unique_ptr<\s*([\w:\s]+?)\s*\[\]\s*>")
#: Each has memory of its own.
_OWNERS = re.compile(r"(?:std::)?(?:vector<|array<|unique_ptr<.*\[\]>|valarray<)")


def kept_in_region(context: Context, spot: Spot) -> Iterator[Change]:
    """Elements that a shared loop updates by the number of the thread are kept in variables of the parallel region for its time.

    What the iterations reach without the number of the thread is none of these elements: any thread may run any of them.
    """
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or procedure.unstable:
        return
    for one in directives(procedure):
        if not (one.is_loop and one.has("parallel")) or any(
            one.has(each) for each in ("simd", "ordered", "target", "teams")
        ):
            continue
        if one.clause("collapse") is not None or one.statement.parent != one.node.parent:
            continue
        change = _kept(one, procedure, program, text)
        if change is not None:
            yield Change({spot.source.path: change[0]}, one.node.start_point[0] + 1, change[1])


def _kept(one: Directive, procedure: Procedure, program: Program, text: bytes) -> tuple[tuple[Edit, ...], str] | None:
    loop = one.statement
    body = field(loop, "body")
    if body is None or any(True for _ in nodes(body, "preproc_call", *LEAVING)):
        return None
    found = _number(body, procedure)
    if found is None:
        return None
    number, declaration = found
    kept = _elements(body, number, procedure, program)
    if not kept or _is_asked_elsewhere(loop, number, declaration, kept, program):
        return None
    names = {text_of(each) for listed in kept.values() for each in nodes(listed[0], "identifier", "field_identifier")}
    roots = names - {number, "omp_get_thread_num"}
    if not all(stays(each, loop, procedure, known=True) for each in roots):
        return None
    if names & set(re.findall(r"\w+", one.words)) or (declaration is not None and number in _header_names(loop, body)):
        return None
    blank = indent(text, loop.start_byte).decode()
    edits: list[Edit] = []
    first, last = [], []
    if declaration is not None:
        first.append(text_of(declaration))
        edits.append(without_line(declaration, text))
    else:
        own_number = fresh_name("thread", text)
        first.append(f"int {own_number} = {_CALL};")
    for shown, places in kept.items():
        kind = _kind(places[0], procedure, program)
        if kind is None:
            return None
        label = fresh_name("own_" + label_of(shown).rstrip("_"), text)
        outside = shown if declaration is not None else re.sub(re.escape("[" + _CALL + "]"), f"[{own_number}]", shown)
        first.append(f"{kind.name} {label} = {outside};")
        last.append(f"{outside} = {label};")
        edits += [Edit(each.start_byte, each.end_byte, label.encode()) for each in places]
    around = region_around(one, "".join(f"{blank}{each}\n" for each in first), text)
    if around is None or len({each.split()[1] for each in first}) < len(first):
        return None
    behind = "".join(f"\n{blank}{each}" for each in last) + f"\n{blank}}}"
    edits += [around, Edit(loop.end_byte, loop.end_byte, behind.encode())]
    did = f"keeps {', '.join(kept)} in variables of the thread's own during the loop: others write next to it"
    return tuple(edits), did


def _header_names(loop: Node, body: Node) -> set[str]:
    return {text_of(each) for each in nodes(loop, "identifier") if not inside(each, body)}


def _number(body: Node, procedure: Procedure) -> tuple[str, Node | None] | None:
    """What the iterations call the number of their thread, and its declaration; the call itself where there is none."""
    for each in statements(body):
        parts = each.children_by_field_name("declarator") if each.type == "declaration" else []
        if len(parts) == 1 and text_of(field(parts[0], "value")) == _CALL:
            name = field(parts[0], "declarator")
            if name is None or name.type != "identifier" or len(procedure.assigned.get(text_of(name), ())) != 1:
                return None
            is_changed = any(
                text_of(field(one, "argument")) == text_of(name) for one in nodes(body, "update_expression")
            )
            return None if is_changed or text_of(name) in procedure.addressed else (text_of(name), each)
    return (_CALL, None) if any(text_of(each) == _CALL for each in nodes(body, "call_expression")) else None


def _elements(body: Node, number: str, procedure: Procedure, program: Program) -> dict[str, list[Node]]:
    """All places of elements that the number chooses, by how they are written: one at least writes each, and they are numbers."""
    found: dict[str, list[Node]] = {}
    for each in nodes(body, "subscript_expression"):
        if _index(each) != number:
            continue
        while (above := each.parent) is not None and above.type == "field_expression":
            if text_of(field(above, "operator")) != "." or field(above, "argument") != each:
                return {}
            each = above
        found.setdefault(text_of(each), []).append(each)
    volatile = {name for source in program.sources.values() for name in volatile_names(source.text)}
    if not _are_apart([places[0] for places in found.values()], body, procedure, program):
        return {}
    for places in found.values():
        kind = _kind(places[0], procedure, program)
        base = _base(places[0])
        if kind is None or not kind.is_arithmetic or kind.name == "bool" or base is None:
            return {}
        if (
            base.type not in ("identifier", "field_expression")
            or {text_of(one) for one in nodes(base, "identifier", "field_identifier")} & volatile
        ):
            return {}
        if any(_is_handed_on(one) for one in places):
            return {}
    return {shown: places for shown, places in found.items() if any(_is_written(one) for one in places)}


def _are_apart(places: list[Node], body: Node, procedure: Procedure, program: Program) -> bool:
    """True if no two of these elements, or members of such, are the same memory."""
    accesses = {each.node: each for each in effects(body, procedure, program).accesses}
    for one, other in combinations(places, 2):
        bases = _base(one), _base(other)
        if text_of(bases[0]) == text_of(bases[1]) and not program.has_unions:
            continue
        if all(_is_owner(each, procedure, program) for each in bases):
            continue
        if one not in accesses or other not in accesses or may_overlap(accesses[one], accesses[other], program):
            return False
    return True


def _index(node: Node) -> str:
    index = field(node, "index") or field(node, "indices")
    listed = children(index) if index is not None and index.type == "subscript_argument_list" else [index]
    return text_of(listed[0]) if len(listed) == 1 else ""


def _base(node: Node) -> Node | None:
    """The array of such an element."""
    one: Node | None = node
    while one is not None and one.type == "field_expression":
        one = field(one, "argument")
    return field(one, "argument")


def _kind(place: Node, procedure: Procedure, program: Program) -> Type | None:
    """The type of an element, that of an array behind a `std::unique_ptr` among them."""
    base = _base(place)
    if place.type == "subscript_expression" and base is not None and base.type == "identifier":
        one = declared(text_of(base), procedure, program)
        match = _KEPT.fullmatch(one.type) if one is not None and not one.pointers and not one.dims else None
        if match is not None:
            return Type(match[1])
    return type_of(place, procedure, program)


def _is_owner(base: Node | None, procedure: Procedure, program: Program) -> bool:
    """True for an array or a container, which has no other's elements."""
    if base is None:
        return False
    one = (
        declared(text_of(base), procedure, program) if base.type == "identifier" else field_of(base, procedure, program)
    )
    if one is None or one.reference or one.pointers or text_of(base) in procedure.parameters:
        return False
    return bool(one.dims) or _OWNERS.match(one.type) is not None


def _is_written(place: Node) -> bool:
    parent = place.parent
    return parent is not None and parent.type in _WRITES and place in (field(parent, "left"), field(parent, "argument"))


def _is_handed_on(place: Node) -> bool:
    """True where the address may be taken, or a reference be bound."""
    parent = place.parent
    if parent is None or parent.type in (
        "pointer_expression",
        "argument_list",
        "initializer_list",
        "subscript_expression",
    ):
        return True
    return parent.type == "init_declarator" and "&" in text_of(field(parent, "declarator"))


def _is_asked_elsewhere(
    loop: Node, number: str, declaration: Node | None, kept: dict[str, list[Node]], program: Program
) -> bool:
    """True if the number of the thread, or an array of those elements, is used in any other way."""
    places = [one for listed in kept.values() for one in listed]
    for each in nodes(loop, "identifier", "call_expression"):
        if text_of(each) != number or (declaration is not None and inside(each, declaration)):
            continue
        holder = each.parent
        if holder is not None and holder.type == "subscript_argument_list":
            holder = holder.parent
        if holder is None or holder.type != "subscript_expression" or field(holder, "argument") == each:
            return True
    asked = [each for each in nodes(loop, "identifier") if text_of(each) == "omp_get_thread_num"]
    if declaration is not None and len(asked) != 1:
        return True
    for listed in kept.values():
        base = _base(listed[0])
        name = [text_of(each) for each in nodes(base or listed[0], "identifier", "field_identifier")][-1]
        for each in nodes(loop, "identifier", "field_identifier"):
            if text_of(each) == name and not any(inside(each, one) for one in places):
                return True
        if is_named_by_callees(name, loop, program):
            return True
    return is_named_by_callees("omp_get_thread_num", loop, program)
