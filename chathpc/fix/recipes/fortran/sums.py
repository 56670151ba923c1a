"""Critical sections and atomic updates in OpenMP loops of free-form Fortran that reductions make needless."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.layout import elements
from chathpc.diagnosis.source.model import Declaration, Expr, Function, Kind
from chathpc.fix.recipes.analysis.directives import Directive, directives
from chathpc.fix.recipes.analysis.edits import Edit, line_end, line_start
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.program import Procedure, Spot
from chathpc.fix.recipes.analysis.syntax import line_of, nodes, text_of
from chathpc.fix.recipes.analysis.types import declared
from chathpc.fix.recipes.recipe import Change, Context, Semantics

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_ELEMENTS = 4096


def without_sections(context: Context, spot: Spot) -> Iterator[Change]:
    """Critical sections and atomic updates that hold nothing but sums become a reduction."""
    procedure, text, function = spot.procedure, spot.source.text, spot.procedure.model
    if procedure.unstable:
        return
    for one in directives(procedure):
        node, words, outer = one.node, one.words, one.statement
        if not one.is_loop or any(each in words for each in ("reduction", "nowait", "ordered")):
            continue
        sections = [each for each in nodes(outer, "comment") if text_of(each).startswith("!$omp")]
        if not sections or not all(
            re.match(r"!\$omp\s+(?:end\s+)?(?:critical|atomic)\b(?!.*\b(?:read|write|capture)\b)", text_of(each))
            for each in sections
        ):
            continue
        sums = _protected(sections, outer, function)
        inner = effects(outer, procedure, context.program)
        if not sums or not inner.is_known or inner.jumps - {"continue"}:
            continue
        added = {name: declared(name, procedure, context.program) for name in sums}
        if not _may_reduce(sums, one, procedure) or not all(_is_small(each, spot) for each in added.values()):
            continue
        whole = {name for name, each in added.items() if each is not None and each.type.startswith("integer")}
        exact = all(operator in ("max", "min") or name in whole for name, operator in sums.items())
        if not exact and not context.may_round:
            continue
        unshared = _not_shared(node, words, set(sums)) if "parallel" in words else []
        if unshared is None:
            continue
        lines = [Edit(line_start(text, each.start_byte), line_end(text, each.end_byte - 1), b"") for each in sections]
        clauses = " ".join(
            f"reduction({one}:{', '.join(name for name in sums if sums[name] == one)})"
            for one in dict.fromkeys(sums.values())
        )
        semantics: Semantics = "exact" if exact else "reassociates floating point"
        yield Change(
            {spot.source.path: (*lines, *unshared, one.with_clause(clauses, text))},
            line_of(sections[0]),
            f"Sum {', '.join(sums)} by a reduction instead of in a {text_of(sections[0]).split()[1]} section",
            semantics,
        )


def _is_small(one: Declaration | None, spot: Spot) -> bool:
    """True for numbers, and arrays of a few of them."""
    if one is None or not one.type.startswith(("real", "integer", "double")):
        return False
    count = elements(one, spot.source.file.unit)
    return count is not None and count <= _MOST_ELEMENTS


def _may_reduce(sums: dict[str, str], one: Directive, procedure: Procedure) -> bool:
    """True if the variables belong to all threads at the loop."""
    if not one.private.isdisjoint(sums) or one.has("parallel"):
        return one.private.isdisjoint(sums)
    line = line_of(one.node)
    regions = [each for each in procedure.model.regions if each.first < line <= each.last]
    around = [each.words for each in regions if re.match(r"parallel\b", each.words)][-1:]
    if not around:
        return False  # whose variables they are is not known
    if "default(private)" in around[0].replace(" ", "") or "reduction" in around[0]:
        return False
    return Directive(one.node, one.statement, around[0]).private.isdisjoint(sums)


def _not_shared(node: Node, words: str, names: set[str]) -> list[Edit] | None:
    """Edits that take names out of the directive's `shared`; None where that is not done easily."""
    shared = {name.strip() for each in re.findall(r"\bshared\s*\(([^)]*)\)", words) for name in each.split(",")} & names
    edits: list[Edit] = []
    one: Node | None = node
    while one is not None and one.type == "comment" and shared and one.text is not None:
        for match in re.finditer(rb"\bshared\s*\(([^)]*)\)", one.text, re.IGNORECASE):
            listed = [each.strip() for each in match[1].split(b",")]
            kept = [each for each in listed if each.decode().lower() not in shared]
            if len(kept) < len(listed):
                if not kept:
                    return None
                shared -= {each.decode().lower() for each in listed}
                edits.append(Edit(one.start_byte + match.start(1), one.start_byte + match.end(1), b", ".join(kept)))
        one = one.next_named_sibling
    return None if shared else edits


def _protected(sections: list[Node], outer: Node, function: Function) -> dict[str, str]:
    """Names that the sections add to, with the operator, if they hold nothing else and no other statement of
    the loop touches these; else nothing.
    """
    protected: list[int] = []
    opened: int | None = None
    for each in sections:
        words = text_of(each)
        if words.startswith("!$omp end"):
            if opened is not None:
                protected.extend(range(opened + 1, line_of(each)))
            opened = None
        elif "atomic" in words:
            protected.append(line_of(each) + 1)
        else:
            opened = line_of(each)
    first, last = line_of(outer), int(outer.end_point[0]) + 1
    listed = [
        (one.expr, one.line in protected) for one in function.statements if first <= one.line <= last and one.expr
    ]
    names: dict[str, str] = {}
    left: Counter[str] = Counter()  # uses of each name that are still to be found: two in each sum
    for expr, _ in (each for each in listed if each[1]):
        found = _added(expr)
        if found is None or names.setdefault(*found) != found[1]:
            return {}
        left[found[0]] += 2
    for expr, inside in listed:
        used = [each.text for each in expr.walk() if each.kind == Kind.NAME and each.text in names]
        if used and not inside:
            return {}
        left.subtract(used)
    return {} if any(left.values()) else names


def _name(target: Expr) -> str:
    if target.kind == Kind.NAME:
        return target.text
    if target.kind == Kind.INDEX and target.base is not None and target.base.kind == Kind.NAME:
        return target.base.text
    return ""


def _added(expr: Expr) -> tuple[str, str] | None:
    """Name and operator of `x = x + …`, `x = x*…` and `x = max(x, …)`."""
    if expr.kind != Kind.ASSIGN:
        return None
    target, whole = expr.parts
    name = _name(target)
    if not name:
        return None
    if whole.kind == Kind.CALL and whole.text in ("max", "min") and len(whole.parts) == 2:
        return (name, whole.text) if str(target) in map(str, whole.parts) else None
    if whole.kind != Kind.BINARY or whole.text not in ("+", "-", "*"):
        return None
    if whole.text == "*":
        return (name, "*") if str(whole.parts[0]) == str(target) else None
    if whole.text == "+" and str(whole.parts[1]) == str(target):
        return name, "+"
    left = whole
    while left.kind == Kind.BINARY and left.text in ("+", "-"):
        left = left.parts[0]
    return (name, "+") if str(left) == str(target) else None
