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
from chathpc.scale.activities import is_useful
from chathpc.scale.loss import Costs
from chathpc.scale.record import PointRecord
from chathpc.scale.series import Kind, Series, Workers

#: By the name of a field of PointRecord: what applies and was measured.
Factors = dict[str, float]


def efficiencies_of(series: Series, costs: Costs) -> list[PointRecord]:
    """The efficiencies of every point, means over its repetitions."""
    counted = _counted(series)
    first = float(series.mean(costs.elapsed, 0))
    found: list[PointRecord] = []
    for at, point in enumerate(series.points):
        runs = list(point.runs)
        elapsed = float(series.mean(costs.elapsed, at))
        computation = _computation(series, costs, at)
        found.append(
            PointRecord(
                value=point.value,
                repetitions=len(runs),
                workers=float(series.mean(costs.workers, at)),
                elapsed=elapsed,
                spread=float(np.std(costs.elapsed[runs], ddof=1)) if len(runs) > 1 else 0.0,
                speedup=first / max(elapsed, 1e-300),
                computation=computation,
                **_parallel(series, costs, at, computation),
                **_traced(series, runs),
                **_counters(series, costs, counted, at),
                **_devices(series, runs),
            )
        )
    return found


def _parallel(series: Series, costs: Costs, at: int, computation: float | None) -> Factors:
    """Parallel efficiency and its factors; none unless the runs show several workers."""
    if not costs.told.all() or int(costs.workers.max()) < 2:
        return {}

    def mean(part: FloatArray, whole: FloatArray) -> float:
        return float(series.mean(part / np.maximum(whole, 1e-300), at))

    computing = costs.computing.sum(axis=1)
    busiest = computing + costs.uneven.sum(axis=1)
    elapsed = np.maximum(costs.elapsed, 1e-300)
    balance, communication = mean(computing, busiest), mean(busiest, elapsed)
    found = {"parallel": balance * communication, "balance": balance, "communication": communication}
    if computation is not None:
        found["overall"] = balance * communication * computation
    if series.hybrid:
        ranks = float(series.mean(costs.rank_balance, at))
        found |= {"balance_ranks": ranks, "balance_threads": balance / ranks}
    outside = elapsed - costs.in_mpi
    mpi, offload = mean(outside, elapsed), mean(outside - costs.for_devices, outside)
    if all(run.workers == Workers.THREADS for run in series.runs) and (series.hybrid or offload < 1):
        found["mpi"] = mpi
        if costs.for_devices.any():
            found["offload"] = offload
        if mpi * offload > 0:
            found["threads"] = communication / (mpi * offload)
    return found


def _computation(series: Series, costs: Costs, at: int) -> float | None:
    """How the computing of all workers (weak: of each) has stayed; None where nothing says what it should be."""
    if series.kind not in (Kind.STRONG, Kind.WEAK) or not costs.told.all():
        return None
    computing = costs.computing.sum(axis=1)
    all_of_them = computing * costs.workers if series.kind == Kind.STRONG else computing
    reference, here = (float(series.mean(all_of_them, each)) for each in (0, at))
    return reference / here if here > 0 else None


def _counted(series: Series) -> FloatArray | None:
    """Instructions, cycles and seconds of computing by run; None unless all runs counted them."""
    rows = []
    for run in series.runs:
        names = ("cpu.instructions", "cpu.cycles", "cpu.time")
        if run.workers != Workers.THREADS or not all(has(run.profile, name) for name in names):
            return None
        useful = is_useful(run.kinds)
        rows.append([float(run.profile.dense(name)[useful].sum()) for name in names])
    return np.array(rows)


def _counters(series: Series, costs: Costs, counted: FloatArray | None, at: int) -> Factors:
    """Factors of computation scaling, by what was counted."""
    if counted is None or series.kind not in (Kind.STRONG, Kind.WEAK) or not (counted > 0).all():
        return {}
    instructions, cycles, seconds = counted.T
    work = instructions / costs.workers if series.kind == Kind.WEAK else instructions

    def grown(values: FloatArray) -> float:
        return float(series.mean(values, at) / series.mean(values, 0))

    return {
        "instructions": float(series.mean(work, 0) / series.mean(work, at)),
        "ipc": grown(instructions / cycles),
        "frequency": grown(cycles / seconds),
    }


def _traced(series: Series, runs: list[int]) -> Factors:
    """Serialisation and transfer efficiency, where traces with message partners tell them."""
    found = []
    for run in (series.runs[at] for at in runs):
        messages = run.measured.facts.messages if run.workers == Workers.THREADS and run.profile.timed else None
        efficiency = None if messages is None else messages.efficiency
        if efficiency is None or efficiency.serialisation is None or efficiency.transfer is None:
            return {}
        found.append((efficiency.serialisation, efficiency.transfer))
    serialisation, transfer = np.mean(found, axis=0).tolist()
    return {"serialisation": serialisation, "transfer": transfer}


def _devices(series: Series, runs: list[int]) -> Factors:
    """Factors of the devices' efficiency; none unless each run has kernels, and use only where the time of the runs is known."""
    rows = []
    for profile in (series.runs[at].profile for at in runs):
        kernels = devices.totals(profile, devices.KERNELS)
        if not kernels.any():
            return {}
        parts = (devices.KERNELS, "gpu.copy.time", "gpu.memset.time")
        busy = devices.totals(profile, *((devices.ALL,) if has(profile, devices.ALL) else parts))
        use = busy.max() / (wall_seconds(profile) or np.nan)
        rows.append((kernels[busy > 0].mean() / kernels.max(), kernels.max() / busy.max(), np.minimum(use, 1.0)))
    balance, copies, use = np.mean(rows, axis=0).tolist()
    found = {"device_balance": balance, "device_copies": copies}
    return found | {"device_use": use, "devices": balance * copies * use} if isfinite(use) else found
