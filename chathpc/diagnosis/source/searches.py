"""Searches that look at one item after the other, in loops that make them again and again, and work for each pair of items."""

from __future__ import annotations

from chathpc.diagnosis.source import affine
from chathpc.diagnosis.source.layout import OF_NODES, declaration_of, trips
from chathpc.diagnosis.source.model import Does, Expr, Function, Kind, Loop, Statement, Unit, assignments, expressions
from chathpc.diagnosis.source.sign import UNROLLED, Sign

#: Functions that compare two texts or records.
COMPARING = frozenset({"strcmp", "strncmp", "strcasecmp", "memcmp", "compare", "equals", "strcoll"})
#: What advice against them says: for items that are looked for, and for those whose distance is.
_LOOKED_UP, _NEIGHBOURS = r"look (items )?up|binary search|set or dict", "all pairs"
_OPERATORS = frozenset({"==", "!=", "<", ">", "<=", ">="})
#: What makes a container longer.
_GROWING = frozenset({"push_back", "emplace_back", "push_front", "append", "insert", "emplace"})


def linear_search(function: Function, unit: Unit, loop: Loop) -> Sign | None:
    """A loop that does nothing but compare items with something that stays, and leaves when it finds it.

    Loops of few iterations, searches for constants (the end of a text, a free slot), loops that go on where they stopped
    (a merge of two sorted lists), those that search another row each time and loops that compute are none.
    """
    count = trips(loop, unit.constants)
    if count is not None and count <= UNROLLED:
        return None
    inside = function.inside(loop.index)
    if any(one.loop != loop.index for one in inside):
        return None
    compared = _compared(function, loop, inside)
    if compared is None or not _only_looks(loop, inside) or _is_own_row(function, unit, loop, compared):
        return None
    if not _leaves(loop, inside) or not _starts_anew(function, loop):
        return None
    container = _container(loop, compared)
    grows = container is not None and _grows(function, container)
    text = f"compares {shown(function, compared)} one after the other"
    return Sign(
        "quadratic-algorithm", loop.first, loop.first, loop.last,
        text + (f", and {function.name} adds to {container}" if grows else ""),
        "searches one item after the other",
        (*(() if grows else ("The number of items may be small and fixed.",)), *_waits(loop, inside)),
        calls=True, fits=_LOOKED_UP,
    )  # fmt: skip


def _is_own_row(function: Function, unit: Unit, loop: Loop, compared: Expr) -> bool:
    """True if what is searched moves on with the loop around it, so that nothing is looked at twice."""
    if loop.parent < 0:
        return False
    scope = affine.scope_of(function, unit)
    moves = affine.advance(function, function.loops[loop.parent], scope)
    places = (
        part
        for one in compared.walk()
        if one.kind == Kind.INDEX
        and one.base is not None
        and one.names() & _elements(function, loop, function.inside(loop.index))
        for part in (one.base, *one.parts)
    )
    return bool(moves.by) and any(affine.stride(each, scope, moves) for each in places)


def _waits(loop: Loop, inside: tuple[Statement, ...]) -> tuple[str, ...]:
    """What else may take the time of a search along a list."""
    steps = (*loop.updates, *assignments(inside))
    if any(one.parts[1].kind == Kind.MEMBER and str(one.parts[1].base) == str(one.parts[0]) for one in steps):
        return (
            "Each step also waits for the address of the next item (memory latency); fewer steps help against both.",
        )
    return ()


def shown(function: Function, compared: Expr) -> str:
    """The comparison as it is written, where it is short enough for a sentence."""
    text = function.show(compared)
    return text if len(text) <= 60 else "items"


def _elements(function: Function, loop: Loop, inside: tuple[Statement, ...]) -> frozenset[str]:
    """Names that move with the loop: its variable, a pointer that it steps on, and what is set from these."""
    names = set(loop.updated)
    for one in assignments(inside):
        target, read = one.parts[0], one.parts[1].names()
        if target.kind == Kind.NAME and (target.text in read or one.text != "=" or names & read):
            names.add(target.text)
    return frozenset(names)


