"""Condition variables beside mutexes: their declarations, and the broadcasts of all who change what is waited for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, indent
from chathpc.fix.recipes.analysis.program import Program, Source
from chathpc.fix.recipes.analysis.syntax import bare, children, field, nodes, text_of
from chathpc.fix.recipes.threads.polling import declarations

if TYPE_CHECKING:
    from tree_sitter import Node

LOCK, UNLOCK = "pthread_mutex_lock", "pthread_mutex_unlock"


def called(statement: Node | None) -> tuple[str, str]:
    """The function and the only argument of a statement that calls it."""
    call = bare(statement)
    if call is None or call.type != "call_expression":
        return "", ""
    listed = children(field(call, "arguments"))
    return text_of(field(call, "function")), text_of(listed[0]) if len(listed) == 1 else ""


def told(
    name: str, changed: str, looked_at: frozenset[str], but: Sequence[Node], program: Program
) -> list[tuple[Source, Edit]] | None:
    """A broadcast before each time that the mutex is left where a function changes what is looked at; None where that is not under the
    mutex. What is in the nodes `but` goes.
    """
    found: list[tuple[Source, Edit]] = []
    for home in program.procedures:
        if not any(_names(each) & looked_at for each in home.all("assignment_expression", "update_expression")):
            continue
        leaves = [
            each
            for each in home.all("expression_statement")
            if called(each)[0] == UNLOCK and re.split(r"\.|->|&", called(each)[1])[-1] == name and not _is_in(each, but)
        ]
        if not leaves:
            if any(
                called(each)[0] == "pthread_mutex_init" or "pthread_mutex_init" in text_of(each)
                for each in home.all("call_expression")
            ):
                continue
            return None  # it is set under a mutex that is taken elsewhere, or under none
        if any(each.parent is None or each.parent.type != "compound_statement" for each in leaves):
            return None
        for each in leaves:
            path = called(each)[1][: -len(name)]
            blank = indent(home.source.text, each.start_byte).decode()
            new = f"pthread_cond_broadcast({path}{changed});\n{blank}".encode()
            found.append((home.source, Edit(each.start_byte, each.start_byte, new)))
    return found


def _is_in(node: Node, around: Sequence[Node]) -> bool:
    one: Node | None = node
    while one is not None and one not in around:
        one = one.parent
    return one is not None


def target(change: Node) -> Node | None:
    """What an assignment or a count changes."""
    return field(change, "left") or field(change, "argument")


def _names(change: Node) -> set[str]:
    left = target(change)
    return {text_of(each) for each in nodes(left, "identifier", "field_identifier")} if left is not None else set()


def made(name: str, changed: str, program: Program) -> list[tuple[Source, Edit]] | None:
    """The condition variable beside the mutex, made where that is made; None for a mutex that is made or used in any other way."""
    listed = declarations(name, program)
    if len(listed) != 1:
        return None
    source, node = listed[0]
    parts = node.children_by_field_name("declarator")
    if (
        text_of(field(node, "type")) != "pthread_mutex_t"
        or len(parts) != 1
        or "*" in text_of(parts[0])
        or "[" in text_of(parts[0])
    ):
        return None
    blank = indent(source.text, node.start_byte).decode()
    if node.type == "declaration":
        if (
            node.parent is None
            or node.parent.type != "translation_unit"
            or "PTHREAD_MUTEX_INITIALIZER" not in text_of(node)
        ):
            return None
        before = "static " if text_of(node).startswith("static ") else ""
        new = f"\n{blank}{before}pthread_cond_t {changed} = PTHREAD_COND_INITIALIZER;"
        return (
            [(source, Edit(node.end_byte, node.end_byte, new.encode()))]
            if not text_of(node).startswith("extern")
            else None
        )
    last = [each for each in children(node.parent) if each.type == "field_declaration"][-1]
    found = [(source, Edit(last.end_byte, last.end_byte, f"\n{blank}pthread_cond_t {changed};".encode()))]
    made = 0
    for one in program.sources.values():
        for each in nodes(one.file.tree.root_node, "initializer_pair"):
            if text_of(field(each, "designator")) == f".{name}":
                made += 1
                new = f", .{changed} = PTHREAD_COND_INITIALIZER"
                found.append((one, Edit(each.end_byte, each.end_byte, new.encode())))
        for each in nodes(one.file.tree.root_node, "expression_statement"):
            call = bare(each)
            does = text_of(field(call, "function"))
            if does not in ("pthread_mutex_init", "pthread_mutex_destroy"):
                continue
            first = text_of(next(iter(children(field(call, "arguments"))), None))
            if re.split(r"\.|->|&", first)[-1] != name:
                continue
            if each.parent is None or each.parent.type != "compound_statement":
                return None
            made += does.endswith("init")
            path, more = first[: -len(name)], ", NULL" if does.endswith("init") else ""
            new = (
                f"\n{indent(one.text, each.start_byte).decode()}{does.replace('mutex', 'cond')}({path}{changed}{more});"
            )
            found.append((one, Edit(each.end_byte, each.end_byte, new.encode())))
    others = rb"\bpthread_mutex_t\s+\w+\s*=\s*PTHREAD_MUTEX_INITIALIZER|pthread_mutex_init\s*\([^,;]*\b(?!%s\b)\w+\s*,"
    bare_texts = (re.sub(others % name.encode(), b"", one.text) for one in program.sources.values())
    makers = sum(len(re.findall(rb"PTHREAD_MUTEX_INITIALIZER|pthread_mutex_init\b", each)) for each in bare_texts)
    return found if made and made == makers else None
