"""Texts that are put together piece by piece in C: the end is kept instead of being looked for each time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, line_start
from chathpc.fix.recipes.analysis.loops import around
from chathpc.fix.recipes.analysis.program import Procedure, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, inside, line_of, text_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.invariants import before_loop

if TYPE_CHECKING:
    from tree_sitter import Node

_APPENDING = frozenset({"strcat", "std::strcat"})


def kept_ends(context: Context, spot: Spot) -> Iterator[Change]:
    """`strcat(out, part)` in a loop copies to the end of the text, which a pointer keeps from one call to the next."""
    procedure, text = spot.procedure, spot.source.text
    if procedure.is_broken or "strcat" in context.program.macros or context.program.named("strcat"):
        return
    done: set[str] = set()
    for call in procedure.all("call_expression"):
        target = next(iter(children(field(call, "arguments"))), None)
        loops = list(around(call, procedure))
        if (
            text_of(field(call, "function")) not in _APPENDING
            or target is None
            or target.type != "identifier"
            or not loops
        ):
            continue
        name = text_of(target)
        loop = _widest(name, loops, procedure)
        if loop is None or name in done:
            continue
        end, append = fresh_name(f"{name}_end", text), fresh_name("append_text", text)
        begun = before_loop(loop, f"char *{end} = {name} + strlen({name});".encode(), text)
        if not begun:
            continue
        calls = [each for each in procedure.all("call_expression") if _appends(each, name) and inside(each, loop)]
        done.add(name)
        at = line_start(text, procedure.node.start_byte)
        edits = [Edit(at, at, _HELPER.replace(b"append_text", append.encode())), *begun]
        for each in calls:
            called, first = field(each, "function"), next(iter(children(field(each, "arguments"))))
            if called is not None:
                edits.append(Edit(called.start_byte, called.end_byte, f"{end} = {append}".encode()))
                edits.append(Edit(first.start_byte, first.end_byte, end.encode()))
        yield Change(
            {spot.source.path: tuple(edits)},
            line_of(call),
            f"Track the end of {name} instead of searching for it in each strcat",
        )


def _widest(name: str, loops: list[Node], procedure: Procedure) -> Node | None:
    """The outermost of the loops in which the text is only appended to."""
    own = procedure.declarations.get(name)
    if own is None or own.type != "char" or own.pointers + len(own.dims) != 1 or name in procedure.addressed:
        return None
    best = None
    for loop in loops:
        uses = [each for each in procedure.identifiers.get(name, ()) if inside(each, loop)]
        if not all(_is_appended_to(each, name) for each in uses):
            break
        best = loop
    return best


def _is_appended_to(node: Node, name: str) -> bool:
    call = node.parent.parent if node.parent is not None and node.parent.type == "argument_list" else None
    return call is not None and _appends(call, name)


def _appends(call: Node, name: str) -> bool:
    """True for `strcat(name, part);` as a statement, where the part has nothing of the text."""
    listed = children(field(call, "arguments"))
    return (
        text_of(field(call, "function")) in _APPENDING
        and len(listed) == 2
        and text_of(listed[0]) == name
        and name not in text_of(listed[1])
        and call.parent is not None
        and call.parent.type == "expression_statement"
    )


_HELPER = b"""static char *append_text(char *end, const char *part) {
  const size_t length = strlen(part);
  memcpy(end, part, length + 1);
  return end + length;
}

"""
