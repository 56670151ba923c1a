"""Buffers that are taken and given back in every call: kept for the next one, or on the stack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, line_start, without_statement
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import around
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot, plain_name
from chathpc.fix.recipes.analysis.syntax import (
    C_LOOPS,
    bare,
    children,
    enclosing,
    field,
    inside,
    line_of,
    nodes,
    text_of,
)
from chathpc.fix.recipes.analysis.types import names_number
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

_BLOCKS = frozenset({"compound_statement"})
#: What `break` and `continue` leave or go on with.
_LEFT = C_LOOPS | {"switch_statement"}
#: Functions of the libraries that keep nothing of what they are handed.
_FORGETTING = frozenset(
    {
        "memset", "memcpy", "memmove", "qsort", "fread", "fwrite", "sort", "fill", "printf", "snprintf", "sprintf",
        "read", "write", "memcmp",
    }
)  # fmt: skip


def kept_buffers(context: Context, spot: Spot) -> Iterator[Change]:
    """A buffer that a function allocates and frees in every call is kept for the next one, and grows where it must."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if (
        procedure.body is None
        or procedure.is_broken
        or (program.has_threads and not program.has_only_openmp)
        or _calls_itself(procedure, program)
        or (procedure.model.name == "main" and not _in_loops(procedure))
    ):
        return
    for node in procedure.all("declaration", "expression_statement"):
        found = _allocation(node, procedure, program)
        if found is None:
            continue
        name, kind, how, size = found
        frees = _frees(name, procedure, "delete" if how == "new" else "free")
        if not frees or not _is_kept_here(name, node, frees, procedure, program):
            continue
        blank, start = indent(text, node.start_byte), line_start(text, node.start_byte)
        if text[start : node.start_byte].strip():
            continue
        edits = [without_statement(each, text) for each in frees]
        own = node.type == "declaration"
        kept, room, need = (fresh_name(f"{name}_{each}", text) for each in ("kept", "room", "need"))
        amount = f"({text_of(size)}) * sizeof({kind})" if how == "new" else _bytes(size, how)
        cast = f"({kind} *)" if spot.source.is_cpp else ""
        static = "static __thread" if program.has_threads else "static"
        lines = [
            *([f"{kind} *{name};"] if own else []),
            f"{static} {kind} *{kept};", f"{static} size_t {room};", f"const size_t {need} = {amount};",
            f"if (!{kept} || {need} > {room}) {{ free({kept}); {kept} = {cast}malloc({need}); {room} = {kept} ? {need} : 0; }}",
            f"{name} = {kept};",
        ]  # fmt: skip
        if how == "calloc":
            lines.append(f"if ({name}) memset({name}, 0, {need});")
            if b"string.h" not in text and b"cstring" not in text:
                continue
        if how == "new" and b"cstdlib" not in text and b"stdlib.h" not in text:
            continue
        edits.append(Edit(node.start_byte, node.end_byte, (b"\n" + blank).join(each.encode() for each in lines)))
        did = f"Reuse the memory of {name} instead of allocating and freeing it each time"
        yield Change({spot.source.path: tuple(edits)}, line_of(node), did)


def _in_loops(procedure: Procedure) -> bool:
    return any(
        True
        for each in procedure.all("call_expression", "new_expression")
        if text_of(field(each, "function")) in ("malloc", "calloc", "")
        for _ in around(each, procedure)
    )


def _calls_itself(procedure: Procedure, program: Program) -> bool:
    """True if the function may be running already when it is called: it reaches itself, or a pointer to it is about."""
    reached = program.callees(procedure)
    for one in reached:  # grows
        reached += [each for each in program.callees(one) if each not in reached]
    return procedure in reached or procedure.model.name in program.handed_on


def _allocation(node: Node, procedure: Procedure, program: Program) -> tuple[str, str, str, Node] | None:
    """Name, type, allocator and size of `T *x = malloc(…);` and its kin; of `x = malloc(…);` where x gets no other value."""
    if node.type == "expression_statement":
        return _assigned(node, procedure, program)
    declarators = node.children_by_field_name("declarator")
    kind = text_of(field(node, "type"))
    if (
        len(declarators) != 1
        or declarators[0].type != "init_declarator"
        or any(each.type == "storage_class_specifier" for each in node.children)
    ):
        return None
    pointer, made = field(declarators[0], "declarator"), _uncast(field(declarators[0], "value"))
    name = field(pointer, "declarator")
    if pointer is None or pointer.type != "pointer_declarator" or name is None or name.type != "identifier":
        return None
    if (
        made is None
        or "const" in map(text_of, node.children)
        or "type_qualifier" in (each.type for each in pointer.children)
    ):
        return None
    if made.type == "new_expression":
        size = field(field(made, "declarator"), "length")
        if size is None or not names_number(kind, procedure.source) or field(made, "arguments") is not None:
            return None
        return text_of(name), kind, "new", size
    found = _made(made, kind, procedure, program)
    return None if found is None else (text_of(name), kind, *found)


