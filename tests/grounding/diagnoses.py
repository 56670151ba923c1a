"""Six diagnoses to ground sentences in: five bottlenecks of different kinds and a healthy run, worded as the rules word them."""

from __future__ import annotations

from collections.abc import Callable

from chathpc.diagnosis.fact import Fact, Kind
from chathpc.diagnosis.records import Diagnosis, Finding, Place, Verdict


def evidence(
    id: str, statement: str, value: float, unit: str, subject: str, metric: str, where: Place | None = None
) -> Fact:
    return Fact(
        id, Kind.REMARK, subject, value, unit, f"hpcrun, {metric}: sum", text=statement, metric=metric, where=where
    )


def finding(
    cause: str,
    title: str,
    summary: str,
    where: Place,
    ids: str,
    *,
    seconds: float | None,
    share: float,
    headroom: float = 0.9,
    advice: tuple[str, ...] = (),
    against: tuple[str, ...] = (),
    next_measurement: str | None = None,
) -> Finding:
    return Finding(
        cause=cause,
        title=title,
        summary=summary,
        where=where,
        seconds=seconds,
        share=share,
        headroom=headroom,
        speedup_bound=1 / (1 - share * headroom),
        confidence=0.93,
        confidence_reason="3 independent signs, share known to ± 0.22 % points from 45,000 samples",
        evidence=tuple(ids.split()),
        against=against,
        advice=advice,
        next_measurement=next_measurement,
    )


def omp_triangle() -> Diagnosis:
    """Four threads share a triangular loop; thread 3 has the longest rows."""
    loop = Place("triangular_work", "/src/stencil_omp.c", 47, path=("main", "triangular_work"))
    return Diagnosis(
        verdict=Verdict.BOTTLENECK,
        headline="35.2 % of the thread time is waiting at an OpenMP barrier: the loop's iterations are shared unevenly.",
        findings=(
            finding(
                "omp-load-imbalance",
                "OpenMP load imbalance",
                "The iterations of triangular_work are shared unevenly: the busiest of 4 threads works 1.62 times the mean, "
                "the others wait for it.",
                loop,
                "E1 E2 E3 E4",
                seconds=3.171,
                share=0.3519,
                headroom=0.74,
                advice=(
                    "Use schedule(guided) or schedule(dynamic,16) on the loop at line 47: the iterations grow with i.",
                    "Collapse the two loops with collapse(2) if their bounds do not depend on each other.",
                ),
                next_measurement="OMP_SCHEDULE=guided with schedule(runtime) tells without a code change: "
                "hpcrun -e REALTIME -t ./stencil_omp",
            ),
        ),
        evidence=(
            evidence(
                "E1",
                "Threads wait 3.17 s of 9.01 s (35.2 %) in the OpenMP runtime.",
                3.171,
                "s",
                "OpenMP waiting",
                "cpu.time",
            ),
            evidence(
                "E2",
                "In triangular_work the busiest thread works 1.47 s, the idlest 0.34 s, the mean is 0.907 s.",
                1.4702,
                "s",
                "threads in triangular_work",
                "cpu.time",
                loop,
            ),
            evidence(
                "E3",
                "The difference to the busiest thread adds up to 2.25 s over 4 threads, 71 % of the waiting.",
                2.2513,
                "s",
                "imbalance of triangular_work",
                "cpu.time",
                loop,
            ),
            evidence("E4", "Thread 3 is the busiest: 1.47 s.", 1.4702, "s", "thread 3", "cpu.time", loop),
        ),
        not_collected={"hardware counters (cache, IPC)": "hpcrun -e PAPI_TOT_CYC"},
    )


