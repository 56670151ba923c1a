"""Lines of `perf script`: the head of a sample, a frame, the source line of a frame.

Which fields a line has depends on the version of perf and on its option -F. All of these are heads of samples:

    demo 30493  1693.302341:    2004008 cpu-clock:
    demo 30493/30495 [003]  1693.302341: cycles:u:
    demo 30493/30493 [003]  1693.302341:
    demo 30493  1693.302341:  2004008 cpu-clock:  ffffffff821eb0e7 clear_page+0x7 ([kernel.kallsyms])

The last one has its only frame on the same line, as perf writes it without call graphs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from chathpc.adapters.stacks import Stacks
from chathpc.profile.tree import NodeKind

#: Names of threads have at most 15 characters in Linux; perf itself adds a few (`:-1`, `kworker/u8:2-events`).
_HEAD = re.compile(
    r"\s{0,40}(?P<comm>\S.{0,40}?)\s++(?P<pid>-?\d{1,10})(?:/(?P<tid>-?\d{1,10}))?\s++"
    r"(?:\[(?P<cpu>\d{1,6})\]\s*+)?(?:[.a-zA-Z]{4,6}\s++(?=\d))?(?:(?P<time>\d{1,12}\.\d{3,9}):(?:\s++|$))?"
    r"(?:(?P<period>\d{1,20})\s++)?(?:(?P<event>[^\s:(]\S{0,200}?):(?:\s++|$))?"
    # One of these has to be there: a name that ends in a number must not be taken for name and process.
    r"(?(cpu)|(?(time)|(?(event)|(?!))))(?P<rest>.*)",
    re.DOTALL,
)
#: A frame: address, symbol with offset, load module in brackets (either may be missing).
_FRAME = re.compile(r"\s*+(?P<ip>[0-9a-f]{1,16})\s(?P<symbol>.*)", re.DOTALL)
_OFFSET = re.compile(r"\+0x[0-9a-f]{1,16}$")
_SOURCE_LINE = re.compile(
    r"\s++(?:(?P<file>\S.{0,4000}):(?P<line>\d{1,9})(?:\[\w*\])?|\S.{0,4000}\[[0-9a-f]{1,16}\]|:0)(?P<inlined> \(inlined\))?"
)

#: What follows the time in a record of --show-switch-events; `_CPU_WIDE` where whole processors were recorded.
SWITCH = re.compile(r"PERF_RECORD_SWITCH(?:_CPU_WIDE)?\s+(?P<way>IN|OUT)\b\s*(?P<preempt>preempt)?")
#: When a thread ends (perf script --show-task-events).
EXIT = "PERF_RECORD_EXIT("
UNKNOWN = "[unknown]"


def head(line: str) -> re.Match[str] | None:
    """The match of a line that begins a sample (groups comm, pid, tid, cpu, time, period, event, rest), else None."""
    return _HEAD.fullmatch(line)


def frame(line: str) -> tuple[str, str, str] | None:
    """(symbol, load module, address) of a line that is a frame, else None; `[unknown]` for a symbol that perf does not know."""
    match = _FRAME.fullmatch(line)
    if match is None:
        return None
    symbol, module = match["symbol"].strip(), ""
    if symbol.endswith(")"):
        depth = 0
        for position in range(len(symbol) - 1, max(len(symbol) - 4096, 0) - 1, -1):
            depth += (symbol[position] == ")") - (symbol[position] == "(")
            if depth == 0:
                break
        if depth == 0 and (position == 0 or symbol[position - 1] == " "):
            symbol, module = symbol[:position].rstrip(), symbol[position + 1 : -1]
    symbol = _OFFSET.sub("", symbol)
    return symbol or UNKNOWN, "" if module == UNKNOWN else module, match["ip"]


def source_line(line: str) -> tuple[str, int, bool] | None:
    """(file, line, whether perf calls the frame inlined) of a line that it adds below a frame with -F +srcline, else None.

    Without line information perf writes `??:0`, `:0`, or load module and address (`libmpi.so.40[2706]`): the file is `??` for all.
    """
    match = _SOURCE_LINE.fullmatch(line)
    return None if match is None else (match["file"] or "??", int(match["line"] or 0), match["inlined"] is not None)


def looks_like_samples(text: str) -> bool:
    """True if `text` begins with samples (a head, and a frame on the same line or below it) or with records of switches."""
    last_was_head = False
    found = 0
    for line in text[: 32 << 10].split("\n")[:400]:
        if not line.strip() or line.startswith("#"):
            continue
        if found == 0 and line.startswith(("PERF_RECORD_", "{", "[")):
            return False
        if last_was_head and line[0] in " \t" and frame(line) is not None:
            return True
        match = head(line) if len(line) < 2000 else None
        if match is None:
            found += 1
            if found > 20:
                return False
            last_was_head = False
            continue
        if match["time"] and SWITCH.match(match["rest"]):
            return True
        if match["time"] and match["event"] and frame(match["rest"]) is not None and match["rest"].endswith(")"):
            return True
        last_was_head = True
    return False


# -- the frames of a sample, which of them are inlined, and what those are called ---------------------------------


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
