"""Critical sections and atomic updates in OpenMP loops that reductions make needless."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.layout import type_size, value
from chathpc.fix.recipes.analysis.accesses import Effects
from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.directives import Directive, directive, directives, private_names, tells_threads_apart
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, line_start, without_line
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import Counted, counted, is_invariant
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, line_of, nodes, statements, text_of
from chathpc.fix.recipes.analysis.types import declared, field_of, type_of
from chathpc.fix.recipes.recipe import Change, Context, Semantics

if TYPE_CHECKING:
    from tree_sitter import Node

#: A thread's own copy of an array lies on its stack.
_MOST_BYTES = 32 * 1024
_ADDING = frozenset({"+=", "-=", "*=", "|=", "&=", "^="})


def _may_reduce(names: Iterable[str], one: Directive, procedure: Procedure) -> bool:
    """True if the variables belong to all threads at the loop, as those of a reduction must."""
    return private_names(one, procedure).isdisjoint(names)


def _sections(body: Node) -> list[Directive] | None:
    """All critical and atomic sections of a loop's body; None where another directive stands in it."""
    found: list[Directive] = []
    for node in nodes(body, "preproc_call"):
        one = directive(node)
        if one is None or re.split(r"[\s(]", one.words)[0] not in ("critical", "atomic"):
            return None
        found.append(one)
    return found


def private_sums(context: Context, spot: Spot) -> Iterator[Change]:
    """Each thread adds to elements of its own, which are added up once at the end of the loop (reductions of scalars and arrays)."""
    procedure = spot.procedure
    if procedure.is_broken or tells_threads_apart(procedure):
        return
    for one in directives(procedure):
        header = counted(one.statement, procedure) if one.is_loop and not one.has("nowait") else None
        if header is None or one.clause("collapse") is not None or one.has("ordered"):
            continue
        protected = _sections(header.body)
        updates = [_updates_of(each) for each in protected or ()]
        if not protected or any(listed is None for listed in updates):
            continue
        change = _privatised(one, header, protected, [each for listed in updates for each in listed or ()], context)
        if change is not None:
            yield change


@dataclass(frozen=True, slots=True, eq=False)
class _Update:
    """`target += value` of a protected section."""

    target: Node
    operator: str


def _updates_of(section: Directive) -> list[_Update] | None:
    """All statements of a section as updates; None if one is something else."""
    words = section.words.split()
    if words[0] == "atomic" and any(each in words for each in ("read", "write", "capture", "compare")):
        return None
    found = [_update_of(statement) for statement in statements(section.statement)]
    return None if any(one is None for one in found) else [one for one in found if one is not None]


def _update_of(statement: Node) -> _Update | None:
    """A statement as an update; None if it is something else."""
    expr = next(iter(children(statement)), None) if statement.type == "expression_statement" else None
    if expr is None:
        return None
    if expr.type == "update_expression":
        target, operator = field(expr, "argument"), "+"
    elif expr.type == "assignment_expression" and text_of(field(expr, "operator")) in _ADDING:
        sign = text_of(field(expr, "operator"))[0]
        target, operator = field(expr, "left"), "+" if sign == "-" else sign
    else:
        return None
    return None if target is None else _Update(target, operator)