def mpi_halo() -> Diagnosis:
    """Eight ranks; rank 5 owns the dense region."""
    place = Place("assemble_forces", "/src/md/forces.f90", 212, path=("main", "step", "assemble_forces"))
    return Diagnosis(
        verdict=Verdict.BOTTLENECK,
        headline="41.8 % of the time the ranks wait in MPI: the work is shared unevenly.",
        findings=(
            finding(
                "mpi-load-imbalance",
                "MPI load imbalance",
                "The work is shared unevenly: rank 5 has 2.4 times the mean, most of the difference in assemble_forces; "
                "the others wait in MPI in exchange_halo (halo.f90:88).",
                place,
                "E1 E2 E3 E4",
                seconds=402.6,
                share=0.418,
                advice=(
                    "Divide the domain by measured work, not by equal volume (ParMETIS, Zoltan), or rebalance every few steps.",
                ),
                against=("31 % of the MPI time is in sched_yield: the library found more ranks than cores.",),
                next_measurement="hpcrun -e REALTIME -t with 2 ranks fewer tells whether the waiting is for a core.",
            ),
        ),
        evidence=(
            evidence(
                "E1",
                "The 8 ranks spend 441 s of 963 s (45.8 %) in MPI, mostly MPI_Allreduce (62 % of it) and MPI_Waitall (27 % of it).",
                441.2,
                "s",
                "MPI",
                "cpu.time",
            ),
            evidence(
                "E2",
                "Rank 5 computes 117 s, the idlest rank 38.2 s, the mean is 48.9 s.",
                117.31,
                "s",
                "rank 5",
                "cpu.time",
            ),
            evidence(
                "E3",
                "The other ranks lack 403 s of work to the busiest one, 91.3 % of the MPI time.",
                402.6,
                "s",
                "unequal work of the ranks",
                "cpu.time",
            ),
            evidence(
                "E4",
                "In assemble_forces rank 5 spends 96.4 s, the other ranks 29.7 s on average.",
                96.4,
                "s",
                "assemble_forces on rank 5",
                "cpu.time",
                place,
            ),
        ),
        not_collected={"hardware counters": "hpcrun -e PAPI_L3_TCM", "MPI message sizes": "an MPI tracing tool"},
    )


def gpu_copies() -> Diagnosis:
    """A step loop that copies its input from pageable memory each time."""
    place = Place("advance", "/src/heat.cu", 131, path=("main", "advance", "cudaMemcpy"))
    return Diagnosis(
        verdict=Verdict.BOTTLENECK,
        headline="58.6 % of the run is copying from the host to the device.",
        findings=(
            finding(
                "gpu-h2d-copy-bound",
                "Bound by host-to-device copies",
                "Copies from host to device take 4.1 s of 7 s; the kernels take 1.2 s.",
                place,
                "E1 E2 E3 E4",
                seconds=4.103,
                share=0.586,
                advice=(
                    "Keep the array on the device between steps: allocate once before the loop and copy back only the result.",
                    "Overlap with cudaMemcpyAsync on a second stream.",
                ),
                next_measurement="nsys profile -t cuda ./heat",
            ),
            finding(
                "gpu-pageable-copies",
                "Copies from pageable memory",
                "The copies come from pageable memory and reach 8.5 GB/s; pinned memory would allow more.",
                place,
                "E5 E6",
                seconds=4.103,
                share=0.586,
                headroom=0.5,
                advice=("Allocate the host buffer with cudaMallocHost or register it with cudaHostRegister.",),
            ),
        ),
        evidence=(
            evidence(
                "E1",
                "Host-to-device copies take 4.1 s, 58.6 % of the run.",
                4.103,
                "s",
                "host-to-device copies",
                "gpu.copy.h2d.time",
                place,
            ),
            evidence(
                "E2",
                "Kernels take 1.2 s, 17.1 % of the run; the busiest is jacobi_step with 1.05 s.",
                1.2,
                "s",
                "kernels",
                "gpu.kernel.time",
            ),
            evidence(
                "E3",
                "Device-to-host copies take 0.061 s, 0.87 % of the run.",
                0.061,
                "s",
                "device-to-host copies",
                "gpu.copy.d2h.time",
            ),
            evidence(
                "E4",
                "34.9 GB go from host to device in 2,000 copies of 17.4 MB each.",
                34.88e9,
                "bytes",
                "host-to-device copies",
                "gpu.copy.h2d.bytes",
            ),
            evidence(
                "E5",
                "Host-to-device copies reach 8.5 GB/s.",
                8.5e9,
                "bytes/s",
                "host-to-device bandwidth",
                "gpu.copy.h2d.bandwidth",
            ),
            evidence(
                "E6",
                "100 % of the copied bytes come from pageable memory.",
                1.0,
                "ratio",
                "copies from pageable memory",
                "gpu.copy.h2d.bytes",
            ),
        ),
        not_collected={"kernel counters": "ncu --set full ./heat"},
    )


