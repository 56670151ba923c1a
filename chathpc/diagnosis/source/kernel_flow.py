"""What GPU kernels do, as their source shows it: lanes that go different ways, updates of one address, barriers, double precision."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chathpc.diagnosis.source.kernel_memory import extent, level
from chathpc.diagnosis.source.lanes import LANE, WARP, Lanes
from chathpc.diagnosis.source.layout import trips, value
from chathpc.diagnosis.source.model import Does, Expr, Fork, Kind, Loop, Statement
from chathpc.diagnosis.source.sign import Sign, is_unrolled

#: Operators that take a pipe of the multiprocessor.
ARITHMETIC = frozenset({"+", "-", "*", "/"})
_ATOMICS = re.compile(r"(?:atomic(?:Add|Sub|Max|Min|Inc|Dec|Exch|CAS|And|Or|Xor)(?:_system|_block)?|unsafeAtomicAdd)\Z")
_BARRIERS = frozenset({"__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"})
#: A way with fewer operations is predicated by compilers: no jump is made (CUDA C++ Best Practices Guide, "Branch predication").
_PREDICATED = 4
#: Work of a thread between two barriers that is not much more than the barrier takes (some tens of cycles).
_BETWEEN = 16
#: Loops of fewer iterations are taken to be the steps of a reduction.
_FEW_STEPS = 16
#: With more operations in a loop, others go on while one waits for the sum.
_CHAINED = 8


def work(statements: Sequence[Statement]) -> int:
    """Operations, accesses and calls of statements; a call counts for several."""
    count = 0
    for one in statements:
        for each in one.walk():
            count += (each.kind == Kind.BINARY and each.text in ARITHMETIC) or each.kind == Kind.INDEX
            count += each.kind == Kind.ASSIGN and each.text != "="
            count += 4 * (each.kind == Kind.CALL)
    return count


def _between(one: Lanes, lines: tuple[int, int]) -> tuple[Statement, ...]:
    return tuple(each for each in one.function.statements if lines[0] <= each.line <= lines[1])


def divergence(several: Sequence[Lanes]) -> Sign | None:
    """An `if` that parts the lanes of a warp by their number: both ways have work, or one has a loop, which few lanes run."""
    for one in several:
        for fork in one.function.forks:
            kind = _parts(one, fork.condition)
            if kind is None:
                continue
            sign = _forked(one, fork, kind)
            if sign is not None:
                return sign
    return None


def _forked(one: Lanes, fork: Fork, single: bool) -> Sign | None:
    shown = one.function.show(fork.condition)
    loops = [loop for loop in one.function.loops if fork.then[0] <= loop.first and loop.last <= fork.then[1]]
    long = [loop for loop in loops if not is_unrolled(loop, one.unit) and not _is_of_block(one, loop)]
    against = ("Only counters show how many of a warp's instructions these are.",)
    if single:
        if not long:
            return None
        first, last = fork.then
        return Sign(
            "gpu-divergence", fork.line, min(first, fork.line), last,
            f"lets only one thread continue by `if ({shown})`, and it runs the loop at line {long[0].first} alone while the other lanes of its warp wait",
            "lets one thread of a warp run a loop alone",
            against,
        )  # fmt: skip
    other = _between(one, (max(fork.other[0], fork.then[1] + 1), fork.other[1])) if fork.other is not None else ()
    both = min(work(_between(one, fork.then)), work(other)) if other else 0
    in_loop = level(one.function, one.unit, fork.loop) > 0
    if both <= _PREDICATED and not long:
        return None
    if not in_loop and not long and both <= 4 * _PREDICATED:
        return None
    first, last = (fork.line, fork.other[1] if fork.other is not None else fork.then[1])
    if in_loop:
        first, last = extent(one, fork.loop)
    how = (
        "both ways have work, which a warp does one after the other"
        if other
        else "the other lanes of the warp wait meanwhile"
    )
    return Sign(
        "gpu-divergence", fork.line, first, last,
        f"separates neighbouring threads by `if ({shown})`: {how}",
        "makes neighbouring threads of a warp diverge",
        against,
    )  # fmt: skip


def _is_of_block(one: Lanes, loop: Loop) -> bool:
    """True for a loop over the threads or warps of a block, as one thread ends a reduction."""
    end = loop.condition
    return end is not None and end.kind == Kind.BINARY and len(end.parts) == 2 and one.is_of_block(end.parts[1])


def _parts(one: Lanes, condition: Expr) -> bool | None:
    """Whether a condition parts the lanes of a warp: True if it holds for one of them, False for several; None if it does not."""
    for each in condition.walk():
        if each.kind != Kind.BINARY:
            continue
        if each.text == "==" and {"&&"} >= {part.text for part in condition.walk() if part.text in ("&&", "||")}:
            left, right = each.parts
            step = one.lane(left)
            if step == {(): 1} and value(right, one.unit.constants) is not None and one.linear(left) == {(LANE,): 1}:
                return True
        if each.text in ("%", "&") and len(each.parts) == 2:
            step = one.lane(each.parts[0])
            by = value(each.parts[1], one.unit.constants)
            if (
                each.text == "%"
                and step == {(): 1}
                and not one.touches(each.parts[1])
                and _is_short(one, each.parts[1], by)
            ):
                return False
            if each.text == "&" and step == {(): 1} and by is not None and 0 < by < WARP - 1:
                return False
    return None


def _is_short(one: Lanes, period: Expr, by: int | None) -> bool:
    """True for a period within a warp: `threadIdx.x % 64 < 32` is the same for a warp, and `i % width == 0` a border."""
    return 1 < by <= WARP // 2 if by is not None else _doubled(one, period)


def _doubled(one: Lanes, expr: Expr) -> bool:
    """True for what a loop doubles or halves: the strides of a reduction."""
    steps = [each for loop in one.function.loops for each in loop.updates]
    return any(
        each.parts[0].text in expr.names()
        and (
            each.text in ("*=", "<<=", ">>=", "/=")
            or (each.parts[1].kind == Kind.BINARY and each.parts[1].text in ("*", "/", "<<", ">>"))
        )
        for each in steps
    )


def atomics(several: Sequence[Lanes]) -> Sign | None:
    """Atomic updates, by all threads, of an address that is the same for all."""
    for one in several:
        for statement, call in _calls(one):
            if _ATOMICS.match(call.short) is None or not call.parts or _is_guarded(one, statement):
                continue
            place = _place(one, call.parts[0])
            if place is None:
                continue
            space, shown = place
            in_loop = level(one.function, one.unit, statement.loop) > 0
            alone = in_loop or (not one.function.loops and work(one.function.statements) <= 4 * _BETWEEN)
            first, last = extent(one, statement.loop)
            return Sign(
                "gpu-atomics-contention", statement.line, first, last,
                f"updates {shown} by {call.short} from every thread{' in each iteration' if in_loop else ''}: updates of one address are made one "
                "after the other",
                f"lets all threads update {shown}",
                ("Compilers combine updates of one address within a warp where they see that it is one.",)
                if space == "global"
                else ("Shared memory belongs to one block: only its threads wait for each other.",),
                alone=alone,
            )  # fmt: skip
    return None


def _place(one: Lanes, target: Expr) -> tuple[str, str] | None:
    """Memory and name of an address if it is the same for all threads; None if not, or unknown."""
    inner = target.parts[0] if target.kind == Kind.UNARY and target.text == "&" and target.parts else target
    if inner.kind == Kind.INDEX and inner.base is not None:
        pointer = one.pointer(inner.base)
        if any(_differs(one, part) for part in inner.parts):
            return None
    elif target.kind == Kind.NAME:
        pointer = one.pointer(target)
    elif inner.kind in (Kind.NAME, Kind.MEMBER) and inner is not target:
        pointer = one.pointer(inner)
    else:
        return None
    if pointer.space not in ("global", "shared") or pointer.offset is None:
        return None
    if any(_is_index(name) for key in pointer.offset for name in key):
        return None
    return pointer.space, one.function.show(inner)


def _differs(one: Lanes, part: Expr) -> bool:
    """True if an index may differ between threads, or from one iteration to the next."""
    if one.touches(part):
        return True
    terms = one.linear(part)
    variables = {loop.variable for loop in one.function.loops}
    return terms is None or any(_is_index(name) or name in variables or "[" in name for key in terms for name in key)


def _is_index(name: str) -> bool:
    return "blockIdx" in name or "threadIdx" in name or name.endswith("'")


def _is_guarded(one: Lanes, statement: Statement) -> bool:
    """True if one thread of a warp or block, or those that a condition on data chooses, reach the statement."""
    for fork in one.function.forks:
        arms = [arm for arm in (fork.then, fork.other) if arm is not None]
        if not any(first <= statement.line <= last for first, last in arms):
            continue
        # `if (i < n)` lets nearly all threads pass.
        bound = fork.condition.kind == Kind.BINARY and fork.condition.text in ("<", "<=", ">", ">=")
        if not bound or any(each.kind in (Kind.INDEX, Kind.CALL) for each in fork.condition.walk()):
            return True
    return False


def _calls(one: Lanes) -> Iterator[tuple[Statement, Expr]]:
    for statement in one.function.statements:
        for call in statement.calls():
            yield statement, call


def barriers(several: Sequence[Lanes]) -> Sign | None:
    """A barrier of the block in an innermost loop that does little between two of them."""
    for one in several:
        for statement, call in _calls(one):
            if call.short not in _BARRIERS or statement.loop < 0:
                continue
            loop = one.function.loops[statement.loop]
            inside = one.function.inside(loop.index)
            inner = one.function.loops_in(loop.index)
            if not loop.counted or any(not is_unrolled(each, one.unit) for each in inner):
                continue
            count = trips(loop, one.unit.constants)
            if count is not None and count <= _FEW_STEPS:
                continue
            number = sum(each.short in _BARRIERS for _, each in _calls(one) if _.loop == loop.index)
            done = work([each for each in inside if each.loop == loop.index]) - 4 * number
            done += sum(
                work([each for each in inside if each.loop == short.index]) * (trips(short, one.unit.constants) or 1)
                for short in inner
            )
            if done > _BETWEEN * number:
                continue
            return Sign(
                "gpu-barrier-stall", statement.line, loop.first, loop.last,
                f"waits at {call.short}() in each iteration of the loop over {loop.variable}, with about {done} operations of a thread for "
                f"{number} {'barriers' if number != 1 else 'barrier'}",
                "reaches a barrier of the block in each iteration of its inner loop",
                ("What a barrier costs depends on how evenly the warps of a block arrive.",),
            )  # fmt: skip
    return None


def chain(several: Sequence[Lanes]) -> Sign | None:
    """A loop that adds to one variable what takes little else: each addition waits for the one before."""
    for one in several:
        for loop in one.function.loops:
            if one.function.loops_in(loop.index) or is_unrolled(loop, one.unit):
                continue
            own = [each for each in one.function.inside(loop.index) if each.does == Does.EVALUATE]
            sums = [each for each in own if _adds(loop, each)]
            if len(sums) == 1 and len(own) <= 2 and work(own) <= _CHAINED:
                statement = sums[0]
                target = statement.expr.parts[0] if statement.expr is not None else Expr(Kind.OTHER)
                return Sign(
                    "gpu-dependency-stall", statement.line, loop.first, loop.last,
                    f"adds to {one.function.show(target)} in each iteration of the loop at line {loop.first}, and each addition waits for the one before",
                    "adds to one variable in a chain",
                    alone=False,
                )  # fmt: skip
    return None


def _adds(loop: Loop, statement: Statement) -> bool:
    expr = statement.expr
    return (
        expr is not None
        and expr.kind == Kind.ASSIGN
        and expr.text in ("+=", "-=", "*=")
        and expr.parts[0].kind == Kind.NAME
        and statement.loop == loop.index
        and expr.parts[0].text != loop.variable
    )


#: Operations on double precision that are no slip of a single line.
_SOME_DOUBLES = 2
_FLOATS = re.compile(r"(?:const )?(?:float[234]?|half2?|__half2?)\Z")
_DOUBLES = re.compile(r"(?:const )?double[234]?\Z")
_LITERAL = re.compile(r"(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?\Z|\d+[eE][-+]?\d+\Z")


def double_precision(several: Sequence[Lanes]) -> Sign | None:
    """Literals without `f` in a kernel whose data are all float: they make the arithmetic double precision."""
    kernel = several[0]
    types = [each.type for one in several for each in (*one.function.parameters, *one.function.declarations)]
    if not any(_FLOATS.match(each) for each in types) or any(_DOUBLES.match(each) for each in types):
        return None
    if any(
        each.type not in kernel.unit.records and each.type in ("T", "real", "Real", "scalar_t")
        for each in kernel.function.parameters
    ):
        return None
    for one in several:
        found: list[tuple[Statement, Expr]] = []
        for statement in one.function.statements:
            for each in statement.walk():
                if each.kind == Kind.BINARY and each.text in ARITHMETIC and _mixes(each):
                    found.append((statement, each))
        deepest = max((level(one.function, one.unit, each.loop) for each, _ in found), default=0)
        inner = [pair for pair in found if level(one.function, one.unit, pair[0].loop) == deepest]
        # `x * 0.5` alone is narrowed by compilers; 0.1 has no exact float, and two operations in a row are not.
        if not inner or (len(inner) < _SOME_DOUBLES and not any(_is_inexact(each) for _, each in inner)):
            continue
        statement, shown = inner[0]
        literal = next(each.text for each in shown.walk() if each.kind == Kind.NUMBER and _LITERAL.match(each.text))
        first, last = extent(one, statement.loop)
        return Sign(
            "gpu-fp64-bound", statement.line, first, last,
            f"computes {one.function.show(shown)} in double precision, because {literal} is a double ({literal}f would be a float), though all "
            "variables are float",
            f"computes in double precision because of literals like {literal}",
            ("Devices for science compute in double precision at half the rate of single; others at 1/32 or 1/64.",),
        )  # fmt: skip
    return None


def _mixes(expr: Expr) -> bool:
    """True for arithmetic of a double literal with something that is none."""
    literal = [part.kind == Kind.NUMBER and _LITERAL.match(part.text) is not None for part in expr.parts]
    return any(literal) and not all(part.kind == Kind.NUMBER for part in expr.parts)


def _is_inexact(expr: Expr) -> bool:
    for part in expr.parts:
        if part.kind == Kind.NUMBER and _LITERAL.match(part.text):
            number = float(part.text)
            mantissa = number.hex().partition("p")[0].partition(".")[2].rstrip("0")
            if len(mantissa) > 6:  # 24 bits: the leading one, and 23 behind the point
                return True
    return False
