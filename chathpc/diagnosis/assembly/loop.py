"""The hot loops of a function and what their loads depend on: addresses are followed through the registers, around the loop."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from itertools import accumulate
from operator import or_

from chathpc.diagnosis.assembly.instruction import Address, Instruction, instruction
from chathpc.profile.machine_code import SampledCode, SourceLine

#: The hottest loops are looked at, none of more instructions, and a body is followed so often: chains of registers are seldom longer.
_LOOPS, _LARGEST, _PASSES = 100, 2000, 8
#: A page of memory and a line of the cache, in bytes: accesses to one array lie closer than the first, a stream moves no more than
#: the second at once beyond what it reads.
_PAGE, _LINE = 4096, 64
#: What makes a sum of whole numbers, in any order.
_SUM = re.compile(r"(?:add|sub|or|and|xor)[bwlq]?")


@dataclass(frozen=True, slots=True)
class Loop:
    """What a loop with `share` (0..1) of its function's samples does, `first` and `last` being its offsets.

    `chased` and `gathered` are parts (0..1) of the loop's samples that stand at loads whose address a load of the loop gave, or at what
    waits for them. Of chased ones the chain goes on around the loop, or they lie in the items that it leads to. `streamed` counts bytes by
    which an iteration goes on in arrays, with unit stride, and `operations` what it computes with data. `beside` is True where
    such an array does not give addresses, `elsewhere` where other places are read or written.
    """

    share: float
    first: int
    last: int
    chased: float
    gathered: float
    streamed: int
    operations: int
    beside: bool
    elsewhere: bool
    divides: bool
    calls: bool


@dataclass(frozen=True, slots=True)
class ScalarLoop:
    """An innermost loop with `share` (0..1) of its function's samples that computes with one number at a time, though no iteration needs
    what another has computed and all memory is walked with unit stride.

    `lines` are the source lines of its instructions, those with most samples first; `leaves` is True where it may end in its middle,
    `writes` where it writes to memory.
    """

    share: float
    lines: tuple[SourceLine, ...]
    operations: int
    leaves: bool
    writes: bool


def scalar_loops(code: SampledCode, least: int = 1) -> tuple[ScalarLoop, ...]:
    """Such loops of the function with at least so many operations, those with most samples first."""
    parsed, jumps = _jumps_back(code)
    found = _joined([(first, last) for _, first, last in jumps])
    inner = [
        (first, last)
        for first, last in found
        if not any((first, last) != other and first <= other[0] and other[1] <= last for other in found)
    ]
    loops = (_scalar(code, parsed, first, last) for first, last in inner)
    return tuple(
        sorted((each for each in loops if each is not None and each.operations >= least), key=lambda each: -each.share)
    )


@lru_cache(maxsize=1)
def _jumps_back(code: SampledCode) -> tuple[list[Instruction], list[tuple[float, int, int]]]:
    """The instructions, and from where to where branches lead back, with the samples between, the most first."""
    arm = not any("%" in line.text for line in code.lines)
    parsed = [instruction(line, arm=arm) for line in code.lines]
    index = {line.offset: at for at, line in enumerate(code.lines)}
    before = [0.0, *accumulate(code.parts)]
    found = [
        (before[last + 1] - before[first], first, last)
        for last, one in enumerate(parsed)
        if (first := index.get(one.target if one.target is not None else -1, last + 1)) <= last
    ]
    return parsed, sorted(found, reverse=True)[:_LOOPS]


def hottest_loop(code: SampledCode) -> Loop | None:
    """The loop with most samples, the innermost that has half of those of the loop around it; None without one."""
    parsed, found = _jumps_back(code)
    inner = [each for each in found if not any(_is_inside(other, each) and other[0] >= each[0] / 2 for other in found)]
    share, first, last = max(inner, default=(0.0, 0, 0))
    if share <= 0 or last - first >= _LARGEST:
        return None
    parts = [part / share for part in code.parts[first : last + 1]]
    body = parsed[first : last + 1]
    flow = _Flow(body)
    chased, gathered = flow.chased_and_gathered()
    streams, elsewhere = flow.streams()
    indices = reduce(or_, flow.depends.values(), 0)
    return Loop(
        min(share, 1.0), code.lines[first].offset, code.lines[last].offset,
        chased=_waiting(body, parts, chased), gathered=_waiting(body, parts, gathered),
        streamed=sum(each.step for each in streams), operations=flow.operations,
        beside=any(not each.loads or each.loads & ~indices for each in streams), elsewhere=elsewhere,
        divides=any(one.divides for one in body), calls=any(one.calls for one in body),
    )  # fmt: skip


def _joined(found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Jumps back that cross, or lead to one place, are one loop's."""
    made: list[tuple[int, int]] = []
    for first, last in sorted(found):
        while made and (made[-1][0] == first or made[-1][0] < first <= made[-1][1] < last):
            first, last = made[-1][0], max(made.pop()[1], last)
        made.append((first, last))
    return made