def io_small() -> Diagnosis:
    """A writer of 512-byte records."""
    place = Place("dump_particles", "/src/io/dump.c", 64, path=("main", "checkpoint", "dump_particles", "write"))
    return Diagnosis(
        verdict=Verdict.BOTTLENECK,
        headline="58.4 % of the run is writing files in small requests.",
        findings=(
            finding(
                "io-small-requests",
                "Many small I/O requests",
                "dump_particles writes 4.92 GB in 9,600,000 calls of 512 bytes.",
                place,
                "E1 E2 E3 E5",
                seconds=28.15,
                share=0.584,
                advice=(
                    "Collect the records in a buffer of 4 MiB or more and write it in one call (setvbuf, MPI-IO, HDF5).",
                ),
                next_measurement="strace -c -e trace=write ./particles",
            ),
        ),
        evidence=(
            evidence(
                "E1", "File writes take 28.2 s, 58.4 % of the run.", 28.15, "s", "file writes", "io.write.time", place
            ),
            evidence("E2", "write is called 9,600,000 times.", 9.6e6, "count", "write calls", "io.write.calls", place),
            evidence(
                "E3", "The mean size of a write is 512 bytes.", 512, "bytes", "write size", "io.write.bytes", place
            ),
            evidence("E4", "File reads take 0.43 s, 0.89 % of the run.", 0.43, "s", "file reads", "io.read.time"),
            evidence("E5", "Computing takes 19.2 s of 48.2 s (39.8 %).", 19.2, "s", "computing", "cpu.time"),
        ),
        not_collected={"file system counters": "Darshan"},
    )


def low_occupancy() -> Diagnosis:
    """A kernel whose registers limit the number of resident warps."""
    place = Place("integrate", "/src/rk4.cu", 90, kernel="rk4_kernel", path=("main", "integrate", "rk4_kernel"))
    return Diagnosis(
        verdict=Verdict.BOTTLENECK,
        headline="rk4_kernel keeps too few warps on the device: its registers limit the occupancy to 12.5 %.",
        findings=(
            finding(
                "gpu-low-occupancy",
                "Low occupancy",
                "232 registers per thread limit rk4_kernel to 12.5 % theoretical occupancy; it reaches 11.8 %.",
                place,
                "E1 E2 E3 E4 E5",
                seconds=6.4,
                share=0.81,
                headroom=0.4,
                advice=(
                    "Limit the registers with __launch_bounds__(256) or -maxrregcount=128, or split the kernel.",
                    "Move temporaries to shared memory.",
                ),
                next_measurement="ncu --section Occupancy ./rk4",
            ),
        ),
        evidence=(
            evidence(
                "E1", "rk4_kernel takes 6.4 s, 81 % of the run.", 6.4, "s", "rk4_kernel", "gpu.kernel.time", place
            ),
            evidence(
                "E2",
                "rk4_kernel uses 232 registers per thread.",
                232,
                "count",
                "registers of rk4_kernel",
                "gpu.registers",
                place,
            ),
            evidence(
                "E3",
                "The theoretical occupancy is 12.5 %, the achieved occupancy 11.8 %.",
                12.5,
                "percent",
                "occupancy of rk4_kernel",
                "gpu.occupancy.theoretical",
                place,
            ),
            evidence(
                "E4",
                "Memory throughput is 18 % of peak, compute throughput 22 % of peak.",
                18.0,
                "percent",
                "throughput of rk4_kernel",
                "gpu.dram.throughput",
                place,
            ),
            evidence(
                "E5",
                "reduce_kernel takes 0.9 s, 11.4 % of the run.",
                0.9,
                "s",
                "reduce_kernel",
                "gpu.kernel.time",
                Place("integrate", "/src/rk4.cu", 140, kernel="reduce_kernel"),
            ),
        ),
    )


