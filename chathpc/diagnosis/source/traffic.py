"""Loops that move much memory for little arithmetic: streams, gathers, lists."""

from __future__ import annotations

from dataclasses import dataclass

from chathpc.diagnosis.source.invariant import pure_name
from chathpc.diagnosis.source.layout import OF_NODES, array_bytes, declaration_of, value
from chathpc.diagnosis.source.model import (
    Does,
    Expr,
    Function,
    Kind,
    Loop,
    Statement,
    Unit,
    assignments,
    expressions,
    root,
)
from chathpc.diagnosis.source.sign import Sign, body
from chathpc.diagnosis.source.strides import CACHE, Step, Walk, element_size, walks

#: Calls that compile to one or two instructions.
_CHEAP = frozenset({"abs", "fabs", "min", "max", "fmin", "fmax", "fma", "real", "dble", "int"})
_ARITHMETIC = frozenset({"+", "-", "*", "/"})
#: An element whose type the source does not tell is taken for a double.
_ELEMENT = 8
#: With more operations for each load the arithmetic hides part of the wait.
_FEW = 10


@dataclass(frozen=True, slots=True)
class Stream:
    """What an iteration of a streaming loop moves and computes."""

    bytes: int
    operations: int
    arrays: tuple[str, ...]


def stream(function: Function, unit: Unit, loop: Loop, *, branches: bool = False) -> Stream | None:
    """Bytes and operations of one iteration of a loop that walks arrays with unit stride, and does nothing else.

    None for loops with other accesses, calls, conditions (unless `branches` allows them), or a dependence on the iteration before (which
    limits them otherwise). An array counts once however many neighbours are read, and once more where it is written.
    """
    inside = body(function, loop, unit)
    if inside is None or not loop.counted:
        return None
    own = [one for one in inside if one.does in (Does.EVALUATE, Does.DECLARE)]
    leaves = (Does.RETURN, Does.BREAK, Does.CONTINUE, Does.OTHER)
    if not own or any(one.does in leaves or (one.branch and not branches) for one in inside):
        return None
    steps = walks(function, unit, loop, own)
    moving = [walk for walk in steps if walk.step != Step.STILL]
    if not moving or any(walk.step != Step.NEAR for walk in moving):
        return None
    if any(one.kind == Kind.CALL and one.short not in _CHEAP for one in expressions(own)):
        return None
    if any(one.kind == Kind.UNARY and one.text == "*" for one in expressions(own)):
        return None
    written = {str(one.parts[0]) for one in assignments(own) if one.parts[0].kind == Kind.INDEX}
    bases = {str(walk.access.base): walk for walk in moving}
    for base in {_base(text, moving) for text in written} - {None}:
        others = [walk for walk in moving if str(walk.access.base) == base and str(walk.access) not in written]
        if others:
            return None  # a recurrence, or neighbours that are changed: the iteration before is waited for
    total = sum((element_size(walk.access, function, unit) or _ELEMENT) for walk in bases.values())
    total += sum(
        (element_size(walk.access, function, unit) or _ELEMENT)
        for walk in moving
        if str(walk.access) in written and _is_read(walk, own)
    )
    return Stream(total, _operations(own, moving, loop), tuple(bases))


def _base(text: str, moving: list[Walk]) -> str | None:
    return next((str(walk.access.base) for walk in moving if str(walk.access) == text), None)


def _is_read(walk: Walk, own: list[Statement]) -> bool:
    shown = str(walk.access)
    return any(
        (str(one.parts[0]) == shown and one.text != "=") or any(str(each) == shown for each in one.parts[1].walk())
        for one in assignments(own)
    )


def _operations(own: list[Statement], moving: list[Walk], loop: Loop) -> int:
    """Additions, multiplications and divisions of values, without those that compute an index."""
    count, todo = 0, [one.expr for one in own if one.expr is not None]
    heavy = 0
    while todo:
        expr = todo.pop()
        if expr.kind == Kind.INDEX:
            continue
        if expr.kind == Kind.BINARY and expr.text in _ARITHMETIC:
            count += 1
            heavy += expr.text == "/"
        if expr.kind == Kind.BINARY and expr.text == "**":
            heavy += 1
        if expr.kind == Kind.ASSIGN and expr.text in ("+=", "-=", "*=", "/="):
            count += 1
            heavy += expr.text == "/="
        todo.extend(expr.parts)
    return count + 20 * heavy  # a division takes as long as some twenty vector additions (Fog's instruction tables)


