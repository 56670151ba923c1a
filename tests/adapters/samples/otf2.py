"""Small OTF2 traces, written through the package otf2: ranks that send and compute, with requests and roots, and an accelerator."""

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

LATER: Events = [
    (100, "enter", "main"), (110, "enter", "MPI_Irecv"), (110, "posted", 1), (120, "leave", "MPI_Irecv"),
    (120, "enter", "MPI_Ibarrier"), (120, "begun", 2), (130, "leave", "MPI_Ibarrier"),
    (200, "enter", "MPI_Waitall"), (290, "irecv", (1, 64, 5, 1)), (290, "collective", ("BARRIER", None, 0, 2)),
    (300, "leave", "MPI_Waitall"), (300, "enter", "MPI_Bcast"), (390, "collective", ("BCAST", 1, 8)),
    (390, "leave", "MPI_Bcast"), (400, "leave", "main"),
]  # fmt: skip
EARLIER: Events = [
    (100, "enter", "main"), (150, "enter", "MPI_Isend"), (150, "isend", (0, 64, 5, 1)), (160, "leave", "MPI_Isend"),
    (170, "enter", "MPI_Ibarrier"), (170, "begun", 2), (180, "leave", "MPI_Ibarrier"),
    (190, "enter", "MPI_Waitall"), (200, "isent", 1), (200, "collective", ("BARRIER", None, 0, 2)),
    (210, "leave", "MPI_Waitall"), (380, "enter", "MPI_Bcast"), (390, "collective", ("BCAST", 1, 8)),
    (390, "leave", "MPI_Bcast"), (400, "leave", "main"),
]  # fmt: skip


def write_samples(folder: Path) -> list[Path]:
    """Three traces: ranks alone, ranks with requests, and a rank with a stream of a device."""
    return [
        write_otf2(folder / "ranks", {0: FIRST, 1: SECOND}),
        write_otf2(folder / "requests", {0: LATER, 1: EARLIER}),
        write_otf2(folder / "device", {0: FIRST, 1: KERNELS}, device=[1]),
    ]
