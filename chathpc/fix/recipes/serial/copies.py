"""Copies of C++ objects that nobody needs: parameters become constant references."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.c_family import declarator_of
from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.effects import summary
from chathpc.fix.recipes.analysis.program import Procedure, Program, Source, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, nodes, text_of, variable_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

#: Members of the standard containers that change nothing.
_LOOKING = frozenset(
    {
        "size", "empty", "length", "at", "begin", "end", "cbegin", "cend", "front", "back", "find", "count", "c_str",
        "substr", "compare", "rbegin", "rend", "capacity", "first", "second", "lower_bound", "upper_bound",
        "contains", "rfind", "data",
    }
)  # fmt: skip
#: Functions of the libraries that only look at what they are given.
_READERS = frozenset(
    {
        "printf", "fprintf", "snprintf", "puts", "strlen", "strcmp", "to_string", "accumulate", "find", "count",
        "max_element", "min_element", "size", "begin", "end", "max", "min", "abs", "make_pair", "inner_product",
        "lower_bound", "binary_search", "distance", "string",
    }
)  # fmt: skip
#: Those that change what they are given.
_CHANGING = frozenset(
    {
        "swap", "move", "sort", "fill", "copy", "memcpy", "memset", "memmove", "exchange", "iota", "transform",
        "reverse", "rotate",
    }
)  # fmt: skip
#: Members by which a container takes a copy.
_ADDING = frozenset({"push_back", "insert", "append", "emplace_back", "emplace"})
#: What uses a value and leaves it as it is.
_VALUES = frozenset(
    {
        "binary_expression", "expression_statement", "conditional_expression", "cast_expression", "unary_expression",
        "initializer_list", "condition_clause", "subscript_argument_list", "if_statement",
    }
)  # fmt: skip
_LARGE = re.compile(
    r"(?:std::)?(?:vector|string|map|set|unordered_map|unordered_set|deque|list|multimap|array|function|valarray)\b"
)


def constant_references(context: Context, spot: Spot) -> Iterator[Change]:
    """Parameters that are passed by value and only read are passed by constant reference."""
    for one in dict.fromkeys([spot.procedure, *context.program.callees(spot.procedure)]):
        yield from _parameters(one, context.program)


def _parameters(procedure: Procedure, program: Program) -> Iterator[Change]:
    name = procedure.model.name
    if (
        procedure.body is None
        or procedure.is_broken
        or name in program.handed_on
        or "virtual" in procedure.model.marks
        or len(program.named(name)) != 1
    ):
        return
    listed = _parameters_of(procedure.node)
    declared = _prototypes(name, program)
    if any(len(_parameters_of(each)) != len(listed) for _, each in declared):
        return
    for at, node in enumerate(listed):
        if node.type != "parameter_declaration":
            continue
        kind, own = field(node, "type"), field(node, "declarator")
        if kind is None or own is None or own.type != "identifier" or not _is_large(text_of(kind), program):
            continue
        if not _only_read(text_of(own), procedure.body, program) or not _changes_only_locals(
            procedure.body, procedure, program, frozenset({text_of(own)})
        ):
            continue
        told = [(source, _parameters_of(each)[at]) for source, each in declared]
        if any(text_of(field(each, "type")) != text_of(kind) or not _is_value(each) for _, each in told):
            continue
        edits: dict[str, tuple[Edit, ...]] = {}
        for source, each in ((procedure.source, node), *told):
            edits[source.path] = (*edits.get(source.path, ()), *_referring(each))
        yield Change(
            edits,
            line_of(node),
            f"Pass {text_of(own)} of {name} by const reference instead of copying it",
        )


def _parameters_of(node: Node) -> list[Node]:
    """The parameters of a function's definition or declaration."""
    return children(field(node if node.type == "function_declarator" else declarator_of(node), "parameters"))


def _prototypes(name: str, program: Program) -> list[tuple[Source, Node]]:
    """Declarations of functions of that name that are no definitions."""
    return [
        (source, one)
        for source in program.sources.values()
        if not source.is_fortran
        for node in nodes(source.file.tree.root_node, "declaration", "field_declaration")
        for each in node.children_by_field_name("declarator")
        for one in nodes(each, "function_declarator")
        if text_of(field(one, "declarator")).rsplit("::", 1)[-1] == name
    ]


def _is_value(parameter: Node) -> bool:
    """True for a parameter that is neither pointer, reference nor array."""
    own = field(parameter, "declarator")
    return parameter.type == "parameter_declaration" and (own is None or own.type == "identifier")


def _referring(parameter: Node) -> tuple[Edit, ...]:
    """Edits that make a parameter, with or without a name, a constant reference."""
    kind, own = field(parameter, "type"), field(parameter, "declarator")
    at = own.start_byte if own is not None else kind.end_byte if kind is not None else parameter.end_byte
    qualified = any(text_of(each) == "const" for each in parameter.children if each.type == "type_qualifier")
    first = () if qualified else (Edit(parameter.start_byte, parameter.start_byte, b"const "),)
    return (*first, Edit(at, at, b"&" if own is not None else b" &"))