#: Bytes for each operation of a core that computes in vectors and reads from memory (some 10 GB/s, 24 billion operations a second in
#: vectors of four doubles at 3 GHz: 0.4); chathpc: twice that, since not every loop computes in vectors.
_BALANCE = 0.8


def bandwidth(function: Function, unit: Unit, loop: Loop, least: float) -> Sign | None:
    """A streaming loop over arrays that are not known to fit a cache, with at least `least` bytes for each operation; with fewer it is only
    suspected, as arithmetic may hide the wait.
    """
    strict = stream(function, unit, loop)
    found = strict or stream(function, unit, loop, branches=True)
    if found is None or found.bytes < _BALANCE * max(found.operations, 1):
        return None
    certain = strict is not None and found.bytes >= least * max(found.operations, 1)
    sizes = [array_bytes(Expr(Kind.NAME, name), function, unit) for name in found.arrays]
    known = [size for size in sizes if size is not None]
    if len(known) == len(sizes) and sum(known) <= 8 * CACHE:
        return None
    many = "operation" if found.operations == 1 else "operations"
    return Sign(
        "memory-bandwidth", loop.first, loop.first, loop.last,
        f"moves {found.bytes} bytes for {found.operations} {many} in each iteration of the loop over {loop.variable}, with unit stride",
        f"streams through {', '.join(found.arrays[:3])} with little arithmetic",
        ("The source does not show how large the arrays are: data in the cache would not make the loop wait for memory.",),
        alone=certain, suspected=not certain, limit=True,
    )  # fmt: skip


def chase(function: Function, unit: Unit, loop: Loop) -> Sign | None:
    """A loop that follows a list, each address read from the item before, with little work on the way."""
    inside = function.inside(loop.index)
    if any(one.loop != loop.index for one in inside) or _is_fresh(function, loop):
        return None
    for one in (*loop.updates, *expressions(tuple(each for each in inside if each.branch == 0))):
        if one.kind != Kind.ASSIGN or one.text != "=" or one.parts[0].kind != Kind.NAME:
            continue
        target, value = one.parts
        follows = value.kind == Kind.MEMBER and str(value.base) == target.text
        hops = value.kind == Kind.INDEX and [str(part) for part in value.parts] == [target.text]
        if hops and value.base is not None and (array_bytes(value.base, function, unit) or 2 * CACHE) <= CACHE:
            continue
        if (follows or hops) and _work(inside) <= _FEW and not _other_calls(inside):
            return Sign(
                "memory-latency", one.line or loop.first, loop.first, loop.last,
                f"goes from item to item by {target} = {function.show(value)}: each address must arrive before the next can be requested",
                "follows pointers from item to item",
                memory=str(root(value.base)) if hops and value.base is not None else target.text,
            )  # fmt: skip
    return None


#: What helps where items are in an array already, and read in an order that other data gives.
SCATTERED = (
    "Renumber nodes or sort particles by cell (reverse Cuthill-McKee, space-filling curve), so that neighbours are close in memory.",
    "Keep together what is read together, in as few bytes as will do (32-bit indices, float), and prefetch a few elements ahead "
    "(__builtin_prefetch in C and C++) in indirect loops.",
    "Request huge pages (madvise with MADV_HUGEPAGE, GLIBC_TUNABLES=glibc.malloc.hugetlb=1) where there are many TLB misses.",
)


