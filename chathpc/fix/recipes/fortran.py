"""Recipes for free-form Fortran: order of loops, powers, invariant calls, OpenMP schedules and sums, files opened in loops."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import permutations
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.affine import Scope, factor, linear
from chathpc.diagnosis.source.fortran import expression, resolved
from chathpc.diagnosis.source.layout import value
from chathpc.diagnosis.source.model import Expr, Function, Kind, Loop
from chathpc.fix.recipes.dependences import is_independent, keeps_order
from chathpc.fix.recipes.directives import uses_openmp
from chathpc.fix.recipes.edits import Edit, indent, line_end, line_start
from chathpc.fix.recipes.fortran_loops import (
    COSTLY,
    INTRINSICS,
    control,
    declarations_end,
    dependences,
    do_node,
    is_index_free_after,
    is_safe,
    nest,
    outside_names,
    own_text,
    pure_function,
    type_text,
    uses,
)
from chathpc.fix.recipes.invariants import fresh_name
from chathpc.fix.recipes.program import Procedure, Program, Spot
from chathpc.fix.recipes.recipe import Change, Context, Semantics
from chathpc.fix.recipes.syntax import children, field, inside, line_of, nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_ELEMENTS = 4096
_POWERS = {
    2.0: "{x}**2", 3.0: "{x}**3", 4.0: "{x}**4", 0.5: "sqrt({x})", 0.25: "sqrt(sqrt({x}))", 1.5: "({x}*sqrt({x}))",
    2.5: "({x}**2*sqrt({x}))", 3.5: "({x}**3*sqrt({x}))", -1.0: "(1/{x})", -0.5: "(1/sqrt({x}))", 0.75: "(sqrt({x})*sqrt(sqrt({x})))",
    -2.0: "(1/{x}**2)", -0.25: "(1/sqrt(sqrt({x})))", -1.5: "(1/({x}*sqrt({x})))",
}  # fmt: skip


def interchanged(context: Context, spot: Spot) -> Iterator[Change]:
    """Loops of a perfect nest change places so that the innermost runs over the first index."""
    procedure, function = spot.procedure, spot.procedure.model
    if not is_safe(procedure):
        return
    done: set[int] = set()
    for loop in function.loops:
        if loop.index in done or not loop.counted:
            continue
        loops = nest(function, loop)
        change = _best_order(loops, procedure, context) if len(loops) > 1 else None
        if change is not None:
            done.update(one.index for one in loops)
            yield change


def _best_order(loops: list[Loop], procedure: Procedure, context: Context) -> Change | None:
    function, text = procedure.model, procedure.source.text
    constants = procedure.source.file.unit.constants
    found, private = dependences(loops, function, context.program, constants)
    variables = {one.variable for one in loops}
    moving = variables | {one.name for one in uses(function, loops[-1], context.program) or [] if one.write}
    if not found.is_known or any(
        not _is_steady(one, moving - {one.variable}) or not is_index_free_after(one.variable, loops[0], function)
        for one in loops
    ):
        return None
    exact = all(one.exact for one in found.reductions.values())
    controls = [control(node) if (node := do_node(procedure, one)) is not None else None for one in loops]
    if any(one is None for one in controls) or (not exact and not context.may_round):
        return None
    if _directive_before(loops[0], procedure) and (
        private or found.reductions or any(each != 0 for vector in found.vectors for each in vector)
    ):
        return None
    costs = [_cost(one.variable, function, loops[-1], constants) for one in loops]
    identity = tuple(range(len(loops)))
    legal = [
        order
        for order in permutations(identity)
        if order != identity and costs[order[-1]] <= 0.6 * costs[-1] and keeps_order(found.vectors, order)
    ]
    if not legal:
        return None
    order = min(
        legal, key=lambda each: (costs[each[-1]], costs[each[-2]], sum(abs(new - old) for new, old in enumerate(each)))
    )
    edits = []
    for place, old in enumerate(order):
        here, there = controls[place], controls[old]
        if place != old and here is not None and there is not None:
            edits.append(Edit(here.start_byte, here.end_byte, text[there.start_byte : there.end_byte]))
    semantics: Semantics = "exact" if exact else "reassociates floating point"
    names = ", ".join(loops[old].variable for old in order)
    return Change(
        {procedure.source.path: tuple(edits)},
        loops[0].first,
        f"interchanges the loops to the order {names}, so that the innermost runs over the first index",
        semantics,
    )


def _is_steady(loop: Loop, moving: set[str]) -> bool:
    sides = [each for each in (loop.start, loop.condition) if each is not None]
    if any(each.kind in (Kind.CALL, Kind.INDEX) for side in sides for each in side.walk()):
        return False
    return (
        loop.counted
        and loop.start is not None
        and not {each.text for side in sides for each in side.walk() if each.kind == Kind.NAME} & moving
    )


def _directive_before(loop: Loop, procedure: Procedure) -> bool:
    node = do_node(procedure, loop)
    previous = node.prev_named_sibling if node is not None else None
    return previous is not None and previous.type == "comment" and own_text(previous).startswith("!$omp")


def _cost(variable: str, function: Function, loop: Loop, constants: dict[str, int]) -> float:
    cost, seen = 0.0, set()
    for statement in function.inside(loop.index):
        for one in statement.expr.walk() if statement.expr is not None else ():
            if one.kind != Kind.INDEX or str(one) in seen:
                continue
            seen.add(str(one))
            for at, part in enumerate(one.parts):
                terms = linear(part, Scope({}, constants), frozenset({variable}))
                step = factor(terms, variable) if terms is not None else None
                if terms is None or step is None:
                    cost += 1.0
                    break
                if step:
                    cost += 0.25 if at == 0 and set(step) == {()} and abs(step[()]) <= 4 else 1.0
                    break
    return cost


def simple_powers(context: Context, spot: Spot) -> Iterator[Change]:
    """`x**1.5` becomes products and square roots."""
    procedure, text = spot.procedure, spot.source.text
    if not is_safe(procedure) or not context.may_round:
        return
    for node in procedure.all("math_expression"):
        if text_of(field(node, "operator")) != "**":
            continue
        base, exponent = field(node, "left"), field(node, "right")
        number = _exponent(exponent, procedure, context.program)
        if base is None or number not in _POWERS or not _is_real(base, procedure):
            continue
        shown = text[base.start_byte : base.end_byte].decode()
        if base.type not in (
            "identifier",
            "call_expression",
            "parenthesized_expression",
            "derived_type_member_expression",
        ):
            continue
        if len(shown) > 40 or any(_is_function(each, procedure) for each in nodes(base, "call_expression")):
            continue
        new = _POWERS[number].format(x=shown)
        yield Change(
            {spot.source.path: (Edit(node.start_byte, node.end_byte, new.encode()),)},
            line_of(node),
            f"computes {text_of(node)} as {new}",
            "rounds differently",
        )


def _is_function(node: Node, procedure: Procedure) -> bool:
    name = own_text(next(iter(children(node)), None))
    known = procedure.model.declared(name) or procedure.source.file.unit.variables.get(name)
    return not (known is not None and known.dims)


def _is_real(base: Node, procedure: Procedure) -> bool:
    names = [own_text(each) for each in nodes(base, "identifier")]
    first = procedure.model.declared(names[0]) if names else None
    first = first or (procedure.source.file.unit.variables.get(names[0]) if names else None)
    return first is not None and first.type.startswith(("real", "double"))


def _exponent(node: Node | None, procedure: Procedure, program: Program) -> float | None:
    number = _number(node)
    if number is not None or node is None or node.type != "identifier":
        return number
    name = own_text(node)
    names = [one.name for one in procedure.model.parameters]
    if name not in names or len(program.named(procedure.model.name)) != 1:
        return None
    head = procedure.source.text[procedure.node.start_byte : procedure.node.end_byte].decode("utf-8", "replace").lower()
    if not re.search(rb"intent\s*\(\s*in\s*\)[^\n]*\b%s\b" % name.encode(), head.encode()):
        return None
    at = names.index(name)
    found: set[float | None] = set()
    for source in program.sources.values():
        if not source.is_fortran:
            return None
        for call in nodes(source.file.tree.root_node, "subroutine_call", "call_expression"):
            if own_text(field(call, "subroutine") or next(iter(children(call)), None)) == procedure.model.name:
                listed = children(next((each for each in children(call) if each.type == "argument_list"), None))
                found.add(_number(listed[at]) if at < len(listed) else None)
    return found.pop() if len(found) == 1 else None


def _number(node: Node | None) -> float | None:
    text = own_text(node)
    if node is None or not ("." in text or "e" in text or "d" in text):
        return None  # whole exponents are products already
    match = re.fullmatch(r"([+-]?\d*\.?\d*(?:[ed][+-]?\d+)?)(?:_\w+)?", text)
    try:
        return float(match[1].replace("d", "e")) if match else None
    except ValueError:
        return None


def hoisted(context: Context, spot: Spot) -> Iterator[Change]:
    """Powers, intrinsic and pure functions whose arguments stay the same are computed before the outermost loop for which that holds."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    function = procedure.model
    at = declarations_end(procedure)
    if not is_safe(procedure) or at is None or "default(none)" in own_text(procedure.node).replace(" ", ""):
        return
    number = 0
    taken: list[Node] = []
    for node in procedure.all("math_expression", "call_expression"):
        if any(inside(node, each) for each in taken) or not _is_costly(node, procedure, program):
            continue
        expr = resolved(expression(node), _arrays(procedure))
        if any(one.kind in (Kind.INDEX, Kind.MEMBER, Kind.OTHER) for one in expr.walk()):
            continue
        statement = node
        while statement.parent is not None and statement.type != "assignment_statement":
            statement = statement.parent
        if statement.type != "assignment_statement":
            continue
        best = None
        inner = function.innermost(line_of(node))
        for loop in function.chain(inner.index) if inner is not None else ():
            if not _stays(expr, loop, function, program):
                break
            best = loop
        own = [one for one in expr.calls() if one.text not in INTRINSICS]
        if best is None or (own and not _is_surely_done(node, procedure)):
            continue
        outer, kind = do_node(procedure, best), type_text(expr, function, program)
        if outer is None or kind is None:
            continue
        name = fresh_name("invariant_value", text, number)
        number += 1
        taken.append(node)
        first = outer
        while (
            first.prev_named_sibling is not None
            and first.prev_named_sibling.type == "comment"
            and own_text(first.prev_named_sibling).startswith("!$omp")
        ):
            first = first.prev_named_sibling
        start, blank = line_start(text, first.start_byte), indent(text, outer.start_byte)
        value_ = text[node.start_byte : node.end_byte]
        written = _declared_type(kind, procedure)
        yield Change(
            {spot.source.path: (
                Edit(at, at, b"\n" + indent(text, at - 1) + f"{written} :: {name}".encode()),
                Edit(start, start, blank + f"{name} = ".encode() + value_ + b"\n"),
                Edit(node.start_byte, node.end_byte, name.encode()),
            )},
            line_of(node), f"computes {text_of(node)[:60]} once before the loop over {best.variable or 'items'}",
        )  # fmt: skip


