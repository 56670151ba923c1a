"""The frames of a sample, which of them are inlined, and what those are called."""

from __future__ import annotations

from dataclasses import dataclass, field

from chathpc.adapters.stacks import Stacks
from chathpc.profile.tree import NodeKind


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a stack: its number, and what perf says of it."""

    number: int
    symbol: str
    module: str
    address: str


@dataclass(slots=True)
class Inlined:
    """What is known of inlined functions by the lines at which they are.

    The programs that perf asks sometimes call an inlined function by the name of the one around it (binutils' addr2line does, depending
    on what it was asked before): two frames of one name at one address, at different lines, the innermost and the outermost. Other
    samples of the same line, or of lines around it, tell the name.
    """

    #: Samples of a line (file, number) and a name.
    named: dict[tuple[tuple[str, int], str], int] = field(default_factory=dict)
    #: Frame → file, line, load module.
    nameless: dict[int, tuple[str, int, str]] = field(default_factory=dict)

    def settle(self, stacks: Stacks) -> None:
        """Give names to those that have none: that of most samples of the line, else the function with the fewest lines around it. One
        that nothing tells is a part of the function around it.
        """
        if not self.nameless:
            return
        most: dict[tuple[str, int], tuple[int, str]] = {}
        reach: dict[str, dict[str, tuple[int, int]]] = {}
        for (where, name), count in self.named.items():
            file, line = where
            most[where] = max(most.get(where, (0, "")), (count, name))
            first, last = reach.setdefault(file, {}).get(name, (line, line))
            reach[file][name] = min(first, line), max(last, line)

        def named(file: str, line: int) -> str | None:
            if (file, line) in most:
                return most[file, line][1]
            around = [
                (last - first, name) for name, (first, last) in reach.get(file, {}).items() if first <= line <= last
            ]
            return min(around)[1] if around else None

        found = {frame: (named(file, line), module) for frame, (file, line, module) in self.nameless.items()}
        stacks.replace(
            {
                frame: None if name is None else stacks.frame(name, kind=NodeKind.INLINED, module=module)
                for frame, (name, module) in found.items()
            }
        )


@dataclass(slots=True)
class Chain:
    """The frames of a sample, innermost first, and between them the lines at which they are.

    With source lines perf calls all frames inlined whose name differs from that of the symbol table, without their load module.
    Those that share their address with a frame that has one are inlined there. A second name of a library's function
    (`MPI_Send` for `PMPI_Send`) has an address of its own: it was called.
    """

    stacks: Stacks
    inlined: Inlined
    numbers: list[int] = field(default_factory=list)
    last: Frame | None = None
    #: The innermost of the frames at the last one's address, if perf does not call it inlined: place in `numbers`, and where it is.
    first: tuple[int, Frame, tuple[str, int]] | None = None
    placed: int = -1  #: the frame, by its place in `numbers`, that is at `place`
    place: tuple[str, int] = ("", 0)
    #: Frames called inlined at one address: place in `numbers`, and where they are.
    pending: list[tuple[int, Frame, tuple[str, int]]] = field(default_factory=list)

    def add(self, outer: Frame) -> None:
        """Put a frame at the outer end."""
        if self.pending:
            self.settle(outer)
        if self.last is not None and outer.address != self.last.address:
            self.first = None
        self.last = outer
        self.numbers.append(outer.number)

    def at(self, file: str, line: int) -> None:
        """Tell where the last frame is. The innermost one of the same name and address is inlined if it is elsewhere."""
        own, last = len(self.numbers) - 1, self.last
        self.numbers.insert(-1, self.stacks.frame("", kind=NodeKind.LINE, file=file, line=line))
        self.placed, self.place = own + 1, (file, line)
        if last is None or not last.module:
            return
        if self.first is not None:
            inside, inner, (there, number) = self.first
            if (inner.symbol, inner.module) != (last.symbol, last.module) or (there, number) == self.place:
                return
            nameless = self.stacks.frame(
                inner.symbol, kind=NodeKind.INLINED, file=there, line=number, module=inner.module
            )
            self.inlined.nameless[nameless] = there, number, inner.module
            self.numbers[inside] = nameless
        self.first = own + 1, last, self.place

    def called_inlined(self) -> None:
        """What perf calls the last frame."""
        if self.last is not None and not self.last.module:
            own = len(self.numbers) - 1
            self.pending.append((own, self.last, self.place if self.placed == own else ("", 0)))

    def settle(self, outer: Frame | None) -> None:
        """Decide what pending frames are, once the frame outside of them is known (None: there is none)."""
        shared = outer is not None and outer.address == self.pending[-1][1].address
        if shared and outer is not None and not outer.module:
            return
        inside = self.pending if shared else self.pending[:-1]
        for place, inner, where in inside:
            module = outer.module if shared and outer is not None else ""
            self.numbers[place] = self.stacks.frame(inner.symbol, kind=NodeKind.INLINED, module=module)
            if where[1]:
                known = self.inlined.named.get((where, inner.symbol), 0)
                self.inlined.named[where, inner.symbol] = known + 1
        self.pending.clear()

    def clear(self) -> None:
        """Begin anew."""
        self.numbers.clear()
        self.pending.clear()
        self.last = self.first = None
        self.placed = -1
