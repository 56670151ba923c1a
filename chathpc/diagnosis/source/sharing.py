"""Neighbouring elements that different threads write to: of OpenMP, std::thread and pthreads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from chathpc.diagnosis.source.layout import declaration_of, element, elements, size_of
from chathpc.diagnosis.source.model import (
    Declaration,
    Expr,
    Function,
    Kind,
    Loop,
    Region,
    Statement,
    Unit,
    assignments,
    expressions,
    root,
)
from chathpc.diagnosis.source.sign import Sign
from chathpc.diagnosis.source.text import SourceFile

#: Bytes of a cache line; what lies closer is moved between cores together.
_LINE = 64
_THREAD = "omp_get_thread_num"
#: What starts a function as a thread: the function is among the arguments, and those behind it are its own.
_STARTS = frozenset({"thread", "jthread", "async", "pthread_create", "thrd_create"})
#: What makes a thread in place, of a container of threads.
_IN_PLACE = frozenset({"emplace_back", "emplace", "push_back"})
#: Updates of std::atomic, C11's and the compiler's own: they reach memory each time.
_UPDATES = frozenset(
    {
        "fetch_add", "fetch_sub", "fetch_or", "fetch_and", "fetch_xor", "exchange", "compare_exchange_weak", "compare_exchange_strong",
        "test_and_set",
    }
)  # fmt: skip
_FREE_UPDATES = (
    "atomic_fetch_",
    "atomic_exchange",
    "atomic_compare_exchange",
    "__atomic_fetch_",
    "__atomic_add_",
    "__sync_fetch_",
    "__sync_add_",
)


@dataclass(frozen=True, slots=True)
class _Element:
    """A thread's own element of an array, as it is written, and the function in which the array is known."""

    access: Expr
    owner: Function
    neighbouring: bool = (
        False  #: the thread's number is the first of Fortran's indices, so that the next thread's element is the next
    )


@lru_cache(maxsize=32)
def false_sharing(function: Function, file: SourceFile) -> tuple[Sign, ...]:
    """Loops in which each thread writes to its own element of an array, several to a cache line: in a parallel region of OpenMP, or in a
    function that the file starts as several threads.

    Elements of a line or more, padded or aligned ones, and elements written once after a loop are none. Whether cores really take the line
    from each other only counters tell, so that this is a suspicion; but an atomic update in each iteration is one of the machine's as well,
    which costs tens of cycles even where nobody else has the line.
    """
    named = [one.parts for one in assignments(function.statements) if one.parts[0].kind == Kind.NAME]
    numbers = {target.text for target, value in named if value.kind == Kind.CALL and value.short == _THREAD}
    found: list[Sign] = []
    for region in (each for each in function.regions if is_parallel(each)):
        inside = tuple(one for one in function.statements if region.first <= one.line <= region.last)
        found += _in_loops(function, file, inside, numbers, {}, region.first)
    given, pointers = _arguments(function, file)
    if given or pointers:
        found += _in_loops(function, file, function.statements, numbers | given, pointers, function.first)
    return tuple(found)


def is_parallel(region: Region) -> bool:
    """True for a region that several threads work on."""
    return "parallel" in region.words.split("(")[0].split()


