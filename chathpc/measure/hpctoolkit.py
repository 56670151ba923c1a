"""HPCToolkit: hpcrun samples, hpcstruct finds loops and inlined code, hpcprof makes the database (HPCToolkit user's manual, 2023 and later)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from chathpc.measure.profiler import Do, Plan, Profiler, ProfilerError, reason, which
from chathpc.measure.record import Tool

_STEPS = ("hpcrun", "hpcstruct", "hpcprof")
#: Samples of wall time a second: its signals cost more than those of the kernel's own sampling.
_HIGHEST = 1_000


class HPCToolkit(Profiler):
    """hpcrun, hpcstruct and hpcprof."""

    name: ClassVar[Tool] = "hpctoolkit"
    command = "hpcrun"

    def __init__(self, *, gpu: bool = False) -> None:
        self._gpu = gpu

    def lacks(self, environment: Mapping[str, str]) -> str:
        """All three are there."""
        missing = [name for name in _STEPS if which(name, environment) is None]
        return (
            f"HPCToolkit is not installed ({', '.join(missing)} missing; spack install hpctoolkit)" if missing else ""
        )

    def prepare(self, plan: Plan, do: Do) -> Plan:
        """Bounds the rate."""
        return replace(plan, rate=min(plan.rate, _HIGHEST))

    def events(self, plan: Plan) -> tuple[str, ...]:
        """Wall time of each thread, so that waiting is seen; and what the GPU does."""
        return (f"REALTIME@f{plan.rate}", *(("gpu=nvidia",) if self._gpu else ()))

    def record(self, plan: Plan) -> tuple[str, ...]:
        """The command of hpcrun with traces; it tells ranks apart by itself."""
        events = (word for event in self.events(plan) for word in ("-e", event))
        return (*plan.launcher, plan.tool("hpcrun"), *events, "-t", "-o", str(_measurements(plan)), *plan.program)

    def files(self, plan: Plan) -> Iterable[Path]:
        """One of each thread."""
        return _measurements(plan).glob("*.hpcrun")

    def finish(self, plan: Plan, do: Do, version: str) -> Path:
        """Runs hpcstruct on the measurements (without its structure the database is poorer but whole), then hpcprof."""
        jobs = str(len(os.sched_getaffinity(0)))
        measurements, database = _measurements(plan), plan.work / "database"
        do("hpcstruct", (plan.tool("hpcstruct"), "-j", jobs, str(measurements)), {})
        done = do("hpcprof", (plan.tool("hpcprof"), "-j", jobs, "-o", str(database), str(measurements)), {})
        if not done.succeeded or not database.is_dir():
            raise ProfilerError(f"hpcprof failed: {reason(done)}")
        return database

    def version(self, plan: Plan, do: Do) -> str:
        """As hpcrun tells it."""
        return next(iter(super().version(plan, do).splitlines()), "")


def _measurements(plan: Plan) -> Path:
    return plan.work / "measurements"
