"""POP's efficiencies of parallel programs: what part of the cores' time is useful, and what the rest is lost to.

    parallel efficiency = load balance × communication efficiency        (ranks; of threads: × synchronisation efficiency)
    load balance        = mean / largest useful time
    communication       = largest useful time / elapsed time

Useful is computing outside the runtime. Source: POP Centre of Excellence, standard metrics (pop-coe.eu); the same in TALP
(BSC, DLB library, perf_metrics). With the run time on an ideal network, where messages take no time, which a trace with message
partners tells (`wait_states.replay`; BSC's basicanalysis computes the same from Dimemas):

    communication       = serialisation × transfer
    serialisation       = largest useful time / run time on an ideal network       (waiting for each other)
    transfer            = run time on an ideal network / elapsed time              (what the network costs)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from chathpc.profile.tree import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Efficiencies (0..1) of `count` ranks or threads over `elapsed` (unit of the times given). `lost_to_imbalance` is
    what they lose by it, in the same unit, summed over all. `serialisation` × `transfer` is `waiting`; None where the run
    time on an ideal network is not known.
    """

    balance: float
    waiting: float
    count: int
    elapsed: float
    lost_to_imbalance: float
    serialisation: float | None = None
    transfer: float | None = None

    @property
    def parallel(self) -> float:
        """Parallel efficiency: the useful part of all cores' time."""
        return self.balance * self.waiting


def of_ranks(useful: FloatArray, total: FloatArray) -> Efficiency | None:
    """Efficiencies of ranks by their useful and their total times; the elapsed time is the largest total. None for fewer
    than two ranks, or where none does anything useful. ValueError where a useful time is larger than the total.
    """
    return of_threads(useful, total, np.zeros(len(useful), dtype=np.int32))


def on_ideal_network(found: Efficiency, ideal: float) -> Efficiency:
    """The same with communication split by the run time on an ideal network, in the unit of `found`. ValueError where that is longer
    than the run, or shorter than the busiest rank's work.
    """
    busiest = found.waiting * found.elapsed
    if not busiest * (1 - 1e-9) <= ideal <= found.elapsed * (1 + 1e-9):
        raise ValueError("the run time on an ideal network lies between the busiest rank's work and the elapsed time")
    return replace(found, serialisation=min(busiest / ideal, 1.0), transfer=min(ideal / found.elapsed, 1.0))


def of_threads(useful: FloatArray, total: FloatArray, process: IntArray) -> Efficiency | None:
    """Efficiencies of threads inside their processes: `process[t]` numbers the process of thread t.

    Each process has its own elapsed time (the largest total of its threads) and its own busiest thread; sums over the
    processes take the place of the one process's values. Processes with one thread are left out. None if that leaves none.
    """
    if len(useful) != len(total) or bool((useful > total * (1 + 1e-9) + 1e-12).any()):
        raise ValueError("useful times must not be larger than the totals")
    used = at_most = available = 0.0
    count, elapsed = 0, 0.0
    for number in np.unique(process):
        mine = process == number
        threads = int(mine.sum())
        if threads < 2:
            continue
        used += float(useful[mine].sum())
        at_most += threads * float(useful[mine].max())
        available += threads * float(total[mine].max())
        count += threads
        elapsed = max(elapsed, float(total[mine].max()))
    if at_most <= 0:
        return None
    return Efficiency(
        balance=used / at_most,
        waiting=min(at_most / available, 1.0),
        count=count,
        elapsed=elapsed,
        lost_to_imbalance=at_most - used,
    )
