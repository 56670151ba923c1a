"""Waiting: polling with sleeps where a condition variable is there to be waited for, and locks that are held too often."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import bare, children, field, line_of, nodes, statements, text_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.threads.announcing import made, told
from chathpc.fix.recipes.threads.polling import ELSEWHERE

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
        made_up = _with_a_new_one(loop, condition, unlock[1], procedure, program)
        if made_up is not None:
            yield made_up
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


def _with_a_new_one(loop: Node, condition: Node, mutex: str, procedure: Procedure, program: Program) -> Change | None:
    """The loop waits on a condition variable that is made beside the mutex, in a program in C that has none; whoever changes under the
    mutex what is looked at broadcasts it.
    """
    path = re.fullmatch(r"\(&((?:\w+(?:->|\.))*)(\w+)\)", mutex)
    texts = [one.text for one in program.sources.values()]
    if path is None or program.unread or any(ELSEWHERE.search(each) or b"pthread_cond_t" in each for each in texts):
        return None
    if any(one.is_cpp for one in program.sources.values()):
        return None
    if any(
        True
        for _ in nodes(condition, "call_expression", "assignment_expression", "update_expression", "pointer_expression")
    ):
        return None
    names = {
        text_of(each)
        for each in nodes(condition, "identifier", "field_identifier")
        if each.parent is None or each.parent.type != "field_expression" or field(each.parent, "field") == each
    }
    own = {each for each in names if each in procedure.declarations}
    looked_at = frozenset(each for each in names - own if not each.isupper())
    changed = fresh_name("changed", b"\n".join(texts))
    if not looked_at or own & procedure.addressed or looked_at & program.addressed:
        return None
    new, tells = made(path[2], changed, program), told(path[2], changed, looked_at, [loop], program)
    if not new or not tells:
        return None
    waits = f"while ({text_of(condition)}) pthread_cond_wait(&{path[1]}{changed}, &{path[1]}{path[2]});"
    edits: dict[str, tuple[Edit, ...]] = {}
    for source, edit in (*new, *tells, (procedure.source, Edit(loop.start_byte, loop.end_byte, waits.encode()))):
        edits[source.path] = (*edits.get(source.path, ()), edit)
    return Change(edits, line_of(loop), "waits on a condition variable instead of sleeping and looking again")


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
