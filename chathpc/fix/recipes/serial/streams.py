"""Streams of files that are opened anew for each record (C and C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, without_statement
from chathpc.fix.recipes.analysis.loops import around
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import (
    children,
    code_and_macros,
    enclosing,
    field,
    inside,
    line_of,
    nodes,
    text_of,
)
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.output import LOST

if TYPE_CHECKING:
    from tree_sitter import Node

#: Ways to read: what was written may be read again, or is an answer that somebody waits for.
_READS = re.compile(
    rb"\b(?:ifstream|fstream|freopen|scanf|fgets|getchar|getc|fgetc|fread|getline|cin|mmap)\b|(?<![.>\w])open\s*\("
)
_READ_MODE = re.compile(rb"\bfopen\s*\([^;]*?\"[^\"]*[r+][^\"]*\"\s*\)")
#: What stays in a stream from one record to the next, were it not taken back.
FORMAT = re.compile(
    r"\b(?:set(?:precision|fill|w|base|iosflags|f)|resetiosflags|unsetf|precision|fill|flags|width|imbue|exceptions"
    r"|(?:no)?(?:boolalpha|showbase|showpoint|showpos|skipws|uppercase|unitbuf)|dec|hex|oct|fixed|scientific|hexfloat|defaultfloat"
    r"|left|right|internal|put_money|put_time)\b"
)
_LITERAL = re.compile(r'"[^"]*"\Z')
_BLOCKS = frozenset({"compound_statement"})


def only_writes(program: Program) -> bool:
    """True for a program that reads no file and ends as it should: what it writes is looked at when it has ended."""
    return not any(
        LOST.search(code) or _READS.search(code) or _READ_MODE.search(one.text)
        for one in program.sources.values()
        for code in (code_and_macros(one.file.tree.root_node, one.text),)
    )


def is_repeated(procedure: Procedure, program: Program, node: Node | None = None) -> bool:
    """True for what stands in a loop, or in a function that is called in one."""
    if node is not None and any(True for _ in around(node, procedure)):
        return True
    calls = program.calls.get(procedure.model.name, [])
    if any(True for home, call in calls for _ in around(call, home)):
        return True
    return node is None and any(
        True for _ in procedure.all("for_statement", "while_statement", "do_statement", "for_range_loop")
    )


def opened_once(context: Context, spot: Spot) -> Iterator[Change]:
    """A file that is opened to append for each record, and closed again, stays open until the program ends."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or program.has_threads or not only_writes(program):
        return
    if any(b"MPI_Init" in one.text for one in program.sources.values()):
        return  # what processes write would be mixed in the midst of records
    for node in procedure.all("declaration"):
        if not is_repeated(procedure, program, node):
            continue
        found = _appending(node)
        if found is None:
            continue
        name, path, stream = found
        file = _path(path, procedure, program)
        block = enclosing(node, _BLOCKS, procedure.node)
        if file is None or block is None or _is_opened_elsewhere(file, node, procedure, program):
            continue
        closing = [
            each
            for each in nodes(block, "expression_statement")
            if text_of(next(iter(children(each)), None)) in (f"fclose({name})", f"{name}.close()")
        ]
        if not stream and (len(closing) != 1 or closing[0].parent != block):
            continue
        if any(each.parent != block for each in closing) or not _is_left_alone(name, node, block, procedure):
            continue
        edits = [without_statement(each, text) for each in closing]
        if stream:
            edits.append(Edit(node.start_byte, node.start_byte, b"static "))
            if FORMAT.search(text_of(block)):  # the next record is formatted as by a new stream
                plain = b"\n" + indent(text, node.start_byte) + f"{name}.copyfmt(std::ios(nullptr));".encode()
                edits.append(Edit(node.end_byte, node.end_byte, plain))
        else:
            kept = fresh_name(f"{name}_kept", text)
            value = next(nodes(node, "call_expression"))
            first = f"static FILE *{kept};\n".encode() + indent(text, node.start_byte)
            edits.append(Edit(node.start_byte, node.start_byte, first))
            opened = text[value.start_byte : value.end_byte]
            edits.append(
                Edit(value.start_byte, value.end_byte, f"{kept} ? {kept} : ({kept} = ".encode() + opened + b")")
            )
        yield Change({spot.source.path: tuple(edits)}, line_of(node), f"opens {file} once instead of once a record")


