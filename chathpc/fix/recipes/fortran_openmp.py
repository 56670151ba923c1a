"""OpenMP in free-form Fortran: schedules, sums instead of critical sections, parallel loops."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.layout import value
from chathpc.diagnosis.source.model import Function, Kind, Loop
from chathpc.fix.recipes.dependences import is_independent
from chathpc.fix.recipes.directives import uses_openmp
from chathpc.fix.recipes.edits import Edit, indent, line_end, line_start
from chathpc.fix.recipes.fortran_accesses import is_safe, uses
from chathpc.fix.recipes.fortran_loops import dependences, do_node, is_index_free_after, own_text
from chathpc.fix.recipes.program import Procedure, Spot
from chathpc.fix.recipes.recipe import Change, Context, Semantics
from chathpc.fix.recipes.syntax import line_of, nodes

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_ELEMENTS = 4096


def dynamic_schedule(context: Context, spot: Spot) -> Iterator[Change]:
    """`schedule(dynamic, 16)` at a parallel loop."""
    yield from _scheduled(spot, "schedule(dynamic, 16)")
    del context


def guided_schedule(context: Context, spot: Spot) -> Iterator[Change]:
    """`schedule(guided)` at a parallel loop."""
    yield from _scheduled(spot, "schedule(guided)")
    del context


def _scheduled(spot: Spot, clause: str) -> Iterator[Change]:
    procedure, text = spot.procedure, spot.source.text
    whole = own_text(procedure.node)
    if "omp_get_thread" in whole or "omp_get_num" in whole:
        return
    for node, words, loop in _directives(procedure):
        if not re.search(r"\bdo\b", words) or "ordered" in words or "nowait" in words or loop is None:
            continue
        if not (spot.cause in ("omp-load-imbalance", "omp-barrier-wait") or _is_uneven(loop, procedure)):
            continue
        written = text[node.start_byte : node.end_byte].decode()
        match = re.search(r"schedule\s*\(([^)]*)\)", written, re.IGNORECASE)
        if match is not None and match[1].strip().lower() != "static":
            continue
        if match is not None:
            edit = Edit(node.start_byte + match.start(), node.start_byte + match.end(), clause.encode())
        elif "schedule" in words:
            continue
        else:
            edit = _with_clause(node, written, clause)
        semantics: Semantics = "reassociates floating point" if "reduction" in words else "exact"
        yield Change({spot.source.path: (edit,)}, line_of(node), f"gives the loop {clause}", semantics)


def _with_clause(node: Node, written: str, clause: str) -> Edit:
    bare = written.rstrip()
    at = node.start_byte + len((bare[:-1].rstrip() if bare.endswith("&") else bare).encode())
    return Edit(at, at, b" " + clause.encode())


def _directives(procedure: Procedure) -> Iterator[tuple[Node, str, Loop | None]]:
    """Directives with all their words (continued lines too), and the loop behind each."""
    for node in procedure.all("comment"):
        words = own_text(node)
        if not words.startswith("!$omp") or words.startswith("!$omp end"):
            continue
        following = node.next_named_sibling
        while following is not None and following.type == "comment" and words.endswith("&"):
            words = words[:-1] + own_text(following).removeprefix("!$omp").removeprefix("&")
            following = following.next_named_sibling
        loop = next(
            (one for one in procedure.model.loops if following is not None and one.first == line_of(following)), None
        )
        yield node, words, loop


def _is_uneven(loop: Loop, procedure: Procedure) -> bool:
    inner = procedure.model.loops_in(loop.index)
    return any(
        not one.counted
        or loop.variable
        in {
            each.text
            for side in (one.start, one.condition)
            if side is not None
            for each in side.walk()
            if each.kind == Kind.NAME and each.text != one.variable
        }
        for one in inner
    )


def without_sections(context: Context, spot: Spot) -> Iterator[Change]:
    """Critical sections and atomic updates that hold nothing but sums become a reduction."""
    procedure, text, function = spot.procedure, spot.source.text, spot.procedure.model
    if not is_safe(procedure) or not context.may_round:
        return
    constants = spot.source.file.unit.constants
    for node, words, loop in _directives(procedure):
        if (
            loop is None
            or not re.search(r"\bparallel\s+do\b", words)
            or "reduction" in words
            or "default(none)" in words.replace(" ", "")
        ):
            continue
        outer = do_node(procedure, loop)
        if outer is None:
            continue
        sections = [each for each in nodes(outer, "comment") if own_text(each).startswith("!$omp")]
        if not sections or not all(
            re.match(r"!\$omp\s+(?:end\s+)?(?:critical|atomic)\b(?!.*(?:read|write|capture))", own_text(each))
            for each in sections
        ):
            continue
        names = _protected(sections, outer, function)
        found = uses(function, loop, context.program)
        if not names or found is None:
            continue
        if any(name in words for name in (f"private({one})" for one in names)):
            continue
        good = True
        for name in names:
            declared = function.declared(name) or spot.source.file.unit.variables.get(name)
            if declared is None or not declared.type.startswith(("real", "integer", "double")):
                good = False
                break
            sizes = [value(each, constants) for each in declared.dims]
            total = 1
            for size in sizes:
                total *= size or _MOST_ELEMENTS + 1
            good = good and total <= _MOST_ELEMENTS
        if not good:
            continue
        lines = [Edit(line_start(text, each.start_byte), line_end(text, each.end_byte - 1), b"") for each in sections]
        written = text[node.start_byte : node.end_byte].decode()
        edits = (*lines, _with_clause(node, written, f"reduction(+:{', '.join(names)})"))
        yield Change(
            {spot.source.path: edits},
            line_of(sections[0]),
            f"sums {', '.join(names)} by a reduction instead of in a critical section",
            "reassociates floating point",
        )


def _protected(sections: list[Node], outer: Node, function: Function) -> list[str]:
    """Names that the sections add to, if they hold nothing else and no other statement of the loop touches these; else nothing."""
    protected: list[int] = []
    opened: int | None = None
    for each in sections:
        words = own_text(each)
        if words.startswith("!$omp end"):
            if opened is not None:
                protected.extend(range(opened + 1, line_of(each)))
            opened = None
        elif "atomic" in words:
            protected.append(line_of(each) + 1)
        else:
            opened = line_of(each)
    names: list[str] = []
    first, last = line_of(outer), int(outer.end_point[0]) + 1
    inside_statements = [one for one in function.statements if first <= one.line <= last and one.expr is not None]
    for one in inside_statements:
        if one.line in protected:
            expr = one.expr
            if (
                expr is None
                or expr.kind != Kind.ASSIGN
                or expr.parts[1].kind != Kind.BINARY
                or expr.parts[1].text != "+"
            ):
                return []
            target, total = expr.parts[0], expr.parts[1]
            name = (
                target.text
                if target.kind == Kind.NAME
                else target.base.text
                if target.kind == Kind.INDEX and target.base is not None and target.base.kind == Kind.NAME
                else ""
            )
            if (
                not name
                or str(total.parts[0]) != str(target)
                or any(used.kind == Kind.NAME and used.text == name for used in total.parts[1].walk())
            ):
                return []
            if name not in names:
                names.append(name)
    counts = dict.fromkeys(names, 0)
    for one in inside_statements:
        for used in one.expr.walk() if one.expr is not None else ():
            if used.kind == Kind.NAME and used.text in counts:
                if one.line not in protected:
                    return []
                counts[used.text] += 1
    updates = {
        name: sum(
            1
            for one in inside_statements
            if one.line in protected and one.expr is not None and name in one.expr.parts[0].names()
        )
        for name in names
    }
    return names if all(counts[name] == 2 * updates[name] for name in names) else []


def parallel_loop(context: Context, spot: Spot) -> Iterator[Change]:
    """`parallel do` at an outermost loop whose iterations are proved independent."""
    procedure, text, function = spot.procedure, spot.source.text, spot.procedure.model
    flags = context.project.flags
    if (
        not is_safe(procedure)
        or not uses_openmp(context.program, flags.value if flags else None)
        or "!$omp" in own_text(procedure.node)
    ):
        return
    if any(
        "!$omp parallel" in own_text(one.node) and re.search(rf"\b{procedure.model.name}\b", own_text(one.node))
        for one in context.program.procedures
        if one is not procedure
    ):
        return
    for loop in function.loops:
        if loop.parent >= 0 or not loop.counted or not function.loops_in(loop.index):
            continue
        found, private = dependences([loop], function, context.program, spot.source.file.unit.constants)
        if (
            not found.is_known
            or not is_independent(found.vectors)
            or not is_index_free_after(loop.variable, loop, function)
        ):
            continue
        exact = all(one.exact for one in found.reductions.values())
        node = do_node(procedure, loop)
        if node is None or (not exact and not context.may_round):
            continue
        private |= {one.variable for one in function.loops_in(loop.index)}
        clauses = f" private({', '.join(sorted(private))})" if private else ""
        clauses += "".join(f" reduction(+:{name})" for name in found.reductions)
        start, blank = line_start(text, node.start_byte), indent(text, node.start_byte)
        end = line_end(text, node.end_byte - 1)
        edits = (
            Edit(start, start, blank + f"!$omp parallel do{clauses}\n".encode()),
            Edit(end, end, blank + b"!$omp end parallel do\n"),
        )
        semantics: Semantics = "exact" if exact else "reassociates floating point"
        yield Change(
            {spot.source.path: edits},
            loop.first,
            f"shares the loop over {loop.variable} among threads: its iterations are independent",
            semantics,
        )
