"""The two sides of a comparison: runs measured in the same way, and what they are as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from chathpc.comparison.noise import Judged, Noise, NoiseKind
from chathpc.comparison.record import ChangeRecord, TotalRecord
from chathpc.comparison.run import Run
from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.coverage import HOST_TIME
from chathpc.profile.metric import Clock, Metric, Unit
from chathpc.profile.tree import FloatArray


@dataclass(frozen=True, slots=False, eq=False)
class Sides:
    """The runs of both sides; the first `count` are those before. `noise` is that of parts of the runs; `chosen` is True where it was
    asked for this metric, and so not for how long the runs took.
    """

    runs: tuple[Run, ...]
    count: int
    noise: Noise
    chosen: bool = False

    @classmethod
    def of(cls, runs: tuple[Run, ...], count: int, *, chosen: bool = False) -> Sides:
        """Runs that are measured in the same way, the first `count` of them before."""
        period, total = (np.array([getattr(run, what) for run in runs]) for what in ("period", "total"))
        return cls(runs, count, Noise(_kind(runs), count, period, total), chosen)

    def learned(self, values: FloatArray) -> Sides:
        """The same with what `values` (runs × functions) tell of how much runs differ by themselves."""
        return replace(self, noise=self.noise.learned(values))

    @property
    def metric(self) -> Metric:
        """What is compared."""
        return self.runs[0].metric

    @property
    def is_host_time(self) -> bool:
        """True if the time of the host is compared, so that kinds of work can be told."""
        return self.runs[0].is_host_time

    @cached_property
    def typical(self) -> tuple[int, int]:
        """The run that stands for each side where one is looked at: the one closest to the mean."""
        return _typical(self.runs[: self.count]), self.count + _typical(self.runs[self.count :])

    @cached_property
    def total(self) -> TotalRecord:
        """Sum over all threads."""
        return self._whole(np.array([run.total for run in self.runs]), self.noise.kind)

    @cached_property
    def took(self) -> list[float]:
        """How long each run took, where all tell it; nothing where it was asked for another metric than the threads' wall-clock time.

        That is the time of the longest thread where it has all of the run, so that it is one with the totals.
        """
        if self.chosen and not (self.metric.id in HOST_TIME and self.metric.clock == Clock.WALL):
            return []
        found = [each for run in self.runs if (each := run.elapsed) is not None]
        if self._by_longest:
            return [run.longest for run in self.runs]
        return found if len(found) == len(self.runs) else []

    @cached_property
    def _by_longest(self) -> bool:
        return all(run.longest for run in self.runs)

    @cached_property
    def without_waits(self) -> bool:
        """True if waits for a core are no part of how long runs took: a single thread can only wait for other programs, and all of it waits."""
        return (
            bool(self.took)
            and self.starved
            and all(run.is_alone(took) for run, took in zip(self.runs, self.took, strict=True))
        )

    @cached_property
    def _least(self) -> list[float]:
        """What each run would have taken at least if all threads had had a core."""
        return [run.with_cores(took) for run, took in zip(self.runs, self.took, strict=True)]

    @cached_property
    def _measured(self) -> TotalRecord:
        return self._whole(np.array(self._least if self.without_waits else self.took), self.decisive_kind)

    @cached_property
    def elapsed(self) -> TotalRecord | None:
        """How long the runs took, where that is known and asked for. The interval holds what it may be where all threads have a core."""
        if not self.took:
            return None
        found = self._measured
        if found.ratio_low is None or found.ratio_high is None or not self.starved or self.without_waits:
            return found
        least = [each / took if took else 1.0 for each, took in zip(self._least, self.took, strict=True)]
        low = found.ratio_low * min(least[self.count :])
        high = found.ratio_high / min(least[: self.count])
        beyond = found.beyond_noise and not low <= 1 <= high
        return found.model_copy(update={"ratio_low": low, "ratio_high": high, "beyond_noise": beyond})

    @property
    def undecided(self) -> bool:
        """True if waits for a core leave open whether the run changed."""
        if self.elapsed is None or not self.starved or self.elapsed.beyond_noise:
            return False
        return self._measured.beyond_noise or self.total.beyond_noise

    @property
    def starved(self) -> bool:
        """True if threads of a run could run and had no core for a good part of the time."""
        least = cause("oversubscription").threshold("min_share")
        lacked = [(run.without_core or 0.0, run.total) for run in self.runs]
        return any(waits >= least * (total + waits) for waits, total in lacked if waits)

    @property
    def decisive_kind(self) -> NoiseKind:
        """Where the noise of what the verdict is about comes from: a run that is longer than its threads were seen has no samples then."""
        unseen = bool(self.took) and not self._by_longest
        return NoiseKind.ASSUMED if unseen and self.noise.kind == NoiseKind.SAMPLING else self.noise.kind

    @property
    def same_shape(self) -> bool:
        """True if both sides ran with the same numbers of ranks and threads (where nothing was measured, none is known)."""
        return len({(run.ranks, run.threads) for run in self.runs if run.total > 0}) <= 1

    @property
    def decisive(self) -> TotalRecord | None:
        """What the verdict is about: how long the run took, else the total; but of sides with different numbers of threads or ranks
        that is no duration, and nothing is.
        """
        return self.elapsed or (self.total if self.same_shape else None)

    def _whole(self, values: FloatArray, kind: NoiseKind) -> TotalRecord:
        # What functions have in common tells nothing of the whole, and the whole is no part of anything.
        noise = replace(self.noise, kind=kind, total=values, variation=0.0, prior=0.0)
        judged = noise.judge(values[:, None])
        ratio = noise.ratio(values)
        # One quantity, looked at by itself: its own interval decides, that of the ratio where it is told.
        error = float(judged.error[0])
        change = float(judged.change[0])
        within = -error <= change <= error if ratio is None else ratio[1] <= 1 <= ratio[2]
        return TotalRecord(
            **figures(judged, 0),
            beyond_noise=change != 0 and not within,
            ratio=None if ratio is None else ratio[0],
            ratio_low=None if ratio is None else ratio[1],
            ratio_high=None if ratio is None else ratio[2],
        )


def figures(judged: Judged, at: int) -> dict[str, float]:
    """The numbers of a ChangeRecord."""
    return {
        "before": float(judged.before[at]),
        "after": float(judged.after[at]),
        "change": float(judged.change[at]),
        "error": float(judged.error[at]),
    }


def change_record(judged: Judged, level: float) -> ChangeRecord:
    """The first of the judged quantities; beyond noise if chance is at most as probable as `level`."""
    return ChangeRecord(**figures(judged, 0), beyond_noise=bool(judged.p[0] <= level and judged.change[0] != 0))


def _kind(runs: Sequence[Run]) -> NoiseKind:
    if len(runs) > 2:
        return NoiseKind.REPETITIONS
    if all(run.samples for run in runs):
        return NoiseKind.SAMPLING
    counted = runs[0].metric.unit in (Unit.COUNT, Unit.BYTES) and all(run.profile.timed for run in runs)
    return NoiseKind.EXACT if counted else NoiseKind.ASSUMED


def _typical(runs: Sequence[Run]) -> int:
    totals = np.array([run.total for run in runs])
    return int(np.argmin(np.abs(totals - totals.mean())))
