"""A writer of the callgrind format, from its specification in Valgrind's manual: with numbers for names or without, with lines
absolute or relative, with instruction addresses, in one part or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Call:
    """Calls of `callee` (a function's number in the program) from a line."""

    line: int
    callee: int
    count: int
    inclusive: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A function with costs by (source file, line); the file is empty for its own."""

    name: str
    file: str = "heat.c"
    object: str = "/opt/heat"
    costs: tuple[tuple[str, int, tuple[int, ...]], ...] = ()
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Style:
    """How it is written."""

    numbered: bool = True
    relative: bool = True
    addresses: bool = False
    parts: int = 1
    jumps: bool = False


@dataclass(slots=True)
class _Writer:
    functions: Sequence[Function]
    style: Style
    rows: list[str] = field(default_factory=list)
    numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    last: int = 0

    def name(self, space: str, name: str) -> str:
        if not self.style.numbered:
            return name
        known = (space, name) in self.numbers
        number = self.numbers.setdefault((space, name), len(self.numbers) + 1)
        return f"({number})" if known else f"({number}) {name}"

    def position(self, line: int) -> str:
        step, self.last = line - self.last, line
        text = str(line)
        if self.style.relative:
            text = "*" if step == 0 else f"{step:+d}"
        return f"0x{0x1000 + line:x} {text}" if self.style.addresses else text

    def function(self, function: Function) -> None:
        self.rows += [
            f"ob={self.name('ob', function.object)}",
            f"fl={self.name('fl', function.file)}",
            f"fn={self.name('fn', function.name)}",
        ]
        present = function.file
        for file, line, costs in function.costs:
            if (file or function.file) != present:
                present = file or function.file
                self.rows.append(f"{'fi' if file else 'fe'}={self.name('fl', present)}")
            self.rows.append(f"{self.position(line)} {' '.join(map(str, costs))}")
        if present != function.file:
            self.rows.append(f"fe={self.name('fl', function.file)}")
        if self.style.jumps:
            self.rows += ["jcnd=3/5 +2", self.position(self.last), f"jump=2 {self.last}", self.position(self.last)]
        for call in function.calls:
            callee = self.functions[call.callee]
            if callee.object != function.object:
                self.rows.append(f"cob={self.name('ob', callee.object)}")
            if callee.file != function.file:
                self.rows.append(f"cfi={self.name('fl', callee.file)}")
            self.rows.append(f"cfn={self.name('fn', callee.name)}")
            self.rows.append(f"calls={call.count} 1")
            self.rows.append(f"{self.position(call.line)} {' '.join(map(str, call.inclusive))}")
        self.rows.append("")


def write(functions: Sequence[Function], events: Sequence[str] = ("Ir",), style: Style = Style()) -> str:
    """The text of a program's profile; in several parts each has all of it."""
    writer = _Writer(functions, style)
    writer.rows += ["# callgrind format", "version: 1", "creator: callgrind-3.19.0", "pid: 1"]
    writer.rows += ["cmd:  ./heat --password secret"]
    totals = [0] * len(events)
    for part in range(style.parts):
        writer.rows += [f"part: {part + 1}", "", "desc: Trigger: Program termination", ""]
        writer.rows += [f"positions: {'instr line' if style.addresses else 'line'}", f"events: {' '.join(events)}"]
        writer.last = 0
        for function in functions:
            writer.function(function)
            for _, _, costs in function.costs:
                totals = [total + cost for total, cost in zip(totals, costs, strict=False)]
    writer.rows.append(f"totals: {' '.join(map(str, totals))}")
    return "\n".join(writer.rows) + "\n"


HEAT = (
    Function(
        "main",
        costs=(("", 40, (20_000, 10)), ("", 41, (5_000, 0))),
        calls=(Call(41, 1, 100, (12_000_000, 900)), Call(42, 3, 2, (600, 5)), Call(44, 4, 1, (1, 1))),
    ),
    Function(
        "solve",
        costs=(("", 12, (9_000_000, 700)), ("inline.h", 3, (500_000, 40))),
        calls=(Call(13, 2, 1000, (2_500_000, 160)), Call(14, 3, 4, (1200, 10))),
    ),
    Function("exp", "s_exp.c", "/lib/libm.so.6", costs=(("", 7, (2_500_000, 160)),)),
    Function("malloc", "malloc.c", "/lib/libc.so.6", costs=(("", 9, (1_800, 15)),)),
    Function("visit", costs=(("", 60, (1, 1)),), calls=(Call(61, 4, 9, (1, 1)),)),
)
