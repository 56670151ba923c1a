"""Files that loops of free-form Fortran open again and again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, indent, line_end, line_start, without_line
from chathpc.fix.recipes.analysis.program import Procedure, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, nodes
from chathpc.fix.recipes.fortran.kept_files import kept_open
from chathpc.fix.recipes.fortran.loops import control, own_text
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node


def opened_once(context: Context, spot: Spot) -> Iterator[Change]:
    """A file that every iteration opens to append, writes and closes is opened before the loop and closed behind it; one that every call
    of a subroutine opens stays open.
    """
    procedure, text = spot.procedure, spot.source.text
    for loop in procedure.all("do_loop"):
        if control(loop) is None:
            continue
        listed = [each for each in children(loop)[1:] if each.type not in ("end_do_loop_statement",)]
        opens = [each for each in listed if each.type == "open_statement"]
        closes = [each for each in listed if each.type == "close_statement"]
        if (
            len(opens) != 1
            or len(closes) != 1
            or any(
                True for _ in nodes(loop, "subroutine_call", "read_statement", "keyword_statement", "inquire_statement")
            )
        ):
            continue
        if sum(1 for _ in nodes(loop, "open_statement", "close_statement")) != 2:
            continue
        words = own_text(opens[0]).replace(" ", "")
        unit = re.search(r"newunit=(\w+)", words)
        if (
            unit is None
            or ("position='append'" not in words and 'position="append"' not in words)
            or "status=" in words
            or "iostat" in words
            or "err=" in words
        ):
            continue
        if own_text(closes[0]).replace(" ", "") not in (f"close({unit[1]})", f"close(unit={unit[1]})"):
            continue
        writes = list(nodes(loop, "write_statement"))
        if not writes or any(
            not own_text(each).replace(" ", "").startswith((f"write({unit[1]},", f"write(unit={unit[1]},"))
            for each in writes
        ):
            continue
        changing = {own_text(field(each, "left")) for each in nodes(loop, "assignment_statement")} | {
            own_text(children(control(loop) or loop)[0])
        }
        names = {own_text(each) for each in nodes(opens[0], "identifier")} - {
            unit[1],
            "newunit",
            "file",
            "position",
            "action",
            "form",
        }
        if names & changing or children(loop)[1:][0] == closes[0]:
            continue
        if not listed.index(opens[0]) < min(
            at for at, each in enumerate(listed) if any(True for _ in nodes(each, "write_statement"))
        ) or listed.index(closes[0]) < max(
            at for at, each in enumerate(listed) if any(True for _ in nodes(each, "write_statement"))
        ):
            continue
        start, blank = line_start(text, loop.start_byte), indent(text, loop.start_byte)
        end = line_end(text, loop.end_byte - 1)
        edits = [
            Edit(line_start(text, each.start_byte), line_end(text, each.end_byte - 1), b"")
            for each in (opens[0], closes[0])
        ]
        edits += [
            Edit(start, start, blank + text[opens[0].start_byte : opens[0].end_byte].strip() + b"\n"),
            Edit(end, end, blank + text[closes[0].start_byte : closes[0].end_byte].strip() + b"\n"),
        ]
        yield Change(
            {spot.source.path: tuple(edits)},
            line_of(opens[0]),
            "opens the file once for all records instead of once a record",
        )
    yield from kept_open(context, spot)


def without_flushes(context: Context, spot: Spot) -> Iterator[Change]:
    """`flush (u)` in loops is left out: what is in the buffers is written when the file is closed or the program ends."""
    procedure, text = spot.procedure, spot.source.text
    everything = "\n".join(own_text(one.node) for one in context.program.procedures)
    if re.search(
        r"\b(?:abort|error\s+stop|execute_command_line|system|fork|inquire\s*\(\s*file\b|sleep|bind\s*\(\s*c)\b",
        everything,
    ):
        return
    edits, first = [], None
    for node in procedure.all("file_position_statement", "subroutine_call"):
        if not re.match(r"(?:call\s+)?flush\b", own_text(node)) or not _is_repeated(node, procedure):
            continue
        edits.append(without_line(node, text, b"continue"))
        first = first or node
    if first is not None:
        yield Change(
            {spot.source.path: tuple(edits)},
            line_of(first),
            "leaves out flushes: closing the file and the end of the program write what is left",
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
