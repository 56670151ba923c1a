"""Whether two accesses may be to the same memory: in C and C++ by names, types, members, and where pointers come from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.accesses import Access
from chathpc.fix.recipes.analysis.c_accesses import local_array
from chathpc.fix.recipes.analysis.exchanges import are_apart
from chathpc.fix.recipes.analysis.fortran_accesses import overlaps
from chathpc.fix.recipes.analysis.origins import object_name, origins
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, field, text_of
from chathpc.fix.recipes.analysis.types import Type, declared, of_declaration, type_of

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
    through = ("subscript_expression", "field_expression", "parenthesized_expression", "pointer_expression")
    while node is not None and node.type in through:
        node = field(node, "argument") or next(iter(children(node)), None)
    return text_of(node)


def _same_type(one: Type, other: Type) -> bool:
    if any(each.depth == 0 and each.name in _BYTES for each in (one, other)):
        return True
    return one.depth == other.depth and _family(one.name) == _family(other.name)


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
    left, right = (base_of(each) for each in (one, other))
    if left is None or right is None:
        return True
    if one.procedure is other.procedure and are_apart(left, right, one.procedure, program):
        return False
    ours, theirs = origins(left, one.procedure, program), origins(right, other.procedure, program)
    return ours is None or theirs is None or bool(ours & theirs)


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
