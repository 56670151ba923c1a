"""POP's efficiencies of each run of a series, against its smallest scale.

    global      = parallel × computation scaling
    parallel    = load balance × communication        load balance = mean / largest computing time, communication = that / elapsed time
    computation scaling = all workers' computing at the smallest scale / here (weak scaling: each worker's)
                        = instruction scaling × IPC scaling × frequency scaling, where instructions and cycles were counted

    devices      = balance of kernels × copies × use        balance = mean / largest time of kernels over the devices,
                   copies = that largest / largest time of kernels and copies, use = the latter / elapsed time

Source: POP Centre of Excellence, standard metrics (pop-coe.eu); hybrid programs as in its multiplicative hybrid metrics: the balance of
ranks times that of threads in them, communication in MPI times calls for devices times synchronisation of threads; devices as in TALP
(DLB, pm.bsc.es/dlb), whose orchestration efficiency is called use here.
"""

from __future__ import annotations

from math import isfinite

import numpy as np

from chathpc.diagnosis.device import has
from chathpc.profile.run import wall_seconds
from chathpc.profile.tree import FloatArray
from chathpc.scale import devices
from chathpc.scale.loss import Costs, is_useful
from chathpc.scale.record import PointRecord
from chathpc.scale.series import Kind, Series, Workers


def efficiencies_of(series: Series, costs: Costs) -> list[PointRecord]:
    """The efficiencies of every point, means over its repetitions."""
    computing, uneven = costs.computing.sum(axis=1), costs.uneven.sum(axis=1)
    elapsed = np.maximum(costs.elapsed, 1e-300)
    counted = _counted(series)
    several = bool(costs.told.all()) and int(costs.workers.max()) > 1
    found: list[PointRecord] = []
    first = list(series.points[0].runs)
    for point in series.points:
        runs = list(point.runs)

        def mean(values: FloatArray, runs: list[int] = runs) -> float:
            return float(np.mean(values[runs]))

        balance = mean(computing / np.maximum(computing + uneven, 1e-300))
        communication = mean((computing + uneven) / elapsed)
        mpi = mean((elapsed - costs.in_mpi) / elapsed)
        offload = mean((elapsed - costs.in_mpi - costs.for_devices) / np.maximum(elapsed - costs.in_mpi, 1e-300))
        of_threads = all(run.workers == Workers.THREADS for run in series.runs)
        parts = several and of_threads and (series.hybrid or offload < 1)
        ranks = mean(costs.rank_balance)
        computation = _computation(series, costs, computing, first, runs)
        traced = _traced(series, runs)
        found.append(
            PointRecord(
                value=point.value,
                repetitions=len(runs),
                workers=mean(costs.workers.astype(np.float64)),
                elapsed=mean(costs.elapsed),
                spread=float(np.std(costs.elapsed[runs], ddof=1)) if len(runs) > 1 else 0.0,
                speedup=float(np.mean(costs.elapsed[first])) / max(mean(costs.elapsed), 1e-300),
                overall=balance * communication * computation if several and computation is not None else None,
                parallel=balance * communication if several else None,
                balance=balance if several else None,
                balance_ranks=ranks if several and series.hybrid else None,
                balance_threads=balance / ranks if several and series.hybrid else None,
                communication=communication if several else None,
                mpi=mpi if parts else None,
                offload=offload if parts and costs.for_devices.any() else None,
                threads=communication / (mpi * offload) if parts and mpi * offload > 0 else None,
                serialisation=traced[0],
                transfer=traced[1],
                computation=computation,
                **_scaling(series, costs, counted, first, runs),
                **_devices(series, runs),
            )
        )
    return found


def _computation(
    series: Series, costs: Costs, computing: FloatArray, first: list[int], runs: list[int]
) -> float | None:
    """How the computing of all workers (weak: of each) has stayed; None where nothing says what it should be."""
    if series.kind not in (Kind.STRONG, Kind.WEAK) or not costs.told.all():
        return None
    weight = costs.workers if series.kind == Kind.STRONG else np.ones(len(computing))
    reference, here = (float(np.mean((weight * computing)[each])) for each in (first, runs))
    return reference / here if here > 0 else None


def _counted(series: Series) -> FloatArray | None:
    """Instructions, cycles and seconds of computing by run; None unless all runs counted them."""
    rows = []
    for run in series.runs:
        names = ("cpu.instructions", "cpu.cycles", "cpu.time")
        if run.workers != Workers.THREADS or any(
            name not in run.profile.metrics or not run.profile.metrics[name].has_values for name in names
        ):
            return None
        useful = is_useful(run.kinds)
        rows.append([float(run.profile.dense(name)[useful].sum()) for name in names])
    return np.array(rows)


def _scaling(
    series: Series, costs: Costs, counted: FloatArray | None, first: list[int], runs: list[int]
) -> dict[str, float | None]:
    nothing: dict[str, float | None] = {"instructions": None, "ipc": None, "frequency": None}
    if counted is None or series.kind not in (Kind.STRONG, Kind.WEAK) or not (counted > 0).all():
        return nothing
    weight = costs.workers if series.kind == Kind.WEAK else np.ones(len(counted))
    work = counted[:, 0] / weight
    ipc, frequency = counted[:, 0] / counted[:, 1], counted[:, 1] / counted[:, 2]
    return {
        "instructions": float(work[first].mean() / work[runs].mean()),
        "ipc": float(ipc[runs].mean() / ipc[first].mean()),
        "frequency": float(frequency[runs].mean() / frequency[first].mean()),
    }


def _traced(series: Series, runs: list[int]) -> tuple[float | None, float | None]:
    """Serialisation and transfer efficiency, where traces with message partners tell them."""
    found = []
    for at in runs:
        run = series.runs[at]
        messages = run.measured.facts.messages if run.workers == Workers.THREADS and run.profile.timed else None
        efficiency = None if messages is None else messages.efficiency
        if efficiency is None or efficiency.serialisation is None or efficiency.transfer is None:
            return None, None
        found.append((efficiency.serialisation, efficiency.transfer))
    return float(np.mean([each[0] for each in found])), float(np.mean([each[1] for each in found]))


def _devices(series: Series, runs: list[int]) -> dict[str, float | None]:
    """Factors of the devices' efficiency; none unless each run has kernels, and use only where the time of the runs is known."""
    rows = []
    for at in runs:
        profile = series.runs[at].profile
        kernels = devices.totals(profile, devices.KERNELS)
        if not kernels.any():
            return {}
        parts = (devices.KERNELS, "gpu.copy.time", "gpu.memset.time")
        busy = devices.totals(profile, *((devices.ALL,) if has(profile, devices.ALL) else parts))
        use = busy.max() / (wall_seconds(profile) or np.nan)
        rows.append((kernels[busy > 0].mean() / kernels.max(), kernels.max() / busy.max(), np.minimum(use, 1.0)))
    balance, copies, use = (float(each) for each in np.mean(rows, axis=0))
    known = isfinite(use)
    return {
        "devices": balance * copies * use if known else None,
        "device_balance": balance,
        "device_copies": copies,
        "device_use": use if known else None,
    }
