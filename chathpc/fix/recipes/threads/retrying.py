"""Functions that look once under a mutex and are called again after a sleep: they wait on a condition variable instead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, without_line
from chathpc.fix.recipes.analysis.program import Procedure, Program, Source, Spot
from chathpc.fix.recipes.analysis.syntax import (
    bare,
    children,
    enclosing,
    field,
    inside,
    line_of,
    nodes,
    statements,
    text_of,
)
from chathpc.fix.recipes.analysis.types import type_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.threads.announcing import LOCK, UNLOCK, called, made, target, told
from chathpc.fix.recipes.threads.polling import ELSEWHERE, SLEEPS

if TYPE_CHECKING:
    from tree_sitter import Node

_INVERSE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
#: Conditions by which a loop goes on at 0.
_GOES_ON = ((">=", "0"), ("!=", "-1"), (">", "-1"))
_DONE = r"(?:-?\s*[1-9]\d*|true)"
_ACTS = ("call_expression", "assignment_expression", "update_expression")
_LOOPS = frozenset({"while_statement", "for_statement", "do_statement"})


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A function that returns 0 at once where nothing can be done: the mutex, when it has to wait, and the statement that gives up."""

    procedure: Procedure
    lock: Node
    mutex: str
    until: str
    looked_at: frozenset[str]
    gives_up: Node | None


def waiting_inside(context: Context, spot: Spot) -> Iterator[Change]:
    """`while (!put(x)) usleep(…)` calls once: the function itself waits until there is room, and whoever makes room tells."""
    program = context.program
    if program.unread or any(ELSEWHERE.search(one.text) or one.is_cpp for one in program.sources.values()):
        return
    trials = [one for each in program.procedures if (one := _trial(each, program)) is not None]
    trials = [one for one in trials if _retries(one, program)]
    mutexes = {one.mutex for one in trials if _concerns(one, spot, program)}
    for mutex in sorted(mutexes):
        group = [one for one in trials if one.mutex == mutex]
        edits = _edits(mutex, group, program)
        if edits is not None:
            names = ", ".join(one.procedure.model.name for one in group)
            yield Change(
                edits,
                line_of(group[0].lock),
                f"waits on a condition variable in {names} instead of sleeping and calling again",
            )


def _concerns(one: Trial, spot: Spot, program: Program) -> bool:
    return one.procedure is spot.procedure or any(
        home is spot.procedure for home, _ in program.calls.get(one.procedure.model.name, [])
    )


def _trial(one: Procedure, program: Program) -> Trial | None:
    listed = statements(one.body)
    locks = [each for each in listed if called(each)[0] == LOCK]
    if one.is_broken or len(locks) != 1 or one.model.name in program.handed_on or not listed:
        return None
    at = listed.index(locks[0])
    if any(each.type != "declaration" or any(True for _ in nodes(each, *_ACTS)) for each in listed[:at]):
        return None  # that would be done again at every look
    mutex = re.fullmatch(r"&([\w.]+|\w+->\w+)", called(locks[0])[1])
    if (
        mutex is None
        or at + 1 >= len(listed)
        or listed[at + 1].type != "if_statement"
        or listed[-1].type != "return_statement"
    ):
        return None
    first = listed[at + 1]
    arms = [text_of(each) for each in statements(field(first, "consequence"))]
    if (
        re.sub(r"\s", "", "".join(arms)) == f"{UNLOCK}({called(locks[0])[1]});return0;"
        and field(first, "alternative") is None
    ):
        conditions, until, gives_up = [bare(field(first, "condition"))], text_of(bare(field(first, "condition"))), first
        returns = [each for each in one.all("return_statement") if not inside(each, first)]
        if not all(re.fullmatch(rf"return\s+{_DONE}\s*;", text_of(each)) for each in returns):
            return None
    else:
        chain = _chain(first, listed, at, one)
        if chain is None:
            return None
        conditions, gives_up = list(chain), None
        until = " && ".join(_inverse(each, one, program) for each in chain)
    if any(each is None or any(True for _ in nodes(each, *_ACTS, "pointer_expression")) for each in conditions):
        return None
    names = {
        text_of(each)
        for cond in conditions
        if cond is not None
        for each in nodes(cond, "identifier", "field_identifier")
        if each.parent is None or each.parent.type != "field_expression" or field(each.parent, "field") == each
    }
    own = {each for each in names if each in one.declarations}
    changed = {text_of(target(each)) for each in one.all("assignment_expression", "update_expression")}
    if own - one.parameters or own & changed or own & one.addressed:
        return None
    looked_at = frozenset(each for each in names - own if not each.isupper())
    if not looked_at or looked_at & program.addressed or len(program.named(one.model.name)) != 1:
        return None
    return Trial(one, locks[0], mutex[1], until, looked_at, gives_up)


