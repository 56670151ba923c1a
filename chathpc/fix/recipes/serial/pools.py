"""Records of one size that are allocated one by one: taken from pools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.layout import type_size
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, line_start
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, nodes, text_of
from chathpc.fix.recipes.analysis.types import type_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node


def pools(context: Context, spot: Spot) -> Iterator[Change]:
    """Records of one type that are allocated and freed one by one come from a pool of the program's own, which keeps freed ones."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if len(program.sources) != 1 or program.has_threads or spot.source.is_cpp or procedure.is_broken:
        return
    for call in procedure.all("call_expression"):
        kind = _record_of(call, procedure, program)
        if kind is None:
            continue
        change = _pool(kind, spot, program, text)
        if change is not None:
            yield change
            return


def _record_of(call: Node, procedure: Procedure, program: Program) -> str | None:
    """The record that a call of malloc makes, or one of free gives back, as the program names it where it makes it."""
    match text_of(field(call, "function")):
        case "malloc":
            return _made_record(call, procedure)
        case "free":
            of = type_of(next(iter(children(field(call, "arguments"))), None), procedure, program)
            made = (_made_record(each, home) for home, each in program.calls.get("malloc", []))
            if of is None or of.depth != 1:
                return None
            return next((kind for kind in made if kind is not None and kind.removeprefix("struct ") == of.name), None)
        case _:
            return None


def _made_record(call: Node, procedure: Procedure) -> str | None:
    """The record for which `malloc(sizeof …)` takes the memory."""
    one = call.parent
    while one is not None and one.type in ("cast_expression", "parenthesized_expression"):
        one = one.parent
    size = text_of(field(call, "arguments")).strip("()").replace(" ", "")
    if one is None or one.type != "init_declarator" or one.parent is None:
        return None
    kind, pointer = text_of(field(one.parent, "type")), field(one, "declarator")
    name = text_of(field(pointer, "declarator"))
    if (
        pointer is None
        or pointer.type != "pointer_declarator"
        or size not in (f"sizeof*{name}", f"sizeof(*{name}", f"sizeof({kind.replace(' ', '')}")
    ):
        return None
    plain = kind.removeprefix("struct ")
    return kind if plain in procedure.source.file.unit.records else None


def _pool(kind: str, spot: Spot, program: Program, text: bytes) -> Change | None:
    plain = kind.removeprefix("struct ")
    size = type_size(kind, spot.source.file.unit)
    if size is None or size < 8:
        return None
    edits: list[Edit] = []
    first: Node | None = None
    label = re.sub(r"\W", "_", plain.lower())
    take, give = fresh_name(f"take_{label}", text), fresh_name(f"give_back_{label}", text)
    makers = [
        (home, each)
        for name in ("malloc", "calloc", "realloc", "strdup", "aligned_alloc")
        for home, each in program.calls.get(name, [])
    ]
    for home, each in makers:
        made = _made_record(each, home) if text_of(field(each, "function")) == "malloc" else None
        if made == kind:
            edits.append(Edit(each.start_byte, each.end_byte, f"{take}()".encode()))
            first = home.node if first is None or home.node.start_byte < first.start_byte else first
        elif plain in text_of(each) or _declares(each, plain):
            return None  # another way to make such records
    freed = 0
    for home, each in program.calls.get("free", []):
        argument = next(iter(children(field(each, "arguments"))), None)
        of = type_of(argument, home, program)
        called = field(each, "function")
        if of is None or called is None or (of.name == "void" and of.depth == 1):
            return None
        if of.name == plain and of.depth == 1:
            edits.append(Edit(called.start_byte, called.end_byte, give.encode()))
            freed += 1
            first = home.node if first is None or home.node.start_byte < first.start_byte else first
    if first is None or not freed or not edits:
        return None
    if any(
        text_of(each) in ("free", "malloc") and (each.parent is None or each.parent.type != "call_expression")
        for each in nodes(spot.source.file.tree.root_node, "identifier")
    ):
        return None
    free_list = fresh_name(f"free_{label}", text)
    helper = f"""static {kind} *{free_list};

static {kind} *{take}(void) {{
  if (!{free_list}) {{
    enum {{ POOLED = 256 }};
    {kind} *block = malloc(POOLED * sizeof *block);
    if (!block) return NULL;
    for (int k = 0; k < POOLED; k++) {{
      memcpy(&block[k], &{free_list}, sizeof {free_list});
      {free_list} = &block[k];
    }}
  }}
  {kind} *taken = {free_list};
  memcpy(&{free_list}, taken, sizeof {free_list});
  return taken;
}}

static void {give}({kind} *one) {{
  if (!one) return;
  memcpy(one, &{free_list}, sizeof {free_list});
  {free_list} = one;
}}

"""
    at = line_start(text, first.start_byte)
    include = b"" if b"<string.h>" in text else b"#include <string.h>\n\n"
    edits.append(Edit(at, at, include + helper.encode()))
    return Change(
        {spot.source.path: tuple(edits)},
        spot.line,
        f"takes records of type {plain} from a pool that keeps freed ones instead of from malloc",
    )


def _declares(call: Node, plain: str) -> bool:
    one = call.parent
    while one is not None and one.type in (
        "cast_expression",
        "parenthesized_expression",
        "init_declarator",
        "assignment_expression",
    ):
        if (
            one.type == "init_declarator"
            and one.parent is not None
            and plain in text_of(field(one.parent, "type")).split()
        ):
            return True
        one = one.parent
    return False
