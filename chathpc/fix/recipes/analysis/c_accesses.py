"""What statements of C and C++ read, write and call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.invariant import LENGTHS, pure_name
from chathpc.fix.recipes.analysis.accesses import Access, Effects
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, field, index_of, nodes, text_of, variable_of
from chathpc.fix.recipes.analysis.types import Type, declared, field_of, member_called, of_declaration, type_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Names that are said to be pure for Fortran, or of containers, and may be anything in C and C++.
_NOT_OF_C = frozenset(
    {
        "real", "dble", "int", "mod", "nint", "sign", "merge", "gamma", "sum", "size", "dot_product", "maxval",
        "minval", "move", "swap_bytes", "min", "max",
    }
)  # fmt: skip
#: Members of the standard containers that only look.
_LOOKING = frozenset({"size", "length", "empty", "data", "capacity"})
_CONTAINERS = re.compile(r"(?:std::)?(?:vector|array|string|span|valarray|deque)\b")
_SCALAR_CASTS = re.compile(
    r"(?:static_cast<[\w:\s]+>|(?:std::)?(?:double|float|int|long|size_t|unsigned|u?int\d+_t))\Z"
)
#: Nodes that change nothing and hold nothing that is evaluated.
_SILENT = frozenset(
    {
        "comment", "number_literal", "string_literal", "char_literal", "true", "false", "null", "sizeof_expression",
        "type_descriptor", "primitive_type", "this", "concatenated_string", "field_identifier", "type_identifier",
        "statement_identifier", "break_statement", "continue_statement", "raw_string_literal", "nullptr",
    }
)  # fmt: skip
_JUMPS = {
    "return_statement": "return",
    "break_statement": "break",
    "continue_statement": "continue",
    "goto_statement": "goto",
    "labeled_statement": "label",
    "throw_statement": "throw",
    "co_return_statement": "return",
    "switch_statement": "switch",
}
_OPAQUE = frozenset(
    {
        "lambda_expression", "gnu_asm_expression", "ERROR", "try_statement", "co_await_expression",
        "co_yield_statement", "preproc_if", "preproc_ifdef", "preproc_def", "preproc_function_def", "preproc_include",
        "new_expression", "delete_expression", "template_function", "compound_literal_expression",
    }
)  # fmt: skip


def step(node: Node, mode: str, found: Effects, procedure: Procedure, program: Program) -> list[tuple[Node, str]]:
    """Notes what one node does, and gives what is in it with what is done with that: it is read, written, or updated."""
    kind = node.type
    if kind in _JUMPS:
        found.jumps.add(_JUMPS[kind])
    if kind in _OPAQUE or node.is_missing:
        found.opaque.append(kind)
        return []
    if kind in ("identifier", "qualified_identifier"):
        _name(node, mode, found, procedure, program)
        return []
    if kind in _SILENT:
        return []
    if kind == "preproc_call":
        found.pragmas.append(node)
        return []
    if kind in ("subscript_expression", "field_expression") or (
        kind == "pointer_expression" and text_of(field(node, "operator")) == "*"
    ):
        return _memory(node, mode, found, procedure, program)
    if kind == "pointer_expression":  # an address alone changes nothing; what is done with it does
        return [(part, "read") for part in _indices(field(node, "argument"))]
    if kind == "parenthesized_expression" and mode != "read":
        return [(each, mode) for each in children(node)]
    if kind == "assignment_expression":
        left, right = field(node, "left"), field(node, "right")
        if left is None or right is None:
            found.opaque.append(kind)
            return []
        if procedure.source.is_cpp and not _is_simple(type_of(left, procedure, program), text_of(left), procedure):
            found.opaque.append(f"assignment to {text_of(left)[:40]}")
        return [(right, "read"), (left, "write" if text_of(field(node, "operator")) == "=" else "update")]
    if kind == "update_expression":
        inner = field(node, "argument")
        return [] if inner is None else [(inner, "update")]
    if kind == "declaration":
        return _declaration(node, found, procedure)
    if kind == "for_range_loop":
        found.declared.update(text_of(one) for one in nodes(field(node, "declarator") or node, "identifier"))
        right, body = field(node, "right"), field(node, "body")
        return [(each, "read") for each in (right, body) if each is not None]
    if kind == "call_expression":
        if mode != "read":
            found.opaque.append(f"writes to what {text_of(node)[:40]} gives")
        return _call(node, found, procedure, program)
    if kind == "binary_expression" and text_of(field(node, "operator")) in ("<<", ">>") and _is_stream(node):
        found.calls.append(node)
        return []
    if kind == "cast_expression":
        value = field(node, "value")
        return [] if value is None else [(value, "read")]
    return [(each, "read") for each in children(node)]


def _is_stream(node: Node) -> bool:
    one: Node | None = node
    while one is not None and one.type == "binary_expression":
        one = field(one, "left")
    return one is not None and one.type in ("identifier", "qualified_identifier", "field_expression") and (
        text_of(one).rsplit("::", 1)[-1] in ("cout", "cerr", "clog", "cin") or re.search(r"(stream|out|os|file)$", text_of(one)) is not None
    )  # fmt: skip


def _indices(node: Node | None) -> list[Node]:
    """What is evaluated to find an address."""
    found: list[Node] = []
    while node is not None and node.type in ("subscript_expression", "field_expression", "parenthesized_expression"):
        index = index_of(node)
        found += [] if index is None else [index]
        node = field(node, "argument") or next(iter(children(node)), None)
    if node is not None and node.type not in ("identifier", "this"):
        found.append(node)
    return found


def _is_simple(of: Type | None, text: str, procedure: Procedure) -> bool:
    """True for numbers and pointers: their operators are no functions."""
    one = procedure.declarations.get(text)
    if of is None:
        value = one.value if one is not None and one.type.endswith("auto") else None
        return value is not None and value.kind not in ("call", "other")
    return of.is_arithmetic or (of.depth > 0 and not (one is not None and _CONTAINERS.match(one.type)))


def _name(node: Node, mode: str, found: Effects, procedure: Procedure, program: Program) -> None:
    name = text_of(node)
    if name in program.macros:
        found.opaque.append(f"macro {name}")
        return
    one = declared(name, procedure, program)
    is_memory = one is not None and one.reference
    if one is not None and (one.dims or (_CONTAINERS.match(one.type) and not one.pointers)):
        is_memory = is_memory or (mode != "read")
    found.accesses.append(Access(node, procedure, name, is_memory, mode != "read", mode == "update"))


def _memory(node: Node, mode: str, found: Effects, procedure: Procedure, program: Program) -> list[tuple[Node, str]]:
    """An access through an index, member or pointer; what is read to get there follows."""
    if procedure.source.is_cpp and node.type == "subscript_expression" and type_of(node, procedure, program) is None:
        found.opaque.append(f"operator[] of {text_of(field(node, 'argument'))[:40]}")
    found.accesses.append(Access(node, procedure, text_of(node), True, mode != "read", mode == "update"))
    index, argument = index_of(node), field(node, "argument")
    following = [] if index is None else [(index, "read")]
    while argument is not None and argument.type == "subscript_expression" and _is_array(argument, procedure, program):
        # A row of an array of several dimensions is no pointer that is read.
        index = index_of(argument)
        following += [] if index is None else [(index, "read")]
        argument = field(argument, "argument")
    if (
        argument is not None
        and argument.type != "this"
        and not _is_array(argument, procedure, program)
        and not (node.type == "field_expression" and _is_own_record(argument, procedure))
    ):
        following.append((argument, "read"))
    return following


def _is_own_record(node: Node, procedure: Procedure) -> bool:
    """True for a record of the function's own: of it nothing is read but the member."""
    one = procedure.declarations.get(text_of(node)) if node.type == "identifier" else None
    return one is not None and not one.pointers and not one.reference and not one.dims