def _arrays(procedure: Procedure) -> frozenset[str]:
    named = {
        **procedure.source.file.unit.variables,
        **{one.name: one for one in (*procedure.model.declarations, *procedure.model.parameters)},
    }
    return frozenset(name for name, one in named.items() if one.dims)


def _declared_type(kind: str, procedure: Procedure) -> str:
    return {"doubleprecision": "double precision"}.get(kind, kind)


def _is_costly(node: Node, procedure: Procedure, program: Program) -> bool:
    if node.type == "math_expression":
        exponent = field(node, "right")
        named = exponent is not None and exponent.type == "identifier" and _is_real(exponent, procedure)
        return text_of(field(node, "operator")) == "**" and (_number(exponent) is not None or named)
    name = own_text(next(iter(children(node)), None))
    known = procedure.model.declared(name) or procedure.source.file.unit.variables.get(name)
    if known is not None and known.dims:
        return False
    return name in COSTLY or pure_function(name, program) is not None


def _stays(expr: Expr, loop: Loop, function: Function, program: Program) -> bool:
    found = uses(function, loop, program)
    if found is None:
        return False
    moving = {one.name for one in found if one.write} | {one.variable for one in (loop, *function.loops_in(loop.index))}
    names = {one.text for one in expr.walk() if one.kind == Kind.NAME}
    for call in expr.calls():
        callee = pure_function(call.text, program)
        if callee is not None:
            names |= outside_names(callee)
        elif call.text not in INTRINSICS:
            return False
    return (
        bool(names)
        and not names & moving
        and not (function.returns is not None and function.returns.name in names & moving)
    )


def _is_surely_done(node: Node, procedure: Procedure) -> bool:
    """True if no condition stands around the node inside its loops; a pure function may then run once more at most."""
    one = node.parent
    while one is not None and one != procedure.node:
        if one.type in ("if_statement", "select_case_statement", "where_statement", "else_clause", "elseif_clause"):
            return False
        one = one.parent
    return True


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


def opened_once(context: Context, spot: Spot) -> Iterator[Change]:
    """A file that every iteration opens to append, writes and closes is opened before the loop and closed behind it."""
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
    del context