def _scalar(code: SampledCode, parsed: Sequence[Instruction], first: int, last: int) -> ScalarLoop | None:
    body, parts = parsed[first : last + 1], code.parts[first : last + 1]
    if (
        last - first >= _LARGEST
        or not sum(parts)
        or any(one.calls or one.packed or _divides_whole(one) for one in body)
    ):
        return None
    begin, end = code.lines[first].offset, code.lines[last].offset
    # A loop whose condition stands at its end is entered there.
    outside = (one for one in (*parsed[:first], *parsed[last + 1 :]) if one.name == "jmp" or one.name == "b")
    entry = next((one.target for one in outside if one.target is not None and begin < one.target <= end), begin)
    at = next(at for at, line in enumerate(code.lines[first:]) if line.offset >= entry)
    flow = _Flow([*body[at:], *body[:at]])
    streams, elsewhere = flow.streams()
    if elsewhere or not streams or any(flow.chased_and_gathered()) or any(each.step > each.width for each in streams):
        return None
    if flow.is_chained():
        return None
    exits = sum(one.target is not None and not begin <= one.target <= end for one in body[:-1])
    lines = Counter[SourceLine]()
    for line, part in zip(code.lines[first : last + 1], parts, strict=True):
        if line.line > 0:
            lines[line.file, line.line] += part  # type: ignore[assignment]
    return ScalarLoop(
        min(sum(parts), 1.0), tuple(line for line, _ in lines.most_common()), flow.computed(),
        leaves=exits + (not body[-1].name.startswith("jmp")) > 1, writes=any(one.store is not None for one in body),
    )  # fmt: skip


def _divides_whole(one: Instruction) -> bool:
    """True for a division of whole numbers, which no vector instruction does."""
    return one.divides and not any(each.startswith("v") for each in one.result)


def _is_inside(one: tuple[float, int, int], other: tuple[float, int, int]) -> bool:
    return other[1] <= one[1] and one[2] <= other[2] and one[1:] != other[1:]


@dataclass(frozen=True, slots=True)
class _Value:
    """What a register holds: the loads that it comes from, as bits, and what it grows by in an iteration, None where that is not constant."""

    loads: int = 0
    step: int | None = 0


@dataclass(slots=True)
class _Stream:
    """Accesses to one array: bytes that an iteration goes on by, those that it reads or writes, and its loads, as bits."""

    step: int
    width: int = 0
    loads: int = 0


