"""Elements of Fortran arrays that one thread adds to while others write next to them: kept in a variable during the loop."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.model import Does, Expr, Function, Kind, Loop
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, line_end, line_start
from chathpc.fix.recipes.analysis.program import Spot
from chathpc.fix.recipes.analysis.syntax import nodes
from chathpc.fix.recipes.fortran.accesses import is_safe, uses
from chathpc.fix.recipes.fortran.loops import do_node, own_text
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node


def kept_in_variables(context: Context, spot: Spot) -> Iterator[Change]:
    """An element that is chosen by the thread's number goes to a variable of the thread's own for the time of the loop."""
    procedure, text, function = spot.procedure, spot.source.text, spot.procedure.model
    if not is_safe(procedure):
        return
    numbers = {
        root.text
        for one in function.statements
        if one.expr is not None and one.expr.kind == Kind.ASSIGN
        for root in (one.expr.parts[0],)
        if root.kind == Kind.NAME and any(each.text == "omp_get_thread_num" for each in one.expr.parts[1].walk())
    }
    done: list[Loop] = []
    for loop in function.loops if numbers else ():
        node = do_node(procedure, loop)
        if node is None or any(one.first <= loop.first and loop.last <= one.last for one in done):
            continue
        if not any(one.first < loop.first and loop.last <= one.last and _opens(one.words) for one in function.regions):
            continue
        if any(own_text(each).startswith("!$omp") for each in nodes(node, "comment")):
            continue
        if uses(function, loop, context.program) is None:
            continue
        for element in _elements(function, loop, numbers):
            edits = _kept(element, node, spot)
            if edits is not None:
                done.append(loop)
                yield Change(
                    {spot.source.path: edits},
                    loop.first,
                    f"keeps {element.written(fortran=True)} in a variable of the thread's own during the loop: others write next to it",
                )
                break
    del text


def _opens(words: str) -> bool:
    """True for a region in which a block may have variables of its own: not for a loop that is shared in the same directive."""
    return re.match(r"parallel\b(?!\s+(?:do|sections|workshare))", words) is not None


def _elements(function: Function, loop: Loop, numbers: set[str]) -> Iterator[Expr]:
    """Elements that the loop adds to, always the same by the same words."""
    seen: set[str] = set()
    inside = [one for one in function.inside(loop.index) if one.expr is not None]
    changing = {one.variable for one in function.loops_in(loop.index)} | {loop.variable}
    changing |= {
        one.expr.parts[0].text
        for one in inside
        if one.expr is not None and one.does == Does.EVALUATE and one.expr.kind == Kind.ASSIGN
    }
    for one in inside:
        if one.does != Does.EVALUATE or one.expr is None or one.expr.kind != Kind.ASSIGN:
            continue
        target = one.expr.parts[0]
        if target.kind != Kind.INDEX or target.base is None or target.base.kind != Kind.NAME or str(target) in seen:
            continue
        seen.add(str(target))
        names = {name for part in target.parts for name in part.names()}
        if (
            not names & numbers
            or names & changing
            or any(part.kind not in (Kind.NAME, Kind.NUMBER) for part in target.parts)
        ):
            continue
        every = [
            each
            for other in inside
            if other.expr is not None
            for each in other.expr.walk()
            if each.kind in (Kind.NAME, Kind.INDEX)
            and (each if each.kind == Kind.NAME else each.base or each).text == target.base.text
        ]
        # An element is walked as itself and as the name of its array.
        elements = [each for each in every if each.kind == Kind.INDEX]
        if all(str(each) == str(target) for each in elements) and len(every) == 2 * len(elements):
            yield target


def _kept(element: Expr, node: Node, spot: Spot) -> tuple[Edit, ...] | None:
    text, function = spot.source.text, spot.procedure.model
    base = element.base.text if element.base is not None else ""
    declared = function.declared(base) or spot.source.file.unit.variables.get(base)
    if declared is None or not declared.type.startswith(("real", "integer", "double")) or not declared.dims:
        return None
    shown = element.written(fortran=True)
    wanted = "".join(shown.split())
    places = [each for each in nodes(node, "call_expression") if "".join(own_text(each).split()) == wanted]
    if not places or _has_extents(function, base):
        return None
    first, last = node, node
    before, after = node.prev_named_sibling, node.next_named_sibling
    if before is not None and before.type == "comment" and re.match(r"!\$omp\s+do\b", own_text(before)):
        first = before
    if after is not None and after.type == "comment" and re.match(r"!\$omp\s+end\s+do\b", own_text(after)):
        last = after
    if before is not None and own_text(before).startswith("!$omp&"):
        return None
    start, blank = line_start(text, first.start_byte), indent(text, node.start_byte).decode()
    end = line_end(text, last.end_byte - 1)
    if text[start : first.start_byte].strip():
        return None
    label = fresh_name(f"own_{base}", text)
    head = f"{blank}block\n{blank}  {declared.type} :: {label}\n{blank}  {label} = {shown}\n"
    return (
        Edit(start, start, head.encode()),
        *(Edit(each.start_byte, each.end_byte, label.encode()) for each in places),
        Edit(end, end, f"{blank}  {shown} = {label}\n{blank}end block\n".encode()),
    )


def _has_extents(function: Function, name: str) -> bool:
    """True for a name that also stands for something else than an array's element: a function's result."""
    return function.returns is not None and function.returns.name == name
