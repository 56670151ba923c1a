"""Memory of GPU kernels as their source shows it: accesses that do not coalesce, bank conflicts, arrays of a thread's own."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod

from chathpc.diagnosis.source.affine import Sum, number, words
from chathpc.diagnosis.source.lanes import LANE, WARP, Access, Lanes, whole
from chathpc.diagnosis.source.layout import trips
from chathpc.diagnosis.source.model import Expr, Function, Kind, Unit
from chathpc.diagnosis.source.sign import UNROLLED, Sign, is_unrolled

#: Bytes that device memory moves at least (CUDA C++ Best Practices Guide, "Coalesced access to global memory").
SECTOR = 32
#: Of the bytes moved at most this part is used by accesses that are called uncoalesced.
USED = 0.25
#: Banks of shared memory, of 4 bytes each (CUDA C++ Programming Guide, "Shared memory").
BANKS, BANK = 32, 4
#: Conflicts of so many ways are named; two ways take one turn more.
LEAST_WAYS = 4
#: An element whose type the source does not tell is taken for a float.
_ELEMENT = 4
#: A thread's own array of fewer bytes may well be kept in registers.
_REGISTERS = 16


def extent(one: Lanes, loop: int) -> tuple[int, int]:
    """First and last line of the outermost loop around a statement, or of the function."""
    chain = list(one.function.chain(loop))
    return (chain[-1].first, chain[-1].last) if chain else (one.function.first, one.function.last)


def level(function: Function, unit: Unit, loop: int) -> int:
    """Number of loops around a statement that are not unrolled."""
    return sum(not is_unrolled(each, unit) for each in function.chain(loop))


def uncoalesced(several: Sequence[Lanes]) -> Sign | None:
    """Accesses to device memory by which the lanes of a warp reach into a sector each, at least half of those in the innermost loops.

    The arrays that all lanes read at one place count for neither side. A distance that is only a parameter may be 1 and says
    nothing, unless something beside it shows that it is the length of a row.
    """
    found = [
        (level(one.function, one.unit, each.statement.loop), one, each)
        for one in several
        for each in one.accesses
        if each.pointer.space == "global"
    ]
    deepest = max((depth for depth, _, each in found if each.lane != {}), default=0)
    inner = [(one, each) for depth, one, each in found if depth >= deepest and each.lane != {}]
    far = [(one, each) for one, each in inner if is_far(one, each)]
    if not far or 2 * len({each.pointer.name for _, each in far}) < len({each.pointer.name for _, each in inner}):
        return None
    one, access = max(far, key=lambda pair: (pair[1].written, -pair[1].line)) if len(far) == 1 else far[0]
    first, last = extent(one, access.statement.loop)
    return Sign(
        "gpu-uncoalesced-access", access.line, first, last,
        f"{'writes' if access.written else 'reads'} {one.function.show(access.expr)}, where neighbouring threads (threadIdx.x) "
        f"are {_distance(access)} apart: each thread of a warp touches a sector of its own",
        f"accesses {access.pointer.name} with a stride of {_distance(access)} between threads",
        ("Sectors that stay in the L1 cache until the next iterations use the rest of them cost nothing.",),
    )  # fmt: skip


def _distance(access: Access) -> str:
    elements = whole(access.lane)
    if elements is not None:
        return f"{abs(elements) * (access.size or _ELEMENT):,} bytes"
    return f"{words(access.lane or {})} elements".replace(f"{access.expr.base}'s row", "a row of")


def is_far(one: Lanes, access: Access) -> bool:
    """True if each lane touches a sector of its own, and uses little of it."""
    if not access.lane:
        return False
    size = access.size or _ELEMENT
    elements = whole(access.lane)
    if elements is None:
        return _is_row(one, access)
    step = abs(elements) * size
    used = sum(_bytes_used(one, access, elements))
    return step >= SECTOR // 2 and used <= USED * min(step, SECTOR)


def _is_row(one: Lanes, access: Access) -> bool:
    """True for a distance that is the length of a row: another index moves along the row, element by element. A mere parameter may
    be 1, as the increments of BLAS routines are.
    """
    lane = access.lane or {}
    if any("blockDim" in name or "gridDim" in name or name.endswith("'s row") for key in lane for name in key):
        return True
    return any(
        len(key) == 1 and abs(times) == 1 and (key[0].startswith("threadIdx.") or one.changes(key[0].rstrip("'")))
        for key, times in (access.terms or {}).items()
        if LANE not in key
    )


def _bytes_used(one: Lanes, access: Access, elements: int) -> list[int]:
    """Bytes that the accesses of the same loops use of what lies between two lanes."""
    size = access.size or _ELEMENT
    chain = {loop.index for loop in one.function.chain(access.statement.loop)}
    offsets: dict[tuple[int, str], int] = {}
    for each in one.accesses:
        if each.pointer.name != access.pointer.name or each.lane != access.lane or each.terms is None:
            continue
        around = list(one.function.chain(each.statement.loop))
        if chain and not any(loop.index in chain for loop in around):
            continue
        offset = each.terms.get((), 0) % abs(elements)
        covered = each.used or size
        for loop in around:  # a short loop over the neighbours
            count = trips(loop, one.unit.constants)
            if count is not None and each.terms.get((loop.variable,), 0) == 1:
                covered *= max(count, 1)
            elif count is None and loop.index == each.statement.loop and each.terms.get((loop.variable,), 0) == 1:
                covered *= abs(elements)  # walks through all that lies between, whose use the cache may allow
        offsets[offset, each.member if each.used is not None else ""] = covered
    return list(offsets.values())


def bank_conflicts(several: Sequence[Lanes]) -> Sign | None:
    """Accesses to shared memory in which lanes of a warp meet in one bank."""
    worst: tuple[int, Lanes, Access] | None = None
    for one in several:
        for each in one.accesses:
            ways = ways_of(one, each) if each.pointer.space == "shared" else 1
            if ways >= LEAST_WAYS and (worst is None or ways > worst[0]):
                worst = ways, one, each
    if worst is None:
        return None
    ways, one, access = worst
    first, last = extent(one, access.statement.loop)
    grows = number(access.lane or {}) is None
    return Sign(
        "gpu-shared-bank-conflicts", access.line, first, last,
        f"{'writes' if access.written else 'reads'} {one.function.show(access.expr)} in shared memory, where neighbouring threads are "
        f"{words(access.lane or {})} elements apart: {'up to ' if grows else ''}{ways} threads of a warp conflict in one bank",
        f"makes {'up to ' if grows else ''}{ways} threads of a warp conflict in one bank of shared memory",
        ("Only counters show how many of its instructions these are.",),
    )  # fmt: skip


def ways_of(one: Lanes, access: Access) -> int:
    """How many lanes of a warp meet in one bank: 1 for none. Accesses of 8 bytes are served in two halves of a warp, of 16 in four."""
    size = access.size or _ELEMENT
    lane = access.lane
    if not lane:
        return 1
    elements = whole(lane)
    if elements is None:
        return WARP if _doubles(one, lane) else 1
    step = abs(elements) * size
    if step % BANK or step == 0:
        return 1
    wide = max(size // BANK, 1)
    return max(gcd(step // BANK, BANKS) // wide, 1)


def _doubles(one: Lanes, lane: Sum) -> bool:
    """True if the distance is a variable that a loop doubles or halves: all powers of two come by."""
    if len(lane) != 1:
        return False
    (key,) = lane
    if len(key) != 1:
        return False
    for loop in one.function.loops:
        for update in loop.updates:
            if update.parts[0].text != key[0]:
                continue
            by = update.parts[1]
            if update.text in ("*=", "<<=", ">>=", "/=") and by.kind == Kind.NUMBER:
                return by.text in (("2", "4", "8") if update.text in ("*=", "/=") else ("1", "2", "3"))
            if by.kind == Kind.BINARY and by.text in ("*", "<<") and by.parts[0].text == key[0]:
                return by.parts[1].text in ("2", "1")
    return False


def own_arrays(several: Sequence[Lanes]) -> Sign | None:
    """An array of each thread with an index that is computed, in a loop: it lies in local memory, for registers have no index."""
    for one in several:
        for access in one.accesses:
            if access.pointer.space != "local" or access.statement.loop < 0:
                continue
            declared = one.function.declared(access.pointer.name)
            if declared is None or declared.const:
                continue
            counts = [None if dim is None else whole(one.linear(dim)) for dim in declared.dims]
            total = (access.size or _ELEMENT) * prod(1 if count is None else count for count in counts)
            if total < _REGISTERS:
                continue
            if all(_is_unrolled(one, access, part) for part in access.expr.parts):
                continue
            if level(one.function, one.unit, access.statement.loop) == 0:
                continue
            first, last = extent(one, access.statement.loop)
            return Sign(
                "gpu-register-spill", access.line, first, last,
                f"uses {one.function.show(access.expr)} of an array of each thread ({total:,} bytes) with an index that is only known at run "
                "time: the array lies in local memory, which is part of device memory, not in registers",
                f"keeps {access.pointer.name} in local memory, because its index is computed",
                ("A small array may stay in the L1 cache.",),
            )  # fmt: skip
    return None


def _is_unrolled(one: Lanes, access: Access, part: Expr) -> bool:
    """True for an index that is a constant once short loops are unrolled."""
    short = {
        loop.variable
        for loop in one.function.chain(access.statement.loop)
        if (count := trips(loop, one.unit.constants)) is not None and count <= 4 * UNROLLED
    }
    return all(
        each.kind in (Kind.NUMBER, Kind.BINARY, Kind.UNARY)
        or (each.kind == Kind.NAME and (each.text in short or each.text in one.unit.constants))
        for each in part.walk()
    )