def _compared(function: Function, loop: Loop, inside: tuple[Statement, ...]) -> Expr | None:
    """The comparison of an item with a key that the loop does not change."""
    moving = _elements(function, loop, inside)
    items = set(loop.updated) if loop.container is not None else set()
    named = [one for one in assignments(inside) if one.parts[0].kind == Kind.NAME]
    items |= {one.parts[0].text for one in named if one.text == "=" and _is_part(one.parts[1])}
    local = {one.parts[0].text for one in named}
    for one in inside:
        if one.does != Does.CONDITION or one.expr is None:
            continue
        for expr in one.expr.walk():
            sides: tuple[Expr, ...] = ()
            if expr.kind == Kind.BINARY and expr.text in _OPERATORS:
                sides = expr.parts
            elif expr.kind == Kind.CALL and expr.short in COMPARING:
                sides = (*((expr.base,) if expr.base is not None else ()), *expr.parts)[:2]
            if len(sides) != 2:
                continue
            for item, key in (sides, sides[::-1]):
                if _is_item(item, frozenset(items), moving) and _is_key(key, moving | local):
                    return expr
    return None


def _is_part(expr: Expr) -> bool:
    """True for an element or member, or what a pointer points to."""
    return expr.kind in (Kind.INDEX, Kind.MEMBER) or (expr.kind == Kind.UNARY and expr.text in ("*", "&"))


def _is_item(expr: Expr, items: frozenset[str], moving: frozenset[str]) -> bool:
    """True for an element: an index with the moving variable, a member of what moves, the variable of a range-for."""
    if expr.kind == Kind.INDEX:
        return any(part.names() & moving for part in expr.parts)
    if expr.kind == Kind.MEMBER and expr.base is not None:
        named = expr.base.kind == Kind.NAME and expr.base.text in moving | items
        return named or _is_item(expr.base, items, moving)
    if expr.kind == Kind.NAME:
        return expr.text in items
    if expr.kind == Kind.UNARY and expr.text == "*":
        return bool(expr.names() & moving)
    if expr.kind == Kind.CALL and expr.short in ("at", "get", "key", "id", "name", "c_str") and expr.base is not None:
        return bool(expr.names() & moving)
    return False


def _is_key(expr: Expr, moving: frozenset[str]) -> bool:
    names = expr.names()
    constant = {name for name in names if name.isupper() or name in ("nullptr", "NULL", "true", "false")}
    return bool(names - constant) and not names & moving


def _only_looks(loop: Loop, inside: tuple[Statement, ...]) -> bool:
    """True if all that happens in every iteration is comparing and stepping on."""
    for one in inside:
        if one.does == Does.OTHER:
            return False
        if one.does == Does.CONDITION and one.expr is not None:
            if any(each.kind == Kind.ASSIGN for each in one.expr.walk()):
                return False
            continue
        if one.does in (Does.EVALUATE, Does.DECLARE) and one.branch == 0:
            expr = one.expr
            if expr is None or expr.kind != Kind.ASSIGN or expr.parts[0].kind != Kind.NAME:
                return False
            value = expr.parts[1]
            steps = value.kind in (Kind.MEMBER, Kind.INDEX, Kind.NAME) or (
                one.does == Does.DECLARE and value.kind == Kind.UNARY
            )
            if not steps and not (expr.text in ("+=", "-=") and value.kind == Kind.NUMBER) and not _plus_one(expr):
                return False
    return True


def _plus_one(expr: Expr) -> bool:
    target, value = expr.parts
    plus = value.kind == Kind.BINARY and value.text == "+" and value.parts[1].kind == Kind.NUMBER
    return plus and str(value.parts[0]) == str(target)


def _leaves(loop: Loop, inside: tuple[Statement, ...]) -> bool:
    if any(one.does in (Does.RETURN, Does.BREAK) and one.branch for one in inside):
        return True
    condition = loop.condition
    return (
        condition is not None
        and not loop.counted
        and any(each.kind == Kind.BINARY and each.text in ("&&", "!=") for each in condition.walk())
        and not any(one.branch for one in inside)
    )


def _starts_anew(function: Function, loop: Loop) -> bool:
    """True if the loop begins at the first item each time: its variable is set just before it, not only further out.

    The chain of a hash table's bucket, a slot computed from the key, or a row of a sparse matrix is no such beginning.
    """
    if loop.container is not None:
        return True
    if loop.start is not None:
        return is_front(loop.start, function)
    outer = loop.parent
    inside = function.inside(loop.index)
    stepping = {one.parts[0].text for one in assignments(inside) if one.parts[0].kind == Kind.NAME} | loop.updated
    before = [
        one.expr
        for one in function.statements
        if one.loop == outer and one.line <= loop.first and one.does in (Does.DECLARE, Does.EVALUATE)
    ]
    set_there = [one for one in before if one is not None and one.kind == Kind.ASSIGN and one.text == "="]
    starts = [one.parts[1] for one in set_there if one.parts[0].text in stepping]
    return bool(starts) and all(is_front(start, function) for start in starts)


