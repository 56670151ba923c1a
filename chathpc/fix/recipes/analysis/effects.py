"""What statements do, with what functions of the program do that they call, where these change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis import c_accesses, fortran_accesses
from chathpc.fix.recipes.analysis.accesses import Effects
from chathpc.fix.recipes.analysis.program import Procedure, Program

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 4


def effects(node: Node, procedure: Procedure, program: Program, depth: int = 0) -> Effects:
    """What the statement or expression does, with what functions of the program do that it calls, where these are pure."""
    key = procedure.node.start_byte, procedure.source.path, node.start_byte, node.end_byte, node.type, depth > 0
    if key in program.known_effects:
        return program.known_effects[key]
    found = Effects()
    if procedure.unstable:
        found.opaque.append("volatile, atomic, or memory with several names")
    step = fortran_accesses.step if procedure.source.is_fortran else c_accesses.step
    todo: list[tuple[Node, str]] = [(node, "read")]
    while todo:
        one, mode = todo.pop()
        todo.extend(reversed(step(one, mode, found, procedure, program)))
    for call, callee in found.callees:
        if callee is procedure and depth:  # a function that calls itself does what the rest of it does
            found.pure_calls.append(call)
            continue
        inner = summary(callee, program, depth + 1) if depth < _DEEPEST else None
        if inner is None:
            found.calls.append(call)
        else:
            found.pure_calls.append(call)
            found.accesses.extend(inner.accesses)
    if depth < _DEEPEST:
        program.known_effects[key] = found
    return found


def summary(callee: Procedure, program: Program, depth: int = 0) -> Effects | None:
    """What a function reads of the world, if it changes nothing and always comes back by itself; None otherwise.

    Its own variables are left out. A loop that may not end is a loop that the caller's iterations would have met as well.
    """
    body = callee.node if callee.source.is_fortran else callee.body
    if callee.is_broken or body is None or callee.model.returns is None or callee.model.name in ("main",):
        return None
    if callee.model.marks & {"virtual"} or any(one.static for one in callee.model.declarations):
        return None
    inner = effects(body, callee, program, max(depth, 1))
    if not inner.is_known or inner.jumps & {"goto", "throw", "label"} or inner.pragmas:
        return None
    local = fortran_accesses.is_local if callee.source.is_fortran else c_accesses.is_local
    if not all(local(one, inner) for one in inner.writes):
        return None
    outward = [one for one in inner.accesses if not one.write and not (one.procedure is callee and local(one, inner))]
    return Effects(accesses=outward, pure_calls=inner.pure_calls)
