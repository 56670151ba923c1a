"""Functions of C and C++ whose result depends on their arguments and on constants alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.c_family import declared as declared_by
from chathpc.diagnosis.source.model import Declaration, Expr, Kind
from chathpc.fix.recipes.analysis.effects import Access, effects, is_own_memory, summary
from chathpc.fix.recipes.analysis.program import Procedure, Program, Source, plain_name
from chathpc.fix.recipes.analysis.syntax import children, field, nodes, text_of
from chathpc.fix.recipes.analysis.types import of_declaration

if TYPE_CHECKING:
    from tree_sitter import Node

#: Names of numbers in the headers of the standard library.
_STANDARD = re.compile(
    r"M_(?:E|LOG2E|LOG10E|LN2|LN10|PI|PI_2|PI_4|1_PI|2_PI|2_SQRTPI|SQRT2|SQRT1_2)|NAN|INFINITY|HUGE_VALF?|CHAR_BIT"
    r"|(?:DBL|FLT)_(?:EPSILON|MIN|MAX|DIG)|(?:U?(?:INT|LONG|LLONG|CHAR|SHRT)|SIZE|U?INT(?:8|16|32|64))_(?:MIN|MAX)"
)


def is_function_of_arguments(procedure: Procedure, program: Program) -> bool:
    """True for a function of its arguments alone, as are all that it calls; it does not call itself, also not through others."""
    called = program.below(procedure)
    if any(one is procedure for one in called):
        return False
    if any(plain_name(field(call, "function")) == procedure.model.name for call in procedure.all("call_expression")):
        return False
    for one in (procedure, *called):
        if one.body is None or summary(one, program) is None:
            return False
        found = effects(one.body, one, program, 1)
        own = {each.name for each in one.model.parameters} | found.declared
        if any(name in source.file.unit.variables for source in program.sources.values() for name in found.declared):
            return False  # which of both is meant where is not told
        for each in found.accesses:
            if each.procedure is one and not (_is_own(each, own) or _is_constant(each, program)):
                return False
    return True


def _is_own(access: Access, own: set[str]) -> bool:
    return is_own_memory(access, access.procedure) if access.memory else access.name in own


def _is_constant(access: Access, program: Program) -> bool:
    """True for a number that nothing can change: a constant of a file, an item of a constant table, a macro of the sources or of C."""
    node: Node | None = access.node
    while access.memory and node is not None and node.type in ("subscript_expression", "parenthesized_expression"):
        node = field(node, "argument") if node.type == "subscript_expression" else next(iter(children(node)), None)
    if access.write or node is None or node.type not in ("identifier", "qualified_identifier"):
        return False
    return _is_constant_name(text_of(node), program)


def _is_constant_name(name: str, program: Program) -> bool:
    """As `_is_constant`, for all of that name in all files and name spaces, and what their values are computed from."""
    todo, seen = [name], {name}
    while todo:
        one = todo.pop()
        last = one.rsplit("::", 1)[-1]
        kinds = ("declaration", "field_declaration") if "::" in one else ("declaration",)
        declared = [each for source in program.sources.values() for each in _declared(last, source, kinds)]
        if not declared and not _is_number(last, program) and not _STANDARD.fullmatch(one):
            return False
        for each in declared:
            number = of_declaration(Declaration("", each.type)).is_arithmetic
            if each.pointers or each.reference or not each.const or each.value is None or not number:
                return False
            if not _is_of_constants(each.value) or _is_volatile(last, program):
                return False
            more = {part.text for part in each.value.walk() if part.kind == Kind.NAME} - seen
            seen |= more
            todo += more
    return True


def _declared(name: str, source: Source, kinds: tuple[str, ...]) -> Iterator[Declaration]:
    """All variables of that name in a file, those of functions too."""
    if source.is_fortran or name.encode() not in source.text:
        return
    for node in nodes(source.file.tree.root_node, *kinds):
        yield from (one for one in declared_by(node) if one.name == name)


def _is_number(name: str, program: Program) -> bool:
    """True for a macro or an enumerator that is a number; macros that are more are opaque."""
    return name not in program.macros and any(
        name in each.file.unit.constants
        or re.search(rb"^[ \t]*#[ \t]*define[ \t]+%s[ \t]" % re.escape(name.encode()), each.text, re.M)
        for each in program.sources.values()
    )


def _is_of_constants(value: Expr) -> bool:
    return all(
        part.kind in (Kind.NUMBER, Kind.NAME, Kind.UNARY, Kind.BINARY)
        or (part.kind == Kind.OTHER and part.text == "initializer_list")
        for part in value.walk()
    )


def _is_volatile(name: str, program: Program) -> bool:
    pattern = re.compile(rb"\bvolatile\b[^;{}]*\b%s\b" % re.escape(name.encode()))
    return any(pattern.search(each.text) for each in program.sources.values())
