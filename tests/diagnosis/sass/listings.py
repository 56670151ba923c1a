"""Machine code for tests: disassemblies of our own kernels (code/), and short listings written by hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from chathpc.adapters.nvdisasm import read
from chathpc.profile.machine_code import CodeLine, MachineCode

FOLDER = Path(__file__).parent / "code"
ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100")
#: Disassemblies that show the scheduling bits.
SCHEDULED = ("sm_80", "sm_90")


@cache
def kernel(architecture: str, name: str) -> MachineCode:
    """One of the kernels in code/kernels.cu: gather, block_sum, chain, either."""
    return next(code for code in read(FOLDER / f"{architecture}.sass").code if code.kernel == name)


def listing(text: str, *, file: str = "", lines: tuple[int, ...] = ()) -> MachineCode:
    """Code from one instruction a line, at 0, 16, 32, …; `NAME:` on a line of its own is a label, `lines` are source lines."""
    found: list[CodeLine] = []
    labels: list[str] = []
    for row in text.strip().splitlines():
        row = row.strip()
        if row.endswith(":"):
            labels.append(row[:-1])
            continue
        place = lines[len(found)] if len(found) < len(lines) else 0
        found.append(CodeLine(16 * len(found), row, file if place else "", place, labels=tuple(labels)))
        labels = []
    return MachineCode("kernel", tuple(found))