def _is_array(node: Node, procedure: Procedure, program: Program) -> bool:
    """True for the name of an array or container, and rows of an array: where it lies does not change."""
    depth = 0
    while node.type == "subscript_expression":
        inner = field(node, "argument")
        if inner is None:
            return False
        node, depth = inner, depth + 1
    if node.type != "identifier":
        return False
    one = declared(text_of(node), procedure, program)
    if one is None or one.pointers or one.reference:
        return False
    if depth == 0 and (text_of(node) in procedure.parameters or not one.dims):
        return _CONTAINERS.match(one.type) is not None
    return len(one.dims) > depth


def _declaration(node: Node, found: Effects, procedure: Procedure) -> list[tuple[Node, str]]:
    following: list[tuple[Node, str]] = []
    kind = text_of(field(node, "type"))
    for one in node.children_by_field_name("declarator"):
        inner: Node | None = one
        evaluated: list[Node | None] = []
        if one.type == "init_declarator":
            evaluated, inner = [field(one, "value")], field(one, "declarator")
        name = next((text_of(each) for each in nodes(inner, "identifier")), "") if inner is not None else ""
        found.declared.add(name)
        if inner is not None and inner.type == "function_declarator":
            found.opaque.append(f"constructor of {name}")
        elif inner is not None:
            evaluated += [field(each, "size") for each in nodes(inner, "array_declarator")]
        following += [(each, "read") for each in evaluated if each is not None]
    if procedure.source.is_cpp:
        of = Type(kind.replace("const ", "").strip())
        is_record = not of.is_arithmetic and not kind.endswith("auto")
        pointers = all(
            next(nodes(each, "pointer_declarator", "reference_declarator"), None) is not None
            for each in node.children_by_field_name("declarator")
        )
        if (
            is_record
            and not pointers
            and not re.fullmatch(r"std::array<[\w\s]+,\s*\w+>", kind)
            and not _is_aggregate(kind, procedure)
        ):
            found.opaque.append(f"constructor of {kind[:40]}")
    if "static" in [text_of(each) for each in node.children if each.type == "storage_class_specifier"]:
        found.opaque.append("static variable")
    return following


