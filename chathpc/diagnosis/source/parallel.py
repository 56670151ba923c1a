"""OpenMP and MPI in the source: critical sections and atomics, regions inside loops, what one thread does alone, messages of few elements,
iterations that need the one before.
"""

from __future__ import annotations

import re

from chathpc.diagnosis.source import affine
from chathpc.diagnosis.source.layout import declaration_of, value
from chathpc.diagnosis.source.model import Expr, Function, Kind, Loop, Region, Unit, assignments, expressions, root
from chathpc.diagnosis.source.sharing import is_parallel
from chathpc.diagnosis.source.sign import UNROLLED, Sign

#: Directives that say which threads run what is below them.
_ALONE = frozenset({"single", "master", "masked"})
_WHO = _ALONE | {"parallel", "task", "taskloop", "target"}


def _word(region: Region) -> str:
    return region.words.split()[0].split("(")[0]


def is_alone(function: Function, line: int) -> bool:
    """True for a line that one thread of the team runs while the others go on or wait; tasks made there are everybody's."""
    around = [region for region in function.regions if region.first <= line <= region.last and _word(region) in _WHO]
    return bool(around) and _word(max(around, key=lambda region: region.first)) in _ALONE


_ATOMIC_TYPE = re.compile(r"\b_?[Aa]tomic\b|\batomic_\w+|\b_Atomic\b")
_ATOMIC = "Atomic updates in a shared loop"
_WITHOUT_ATOMIC = (
    "Accumulate in a private variable or array of each thread and combine them once after the loop: reduction(+:sum), for an array "
    "reduction(+:hist[:n]).",
    "Divide what is updated among the threads (blocks, colours, or a loop over the targets instead of the sources), so that no update has to be "
    "atomic.",
)


#: Functions of C and C++ (11 and later) and of GCC that change a variable atomically.
_ATOMIC_CALL = re.compile(
    r"__(?:sync|atomic)_(?:\w*(?:fetch|exchange|swap)\w*)|(?:atomic_)?(?:fetch_(?:add|sub|and|or|xor)|compare_exchange_\w+)"
)


def atomic(function: Function, unit: Unit, loop: Loop | None, line: int) -> Sign | None:
    """An atomic update or a critical section at the line, in a loop that threads share; without a `loop` in a function that is called in one."""
    for region in function.regions:
        word = _word(region)
        if word not in ("atomic", "critical") or not region.first <= line <= region.last:
            continue
        if loop is not None and loop.first > region.first:
            continue
        if word == "atomic" and region.words.split()[1:2] in (["read"], ["write"]):
            continue
        if word == "critical" and loop is None:
            continue
        return _one_by_one(loop, line, region.first, region.last, word)
    for one in expressions(each for each in function.statements if each.line == line):
        if one.kind == Kind.CALL and _ATOMIC_CALL.fullmatch(one.short):
            return _one_by_one(loop, line, line, line, "atomic", f" ({one.short})")
        declared = (
            declaration_of(root(one.parts[0]), function, unit) if one.kind == Kind.ASSIGN and one.text != "=" else None
        )
        if declared is not None and _ATOMIC_TYPE.search(declared.type):
            return _one_by_one(loop, line, line, line, "atomic", f" ({declared.name} is an {declared.type})")
    return None


def _one_by_one(loop: Loop | None, line: int, first: int, last: int, word: str, by: str = "") -> Sign:
    what = f"{'an atomic update' if word == 'atomic' else 'a critical section'}{by}"
    where = f"the loop over {loop.variable or 'items'}" if loop is not None else "what a loop calls"
    return Sign(
        "omp-critical-contention", line, first, last,
        f"has {what} in {where}: threads do it one after the other",
        f"has {what} in a loop that threads share",
        ("How long threads wait for each other there was not measured.",), alone=word == "atomic", calls=True,
        title=_ATOMIC if word == "atomic" else "", advice=_WITHOUT_ATOMIC if word == "atomic" else (),
    )  # fmt: skip


def region_in_loop(function: Function, line: int) -> Sign | None:
    """A parallel region inside a loop; only supports what was measured of the waiting."""
    for region in function.regions:
        if is_parallel(region) and region.loop >= 0 and region.first <= line <= region.last:
            loop = function.loops[region.loop]
            return Sign(
                "omp-fine-grained-regions", line, region.first, region.last,
                f"opens a parallel region in each iteration of the loop at line {loop.first}",
                "opens parallel regions in a loop", alone=False, calls=True,
            )  # fmt: skip
    return None


#: Of each call by which messages are sent or received (in small letters, as Fortran has them): which argument counts the elements; those
#: before it are buffers.
_COUNT = {
    f"mpi_{name}": 1
    for name in ("send", "ssend", "bsend", "rsend", "isend", "issend", "ibsend", "irsend", "recv", "irecv", "sendrecv", "bcast")
} | {f"mpi_{name}": 2 for name in ("reduce", "allreduce", "ireduce", "iallreduce", "scan", "exscan")}  # fmt: skip