def nodes(function: Function, unit: Unit, loop: Loop) -> Sign | None:
    """A loop over a container of single nodes, with little work for each."""
    name = root(loop.container) if loop.container is not None else None
    declared = declaration_of(name, function, unit) if name is not None else None
    inside = function.inside(loop.index)
    if name is None or declared is None or not OF_NODES.search(declared.type):
        return None
    if any(one.loop != loop.index for one in inside) or _work(inside) > 2 * _FEW or _other_calls(inside):
        return None
    return Sign(
        "memory-latency", loop.first, loop.first, loop.last,
        f"goes through {name}, each item of which is a node of its own: its address must arrive before the next can be requested",
        f"goes through the nodes of {name} one by one",
        memory=str(name),
    )  # fmt: skip


def _is_fresh(function: Function, loop: Loop) -> bool:
    """True if a loop around it asks for another list each time: what a function has just made is still in the cache."""
    if loop.start is not None and (
        any(loop.start.calls()) or any(each.kind == Kind.INDEX for each in loop.start.walk())
    ):
        return True  # the short chain of a hash table's bucket is one as well
    if loop.parent < 0:
        return False
    names = loop.start.names() if loop.start is not None else frozenset()
    beside = [one for one in function.statements if one.loop == loop.parent and one.line <= loop.first]
    if loop.start is None:
        names = frozenset(each.parts[0].text for each in assignments(function.inside(loop.index)))
    return any(
        one.expr is not None
        and one.expr.kind == Kind.ASSIGN
        and one.expr.parts[0].text in names
        and (any(one.expr.parts[1].calls()) or any(each.kind == Kind.INDEX for each in one.expr.parts[1].walk()))
        for one in beside
    )


def _work(inside: tuple[Statement, ...]) -> int:
    return sum(one.kind == Kind.BINARY and one.text in _ARITHMETIC for one in expressions(inside))


def _other_calls(inside: tuple[Statement, ...]) -> bool:
    return any(
        one.kind == Kind.CALL and one.short not in _CHEAP and not pure_name(one.short) for one in expressions(inside)
    )


def gather(function: Function, unit: Unit, loop: Loop) -> Sign | None:
    """An inner loop that reads an array at places that another array gives, with few operations for each."""
    inside = body(function, loop, unit)
    if inside is None or not loop.counted or _other_calls(inside):
        return None
    own = tuple(one for one in inside if one.does != Does.CONDITION)
    found = walks(function, unit, loop, own)
    written = {str(one.parts[0]) for one in assignments(own)}
    scattered = [walk for walk in found if _is_gather(walk, function, unit, loop)]
    far = [walk for walk in scattered if str(walk.access) not in written]
    if not far or _work(own) > 4 * len(far) or any(str(each.access) in written for each in scattered):
        return None
    indices = {
        str(part.base)
        for walk in far
        for one in walk.access.parts
        for part in _resolved(one, function, loop)
        if part.kind == Kind.INDEX
    }
    streams = (
        {str(walk.access.base) for walk in found if walk.step == Step.NEAR and str(walk.access) not in written}
        - indices
        - {str(walk.access.base) for walk in far}
    )
    access = far[0].access
    against = ["The source does not show in which order it is read: sequential access would be fast."]
    if streams:
        against.append(
            f"The loop also streams through {', '.join(sorted(streams)[:2])}: the bandwidth of memory may be the limit instead."
        )
    return Sign(
        "memory-latency", access.line or loop.first, loop.first, loop.last,
        f"reads {function.show(access)} at places that the program computes or another array gives, which no prefetcher can predict",
        f"reads {function.show(access.base)} in an order given by other data",
        tuple(against), limit=bool(streams), memory=str(root(access)), advice=SCATTERED,
    )  # fmt: skip


def random_access(function: Function, unit: Unit, loop: Loop) -> Sign | None:
    """An inner loop that reads or changes an array at places that a random number generator in the loop gives."""
    inside = body(function, loop, unit)
    if inside is None or _work(inside) > 2 * _FEW:
        return None
    named = [one for one in assignments(inside) if one.parts[0].kind == Kind.NAME]
    scrambled = {one.parts[0].text for one in named if _scrambles(one, one.parts[0].text)}
    for one in expressions(inside) if scrambled else ():
        if one.kind != Kind.INDEX or one.base is None or len(one.parts) != 1:
            continue
        parts = _resolved(one.parts[0], function, loop)
        if not any(part.kind == Kind.NAME and part.text in scrambled for part in parts):
            continue
        if (array_bytes(one.base, function, unit) or 2 * CACHE) <= CACHE:
            continue
        if _is_narrow(parts, unit):
            continue
        return Sign(
            "memory-latency", one.line or loop.first, loop.first, loop.last,
            f"uses {function.show(one)} at places that look random, which no prefetcher can predict",
            f"uses {function.show(one.base)} at places that look random",
            memory=str(root(one)), advice=SCATTERED,
        )  # fmt: skip
    return None


