"""Output of free-form Fortran that is written before there is need to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import without_line
from chathpc.fix.recipes.analysis.program import Procedure, Spot
from chathpc.fix.recipes.analysis.syntax import line_of, nodes, text_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node


def without_flushes(context: Context, spot: Spot) -> Iterator[Change]:
    """`flush (u)` in loops is left out: what is in the buffers is written when the file is closed or the program ends."""
    procedure, text = spot.procedure, spot.source.text
    everything = "\n".join(text_of(one.node) for one in context.program.procedures)
    if re.search(
        r"\b(?:abort|error\s+stop|execute_command_line|system|fork|inquire\s*\(\s*file\b|sleep|bind\s*\(\s*c)\b",
        everything,
    ):
        return
    edits, first = [], None
    for node in procedure.all("file_position_statement", "subroutine_call"):
        if not re.match(r"(?:call\s+)?flush\b", text_of(node)) or not _is_repeated(node, procedure):
            continue
        edits.append(without_line(node, text, b"continue"))
        first = first or node
    if first is not None:
        yield Change(
            {spot.source.path: tuple(edits)},
            line_of(first),
            "Drop flushes: closing the file or ending the program writes the rest",
        )


def _is_repeated(node: Node, procedure: Procedure) -> bool:
    """True in a loop that opens and reads nothing, or in a procedure, which may be called in one."""
    one, found = node.parent, procedure.node.type != "program"
    while one is not None and one != procedure.node:
        if one.type == "do_loop":
            found = True
            if any(True for _ in nodes(one, "open_statement", "read_statement", "inquire_statement")):
                return False
        one = one.parent
    return found
