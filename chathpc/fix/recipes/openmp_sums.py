"""Critical sections, atomic updates and ordered sections in OpenMP loops that reductions make needless."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.layout import type_size, value
from chathpc.fix.recipes.aliases import may_overlap
from chathpc.fix.recipes.dependences import dependences, is_independent
from chathpc.fix.recipes.directives import THREADS, Directive, directive, directives
from chathpc.fix.recipes.edits import Edit, indent, line_end, line_start
from chathpc.fix.recipes.effects import Access, Effects, effects
from chathpc.fix.recipes.invariants import fresh_name
from chathpc.fix.recipes.loops import Counted, counted, is_invariant
from chathpc.fix.recipes.program import Procedure, Program, Spot
from chathpc.fix.recipes.recipe import Change, Context, Semantics
from chathpc.fix.recipes.syntax import children, field, inside, line_of, nodes, statements, text_of
from chathpc.fix.recipes.types import declared, field_of, type_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: A thread's own copy of an array lies on its stack.
_MOST_BYTES = 32 * 1024


def without_sections(context: Context, spot: Spot) -> Iterator[Change]:
    """Critical, atomic and ordered sections go where iterations are independent but for sums of scalars, which become reductions."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    for one, header in _loops(spot):
        sections = _sections(header)
        if not sections:
            continue
        found = dependences([header], header.body, program, _private(one), directives=True)
        if not found.is_known or not is_independent(found.vectors):
            continue
        if any(each in _listed(one, "reduction") | _private(one) for each in found.reductions):
            continue
        if not one.has("parallel") and any(
            name in procedure.declarations and not _is_outside(name, one, procedure) for name in found.reductions
        ):
            continue
        exact = all(each.exact for each in found.reductions.values())
        if not exact and not context.may_round:
            continue
        edits = [_without_line(each, text) for each in sections]
        clauses = "".join(f" reduction({each.operator} : {each.name})" for each in found.reductions.values())
        if one.has("ordered"):
            edits += _not_ordered(one, clauses, text)
        elif clauses:
            edits.append(one.with_clause(clauses.strip(), text))
        semantics: Semantics = "exact" if exact else "reassociates floating point"
        sums = ", ".join(found.reductions)
        did = f"needs no {sections[0].words.split('(')[0].split()[0]} section in the loop over {header.variable}" + (
            f": {sums} {'is a reduction' if len(found.reductions) == 1 else 'are reductions'}" if sums else ""
        )
        yield Change({spot.source.path: tuple(edits)}, line_of(sections[0].node), did, semantics)


def private_sums(context: Context, spot: Spot) -> Iterator[Change]:
    """Each thread adds to elements of its own, which are added up once at the end of the loop (reductions of scalars and arrays)."""
    for one, header in _loops(spot):
        sections = [each for each in _sections(header) if not each.has("ordered")]
        if not one.has("parallel") or not sections or one.has("ordered"):
            continue
        updates = [_updates(each) for each in sections]
        if any(each is None for each in updates):
            continue
        listed = [update for each in updates for update in each or ()]
        change = _privatised(one, header, sections, listed, spot, context)
        if change is not None:
            yield change


def _loops(spot: Spot) -> Iterator[tuple[Directive, Counted]]:
    procedure, text = spot.procedure, spot.source.text
    if procedure.is_broken or THREADS.search(text[procedure.node.start_byte : procedure.node.end_byte]):
        return
    for one in directives(procedure):
        header = counted(one.statement, procedure)
        if (
            one.is_loop
            and header is not None
            and not one.has("nowait")
            and one.clause("collapse") is None
            and one.clause("default") is None
        ):
            yield one, header


def _sections(header: Counted) -> list[Directive]:
    found = []
    for node in nodes(header.body, "preproc_call"):
        one = directive(node)
        if one is None or one.words.split("(")[0].split()[0] not in ("critical", "atomic", "ordered"):
            return []  # another directive: what it does is not looked at here
        found.append(one)
    return found


def _private(one: Directive) -> frozenset[str]:
    return frozenset(_listed(one, "private") | _listed(one, "lastprivate") | _listed(one, "firstprivate"))


def _listed(one: Directive, clause: str) -> set[str]:
    return {each.strip() for each in re.sub(r"^[^:]*:", "", one.clause(clause) or "").split(",")} - {""}