def by_element(function: Function, unit: Unit, own: Loop, line: int) -> Sign | None:
    """A message or reduction at the line with so few elements that a loop around it hands an array over piece by piece: its buffer moves with
    the loop, which does not read the results.
    """
    for call in function.calls_at(line):
        name = call.short.removeprefix("call ")
        at = _COUNT.get(name.lower())
        if at is None or len(call.parts) <= at:
            continue
        count, buffers = value(call.parts[at], unit.constants), call.parts[:at]
        loop = next((one for one in function.chain(own.index) if one.variable in buffers[0].names()), None)
        if loop is None or count is None or not 0 < count <= UNROLLED:
            continue
        reduces = at > 1
        if reduces and not root(buffers[-1]).names().isdisjoint(_read_beside(function, loop, line)):
            continue
        size = "one element" if count == 1 else f"{count} elements"
        here = line if loop.first <= line <= loop.last else loop.first  # else in a function that the loop calls
        return Sign(
            "mpi-small-messages", here, loop.first, loop.last,
            f"calls {name} with {size} in each iteration of the loop over {loop.variable}",
            f"{'reduces' if reduces else 'sends or receives'} {size} a {'call' if reduces else 'message'} in a loop over {loop.variable}",
            (f"How many {'calls' if reduces else 'messages'} there were was not counted.",), calls=True, waits=True,
            fits="MPI_Allreduce" if reduces else "", title="Many small collective calls" if reduces else "",
        )  # fmt: skip
    return None


def _read_beside(function: Function, loop: Loop, line: int) -> frozenset[str]:
    """Names that the loop has in other lines than this one."""
    others = (one.expr for one in function.statements if loop.first <= one.line <= loop.last and one.line != line)
    return frozenset(name for one in others if one is not None for name in one.names())


#: What is done with an old value in sums, products and extremes, whose parts threads can compute and combine.
_COMBINED = frozenset({"+", "-", "*", "&", "|", "^", "&&", "||", ".and.", ".or."})
_EXTREMES = frozenset({"min", "max", "fmin", "fmax", "fminf", "fmaxf"})
_IN_ORDER = (
    "Overlap it with other work, as one omp task alongside a taskloop.",
    "Compute a linear recurrence in blocks, one a thread, as if each began from zero, and add what the end of the block before contributes; or take a "
    "method without it (red-black or coloured order, Jacobi, a parallel scan).",
)


def in_order(function: Function, unit: Unit, line: int) -> Sign | None:
    """An innermost loop at the line whose iterations need what the one before computed: `x(i) = a*x(i-1) + b(i)`, `seed = 7*seed + 1`."""
    loop = function.innermost(line)
    if loop is None:
        return None
    own = [one for one in function.statements if one.loop == loop.index]
    scope = affine.scope_of(function, unit)
    always = [one.expr for one in own if not one.branch]
    for assigned in assignments(own):
        target, read = assigned.parts[0], None
        if target.kind == Kind.INDEX:
            local = {one.name for one in function.declarations if one.loop == loop.index} & {*assigned.parts[1].names()}
            values = [each.parts[1] for each in assignments(own) if each.parts[0].text in local]
            reads = (one for value in (assigned.parts[1], *values) for one in value.walk())
            read = next((one for one in reads if _is_before(one, target, loop, scope)), None)
        elif target.kind == Kind.NAME and assigned.text == "=" and any(one is assigned for one in always):
            inside = any(one.name == target.text and one.loop == loop.index for one in function.declarations)
            first = next(one for one in assignments(own) if one.parts[0].text == target.text)
            needed = target.text in assigned.parts[1].names() and not _combines(assigned.parts[1], target.text)
            read = target if needed and first is assigned and not inside else None
        if read is not None:
            needs = f"needs {function.show(read)} of an earlier iteration"
            around = (
                f"Share a loop around that at line {loop.first} among the threads, where it has independent iterations (rows, planes, right-hand "
                f"sides): an iteration of this one {needs}."
            )
            return Sign(
                "omp-serial-fraction", assigned.line, loop.first, loop.last, f"{needs} in its loop", "computes a recurrence",
                alone=False, advice=(around, *_IN_ORDER),
            )  # fmt: skip
    return None


def _is_before(read: Expr, target: Expr, loop: Loop, scope: affine.Scope) -> bool:
    """True if what is read in an iteration of the loop is what an earlier one assigned to."""
    if read.kind != Kind.INDEX or str(read.base) != str(target.base) or not loop.step:
        return False
    if len(read.parts) != len(target.parts):
        return False
    iterations = set()
    for mine, theirs in zip(read.parts, target.parts, strict=True):
        here, there = (affine.linear(each, scope, frozenset({loop.variable})) for each in (mine, theirs))
        apart = None if here is None or there is None else affine.add(here, there, -1)
        moved = None if there is None else affine.number(affine.factor(there, loop.variable) or {})
        distance = None if apart is None else affine.number(apart)
        if moved is None or distance is None or (not moved and distance):
            return False
        iterations |= {distance / (moved * loop.step)} if moved else set()
    return len(iterations) == 1 and (back := iterations.pop()) < 0 and back == int(back)


def _combines(expr: Expr, name: str) -> bool:
    """True for `name + …` and the like, with the name nowhere else."""
    if expr.kind == Kind.NAME:
        return expr.text == name
    if not (expr.text in _COMBINED if expr.kind == Kind.BINARY else expr.kind == Kind.CALL and expr.short in _EXTREMES):
        return False
    having = [at for at, part in enumerate(expr.parts) if name in part.names()]
    nested = [expr.parts[at] for at in having]
    same = all(one.kind == Kind.NAME or one.text == expr.text or {one.text, expr.text} <= {"+", "-"} for one in nested)
    return len(having) == 1 and same and _combines(nested[0], name) and (expr.text != "-" or having == [0])