def two_host_causes() -> Diagnosis:
    """Divisions in the inner loop, and a lock around the result queue."""
    math = Place("pair_potential", "/src/ljmd.c", 118, path=("main", "compute", "pair_potential"))
    lock = Place("push_result", "/src/queue.cpp", 33, path=("worker", "push_result", "pthread_mutex_lock"))
    return Diagnosis(
        verdict=Verdict.BOTTLENECK,
        headline="44.5 % of the time is expensive arithmetic in pair_potential, 19 % is waiting for a lock.",
        findings=(
            finding(
                "expensive-math",
                "Expensive math functions",
                "pair_potential spends 5.34 s in pow and sqrt.",
                math,
                "E1 E2",
                seconds=5.34,
                share=0.445,
                advice=(
                    "Replace pow(x, 6) by multiplications and compare squared distances, so that sqrt is not needed.",
                ),
            ),
            finding(
                "lock-contention",
                "Lock contention",
                "Threads wait 2.28 s for the mutex in push_result.",
                lock,
                "E3 E4",
                seconds=2.28,
                share=0.19,
                advice=("Give each thread its own queue and merge them at the end, or push in batches.",),
            ),
        ),
        evidence=(
            evidence("E1", "pow takes 3.96 s, 33 % of the run.", 3.96, "s", "pow", "cpu.time", math),
            evidence("E2", "sqrt takes 1.38 s, 11.5 % of the run.", 1.38, "s", "sqrt", "cpu.time", math),
            evidence(
                "E3",
                "Threads wait 2.28 s of 12 s (19 %) in pthread_mutex_lock called from push_result.",
                2.28,
                "s",
                "waiting for locks",
                "cpu.time",
                lock,
            ),
            evidence(
                "E4",
                "7 of 8 threads wait for the lock at the same time.",
                7,
                "threads",
                "threads that wait",
                "cpu.time",
                lock,
            ),
        ),
    )


def healthy() -> Diagnosis:
    """A matrix product that keeps all cores busy."""
    place = Place("dgemm_kernel", None, None, path=("main", "cblas_dgemm", "dgemm_kernel"))
    return Diagnosis(
        verdict=Verdict.HEALTHY,
        headline="No bottleneck found at this level: 99.1 % of the time is computing, shared evenly by 16 threads.",
        evidence=(
            evidence("E1", "dgemm_kernel takes 812 s of 826 s (98.3 %).", 812, "s", "dgemm_kernel", "cpu.time", place),
            evidence(
                "E2", "The busiest thread works 1.01 times the mean.", 1.01, "ratio", "work of the threads", "cpu.time"
            ),
            evidence("E3", "Threads wait 0.9 % of the time.", 0.9, "percent", "waiting", "cpu.time"),
        ),
        notes=("Hardware counters would show whether dgemm_kernel reaches the peak of the cores.",),
        not_collected={"hardware counters": "hpcrun -e PAPI_DP_OPS"},
    )


DIAGNOSES: dict[str, Callable[[], Diagnosis]] = {
    "omp": omp_triangle,
    "mpi": mpi_halo,
    "copies": gpu_copies,
    "io": io_small,
    "occupancy": low_occupancy,
    "host": two_host_causes,
    "healthy": healthy,
}
