"""Lines of the table that the benchmark prints."""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass

from tests.bench.processes import Run


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table; `target` is empty where there is none."""

    what: str
    size: str
    chathpc: str
    other: str = ""
    ratio: str = ""
    target: str = ""
    met: bool | None = None

    def cells(self) -> tuple[str, ...]:
        """The columns as text."""
        met = "" if self.met is None else "yes" if self.met else "NO"
        return (self.what, self.size, self.chathpc, self.other, self.ratio, self.target, met)


HEAD = ("what", "size", "chathpc", "beside", "ratio", "target", "met")


def table(rows: list[Row]) -> str:
    """Rows below their head, columns aligned."""
    cells = [HEAD, *(row.cells() for row in rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(HEAD))]
    lines = [
        "  ".join(c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True)))
        for row in cells
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def seconds(run: Run) -> str:
    """A time with three digits."""
    return "failed" if run.failure else f"{run.seconds:.3g} s"


def noted(what: str, run: Run) -> Run:
    """`run`, and why it failed on standard error."""
    if run.failure:
        sys.stderr.write(f"{what} failed: {run.failure}\n")
    return run


def linear_rows(name: str, runs: dict[int, Run]) -> list[Row]:
    """From each size to the next: how much more time and memory for how many times the contexts."""
    rows = []
    sizes = sorted(size for size, run in runs.items() if not run.failure)
    for small, large in itertools.pairwise(sizes):
        step = f"{small:,} to {large:,}"
        more = large / small
        time = runs[large].seconds / runs[small].seconds
        rows.append(
            Row(
                f"{name}: time",
                step,
                f"{time:.1f}x",
                ratio=f"of {more:.0f}x",
                target=f"<= {more:.0f}x",
                met=time <= more,
            )
        )
        if runs[small].bytes:
            memory = runs[large].bytes / runs[small].bytes
            rows.append(
                Row(
                    f"{name}: memory",
                    step,
                    f"{memory:.1f}x",
                    ratio=f"of {more:.0f}x",
                    target=f"<= {more:.0f}x",
                    met=memory <= more,
                )
            )
    return rows


def progress(text: str) -> None:
    """Say on a terminal what is being done."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