_FRONTS = frozenset({"begin", "cbegin", "rbegin", "front", "data", "head", "first"})


def is_front(start: Expr, function: Function, depth: int = 0) -> bool:
    """True for a constant, the head of a list, an iterator's beginning, or the item behind another loop's."""
    if start.kind in (Kind.NUMBER, Kind.MEMBER):
        return start.kind == Kind.NUMBER or not any(part.kind == Kind.INDEX for part in start.walk())
    if start.kind == Kind.NAME:
        return depth > 4 or all(is_front(value, function, depth + 1) for value in function.values(start.text))
    if start.kind == Kind.CALL:
        return start.short in _FRONTS
    if start.kind == Kind.BINARY and start.text in ("+", "-"):
        return all(is_front(part, function, depth + 1) for part in start.parts)
    return False


def _container(loop: Loop, compared: Expr) -> str | None:
    if loop.container is not None:
        return str(loop.container)
    for expr in compared.walk():
        if expr.kind == Kind.INDEX and any(part.names() & loop.updated for part in expr.parts):
            return str(expr.base)
    return None


def _grows(function: Function, container: str) -> bool:
    """True if the function adds to the container, or writes behind its end (`list[n++] = x`)."""
    for one in expressions(function.statements):
        behind = one.kind == Kind.INDEX and any(part.kind == Kind.ASSIGN for part in one.parts)
        if (behind or (one.kind == Kind.CALL and one.short in _GROWING)) and str(one.base) == container:
            return True
    return False


#: Searches of the C++ standard library from one end to the other, and Fortran's over whole arrays.
_SEARCHING = frozenset({"find", "find_if", "find_if_not", "count", "count_if", "search", "any_of", "none_of"})
#: Those that halve a range, which iterators of single nodes cannot: they step there one by one (clang-tidy,
#: performance-inefficient-algorithm).
_HALVING = frozenset({"lower_bound", "upper_bound", "equal_range", "binary_search"})
_FORTRAN_SEARCHING = frozenset({"any", "findloc", "count"})


def library_search(function: Function, unit: Unit, loop: Loop | None, line: int) -> Sign | None:
    """A call that looks through a whole range, `std::find`, Fortran's `any(list == x)`: in a loop, or with None in a function that is
    called in one.
    """
    moving = function.changing(loop.index) if loop is not None else frozenset()
    around = f"in the loop over {loop.variable or 'items'}" if loop is not None else f"in each call of {function.name}"
    for one in function.inside(loop.index) if loop is not None else function.statements:
        if one.expr is None or one.line != line:
            continue
        for call in one.expr.calls():
            if function.fortran:
                compared = [part for part in call.parts if part.kind == Kind.BINARY and part.text == "=="]
                hit = call.text in _FORTRAN_SEARCHING and (call.text == "findloc" or bool(compared))
            else:
                ranged = call.base is None and len(call.parts) >= 3 and _is_range(call)
                hit = ranged and call.short in _SEARCHING
                if ranged and call.short in _HALVING and _is_of_nodes(call, function, unit):
                    return Sign(
                        "quadratic-algorithm", line, line, line,
                        f"steps from node to node in {call.short} {around}: iterators of a set, map or list cannot jump",
                        f"steps through nodes one by one in {call.short}",
                        calls=True, fits=_LOOKED_UP,
                    )  # fmt: skip
            if hit and (loop is None or call.names() & moving):
                return Sign(
                    "quadratic-algorithm", line, line, line,
                    f"searches a whole list with {call.short} {around}",
                    f"searches a list with {call.short} {'in a loop' if loop is not None else 'in each call'}",
                    ("The list may be short.",), calls=True, fits=_LOOKED_UP,
                )  # fmt: skip
    return None


def _is_range(call: Expr) -> bool:
    first, second = call.parts[0], call.parts[1]
    return "begin" in str(first) and "end" in str(second)


def _is_of_nodes(call: Expr, function: Function, unit: Unit) -> bool:
    """True for a range of a container whose items are single nodes."""
    begin = call.parts[0]
    container = begin.base if begin.base is not None else next(iter(begin.parts), None)
    declared = declaration_of(container, function, unit) if container is not None else None
    return declared is not None and bool(OF_NODES.search(declared.type))