def _is_aggregate(kind: str, procedure: Procedure) -> bool:
    record = procedure.source.file.unit.records.get(kind)
    return record is not None and all(Type(one.type).is_arithmetic for one in record.fields) and bool(record.fields)


def _call(node: Node, found: Effects, procedure: Procedure, program: Program) -> list[tuple[Node, str]]:
    called, listed = field(node, "function"), children(field(node, "arguments"))
    arguments: list[tuple[Node, str]] = [(each, "read") for each in listed]
    if called is None:
        found.opaque.append("call")
        return arguments
    if called.type == "field_expression":
        base = field(called, "argument")
        of = _container_type(base, procedure, program)
        if text_of(field(called, "field")) in _LOOKING and not listed and of and base is not None:
            return [(base, "read")]
        own_member = member_called(called, procedure, program)
        if own_member is not None and base is not None and len(own_member.model.parameters) == len(listed):
            found.callees.append((node, own_member))
            return [*arguments, (base, "read")]
        found.calls.append(node)
        return arguments
    written = text_of(called)
    name = written.rsplit("::", 1)[-1]
    if name in program.macros or written in program.macros:
        found.opaque.append(f"macro {name}")
        return arguments
    if _SCALAR_CASTS.match(written):
        return arguments
    own = program.named(name)
    if len(own) == 1 and own[0].arity == len(listed) and not own[0].source.is_fortran:
        found.callees.append((node, own[0]))
        return arguments
    if own:
        found.calls.append(node)
        return arguments
    if _is_library_pure(written):
        found.pure_calls.append(node)
        return arguments
    if name in LENGTHS and len(listed) == 1:
        found.pure_calls.append(node)
        found.accesses.append(Access(listed[0], procedure, text_of(listed[0]), True, False))
        return arguments
    found.calls.append(node)
    return arguments


def _is_library_pure(written: str) -> bool:
    """True for a function of <math.h> or <cmath>, or std::min, std::max and std::clamp."""
    name = written.rsplit("::", 1)[-1]
    if written in ("std::min", "std::max", "std::clamp"):
        return True
    if name != written and not written.startswith("std::"):
        return False
    base = name[:-1] if name not in ("erf",) and name[-1:] in "fl" and pure_name(name[:-1]) else name
    return pure_name(name) and base not in _NOT_OF_C


def _container_type(base: Node | None, procedure: Procedure, program: Program) -> bool:
    """True for a variable or member that is a container of the standard library."""
    if base is None:
        return False
    if base.type == "identifier":
        one = declared(text_of(base), procedure, program)
    elif base.type == "field_expression":
        one = field_of(base, procedure, program)
    else:
        of = type_of(base, procedure, program) if base.type == "subscript_expression" else None
        return of is not None and of.depth > 0  # a pointer has no members
    return one is not None and not one.pointers and _CONTAINERS.match(one.type) is not None


def is_local(one: Access, inner: Effects) -> bool:
    """True for a variable of its function, and memory of an array or record of that."""
    name = local_array(one.node, one.procedure) if one.memory else one.name
    return name is not None and (name in one.procedure.parameters or name in inner.declared)


def is_own_memory(one: Access, callee: Procedure) -> bool:
    """True for memory of an array or record of the function itself."""
    return one.memory and local_array(one.node, callee) is not None


def local_array(node: Node, callee: Procedure) -> str | None:
    """The local array or record that is indexed; None for what a pointer or reference leads to."""
    name = text_of(variable_of(node)) if node.type != "identifier" else ""
    kept = callee.declarations.get(name) if name else None
    if kept is None or kept.reference or kept.pointers or kept.static:
        return None
    return None if name in callee.parameters and of_declaration(kept).depth else name
