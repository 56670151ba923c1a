"""Searches from the beginning of a table in order: bisection finds the same place (C and C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, indent_step, shifted
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import is_invariant, loops_of, used_after
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import bare, children, field, inside, line_of, nodes, statements, text_of
from chathpc.fix.recipes.analysis.types import type_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.invariants import directive_before

if TYPE_CHECKING:
    from tree_sitter import Node

_ADDING = frozenset({"push_back", "emplace_back", "insert", "emplace", "assign"})
_ORDERS = frozenset({"<", "<=", ">", ">="})
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """A loop that does nothing but to count up: it ends at the first place where `passed` is false, or at the limit.

    `first` is the loop's beginning in the text, `last` its end. `found` is what is done at that place, if it is there.
    """

    first: Node
    last: Node
    variable: str
    kind: str
    start: str
    limit: Node
    inclusive: bool
    passed: str  #: as it is written, about `variable`
    tests: tuple[Node, ...]
    declares: bool = False
    found: Node | None = None
    exact: Node | None = None  #: the comparison for equality that has to hold at the place


def bisected(context: Context, spot: Spot) -> Iterator[Change]:
    """`while (k < n && t[k] <= x) k++;` halves what is left of the table at each step.

    That the table is in order the source does not say: the answers of the changed program do.
    """
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or procedure.body is None:
        return
    for loop in loops_of(procedure):
        if directive_before(loop) is not None:
            continue
        one = _skipping(loop, procedure) or _looking(loop, procedure)
        if one is None or not _is_search(one, loop, procedure, program):
            continue
        yield Change(
            {spot.source.path: (Edit(one.first.start_byte, one.last.end_byte, _text(one, text)),)},
            line_of(loop),
            f"finds {one.variable} by bisection instead of going through the table from its beginning",
        )


def _skipping(loop: Node, procedure: Procedure) -> Search | None:
    """`int k = 0; while (k < n && P(k)) k++;`, and the same as a for loop without a body."""
    condition = bare(field(loop, "condition"))
    listed = statements(field(loop, "body"))
    if condition is None or condition.type != "binary_expression" or text_of(field(condition, "operator")) != "&&":
        return None
    limit, test = bare(field(condition, "left")), bare(field(condition, "right"))
    if loop.type == "while_statement" and len(listed) == 1:
        variable = _counted_up(bare(listed[0]))
        begun = loop.prev_named_sibling
    elif loop.type == "for_statement" and not [each for each in listed if text_of(each) != ";"]:
        variable = _counted_up(field(loop, "update"))
        begun = field(loop, "initializer")
        if begun is not None and begun.type == "declaration":
            return None
    else:
        return None
    if variable is None or limit is None or test is None or begun is None:
        return None
    start = _start_of(begun, variable)
    end = _limit(limit, variable)
    kind = procedure.declarations.get(variable)
    if start is None or end is None or kind is None or kind.pointers or kind.reference or not _is_order(test):
        return None
    return Search(
        begun if loop.type == "while_statement" else loop, loop, variable, kind.type, text_of(start), end[0], end[1],
        text_of(test), (test,), declares=begun.type == "declaration",
    )  # fmt: skip


def _looking(loop: Node, procedure: Procedure) -> Search | None:
    """`for (int i = 0; i < n; i++) if (t[i] == x) return …;`, and with an interval `x >= t[i] && x < t[i + 1]`."""
    listed = statements(field(loop, "body"))
    if loop.type != "for_statement" or len(listed) != 1 or listed[0].type != "if_statement":
        return None
    condition, found = bare(field(listed[0], "condition")), field(listed[0], "consequence")
    variable = _counted_up(field(loop, "update"))
    limit = bare(field(loop, "condition"))
    begun = field(loop, "initializer")
    if condition is None or found is None or variable is None or limit is None or begun is None:
        return None
    if field(listed[0], "alternative") is not None or condition.type != "binary_expression":
        return None
    leaving = statements(found)
    if not leaving or leaving[-1].type not in ("return_statement", "break_statement"):
        return None
    if sum(1 for _ in nodes(found, "break_statement", "continue_statement", "goto_statement")) != (
        leaving[-1].type == "break_statement"
    ):
        return None
    start = _start_of(begun, variable)
    end = _limit(limit, variable)
    own = begun.type == "declaration"
    only_leaves = leaving[0].type == "break_statement"
    declared = procedure.declarations.get(variable)
    kind = text_of(field(begun, "type")) if own else declared.type if declared is not None else ""
    if start is None or end is None or not kind or (own and only_leaves):
        return None
    if leaving[-1].type == "break_statement" and not only_leaves and found.type != "compound_statement":
        return None
    what = _condition(condition, variable)
    if what is None or (not own and not only_leaves and used_after(variable, loop, procedure)):
        return None
    passed, tests = what
    return Search(
        loop, loop, variable, kind, text_of(start), *end, passed, tests, own, None if only_leaves else found,
        None if only_leaves and _is_order(condition) else condition,
    )  # fmt: skip


def _condition(condition: Node, variable: str) -> tuple[str, tuple[Node, ...]] | None:
    """What holds for the places before the one that is looked for, where the table is in order, and the comparisons."""
    operator, left, right = (field(condition, each) for each in ("operator", "left", "right"))
    if left is None or right is None:
        return None
    match text_of(operator):
        case "==":
            key, wanted = (left, right) if _has_name(left, variable) else (right, left)
            return f"{text_of(key)} < {text_of(wanted)}", (condition,)
        case "&&":
            lower, upper = bare(left), bare(right)
            if lower is None or upper is None or not _is_order(lower) or not _is_order(upper):
                return None
            return (_not(upper), (lower, upper)) if _is_interval(lower, upper, variable) else None
        case _:
            return (_not(condition), (condition,)) if _is_order(condition) else None


def _not(test: Node) -> str:
    return (
        f"{text_of(field(test, 'left'))} {_OPPOSITE[text_of(field(test, 'operator'))]} {text_of(field(test, 'right'))}"
    )


def _is_interval(lower: Node, upper: Node, variable: str) -> bool:
    """True for two comparisons with the same value: not before this element, and before the next one."""
    tables, values = [], []
    for one in (lower, upper):
        left, right = field(one, "left"), field(one, "right")
        if left is None or right is None or _has_name(left, variable) == _has_name(right, variable):
            return False
        operator = text_of(field(one, "operator"))
        indexed = _has_name(left, variable)
        tables.append(text_of(left if indexed else right).replace(" ", ""))
        values.append((text_of(right if indexed else left), operator if indexed else _turned(operator)))
    if values[0][0] != values[1][0] or values[0][1][0] != "<" or values[1][1][0] != ">":
        return False
    return tables[1] == re.sub(rf"\[{variable}\]", f"[{variable}+1]", tables[0])


def _turned(operator: str) -> str:
    return {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[operator]


def _counted_up(update: Node | None) -> str | None:
    """The variable that is counted up by one."""
    if update is None:
        return None
    match = re.fullmatch(r"(\w+)\s*(?:\+\+|\+= 1)|\+\+\s*(\w+)", text_of(update))
    return (match[1] or match[2]) if match is not None else None


def _start_of(begun: Node, variable: str) -> Node | None:
    """The number from which it counts; None for any other beginning."""
    if begun.type == "declaration":
        declarators = begun.children_by_field_name("declarator")
        one = declarators[0] if len(declarators) == 1 and declarators[0].type == "init_declarator" else None
        name, value = field(one, "declarator"), field(one, "value")
    else:
        one = bare(begun)
        if one is None or one.type != "assignment_expression" or text_of(field(one, "operator")) != "=":
            return None
        name, value = field(one, "left"), field(one, "right")
    if text_of(name) != variable or value is None or value.type != "number_literal":
        return None
    return value if text_of(value).rstrip("uUlL").isdigit() else None


def _limit(condition: Node, variable: str) -> tuple[Node, bool] | None:
    """The bound in `k < n` or `k + 1 < n`, with the whole comparison; True for `<=`."""
    if condition.type != "binary_expression" or text_of(field(condition, "operator")) not in ("<", "<="):
        return None
    left, right = bare(field(condition, "left")), field(condition, "right")
    if (
        left is None
        or right is None
        or text_of(left) not in (variable, f"{variable} + 1")
        or _has_name(right, variable)
    ):
        return None
    return condition, text_of(field(condition, "operator")) == "<="


def _is_order(test: Node) -> bool:
    return test.type == "binary_expression" and text_of(field(test, "operator")) in _ORDERS


def _has_name(node: Node, name: str) -> bool:
    """True if the name stands in an expression."""
    return any(text_of(each) == name for each in nodes(node, "identifier"))


def _is_search(one: Search, loop: Node, procedure: Procedure, program: Program) -> bool:
    """True if the loop compares one table, indexed by its variable alone, with something that stays the same."""
    if one.variable in procedure.addressed:
        return False
    tables = []
    for test in one.tests:
        parts = (test,) if text_of(field(test, "operator")) in (*_ORDERS, "==") else ()
        for each in parts:
            sides = [field(each, "left"), field(each, "right")]
            indexed = [side for side in sides if side is not None and _has_name(side, one.variable)]
            still = [side for side in sides if side is not None and not _has_name(side, one.variable)]
            if len(indexed) != 1 or len(still) != 1 or not _is_item(indexed[0], one.variable):
                return False
            for side, kind in ((side, type_of(side, procedure, program)) for side in (*indexed, *still)):
                if kind is None or not kind.is_arithmetic:
                    return False
                found = effects(side, procedure, program)
                if not found.is_known or found.writes:
                    return False
            if not is_invariant(still[0], loop, procedure, program) and one.found is None:
                return False
            tables.append(_base(indexed[0]))
    bound = effects(one.limit, procedure, program)
    if not bound.is_known or bound.writes or len(set(tables)) != 1:
        return False
    # Whoever moves items of the table about in the same function, or adds some, does not count on their order.
    for node in procedure.all("field_expression"):
        if text_of(field(node, "field")) in _ADDING and text_of(field(node, "argument")) == tables[0]:
            return False
    for node in procedure.all("assignment_expression", "update_expression"):
        target = field(node, "left") or field(node, "argument")
        if one.found is not None and inside(node, one.found):
            continue
        if target is not None and target.type != "identifier" and _base(target) == tables[0]:
            return False
    return True


def _is_item(node: Node, variable: str) -> bool:
    """True for `t[k]`, `t[k + 1]` and members of such items."""
    while node.type == "field_expression" and text_of(field(node, "operator")) == ".":
        node = field(node, "argument") or node
    if node.type != "subscript_expression":
        return False
    index = field(node, "index") or field(node, "indices")
    if index is not None and index.type == "subscript_argument_list":
        index = next(iter(children(index)), None)
    base = field(node, "argument")
    return (
        index is not None
        and base is not None
        and not _has_name(base, variable)
        and re.fullmatch(rf"{variable}(?: [+-] \d+)?", text_of(index)) is not None
    )


def _base(node: Node) -> str:
    one: Node | None = node
    while (
        one is not None
        and one.type == "field_expression"
        and (field(one, "argument") or one).type == "subscript_expression"
    ):
        one = field(one, "argument")
    while one is not None and one.type == "subscript_expression":
        one = field(one, "argument")
    return text_of(one)


def _text(one: Search, text: bytes) -> bytes:
    blank = indent(text, one.first.start_byte)
    step = indent_step(text)
    low, high, middle = (fresh_name(each, text) for each in ("low", "high", "middle"))
    left, right = field(one.limit, "left"), field(one.limit, "right")
    beyond = text_of(right) + (" + 1" if one.inclusive else "")
    if left is not None and text_of(left) != one.variable:  # k + 1 < n
        beyond = f"{beyond} - 1"
    tested = re.sub(rf"\b{one.variable}\b", middle, one.passed)
    kind = one.kind if one.kind != "auto" else "size_t"
    # `k + 1 < n` holds for no k where n is 0, and n - 1 would be very large then.
    nothing = f"{text_of(right)} > {one.start} ? {beyond} : {one.start}"
    lines = [
        f"{kind} {low} = {one.start}, {high} = {nothing};".encode(),
        f"while ({low} < {high}) {{".encode(),
        step + f"const {kind} {middle} = {low} + ({high} - {low}) / 2;".encode(),
        step + f"if ({tested})".encode(),
        step * 2 + f"{low} = {middle} + 1;".encode(),
        step + b"else",
        step * 2 + f"{high} = {middle};".encode(),
        b"}",
    ]
    own = f"{kind} " if one.declares else ""
    if one.exact is None:
        lines.append(f"{own}{one.variable} = {low};".encode())
        return (b"\n" + blank).join(lines)
    limit = text[one.limit.start_byte : one.limit.end_byte]
    exact = text[one.exact.start_byte : one.exact.end_byte]
    lines.append(f"{own}{one.variable} = {low};".encode())
    if one.found is None:
        lines += [b"if (!(" + limit + b" && " + exact + b"))", step + f"{one.variable} = {nothing};".encode()]
    else:
        lines.append(b"if (" + limit + b" && " + exact + b") " + shifted(_found(one, text), step))
    # In a block of its own the names do not meet others.
    return (b"\n" + blank).join([b"{", *(step + each for each in lines), b"}"])


def _found(one: Search, text: bytes) -> bytes:
    found = one.found
    if found is None:
        return b""
    body = text[found.start_byte : found.end_byte]
    last = statements(found)[-1]
    if last.type == "break_statement":
        at = last.start_byte - found.start_byte
        body = body[:at].rstrip() + body[at + last.end_byte - last.start_byte :]
    return body