def pairs(function: Function, unit: Unit, loop: Loop) -> Sign | None:
    """Two nested loops that compare every item with every other for equality, and do nothing else."""
    if loop.parent < 0:
        return None
    outer = function.loops[loop.parent]
    known = [trips(each, unit.constants) for each in (loop, outer)]
    if not all(each.counted or each.container is not None for each in (loop, outer)) or any(
        count is not None for count in known
    ):
        return None
    if loop.start is not None and not is_front(loop.start, function):
        return None
    inside = function.inside(loop.index)
    if any(one.loop != loop.index for one in inside) or any(
        one.does in (Does.EVALUATE, Does.OTHER) and one.branch == 0 for one in inside
    ):
        return None
    asked = [
        (one, part)
        for one in inside
        if one.does == Does.CONDITION and one.expr is not None and one.expr is not loop.condition
        for part in one.expr.walk()
    ]
    near = any(part.kind == Kind.BINARY and part.text in ("<", "<=", ">", ">=") for _, part in asked)
    for one, expr in asked:
        equal = expr.kind == Kind.BINARY and expr.text == "=="
        sides = expr.parts if equal else ()
        if expr.kind == Kind.CALL and expr.short in COMPARING:
            sides = expr.parts[:2]
        if len(sides) == 2 and (_apart(sides[0], sides[1], loop, outer) or _apart(sides[1], sides[0], loop, outer)):
            return Sign(
                "quadratic-algorithm", one.line, loop.first, loop.last,
                f"compares every item with every other: {shown(function, expr)}",
                "compares every item with every other",
                ("All pairs may be needed, or the number of items small.",), calls=True, fits=_NEIGHBOURS if near else _LOOKED_UP,
            )  # fmt: skip
    return None


def _apart(one: Expr, other: Expr, inner: Loop, outer: Loop) -> bool:
    """True if one side is an item of the inner loop and the other one of the outer: `a[i].id == b[j].id`."""
    mine, others = inner.updated | {inner.variable}, outer.updated | {outer.variable}

    def is_item_of(expr: Expr, own: frozenset[str], far: frozenset[str]) -> bool:
        indexed = any(
            each.kind == Kind.INDEX and any(part.names() & own for part in each.parts) for each in expr.walk()
        )
        element = expr.kind == Kind.MEMBER and bool(expr.names() & own)
        return (indexed or element) and not expr.names() & far

    return is_item_of(one, mine, others) and is_item_of(other, others, mine)


def sorting(function: Function, unit: Unit, loop: Loop) -> Sign | None:
    """Sorting by exchanging neighbours (bubble sort) or by shifting items one place (insertion sort), inside another loop."""
    if loop.parent < 0:
        return None
    count = trips(loop, unit.constants)
    inside = function.inside(loop.index)
    if (count is not None and count <= UNROLLED) or any(one.loop != loop.index for one in inside):
        return None
    compared = any(
        each.kind == Kind.BINARY
        and each.text in ("<", ">", "<=", ">=")
        and any(part.kind == Kind.INDEX for part in each.walk())
        for one in inside
        if one.does == Does.CONDITION and one.expr is not None
        for each in one.expr.walk()
    )
    moves = [one for one in assignments(inside) if _is_shift(*one.parts)]
    swaps = [
        one
        for one in expressions(inside)
        if one.kind == Kind.CALL and one.short == "swap" and len(one.parts) == 2 and _is_shift(*one.parts)
    ]
    if not compared or not (moves or swaps):
        return None
    work = [one for one in inside if one.does == Does.EVALUATE and one.expr is not None and one.expr.kind == Kind.CALL]
    if len(work) > len(swaps):
        return None
    array = (moves[0].parts[0] if moves else swaps[0].parts[0]).base
    return Sign(
        "quadratic-algorithm", loop.first, loop.first, loop.last,
        f"sorts {array} by moving items one place at a time", f"sorts {array} by moving items one place at a time",
        ("The array may be short, or nearly sorted already.",), calls=True,
    )  # fmt: skip


def _is_shift(target: Expr, value: Expr) -> bool:
    """True for an item and its neighbour in the same array: `a[j + 1] = a[j]`."""
    indexed = target.kind == value.kind == Kind.INDEX and len(target.parts) == 1
    if not indexed or str(target.base) != str(value.base):
        return False
    one, other = target.parts[0], value.parts[0]

    def split(expr: Expr) -> tuple[str, int]:
        if expr.kind == Kind.BINARY and expr.text in ("+", "-") and str(expr.parts[1]) == "1":
            return str(expr.parts[0]), 1 if expr.text == "+" else -1
        return str(expr), 0

    (name, by), (same, also) = split(one), split(other)
    return name == same and abs(by - also) == 1
