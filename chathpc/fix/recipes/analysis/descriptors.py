"""Which variables and members hold a file's descriptor, and all that a program does with them (C and C++)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, enclosing, inside, nodes, text_of
from chathpc.fix.recipes.analysis.syntax import field as part
from chathpc.fix.recipes.analysis.types import type_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Flags with which nobody can write, and bytes come when they are there.
_READ_ONLY = re.compile(r"0|(?:O_(?:RDONLY|CLOEXEC|NOFOLLOW|NOCTTY|LARGEFILE|NOATIME|BINARY) ?\|? ?)+")
#: Calls that take bytes of a descriptor, set its place or end it; and those that neither do so nor let others do it.
TAKING = frozenset({"read", "lseek", "close"})
_LOOKING = frozenset({"fstat", "isatty", "posix_fadvise"})
_COMPARING = frozenset({"<", ">", "<=", ">=", "==", "!=", "&&", "||"})
_WRAPPED = frozenset({"parenthesized_expression", "cast_expression"})
_TESTS = frozenset({"if_statement", "while_statement", "do_statement"})
_TYPED = frozenset({"declaration", "field_declaration", "compound_literal_expression"})
_UNTYPED = frozenset({"argument_list", "return_statement", "assignment_expression"})
_WORD = re.compile(r"\w+")
_MOST_PLACES, _DEEPEST = 40, 50


@dataclass(frozen=True, slots=True)
class Place:
    """A variable or member: of a function, of a record, or (both empty) outside of all."""

    name: str
    procedure: Procedure | None = None
    record: str = ""


@dataclass(slots=True)
class Descriptor:
    """Places between which a descriptor goes, the calls that use it, and those that open its files."""

    places: list[Place] = field(default_factory=list)
    uses: list[tuple[Procedure, Node]] = field(default_factory=list)
    opened: list[tuple[Procedure, Node]] = field(default_factory=list)
    giving: set[str] = field(default_factory=set)  #: functions whose results are such values
    returning: set[str] = field(default_factory=set)  #: functions whose results are followed
    depth: int = 0  #: how far it is followed through functions and expressions just now


def called(call: Node | None) -> str:
    """The plain function that is called, `::read` as `read`; empty for members and pointers."""
    name = part(call, "function") if call is not None and call.type == "call_expression" else None
    return text_of(name).removeprefix("::") if name is not None and name.type != "field_expression" else ""


def is_read_only(call: Node) -> bool:
    """True for a call of `open` that asks for reading alone."""
    listed = children(part(call, "arguments"))
    return len(listed) == 2 and _READ_ONLY.fullmatch(text_of(listed[1])) is not None


def descriptor(call: Node, procedure: Procedure, program: Program) -> Descriptor | None:
    """The descriptor that a call of `read` takes its bytes from; None where it comes from something else than `open` for reading
    alone, or where anything is done with it that is not understood.
    """
    listed = children(part(call, "arguments"))
    first = _place(listed[0], procedure, program) if listed else None
    if first is None:
        return None
    found = Descriptor([first])
    at = 0
    while at < len(found.places):
        if at > _MOST_PLACES or not _is_followed(found.places[at], program, found):
            return None
        at += 1
    return found if found.opened else None


def _place(node: Node | None, home: Procedure, program: Program) -> Place | None:
    while node is not None and node.type in _WRAPPED:
        node = part(node, "value") or next(iter(children(node)), None)
    if node is None:
        return None
    name = text_of(node)
    if node.type == "identifier":
        if name in home.declarations:
            one = home.declarations[name]
            plain_int = one is not None and one.type == "int" and not (one.pointers or one.dims or one.reference)
            return Place(name, home) if plain_int and name not in program.variables else None
        one = program.variables.get(name)
        return Place(name) if one is not None and one.type == "int" and not (one.pointers or one.dims) else None
    if node.type == "field_expression":
        of = type_of(part(node, "argument"), home, program)
        name = text_of(part(node, "field"))
        record = program.records.get(of.name) if of is not None else None
        member = next((each for each in record.fields if each.name == name), None) if record is not None else None
        if of is not None and member is not None and member.type == "int" and not (member.pointers or member.dims):
            return Place(name, None, of.name)
    return None


def _is_followed(place: Place, program: Program, found: Descriptor) -> bool:
    """True if all that the place is given and all that is done with it is understood; adds places, calls and openings."""
    if place.procedure is not None and place.name in place.procedure.parameters:
        given = _arguments(place.procedure, place.name, program)
        if given is None or not all(_is_source(each, home, program, found) for home, each in given):
            return False
    if place.record and _is_listed(place, program):
        return False
    uses = _uses(place, program)
    return uses is not None and all(_is_understood(each, home, program, found) for home, each in uses)


def _uses(place: Place, program: Program) -> list[tuple[Procedure, Node]] | None:
    """Where the place is used or declared with a value, as the whole expression; None where that is not known."""
    found = []
    word = re.compile(rf"\b{re.escape(place.name)}\b")
    for source in program.sources.values():
        if source.is_fortran:
            return None
        root = source.file.tree.root_node
        if any(word.search(text_of(each)) for each in nodes(root, "preproc_arg")):
            return None  # a macro may do anything with it
        for node in nodes(root, "field_identifier" if place.record else "identifier"):
            if text_of(node) != place.name or node.parent is None:
                continue
            home = next((one for one in source.procedures if inside(node, one.node)), None)
            of = _of_record if place.record else _of_variable
            verdict = of(node, node.parent, place, home, program)
            if verdict is None:
                return None
            found += [(home, each) for each in verdict if home is not None]
    return found


def _of_record(node: Node, parent: Node, place: Place, home: Procedure | None, program: Program) -> list[Node] | None:
    if parent.type == "field_declaration":
        return [] if text_of(part(parent, "default_value")) in ("", "-1") else None
    if parent.type == "field_designator" and parent.parent is not None and parent.parent.type == "initializer_pair":
        return [] if text_of(part(parent.parent, "value")) == "-1" else None
    if parent.type != "field_expression" or home is None:
        return None
    of = type_of(part(parent, "argument"), home, program)
    return None if of is None else [parent] if of.name == place.record else []


def _of_variable(node: Node, parent: Node, place: Place, home: Procedure | None, program: Program) -> list[Node] | None:
    if (
        (home is not place.procedure)
        if place.procedure is not None
        else home is not None and place.name in home.declarations
    ):
        return []
    if parent.type in ("declaration", "parameter_declaration"):
        return []
    if parent.type == "init_declarator" and part(parent, "declarator") == node:
        if home is None:  # a number, as what is outside functions is given
            return [] if re.fullmatch(r"-1|0", text_of(part(parent, "value"))) else None
        return [parent]
    return [node] if home is not None else None


def _is_understood(node: Node, home: Procedure, program: Program, found: Descriptor) -> bool:
    """True if what is done with a place there is understood: it is given a value, or its value goes somewhere."""
    if node.type == "init_declarator":
        return _is_source(part(node, "value"), home, program, found)
    parent = node.parent
    if parent is not None and parent.type == "assignment_expression" and part(parent, "left") == node:
        plainly = text_of(part(parent, "operator")) == "="
        return (
            plainly and _is_source(part(parent, "right"), home, program, found) and _goes(parent, home, program, found)
        )
    return _goes(node, home, program, found)


def _arguments(procedure: Procedure, name: str, program: Program) -> list[tuple[Procedure, Node]] | None:
    """What all calls hand over for a parameter."""
    own = procedure.model.name
    if own in program.handed_on or len(program.named(own)) != 1 or own == "main":
        return None
    at = [one.name for one in procedure.model.parameters].index(name)
    given = []
    for home, call in program.calls.get(own, []):
        listed = children(part(call, "arguments"))
        if at >= len(listed):
            return None
        given.append((home, listed[at]))
    return given


def _is_source(node: Node | None, home: Procedure, program: Program, found: Descriptor) -> bool:
    """True for a value that is a descriptor of the program's own, opened for reading alone, or standard input's, or none at all."""
    if found.depth >= _DEEPEST:
        return False
    found.depth += 1
    understood = _is_known(node, home, program, found)
    found.depth -= 1
    return understood


def _is_known(node: Node | None, home: Procedure, program: Program, found: Descriptor) -> bool:
    while node is not None and node.type in _WRAPPED:
        node = part(node, "value") or next(iter(children(node)), None)
    if node is None:
        return False
    match node.type:
        case "number_literal" | "unary_expression":
            return re.fullmatch(r"-\s*1|0", text_of(node)) is not None
        case "identifier" if text_of(node) == "STDIN_FILENO":
            return True
        case "conditional_expression":
            return all(_is_source(part(node, each), home, program, found) for each in ("consequence", "alternative"))
        case "assignment_expression":
            left = _place(part(node, "left"), home, program)
            return _is_added(left, found) and _is_source(part(node, "right"), home, program, found)
        case "call_expression":
            name = called(node)
            if name == "open" and not program.named("open"):
                found.opened.append((home, node))
                return is_read_only(node)
            return _is_result(name, program, found)
        case _:
            return _is_added(_place(node, home, program), found)


def _is_result(name: str, program: Program, found: Descriptor) -> bool:
    """True for a function of the program all of whose results are such values."""
    known = program.named(name)
    if len(known) != 1 or name in program.handed_on:
        return False
    if name in found.giving:
        return True
    found.giving.add(name)
    given = [next(iter(children(each)), None) for each in known[0].all("return_statement")]
    return bool(given) and all(_is_source(each, known[0], program, found) for each in given)


def _is_added(place: Place | None, found: Descriptor) -> bool:
    if place is None:
        return False
    if place not in found.places:
        found.places.append(place)
    return True


def _goes(node: Node, home: Procedure, program: Program, found: Descriptor) -> bool:
    """True if it is understood where the value of an expression goes that is a descriptor."""
    if found.depth >= _DEEPEST:
        return False
    found.depth += 1
    understood = _goes_on(node, home, program, found)
    found.depth -= 1
    return understood


def _goes_on(node: Node, home: Procedure, program: Program, found: Descriptor) -> bool:
    parent = node.parent
    while parent is not None and parent.type in _WRAPPED:
        node, parent = parent, parent.parent
    if parent is None:
        return False
    match parent.type:
        case "expression_statement":
            return True
        case "binary_expression":
            return text_of(part(parent, "operator")) in _COMPARING
        case "unary_expression":
            return text_of(part(parent, "operator")) == "!"
        case "conditional_expression":
            return part(parent, "condition") == node or _goes(parent, home, program, found)
        case "init_declarator":
            return _is_added(_place(part(parent, "declarator"), home, program), found)
        case "assignment_expression":
            plainly = text_of(part(parent, "operator")) == "="
            there = _place(part(parent, "left"), home, program)
            return plainly and _is_added(there, found) and _goes(parent, home, program, found)
        case "return_statement":
            own = home.model.name
            if own in program.handed_on or len(program.named(own)) != 1 or own == "main":
                return False
            if own in found.returning:
                return True
            found.returning.add(own)
            return all(_goes(call, where, program, found) for where, call in program.calls.get(own, []))
        case "argument_list":
            return _is_handed(node, parent, home, program, found)
        case kind:
            return kind in _TESTS and part(parent, "condition") == node


def _is_handed(node: Node, listed: Node, home: Procedure, program: Program, found: Descriptor) -> bool:
    """True for an argument of a call that is known: of the system, or of a function of the program."""
    call = listed.parent
    name, at = called(call), children(listed).index(node)
    known = program.named(name)
    if call is None or not name:
        return False
    if not known and at == 0 and name in TAKING:
        if (home, call) not in found.uses:
            found.uses.append((home, call))
        return True
    if not known:
        return at == 0 and name in _LOOKING
    if len(known) != 1 or at >= len(known[0].model.parameters):
        return False
    label = known[0].model.parameters[at].name
    one = known[0].declarations.get(label)
    return one is not None and one.type == "int" and not one.pointers and _is_added(Place(label, known[0]), found)


def _is_listed(place: Place, program: Program) -> bool:
    """True if a list in braces may give the member something else than nothing."""
    for node in program.lists:
        if node.type == "compound_literal_expression":
            continue
        if node.type == "field_initializer":
            if text_of(next(iter(node.named_children), None)) == place.name:
                return True
            continue
        if all(
            each.type in ("initializer_list", "initializer_pair") or text_of(each) in ("0", "-1")
            for each in children(node)
        ):
            continue  # lists in it are looked at by themselves
        around = enclosing(node, _TYPED | _UNTYPED)
        if around is None or around.type in _UNTYPED or _holds(text_of(part(around, "type")), place.record, program):
            return True
    return False


def _holds(kind: str, record: str, program: Program) -> bool:
    """True if the type is the record, or one that has such a member at some depth."""
    todo, seen = [kind], set[str]()
    while todo:
        words = set(_WORD.findall(todo.pop())) - seen
        if record in words:
            return True
        seen |= words
        todo += [each.type for one in words if one in program.records for each in program.records[one].fields]
    return False
