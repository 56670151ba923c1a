"""Ordered containers that are only asked for keys, and vectors that are searched for them: hash tables (C++)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name
from chathpc.fix.recipes.analysis.program import Procedure, Program, Source, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, is_container_use, line_of, nodes, text_of
from chathpc.fix.recipes.analysis.types import FLOATING, is_arithmetic
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.containers import INCLUDE

if TYPE_CHECKING:
    from tree_sitter import Node

_ORDERED = re.compile(r"(?:std::)?(map|set)<\s*([\w:\s]+?)\s*(?:,.*)?>\Z", re.DOTALL)
#: Members with the same meaning in both kinds, whatever the order of the items.
_LISTED = re.compile(r"(?:std::)?(list)<.+>\Z", re.DOTALL)
_DECLARING = ("field_declaration", "declaration", "reference_declarator", "parameter_declaration")
_OF_LISTS = frozenset(
    {"push_back", "emplace_back", "size", "empty", "begin", "end", "cbegin", "cend", "back", "front", "clear"}
)
_ASKING = frozenset(
    {
        "find", "count", "at", "size", "empty", "insert", "emplace", "try_emplace", "erase", "clear", "contains", "end", "cend",
    }
)  # fmt: skip


def unordered(context: Context, spot: Spot) -> Iterator[Change]:
    """`std::map` and `std::set` become hash tables where nobody goes through their items or asks for their order."""
    for kind, match in _kinds(spot, context.program, _ORDERED):
        if not _is_hashable(match[2]):
            continue
        edits = _everywhere(kind, match[1], f"unordered_{match[1]}", _is_asked, context.program)
        if edits:
            yield Change(edits, spot.line, f"makes {kind} a hash table: nobody asks for the order of its items")


def contiguous(context: Context, spot: Spot) -> Iterator[Change]:
    """`std::list` becomes a vector where items are only added at its end, and others are looked for by their place."""
    program = context.program
    if not any(re.search(rb"\b(?:std::)?(?:next|advance)\s*\(", one.text) for one in program.sources.values()):
        return
    for kind, match in _kinds(spot, program, _LISTED):
        edits = _everywhere(kind, match[1], "vector", _is_list_like, program)
        if edits:
            yield Change(edits, spot.line, f"makes {kind} a vector, in which an item is found by its place at once")


def _kinds(spot: Spot, program: Program, wanted: re.Pattern[str]) -> Iterator[tuple[str, re.Match[str]]]:
    """Types of that pattern of variables that the function uses, each once."""
    if any(one.is_fortran for one in program.sources.values()) or program.unread:
        return
    if not any(re.search(rb"\b(?:map|set|list)\s*<", one.text) for one in program.sources.values()):
        return
    declared = list(_declared(program))
    done: set[str] = set()
    for name in dict.fromkeys(text_of(each) for each in spot.procedure.all("identifier", "field_identifier")):
        kind = _type_of(name, declared)
        match = wanted.match(kind) if kind is not None else None
        if kind is not None and match is not None and kind not in done:
            done.add(kind)
            yield kind, match


def _is_hashable(key: str) -> bool:
    return key in ("std::string", "string") or (is_arithmetic(key) and key not in FLOATING)


def _declared(program: Program) -> Iterator[tuple[Source, Node, Node, str]]:
    """Variables, parameters and members: file, type, declarator and name."""
    for source in program.sources.values():
        for node in nodes(
            source.file.tree.root_node,
            "field_declaration",
            "declaration",
            "parameter_declaration",
            "optional_parameter_declaration",
        ):
            kind = field(node, "type")
            for one in node.children_by_field_name("declarator"):
                name = next((each for each in nodes(one, "identifier", "field_identifier")), None)
                if kind is not None and name is not None:
                    yield source, kind, one, text_of(name)


Declared = tuple[Source, "Node", "Node", str]


def _type_of(name: str, declared: list[Declared]) -> str | None:
    kinds = {text_of(kind) for _, kind, _, each in declared if each == name}
    return kinds.pop() if len(kinds) == 1 else None


def _everywhere(
    kind: str, word: str, new: str, is_alike: Callable[[Node], bool], program: Program
) -> dict[str, tuple[Edit, ...]] | None:
    """All declarations of that type changed; None where one of them is used in another way."""
    edits: dict[str, list[Edit]] = {}
    names: set[str] = set()
    for source, node, declarator, name in _declared(program):
        if text_of(node) != kind:
            continue
        if any(
            True
            for _ in nodes(declarator, "pointer_declarator", "function_declarator", "array_declarator", "argument_list")
        ):
            return None
        if declarator.type == "init_declarator":
            return None  # what it begins with may be taken from another one
        names.add(name)
        at = source.text.index(word.encode(), node.start_byte)
        one = Edit(at, at + len(word), new.encode())
        if one not in edits.setdefault(source.path, []):
            edits[source.path].append(one)
    plain = re.escape(kind.replace(" ", "")).encode()
    if not edits or any(
        len(re.findall(plain, b"".join(one.text.split()))) != len(edits.get(path, ()))
        for path, one in program.sources.items()
    ):
        return None  # the type is used in another place as well
    for source in program.sources.values():
        for node in nodes(source.file.tree.root_node, "identifier", "field_identifier"):
            if text_of(node) in names and not is_alike(node) and not _is_handed_on(node, kind, program):
                return None
        for node in nodes(source.file.tree.root_node, "update_expression"):
            if new != "vector" and _is_iterator(node, names):
                return None
    for path, listed in edits.items():
        text = program.sources[path].text
        includes = list(INCLUDE.finditer(text))
        header = f"#include <{new}>\n".encode()
        if not includes:
            return None
        if header not in text:
            listed.append(Edit(includes[-1].end(), includes[-1].end(), header))
    return {path: tuple(listed) for path, listed in edits.items()}


def _is_handed_on(node: Node, kind: str, program: Program) -> bool:
    """True for an argument of a function of the program that takes such a container."""
    parent = node.parent
    call = parent.parent if parent is not None and parent.type == "argument_list" else None
    own = program.named(text_of(field(call, "function"))) if call is not None else []
    if parent is None or len(own) != 1:
        return False
    at = children(parent).index(node)
    told = own[0].model.parameters
    return at < len(told) and not told[at].pointers and "".join(told[at].type.split()) == "".join(kind.split())


def _whole(node: Node) -> Node:
    """The name, or for that of a member the access to it."""
    parent = node.parent
    is_member = node.type == "field_identifier" and parent is not None and parent.type == "field_expression"
    return parent if parent is not None and is_member else node


def _is_list_like(node: Node) -> bool:
    """True for uses of a list that a vector has as well, none of which keeps an item while others are added."""
    one = _whole(node)
    parent = one.parent
    if parent is None or parent.type in _DECLARING:
        return parent is not None
    if parent.type == "for_range_loop" and field(parent, "right") == one:
        return one.type == "identifier" and text_of(one) + ".push_back" not in text_of(field(parent, "body"))
    if not is_container_use(one, _OF_LISTS):
        return False
    call = parent.parent
    around = call.parent if call is not None else None
    # What is kept of an item may be gone when others are added.
    if (
        around is not None
        and around.type == "init_declarator"
        and text_of(field(parent, "field")) in ("begin", "cbegin")
    ):
        function: Node | None = around
        while function is not None and function.type != "function_definition":
            function = function.parent
        return re.search(rf"\b{text_of(node)}\.(?:push_back|emplace_back|clear)\b", text_of(function)) is None
    return around is not None and around.type not in ("init_declarator", "assignment_expression", "return_statement")


def _is_asked(node: Node) -> bool:
    """True for the declaration, and for uses that a hash table has as well with the same meaning."""
    one = _whole(node)
    parent = one.parent
    if parent is None or parent.type in _DECLARING:
        return parent is not None
    if parent.type == "for_range_loop" or not is_container_use(one, _ASKING):
        return False
    call = parent.parent
    if parent.type == "field_expression" and text_of(field(parent, "field")) in ("end", "cend"):
        compared = call.parent if call is not None else None
        return (
            compared is not None
            and compared.type == "binary_expression"
            and text_of(field(compared, "operator")) in ("==", "!=")
        )
    return True


def _is_iterator(node: Node, names: set[str]) -> bool:
    """True for a step to the next item of one of the containers: of an iterator that one of them gave."""
    stepped = text_of(field(node, "argument"))
    function: Node | None = node
    while function is not None and function.type != "function_definition":
        function = function.parent
    return function is not None and any(
        stepped == text_of(field(each, "declarator"))
        and any(text_of(one) in names for one in nodes(field(each, "value") or each, "identifier", "field_identifier"))
        for each in nodes(function, "init_declarator")
    )


def seen_before(context: Context, spot: Spot) -> Iterator[Change]:
    """`std::find(v.begin(), v.end(), key) == v.end()` asks a hash table of what the vector holds."""
    procedure, text = spot.procedure, spot.source.text
    includes = list(INCLUDE.finditer(text))
    if procedure.is_broken or not includes:
        return
    done: set[str] = set()
    for call in procedure.all("call_expression"):
        match = re.fullmatch(r"(?:std::)?find\((\w+)\.c?begin\(\), (\w+)\.c?end\(\), (.+)\)", text_of(call))
        test = call.parent
        if (
            match is None
            or match[1] != match[2]
            or match[1] in done
            or test is None
            or test.type != "binary_expression"
        ):
            continue
        name, operator = match[1], text_of(field(test, "operator"))
        own = procedure.declarations.get(name)
        key = re.fullmatch(r"(?:std::)?vector<\s*([\w:\s]+?)\s*>", own.type) if own is not None else None
        if own is None or key is None or own.pointers or own.reference or own.static or name in procedure.parameters:
            continue
        ends = {text_of(field(test, "left")), text_of(field(test, "right"))}
        if operator not in ("==", "!=") or not ends & {f"{name}.end()", f"{name}.cend()"} or not _is_hashable(key[1]):
            continue
        growing = _grows(name, procedure)
        declared = next(
            (
                node
                for node in procedure.all("declaration")
                if any(text_of(one) == name for one in node.children_by_field_name("declarator"))
            ),
            None,
        )
        if growing is None or declared is None:
            continue
        done.add(name)
        table = fresh_name(f"{name}_known", text)
        wanted = children(field(call, "arguments"))[2]
        shown = text[wanted.start_byte : wanted.end_byte].decode()
        edits = [
            Edit(declared.end_byte, declared.end_byte, f" std::unordered_set<{key[1]}> {table};".encode()),
            Edit(test.start_byte, test.end_byte, f"{table}.count({shown}) {operator} 0".encode()),
            *(Edit(each.end_byte, each.end_byte, f" {table}.insert({name}.back());".encode()) for each in growing),
        ]
        if b"<unordered_set>" not in text:
            edits.append(Edit(includes[-1].end(), includes[-1].end(), b"#include <unordered_set>\n"))
        yield Change(
            {spot.source.path: tuple(edits)},
            line_of(call),
            f"asks a hash table whether {name} holds something instead of going through all of it",
        )
    del context


def _grows(name: str, procedure: Procedure) -> list[Node] | None:
    """Statements that append to a local vector that begins empty; None where it is changed in another way."""
    found: list[Node] = []
    for node in procedure.identifiers.get(name, ()):
        parent = node.parent
        if parent is None:
            return None
        if parent.type == "declaration":
            continue
        if parent.type == "subscript_expression" and field(parent, "argument") == node:
            target = parent.parent
            if target is not None and (
                target.type in ("update_expression", "pointer_expression", "reference_declarator", "init_declarator")
                or (target.type == "assignment_expression" and field(target, "left") == parent)
            ):
                return None
            continue
        if parent.type == "return_statement":
            continue
        if parent.type == "for_range_loop" and field(parent, "right") == node:
            declarator = field(parent, "declarator")
            if declarator is None or (
                declarator.type == "reference_declarator" and "const" not in text_of(parent).split("{")[0]
            ):
                return None
            continue
        member = text_of(field(parent, "field")) if parent.type == "field_expression" else ""
        call = parent.parent
        if call is None or call.type != "call_expression":
            return None
        if member in ("push_back", "emplace_back"):
            statement = call.parent
            if statement is None or statement.type != "expression_statement" or statement.parent is None:
                return None
            if statement.parent.type != "compound_statement":
                return None
            found.append(statement)
        elif member in ("begin", "end", "cbegin", "cend"):
            asked = (
                call.parent.parent if call.parent is not None and call.parent.type == "argument_list" else call.parent
            )
            is_find = asked is not None and text_of(field(asked, "function")) in ("find", "std::find")
            is_compared = asked is not None and asked.type == "binary_expression"
            if not (is_find or is_compared):
                return None
        elif member not in ("size", "empty", "reserve", "back", "front", "at") or (
            member in ("back", "front", "at")
            and call.parent is not None
            and call.parent.type in ("assignment_expression", "update_expression")
        ):
            return None
    return found or None
