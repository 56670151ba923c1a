"""NVIDIA's profilers: Nsight Systems for a timeline of what host and GPU do, Nsight Compute for the counters of a kernel (CLI manuals of both)."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from chathpc.measure.files import fresh_folder
from chathpc.measure.profiler import Do, Plan, Profiler, ProfilerError, by_rank, per_rank, reason
from chathpc.measure.record import Tool


class NsightSystems(Profiler):
    """nsys profile and nsys export."""

    name: ClassVar[Tool] = "nsys"
    command = "nsys"
    missing = "Nsight Systems is not installed (nsys missing; package nsight-systems-cli)"

    def events(self, plan: Plan) -> tuple[str, ...]:
        """What is traced: calls and kernels of CUDA, ranges, calls of the system, and MPI and OpenMP where the program has them."""
        mpi = plan.launcher or plan.binary.uses_mpi
        return ("cuda", "nvtx", "osrt", *(("mpi",) if mpi else ()), *(("openmp",) if plan.binary.uses_openmp else ()))

    def record(self, plan: Plan) -> tuple[str, ...]:
        """The command of nsys profile; behind a launcher one report a rank."""
        traced = f"--trace={','.join(self.events(plan))}"
        nsys = (plan.tool("nsys"), "profile", traced, "--sample=process-tree", "--stats=false", "-o")
        return per_rank(plan, nsys, "report")

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


class NsightCompute(Profiler):
    """ncu: replays each launch of the chosen kernel until all counters are read, which takes long."""

    name: ClassVar[Tool] = "ncu"
    command = "ncu"
    missing = "Nsight Compute is not installed (ncu missing; package nsight-compute)"

    def prepare(self, plan: Plan, do: Do) -> Plan:
        """Makes the folder of the reports."""
        fresh_folder(plan.work / "profile")
        return plan

    def events(self, plan: Plan) -> tuple[str, ...]:
        """All sections, so that every rule of chathpc has its counters."""
        return ("full",)

    def record(self, plan: Plan) -> tuple[str, ...]:
        """The command of ncu, one report a rank behind a launcher; only the kernels whose name is asked for."""
        ncu = [plan.tool("ncu"), "--set", "full", "--import-source", "yes", "--target-processes", "all"]
        ncu += ["--launch-count", str(plan.launches)]
        if plan.kernel is not None:
            ncu += ["--kernel-name", plan.kernel]
        return per_rank(plan, (*ncu, "--export"), "profile/report")

    def files(self, plan: Plan) -> list[Path]:
        """Reports; without a launch of the kernel ncu writes none."""
        return by_rank((plan.work / "profile").glob("report*.ncu-rep"))

    def finish(self, plan: Plan, do: Do, version: str) -> Path:
        """The report itself, and its export to CSV, which is read where NVIDIA's package for reports is not installed."""
        from chathpc.adapters.nsight_compute.native import installed

        reports = self.files(plan)
        if installed() or len(reports) > 1:
            return reports[0] if len(reports) == 1 else plan.work / "profile"
        target = plan.work / "report.csv"
        words = (plan.tool("ncu"), "--import", str(reports[0]), "--page", "raw", "--csv")
        done = do("ncu --import", ("sh", "-c", 'exec "$@" > "$0"', str(target), *words), {})
        if not done.succeeded or not target.stat().st_size:
            raise ProfilerError(f"ncu --import failed: {reason(done)}")
        return target

    def version(self, plan: Plan, do: Do) -> str:
        """As `ncu --version` tells it."""
        return next((line for line in reversed(super().version(plan, do).splitlines()) if line), "")
