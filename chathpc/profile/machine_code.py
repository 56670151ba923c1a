"""Machine code as a disassembler or a report shows it: one instruction after the other, as text."""

from __future__ import annotations

from dataclasses import dataclass

#: File and line.
SourceLine = tuple[str, int]


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One machine instruction: `offset` in bytes from the beginning of its function, and the source line it came from.

    `control` holds the 21 bits with which the compiler schedules the instruction (stall cycles, barriers), −1 where the
    text does not show them. A `label` that stands before the instruction is what branches may name. `callers` are the lines that the source
    line was inlined at, the innermost first.
    """

    offset: int
    text: str
    file: str = ""
    line: int = 0
    control: int = -1
    labels: tuple[str, ...] = ()
    callers: tuple[SourceLine, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class MachineCode:
    """The instructions of one kernel, by ascending offset; `base` is the address that absolute branch targets count from.

    `architecture` is as the tool names it ("sm_90"), empty where it does not.
    """

    kernel: str
    lines: tuple[CodeLine, ...]
    base: int = 0
    architecture: str = ""

    @property
    def has_sources(self) -> bool:
        """True if source lines are known."""
        return any(line.line > 0 for line in self.lines)


@dataclass(frozen=True, slots=True, eq=False)
class SampledCode:
    """The instructions of a function of the host, with the part (0..1) of its `samples` that stands at each; `module` is its file's name."""

    function: str
    module: str
    lines: tuple[CodeLine, ...]
    parts: tuple[float, ...]
    samples: int