@dataclass(slots=True)
class _Flow:
    """What the addresses in a body depend on: `depends` tells by load from memory the loads that its address comes from, as bits, and
    `steps` what an access goes on by in an iteration.
    """

    body: Sequence[Instruction]
    changes: Counter[str] = field(default_factory=Counter)
    depends: dict[int, int] = field(default_factory=dict)
    steps: dict[int, int | None] = field(default_factory=dict)
    operations: int = 0

    def __post_init__(self) -> None:
        adds, added = Counter[str](), Counter[str]()
        for one in self.body:
            self.changes.update({*one.result, *one.adds})
            adds.update(one.adds)
            added.update(one.adds.keys())
        # What only constants are added to moves on by them; whatever else is changed may come from the iteration before.
        head = {each: _Value(step=adds[each] if added[each] == count else None) for each, count in self.changes.items()}
        head |= {slot: _Value(step=None) for one in self.body if (slot := self._slot(one.store))}
        for _ in range(_PASSES):
            after = self._around(dict(head))
            joined = {each: _Value(value.loads | after[each].loads, value.step) for each, value in head.items()}
            if joined == head:
                break
            head = joined

    def _slot(self, address: Address | None) -> str:
        """The name of a place in memory that stays where it is, such as on the stack, which is like a register; empty for others."""
        moves = address is None or any(self.changes[each] for each in address.registers)
        return "" if moves or address is None else f"[{address.text}]"

    def _around(self, state: dict[str, _Value]) -> dict[str, _Value]:
        """What registers hold after an iteration that begins with `state`."""
        self.operations = 0
        for at, one in enumerate(self.body):
            values = [state.get(each, _Value()) for each in one.reads]
            if one.lea is not None:
                values = [_sum(state, one.lea)]
            if one.load is not None:
                values.append(self._loaded(state, at, one.load))
            slot = self._slot(one.store)
            if one.store is not None and not slot:
                self.steps[at] = _sum(state, one.store).step
            value = _result(one, values)
            if value.loads or any(each.startswith("v") for each in (*one.reads, *one.result)):
                self.operations += one.operations
            state |= dict.fromkeys((*one.result, *([slot] if slot else ())), value)
        return state

    def _loaded(self, state: Mapping[str, _Value], at: int, address: Address) -> _Value:
        slot, where = self._slot(address), _sum(state, address)
        if slot or where == _Value():
            return state.get(slot, _Value())
        self.steps[at], self.depends[at] = where.step, where.loads
        return _Value(1 << at, None)

    def is_chained(self) -> bool:
        """True if an iteration needs what one before it has computed; numbers that only count, and sums of whole numbers, are no such chain."""
        written, carried = set[str](), set[str]()
        for one in self.body:
            carried |= {each for each in _needs(one) - written if self.changes[each] and not self._counts(each)}
            written |= one.result
        if any(not self._is_sum(each) for each in carried):
            return True
        return self._is_read_again()

    def _is_read_again(self) -> bool:
        """True if what is stored is loaded in a later iteration: from another element of the array, or from where it stays."""
        moved = Counter[str]()
        loads: list[tuple[str, str, str, int]] = []
        stores: list[tuple[str, str, str, int]] = []
        for one in self.body:
            for address, found in ((one.load, loads), (one.store, stores)):
                if address is not None:
                    at = address.offset + moved[address.base] + address.scale * moved[address.index]
                    found.append((address.base, address.index, self._slot(address), at))
            moved.update(one.adds)
        return any(
            store[:3] == load[:3] and (bool(store[2]) or 0 < abs(store[3] - load[3]) < _PAGE)
            for store in stores
            for load in loads
        )

    def computed(self) -> int:
        """What an iteration computes, without what counts iterations."""
        return sum(one.operations for one in self.body if any(not self._counts(each) for each in one.result))

    def _counts(self, register: str) -> bool:
        """True if constants are added to it, and nothing else happens to it."""
        return all(register in one.adds for one in self.body if register in one.result)

    def _is_sum(self, register: str) -> bool:
        writers = [one for one in self.body if register in one.result]
        others = (one for one in self.body if register in _needs(one) and one.result and register not in one.result)
        return not register.startswith("v") and all(_SUM.fullmatch(one.name) for one in writers) and not any(others)

    def chased_and_gathered(self) -> tuple[set[int], set[int]]:
        """Loads of chains, and others whose address was loaded."""
        reach = dict(self.depends)
        for middle in reach:
            for at in reach:
                if reach[at] >> middle & 1:
                    reach[at] |= reach[middle]
        chain = {at for at, loads in reach.items() if loads >> at & 1}
        chained = sum(1 << at for at in chain)
        chased = chain | {at for at, loads in reach.items() if loads & chained}
        # What is changed in place is a table of sums more often than not.
        written = {one.store for one in self.body}
        gathered = {at for at, loads in reach.items() if loads and self.body[at].load not in written}
        return chased, gathered - chased

    def streams(self) -> tuple[list[_Stream], bool]:
        """The arrays that are walked with unit stride, and whether there are other accesses. One that is read and written
        counts twice.
        """
        found: dict[tuple[str, str, int, bool], _Stream] = {}
        elsewhere = False
        for at, step in self.steps.items():
            one = self.body[at]
            address = one.load or one.store
            if not step or address is None:
                elsewhere |= step is None
                continue
            key = address.base, address.index, (address.offset + _PAGE // 2) // _PAGE, one.load is None
            stream = found.setdefault(key, _Stream(abs(step)))
            stream.width += one.width
            stream.loads |= 1 << at if one.load is not None else 0
        near = [each for each in found.values() if each.step <= max(_LINE, each.width)]
        return near, elsewhere or len(near) < len(found)


def _needs(one: Instruction) -> frozenset[str]:
    """The registers whose values it uses, those of addresses with them."""
    if one.clears:
        return frozenset()
    return one.reads.union(*(each.registers for each in (one.load, one.store, one.lea) if each is not None))


def _sum(state: Mapping[str, _Value], address: Address) -> _Value:
    """The value of an address."""
    base, index = state.get(address.base, _Value()), state.get(address.index, _Value())
    known = base.step is not None and index.step is not None
    return _Value(base.loads | index.loads, (base.step or 0) + address.scale * (index.step or 0) if known else None)


def _result(one: Instruction, values: Sequence[_Value]) -> _Value:
    """The value that an instruction computes from others."""
    if one.clears:
        return _Value()
    loads = 0 if one.makes else reduce(or_, (each.loads for each in values), 0)
    steps = [each.step for each in values if each.step is not None]
    step = sum(steps) if len(steps) == len(values) else None
    if step and one.scales is not None:
        step *= one.scales
    elif step and not (one.moves or one.name.startswith("add")):
        step = None
    return _Value(loads, step)


def _waiting(body: Sequence[Instruction], parts: Sequence[float], loads: set[int]) -> float:
    """The part of the samples at some loads and at the first instruction that needs the result of each, or behind these: samples come
    late by one instruction. A division takes long itself.
    """
    size = len(body)
    needs = [_needs(one) for one in body]
    places: set[int] = set()
    for at in loads:
        users: Iterator[int] = ((at + n) % size for n in range(1, size + 1) if body[at].result & needs[(at + n) % size])
        user = next(users, at)
        places |= {at, (at + 1) % size, user, (user + 1) % size}
    divisions = {(at + late) % size for at, one in enumerate(body) if one.divides for late in (0, 1)}
    return min(sum(parts[at] for at in places - divisions), 1.0)