def _chain(first: Node, listed: list[Node], at: int, one: Procedure) -> list[Node] | None:
    """The conditions of `if … else if …` without an end, each of whose arms sets what is returned, and is 0 without."""
    result = text_of(next(iter(children(listed[-1])), None))
    started = [each for each in one.all("init_declarator") if text_of(field(each, "declarator")) == result]
    if len(started) != 1 or text_of(field(started[0], "value")) not in ("0", "false") or len(listed) != at + 4:
        return None
    if called(listed[at + 2]) != (UNLOCK, called(listed[at])[1]):
        return None
    found, arms = [], 0
    node: Node | None = first
    while node is not None:
        condition = bare(field(node, "condition"))
        sets = [
            each
            for each in statements(field(node, "consequence"))
            if re.fullmatch(rf"{result}\s*=\s*{_DONE}\s*;", text_of(each))
        ]
        if condition is None or len(sets) != 1:
            return None
        found.append(condition)
        arms += 1
        other = field(node, "alternative")
        node = next(iter(children(other)), None) if other is not None else None
        if node is not None and node.type != "if_statement":
            return None
    changed = [
        each
        for each in one.all("assignment_expression", "update_expression")
        if text_of(field(each, "left") or field(each, "argument")) == result
    ]
    return found if len(changed) == arms and result not in one.addressed else None


def _inverse(condition: Node, one: Procedure, program: Program) -> str:
    sides = [type_of(field(condition, each), one, program) for each in ("left", "right")]
    sign = text_of(field(condition, "operator"))
    is_whole = all(each is not None and each.is_integer for each in sides)
    if condition.type == "binary_expression" and sign in _INVERSE and (is_whole or sign in ("==", "!=")):
        return f"{text_of(field(condition, 'left'))} {_INVERSE[sign]} {text_of(field(condition, 'right'))}"
    shown = text_of(condition)
    return f"!{shown}" if condition.type in ("identifier", "field_expression") else f"!({shown})"


def _retries(one: Trial, program: Program) -> list[tuple[Source, Edit]] | None:
    """All calls of the function without what calls it again; None where one is content with 0."""
    calls = program.calls.get(one.procedure.model.name, [])
    found: list[tuple[Source, Edit]] = []
    for home, call in calls:
        edit = None if home.is_broken else _retry(call, home)
        if edit is None:
            return None
        found.append((home.source, edit))
    return found or None


def _retry(call: Node, home: Procedure) -> Edit | None:
    text, around = home.source.text, call.parent
    if any(True for each in children(field(call, "arguments")) for _ in nodes(each, *_ACTS)):
        return None  # that would be done once only
    if around is not None and around.type == "unary_expression":  # while (!put(x)) usleep(9);
        loop = enclosing(around, _LOOPS | {"if_statement"}, home.node)
        if loop is None or loop.type != "while_statement" or bare(field(loop, "condition")) != around:
            return None
        if text_of(field(around, "operator")) != "!" or not _only_sleeps(statements(field(loop, "body"))):
            return None
        return Edit(loop.start_byte, loop.end_byte, text_of(call).encode() + b";")
    if around is None or around.type != "assignment_expression" or text_of(field(around, "operator")) != "=":
        return None
    result = text_of(field(around, "left"))  # while ((r = take(&v)) >= 0) { if (r == 0) { usleep(9); continue; } … }
    loop = enclosing(around, _LOOPS, home.node)
    condition = bare(field(loop, "condition"))
    if loop is None or loop.type != "while_statement" or condition is None or bare(field(condition, "left")) != around:
        return None
    first = next(iter(statements(field(loop, "body"))), None)
    if first is None or first.type != "if_statement" or field(first, "alternative") is not None:
        return None
    *sleeps, last = statements(field(first, "consequence")) or [first]
    asked = re.sub(r"\s", "", text_of(bare(field(first, "condition"))))
    if asked not in (f"{result}==0", f"!{result}") or last.type != "continue_statement" or not _only_sleeps(sleeps):
        return None
    if (text_of(field(condition, "operator")), text_of(field(condition, "right"))) not in _GOES_ON:
        return None
    return without_line(first, text)


def _only_sleeps(listed: list[Node]) -> bool:
    return len(listed) == 1 and text_of(field(bare(listed[0]), "function")) in SLEEPS


def _edits(mutex: str, group: list[Trial], program: Program) -> dict[str, tuple[Edit, ...]] | None:
    everything = b"\n".join(source.text for source in program.sources.values())
    name = re.split(r"\.|->", mutex)[-1]
    changed = fresh_name("changed", everything)
    found: list[tuple[Source, Edit]] = list(made(name, changed, program) or ())
    if not found:
        return None
    for one in group:
        retries = _retries(one, program)
        source, blank = one.procedure.source, indent(one.procedure.source.text, one.lock.start_byte).decode()
        if retries is None:
            return None
        waits = f"while ({one.until}) pthread_cond_wait(&{mutex[: -len(name)]}{changed}, &{mutex});"
        place = Edit(one.lock.end_byte, one.lock.end_byte, f"\n{blank}{waits}".encode())
        if one.gives_up is not None:
            place = Edit(one.gives_up.start_byte, one.gives_up.end_byte, waits.encode())
        found += [*retries, (source, place)]
    looked_at = frozenset[str]().union(*(one.looked_at for one in group))
    more = told(name, changed, looked_at, [one.gives_up for one in group if one.gives_up is not None], program)
    if more is None:
        return None
    found += more
    edits: dict[str, tuple[Edit, ...]] = {}
    for source, edit in found:
        edits[source.path] = (*edits.get(source.path, ()), edit)
    return edits
