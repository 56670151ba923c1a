"""Nsight Systems: a timeline of what host and GPU do, as the SQLite export that chathpc reads (Nsight Systems user guide, CLI)."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from chathpc.measure.files import fresh_folder
from chathpc.measure.profiler import RANK, Do, Plan, Profiler, ProfilerError, by_rank, reason, which
from chathpc.measure.record import Tool


class NsightSystems(Profiler):
    """nsys profile and nsys export."""

    name: ClassVar[Tool] = "nsys"
    command = "nsys"

    def lacks(self, environment: Mapping[str, str]) -> str:
        """Whether nsys is there."""
        return (
            ""
            if which("nsys", environment)
            else "Nsight Systems is not installed (nsys missing; package nsight-systems-cli)"
        )

    def events(self, plan: Plan) -> tuple[str, ...]:
        """What is traced: calls and kernels of CUDA, ranges, calls of the system, and MPI and OpenMP where the program has them."""
        mpi = plan.launcher or plan.binary.uses_mpi
        return ("cuda", "nvtx", "osrt", *(("mpi",) if mpi else ()), *(("openmp",) if plan.binary.uses_openmp else ()))

    def record(self, plan: Plan) -> tuple[str, ...]:
        """The command of nsys profile; behind a launcher one report a rank."""
        nsys = (
            plan.tool("nsys"),
            "profile",
            f"--trace={','.join(self.events(plan))}",
            "--sample=process-tree",
            "--stats=false",
        )
        if not plan.launcher:
            return (*nsys, f"--output={plan.work / 'report'}", *plan.program)
        script = f'exec {shlex.join(nsys)} --output="$0/report.{RANK}" "$@"'
        return (*plan.launcher, "sh", "-c", script, str(plan.work), *plan.program)

    def files(self, plan: Plan) -> list[Path]:
        """Reports."""
        return by_rank(plan.work.glob("report*.nsys-rep"))

    def finish(self, plan: Plan, do: Do, version: str) -> Path:
        """Exports each report; of several ranks a folder."""
        folder = fresh_folder(plan.work / "profile")
        written = []
        for report in self.files(plan):
            target = folder / f"{report.name.removesuffix('.nsys-rep')}.sqlite"
            words = (plan.tool("nsys"), "export", "--type=sqlite", f"--output={target}", str(report))
            done = do("nsys export", words, {})
            if not done.succeeded or not target.is_file():
                raise ProfilerError(f"nsys export failed: {reason(done)}")
            written.append(target)
        return written[0] if len(written) == 1 else folder
