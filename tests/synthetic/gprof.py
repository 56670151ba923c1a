"""Writers of gprof's text and of gprof2dot's graphs, for one kind of program: functions with times, and calls between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Function:
    """A function: own seconds in hundredths, and calls as (number of the callee, how often)."""

    name: str
    own: int
    calls: tuple[tuple[int, int], ...] = ()
    module: str = ""


HEAT = (
    Function("main", 5, ((1, 100), (2, 7))),
    Function("solve(Grid const&, int)", 600, ((2, 40), (3, 9))),
    Function("norm", 250),
    Function("visit", 45, ((3, 900),)),
)


def _called(functions: Sequence[Function], number: int) -> int:
    return sum(n for one in functions for callee, n in one.calls if callee == number)


def flat(functions: Sequence[Function], *, brief: bool = True) -> str:
    """The flat profile."""
    total = sum(function.own for function in functions) or 1
    rows = [
        "Flat profile:", "", "Each sample counts as 0.01 seconds.",
        "  %   cumulative   self              self     total           ",
        " time   seconds   seconds    calls   s/call   s/call  name    ",
    ]  # fmt: skip
    running = 0
    for number, function in sorted(enumerate(functions), key=lambda item: -item[1].own):
        running += function.own
        calls = _called(functions, number)
        counts = f"{calls:9d} {function.own / 100 / calls:8.2f} {0.5:8.2f}" if calls else " " * 27
        share = 100 * function.own / total
        rows.append(f"{share:6.2f} {running / 100:10.2f} {function.own / 100:8.2f} {counts}  {function.name}")
    if not brief:
        rows += [
            "",
            " %         the percentage of the total running time of the",
            "time       program used by this function.",
            "\f",
        ]
    return "\n".join(rows) + "\n"


def graph(functions: Sequence[Function]) -> str:
    """The call graph."""
    rows = ["\t\t\tCall graph", "", "", "granularity: each sample hit covers 2 byte(s) for 0.11% of 9.00 seconds", ""]
    rows.append("index % time    self  children    called     name")
    for number, function in enumerate(functions):
        total = _called(functions, number)
        callers = [(a, n) for a, one in enumerate(functions) for b, n in one.calls if b == number and a != number]
        itself = sum(n for b, n in function.calls if b == number)
        for caller, count in callers:
            rows.append(f"{0.1:20.2f} {0.0:7.2f} {count:7d}/{total:<7d}     {functions[caller].name} [{caller + 1}]")
        if not callers:
            rows.append(" " * 49 + "<spontaneous>")
        called = f"{total - itself:7d}{f'+{itself}' if itself else '':7s}" if total else " " * 14
        rows.append(
            f"[{number + 1}]{50.0:9.1f} {function.own / 100:7.2f} {1.0:7.2f} {called} {function.name} [{number + 1}]"
        )
        for callee, count in function.calls:
            name = functions[callee].name
            rows.append(f"{0.1:20.2f} {0.0:7.2f} {count:7d}/{_called(functions, callee):<7d}     {name} [{callee + 1}]")
        rows.append("-----------------------------------------------")
    rows += ["", "Index by function name", "", "   [1] main    [2] solve(Grid const&, int)"]
    return "\n".join(rows) + "\n"


def dot(functions: Sequence[Function], *, quoted: bool = True) -> str:
    """The graph as gprof2dot draws it."""
    total = sum(function.own for function in functions) or 1
    rows = ["digraph {", "\tgraph [fontname=Arial, nodesep=0.125];", "\tnode [fontcolor=white, shape=box];"]
    names = [f'"{f.name}"' if quoted else str(number) for number, f in enumerate(functions)]
    for number, function in enumerate(functions):
        module = f"{function.module}\\n" if function.module else ""
        share = 100 * function.own / total
        label = f"{module}{function.name}\\n{99.0:.2f}%\\n({share:.2f}%)\\n{_called(functions, number)}×"
        rows.append(f'\t{names[number]} [color="#0d0d73", fontsize="10.00", label="{label}"];')
        for callee, count in function.calls:
            rows.append(f'\t{names[number]} -> {names[callee]} [color="#0d", label="1.00%\\n{count}×"];')
    return "\n".join([*rows, "}"]) + "\n"
