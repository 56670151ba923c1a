"""Small OTF2 traces, written through the package otf2: two ranks that send and compute, and an accelerator."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic.otf2 import Events, write_otf2

FIRST: Events = [
    (100, "enter", "main"), (200, "enter", "MPI_Send"), (210, "send", (1, 64)), (300, "leave", "MPI_Send"),
    (500, "enter", "MPI_Allreduce"), (640, "collective", ("ALLREDUCE", None, 8)), (650, "leave", "MPI_Allreduce"), (1100, "leave", "main"),
]  # fmt: skip
SECOND: Events = [
    (100, "enter", "main"), (150, "enter", "MPI_Recv"), (160, "recv", (0, 64)), (400, "leave", "MPI_Recv"),
    (450, "enter", "sweep"), (880, "leave", "sweep"), (900, "leave", "main"),
]  # fmt: skip
KERNELS: Events = [(500, "enter", "axpy"), (700, "leave", "axpy"), (720, "enter", "dot"), (800, "leave", "dot")]


def write_samples(folder: Path) -> list[Path]:
    """Two traces: ranks alone, and ranks with a stream of a device."""
    return [
        write_otf2(folder / "ranks", {0: FIRST, 1: SECOND}),
        write_otf2(folder / "device", {0: FIRST, 1: KERNELS}, device=[1]),
    ]
