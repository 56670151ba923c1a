"""Small CUBE4 profiles with every feature that the adapter knows between them."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic.cube import CubeSpec, MetricSpec, RegionSpec, write_cube

REGIONS = (
    RegionSpec("heat", paradigm="measurement", role="artificial"),
    RegionSpec("main", "src/heat.c", 10),
    RegionSpec("sweep", "src/heat.c", 30),
    RegionSpec("MPI_Allreduce", "MPI", paradigm="mpi", role="all2all"),
    RegionSpec("!$omp implicit barrier @heat.c:40", "src/heat.c", 40, "openmp", "implicit barrier"),
    RegionSpec("axpy", "CUDA_KERNEL", -1, "cuda", "function"),
    RegionSpec("loop", "src/heat.c", 33, "user", "loop"),
)
#: heat → main → sweep → (barrier, loop), MPI_Allreduce, axpy
CALLS = ((-1, 0), (0, 1), (1, 2), (2, 4), (2, 6), (1, 3), (1, 5))
RANKS = ((0, 0, "thread"), (1, 0, "thread"))
#: Inclusive seconds of two ranks.
TIME = {0: (10.0, 12.0), 1: (9.0, 11.0), 2: (6.0, 5.0), 3: (1.0, 0.5), 4: (3.0, 3.5), 5: (2.0, 4.0)}


def spec() -> CubeSpec:
    """Two ranks with times, visits, bytes, a counter and metrics that are left out."""
    return CubeSpec(
        REGIONS,
        CALLS,
        (
            MetricSpec("visits", {1: (1, 1), 2: (7, 7), 5: (3, 3)}, type="UINT64", unit="occ"),
            MetricSpec("time", TIME, kind="INCLUSIVE"),
            MetricSpec("max_time", {1: (9.0, 11.0)}, type="MAXDOUBLE"),
            MetricSpec("bytes_sent", {5: (24, 24)}, type="UINT64", unit="bytes"),
            MetricSpec("PAPI_TOT_CYC", {2: (5e9, 6e9)}, type="UINT64", unit="#"),
            MetricSpec("mpi_wait_nxn", {5: (1.5, 0.25)}),
            MetricSpec("size", {5: (24.0, 8.0)}, type="TAU_ATOMIC", unit="bytes"),
            MetricSpec("computed", {}, kind="POSTDERIVED"),
            MetricSpec("bytes_put", {5: (0, 0)}, type="UINT64", unit="bytes"),
        ),
        RANKS,
        parameters={4: ("step", "3")},
        attributes={"CommandLine": "PLANTED-a1b2c3", "user": "PLANTED-a1b2c3"},
    )


def device() -> CubeSpec:
    """One process with a GPU stream and a location of counters."""
    time = {0: (5.0, 2.0, 0.0), 1: (4.0, 2.0, 0.0), 6: (0.0, 2.0, 0.0)}
    locations = ((0, 0, "thread"), (0, 7, "gpu"), (0, 1, "metric"))
    return CubeSpec(REGIONS, CALLS, (MetricSpec("time", time, kind="INCLUSIVE"),), locations)


def write_samples(folder: Path) -> list[Path]:
    """Plain, packed and big-endian archives, and a measurement folder."""
    found = [
        write_cube(folder / "plain.cubex", spec()),
        write_cube(folder / "packed.cubex", spec(), packed=True, zipped=True),
        write_cube(folder / "big.cubex", spec(), order=">"),
        write_cube(folder / "device.cubex", device()),
    ]
    measured = folder / "scorep_heat"
    measured.mkdir()
    write_cube(measured / "profile.cubex", spec(), packed=True)
    (measured / "scorep.cfg").write_text("SCOREP_EXPERIMENT_DIRECTORY=PLANTED-a1b2c3\n")
    return [*found, measured]
