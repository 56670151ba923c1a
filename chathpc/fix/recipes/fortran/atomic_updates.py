"""Critical sections of free-form Fortran that hold nothing but updates of numbers: each update becomes an atomic one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, indent, line_end, line_start
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, nodes, text_of
from chathpc.fix.recipes.fortran.accesses import INTRINSICS, is_safe, pure_function
from chathpc.fix.recipes.fortran.loops import own_text
from chathpc.fix.recipes.fortran.regions import Target, are_unwatched, declared, is_own
from chathpc.fix.recipes.fortran.statements import arguments, called, is_only_statement, squeezed
from chathpc.fix.recipes.recipe import Change, Context, Semantics

if TYPE_CHECKING:
    from tree_sitter import Node

_CRITICAL = re.compile(r"!\$omp\s+critical\s*(?:\(\s*(\w+)\s*\))?(?:\s*,?\s*hint\s*\(.*\))?\s*")
_TYPE = re.compile(r"(?:real|integer|doubleprecision)(?:\((?:kind=)?(\w+)\)|\*(\d+))?")
#: Kinds that are not updated at once, or are promoted in between.
_ODD = re.compile(r"1|2|10|16|\w*(?:int8|int16|real128|quad)|[iq]1|i2|qp")
_CHOSEN = ("max", "min", "iand", "ior", "ieor")


@dataclass(frozen=True, slots=True, eq=False)
class Update:
    """`x = x + e` or `x = max(x, e)`: what is updated, where it stands again on the right, by what, and with which operator."""

    statement: Node
    target: Node
    again: Node
    operator: str
    value: Node


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A critical section: its two directives and the updates between."""

    procedure: Procedure
    first: Node
    last: Node
    name: str
    updates: tuple[Update, ...]


def atomic_elements(context: Context, spot: Spot) -> Iterator[Change]:
    """Sections that update elements of arrays: threads seldom mean the same one."""
    program = context.program
    found = _sections(program) if spot.procedure.model.regions else None
    if found is None or program.unread:
        return
    for name in dict.fromkeys(one.name for one in found if one.procedure is spot.procedure):
        group = [one for one in found if one.name == name]
        updates = [(one.procedure, each) for one in group for each in one.updates]
        if not all(one.updates for one in group) or not all(_is_number(each, home, program) for home, each in updates):
            continue
        if not any(_is_element(each.target) for _, each in updates):
            continue
        exact = all(_is_exact(each, home, program) for home, each in updates)
        if not exact and not context.may_round:
            continue
        targets = [target_of(place, home) for home, each in updates for place in (each.target, each.again)]
        if not are_unwatched(targets, program):
            continue
        edits = _edits(group)
        if edits is None:
            continue
        first = next(one for one in group if one.procedure is spot.procedure)
        semantics: Semantics = "exact" if exact else "reassociates floating point"
        shown = ", ".join(dict.fromkeys(text_of(each.target) for each in first.updates))
        yield Change(
            edits,
            line_of(first.first),
            f"updates {shown} by atomic operations instead of in a critical section",
            semantics,
        )


def _sections(program: Program) -> list[Section] | None:
    """All critical sections of the program, those with anything but updates without any; None where one may be hidden."""
    found: list[Section] = []
    written = 0
    for source in program.sources.values():
        written += len(re.findall(rb"^[ \t]*!\$omp\s+critical\b", source.text, re.IGNORECASE | re.MULTILINE))
    for procedure in program.procedures:
        if not procedure.source.is_fortran:
            continue
        for node in procedure.all("comment"):
            match = _CRITICAL.fullmatch(own_text(node))
            if match is None or not is_own(node, procedure):
                continue
            if not is_safe(procedure):
                return None
            between: list[Node] = []
            one = node.next_named_sibling
            while one is not None and not re.match(r"!\$omp\s*end\s*critical\b", own_text(one)):
                between.append(one)
                one = one.next_named_sibling
            if one is None:
                return None
            updates = _updates(between) if all(_only_computes(each, procedure, program) for each in between) else None
            found.append(Section(procedure, node, one, match[1] or "", tuple(updates or ())))
    return found if len(found) == written else None


def _updates(statements: Sequence[Node]) -> list[Update] | None:
    """All that the statements do, where that is updates and conditions around them."""
    found: list[Update] = []
    todo = list(reversed(statements))
    while todo:
        node = todo.pop()
        if node.type in ("if_statement", "elseif_clause", "else_clause"):
            todo.extend(each for each in reversed(node.named_children) if each.type != "parenthesized_expression")
        elif node.type != "end_if_statement" and (node.type != "comment" or own_text(node).startswith("!$")):
            one = _update(node)
            if one is None:
                return None
            found.append(one)
    return found


def _only_computes(statement: Node, procedure: Procedure, program: Program) -> bool:
    """True if the statement calls nothing but functions that only compute."""
    for node in nodes(statement, "call_expression"):
        base = next(iter(children(node)), None)
        name = text_of(children(base)[-1] if base is not None and base.type != "identifier" else base).lower()
        member = base is not None and base.type == "derived_type_member_expression"
        if base is None or not (member or base.type == "identifier"):
            return False
        known = declared(Target(procedure, node, name, member), program)
        if known is not None and known.dims:
            continue
        if member or (name not in INTRINSICS and pure_function(name, program) is None):
            return False
    return True


