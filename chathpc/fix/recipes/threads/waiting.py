"""Waiting: polling with sleeps where a condition variable is there to be waited for, and locks that are held too often."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.program import Program, Spot
from chathpc.fix.recipes.analysis.syntax import bare, children, field, line_of, statements, text_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

_SLEEPS = frozenset({"usleep", "nanosleep", "sleep", "sched_yield", "pthread_yield", "thrd_yield"})


def condition_variables(context: Context, spot: Spot) -> Iterator[Change]:
    """`while (!done) { unlock; sleep; lock; }` waits on the condition variable that is signalled wherever `done` is set."""
    procedure, program = spot.procedure, context.program
    if procedure.is_broken:
        return
    for loop in procedure.all("while_statement"):
        listed = [_call(each) for each in statements(field(loop, "body"))]
        condition = bare(field(loop, "condition"))
        if len(listed) != 3 or any(each is None for each in listed) or condition is None:
            continue
        unlock, sleep, lock = ((text_of(field(each, "function")), text_of(field(each, "arguments"))) for each in listed)
        if (
            unlock[0] != "pthread_mutex_unlock"
            or lock[0] != "pthread_mutex_lock"
            or unlock[1] != lock[1]
            or sleep[0] not in _SLEEPS
        ):
            continue
        mutex = re.fullmatch(r"\(&(\w+(?:->|\.))(\w+)\)", unlock[1])
        if mutex is None:
            continue
        flag = _flag(condition, mutex[1])
        variable = _condition_variable(mutex[2], program)
        if flag is None or variable is None or not _is_always_announced(flag, variable, program):
            continue
        text = spot.source.text
        new = (
            b"while ("
            + text[condition.start_byte : condition.end_byte]
            + f") pthread_cond_wait(&{mutex[1]}{variable}, &{mutex[1]}{mutex[2]});".encode()
        )
        yield Change(
            {spot.source.path: (Edit(loop.start_byte, loop.end_byte, new),)},
            line_of(loop),
            f"waits on the condition variable {variable} instead of sleeping and looking again",
        )


def _call(statement: Node) -> Node | None:
    inner = next(iter(children(statement)), None) if statement.type == "expression_statement" else None
    return inner if inner is not None and inner.type == "call_expression" else None


def _flag(condition: Node, base: str) -> str | None:
    """The member that is waited for: `!c->done` or `c->done == 0`."""
    text = text_of(condition).replace(" ", "")
    match = re.fullmatch(rf"!{re.escape(base)}(\w+)", text) or re.fullmatch(rf"{re.escape(base)}(\w+)==0", text)
    return match[1] if match else None


def _condition_variable(mutex: str, program: Program) -> str | None:
    """The only condition variable in the record that has the mutex."""
    for record in program.records.values():
        if any(one.name == mutex for one in record.fields):
            found = [
                one.name for one in record.fields if one.type == "pthread_cond_t" and not one.dims and not one.pointers
            ]
            return found[0] if len(found) == 1 else None
    return None


def _is_always_announced(flag: str, variable: str, program: Program) -> bool:
    """True if every place that sets the flag to something else than 0 broadcasts in the same block, before the mutex is given back."""
    seen = False
    for one in program.procedures:
        for node in one.all("assignment_expression", "update_expression"):
            target = field(node, "left") or field(node, "argument")
            if target is None or target.type != "field_expression" or text_of(field(target, "field")) != flag:
                continue
            if (
                node.type == "assignment_expression"
                and text_of(field(node, "right")) == "0"
                and text_of(field(node, "operator")) == "="
            ):
                continue
            statement = node.parent
            following = (
                statement.next_named_sibling
                if statement is not None and statement.type == "expression_statement"
                else None
            )
            announced = False
            while following is not None:
                call = _call(following)
                name = text_of(field(call, "function")) if call is not None else ""
                if name == "pthread_cond_broadcast" and re.search(
                    rf"\b{variable}\)\Z", text_of(field(call, "arguments"))
                ):
                    announced = True
                    break
                if name.startswith("pthread_mutex_unlock") or following.type in (
                    "return_statement",
                    "break_statement",
                    "continue_statement",
                    "goto_statement",
                ):
                    break
                following = following.next_named_sibling
            if not announced:
                return False
            seen = True
    return seen and flag not in program.addressed