def _privatised(
    one: Directive, header: Counted, protected: list[Directive], updates: list[_Update], context: Context
) -> Change | None:
    procedure, program, text = header.procedure, context.program, header.procedure.source.text
    whole = effects(header.node, procedure, program)
    if not whole.is_known or whole.jumps - {"continue", "break"}:
        return None
    blank, start = indent(text, header.node.start_byte), line_start(text, one.node.start_byte)
    edits = [without_line(each.node, text) for each in protected]
    before, after = [], []
    sums: dict[str, str] = {}
    known: dict[str, str] = {}
    exact = True
    for update in updates:
        kind = type_of(update.target, procedure, program)
        if kind is None or not kind.is_arithmetic or not _is_alone(update, updates, whole, program):
            return None
        exact = exact and kind.is_integer
        shown = text_of(update.target)
        if update.target.type == "identifier":
            own = declared(shown, procedure, program)
            if own is None or own.reference or sums.setdefault(shown, update.operator) != update.operator:
                return None
            continue
        array = _array(update.target, whole, procedure, program)
        scalar = array is None and is_invariant(
            update.target, header.node, procedure, program, _without(whole, updates)
        )
        if not scalar and array is None:
            return None
        base, extent = array if array is not None else (shown, 0)
        key = f"{base}:{update.operator}"
        label = re.sub(r"\W+", "_", base).strip("_")
        if key not in known:
            if any(key_.startswith(f"{base}:") for key_ in known):
                return None
            known[key] = name = fresh_name(f"{label}_sum", text)
            if array is not None:
                before.append(f"{kind.name} *{name} = {base};")
                sums[f"{name}[:{extent}]"] = update.operator
            else:
                neutral = {"+": "0", "*": "1", "|": "0", "^": "0", "&": "~0"}[update.operator]
                before.append(f"{kind.name} {name} = {neutral};")
                after.append(f"{base} {update.operator}= {name};")
                sums[name] = update.operator
        replaced = (field(update.target, "argument") if array is not None else None) or update.target
        edits.append(Edit(replaced.start_byte, replaced.end_byte, known[key].encode()))
    if not exact and not context.may_round:
        return None
    braces = header.node.parent is not None and header.node.parent.type != "compound_statement"
    if braces and (before or after):
        return None
    if before:
        edits.append(Edit(start, start, b"".join(blank + line.encode() + b"\n" for line in before)))
    if after:
        edits.append(
            Edit(header.node.end_byte, header.node.end_byte, b"".join(b"\n" + blank + line.encode() for line in after))
        )
    if not one.has("parallel") and (before or after or not _may_reduce(sums, one, procedure)):
        return None
    edits += one.reducing(sums, text)
    semantics: Semantics = "exact" if exact else "reassociates floating point"
    names = ", ".join(dict.fromkeys(text_of(update.target) for update in updates))
    return Change(
        {procedure.source.path: tuple(edits)},
        line_of(protected[0].node),
        f"Give each thread its own {names} in the loop over {header.variable} and add them up at its end",
        semantics,
    )


def _is_alone(update: _Update, updates: list[_Update], whole: Effects, program: Program) -> bool:
    """True if nothing else in the loop touches what is updated, and no update reads it."""
    mine = [each for each in whole.accesses if each.write and each.node == update.target]
    if not mine:
        return False
    targets = [each.target for each in updates]
    return not any(may_overlap(mine[0], other, program) for other in whole.accesses if other.node not in targets)


def _without(whole: Effects, updates: list[_Update]) -> Effects:
    targets = [each.target for each in updates]
    return replace(whole, accesses=[one for one in whole.accesses if not (one.write and one.node in targets)])


def _array(target: Node, whole: Effects, procedure: Procedure, program: Program) -> tuple[str, int] | None:
    """Base and number of elements of a small array of constant extent that is indexed; None for anything else."""
    argument = field(target, "argument")
    if (
        target.type != "subscript_expression"
        or argument is None
        or argument.type not in ("identifier", "field_expression")
    ):
        return None
    plain = argument.type == "identifier"
    one = declared(text_of(argument), procedure, program) if plain else field_of(argument, procedure, program)
    if one is None or one.pointers or len(one.dims) != 1 or (plain and text_of(argument) in procedure.parameters):
        return None
    extent = value(one.dims[0], procedure.source.file.unit.constants)
    size = type_size(one.type, procedure.source.file.unit)
    if extent is None or size is None or extent * size > _MOST_BYTES:
        return None
    inner = text_of(next(nodes(argument, "identifier"), None))
    moving = whole.declared.union(each.name for each in whole.writes if not each.memory)
    return None if not inner or inner in moving else (text_of(argument), extent)