def _is_outside(name: str, one: Directive, procedure: Procedure) -> bool:
    """True if a variable is declared outside the parallel region around a directive."""
    regions = [
        each.statement for each in directives(procedure) if each.has("parallel") and inside(one.node, each.statement)
    ]
    if not regions:
        return False
    return not any(
        text_of(field(each, "declarator")) == name
        for region in regions
        for each in nodes(region, "init_declarator", "declaration")
    )


def _without_line(one: Directive, text: bytes) -> Edit:
    start = line_start(text, one.node.start_byte)
    return Edit(start, line_end(text, max(one.node.start_byte, one.node.end_byte - 1)), b"")


def _not_ordered(one: Directive, clauses: str, text: bytes) -> list[Edit]:
    whole = text[one.node.start_byte : one.end(text)]
    new = re.sub(rb"\s*\bordered\b(?!\s*\()", b"", whole)
    new = re.sub(rb"schedule\s*\(\s*static\s*,\s*1\s*\)", b"schedule(static)", new)
    return [Edit(one.node.start_byte, one.end(text), new + clauses.encode())]


@dataclass(frozen=True, slots=True, eq=False)
class Update:
    """`target += value` of a protected section."""

    target: Node
    operator: str
    value: Node | None
    statement: Node


def _updates(section: Directive) -> list[Update] | None:
    """All statements of a section as updates; None if one is something else."""
    words = section.words.split()
    if words[0].startswith("atomic") and any(each in words for each in ("read", "write", "capture", "compare")):
        return None
    found = []
    for statement in statements(section.statement):
        expr = next(iter(children(statement)), None) if statement.type == "expression_statement" else None
        if expr is None:
            return None
        if expr.type == "update_expression":
            target, operator, value_ = field(expr, "argument"), "+", None
        elif expr.type == "assignment_expression" and text_of(field(expr, "operator")) in (
            "+=",
            "-=",
            "*=",
            "|=",
            "&=",
            "^=",
        ):
            sign = text_of(field(expr, "operator"))[0]
            target, operator, value_ = field(expr, "left"), "+" if sign == "-" else sign, field(expr, "right")
        else:
            return None
        if target is None:
            return None
        found.append(Update(target, operator, value_, statement))
    return found


def _privatised(
    one: Directive, header: Counted, sections: list[Directive], updates: list[Update], spot: Spot, context: Context
) -> Change | None:
    procedure, program, text = spot.procedure, context.program, spot.source.text
    whole = effects(header.node, procedure, program)
    if not whole.is_known or whole.jumps - {"continue", "break"}:
        return None
    blank, start = indent(text, header.node.start_byte), line_start(text, one.node.start_byte)
    edits = [_without_line(each, text) for each in sections]
    before, after, clauses = [], [], []
    known: dict[str, str] = {}
    exact = True
    for update in updates:
        kind = type_of(update.target, procedure, program)
        if kind is None or not kind.is_arithmetic or not _is_alone(update, updates, whole, program):
            return None
        exact = exact and kind.is_integer
        shown = text_of(update.target)
        if update.target.type == "identifier":
            if shown not in known:
                own = declared(shown, procedure, program)
                if own is None or own.reference:
                    return None
                known[shown] = update.operator
                clauses.append(f"reduction({update.operator} : {shown})")
            elif known[shown] != update.operator:
                return None
            continue
        array = _array(update.target, header, whole, procedure, program)
        scalar = array is None and is_invariant(
            update.target, header.node, procedure, program, _without(whole, updates)
        )
        if not scalar and array is None:
            return None
        base, extent = array if array is not None else (shown, 0)
        key = f"{base}:{update.operator}"
        label = re.sub(r"\W+", "_", base).strip("_")
        if key not in known:
            if any(each.startswith(f"{base}:") for each in known):
                return None
            known[key] = name = fresh_name(f"{label}_sum", text)
            if array is not None:
                before.append(f"{kind.name} *{name} = {base};")
                clauses.append(f"reduction({update.operator} : {name}[:{extent}])")
            else:
                neutral = {"+": "0", "*": "1", "|": "0", "^": "0", "&": "~0"}[update.operator]
                before.append(f"{kind.name} {name} = {neutral};")
                after.append(f"{base} {update.operator}= {name};")
                clauses.append(f"reduction({update.operator} : {name})")
        name = known[key]
        if array is not None:
            argument = field(update.target, "argument")
            if argument is None:
                return None
            edits.append(Edit(argument.start_byte, argument.end_byte, name.encode()))
        else:
            edits.append(Edit(update.target.start_byte, update.target.end_byte, name.encode()))
    if not exact and not context.may_round:
        return None
    braces = header.node.parent is not None and header.node.parent.type != "compound_statement"
    if braces and (before or after):
        return None
    if before:
        edits.append(Edit(start, start, b"".join(blank + each.encode() + b"\n" for each in before)))
    if after:
        edits.append(
            Edit(header.node.end_byte, header.node.end_byte, b"".join(b"\n" + blank + each.encode() for each in after))
        )
    edits.append(one.with_clause(" ".join(clauses), text))
    semantics: Semantics = "exact" if exact else "reassociates floating point"
    names = ", ".join(dict.fromkeys(text_of(each.target) for each in updates))
    return Change(
        {spot.source.path: tuple(edits)},
        line_of(sections[0].node),
        f"gives each thread its own {names} in the loop over {header.variable} and adds them up at its end",
        semantics,
    )


