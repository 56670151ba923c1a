"""Files that are opened and closed for each record, or for each question: they stay open from one to the next (C and C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, line_start, without_statement
from chathpc.fix.recipes.analysis.heads import included
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import C_LOOPS, children, enclosing, field, inside, line_of, nodes, text_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.buffers import calls_itself
from chathpc.fix.recipes.serial.file_uses import (
    constant_path,
    is_followed,
    mentions,
    reaching,
    statement_of,
    uses_beside,
)
from chathpc.fix.recipes.serial.placing import place_of_functions
from chathpc.fix.recipes.serial.streams import FORMAT, is_repeated, opened_once

if TYPE_CHECKING:
    from tree_sitter import Node

_FLAGS = r"(?:(?:std::)?(?:ios|ios_base|[io]fstream)::(?:app|out|in|binary)(?:\s*\|\s*)?)+"
_OPENED = re.compile(rf"(?:std::)?([io])fstream\s+(\w+)\s*[({{]\s*(.+?)\s*(?:,\s*({_FLAGS}))?\s*[)}}]\s*;", re.DOTALL)
_BLOCKS = frozenset({"compound_statement"})
#: What a stream that was used before answers, or takes, otherwise than a new one.
_PLACES = re.compile(
    r"\b(?:tellp|seekp|ftello?|fseeko?|rewind|f[gs]etpos|setv?buf|setbuffer|setlinebuf|gcount|ungetc|unget|putback)\b"
)


@dataclass(frozen=True, slots=True)
class Opening:
    """A local stream: its declaration (or assignment), name, path, mode as written, and whether it is read or appended to."""

    node: Node
    call: Node | None  #: the call of `fopen`; None for a stream of C++
    name: str
    path: str
    mode: str
    reads: bool
    block: Node
    closing: tuple[Node, ...]


def kept_open(context: Context, spot: Spot) -> Iterator[Change]:
    """A file that is opened for each record to append, or to read a part of it, stays open until it is used otherwise."""
    done = list(opened_once(context, spot))
    yield from done
    procedure, program = spot.procedure, context.program
    if (
        done
        or procedure.body is None
        or procedure.is_broken
        or calls_itself(procedure, program)
        or not is_followed(program)
    ):
        return
    if any(True for _ in procedure.all("lambda_expression", "goto_statement")):
        return
    for node in procedure.all("declaration", "expression_statement"):
        one = _opening(node, procedure, program)
        if one is None or not is_repeated(procedure, program, node) or not _stays(one, procedure):
            continue
        before = _used_between(one, procedure, program)
        place = place_of_functions(spot.source)
        if before is None or place is None:
            continue
        edits = _of_c(one, before, place, spot) if one.call is not None else _of_cpp(one, before, place, spot)
        what = "each time that it is read" if one.reads else "for each record"
        yield Change(
            {spot.source.path: tuple(edits)},
            line_of(node),
            f"keeps the file that {procedure.model.name} opens open instead of opening it {what}",
        )


def _opening(node: Node, procedure: Procedure, program: Program) -> Opening | None:
    block = enclosing(node, _BLOCKS, procedure.node)
    if block is None or node.parent != block:
        return None
    if node.type == "declaration" and procedure.source.is_cpp:
        match = _OPENED.fullmatch(text_of(node))
        if match is not None:
            kind, name, path, mode = match.groups()
            reads = kind == "i"
            if re.search(r"[(,]", path) and not re.fullmatch(r"[^(),]*(?:\([^(),]*\)[^(),]*)*", path):
                return None
            if reads != ("::app" not in (mode or "")) or (reads and not re.fullmatch(r"[\w.>-]+|\"[^\"]*\"", path)):
                return None
            closing = _statements(block, (f"{name}.close()",))
            return Opening(node, None, name, path, mode or "", reads, block, closing) if _in(closing, block) else None
    holder = next((each for each in nodes(node, "init_declarator", "assignment_expression")), None)
    target = field(holder, "declarator") or field(holder, "left")
    call = field(holder, "value") or field(holder, "right")
    if (
        holder is None
        or target is None
        or call is None
        or text_of(field(call, "function")) not in ("fopen", "std::fopen")
    ):
        return None
    name = text_of(next(iter(nodes(target, "identifier")), None))
    own, listed = procedure.declarations.get(name), children(field(call, "arguments"))
    if own is None or own.type != "FILE" or own.pointers != 1 or own.static or len(listed) != 2:
        return None
    if (
        name in procedure.parameters
        or len([each for each in procedure.assigned.get(name, ()) if text_of(each) not in ("NULL", "0", "nullptr")])
        != 1
    ):
        return None
    mode = text_of(listed[1])
    if (
        mode not in ('"a"', '"ab"', '"at"', '"r"', '"rb"', '"rt"')
        or constant_path(listed[0], procedure, program) is None
    ):
        return None
    closing = _statements(block, (f"fclose({name})", f"std::fclose({name})"))
    if len(closing) != 1 or not _in(closing, block) or closing[0].start_byte < node.end_byte:
        return None
    return Opening(node, call, name, text_of(listed[0]), mode, mode.startswith('"r'), block, closing)


def _statements(block: Node, texts: tuple[str, ...]) -> tuple[Node, ...]:
    return tuple(
        each
        for each in nodes(block, "expression_statement")
        if text_of(next(iter(children(each)), None)).replace(" ", "") in texts
    )


def _in(closing: tuple[Node, ...], block: Node) -> bool:
    return all(each.parent == block for each in closing)


def _stays(one: Opening, procedure: Procedure) -> bool:
    """True if the stream is not known outside the block, and is closed on every way on which it was opened."""
    used = procedure.source.text[one.node.end_byte : one.block.end_byte].decode("utf-8", "replace")
    if not one.reads and _PLACES.search(used):
        return False
    for each in procedure.identifiers.get(one.name, ()):
        parent = each.parent
        if inside(each, one.node) or any(inside(each, closing) for closing in one.closing):
            continue
        if parent is None:
            return False
        if not inside(each, one.block):
            if one.call is None or enclosing(each, frozenset({"declaration"}), procedure.node) is None:
                return False
            continue
        if one.closing and each.start_byte > one.closing[-1].end_byte:
            return False
        if parent.type in ("return_statement", "init_declarator", "field_initializer") or (
            parent.type == "pointer_expression" and text_of(parent).startswith("&")
        ):
            return False
        if parent.type == "assignment_expression" and text_of(field(parent, "operator")) == "=":
            return False
        called = parent.parent
        if parent.type == "argument_list" and called is not None and "move" in text_of(field(called, "function")):
            return False
        if parent.type == "field_expression" and text_of(field(parent, "field")) in (
            "open",
            "swap",
            "rdbuf",
            "close",
            "tie",
        ):
            return False
    if one.call is None:
        return True
    last = one.closing[-1]
    for each in nodes(one.block, "return_statement", "break_statement", "continue_statement"):
        if not one.node.end_byte <= each.start_byte < last.start_byte:
            continue
        loop = enclosing(
            each, frozenset({"for_statement", "while_statement", "do_statement", "switch_statement"}), one.block
        )
        if each.type != "return_statement" and loop is not None and loop.start_byte > one.node.end_byte:
            continue
        test = enclosing(each, frozenset({"if_statement"}), one.block)
        condition = text_of(field(test, "condition"))
        if not re.fullmatch(
            rf"\(\s*(?:!\s*{one.name}|{one.name} == (?:NULL|nullptr|0)|(?:NULL|nullptr|0) == {one.name})\s*\)",
            condition,
        ):
            return False
    return True


def _used_between(one: Opening, procedure: Procedure, program: Program) -> list[Node] | None:
    """Statements before which the file must be closed, as it is opened or changed there; None where that cannot be told."""
    mine = reaching({procedure.model.name}, program)
    text = procedure.source.text
    path = constant_path(one.call and children(field(one.call, "arguments"))[0], procedure, program)
    if one.call is None:
        path = one.path if one.path.startswith('"') else None
    if one.reads and path is not None and path.startswith(('"/proc', '"/sys', '"/dev')):
        return None  # says something else each time
    end = one.closing[-1].end_byte if one.closing else one.block.end_byte
    found: list[Node] = []
    homes: set[str] = set()
    for use in uses_beside(one.node, program):
        if (
            path is not None
            and use.path is not None
            and use.path.rsplit("/", 1)[-1].strip('"') != path.rsplit("/", 1)[-1].strip('"')
        ):
            continue
        if one.reads and (use.reads or use.asks):
            continue
        if (
            path is not None
            and use.path == path
            and use.opens
            and not use.reads
            and is_repeated(use.home, program, use.node)
        ):
            return None  # it would be closed as often as it is
        place = statement_of(use)
        if place is None or use.home.source is not procedure.source or use.end > use.home.node.end_byte:
            return None
        whole = any(inside(use.node, each) for each in nodes(place, *C_LOOPS))
        first, last = (place.start_byte, max(use.end, place.end_byte)) if whole else (use.node.start_byte, use.end)
        if mentions(mine, text, first, last):
            return None
        if use.home is procedure and not (last <= one.node.start_byte or first >= end):
            return None
        homes.add(use.home.model.name)
        if all(place != each for each in found):
            found.append(place)
    homes -= {procedure.model.name}
    if mentions(reaching(homes, program) if homes else set(), text, one.node.end_byte, end):
        return None
    return found


def _of_c(one: Opening, before: list[Node], place: int, spot: Spot) -> list[Edit]:
    text = spot.source.text
    call = one.call
    if call is None:
        return []
    kept = fresh_name(f"{one.name}_kept", text)
    opened = text[call.start_byte : call.end_byte].decode("utf-8", "surrogateescape")
    again = f"(rewind({kept}), {kept})" if one.reads else kept
    edits = [without_statement(each, text) for each in one.closing]
    edits.append(
        Edit(
            call.start_byte, call.end_byte, f"{kept} ? {again} : ({kept} = {opened})".encode("utf-8", "surrogateescape")
        )
    )
    if not before:
        first = f"static FILE *{kept};\n".encode() + indent(text, one.node.start_byte)
        return [*edits, Edit(one.node.start_byte, one.node.start_byte, first)]
    close = fresh_name(f"close_{one.name}", text)
    edits.append(Edit(place, place, _CLOSED.format(kept=kept, close=close).encode()))
    return [*edits, *_inserted(before, f"{close}();", text)]


def _of_cpp(one: Opening, before: list[Node], place: int, spot: Spot) -> list[Edit]:
    text = spot.source.text
    kept = fresh_name("kept_input" if one.reads else "kept_files", text)
    name = fresh_name("opened_input" if one.reads else "appended_file", text)
    mode = f", {one.mode}" if one.mode else ""
    stored = text[one.node.start_byte : one.block.end_byte].decode("utf-8", "replace")
    template = _READ if one.reads else _APPENDED
    handed = re.search(rf"[(,]\s*{one.name}\s*[,)]", stored[one.node.end_byte - one.node.start_byte :]) is not None
    plain = "" if not FORMAT.search(stored) and not handed else _PLAIN
    helper = template.replace("KEPT", kept).replace("NAME", name).replace("MODE", mode).replace("PLAIN", plain)
    headers = ("fstream", "string") if one.reads else ("fstream", "map", "string")
    kind = "ifstream" if one.reads else "ofstream"
    new = f"std::{kind} &{one.name} = {name}({one.path});".encode("utf-8", "surrogateescape")
    return [
        *(each for header in headers for each in included(header, spot.procedure)),
        Edit(place, place, helper.encode()),
        Edit(one.node.start_byte, one.node.end_byte, new),
        *(without_statement(each, text) for each in one.closing),
        *_inserted(before, f"{kept}.close();" if one.reads else f"{kept}.clear();", text),
    ]


def _inserted(before: list[Node], statement: str, text: bytes) -> list[Edit]:
    edits = []
    for each in before:
        alone = not text[line_start(text, each.start_byte) : each.start_byte].strip()
        between = b"\n" + indent(text, each.start_byte) if alone else b" "
        edits.append(Edit(each.start_byte, each.start_byte, statement.encode() + between))
    return edits


_CLOSED = """/* Stays open from one use to the next. */
static FILE *{kept};

static void {close}(void)
{{
    if ({kept}) fclose({kept});
    {kept} = NULL;
}}

"""
#: A stream formats the next record as a new one would.
_PLAIN = "  file.copyfmt(std::ios(nullptr));\n"
#: Few enough to leave descriptors for all else that a process opens; 1,024 is the usual limit.
_APPENDED = """// Files that records are appended to stay open for the next ones.
static std::map<std::string, std::ofstream> KEPT;

static std::ofstream &NAME(const std::string &path) {
  if (KEPT.size() == 64 && KEPT.count(path) == 0) KEPT.clear();
  std::ofstream &file = KEPT[path];
  if (!file.is_open() || !file) {
    file.close();
    file = std::ofstream(pathMODE);
  }
PLAIN  return file;
}

"""
_READ = """// The file that was read last stays open for the next time.
static std::ifstream KEPT;
static std::string KEPT_path;

static std::ifstream &NAME(const std::string &path) {
  std::ifstream &file = KEPT;
  if (file.is_open() && KEPT_path == path) {
    file.clear();
    file.seekg(0);
  } else {
    file.close();
    file = std::ifstream(pathMODE);
    KEPT_path = path;
  }
PLAIN  return file;
}

"""