def _assigned(node: Node, procedure: Procedure, program: Program) -> tuple[str, str, str, Node] | None:
    one = next(iter(children(node)), None)
    name, made = field(one, "left"), _uncast(field(one, "right"))
    if one is None or one.type != "assignment_expression" or name is None or name.type != "identifier":
        return None
    own = procedure.declarations.get(text_of(name))
    if own is None or own.pointers != 1 or own.dims or own.static or own.const or text_of(name) in procedure.parameters:
        return None
    if text_of(field(one, "operator")) != "=" or text_of(name) in procedure.addressed or own.value is not None:
        return None
    if len(procedure.assigned.get(text_of(name), ())) != 1:
        return None
    found = _made(made, own.type, procedure, program)
    return None if found is None else (text_of(name), own.type, *found)


def _uncast(node: Node | None) -> Node | None:
    one = bare(node)
    while one is not None and one.type == "cast_expression":
        one = bare(field(one, "value"))
    return one


def _made(made: Node | None, kind: str, procedure: Procedure, program: Program) -> tuple[str, Node] | None:
    """Allocator and size."""
    listed = field(made, "arguments")
    if made is None or made.type != "call_expression" or listed is None:
        return None
    called = text_of(field(made, "function"))
    if called not in ("malloc", "calloc", "std::malloc", "std::calloc"):
        return None
    if procedure.source.is_cpp and not names_number(kind, procedure.source):
        return None
    found = effects(listed, procedure, program)
    if not found.is_known or found.writes:
        return None
    return ("calloc" if called.endswith("calloc") else "malloc"), listed


def _bytes(size: Node, how: str) -> str:
    listed = [text_of(each) for each in children(size)]
    return listed[0] if how == "malloc" else f"(size_t)({listed[0]}) * ({listed[1]})"


def _frees(name: str, procedure: Procedure, how: str) -> list[Node]:
    freeing = (f"delete[]{name};",) if how == "delete" else (f"free({name});", f"std::free({name});")
    return [each for each in procedure.all("expression_statement") if text_of(each).replace(" ", "") in freeing]


def _is_kept_here(name: str, node: Node, frees: list[Node], procedure: Procedure, program: Program) -> bool:
    """True if the pointer stays in the function, is never changed, and is freed in the block that allocates it, on every way."""
    block = enclosing(node, _BLOCKS, procedure.node)
    if block is None or not any(each.parent == block for each in frees):
        return False
    if any(True for _ in procedure.all("goto_statement", "throw_statement", "lambda_expression")):
        return False
    last = [each for each in frees if each.parent == block][-1]
    for each in nodes(block, "return_statement", "break_statement", "continue_statement"):
        if node.end_byte < each.start_byte < last.start_byte and each.type == "return_statement":
            before = each.prev_named_sibling
            if before not in frees and not _has_nothing(each, name, block):
                return False
        elif node.end_byte < each.start_byte < last.start_byte and enclosing(each, _LEFT, block) is None:
            return False
    for each in procedure.identifiers.get(name, ()):
        if inside(each, node) or any(inside(each, one) for one in frees):
            continue
        if each.parent is not None and each.parent.type == "pointer_declarator" and node.type == "expression_statement":
            continue
        if not inside(each, block) or each.start_byte > last.end_byte or not _stays_inside(each, program):
            return False
    return True


def _has_nothing(node: Node, name: str, block: Node) -> bool:
    """True for a way out that is taken where there was no memory."""
    test = enclosing(node, frozenset({"if_statement"}), block)
    condition = text_of(bare(field(test, "condition")))
    return re.fullmatch(rf"! ?{name}|{name} == (?:NULL|nullptr|0)|(?:NULL|nullptr|0) == {name}", condition) is not None


def _stays_inside(node: Node, program: Program, depth: int = 0) -> bool:
    """True if the use of a pointer keeps no copy of it that outlives the function: it is indexed, compared, or handed to what does
    the same.
    """
    parent = node.parent
    if parent is None or depth > 4:
        return False
    if parent.type == "subscript_expression":
        return field(parent, "argument") == node
    if parent.type == "field_expression":
        return True
    if parent.type == "pointer_expression":
        return text_of(field(parent, "operator")) == "*"
    if parent.type in ("if_statement", "unary_expression", "condition_clause", "while_statement"):
        return True
    if parent.type == "parenthesized_expression":
        asked = parent.parent is not None and parent.parent.type in ("if_statement", "while_statement")
        return asked or _stays_inside(parent, program, depth + 1)
    if parent.type == "binary_expression":
        operator = text_of(field(parent, "operator"))
        return operator in ("==", "!=", "&&", "||", "<", ">") or (
            operator in ("+", "-") and _stays_inside(parent, program, depth + 1)
        )
    if parent.type == "argument_list" and parent.parent is not None:
        call = parent.parent
        name = plain_name(field(call, "function"))
        if name in _FORGETTING:
            return call.parent is not None and call.parent.type == "expression_statement"
        own = program.named(name)
        at = [each.start_byte for each in children(parent)].index(node.start_byte)
        if len(own) != 1 or at >= len(own[0].model.parameters) or own[0].body is None:
            return False
        if "virtual" in own[0].model.marks:
            return False
        inner = own[0].model.parameters[at].name
        return all(
            _stays_inside(each, program, depth + 1)
            for each in own[0].identifiers.get(inner, ())
            if inside(each, own[0].body)
        )
    return False
