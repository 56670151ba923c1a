"""Searches through all items of an array (C): a hash table of their places finds them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import around, loops_of
from chathpc.fix.recipes.analysis.program import Procedure, Program, Source, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, nodes, text_of
from chathpc.fix.recipes.analysis.types import Type, type_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.appended_arrays import Reset, resets
from chathpc.fix.recipes.serial.array_searches import PATHS, Search, search_in
from chathpc.fix.recipes.serial.invariants import directive_before
from chathpc.fix.recipes.serial.item_keys import Array
from chathpc.fix.recipes.serial.place_tables import Table, declarations, definitions, key_type

if TYPE_CHECKING:
    from tree_sitter import Node

_INTERRUPTED = re.compile(rb"\b(?:signal|sigaction|makecontext|longjmp)\s*\(")
_QUOTED = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def indexed(context: Context, spot: Spot) -> Iterator[Change]:
    """A loop that looks for a key begins at the first item that has it, or behind the last; a hash table knows the place.

    The table takes in what was appended since the last search, and begins anew where the array does. The loop stays as it is but
    for where it begins, so that whatever it does there it still does.
    """
    procedure, program = spot.procedure, context.program
    if (
        procedure.is_broken
        or procedure.unstable
        or program.unread
        or program.has_threads
        or spot.source.is_cpp
        or not program.named("main")
        or procedure.node.parent is None
        or procedure.node.parent.type != "translation_unit"
        or any(_INTERRUPTED.search(each.text) for each in program.sources.values())
        or not _is_complete(program)
    ):
        return
    for loop in loops_of(procedure):
        search = search_in(loop, procedure)
        if search is None or directive_before(loop) is not None or not _is_repeated(loop, procedure, program):
            continue
        change = _with_table(search, spot, program)
        if change is not None:
            yield change
            return


def _is_complete(program: Program) -> bool:
    """True if all files that others include by name are there."""
    known = {PurePosixPath(path).name for path in program.sources}
    return all(
        PurePosixPath(match[1].decode(errors="replace")).name in known
        for source in program.sources.values()
        for match in _QUOTED.finditer(source.text)
    )


def _is_repeated(loop: Node, procedure: Procedure, program: Program) -> bool:
    """True for a loop that stands in another one, or in a function that is called in one, also through others."""
    todo: list[tuple[Procedure, Node]] = [(procedure, loop)]
    seen: set[str] = set()
    while todo:
        home, node = todo.pop()
        if any(True for _ in around(node, home)):
            return True
        if home.model.name not in seen:
            seen.add(home.model.name)
            todo += program.calls.get(home.model.name, [])
    return False


def _with_table(search: Search, spot: Spot, program: Program) -> Change | None:
    procedure, source = spot.procedure, spot.source
    of = type_of(search.array, procedure, program)
    number = type_of(search.count, procedure, program)
    counter = type_of(_identifier(search), procedure, program)
    kind = key_type(search.item, search.wanted, procedure, program)
    asked = effects(search.wanted, procedure, program)
    same = type_of(search.item, procedure, program)
    if (
        of is None
        or same is None
        or of.depth != (1 if search.key else same.depth + 1)
        or number is None
        or not number.is_integer
        or counter is None
        or kind is None
    ):
        return None
    if not counter.is_integer or not asked.is_known or asked.writes or search.wanted.type not in (
        *PATHS, "subscript_expression", "number_literal", "char_literal",
    ):  # fmt: skip
        return None
    found = _array(search, of, procedure, program)
    if found is None:
        return None
    array, given = found
    begun = resets(array, source, program)
    names = {one.name for one in procedure.model.parameters}
    roots = [text_of(next(nodes(each, "identifier"))) for each in (search.array, search.count)]
    if begun is None or any(each in procedure.declarations and each not in names for each in roots):
        return None
    if any(each.node.parent != procedure.node.parent for each in _resetting(begun, source)):
        return None
    owner = roots[0] if roots[0] in names and search.array.type == "field_expression" else ""
    table = _table(search, kind, number, counter, given, owner, procedure, program)
    return Change(
        {source.path: tuple(_edits(search, table, begun, procedure, source))},
        line_of(search.loop),
        f"finds items of {text_of(search.array)} in a hash table of their places instead of going through all of them",
    )


def _identifier(search: Search) -> Node | None:
    return next((each for each in nodes(search.item, "identifier") if text_of(each) == search.variable), None)


def _array(search: Search, of: Type, procedure: Procedure, program: Program) -> tuple[Array, list[str]] | None:
    """The array as all of the program knows it, and those parameters of the function by which it knows it, as they are declared."""
    item = of.name if search.key else ""
    if search.key and item not in program.records:
        return None
    roots = [text_of(next(nodes(each, "identifier"))) for each in (search.array, search.count)]
    places = [_parameter(each, procedure) for each in dict.fromkeys(roots)]
    if search.array.type == "field_expression":
        if any(each in procedure.parameters for each in roots) != (places[0] is not None):
            return None
        record = _record(search.array, procedure, program)
        names = text_of(field(search.array, "field")), text_of(field(search.count, "field"))
        return (Array(*names, record, search.key, item), [each[1] for each in places if each]) if record else None
    if all(each is None for each in places):
        return Array(roots[0], roots[1], "", search.key, item), []
    if None in places or len(places) != 2:
        return None
    if any(each in procedure.assigned or _is_counted(each, procedure) for each in roots):
        return None
    handed = _handed([each[0] for each in places if each], procedure, program)
    if handed is None:
        return None
    return Array(*handed, search.key, item), [each[1] for each in places if each]


def _is_counted(name: str, procedure: Procedure) -> bool:
    return name in procedure.addressed or any(
        text_of(field(each, "argument")) == name for each in procedure.all("update_expression")
    )


def _record(node: Node, procedure: Procedure, program: Program) -> str:
    of = type_of(field(node, "argument"), procedure, program)
    arrow = text_of(field(node, "operator")) == "->"
    return of.name if of is not None and of.name in program.records and of.depth == arrow else ""


def _parameter(name: str, procedure: Procedure) -> tuple[int, str] | None:
    """The place of a parameter, and its declaration as it is written."""
    declarator = field(procedure.node, "declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = field(declarator, "declarator")
    for at, each in enumerate(children(field(declarator, "parameters"))):
        if any(text_of(one) == name for one in nodes(field(each, "declarator") or each, "identifier")):
            return at, text_of(each)
    return None


def _handed(places: list[int], procedure: Procedure, program: Program) -> tuple[str, str, str] | None:
    """The array and the number of its items that all calls hand over, variables of the file or members of one."""
    if procedure.model.name in program.handed_on or len(program.named(procedure.model.name)) != 1:
        return None
    found: set[tuple[str, str, str, str]] = set()
    for home, call in program.calls.get(procedure.model.name, []):
        arguments = children(field(call, "arguments"))
        if len(arguments) <= max(places):
            return None
        array, count = (arguments[at] for at in places)
        if array.type == count.type == "identifier":
            names = text_of(array), text_of(count)
            if any(each in home.declarations for each in names):
                return None
            found.add((*names, "", ""))
            continue
        if array.type != "field_expression" or count.type != "field_expression":
            return None
        names = text_of(field(array, "field")), text_of(field(count, "field"))
        record = _record(array, home, program)
        base = text_of(field(array, "argument"))
        if not record or base != text_of(field(count, "argument")) or not _is_of_file(base, home, program):
            return None
        found.add((*names, record, base))
    return found.pop()[:3] if len(found) == 1 else None


def _is_of_file(name: str, home: Procedure, program: Program) -> bool:
    """True for the name of a variable outside functions that is no pointer."""
    one = program.variables.get(name)
    return one is not None and not one.pointers and not one.dims and name not in home.declarations


def _table(
    search: Search,
    kind: str,
    number: Type,
    counter: Type,
    given: list[str],
    owner: str,
    procedure: Procedure,
    program: Program,
) -> Table:
    text = b"\n".join(each.text for each in program.sources.values())

    def fresh(name: str) -> str:
        return fresh_name(name, text)

    name = procedure.model.name
    return Table(
        shown=text_of(search.array), place=fresh(f"{name}_place"), slot=fresh(f"{name}_slot"), slots=fresh(f"{name}_slots"),
        room=fresh(f"{name}_room"), used=fresh(f"{name}_used"), known=fresh(f"{name}_known"), owner=owner,
        owned=fresh(f"{name}_owner"), key=fresh("key"), at=fresh("probe"), items=fresh("held"), wide=fresh("wide"),
        kind=kind, number=number.name, counter=counter.name, array=text_of(search.array), member=f".{search.key}" if search.key else "",
        count=text_of(search.count),
        given=tuple(given), handed=tuple(dict.fromkeys(
            text_of(next(nodes(each, "identifier"))) for each in (search.array, search.count)
        )) if given else (),
    )  # fmt: skip


def _edits(search: Search, table: Table, begun: list[Reset], procedure: Procedure, source: Source) -> Iterator[Edit]:
    text = source.text
    call = f"{table.place}({', '.join((*table.handed, text_of(search.wanted)))})"
    if search.wanted.type in ("field_expression", "subscript_expression"):
        # Without items nobody looks at what is wanted.
        call = f"{table.count} ? {call} : 0"
    yield Edit(search.zero.start_byte, search.zero.end_byte, call.encode())
    at = _head(procedure.node)
    first = min([at, *(_head(one.node) for one in _resetting(begun, source))])
    new = definitions(table)
    known = declarations(table)
    if first == at:
        yield Edit(at, at, (known + new).encode())
    else:
        yield Edit(first, first, f"{known}\n".encode())
        yield Edit(at, at, new.encode())
    for each in begun:
        yield Edit(each.at, each.at, each.new.format(table.known).encode())
    root = source.file.tree.root_node
    included = [each for each in root.named_children if each.type == "preproc_include"]
    for header in ("stdlib", "string"):
        if re.search(rb"#\s*include\s*<%s\.h>" % header.encode(), text) is None:
            where = included[0].start_byte if included else 0
            yield Edit(where, where, f"#include <{header}.h>\n".encode())


def _resetting(begun: list[Reset], source: Source) -> list[Procedure]:
    """Functions in which the array begins anew."""
    return [
        one for one in source.procedures if any(one.node.start_byte <= each.at <= one.node.end_byte for each in begun)
    ]


def _head(node: Node) -> int:
    """Where the function begins, with the comment right before it."""
    one = node
    while (
        (before := one.prev_sibling) is not None
        and before.type == "comment"
        and before.end_point[0] + 1 >= one.start_point[0]
        and (before.prev_sibling is None or before.prev_sibling.end_point[0] < before.start_point[0])
    ):
        one = before
    return one.start_byte
