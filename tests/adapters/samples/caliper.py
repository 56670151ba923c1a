"""Small Caliper files with every feature that the adapter knows between them."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic.caliper import Record, across, write_cali, write_split

MAIN = (("function", "main"),)
STEP = (*MAIN, ("loop", "time.step"))


def write_samples(folder: Path) -> list[Path]:
    """A SPOT file, a GPU summary, a time series, ranks in a folder, json-split with and without descriptions."""
    channel = {"spot.channel": "regionprofile"}
    spot = [
        Record((), across((0.1, 0.2)), channel),
        Record(MAIN, across((10.0, 10.0)), channel),
        Record(STEP, across((9.0, 9.5)), channel),
        Record((*STEP, ("mpi.function", "MPI_Allreduce")), across((1.0, 3.0)), channel, loose=1),
        Record(STEP, {"max#sum#time.duration": 4.0}, {"spot.channel": "timeseries"}),
    ]
    launch = (*MAIN, ("cupti.runtimeAPI", "cudaLaunchKernel"))
    gpu = [
        Record(MAIN, {"inclusive#scale#sum#cupti.host.duration": 5.0}),
        Record(launch, {"inclusive#scale#sum#cupti.host.duration": 1.0, "sum#scale#cupti.activity.duration": 0.5}),
        Record(launch, {"sum#scale#cupti.activity.duration": 0.25}, {"cupti.kernel.name": "axpy<double>"}),
    ]
    series = [
        Record(MAIN, {"sum#time.duration.ns": 1e9, "sum#region.count": 1.0, "timeseries.snapshot": 0}),
        Record(STEP, {"sum#time.duration.ns": 2e9, "sum#region.count": 7.0, "timeseries.snapshot": 1}),
    ]
    facts = {"user": "nobody", "jobsize": "2", "cali.caliper.version": "2.9.0", "executablepath": "/opt/bin/heat"}
    found = [
        write_cali(folder / "spot.cali", spot, facts=facts),
        write_cali(folder / "gpu.cali", gpu, aliases={"sum#scale#cupti.activity.duration": ("GPU time", "sec")}),
        write_cali(folder / "series.cali", series),
    ]
    ranks = folder / "ranks"
    ranks.mkdir()
    for rank in range(3):
        write_cali(ranks / f"{rank}.cali", [Record(STEP, {"sum#time.duration": 1.0 + rank, "mpi.rank": rank})])
    found.append(ranks)
    rows = [(STEP[: 1 + (rank > 1)], {"time": 1.5 * rank, "mpi.rank": rank % 2}) for rank in range(4)]
    found.append(
        write_split(folder / "split.json", rows, order=True, units={"time": "sec"}, facts={"cmdline": "[./heat]"})
    )
    sampled = [
        (MAIN, {"count": 2, "sum#time.duration": 10_000, "sourceloc#cali.sampler.pc": "/src/heat.c:12", "mpi.rank": 0}),
        (STEP, {"count": 1, "sum#time.duration": 5_000, "sourceloc#cali.sampler.pc": "UNKNOWN", "mpi.rank": 1}),
    ]  # fmt: skip
    found.append(
        write_split(folder / "sampled.json", sampled, column="source.function#callpath.address", described=False)
    )
    return found