def _in_loops(
    function: Function,
    file: SourceFile,
    inside: tuple[Statement, ...],
    numbers: set[str],
    pointers: Mapping[str, _Element],
    first: int,
) -> Iterator[Sign]:
    """Signs in the loops from line `first` on. `numbers` name the thread, `pointers` point to its element."""
    aliases = dict(pointers)
    numbers = set(numbers)
    for one in assignments(inside):
        if one.parts[0].kind != Kind.NAME:
            continue
        name, given = one.parts[0].text, one.parts[1]
        mine = _own_element(given, numbers, function)
        declared = function.declared(name)
        points = given.kind == Kind.UNARY or (declared is not None and declared.reference)
        if mine is not None and points:
            aliases[name] = mine
        elif given.kind == Kind.NAME and given.text in numbers and name != given.text:
            numbers.add(name)
        elif given.kind == Kind.NAME and given.text in aliases:
            aliases[name] = aliases[given.text]
    writes: list[tuple[Statement, Loop, _Element, bool]] = []
    for statement in inside:
        loop = function.loops[statement.loop] if statement.loop >= 0 else None
        if loop is None or loop.first < first or statement.expr is None:
            continue
        written = _written(statement.expr, numbers, aliases, function, file.unit)
        if written is not None:
            writes.append((statement, loop, *written))
    updates = frozenset(statement.line for statement, _, _, atomic in writes if atomic)
    for statement, loop, mine, atomic in writes:
        size = _distance(mine, file.unit)
        if size is None or size >= _LINE:
            continue
        many = max(_LINE // size, 2)
        how = "updates atomically" if atomic else "writes to"
        shown = mine.owner.show(mine.access)
        yield Sign(
            cause="omp-false-sharing",
            line=statement.line,
            first=loop.first,
            last=loop.last,
            says=f"{how} {shown} in a loop: {size} bytes for each thread, so that {many} threads share a cache line of {_LINE} bytes",
            summary=f"{how} neighbouring elements of {mine.owner.show(mine.access.base)} from several threads",
            against=() if atomic else ("The compiler may keep the value in a register until the loop ends.",),
            alone=atomic and _is_all(function, loop, statement.line, updates),
            suspected=True,
            calls=True,
        )


#: An atomic update takes some 20 cycles and more (A. Fog, Instruction tables: LOCK XADD); beside so many operations it has most of the time.
_FEW_OPERATIONS = 24


def _is_all(function: Function, loop: Loop, line: int, updates: frozenset[int]) -> bool:
    """True if the updates at the lines are made in every iteration of the loop, and are most of what it does."""
    if function.loops_in(loop.index):
        return False
    for fork in (each for each in function.forks if each.loop == loop.index):
        arms = [range(0) if arm is None else range(arm[0], arm[1] + 1) for arm in (fork.then, fork.other)]
        if any(line in arm for arm in arms) and not all(any(each in arm for each in updates) for arm in arms):
            return False
    inside = function.inside(loop.index)
    if any(one.line not in updates and any(one.expr.calls()) for one in inside if one.expr is not None):
        return False
    return sum(one.kind in (Kind.BINARY, Kind.ASSIGN) for one in expressions(inside)) <= _FEW_OPERATIONS


def _own_element(expr: Expr, numbers: set[str], owner: Function) -> _Element | None:
    """`array[thread]` in an address or access."""
    for one in expr.walk():
        if one.kind == Kind.INDEX and one.base is not None:
            mine = [
                (part.kind == Kind.NAME and part.text in numbers) or (part.kind == Kind.CALL and part.short == _THREAD)
                for part in (one.parts[0], one.parts[-1])
            ]
            if mine[0] or (owner.fortran and mine[1]):
                access = Expr(Kind.INDEX, "", one.base, one.parts, one.line)
                return _Element(access, owner, owner.fortran and mine[0] and len(one.parts) > 1)
    return None


def _written(
    expr: Expr, numbers: set[str], aliases: Mapping[str, _Element], function: Function, unit: Unit
) -> tuple[_Element, bool] | None:
    """The thread's own element if the expression writes to it, directly, by a pointer, or by handing that pointer on; and whether it is
    an atomic update.
    """
    for one in expr.walk():
        if one.kind == Kind.ASSIGN:
            target = one.parts[0]
            mine = _own_element(target, numbers, function) or _through(target, aliases, function)
            if mine is not None:
                return mine, one.text != "=" and _is_atomic(target, function, unit)
        if one.kind == Kind.CALL:
            if one.base is not None and one.short in _UPDATES:
                mine = _own_element(one.base, numbers, function) or _through(one.base, aliases, function)
                if mine is not None:
                    return mine, True
            for part in one.parts:
                if part.kind == Kind.NAME and part.text in aliases:
                    return aliases[part.text], False
                if part.kind == Kind.UNARY and part.text == "&":
                    mine = _own_element(part, numbers, function) or _through(part.parts[0], aliases, function)
                    if mine is not None:
                        return mine, one.text.startswith(_FREE_UPDATES)
    return None


def _through(target: Expr, aliases: Mapping[str, _Element], function: Function) -> _Element | None:
    """The element that a pointer or reference leads to: `mine->s`, `*mine`, `mine.n`, or `mine` itself where that is a reference."""
    named = root(target)
    declared = function.declared(named.text) if named is target else None
    leads = named is not target or (declared is not None and declared.reference)
    return aliases.get(named.text) if leads and named.kind == Kind.NAME else None


def _is_atomic(target: Expr, function: Function, unit: Unit) -> bool:
    """True for a variable whose type is an atomic one."""
    declared = declaration_of(target if target.kind != Kind.INDEX else target.base or target, function, unit)
    return declared is not None and element(declared).type.removeprefix("std::").startswith(("atomic", "_Atomic"))


def _distance(mine: _Element, unit: Unit) -> int | None:
    """Bytes from one thread's element to the next; None where the source does not tell, or it is aligned."""
    access, function = mine.access, mine.owner
    declared = declaration_of(access.base, function, unit) if access.base is not None else None
    if declared is None:
        return None
    size = size_of(element(declared), unit)
    dims = declared.dims
    if len(dims) > 1 and not mine.neighbouring:
        row = elements(replace(declared, dims=dims[:-1] if function.fortran else dims[1:]), unit)
        return None if size is None or row is None else size * max(row, 1)
    return size


# -- threads that the program starts itself ----------------------------------------------------------------------


@lru_cache(maxsize=8)
def _started(file: SourceFile) -> tuple[tuple[Function, frozenset[str], Expr], ...]:
    """Calls in counting loops that may start threads: the function that makes each, the variables of the loops, and the call."""
    if not any(word in file.text for word in (b"thread", b"thrd_create", b"async")):
        return ()
    found = []
    for caller in file.everything():
        for one in caller.statements:
            if one.expr is None or one.loop < 0:
                continue
            calls = [call for call in one.expr.calls() if call.short in _STARTS or call.short in _IN_PLACE]
            counting = (
                frozenset(loop.variable for loop in caller.chain(one.loop) if loop.counted) if calls else frozenset()
            )
            found += [(caller, counting, call) for call in calls if counting]
    return tuple(found)


def _arguments(function: Function, file: SourceFile) -> tuple[set[str], dict[str, _Element]]:
    """Parameters of a function that are another number, or lead to another element, in each thread that a loop starts with it."""
    numbers: set[str] = set()
    pointers: dict[str, _Element] = {}
    for caller, counting, call in _started(file):
        for parameter, given in _handed(call, function, caller, file.unit):
            wraps = given.kind == Kind.CALL and given.short in ("ref", "data") and given.parts
            inner = given.parts[0] if wraps else given
            mine = _own_element(inner, set(counting), caller)
            if given.kind == Kind.NAME and given.text in counting:
                numbers.add(parameter.name)
            elif mine is not None and (inner is not given or inner.kind == Kind.UNARY):
                pointers[parameter.name] = mine
    return numbers, pointers


def _handed(call: Expr, function: Function, caller: Function, unit: Unit) -> Iterator[tuple[Declaration, Expr]]:
    """Parameters and arguments of a function that a call starts as a thread."""
    starts = call.short in _STARTS
    if call.short in _IN_PLACE and call.base is not None:
        declared = declaration_of(call.base, caller, unit)
        starts = declared is not None and "thread" in declared.type
    if starts:
        named = [part.parts[0] if part.kind == Kind.UNARY and part.text == "&" else part for part in call.parts]
        found = (n for n, one in enumerate(named) if one.kind == Kind.NAME and one.short == function.name)
        if (at := next(found, None)) is not None:
            yield from zip(function.parameters, call.parts[at + 1 :], strict=False)