def _update(statement: Node) -> Update | None:
    if statement.type != "assignment_statement":
        return None
    target, value = field(statement, "left"), field(statement, "right")
    if target is None or value is None:
        return None
    own = squeezed(target)
    if value.type == "math_expression":
        left, right = field(value, "left"), field(value, "right")
        sign = text_of(field(value, "operator"))
        if left is None or right is None or sign not in ("+", "-", "*"):
            return None
        if squeezed(left) == own:
            return Update(statement, target, left, sign, right)
        return Update(statement, target, right, sign, left) if squeezed(right) == own and sign != "-" else None
    if value.type == "call_expression" and called(value) in _CHOSEN:
        listed = arguments(value)
        if len(listed) == 2 and [squeezed(each) for each in listed].count(own) == 1:
            again, other = listed if squeezed(listed[0]) == own else reversed(listed)
            if other.type != "keyword_argument":
                return Update(statement, target, again, called(value), other)
    return None


def _is_element(target: Node) -> bool:
    """True for an element whose index is no constant."""
    return target.type == "call_expression" and any(
        True for each in arguments(target) for _ in nodes(each, "identifier")
    )


def target_of(target: Node, procedure: Procedure) -> Target:
    """What is updated: the last component or the variable, and where it stands."""
    base: Node | None = next(iter(children(target)), None) if target.type == "call_expression" else target
    member = base is not None and base.type == "derived_type_member_expression"
    name = children(base)[-1] if member else base
    return Target(procedure, target, text_of(name).lower(), member)


def _is_number(one: Update, procedure: Procedure, program: Program) -> bool:
    """True for a scalar or one element of a type that is updated as it is, with an index and a value that only compute."""
    target = target_of(one.target, procedure)
    known = declared(target, program)
    listed = arguments(one.target) if one.target.type == "call_expression" else []
    match = _TYPE.fullmatch(known.type) if known is not None else None
    if known is None or match is None or len(known.dims) != len(listed) or _ODD.fullmatch(match[1] or match[2] or "4"):
        return False
    text = procedure.source.text.decode("utf-8", "replace")
    if not known.dims and re.search(rf"\ballocatable\b[^\n]*\b{target.name}\b", text, re.IGNORECASE):
        return False
    for each in listed:
        for node in nodes(each, "extent_specifier", "identifier", "array_literal"):
            if node.type != "identifier":
                return False
            inner = declared(Target(procedure, node, text_of(node).lower(), False), program)
            is_base = (
                node.parent is not None and node.parent.type == "call_expression" and children(node.parent)[0] == node
            )
            if inner is not None and inner.dims and not is_base:
                return False
    return True


def _is_exact(one: Update, procedure: Procedure, program: Program) -> bool:
    known = declared(target_of(one.target, procedure), program)
    if one.operator in _CHOSEN:
        return True
    if (
        known is None
        or not known.type.startswith("integer")
        or any(not text_of(each).isdigit() for each in nodes(one.value, "number_literal"))
    ):
        return False
    names = [
        declared(Target(procedure, each, text_of(each).lower(), each.type == "type_member"), program)
        for each in nodes(one.value, "identifier", "type_member")
        if text_of(each).lower() not in INTRINSICS
    ]
    return all(each is not None and each.type.startswith(("integer", "type(")) for each in names)


def _edits(group: Sequence[Section]) -> dict[str, tuple[Edit, ...]] | None:
    """The directives go, and each update gets its own."""
    edits: dict[str, tuple[Edit, ...]] = {}
    for one in group:
        text = one.procedure.source.text
        mine: list[Edit] = []
        for node in (one.first, one.last):
            start, end = line_start(text, node.start_byte), line_end(text, node.end_byte - 1)
            if text[start : node.start_byte].strip():
                return None
            mine.append(Edit(start, end, b""))
        for each in one.updates:
            statement = each.statement
            start, end = line_start(text, statement.start_byte), line_end(text, statement.end_byte - 1)
            rest = text[statement.end_byte : end].strip()
            if rest and not rest.startswith(b"!"):
                return None
            blank = indent(text, statement.start_byte)
            if not is_only_statement(statement):
                if text[start : statement.start_byte].strip():
                    return None
                mine.append(Edit(start, start, blank + b"!$omp atomic\n"))
                continue
            condition = statement.prev_named_sibling
            if condition is None or condition.type != "parenthesized_expression":
                return None
            head = b" then\n" + blank + b"  !$omp atomic\n" + blank + b"  "
            mine.append(Edit(condition.end_byte, statement.start_byte, head))
            mine.append(Edit(statement.end_byte, statement.end_byte, b"\n" + blank + b"end if"))
        path = one.procedure.source.path
        edits[path] = (*edits.get(path, ()), *mine)
    return edits
