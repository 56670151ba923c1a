"""Bounds that a function of C computes: what a call gives the variables whose addresses it takes, or returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.c_expressions import expression
from chathpc.diagnosis.source.model import Expr, Kind
from chathpc.fix.recipes.analysis.program import Program
from chathpc.fix.recipes.analysis.syntax import bare, children, field, statements, text_of
from chathpc.fix.recipes.mpi.block_bounds import Setting

if TYPE_CHECKING:
    from tree_sitter import Node

Settings = Callable[["Node"], list[Setting]]


def of_calls(statement: Node, program: Program, settings: Settings) -> list[Setting] | None:
    """What `range(n, rank, size, &first, &last);` and `first = begin(rank);` set; None for a statement that is no such call."""
    if statement.type == "declaration":
        listed = statement.children_by_field_name("declarator")
        target, given = (
            (field(listed[0], name) for name in ("declarator", "value")) if len(listed) == 1 else (None, None)
        )
        return (
            _of_value(text_of(target), bare(given), statement, program, settings)
            if target is not None and target.type == "identifier"
            else None
        )
    inner = next(iter(children(statement)), None) if statement.type == "expression_statement" else None
    if inner is not None and inner.type == "assignment_expression" and text_of(field(inner, "operator")) == "=":
        return _of_value(text_of(field(inner, "left")), bare(field(inner, "right")), statement, program, settings)
    return (
        _inlined(inner, "", statement, program, settings)
        if inner is not None and inner.type == "call_expression"
        else None
    )


def _of_value(
    name: str, given: Node | None, statement: Node, program: Program, settings: Settings
) -> list[Setting] | None:
    return (
        _inlined(given, name, statement, program, settings)
        if given is not None and given.type == "call_expression" and name
        else None
    )


def _inlined(call: Node, result: str, statement: Node, program: Program, settings: Settings) -> list[Setting] | None:
    named = program.named(text_of(field(call, "function")))
    arguments = children(field(call, "arguments"))
    if (
        len(named) != 1
        or named[0].body is None
        or named[0].is_broken
        or len(named[0].model.parameters) != len(arguments)
    ):
        return None
    callee = named[0]
    given = {one.name: expression(each) for one, each in zip(callee.model.parameters, arguments, strict=True)}
    found: list[Setting] = []
    returned = 0
    for each in statements(callee.body):
        if each.type == "return_statement":
            value = next(iter(children(each)), None)
            if value is not None:
                found.append(Setting(result, expression(value), None, True, 0))
                returned += 1
            continue
        inner = list(_through_pointers(each)) or settings(each)
        if not inner:
            return None
        found += inner
    if returned != (1 if result else 0):
        return None
    own = {one.name for one in callee.model.declarations}
    prefix = f"{callee.model.name}."

    def moved(expr: Expr) -> Expr:
        if (
            expr.kind == Kind.UNARY
            and expr.text == "*"
            and expr.parts
            and (name := _pointed(str(expr.parts[0]), given))
        ):
            return Expr(Kind.NAME, name)
        if expr.kind == Kind.NAME:
            return Expr(Kind.NAME, prefix + expr.text) if expr.text in own else given.get(expr.text, expr)
        base = moved(expr.base) if expr.base is not None else None
        return replace(expr, base=base, parts=tuple(moved(part) for part in expr.parts))

    at = statement.start_byte
    result_settings = []
    for one in found:
        name = (
            _pointed(one.name[1:], given)
            if one.name.startswith("*")
            else prefix + one.name
            if one.name in own
            else one.name
        )
        if not name or (name in given and name != result):
            return None
        condition = moved(one.condition) if one.condition is not None else None
        result_settings.append(Setting(name, moved(one.value), condition, one.holds, at))
    return result_settings


def _pointed(name: str, given: dict[str, Expr]) -> str:
    """The variable whose address was handed over for a pointer."""
    of = given.get(name)
    return (
        str(of.parts[0])
        if of is not None and of.kind == Kind.UNARY and of.text == "&" and of.parts[0].kind == Kind.NAME
        else ""
    )


def _through_pointers(statement: Node) -> Iterator[Setting]:
    """`*last = …;`"""
    inner = next(iter(children(statement)), None) if statement.type == "expression_statement" else None
    target = field(inner, "left")
    if inner is None or inner.type != "assignment_expression" or target is None or target.type != "pointer_expression":
        return
    operator, new = text_of(field(inner, "operator")), expression(field(inner, "right"))
    if operator in ("+=", "-="):
        new = Expr(Kind.BINARY, operator[0], None, (expression(target), new))
    if operator in ("=", "+=", "-="):
        yield Setting(f"*{text_of(field(target, 'argument'))}", new, None, True, statement.start_byte)
