"""Files that are opened and closed for each record, or for each question: they stay open from one to the next (C and C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, line_start, without_statement
from chathpc.fix.recipes.analysis.heads import included
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import C_LOOPS, children, enclosing, field, inside, line_of, nodes, text_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.buffers import calls_itself
from chathpc.fix.recipes.serial.file_openings import Opening, opening
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

#: What a stream that was used before answers, or takes, otherwise than a new one.
_PLACES = re.compile(
    r"\b(?:tellp|seekp|ftello?|fseeko?|rewind|f[gs]etpos|setv?buf|setbuffer|setlinebuf|gcount|ungetc|unget|putback)\b"
)


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
    for node in procedure.all("declaration", "expression_statement", "if_statement"):
        one = opening(node, procedure, program)
        if one is None or not is_repeated(procedure, program, node) or not _stays(one, procedure):
            continue
        before = _used_between(one, procedure, program)
        place = place_of_functions(spot.source)
        if before is None or place is None:
            continue
        edits = _of_c(one, before, place, spot, program) if one.call is not None else _of_cpp(one, before, place, spot)
        what = "each time that it is read" if one.reads else "for each record"
        yield Change(
            {spot.source.path: tuple(edits)},
            line_of(node),
            f"keeps the file that {procedure.model.name} opens open instead of opening it {what}",
        )


def _stays(one: Opening, procedure: Procedure) -> bool:
    """True if the stream is not known outside the block, and is closed on every way on which it was opened."""
    used = procedure.source.text[one.node.end_byte : one.block.end_byte].decode("utf-8", "replace")
    if not one.reads and _PLACES.search(used):
        return False
    for each in procedure.identifiers.get(one.name, ()):
        parent = each.parent
        if inside(each, one.node) or any(inside(each, closing) for closing in one.closing):
            continue
        if one.declared is not None and inside(each, one.declared):
            continue
        if parent is None or (one.declared is not None and each.start_byte < one.node.start_byte):
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
        if use.node == one.declared:
            continue
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


def _of_c(one: Opening, before: list[Node], place: int, spot: Spot, program: Program) -> list[Edit]:
    text = spot.source.text
    call = one.call
    if call is None:
        return []
    if constant_path(children(field(call, "arguments"))[0], spot.procedure, program) is None:
        return _in_table(one, call, before, place, spot)
    kept = fresh_name(f"{_own(spot)}_file" if before else f"{one.name}_kept", text)
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
    close = fresh_name(f"close_{_own(spot)}_file", text)
    edits.append(Edit(place, place, _CLOSED.format(kept=kept, close=close).encode()))
    return [*edits, *_inserted(before, f"{close}();", text)]


def _in_table(one: Opening, call: Node, before: list[Node], place: int, spot: Spot) -> list[Edit]:
    """As `_of_c` for files of several names."""
    text, called = spot.source.text, field(call, "function")
    own = _own(spot)
    told = {
        "KEPT_FILES": f"{own}_files",
        "KEPT_COUNT": f"{own}_count",
        "KEPT_FILE": f"{own}_file",
        "CLOSE_KEPT": f"close_{own}_files",
    }
    names = {each: fresh_name(name, text) for each, name in told.items()}
    helper = _TABLE.replace("AGAIN", "rewind(KEPT_FILES[k].file);\n            " if one.reads else "")
    for each, name in names.items():
        helper = re.sub(rf"\b{each}\b", name, helper)
    return [
        *(each for header in _NEEDED[spot.source.is_cpp] for each in included(header, spot.procedure)),
        Edit(place, place, helper.encode()),
        *([Edit(called.start_byte, called.end_byte, names["KEPT_FILE"].encode())] if called is not None else []),
        *(without_statement(each, text) for each in one.closing),
        *_inserted(before, f"{names['CLOSE_KEPT']}();", text),
    ]


def _of_cpp(one: Opening, before: list[Node], place: int, spot: Spot) -> list[Edit]:
    text = spot.source.text
    kept = fresh_name(f"{_own(spot)}_input" if one.reads else f"{_own(spot)}_files", text)
    name = fresh_name(f"{_own(spot)}_file", text)
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
        *([without_statement(one.declared, text)] if one.declared is not None else []),
        *(without_statement(each, text) for each in one.closing),
        *_inserted(before, f"{kept}.close();" if one.reads else f"{kept}.clear();", text),
    ]


def _own(spot: Spot) -> str:
    """What names of a function's files begin with, so that those of several functions differ."""
    return re.sub(r"\W", "", spot.procedure.model.name)


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
_NEEDED = {False: ("stdio.h", "stdlib.h", "string.h"), True: ("cstdio", "cstdlib", "cstring")}
_TABLE = """/* Files stay open from one use to the next. */
static struct {
    char *path;
    FILE *file;
} KEPT_FILES[64];
static int KEPT_COUNT;

static void CLOSE_KEPT(void)
{
    while (KEPT_COUNT > 0) {
        KEPT_COUNT--;
        fclose(KEPT_FILES[KEPT_COUNT].file);
        free(KEPT_FILES[KEPT_COUNT].path);
    }
}

static FILE *KEPT_FILE(const char *path, const char *mode)
{
    char *name;
    FILE *file;
    int k;
    for (k = 0; k < KEPT_COUNT; k++)
        if (strcmp(KEPT_FILES[k].path, path) == 0) {
            AGAINreturn KEPT_FILES[k].file;
        }
    if (KEPT_COUNT == 64) CLOSE_KEPT();
    name = (char *)malloc(strlen(path) + 1);
    file = name ? fopen(path, mode) : NULL;
    if (!file) {
        free(name);
        return NULL;
    }
    KEPT_FILES[KEPT_COUNT].path = strcpy(name, path);
    KEPT_FILES[KEPT_COUNT++].file = file;
    return file;
}

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