def _is_large(kind: str, program: Program, depth: int = 0) -> bool:
    """True for a type whose copies cost: containers, and records that hold one or many numbers."""
    plain = kind.removeprefix("const ").strip()
    if _LARGE.match(plain):
        return True
    for source in program.sources.values():
        match = re.search(rb"\busing\s+%s\s*=\s*([^;]+);" % re.escape(plain).encode(), source.text)
        if match is not None:
            return _LARGE.match(match[1].decode("utf-8", "replace")) is not None
    record = program.records.get(plain)
    if record is None or depth > 3:
        return False
    return len(record.fields) > 6 or any(
        one.dims or _is_large(one.type, program, depth + 1) for one in record.fields if not one.pointers
    )


def _only_read(name: str, scope: Node, program: Program) -> bool:
    """True if nothing in the scope changes a variable, moves from it, or keeps a way to change it."""
    if any(True for _ in nodes(scope, "lambda_expression")):
        return False
    return all(_is_reading(node, program) for node in nodes(scope, "identifier") if text_of(node) == name)


def _is_reading(node: Node, program: Program) -> bool:
    """True if one use of a variable only looks at it."""
    one, parent = node, node.parent
    while parent is not None:
        if parent.type == "subscript_expression" and field(parent, "argument") == one:
            one, parent = parent, parent.parent
            continue
        if parent.type == "field_expression":
            called = (
                parent.parent is not None
                and parent.parent.type == "call_expression"
                and field(parent.parent, "function") == parent
            )
            if called and text_of(field(parent, "field")) not in _LOOKING:
                return False
            one, parent = parent, parent.parent
            if called and parent is not None:
                # What a looking member gives may be changed only through a reference, which the compiler then refuses.
                if text_of(field(one, "field")) not in ("at", "front", "back", "first", "second"):
                    return True
                one, parent = parent, parent.parent
            continue
        if parent.type == "parenthesized_expression":
            one, parent = parent, parent.parent
            continue
        break
    if parent is None:
        return False
    if parent.type == "assignment_expression":
        return field(parent, "left") != one
    if parent.type in ("update_expression", "return_statement", "pointer_expression", "delete_expression"):
        return parent.type == "return_statement" and one is not node
    if parent.type == "argument_list":
        call = parent.parent
        name = text_of(field(call, "function")).split("<", 1)[0].rsplit("::", 1)[-1] if call is not None else ""
        if one is not node and one.type == "subscript_expression":  # an element, which is handed on as a value
            return True
        known = program.named(name)
        if known:
            at = [each.start_byte for each in children(parent)].index(one.start_byte)
            return all(at < len(each.model.parameters) and _takes_constant(each, at) for each in known)
        callee = field(call, "function") if call is not None else None
        if callee is not None and callee.type == "field_expression":
            return text_of(field(callee, "field")) in _ADDING | _LOOKING
        return name in _READERS
    if parent.type == "for_range_loop":
        declarator = field(parent, "declarator")
        constant = any(text_of(each) == "const" for each in parent.children if each.type == "type_qualifier")
        return declarator is not None and (constant or declarator.type != "reference_declarator")
    if parent.type == "init_declarator":
        declarator = field(parent, "declarator")
        constant = parent.parent is not None and any(
            text_of(each) == "const" for each in parent.parent.children if each.type == "type_qualifier"
        )
        return declarator is not None and (constant or declarator.type == "identifier")
    return parent.type in _VALUES


def _takes_constant(procedure: Procedure, at: int) -> bool:
    one = procedure.model.parameters[at]
    return (not one.reference and not one.pointers) or one.const


def _changes_only_locals(scope: Node, procedure: Procedure, program: Program, besides: frozenset[str]) -> bool:
    """True if the scope changes nothing but variables of the function's own, other than `besides`: what a reference leads to stays."""
    if any(True for _ in nodes(scope, "delete_expression", "lambda_expression")):
        return False
    changes = nodes(scope, "assignment_expression", "update_expression")
    return all(_is_own(field(node, "left") or field(node, "argument"), procedure, besides) for node in changes) and all(
        _leaves_alone(call, procedure, program, besides) for call in nodes(scope, "call_expression")
    )


def _is_own(target: Node | None, procedure: Procedure, besides: frozenset[str]) -> bool:
    name = text_of(variable_of(target))
    own = procedure.declarations.get(name) if name and name not in besides else None
    return own is not None and not own.reference and not own.pointers and not own.static


def _leaves_alone(call: Node, procedure: Procedure, program: Program, besides: frozenset[str]) -> bool:
    called = field(call, "function")
    if called is not None and called.type == "field_expression":
        if text_of(field(called, "field")) in _LOOKING and not program.named(text_of(field(called, "field"))):
            return True
        return _is_own(field(called, "argument"), procedure, besides)
    name = text_of(called).split("<", 1)[0].rsplit("::", 1)[-1]
    own = program.named(name)
    if own:
        return len(own) == 1 and (summary(own[0], program) is not None)
    return name not in _CHANGING
