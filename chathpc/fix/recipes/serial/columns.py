"""Loops down the columns that carry something from row to row: blocks of columns go through the rows together (C and C++)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.dependences import dependences
from chathpc.fix.recipes.analysis.edits import Edit, applied, fresh_name, indent, indent_step, shifted
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import Counted, counted, is_invariant, loops_of, used_after
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, inside, line_of, nodes, statements, text_of
from chathpc.fix.recipes.analysis.types import type_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.interchange import step_cost
from chathpc.fix.recipes.serial.invariants import directive_before

if TYPE_CHECKING:
    from tree_sitter import Node

#: Columns of a block: 2 KiB of doubles, some lines of memory of each row.
_BLOCK = 256


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A loop over columns: what is done before the loop over the rows, that loop, and what is done behind it."""

    outer: Counted
    before: Sequence[Node]
    inner: Counted
    after: Sequence[Node]
    carried: dict[str, str]  #: scalars that each column has for its own, with their types


def blocked(context: Context, spot: Spot) -> Iterator[Change]:
    """`for x { s = …; for y … s …; … s …; }` takes 256 columns at once, each with an `s` of its own."""
    procedure, program = spot.procedure, context.program
    if procedure.is_broken or procedure.names_shared:
        return
    for node in loops_of(procedure):
        one = _column(node, procedure, program)
        if one is not None and _is_legal(one, procedure, program) and _pays(one, procedure, program):
            yield Change(
                {spot.source.path: (Edit(node.start_byte, node.end_byte, _text(one, spot)),)},
                line_of(node),
                f"goes through the rows with {_BLOCK} columns at once instead of down one column after the other",
            )


def _column(node: Node, procedure: Procedure, program: Program) -> Column | None:
    outer = counted(node, procedure)
    if outer is None or outer.step != 1 or directive_before(node) is not None:
        return None
    listed = statements(outer.body)
    loops = [one for one in listed if one.type == "for_statement"]
    inner = counted(loops[0], procedure) if len(loops) == 1 else None
    if inner is None or any(True for _ in nodes(outer.body, "preproc_call", "lambda_expression")):
        return None
    at = listed.index(loops[0])
    before, after = listed[:at], listed[at + 1 :]
    carried: dict[str, str] = {}
    for one in before:
        for name in _begun(one):
            kind = type_of(name, procedure, program)
            if kind is None or not kind.is_arithmetic or text_of(name) in procedure.addressed:
                return None
            carried[text_of(name)] = kind.name
        if one.type not in ("declaration", "expression_statement"):
            return None
    if not carried or any(one.type not in ("expression_statement", "if_statement") for one in after):
        return None
    return Column(outer, before, inner, after, carried)


def _begun(node: Node) -> list[Node]:
    """Variables that a statement declares, or sets to a value."""
    if node.type == "declaration":
        listed = node.children_by_field_name("declarator")
        names = [field(one, "declarator") if one.type == "init_declarator" else one for one in listed]
        return [one for one in names if one is not None]
    inner = next(iter(children(node)), None)
    left = field(inner, "left")
    plain = inner is not None and inner.type == "assignment_expression" and text_of(field(inner, "operator")) == "="
    return [left] if plain and left is not None and left.type == "identifier" else []


def _is_legal(one: Column, procedure: Procedure, program: Program) -> bool:
    """True if nothing runs from one column to another, and the rows are the same for all."""
    outer, inner = one.outer, one.inner
    if any(len(_begun(each)) > 1 and each.type == "declaration" for each in one.before):
        return False
    if any(any(text_of(word) in ("static", "volatile") for word in each.children) for each in one.before):
        return False
    declared = {text_of(name) for each in one.before if each.type == "declaration" for name in _begun(each)}
    shared = set(one.carried) - declared
    for name in shared:
        kept = procedure.declarations.get(name)
        if kept is None or kept.static or name in procedure.parameters or used_after(name, outer.node, procedure):
            return False
        if not _is_set_first(name, one):
            return False
    if not all(each.own or not used_after(each.variable, outer.node, procedure) for each in (outer, inner)):
        return False
    bounds = (inner.start, inner.bound, outer.bound)
    moving = {outer.variable, inner.variable, *one.carried}
    if any(text_of(name) in moving for each in bounds for name in nodes(each, "identifier")):
        return False
    if not all(is_invariant(each, outer.node, procedure, program) for each in bounds):
        return False
    if any(True for each in (*one.before, *one.after) for _ in nodes(each, "call_expression")) and not all(
        effects(each, procedure, program).is_known for each in (*one.before, *one.after)
    ):
        return False
    found = dependences(
        [outer], outer.body, program, frozenset(shared | {inner.variable} | _gathered(one, procedure, program))
    )
    if not found.is_known or any(vector != (0,) for vector in found.vectors):
        return False
    return all(
        any(inside(use, each) for each in one.after)
        for name in found.reductions
        for use in nodes(outer.body, "identifier")
        if text_of(use) == name
    )