def _appending(node: Node) -> tuple[str, Node, bool] | None:
    """Name and path of `FILE *f = fopen(path, "a");` and `std::ofstream f(path, std::ios::app);`; True for the latter."""
    kind = text_of(field(node, "type"))
    declarators = node.children_by_field_name("declarator")
    if len(declarators) != 1 or any(each.type == "storage_class_specifier" for each in node.children):
        return None
    one = declarators[0]
    name = text_of(next((each for each in nodes(one, "identifier")), None))
    if kind == "FILE" and one.type == "init_declarator":
        value = field(one, "value")
        listed = children(field(value, "arguments"))
        if text_of(field(value, "function")) in ("fopen", "std::fopen") and len(listed) == 2:
            return (name, listed[0], False) if text_of(listed[1]) in ('"a"', '"ab"', '"at"') else None
    if kind in ("std::ofstream", "ofstream") and one.type == "init_declarator":
        listed = children(field(one, "value"))
        if len(listed) == 2 and re.fullmatch(r"(?:std::)?(?:ios|ios_base|ofstream)::app", text_of(listed[1])):
            return name, listed[0], True
    return None


def _path(node: Node, procedure: Procedure, program: Program) -> str | None:
    """The file that is always meant: a literal, or a parameter that all calls give the same literal."""
    if _LITERAL.match(text_of(node)):
        return text_of(node)
    name = text_of(node)
    if name not in procedure.parameters or procedure.model.name in program.handed_on:
        return None
    if len(program.named(procedure.model.name)) != 1 or procedure.assigned.get(name):
        return None
    at = [one.name for one in procedure.model.parameters].index(name)
    given = set()
    for _, call in program.calls.get(procedure.model.name, []):
        listed = children(field(call, "arguments"))
        given.add(text_of(listed[at]) if at < len(listed) else "")
    only = given.pop() if len(given) == 1 else ""
    return only if _LITERAL.match(only) else None


def _is_opened_elsewhere(file: str, node: Node, procedure: Procedure, program: Program) -> bool:
    """True if the file may be written or removed by others, but for what `main` does before its first loop."""
    for home in program.procedures:
        loops = list(home.all("for_statement", "while_statement", "do_statement", "for_range_loop"))
        for each in home.all("call_expression", "declaration"):
            if home is procedure and inside(each, node):
                continue
            if each.type == "call_expression":
                if text_of(field(each, "function")).rsplit("::", 1)[-1] not in (
                    "fopen",
                    "remove",
                    "unlink",
                    "rename",
                    "truncate",
                    "ofstream",
                    "fstream",
                ):
                    continue
                named = text_of(next(iter(children(field(each, "arguments"))), None))
            else:
                if not re.search(r"ofstream$", text_of(field(each, "type"))):
                    continue
                named = next((text_of(one) for one in nodes(each, "string_literal")), "")
            if _LITERAL.match(named) and named != file:
                continue
            before = home.model.name == "main" and all(each.end_byte <= loop.start_byte for loop in loops)
            if not (before and named == file):
                return True
    return False


def _is_left_alone(name: str, node: Node, block: Node, procedure: Procedure) -> bool:
    """True if the stream is only written to, and the block is left early only where it could not be opened."""
    for each in nodes(block, "return_statement", "break_statement", "continue_statement", "goto_statement"):
        test = enclosing(each, frozenset({"if_statement"}), block)
        condition = text_of(field(test, "condition"))
        if each.start_byte < node.start_byte or each.start_byte > block.end_byte:
            continue
        if not re.search(rf"!\s*{name}\b|\b{name} == (?:NULL|nullptr|0)", condition) and each.parent != block:
            return False
    for each in procedure.identifiers.get(name, ()):
        parent = each.parent
        if not inside(each, block) or parent is None:
            return False
        if parent.type == "return_statement" or (
            parent.type == "assignment_expression" and text_of(field(parent, "operator")) == "="
        ):
            return False
    return True