def _is_narrow(parts: list[Expr], unit: Unit) -> bool:
    """True for an index that a remainder or mask keeps within what a cache holds."""
    ranges = [
        value(part.parts[1], unit.constants) for part in parts if part.kind == Kind.BINARY and part.text in ("%", "&")
    ]
    return any(most is not None and most * _ELEMENT <= CACHE for most in ranges)


def _scrambles(one: Expr, name: str) -> bool:
    """True for a step of a random number generator: `s = s * a + c`, `s ^= s << 13`."""
    inner = list(one.parts[1].walk())
    again = any(each.kind == Kind.NAME and each.text == name for each in inner)
    if not again:
        return False
    if one.text == "^=" and any(each.kind == Kind.BINARY and each.text in ("<<", ">>") for each in inner):
        return True
    times = [each for each in inner if each.kind == Kind.BINARY and each.text == "*"]
    large = any(
        part.kind == Kind.NUMBER and len(part.text) > 4 and "." not in part.text
        for each in times
        for part in each.parts
    )
    return one.text == "=" and large


def bisection(function: Function, unit: Unit, loop: Loop) -> Sign | None:
    """A loop that halves a range by what it reads in the middle: the next address is known when the value is there."""
    inside = function.inside(loop.index)
    if any(one.loop != loop.index for one in inside):
        return None
    named = [one.parts for one in assignments(inside) if one.parts[0].kind == Kind.NAME]
    halved = {target.text for target, value in named if any(map(_halves, value.walk()))}
    for one in expressions(inside) if halved else ():
        if one.kind != Kind.INDEX or one.base is None or len(one.parts) != 1 or str(one.parts[0]) not in halved:
            continue
        if (array_bytes(one.base, function, unit) or 2 * CACHE) <= CACHE:
            continue
        middle = str(one.parts[0])
        if any(middle in each.parts[1].names() and each.parts[0].text != middle for each in assignments(inside)):
            return Sign(
                "memory-latency", one.line or loop.first, loop.first, loop.last,
                f"looks for a value by halving a range: {function.show(one)} must arrive before the next address is known",
                f"looks for values in {function.show(one.base)} by halving",
                memory=str(root(one)),
            )  # fmt: skip
    return None


def _halves(expr: Expr) -> bool:
    return expr.kind == Kind.BINARY and (expr.text, str(expr.parts[1])) in (("/", "2"), (">>", "1"))


def lookup(function: Function, unit: Unit, line: int) -> Sign | None:
    """A line that reads where another array says, or a hash, whatever loops are around it: directly, or by a pointer set so before."""
    for one in expressions(tuple(each for each in function.statements if each.line == line)):
        if one.kind == Kind.ASSIGN or one.kind not in (Kind.INDEX, Kind.MEMBER) or one.base is None:
            continue
        address = _address(one, function)
        if address is None or any(str(each.parts[0]) == str(one) for each in assignments(function.statements)):
            continue
        array, parts = address
        if (array_bytes(array, function, unit) or 2 * CACHE) <= CACHE or not _is_scattered(parts, function, unit):
            continue
        return Sign(
            "memory-latency", line, function.first, function.last,
            f"reads {function.show(one)} at places that other data gives, which no prefetcher can predict",
            f"reads {function.show(array)} at places that other data gives",
            memory=str(root(array)), advice=SCATTERED,
        )  # fmt: skip
    return None


