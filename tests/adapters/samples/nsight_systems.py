"""Small exports of Nsight Systems of every age, with all features between them, and a folder of two."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic.nsight_systems import AGES, Export, all_features


def write_samples(folder: Path) -> list[Path]:
    """Write them into `folder`."""
    written = [all_features(age, lazy=age != 2022).write(folder / f"all-{age}.sqlite") for age in AGES]
    nothing = Export(2024)
    nothing.call(0, 1_000, "cudaGetDeviceCount")
    written.append(nothing.write(folder / "nothing-ran.sqlite"))
    ranks = folder / "ranks"
    ranks.mkdir(exist_ok=True)
    for rank in range(2):
        export = Export(2026)
        export.gpu(0, "Synthetic GPU", uuid=f"uuid-{rank}")
        export.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1_700_000_000_000_000_000 + rank * 500_000)
        launch = export.call(10_000, 20_000, "cudaLaunchKernel", pid=20 + rank)
        export.kernel(30_000, 2_000_000, "solve(double*)", launch, pid=20 + rank)
        export.add("MPI_RANKS", globalTid=(1 << 48) | (20 + rank << 24) | (20 + rank), rank=rank)
        export.write(ranks / f"report{rank}.sqlite")
    written.append(ranks)
    return written