def _gathered(one: Column, procedure: Procedure, program: Program) -> set[str]:
    """Variables that are only used behind the rows: what is done there keeps its order from column to column."""
    names = {
        each.name
        for node in one.after
        for each in effects(node, procedure, program).writes
        if not each.memory and each.name in procedure.declarations and each.name not in procedure.addressed
    }
    return {
        name
        for name in names
        if all(
            any(inside(use, node) for node in one.after)
            for use in procedure.identifiers.get(name, ())
            if inside(use, one.outer.node)
        )
    }


def _is_set_first(name: str, one: Column) -> bool:
    """True if the first that a column does with a variable is to give it a value."""
    for each in one.before:
        uses = [use for use in nodes(each, "identifier") if text_of(use) == name]
        if uses:
            return any(text_of(begun) == name for begun in _begun(each)) and len(uses) == 1
    return False


def _pays(one: Column, procedure: Procedure, program: Program) -> bool:
    body = one.inner.body
    if any(True for _ in nodes(body, "for_statement", "while_statement", "do_statement", "call_expression")):
        return False
    inner = effects(body, procedure, program)
    along, across = (step_cost(each.variable, body, inner, procedure, program) for each in (one.inner, one.outer))
    return along >= 1 and across <= 0.6 * along


def _text(one: Column, spot: Spot) -> bytes:
    procedure, text = spot.procedure, spot.source.text
    outer, x = one.outer, one.outer.variable
    blank = indent(text, outer.node.start_byte)
    step = indent_step(text)
    block, end = fresh_name(f"{x}_block", text), fresh_name(f"{x}_end", text)
    arrays = {name: fresh_name(f"{name}_of", text) for name in one.carried}
    initial = field(outer.node, "initializer")
    own = text_of(field(initial, "type")) if outer.own else ""
    kept = procedure.declarations.get(x)
    kind = own or (kept.type if kept is not None else "int")
    start, bound = (text[each.start_byte : each.end_byte].decode() for each in (outer.start, outer.bound))
    limit = f"({bound}) + 1" if outer.operator == "<=" else bound
    end_value = f"{limit} - {block} < {_BLOCK} ? {limit} : {block} + {_BLOCK};"
    columns = f"for ({own + ' ' if own else ''}{x} = {block}; {x} < {end}; {x}++)".encode()
    lines: list[bytes] = []
    depth = 0
    if not own:
        lines += [b"{", step + f"{kind} {block}, {end};".encode()]
        depth = 1
    lines.append(
        step * depth
        + f"for ({own + ' ' if own else ''}{block} = {start}; {block} < {limit}; {block} += {_BLOCK}) {{".encode()
    )
    inner = step * (depth + 1)
    lines += [inner + f"{of} {arrays[name]}[{_BLOCK}];".encode() for name, of in one.carried.items()]
    lines.append(inner + (f"const {kind} {end} = {end_value}" if own else f"{end} = {end_value}").encode())
    changed = {name: f"{array}[{x} - {block}]".encode() for name, array in arrays.items()}
    begun = [line for each in one.before if (line := _beginning(each, text, changed)) is not None]
    lines += _loop(columns, begun, inner, step)
    header = text[one.inner.node.start_byte : one.inner.body.start_byte].rstrip()
    lines += [inner + header, inner + step + columns + b" " + _body(one, text, changed, blank + inner + step)]
    lines += _loop(columns, [_with(each, text, changed) for each in one.after], inner, step)
    lines.append(step * depth + b"}")
    if not own:
        lines.append(b"}")
    return (b"\n" + blank).join(lines)


def _loop(columns: bytes, listed: Sequence[bytes], blank: bytes, step: bytes) -> list[bytes]:
    if not listed:
        return []
    if len(listed) == 1:
        return [blank + columns, blank + step + listed[0]]
    return [blank + columns + b" {", *(blank + step + each for each in listed), blank + b"}"]


def _beginning(node: Node, text: bytes, changed: dict[str, bytes]) -> bytes | None:
    """A declaration as the assignment of its value; None for one without."""
    if node.type != "declaration":
        return _with(node, text, changed)
    one = node.children_by_field_name("declarator")[0]
    name, value = field(one, "declarator"), field(one, "value")
    if one.type != "init_declarator" or name is None or value is None:
        return None
    return changed[text_of(name)] + b" = " + _with(value, text, changed) + b";"


def _with(node: Node, text: bytes, changed: dict[str, bytes]) -> bytes:
    """The text of a node with the scalars replaced."""
    edits = [
        Edit(each.start_byte - node.start_byte, each.end_byte - node.start_byte, changed[text_of(each)])
        for each in nodes(node, "identifier")
        if text_of(each) in changed
    ]
    return applied(text[node.start_byte : node.end_byte], edits) or b""


def _body(one: Column, text: bytes, changed: dict[str, bytes], blank: bytes) -> bytes:
    new = _with(one.inner.body, text, changed)
    old = indent(text, one.inner.node.start_byte)
    return shifted(new, blank[len(old) :] if blank.startswith(old) else b"")
