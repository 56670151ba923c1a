"""Code of GPU kernels as the threads of a warp see it: by how much an address differs from one lane to the next.

A warp is 32 threads with neighbouring `threadIdx.x` (CUDA C++ Programming Guide, "SIMT architecture"); AMD's wavefronts of 64 are
two of them here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from chathpc.diagnosis.source.affine import Sum, add, factor, number, product
from chathpc.diagnosis.source.c_family import constant
from chathpc.diagnosis.source.layout import declaration_of, element, size_of, value
from chathpc.diagnosis.source.model import Does, Expr, Function, Kind, Statement, Unit, expressions, root

#: The name of the lane in sums of products.
LANE = "threadIdx.x"
WARP = 32
_OF_BLOCK = frozenset({"blockDim", "warpSize", "x", "y", "z"})
_THREADS = {"hipThreadIdx_x": LANE, "get_local_id(0)": LANE}
_DEEPEST = 14
#: Calls that leave an index as it is but for the ends of an array.
_CLAMPS = frozenset({"min", "max", "fminf", "fmaxf"})
_MOST_NAMES = 200
#: A pointer is followed through so many others.
_MOST_POINTERS = 4


@dataclass(frozen=True, slots=True)
class Pointer:
    """What a pointer or array stands for: the variable that it begins from, its memory, and its distance in elements (None: unknown)."""

    name: str
    space: str  #: global, shared, local, constant; empty where that is not known
    offset: Sum | None


@dataclass(frozen=True, slots=True)
class Access:
    """An access to an array: `lane` is the distance in elements from a lane to the next, {} for all the same, None for unknown."""

    expr: Expr
    pointer: Pointer
    lane: Sum | None
    terms: Sum | None  #: the whole index
    size: int | None  #: bytes of an element
    member: str  #: the field of it that is used; empty for all of it
    used: int | None  #: bytes of that field
    statement: Statement
    written: bool

    @property
    def line(self) -> int:
        """The line of the access."""
        return self.expr.line or self.statement.line


@dataclass(frozen=True, slots=False, eq=False)
class Lanes:
    """A kernel, or a device function with the arguments that a kernel hands on."""

    function: Function
    unit: Unit
    given: Mapping[str, Sum | None] = field(default_factory=dict)
    pointers: Mapping[str, Pointer] = field(default_factory=dict)

    @cached_property
    def _assigned(self) -> dict[str, list[tuple[str, Expr]]]:
        """What is assigned to each local variable: operators and values."""
        found: dict[str, list[tuple[str, Expr]]] = {}
        loops = [update for loop in self.function.loops for update in loop.updates]
        starts = [
            Expr(Kind.ASSIGN, "=", None, (Expr(Kind.NAME, loop.variable), loop.start))
            for loop in self.function.loops
            if loop.variable and loop.start is not None
        ]
        for each in (*starts, *loops, *expressions(self.function.statements)):
            if each.kind == Kind.ASSIGN and len(each.parts) == 2 and each.parts[0].kind == Kind.NAME:
                found.setdefault(each.parts[0].text, []).append((each.text, each.parts[1]))
            elif each.kind == Kind.UNARY and each.text == "&" and each.parts and each.parts[0].kind == Kind.NAME:
                found.setdefault(each.parts[0].text, []).append(("&", each.parts[0]))
        return found

    @cached_property
    def _known(self) -> dict[str, Sum | None]:
        return {}

    def linear(self, expr: Expr, depth: int = 0) -> Sum | None:
        """The expression as a sum of products with the lane among the names; None where the lane enters it in another way."""
        if depth > _DEEPEST:
            return None
        if expr.kind == Kind.NUMBER:
            number_ = constant(expr.text)
            return {(expr.text,): 1} if number_ is None else {(): number_}
        name = _THREADS.get(str(expr), str(expr)) if expr.kind in (Kind.NAME, Kind.MEMBER, Kind.CALL) else ""
        if name == LANE:
            return {(LANE,): 1}
        if expr.kind == Kind.NAME:
            return self._name(expr.text, depth)
        if expr.kind == Kind.BINARY and len(expr.parts) == 2:
            return self._binary(expr, depth)
        if expr.kind == Kind.UNARY and expr.text in ("-", "+") and expr.parts:
            inner = self.linear(expr.parts[0], depth + 1)
            return None if inner is None else add({}, inner, -1 if expr.text == "-" else 1)
        if expr.kind == Kind.CALL and expr.short in _CLAMPS and len(expr.parts) == 2:
            moving = [part for part in expr.parts if self.touches(part)]
            if len(moving) == 1:
                return self.linear(moving[0], depth + 1)
        if expr.kind == Kind.CONDITIONAL and len(expr.parts) == 3:
            arms = [self.linear(part, depth + 1) for part in expr.parts[1:]]
            steps = [None if arm is None else factor(arm, LANE) for arm in arms]
            return arms[0] if steps[0] is not None and steps[0] == steps[1] else None
        return None if self.touches(expr) else {(str(expr),): 1}

    def _name(self, name: str, depth: int) -> Sum | None:
        if name in self.given:
            return self.given[name]
        if name in self.unit.constants:
            return {(): self.unit.constants[name]}
        if name not in self._known:
            self._known[name] = None  # a variable that is made of itself is not followed
            self._known[name] = self._value(name, depth)
        return self._known[name]

    def _value(self, name: str, depth: int) -> Sum | None:
        """A variable: its value where it is set once; with the lane of its first value where each change is the same for all lanes."""
        changes = self._assigned.get(name, [])
        first = [one for operator, one in changes if operator == "="]
        others = [(operator, one) for operator, one in changes if operator != "="]
        if not changes:
            return {(name,): 1}
        if not any(self.touches(one) for _, one in changes):
            start = self.linear(first[0], depth + 1) if len(changes) == 1 and first else None
            return start if start is not None else {(name,): 1}
        starts = [self.linear(one, depth + 1) for one in first]
        steps = [None if start is None else factor(start, LANE) for start in starts]
        if not starts or steps[0] is None or any(step != steps[0] for step in steps):
            return None
        if any(operator not in ("+=", "-=") or self.touches(one) for operator, one in others):
            return None
        return starts[0] if len(changes) == 1 else add(starts[0] or {}, {(f"{name}'",): 1})

    def _binary(self, expr: Expr, depth: int) -> Sum | None:
        left, right = expr.parts
        if expr.text in ("+", "-", "*"):
            one, other = self.linear(left, depth + 1), self.linear(right, depth + 1)
            if one is None or other is None:
                return None
            return product(one, other) if expr.text == "*" else add(one, other, 1 if expr.text == "+" else -1)
        if not self.touches(expr):
            return {(str(expr),): 1}
        count = value(right, self.unit.constants)
        if right.kind == Kind.NAME and right.text == "warpSize":
            count = WARP
        inner = self.linear(left, depth + 1)
        step = None if inner is None else factor(inner, LANE)
        if count is None or count < 0 or inner is None or step is None or self.touches(right):
            return None
        if expr.text == "<<":
            return product(inner, {(): 1 << min(count, 40)})
        if step != {(): 1}:
            return None
        if (expr.text == "/" and count and count % WARP == 0) or (expr.text == ">>" and count >= 5):
            return {(str(expr),): 1}  # the same for all lanes of a warp
        if (expr.text == "%" and count and count % WARP == 0) or (expr.text == "&" and (count + 1) % WARP == 0):
            return {(LANE,): 1, (str(expr),): 1}
        return None

    def touches(self, expr: Expr) -> bool:
        """True if the expression may differ between lanes of a warp by their number."""
        todo = [expr]
        seen: set[str] = set()
        while todo and len(seen) < _MOST_NAMES:
            for one in todo.pop().walk():
                if str(one) in _THREADS or (one.kind == Kind.MEMBER and str(one) == LANE):
                    return True
                if one.kind == Kind.NAME and one.text not in seen:
                    seen.add(one.text)
                    if one.text in self.given:
                        known = self.given[one.text]
                        if known is None or any(LANE in key for key in known):
                            return True
                    todo.extend(each for _, each in self._assigned.get(one.text, ()))
        return False

    def changes(self, name: str) -> bool:
        """True for a variable that the function itself moves on: of a loop, or set more than once."""
        return len(self._assigned.get(name, ())) > 1 or any(name == loop.variable for loop in self.function.loops)

    def is_of_block(self, expr: Expr) -> bool:
        """True for what follows from the size of the block or warp, and constants."""
        todo, seen, found = [expr], set(self.unit.constants), False
        while todo:
            for one in todo.pop().walk():
                found = found or one.text in ("blockDim", "warpSize")
                if one.kind in (Kind.MEMBER, Kind.NAME) and one.text not in seen and one.text not in _OF_BLOCK:
                    seen.add(one.text)
                    values = [each for operator, each in self._assigned.get(one.text, ()) if operator == "="]
                    if not values or len(seen) > _MOST_NAMES:
                        return False
                    todo.extend(values)
        return found

    def lane(self, expr: Expr) -> Sum | None:
        """By how much the expression differs from a lane to the next; {} for not at all, None where that is not known."""
        terms = self.linear(expr)
        return None if terms is None else factor(terms, LANE)

    # -- arrays ----------------------------------------------------------------------------------------------------

    def pointer(self, base: Expr, depth: int = 0) -> Pointer:
        """What a pointer or array stands for."""
        name = root(base)
        if name.kind != Kind.NAME or depth > _MOST_POINTERS:
            return Pointer(str(base), "", None)
        if base.kind == Kind.MEMBER:
            return self._member(base, name, depth)
        if name.text in self.pointers:
            return self.pointers[name.text]
        declared = self.function.declared(name.text)
        if declared is None:
            outside = self.unit.variables.get(name.text)
            space = "" if outside is None else outside.space or ""
            return Pointer(name.text, {"device": "global", "managed": "global"}.get(space, space), {})
        if declared.space:
            return Pointer(name.text, declared.space, {})
        if any(one.name == name.text for one in self.function.parameters):
            return Pointer(name.text, "global" if declared.pointers or declared.dims else "", {})
        if declared.dims and not declared.pointers:
            return Pointer(name.text, "local", {})
        changes = self._assigned.get(name.text, [])
        if len(changes) == 1 and changes[0][0] == "=":
            found = self.begins(changes[0][1], depth)
            if found is not None:
                return found
        return Pointer(name.text, "", None)

    def _member(self, base: Expr, name: Expr, depth: int) -> Pointer:
        """What a field stands for: memory of its own where it is a pointer, else that of the record."""
        fields = self.unit.fields(base.text)
        inside = len(fields) == 1 and bool(fields[0].dims) and not fields[0].pointers
        declared = self.function.declared(name.text)
        space = self.pointer(name, depth + 1).space if inside else "global" if declared is not None else ""
        moves = any(each.kind == Kind.INDEX for each in base.walk())  # `p[i].v[j]`
        return Pointer(str(base), space, None if moves else {})

    def begins(self, expr: Expr, depth: int) -> Pointer | None:
        """What `a + i` or `&a[i]` points to; None where that is not known."""
        if expr.kind == Kind.NAME:
            return self.pointer(expr, depth + 1)
        if expr.kind == Kind.BINARY and expr.text == "+" and expr.parts[0].kind in (Kind.NAME, Kind.BINARY):
            start = self.begins(expr.parts[0], depth + 1) if depth < _MOST_POINTERS else None
            return None if start is None else self._moved(start, expr.parts[1])
        if expr.kind == Kind.UNARY and expr.text == "&" and expr.parts[0].kind == Kind.INDEX:
            one = expr.parts[0]
            if one.base is not None and len(one.parts) == 1:
                return self._moved(self.pointer(one.base, depth + 1), one.parts[0])
        return None

    def _moved(self, start: Pointer, by: Expr) -> Pointer:
        terms = self.linear(by)
        total = None if terms is None or start.offset is None else add(start.offset, terms)
        return Pointer(start.name, start.space, total)

    @cached_property
    def accesses(self) -> tuple[Access, ...]:
        """All accesses to arrays, in the order of the text."""
        return tuple(self._accesses())

    def _accesses(self) -> Iterator[Access]:
        for one in self.function.statements:
            if one.expr is None or one.does == Does.BREAK:
                continue
            fields: dict[int, str] = {}
            written = {id(each.parts[0]) for each in one.expr.walk() if each.kind == Kind.ASSIGN and each.parts}
            for each in one.expr.walk():
                if each.kind == Kind.MEMBER and each.base is not None and each.base.kind == Kind.INDEX:
                    fields[id(each.base)] = each.text
                    if id(each) in written:
                        written.add(id(each.base))
                elif each.kind == Kind.UNARY and each.text == "&" and each.parts:
                    fields.setdefault(id(each.parts[0]), "")
                if each.kind == Kind.INDEX and each.base is not None:
                    yield self._access(each, one, fields.get(id(each), ""), id(each) in written)

    def _access(self, expr: Expr, statement: Statement, name: str, written: bool) -> Access:
        assert expr.base is not None
        pointer = self.pointer(expr.base)
        declared = declaration_of(
            root(expr.base) if expr.base.kind != Kind.MEMBER else expr.base, self.function, self.unit
        )
        size = None if declared is None else size_of(element(declared), self.unit)
        fields = self.unit.fields(name)
        used = size_of(fields[0], self.unit) if name and len(fields) == 1 else None
        terms = self._index(expr, pointer, declared.dims if declared is not None else ())
        lane = None if terms is None else factor(terms, LANE)
        return Access(expr, pointer, lane, terms, size, name, used, statement, written)

    def _index(self, expr: Expr, pointer: Pointer, dims: tuple[Expr | None, ...]) -> Sum | None:
        """The index in elements; rows of an unknown length are a factor of their own."""
        total = pointer.offset
        for at, part in enumerate(expr.parts):
            terms = self.linear(part)
            behind: Sum | None = {(): 1}
            for after in range(at + 1, len(expr.parts)):
                size = dims[after] if after < len(dims) else None
                length = self.linear(size) if size is not None else None
                behind = None if behind is None else product(behind, length or {(f"{expr.base}'s row",): 1})
            if terms is None or behind is None or total is None:
                return None
            moved = product(terms, behind)
            total = None if moved is None else add(total, moved)
        return total


def whole(sum_: Sum | None) -> int | None:
    """A distance as a number of elements; None where it is not one."""
    return None if sum_ is None else number(sum_)


def called(kernel: Lanes, functions: Mapping[str, Function]) -> list[Lanes]:
    """The kernel and the device functions that it calls, each with the arguments of its first call; functions of these as well."""
    found = [kernel]
    seen = {kernel.function.name}
    for one in found:  # grows
        for statement in one.function.statements:
            for call in statement.calls():
                callee = functions.get(call.short)
                if callee is None or callee.name in seen or len(callee.parameters) != len(call.parts) or len(seen) > 12:
                    continue
                seen.add(callee.name)
                given = {
                    each.name: one.linear(part)
                    for each, part in zip(callee.parameters, call.parts, strict=True)
                    if not each.pointers
                }
                pointers = {}
                for each, part in zip(callee.parameters, call.parts, strict=True):
                    if each.pointers or each.dims or each.reference:
                        pointers[each.name] = one.begins(part, 0) or Pointer(each.name, "", None)
                found.append(Lanes(callee, one.unit, given, pointers))
    return found