def _address(one: Expr, function: Function) -> tuple[Expr, list[Expr]] | None:
    """The array that an access reads, and what its index is made of; of a pointer, those of what it was set to."""
    if any(part.text == "extent_specifier" for part in one.parts):
        return None  # a part of an array, with unit stride
    if one.kind == Kind.INDEX and one.base is not None and len(one.parts) == 1 and root(one.base).kind == Kind.NAME:
        return one.base, _made_of(one.parts[0], function)
    pointer = one.base
    declared = function.declared(pointer.text) if pointer is not None and pointer.kind == Kind.NAME else None
    if pointer is None or declared is None or not (declared.pointers or declared.reference):
        return None
    for part in _made_of(pointer, function):
        if part.kind == Kind.INDEX and part.base is not None and part.base.kind == Kind.NAME and len(part.parts) == 1:
            return part.base, _made_of(part.parts[0], function)
    return None


def _made_of(expr: Expr, function: Function) -> list[Expr]:
    """What a value is made of, variables by all that the function sets them to; those that loops count stand for themselves."""
    found: list[Expr] = []
    todo = [expr]
    seen = {name for loop in function.loops for name in (loop.variable, *loop.updated)}
    while todo and len(found) < 80:
        one = todo.pop(0)
        found.append(one)
        todo.extend(one.parts)
        if one.kind == Kind.NAME and one.text not in seen:
            seen.add(one.text)
            todo += function.values(one.text)
            declared = function.declared(one.text)
            if declared is not None and declared.value is not None:
                todo.append(declared.value)
    return found


def _is_scattered(parts: list[Expr], function: Function, unit: Unit) -> bool:
    """True for an index that is read from an array which may be large, or mixed as a hash is."""
    if _is_narrow(parts, unit):
        return False
    for part in parts:
        if part.kind == Kind.INDEX and part.base is not None:
            declared = declaration_of(part.base, function, unit)
            if declared is None and function.fortran:
                continue  # a call looks the same
            if declared is None or declared.type not in _SMALL_INDICES:
                return not any(each.kind == Kind.BINARY and each.text in ("&", ">>") for each in parts)
    mixed = any(
        each.kind == Kind.BINARY and each.text == "*" and any(_is_large(factor) for factor in each.parts)
        for each in parts
    )
    return mixed and any(each.kind == Kind.BINARY and each.text in ("%", "&", ">>") for each in parts)


def _is_large(expr: Expr) -> bool:
    return expr.kind == Kind.NUMBER and len(expr.text) > 4 and "." not in expr.text


def _resolved(expr: Expr, function: Function, loop: Loop) -> list[Expr]:
    """What an index is made of; a variable set in the loop stands for its value."""
    found, todo, depth = [], [expr], 0
    while todo and depth < 40:
        depth += 1
        one = todo.pop()
        found.append(one)
        todo.extend(one.parts)
        if one.kind == Kind.NAME:
            stated = (each.expr for each in function.inside(loop.index))
            given = (each for each in stated if each is not None and each.kind == Kind.ASSIGN and each.text == "=")
            todo += [each.parts[1] for each in given if str(each.parts[0]) == one.text]
    return found


#: Index types too small for an array that leaves the cache.
_SMALL_INDICES = frozenset(
    {"char", "unsigned char", "uint8_t", "int8_t", "bool", "short", "uint16_t", "int16_t", "unsigned short"}
)


def _is_gather(walk: Walk, function: Function, unit: Unit, loop: Loop) -> bool:
    if walk.step != Step.UNKNOWN or walk.access.base is None or len(walk.access.parts) != 1:
        return False
    if (array_bytes(walk.access.base, function, unit) or 2 * CACHE) <= CACHE:
        return False
    if root(walk.access.base).kind != Kind.NAME:
        return False
    parts = _resolved(walk.access.parts[0], function, loop)
    through = [part for part in parts if part.kind == Kind.INDEX and part.base is not None]
    if not through:
        return False
    declared = [declaration_of(part.base, function, unit) for part in through if part.base is not None]
    if any(one is not None and one.type in _SMALL_INDICES for one in declared):
        return False
    # A remainder, mask or shift leaves a range that may be small.
    return not any(part.kind == Kind.BINARY and part.text in ("&", "%", ">>") for part in parts)
