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

from chathpc.profile.run import wall_seconds
from chathpc.profile.tree import FloatArray
from chathpc.scale import activities
from chathpc.scale.loss import Costs
from chathpc.scale.record import PointRecord
from chathpc.scale.series import Kind, Run, Series

#: By the name of a field of PointRecord: what applies and was measured, by run.
Factors = dict[str, FloatArray]


def efficiencies_of(costs: Costs) -> list[PointRecord]:
    """The efficiencies of every point, means over its repetitions."""
    series = costs.series
    ratios = _parallel(costs) | _traced(series) | _devices(series)
    falling, rising = _against_first(costs)
    found: list[PointRecord] = []
    for at, point in enumerate(series.points):
        means = {name: float(costs.mean(values, at)) for name, values in ratios.items()}
        known = {name: value for name, value in means.items() if isfinite(value)}
        for name, values in falling.items():
            if (here := float(costs.mean(values, at))) > 0:
                known[name] = float(costs.mean(values, 0)) / here
        known |= {name: float(costs.mean(values, at) / costs.mean(values, 0)) for name, values in rising.items()}
        elapsed, times = float(costs.mean(costs.elapsed, at)), costs.elapsed[list(point.runs)]
        found.append(
            PointRecord(
                value=point.value,
                repetitions=len(times),
                workers=float(costs.mean(costs.workers, at)),
                elapsed=elapsed,
                spread=float(np.std(times, ddof=1)) if len(times) > 1 else 0.0,
                speedup=float(costs.mean(costs.elapsed, 0)) / max(elapsed, 1e-300),
                **_with_products(known, series.hybrid),
            )
        )
    return found


def _with_products(known: dict[str, float], hybrid: bool) -> dict[str, float]:
    """Factors of a point with their products, and what is left of others; parts of communication where there are several."""
    found = dict(known)
    if "balance" in known:
        found["parallel"] = known["balance"] * known["communication"]
        if "computation" in known:
            found["overall"] = found["parallel"] * known["computation"]
    if "balance_ranks" in known:
        found["balance_threads"] = known["balance"] / known["balance_ranks"]
    if "mpi" in known:
        outside = known["mpi"] * known.get("offload", 1.0)
        if not hybrid and known.get("offload", 1.0) == 1:
            del found["mpi"]
            found.pop("offload", None)
        elif outside > 0:
            found["threads"] = known["communication"] / outside
    if "device_use" in known:
        found["devices"] = known["device_balance"] * known["device_copies"] * known["device_use"]
    return found


def _parallel(costs: Costs) -> Factors:
    """Factors of parallel efficiency; none unless the runs show several workers."""
    if not costs.is_told or costs.workers.max() < 2:
        return {}

    def ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
        return part / np.maximum(whole, 1e-300)

    series, elapsed = costs.series, np.maximum(costs.elapsed, 1e-300)
    computing = costs.computing.sum(axis=1)
    busiest = computing + costs.uneven.sum(axis=1)
    outside, for_devices = elapsed - costs.waiting_in(activities.MPI), costs.waiting_in(activities.DEVICE)
    found = {"balance": ratio(computing, busiest), "communication": ratio(busiest, elapsed)}
    if series.hybrid:
        found["balance_ranks"] = costs.rank_balance
    if all(run.on_threads for run in series.runs):
        found["mpi"] = ratio(outside, elapsed)
        if for_devices.any():
            found["offload"] = ratio(outside - for_devices, outside)
    return found


def _against_first(costs: Costs) -> tuple[Factors, Factors]:
    """What is judged against the smallest scale, where something says what it should be: what should not grow, and what should not fall.

    That is the computing of all workers (weak: of each), and by what was counted its parts.
    """
    series = costs.series
    if series.kind not in (Kind.STRONG, Kind.WEAK):
        return {}, {}
    weak, computing = series.kind == Kind.WEAK, costs.computing.sum(axis=1)
    falling = {"computation": computing if weak else computing * costs.workers} if costs.is_told else {}
    counted = np.array([_counted(run) for run in series.runs])
    if not (counted > 0).all():
        return falling, {}
    instructions, cycles, seconds = counted.T
    falling["instructions"] = instructions / costs.workers if weak else instructions
    return falling, {"ipc": instructions / cycles, "frequency": cycles / seconds}


def _counted(run: Run) -> tuple[float, ...]:
    """Instructions, cycles and seconds of computing; 0 for what was not counted."""
    names = ("cpu.instructions", "cpu.cycles", "cpu.time")
    if not run.on_threads or not all(run.profile.has(name) for name in names):
        return (0.0,) * len(names)
    useful = activities.is_useful(run.kinds)
    return tuple(float(run.profile.dense(name)[useful].sum()) for name in names)


def _traced(series: Series) -> Factors:
    """Serialisation and transfer efficiency, where traces with message partners tell them."""
    rows = []
    for run in series.runs:
        messages = run.measured.facts.messages if run.on_threads and run.profile.timed else None
        efficiency = None if messages is None else messages.efficiency
        told = (None, None) if efficiency is None else (efficiency.serialisation, efficiency.transfer)
        rows.append((np.nan, np.nan) if None in told else told)
    serialisation, transfer = np.array(rows, dtype=np.float64).T
    return {"serialisation": serialisation, "transfer": transfer}


def _devices(series: Series) -> Factors:
    """Factors of the devices' efficiency, where runs have kernels, and use only where the time of the runs is known."""
    rows = []
    for profile in (run.profile for run in series.runs):
        kernels = activities.totals(profile, activities.KERNELS)
        if not kernels.any():
            rows.append((np.nan,) * 3)
            continue
        parts = (activities.KERNELS, "gpu.copy.time", "gpu.memset.time")
        busy = activities.totals(profile, *((activities.ALL,) if profile.has(activities.ALL) else parts))
        use = busy.max() / (wall_seconds(profile) or np.nan)
        rows.append((kernels[busy > 0].mean() / kernels.max(), kernels.max() / busy.max(), min(use, 1.0)))
    return dict(zip(("device_balance", "device_copies", "device_use"), np.array(rows).T, strict=True))
