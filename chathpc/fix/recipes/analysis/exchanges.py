"""Pointers that lead to memory of their own and only ever change places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.origins import origins, united
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, field, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


def are_exchanged(one: Node, other: Node, procedure: Procedure, program: Program) -> bool:
    """True for two pointers that lead to memory of their own and are only ever exchanged (`w = a; a = b; b = w;`): never the same."""
    if one.type != "identifier" or other.type != "identifier" or text_of(one) == text_of(other):
        return False
    names = [text_of(one), text_of(other)]
    if not all(name in procedure.parameters for name in names):
        return not any(name in procedure.parameters for name in names) and _is_permutation(names, procedure, program)
    if procedure.model.name in program.handed_on or len(program.named(procedure.model.name)) != 1:
        return False
    if not program.named("main") or any(procedure.assigned.get(name, []) for name in names):
        return False
    listed = [each.name for each in procedure.model.parameters]
    places = [listed.index(name) for name in names]
    calls = program.calls.get(procedure.model.name, [])
    for caller, call in calls:
        arguments = children(field(call, "arguments"))
        if max(places) >= len(arguments) or any(arguments[at].type != "identifier" for at in places):
            return False
        handed = [text_of(arguments[at]) for at in places]
        if len(set(handed)) != len(handed) or any(name in caller.parameters for name in handed):
            return False
        if not _is_permutation(handed, caller, program):
            return False
    return bool(calls)


def _is_permutation(names: list[str], procedure: Procedure, program: Program) -> bool:
    """True if local pointers, and those that they are exchanged with, begin with memory of their own and only change places."""
    own = set(names)
    key = procedure.source.path, procedure.node.start_byte
    if key not in program.known_runs:
        program.known_runs[key] = _runs(procedure)
    runs = program.known_runs[key]
    for _ in range(4):
        for run in runs:
            touched = {target for target, _ in run}
            if touched & own:
                own |= {target for target, _ in run} - _temporary(run)
    if any(
        name not in procedure.declarations or name in procedure.addressed or name in procedure.parameters
        for name in own
    ):
        return False
    for run in runs:
        values = {name: name for name in own}
        for target, value in run:
            values[target] = values.get(value, value)
        if sorted(values[name] for name in own) != sorted(own):
            return False
    begun: list[frozenset[str]] = []
    for name in sorted(own):
        made = [each for each in procedure.assigned.get(name, []) if each is None or each.type != "identifier"]
        found = [origins(each, procedure, program) for each in made]
        merged = united(found)
        if not merged or any(merged & each for each in begun):
            return False
        begun.append(merged)
    moved = sum(sum(target in own for target, _ in run) for run in runs)
    named = sum(
        each is not None and each.type == "identifier" for name in own for each in procedure.assigned.get(name, [])
    )
    return moved == named


def _temporary(run: list[tuple[str, str]]) -> set[str]:
    """What holds a pointer only while others are exchanged: it gets its value first and is the last to be read."""
    return {target for target, _ in run[:1]} if len(run) > 1 and run[-1][1] == run[0][0] else set()


def _runs(procedure: Procedure) -> list[list[tuple[str, str]]]:
    """Statements `x = y;` of pointers that stand directly behind each other."""
    found: list[list[tuple[str, str]]] = []
    for block in procedure.all("compound_statement"):
        run: list[tuple[str, str]] = []
        for statement in [*children(block), None]:
            pair = _moved_name(statement, procedure)
            if pair is not None:
                run.append(pair)
            elif run:
                found.append(run)
                run = []
    return found


def _moved_name(statement: Node | None, procedure: Procedure) -> tuple[str, str] | None:
    if statement is None:
        return None
    target: Node | None = None
    value: Node | None = None
    if statement.type == "expression_statement":
        inner = next(iter(children(statement)), None)
        if inner is not None and inner.type == "assignment_expression" and text_of(field(inner, "operator")) == "=":
            target, value = field(inner, "left"), field(inner, "right")
    elif statement.type == "declaration" and len(statement.children_by_field_name("declarator")) == 1:
        declarator = field(statement, "declarator")
        if declarator is not None and declarator.type == "init_declarator":
            target, value = field(declarator, "declarator"), field(declarator, "value")
            while target is not None and target.type == "pointer_declarator":
                target = field(target, "declarator")
    if target is None or value is None or target.type != "identifier" or value.type != "identifier":
        return None
    own = procedure.declarations.get(text_of(target))
    return (text_of(target), text_of(value)) if own is not None and own.pointers else None