def _is_alone(update: Update, updates: list[Update], whole: Effects, program: Program) -> bool:
    """True if nothing else in the loop touches what is updated, and no update reads it."""
    mine = [each for each in whole.accesses if each.write and each.node == update.target]
    if not mine:
        return False
    targets = [each.target for each in updates]
    return not any(
        may_overlap(mine[0], other, program)
        for other in whole.accesses
        if other.node != update.target and not any(other.node == each for each in targets)
    )


def _without(whole: Effects, updates: list[Update]) -> Effects:
    targets = [each.target for each in updates]
    kept: list[Access] = [
        one for one in whole.accesses if not (one.write and any(one.node == each for each in targets))
    ]
    return Effects(kept, whole.calls, whole.pure_calls, whole.jumps, whole.opaque, whole.declared, whole.pragmas)


def _array(
    target: Node, header: Counted, whole: Effects, procedure: Procedure, program: Program
) -> tuple[str, int] | None:
    """Base and number of elements of a small array of constant extent that is indexed; None for anything else."""
    argument = field(target, "argument")
    if (
        target.type != "subscript_expression"
        or argument is None
        or argument.type not in ("identifier", "field_expression")
    ):
        return None
    one = (
        declared(text_of(argument), procedure, program)
        if argument.type == "identifier"
        else field_of(argument, procedure, program)
    )
    if (
        one is None
        or one.pointers
        or len(one.dims) != 1
        or (argument.type == "identifier" and text_of(argument) in procedure.parameters)
    ):
        return None
    extent = value(one.dims[0], procedure.source.file.unit.constants)
    size = type_size(one.type, procedure.source.file.unit)
    if extent is None or size is None or extent * size > _MOST_BYTES:
        return None
    inner = next((each for each in nodes(argument, "identifier")), None)
    if (
        inner is None
        or text_of(inner) in whole.declared
        or text_of(inner) in {each.name for each in whole.writes if not each.memory}
    ):
        return None
    return text_of(argument), extent


def collapsed(context: Context, spot: Spot) -> Iterator[Change]:
    """`collapse(2)`: the iterations of two loops are shared, where the outer one alone has few."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    for one, header in _loops(spot):
        inner_nodes = statements(header.body)
        inner = counted(inner_nodes[0], procedure) if len(inner_nodes) == 1 else None
        if inner is None or not (header.own and inner.own) or any(True for _ in nodes(header.body, "preproc_call")):
            continue
        if "!=" in (header.operator, inner.operator) or one.clause("schedule") not in (None, "static"):
            continue
        if header.variable in {
            text_of(each) for side in (inner.start, inner.bound) for each in nodes(side, "identifier")
        }:
            continue
        if not all(is_invariant(side, header.node, procedure, program) for side in (inner.start, inner.bound)):
            continue
        found = dependences([header, inner], inner.body, program, _private(one))
        sums = _listed(one, "reduction")
        if (
            not found.is_known
            or set(found.reductions) - sums
            or any(each != 0 for vector in found.vectors for each in vector)
        ):
            continue
        semantics: Semantics = "reassociates floating point" if sums else "exact"
        yield Change(
            {spot.source.path: (one.with_clause("collapse(2)", text),)},
            line_of(one.statement),
            f"shares the iterations over {header.variable} and {inner.variable} together (collapse(2))",
            semantics,
        )
