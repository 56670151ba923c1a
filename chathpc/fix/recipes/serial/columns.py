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
class Phase:
    """A part of what a column does: a loop over the rows, or statements beside one."""

    listed: Sequence[Node]
    rows: Counted | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A loop over columns, and what each does, in its order."""

    outer: Counted
    phases: Sequence[Phase]
    carried: dict[str, str]  #: scalars that each column has for its own, with their types

    @property
    def rows(self) -> list[Counted]:
        """The loops over the rows."""
        return [phase.rows for phase in self.phases if phase.rows is not None]

    @property
    def beside(self) -> list[Node]:
        """The statements that stand beside them."""
        return [node for phase in self.phases if phase.rows is None for node in phase.listed]


def blocked(context: Context, spot: Spot) -> Iterator[Change]:
    """`for x { s = …; for y … s …; … s …; }` takes 256 columns at once, each with an `s` of its own; there may be several loops over the rows."""
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
    if any(True for _ in nodes(outer.body, "preproc_call", "lambda_expression")):
        return None
    phases: list[Phase] = []
    carried: dict[str, str] = {}
    for one in statements(outer.body):
        rows = counted(one, procedure) if one.type == "for_statement" else None
        if rows is not None:
            phases.append(Phase((one,), rows))
            continue
        if one.type not in ("declaration", "expression_statement", "if_statement"):
            return None
        if one.type == "declaration" or not any(phase.rows for phase in phases):
            for name in _begun(one):
                kind = type_of(name, procedure, program)
                if kind is None or not kind.is_arithmetic or text_of(name) in procedure.addressed:
                    return None
                carried[text_of(name)] = kind.name
        if phases and phases[-1].rows is None:
            phases[-1] = Phase((*phases[-1].listed, one))
        else:
            phases.append(Phase((one,)))
    if not carried or not any(phase.rows for phase in phases) or phases[0].rows is not None:
        return None
    return Column(outer, phases, carried)


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
    outer = one.outer
    if any(any(text_of(word) in ("static", "volatile") for word in each.children) for each in one.beside):
        return False
    if any(effects(each, procedure, program).jumps for each in one.beside):
        return False
    if any(effects(each.body, procedure, program).jumps - {"continue"} for each in one.rows):
        return False
    declared = {text_of(name) for each in one.beside if each.type == "declaration" for name in _begun(each)}
    shared = set(one.carried) - declared
    for name in shared:
        kept = procedure.declarations.get(name)
        if kept is None or kept.static or name in procedure.parameters or used_after(name, outer.node, procedure):
            return False
        if not _is_set_first(name, one):
            return False
    if not all(each.own or not used_after(each.variable, outer.node, procedure) for each in (outer, *one.rows)):
        return False
    bounds = (*(bound for each in one.rows for bound in (each.start, each.bound)), outer.bound)
    inner = {each.variable for each in one.rows}
    moving = {outer.variable, *inner, *one.carried}
    if any(text_of(name) in moving for each in bounds for name in nodes(each, "identifier")):
        return False
    if not all(is_invariant(each, outer.node, procedure, program) for each in bounds):
        return False
    if any(True for each in one.beside for _ in nodes(each, "call_expression")) and not all(
        effects(each, procedure, program).is_known for each in one.beside
    ):
        return False
    found = dependences([outer], outer.body, program, frozenset(shared | inner | _gathered(one, procedure, program)))
    if not found.is_known or any(vector != (0,) for vector in found.vectors):
        return False
    return all(
        _is_of_one_phase([use for use in nodes(outer.body, "identifier") if text_of(use) == name], one)
        for name in found.reductions
    )


def _gathered(one: Column, procedure: Procedure, program: Program) -> set[str]:
    """Variables that are only used beside the rows, in one place: what is done there keeps its order from column to column."""
    names = {
        each.name
        for node in one.beside
        for each in effects(node, procedure, program).writes
        if not each.memory and each.name in procedure.declarations and each.name not in procedure.addressed
    } - set(one.carried)
    uses = {name: [use for use in procedure.identifiers.get(name, ()) if inside(use, one.outer.node)] for name in names}
    return {name for name in names if _is_of_one_phase(uses[name], one)}


def _is_of_one_phase(uses: Sequence[Node], one: Column) -> bool:
    """True if all of them stand beside the rows between the same two loops."""
    return any(
        phase.rows is None and all(any(inside(use, node) for node in phase.listed) for use in uses)
        for phase in one.phases
    )


def _is_set_first(name: str, one: Column) -> bool:
    """True if the first that a column does with a variable is to give it a value."""
    for each in one.phases[0].listed:
        uses = [use for use in nodes(each, "identifier") if text_of(use) == name]
        if uses:
            return any(text_of(begun) == name for begun in _begun(each)) and len(uses) == 1
    return False


def _pays(one: Column, procedure: Procedure, program: Program) -> bool:
    """True if some loop goes down the columns, and all of them are simple."""
    found = False
    for rows in one.rows:
        body = rows.body
        if any(True for _ in nodes(body, "for_statement", "while_statement", "do_statement", "call_expression")):
            return False
        inner = effects(body, procedure, program)
        along, across = (step_cost(each.variable, body, inner, procedure, program) for each in (rows, one.outer))
        if across > along:
            return False
        found |= along >= 1 and across <= 0.6 * along
    return found


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
    for phase in one.phases:
        rows = phase.rows
        if rows is None:
            lines += _loop(
                columns, [line for each in phase.listed for line in _beginning(each, text, changed)], inner, step
            )
            continue
        header = text[rows.node.start_byte : rows.body.start_byte].rstrip()
        lines += [inner + header, inner + step + columns + b" " + _body(rows, text, changed, blank + inner + step)]
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


def _beginning(node: Node, text: bytes, changed: dict[str, bytes]) -> list[bytes]:
    """A statement; a declaration as the assignments of its values."""
    if node.type != "declaration":
        return [_with(node, text, changed)]
    found = []
    for one in node.children_by_field_name("declarator"):
        name, value = field(one, "declarator"), field(one, "value")
        if one.type == "init_declarator" and name is not None and value is not None:
            found.append(changed[text_of(name)] + b" = " + _with(value, text, changed) + b";")
    return found


def _with(node: Node, text: bytes, changed: dict[str, bytes]) -> bytes:
    """The text of a node with the scalars replaced."""
    edits = [
        Edit(each.start_byte - node.start_byte, each.end_byte - node.start_byte, changed[text_of(each)])
        for each in nodes(node, "identifier")
        if text_of(each) in changed
    ]
    return applied(text[node.start_byte : node.end_byte], edits) or b""


def _body(rows: Counted, text: bytes, changed: dict[str, bytes], blank: bytes) -> bytes:
    new = _with(rows.body, text, changed)
    old = indent(text, rows.node.start_byte)
    return shifted(new, blank[len(old) :] if blank.startswith(old) else b"")
