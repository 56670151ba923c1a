"""Functions of C and C++ that loops further out call again and again with the same arguments.

Only what a change is worth rests on it, never whether it is right: what memory holds is followed by names alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.effects import effects, is_library_pure
from chathpc.fix.recipes.analysis.loops import around, is_before_first
from chathpc.fix.recipes.analysis.program import Procedure, Program, plain_name
from chathpc.fix.recipes.analysis.syntax import children, field, inside, nodes, text_of
from chathpc.fix.recipes.analysis.types import of_declaration, owner, type_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Callers of a caller that are looked at: a function of one step, called by one of all steps.
_LEVELS = 2
_MOST_VALUES = 64
_THIS = "this"
#: Functions, and members of containers, that change nothing that they are handed.
_LOOKING = frozenset(
    {"size", "at", "begin", "end", "data", "empty", "front", "back", "length", "c_str", "count", "find"}
    | {"printf", "fprintf", "puts", "fputs", "fwrite", "strlen", "strcmp", "free", "sizeof"}
)


@dataclass(frozen=True, slots=True)
class Made:
    """What values are made of: variables of a function, of files, and `this`; members and arrays that are read on the way.

    `passed` are variables by which they came, of this function and of those further in.
    """

    names: frozenset[str] = frozenset()
    memory: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()


#: Tells whether a loop of a function is none that counts for a call: it runs once, is a benchmark's, or the call can be moved out of it.
Spared = Callable[["Node", "Node", Procedure], bool]


def is_repeated(
    procedure: Procedure, program: Program, spared: Spared, takes_over: Callable[[Procedure], bool]
) -> bool:
    """True if one of its calls has arguments that have nothing to do with what the innermost loop around changes.

    The loop may stand in the function with the call or in one that calls that, up to two levels further out. A caller of which
    `takes_over` is true is left to itself: where its own result is kept, the call in it is not repeated.
    """
    for home, call in program.calls.get(procedure.model.name, []):
        made = made_of(children(field(call, "arguments")), home, program)
        if made is not None and _is_repeated(call, home, made, call, program, spared, takes_over):
            return True
    return False


def _is_repeated(
    at: Node,
    home: Procedure,
    made: Made,
    call: Node,
    program: Program,
    spared: Spared,
    takes_over: Callable[[Procedure], bool],
) -> bool:
    """Goes from a call outwards to the innermost loop around it, and tells whether that changes what the arguments are made of."""
    first = home
    todo: list[tuple[Node, Procedure, Made, int]] = [(at, home, made, 0)]
    while todo:
        node, inner, parts, level = todo.pop()
        loops = [one for one in around(node, inner) if not is_before_first(node, one)]
        if loops:
            if (
                not spared(node, loops[0], inner)
                and _stays(parts, loops[0], inner, program)
                and not _is_asked_else(call, first, loops[0], inner, program)
            ):
                return True
            continue
        if level >= _LEVELS or takes_over(inner) or len(program.named(inner.model.name)) != 1:
            continue
        for outer, further in program.calls.get(inner.model.name, []):
            if outer is inner:
                continue
            brought = _brought(parts, inner, outer, further, program)
            if brought is not None:
                todo.append((further, outer, brought, level + 1))
    return False


def made_of(values: Iterable[Node], procedure: Procedure, program: Program) -> Made | None:
    """What values are made of, local variables that are set once followed to what they are set to; None where that is not told."""
    names: set[str] = set()
    memory: set[str] = set()
    todo, seen = list(values), 0
    known: set[str] = set()
    while todo:
        value = todo.pop()
        seen += 1
        found = effects(value, procedure, program)
        if seen > _MOST_VALUES or not found.is_known or found.writes or found.declared:
            return None
        memory |= _memory_in(value)
        if any(True for _ in nodes(value, _THIS)):
            names.add(_THIS)
        for one in nodes(value, "identifier"):
            name, parent = text_of(one), one.parent
            if name in known or (parent is not None and field(parent, "function") == one):
                continue
            known.add(name)
            given = _only_value(name, procedure)
            if given is not None:
                todo.append(given)
            elif name in procedure.declarations or name in program.variables:
                names.add(name)
            elif owner(procedure):  # a member by its bare name
                names.add(_THIS)
                memory.add(name)
            else:
                names.add(name)
    return Made(frozenset(names), frozenset(memory), frozenset(known))


def _memory_in(value: Node) -> set[str]:
    """Members, arrays and pointers through which an expression reads."""
    found = {text_of(field(one, "field")) for one in nodes(value, "field_expression")}
    for one in nodes(value, "subscript_expression", "pointer_expression"):
        found.add(_last_name(field(one, "argument")))
    return found - {""}


def _last_name(node: Node | None) -> str:
    """The member or variable by which an element is reached."""
    while node is not None and node.type in ("subscript_expression", "pointer_expression", "parenthesized_expression"):
        node = field(node, "argument") or next(iter(children(node)), None)
    if node is not None and node.type == "field_expression":
        return text_of(field(node, "field"))
    return text_of(node) if node is not None and node.type == "identifier" else ""


def _only_value(name: str, procedure: Procedure) -> Node | None:
    """The value of a local variable that is given one and keeps it."""
    one = procedure.declarations.get(name)
    if one is None or one.static or one.dims or one.reference or name in procedure.parameters | procedure.addressed:
        return None
    values = procedure.assigned.get(name, [])
    if len(values) != 1 or any(text_of(field(each, "argument")) == name for each in procedure.all("update_expression")):
        return None
    return values[0]


def _changed(node: Node, program: Program) -> set[str]:
    """Variables that get another value in a part of a function: by assignment, by declaration, or by others through their address."""
    found: set[str] = set()
    for one in nodes(node, "declaration", "for_range_loop"):
        for part in one.children_by_field_name("declarator"):
            found |= {text_of(each) for each in nodes(part, "identifier") if not _is_in_value(each, part)}
    for one in nodes(node, "pointer_expression"):
        if text_of(field(one, "operator")) == "&" and not _is_only_read(one, program):
            found.add(text_of(field(one, "argument")))
    return found | {text_of(each) for each in _targets(node) if each.type == "identifier"}


def _targets(node: Node) -> list[Node]:
    """What assignments and counts in a part of a function write to."""
    found = [
        field(one, "left" if one.type == "assignment_expression" else "argument")
        for one in nodes(node, "assignment_expression", "update_expression")
    ]
    return [one for one in found if one is not None]


def _is_only_read(address: Node, program: Program) -> bool:
    """True for an address that is handed to a function of the program that does not write there; members are known by their names."""
    listed = address.parent
    call = listed.parent if listed is not None and listed.type == "argument_list" else None
    named = program.named(plain_name(field(call, "function"))) if call is not None else []
    at = children(listed).index(address)
    if len(named) != 1 or named[0].body is None or at >= len(named[0].model.parameters):
        return False
    one, body = named[0].model.parameters[at], named[0].body
    if one.const:
        return True
    handed_on = of_declaration(replace(one, pointers=0)).is_arithmetic and any(
        text_of(each) == one.name for part in nodes(body, "argument_list") for each in children(part)
    )
    return not handed_on and one.name not in _written(body)


def _is_in_value(node: Node, declarator: Node) -> bool:
    value = field(declarator, "value")
    return value is not None and inside(node, value)


def _written(node: Node) -> set[str]:
    """Members, arrays and pointers through which a part of a function writes, and variables that it sets."""
    return {_last_name(one) for one in _targets(node)} - {""}


def _reached(loop: Node, program: Program) -> list[Procedure]:
    """Functions of the program that are called in a loop, and those that they call."""
    found: list[Procedure] = []
    for call in nodes(loop, "call_expression"):
        found += [one for one in program.named(plain_name(field(call, "function"))) if one not in found]
    at = 0
    while at < len(found):
        found += [one for one in program.callees(found[at]) if one not in found]
        at += 1
    return found


def _stays(made: Made, loop: Node, procedure: Procedure, program: Program) -> bool:
    """True if nothing that values are made of gets another value in the loop, as far as names tell."""
    if made.names & _changed(loop, program):
        return False
    parts = [(loop, procedure), *((one.body, one) for one in _reached(loop, program) if one.body is not None)]
    outside = {one for one in made.names if one not in procedure.declarations}
    every = made.names | made.memory | made.passed
    return not any(
        (made.memory | outside) & _written(part) or every & _handed_out(part, home, program) for part, home in parts
    )


def _handed_out(node: Node, procedure: Procedure, program: Program) -> set[str]:
    """Names in objects and addresses that functions get of which nothing is known: they may read into them, or wait for others."""
    found: set[str] = set()
    for call in nodes(node, "call_expression"):
        called, name = field(call, "function"), plain_name(field(call, "function"))
        if program.named(name) or name in _LOOKING or is_library_pure(text_of(called), procedure):
            continue
        listed = [one for one in children(field(call, "arguments")) if _is_address(one, procedure, program)]
        if called is not None and called.type == "field_expression":
            listed += [one for one in [field(called, "argument")] if one is not None]
        found |= {text_of(each) for one in listed for each in nodes(one, "identifier", "field_identifier")}
    return found


def _is_address(value: Node, procedure: Procedure, program: Program) -> bool:
    kind = type_of(value, procedure, program)
    return value.type == "pointer_expression" or (kind is not None and kind.depth > 0)


def _is_asked_else(call: Node, home: Procedure, loop: Node, procedure: Procedure, program: Program) -> bool:
    """True if the loop also makes a call of the same function that has other arguments, which would take the result's place."""
    mine = text_of(field(call, "arguments"))
    reached = _reached(loop, program)
    for other, one in program.calls.get(plain_name(field(call, "function")), []):
        if one == call or not (other in reached or (other is procedure and inside(one, loop))):
            continue
        if other is not home or text_of(field(one, "arguments")) != mine:
            return True
    return False


def _brought(made: Made, inner: Procedure, outer: Procedure, call: Node, program: Program) -> Made | None:
    """What values of a function are made of, told by what one of its callers hands over; None where that is not told."""
    listed, parameters = children(field(call, "arguments")), inner.model.parameters
    own = {name for name in made.names if name in inner.declarations}
    if (
        inner.body is None
        or len(listed) != len(parameters)
        or own - inner.parameters
        or own & _changed(inner.body, program)
    ):
        return None
    names = made.names - own - {_THIS}
    handed = [_target(one) for one, each in zip(listed, parameters, strict=True) if each.name in own]
    if _THIS in made.names:
        called = field(call, "function")
        object_ = field(called, "argument") if called is not None and called.type == "field_expression" else None
        handed += [] if object_ is None else [object_]
        names |= frozenset({_THIS}) if object_ is None else frozenset()
    brought = made_of(handed, outer, program)
    return (
        None
        if brought is None
        else Made(names | brought.names, made.memory | brought.memory, made.passed | brought.passed)
    )


def _target(node: Node) -> Node:
    """What an address is of."""
    if node.type == "pointer_expression" and text_of(field(node, "operator")) == "&":
        return field(node, "argument") or node
    return node
