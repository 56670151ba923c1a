"""Whether two accesses may be to the same memory: in C and C++ by names, types, members, restrict, and where pointers come from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.accesses import Access
from chathpc.fix.recipes.analysis.c_accesses import local_array
from chathpc.fix.recipes.analysis.exchanges import are_exchanged
from chathpc.fix.recipes.analysis.fortran_accesses import overlaps
from chathpc.fix.recipes.analysis.origins import ALLOCATORS, object_name, origins
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, field, nodes, text_of
from chathpc.fix.recipes.analysis.types import Type, declared, field_of, of_declaration, type_of

if TYPE_CHECKING:
    from tree_sitter import Node

_BYTES = frozenset({"char", "unsigned char", "signed char", "uint8_t", "int8_t", "void", "std::byte"})


def may_overlap(one: Access, other: Access, program: Program) -> bool:
    """True unless the two are proved to be different variables or different memory. (Strict aliasing: C11 6.5 p7.)"""
    if one.procedure.source.is_fortran:
        return overlaps(one, other)
    if not one.memory and not other.memory:
        return one.name == other.name
    if not one.memory or not other.memory:
        variable, memory = (one, other) if not one.memory else (other, one)
        return _name_meets_memory(variable, memory, program)
    return _memory_meets(one, other, program)


def _name_meets_memory(variable: Access, memory: Access, program: Program) -> bool:
    root_name = local_array(memory.node, memory.procedure)
    if root_name is not None:  # memory of a local array or record
        return root_name == variable.name
    one = declared(variable.name, variable.procedure, program)
    if one is None:
        return variable.name not in program.sources and _may_be_pointed_at(variable, memory, program)
    is_pointer = one.pointers or (one.dims and variable.name in variable.procedure.parameters)
    if _root(memory.node) == variable.name and not is_pointer:
        return True  # of a global array or record, or a container
    if variable.name not in variable.procedure.declarations and text_of(field(memory.node, "field")) == variable.name:
        return True  # a member by its bare name
    return _may_be_pointed_at(variable, memory, program)


def _may_be_pointed_at(variable: Access, memory: Access, program: Program) -> bool:
    is_local = variable.name in variable.procedure.declarations
    addressed = variable.procedure.addressed if is_local else program.addressed
    one = declared(variable.name, variable.procedure, program)
    if one is None and not is_local:
        return variable.name in program.addressed
    if variable.name not in addressed:
        return False
    kind = type_of(memory.node, memory.procedure, program)
    if kind is not None and one is not None and not _same_type(kind, of_declaration(one)):
        return False
    made = origins(base_of(memory), memory.procedure, program) if is_local else None
    return made is None or object_name(variable.name, variable.procedure) in made


def _root(node: Node | None) -> str:
    while node is not None and node.type in (
        "subscript_expression",
        "field_expression",
        "parenthesized_expression",
        "pointer_expression",
    ):
        node = field(node, "argument") if node.type != "parenthesized_expression" else next(iter(children(node)), None)
    return "" if node is None else text_of(node)


def _same_type(one: Type, other: Type) -> bool:
    if one.depth != other.depth:
        return (one.depth == 0 and one.name in _BYTES) or (other.depth == 0 and other.name in _BYTES)
    if (one.name in _BYTES and one.depth == 0) or (other.name in _BYTES and other.depth == 0):
        return True
    return _family(one.name) == _family(other.name)


#: Signed and unsigned are one type here, and names of the same width on 64-bit Linux.
_FAMILIES = {
    "int": "i4", "unsigned": "i4", "unsigned int": "i4", "int32_t": "i4", "uint32_t": "i4", "signed": "i4",
    "long": "i8", "unsigned long": "i8", "size_t": "i8", "std::size_t": "i8", "int64_t": "i8", "uint64_t": "i8", "long long": "i8", "unsigned long long": "i8",
    "ssize_t": "i8", "ptrdiff_t": "i8", "long int": "i8", "short": "i2", "unsigned short": "i2", "int16_t": "i2", "uint16_t": "i2",
    "float": "float", "double": "double", "long double": "long double",
}  # fmt: skip


def _family(name: str) -> str:
    """A name that two types share if an access by one may be to an object of the other; unknown names (typedefs) share one."""
    return _FAMILIES.get(name, name if name in _BYTES else "?" + name)


def _memory_meets(one: Access, other: Access, program: Program) -> bool:
    first, second = type_of(one.node, one.procedure, program), type_of(other.node, other.procedure, program)
    if first is not None and second is not None and not _same_type(first, second):
        known = all(
            _family(each.name)[0] != "?" or each.depth or each.name in program.records for each in (first, second)
        )
        if known:
            return False
    members = [_member(each, program) for each in (one, other)]
    if not program.has_unions and not _has_record_casts(program):
        if members[0] and members[1] and members[0] != members[1]:
            return False
        for mine, its in (members, members[::-1]):
            if mine and not its and mine not in program.addressed:
                # A member is reached by its record, or by its address if somebody took it, or as a part of a whole record.
                whole = second if mine == members[0] else first
                if whole is not None and whole.name not in program.records and whole.name not in _BYTES:
                    return False
    left, right = (base_of(each) for each in (one, other))
    for own, foreign in ((left, right), (right, left)):
        if (
            own is not None
            and foreign is not None
            and own.type == "identifier"
            and text_of(own) in one.procedure.restricted
            and one.procedure is other.procedure
            and not _leads_from(own, foreign, one.procedure)
        ):
            return False
    if left is None or right is None:
        return True
    if one.procedure is other.procedure and are_exchanged(left, right, one.procedure, program):
        return False
    ours, theirs = origins(left, one.procedure, program), origins(right, other.procedure, program)
    if ours is not None and theirs is not None and not ours & theirs:
        return False
    return one.procedure is not other.procedure or not _are_apart_in_calls(left, right, one.procedure, program)


def _are_apart_in_calls(left: Node, right: Node, procedure: Procedure, program: Program) -> bool:
    """True for two parameters, for which every call of the program hands over memory of different origin."""
    names = [one.name for one in procedure.model.parameters]
    calls = program.calls.get(procedure.model.name, [])
    mine, its = text_of(left), text_of(right)
    if (
        left.type != "identifier"
        or right.type != "identifier"
        or mine == its
        or not {mine, its} <= set(names)
        or not calls
    ):
        return False
    if procedure.model.name in program.handed_on or len(program.named(procedure.model.name)) != 1:
        return False
    if not (program.named("main") or "static" in procedure.model.marks) or "virtual" in procedure.model.marks:
        return False
    if any(procedure.assigned.get(name) or name in procedure.addressed for name in (mine, its)):
        return False
    for caller, call in calls:
        given = children(field(call, "arguments"))
        if caller is procedure or len(given) != len(names):
            return False
        one, other = given[names.index(mine)], given[names.index(its)]
        first, second = origins(one, caller, program), origins(other, caller, program)
        if first is None or second is None or first & second:
            return False
    return True


def _has_record_casts(program: Program) -> bool:
    """True where the address of a record may become that of its first member by a cast."""
    if "record casts" not in program.known_facts:
        program.known_facts["record casts"] = any(
            _is_record_cast(node, one, program)
            for one in program.procedures
            if not one.source.is_fortran
            for node in one.all("cast_expression", "call_expression")
        )
    return program.known_facts["record casts"]


def _is_record_cast(node: Node, procedure: Procedure, program: Program) -> bool:
    called = text_of(field(node, "function"))
    value = field(node, "value") or next(iter(children(field(node, "arguments"))), None)
    target = called if node.type == "call_expression" else text_of(field(node, "type"))
    if value is None or "*" not in target or (called and not called.startswith("reinterpret_cast")):
        return False
    if text_of(field(value, "function")).rsplit("::", 1)[-1] in ALLOCATORS:
        return False
    of = type_of(value, procedure, program)
    return of is None or of.name in program.records


def _leads_from(own: Node, foreign: Node, procedure: Procedure) -> bool:
    """True if a pointer may have been made from a restricted one, whose memory it may then reach (C11 6.7.3.1 p3)."""
    name, todo, seen = text_of(own), [_root(foreign)], set[str]()
    if name in procedure.stored:
        return True
    while todo:
        each = todo.pop()
        if each == name or not each:
            return True
        if each not in seen:
            seen.add(each)
            todo += [
                text_of(one)
                for value in procedure.assigned.get(each, ())
                if value
                for one in nodes(value, "identifier")
            ]
    return False


def _member(one: Access, program: Program) -> str:
    """Name of the scalar member that is accessed; empty for anything else."""
    if one.node.type != "field_expression":
        return ""
    declared_as = field_of(one.node, one.procedure, program)
    return "" if declared_as is None or declared_as.dims else text_of(field(one.node, "field"))


def base_of(one: Access) -> Node | None:
    """The pointer or array through which memory is accessed."""
    node: Node | None = one.node
    if node is None or node.type == "identifier":
        return node
    if node.type == "field_expression":
        while node is not None and node.type == "field_expression" and text_of(field(node, "operator")) == ".":
            node = field(node, "argument")
        if node is not None and node.type == "field_expression":
            return field(node, "argument")
        if node is not None and node.type == "identifier":
            return node
        return None if node is None else field(node, "argument")
    inner = field(node, "argument")
    while inner is not None and inner.type == "subscript_expression" and _leads_to_rows(_root(inner), one.procedure):
        inner = field(inner, "argument")  # a row of `double (*a)[n]` lies where `a` points to
    return inner


def _leads_to_rows(name: str, procedure: Procedure) -> bool:
    """True for a pointer to rows, which is declared as `double (*a)[n]`; an array of pointers is another thing."""
    text = procedure.source.text[procedure.node.start_byte : procedure.node.end_byte]
    return bool(name) and re.search(rb"\(\s*\*[\w\s]*\b%s\s*\)\s*\[" % re.escape(name).encode(), text) is not None
