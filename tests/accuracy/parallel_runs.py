"""Generated profiles of MPI and OpenMP programs with a known fault: times of ranks and threads follow from what each has to do
and for whom it waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.accuracy.call_trees import (
    Part,
    share,
    write_caliper,
    write_hpctoolkit,
    write_perf,
    write_scorep,
    write_tau,
)
from tests.accuracy.draw import Draw
from tests.accuracy.recipes import Truth, place, recipe, truth

MPI, OPENMP, IO = "mpi", "openmp", "io"
SCOREP, HPCTOOLKIT, TAU, CALIPER = "Score-P", "HPCToolkit", "TAU", "Caliper"


def recorded(draw: Draw, folder: Path, root: Part, *forms: str) -> tuple[str, list[str]]:
    """The program as one of the profilers writes it: which, and the names of the profiles."""
    form = draw.choice(*forms)
    if form == HPCTOOLKIT:
        return form, write_hpctoolkit(folder, root, ranks=True)
    if form == TAU:
        return form, write_tau(folder, root)
    return form, write_caliper(folder, root) if form == CALIPER else write_scorep(folder, root)


def even(draw: Draw, seconds: float, ranks: int, part: float = 0.01) -> list[float]:
    """About the same at each."""
    return [draw.near(seconds, part) for _ in range(ranks)]


def waits(done: Sequence[float], cost: float) -> list[float]:
    """What each spends in a call that ends when the last one comes."""
    return [max(done) - each + cost for each in done]


def program(draw: Draw, ranks: int, seconds: float, *below: Part, file: str) -> Part:
    """main with set-up work and the given parts."""
    set_up = Part(draw.names.function(), even(draw, seconds * 0.03, ranks), (), file, 20, 91)
    return Part("main", even(draw, seconds * 0.005, ranks), (set_up, *below), file, 88)


def called(role: str) -> object:
    return lambda part: part.role.startswith(role)


# -- MPI ---------------------------------------------------------------------------------------------------------


@recipe("mpi-load-imbalance", MPI, 4)
def uneven_ranks(draw: Draw, folder: Path) -> Truth:
    ranks, seconds, file = draw.width(4, 6, 8), draw.steps(8, 30) * 1.0, draw.names.file()
    spread = draw.real(0.5, 1.0)
    own = [seconds * (1 - spread / 2 + spread * rank / (ranks - 1)) for rank in range(ranks)]
    compute = Part(draw.names.function(), own, (), file, 40, 95)
    reduce = Part("MPI_Allreduce", waits(own, seconds * 0.005), (), role="mpi", at=96, calls=500)
    step = Part(draw.names.function(), even(draw, seconds * 0.02, ranks), (compute, reduce), file, 60, 93)
    root = program(draw, ranks, seconds, step, file=file)
    form, profiles = recorded(draw, folder, root, SCOREP, HPCTOOLKIT, TAU, CALIPER)
    why = "the work of the ranks grows steadily with their number, and all wait for the last in a reduction"
    return truth("mpi-load-imbalance", form, profiles, share(root, lambda p: p.role == "mpi"), why,
                 where=place(compute.name, file=file), acceptable=("mpi-collective-wait",),
                 functions=(compute.name, step.name, "main"))  # fmt: skip


@recipe("mpi-late-sender", MPI, 3)
def late_senders(draw: Draw, folder: Path) -> Truth:
    ranks, seconds, file = draw.width(4, 8), draw.steps(8, 30) * 1.0, draw.names.file()
    late = seconds * draw.real(0.3, 0.6)
    extra = [late if rank % 2 == 0 else 0.0 for rank in range(ranks)]
    compute = Part(draw.names.function(), even(draw, seconds, ranks), (), file, 40, 95)
    pack = Part(draw.names.function(), extra, (), file, 50, 96)
    receive = Part("MPI_Recv", [0.0 if each else late for each in extra], (), role="mpi", at=97, calls=800)
    send = Part("MPI_Send", [0.01 * seconds if each else 0.0 for each in extra], (), role="mpi", at=98, calls=800)
    step = Part(draw.names.function(), even(draw, seconds * 0.02, ranks), (compute, pack, receive, send), file, 60, 93)
    root = program(draw, ranks, seconds, step, file=file)
    form, profiles = recorded(draw, folder, root, SCOREP, HPCTOOLKIT, TAU)
    why = f"even ranks do more work in {pack.name} before they send, and odd ones wait for it in MPI_Recv"
    return truth("mpi-late-sender", form, profiles, share(root, lambda p: p.name == "MPI_Recv"), why,
                 where=place(step.name, file=file), acceptable=("mpi-load-imbalance",),
                 functions=(step.name, pack.name, "main"))  # fmt: skip


@recipe("mpi-collective-wait", MPI, 3)
def work_of_one_rank(draw: Draw, folder: Path) -> Truth:
    ranks, seconds, file = draw.width(4, 8), draw.steps(8, 30) * 1.0, draw.names.file()
    alone = seconds * draw.real(0.35, 0.7)
    call = draw.choice("MPI_Bcast", "MPI_Barrier", "MPI_Allreduce")
    extra = [alone if rank == 0 else 0.0 for rank in range(ranks)]
    compute = Part(draw.names.function(), even(draw, seconds, ranks), (), file, 40, 95)
    only = Part(draw.names.function(), extra, (), file, 50, 63)
    wait = Part(call, waits(extra, seconds * 0.004), (), role="mpi", at=64, calls=300)
    gather = Part(draw.names.function(), even(draw, seconds * 0.005, ranks), (only, wait), file, 60, 96)
    root = program(draw, ranks, seconds, compute, gather, file=file)
    form, profiles = recorded(draw, folder, root, SCOREP, HPCTOOLKIT, TAU, CALIPER)
    why = f"only rank 0 is in {only.name} while all others wait for it in {call}"
    return truth("mpi-collective-wait", form, profiles, share(root, lambda p: p.role == "mpi"), why,
                 where=place(gather.name, file=file), acceptable=("mpi-load-imbalance",),
                 functions=(gather.name, only.name, "main"))  # fmt: skip


@recipe("mpi-communication-bound", MPI, 3)
def transposes(draw: Draw, folder: Path) -> Truth:
    ranks, seconds, file = draw.width(4, 8), draw.steps(8, 30) * 1.0, draw.names.file()
    part = draw.real(0.6, 1.4)
    call = draw.choice("MPI_Alltoall", "MPI_Allgather", "MPI_Alltoallv")
    compute = Part(draw.names.function(), even(draw, seconds, ranks), (), file, 40, 95)
    move = Part(call, even(draw, seconds * part, ranks, 0.02), (), role="mpi", at=64, calls=400,
                more={"bytes_sent": [4_000_000_000] * ranks})  # fmt: skip
    swap = Part(draw.names.function(), even(draw, seconds * 0.03, ranks), (move,), file, 60, 96)
    root = program(draw, ranks, seconds, compute, swap, file=file)
    form, profiles = recorded(draw, folder, root, SCOREP, TAU, CALIPER)
    why = f"all ranks spend the same time in {call}, as much as in computing"
    return truth("mpi-communication-bound", form, profiles, share(root, lambda p: p.role == "mpi"), why,
                 where=place(swap.name, file=file), acceptable=("mpi-collective-wait",), functions=(swap.name, "main"))  # fmt: skip


@recipe("mpi-small-messages", MPI, 3)
def single_values(draw: Draw, folder: Path) -> Truth:
    ranks, seconds, file = draw.width(4, 8), draw.steps(6, 14) * 1.0, draw.names.file()
    size, cost = draw.random.choice((4, 8, 16, 32)), 1.2e-6
    messages = round(seconds * draw.real(0.4, 0.8) / cost)
    compute = Part(draw.names.function(), even(draw, seconds, ranks), (), file, 40, 95)
    send = Part("MPI_Send", even(draw, messages * cost, ranks), (), role="mpi", at=64, calls=messages,
                more={"bytes_sent": [messages * size] * ranks})  # fmt: skip
    receive = Part("MPI_Recv", even(draw, messages * cost * 0.8, ranks), (), role="mpi", at=65, calls=messages,
                   more={"bytes_received": [messages * size] * ranks})  # fmt: skip
    halo = Part(draw.names.function(), even(draw, seconds * 0.03, ranks), (send, receive), file, 60, 96)
    root = program(draw, ranks, seconds, compute, halo, file=file)
    if draw.chance(0.5):
        form, profiles = SCOREP, write_scorep(folder, root)
    else:
        events = (f'"Message size sent to all nodes" {messages} {size} {size} {size} {messages * size * size}',)
        form, profiles = TAU, write_tau(folder, root, events=events)
    why = f"each rank sends {messages:,} messages of {size} bytes, each about a microsecond"
    return truth("mpi-small-messages", form, profiles, share(root, lambda p: p.role == "mpi"), why,
                 where=place(halo.name, file=file), acceptable=("mpi-communication-bound", "mpi-late-sender"),
                 functions=(halo.name, "main"))  # fmt: skip


@recipe("oversubscription", MPI, 2)
def more_ranks_than_cores(draw: Draw, folder: Path) -> Truth:
    ranks, seconds, file = draw.width(4, 8), draw.steps(8, 30) * 1.0, draw.names.file()
    idle = seconds * draw.real(0.3, 0.6)
    compute = Part(draw.names.function(), even(draw, seconds, ranks, 0.004), (), file, 40, 95)
    given = Part("sched_yield", even(draw, idle, ranks), (), role="libc")
    progress = Part("opal_progress", even(draw, idle * 0.1, ranks), (given,), role="mpi library")
    reduce = Part("MPI_Allreduce", (), (progress,), role="mpi", at=96)
    step = Part(draw.names.function(), even(draw, seconds * 0.02, ranks), (compute, reduce), file, 60, 93)
    root = program(draw, ranks, seconds, step, file=file)
    profiles = write_hpctoolkit(folder, root, ranks=True, cores=ranks // 2)
    why = f"{ranks} ranks on {ranks // 2} cores: whoever waits gives the core away (sched_yield), although the work is even"
    return truth("oversubscription", HPCTOOLKIT, profiles, share(root, lambda p: p.name == "sched_yield"), why,
                 acceptable=("mpi-collective-wait",), where=place(step.name, file=file), functions=(step.name, "main"))  # fmt: skip


@recipe("healthy", MPI, 3)
def even_ranks(draw: Draw, folder: Path) -> Truth:
    ranks, seconds, file = draw.width(4, 8), draw.steps(8, 30) * 1.0, draw.names.file()
    parts = [
        Part(draw.names.function(), even(draw, seconds, ranks, 0.004), (), file, 20 + 9 * n, 95 + n) for n in range(3)
    ]
    reduce = Part("MPI_Allreduce", even(draw, seconds * 0.04, ranks, 0.1), (), role="mpi", at=99, calls=200)
    root = program(draw, ranks, seconds, *parts, reduce, file=file)
    form, profiles = recorded(draw, folder, root, SCOREP, HPCTOOLKIT, TAU, CALIPER)
    why = "ranks compute equally long, and less than two percent of the time is in MPI"
    return truth("healthy", form, profiles, 0.97, why, acceptable=("hot-compute",))


@recipe("io-imbalance", IO, 2)
def one_rank_writes(draw: Draw, folder: Path) -> Truth:
    ranks, seconds, file = draw.width(4, 8), draw.steps(8, 30) * 1.0, draw.names.file()
    alone = seconds * draw.real(0.4, 0.8)
    extra = [alone if rank == 0 else 0.0 for rank in range(ranks)]
    compute = Part(draw.names.function(), even(draw, seconds, ranks), (), file, 40, 95)
    output = Part("write", extra, (), role="libc", at=63)
    wait = Part("MPI_Barrier", waits(extra, seconds * 0.004), (), role="mpi", at=66)
    save = Part(draw.names.function(), even(draw, seconds * 0.005, ranks), (output, wait), file, 60, 96)
    root = program(draw, ranks, seconds, compute, save, file=file)
    profiles = write_hpctoolkit(folder, root, ranks=True)
    why = "rank 0 writes the output of all while the others wait for it at a barrier"
    return truth("io-imbalance", HPCTOOLKIT, profiles, share(root, lambda p: p.role == "mpi"), why,
                 where=place(save.name, file=file), functions=(save.name, "main"),
                 acceptable=("mpi-collective-wait", "io-bound", "mpi-load-imbalance"))  # fmt: skip


@recipe("two-faults", MPI, 2)
def uneven_and_transposes(draw: Draw, folder: Path) -> Truth:
    ranks, seconds, file = draw.width(4, 8), draw.steps(10, 30) * 1.0, draw.names.file()
    spread = draw.real(0.9, 1.1)
    own = [seconds * (1 - spread / 2 + spread * rank / (ranks - 1)) for rank in range(ranks)]
    compute = Part(draw.names.function(), own, (), file, 40, 95)
    reduce = Part("MPI_Allreduce", waits(own, seconds * 0.005), (), role="mpi", at=52, calls=500)
    step = Part(draw.names.function(), even(draw, seconds * 0.02, ranks), (compute, reduce), file, 48, 93)
    move = Part(
        "MPI_Alltoall", even(draw, seconds * draw.real(0.25, 0.35), ranks, 0.01), (), role="mpi", at=64, calls=400
    )
    swap = Part(draw.names.function(), even(draw, seconds * 0.03, ranks), (move,), file, 60, 96)
    root = program(draw, ranks, seconds, step, swap, file=file)
    form, profiles = recorded(draw, folder, root, SCOREP, TAU)
    why = "the ranks' work is uneven, so that most wait in MPI_Allreduce; besides all spend a sixth of the time in MPI_Alltoall"
    return truth("mpi-load-imbalance", form, profiles, share(root, lambda p: p.name == "MPI_Allreduce"), why,
                 where=place(compute.name, file=file), functions=(compute.name, step.name, "main"),
                 acceptable=("mpi-collective-wait",),
                 second=("mpi-communication-bound", share(root, lambda p: p.name == "MPI_Alltoall"),
                         place(swap.name, file=file)))  # fmt: skip


# -- OpenMP ------------------------------------------------------------------------------------------------------


def placeholder(name: str, own: Sequence[float]) -> Part:
    """A state that the OpenMP runtime reports through OMPT, as HPCToolkit shows it."""
    return Part(f"<omp {name}>", own, (), role="placeholder")


def outlined(draw: Draw, own: Sequence[float], file: str, number: int, *below: Part) -> Part:
    """The body of a parallel region, as the compiler outlines it."""
    return Part(f"{draw.names.function()}._omp_fn.0", own, below, file, number, 95)


@recipe("omp-load-imbalance", OPENMP, 3)
def uneven_threads(draw: Draw, folder: Path) -> Truth:
    threads, seconds, file = draw.width(4, 8), draw.steps(4, 12) * 1.0, draw.names.file()
    spread = draw.real(1.0, 1.6)
    own = [seconds * (1 - spread / 2 + spread * n / (threads - 1)) for n in range(threads)]
    region, name = draw.names.function(), draw.names.function()
    if draw.chance(0.5):
        body = Part(f"{name}._omp_fn.0", own, (placeholder("barrier wait", waits(own, 0.01)),), file, 40, 95)
        root = Part("main", [0.1] + [0.0] * (threads - 1), (body,), file, 88)
        form, profiles = HPCTOOLKIT, write_hpctoolkit(folder, root)
    else:
        barrier = Part(
            f"!$omp implicit barrier @{file}:44", waits(own, 0.01), (), file, 44, role="openmp barrier", calls=400
        )
        loop = Part(f"!$omp for @{file}:40", own, (barrier,), file, 40, role="openmp loop", calls=400)
        parallel = Part(
            f"!$omp parallel @{file}:39", [0.001] * threads, (loop,), file, 39, role="openmp parallel", calls=400
        )
        body = Part(name, [0.02] + [0.0] * (threads - 1), (parallel,), file, 36)
        root = Part("main", [0.1] + [0.0] * (threads - 1), (body,), file, 88)
        form, profiles = SCOREP, write_scorep(folder, root, ranks=False)
    why = "threads get the same number of iterations that cost more the later they come; the others wait for the last"
    waiting = share(root, lambda p: p.role in ("placeholder", "openmp barrier"))
    return truth("omp-load-imbalance", form, profiles, waiting, why, where=place(name, file=file),
                 acceptable=("omp-barrier-wait",), functions=(name, body.name, region, "main"))  # fmt: skip


@recipe("omp-critical-contention", OPENMP, 3)
def critical_sections(draw: Draw, folder: Path) -> Truth:
    threads, seconds, file = draw.width(4, 8), draw.steps(4, 12) * 1.0, draw.names.file()
    name, part = draw.names.function(), draw.real(0.8, 2.0)
    if draw.chance(0.5):
        wait = Part("GOMP_critical_start", even(draw, seconds * part, threads, 0.05), (), role="gomp", at=47)
        leave = Part("GOMP_critical_end", even(draw, seconds * 0.05, threads, 0.05), (), role="gomp", at=48)
        body = Part(f"{name}._omp_fn.0", even(draw, seconds, threads), (wait, leave), file, 40, 95)
        root = Part("main", [0.05] + [0.0] * (threads - 1), (body,), file, 88)
        form, profiles = HPCTOOLKIT, write_hpctoolkit(folder, root)
    else:
        waiting = even(draw, seconds * part, threads, 0.05)
        critical = Part(f"!$omp critical @{file}:47", waiting, (), file, 47, role="openmp critical", calls=2_000_000)
        loop = Part(
            f"!$omp for @{file}:40", even(draw, seconds, threads), (critical,), file, 40, role="openmp loop", calls=50
        )
        parallel = Part(
            f"!$omp parallel @{file}:39", [0.001] * threads, (loop,), file, 39, role="openmp parallel", calls=50
        )
        body = Part(name, [0.02] + [0.0] * (threads - 1), (parallel,), file, 36)
        root = Part("main", [0.05] + [0.0] * (threads - 1), (body,), file, 88)
        form, profiles = SCOREP, write_scorep(folder, root, ranks=False)
    why = "threads queue for a critical section in an inner loop, as long as they compute"
    waited = share(root, lambda p: "critical" in p.name)
    return truth("omp-critical-contention", form, profiles, waited, why, where=place(name, file=file),
                 acceptable=("lock-contention",), functions=(name, body.name, "main"))  # fmt: skip


@recipe("omp-serial-fraction", OPENMP, 2)
def serial_part(draw: Draw, folder: Path) -> Truth:
    threads, seconds, file = draw.width(4, 8), draw.steps(4, 12) * 1.0, draw.names.file()
    alone = seconds * draw.real(0.6, 1.2)
    name = draw.names.function()
    serial = Part(name, [alone] + [0.0] * (threads - 1), (), file, 60, 96)
    idle = placeholder("idle", [0.0] + [alone] * (threads - 1))
    body = outlined(draw, even(draw, seconds, threads), file, 40)
    root = Part("main", [0.05] + [0.0] * (threads - 1), (body, serial, idle), file, 88)
    profiles = write_hpctoolkit(folder, root)
    why = f"{name} runs on the first thread alone, about as long as the parallel loop, while all others are idle"
    return truth("omp-serial-fraction", HPCTOOLKIT, profiles, share(root, lambda p: p.role == "placeholder"), why,
                 where=place(name, file=file), functions=(name, "main"))  # fmt: skip


@recipe("omp-fine-grained-regions", OPENMP, 2)
def tiny_regions(draw: Draw, folder: Path) -> Truth:
    threads, file, name = draw.width(4, 8), draw.names.file(), draw.names.function()
    regions = draw.steps(500_000, 1_500_000)
    work, overhead = 0.6e-6, draw.real(2e-6, 4e-6)
    each = [f"!$omp parallel @{file}:39", f"!$omp for @{file}:39", f"!$omp implicit barrier @{file}:40"]
    barrier = Part(
        each[2], even(draw, regions * overhead * 0.6, threads), (), file, 40, role="openmp barrier", calls=regions
    )
    loop = Part(each[1], even(draw, regions * work, threads), (barrier,), file, 39, role="openmp loop", calls=regions)
    parallel = Part(each[0], even(draw, regions * overhead * 0.4, threads), (loop,), file, 39, role="openmp parallel",
                    calls=regions)  # fmt: skip
    body = Part(name, [regions * 0.2e-6] + [0.0] * (threads - 1), (parallel,), file, 30)
    root = Part("main", [0.05] + [0.0] * (threads - 1), (body,), file, 88)
    profiles = write_scorep(folder, root, ranks=False)
    why = f"{regions:,} parallel regions of 0.6 µs of work; entering and leaving one takes {1e6 * overhead:.1f} µs"
    return truth("omp-fine-grained-regions", SCOREP, profiles, share(root, lambda p: p.role in ("openmp barrier", "openmp parallel")),
                 why, where=place(name, file=file), acceptable=("omp-barrier-wait",), functions=(name, "main"))  # fmt: skip


@recipe("omp-barrier-wait", OPENMP, 2)
def changing_stragglers(draw: Draw, folder: Path) -> Truth:
    threads, seconds, file = draw.width(4, 8), draw.steps(4, 12) * 1.0, draw.names.file()
    name = draw.names.function()
    own = even(draw, seconds, threads)
    waiting = even(draw, seconds * draw.real(0.4, 0.7), threads, 0.05)
    body = Part(f"{name}._omp_fn.0", own, (placeholder("barrier wait", waiting),), file, 40, 95)
    root = Part("main", [0.05] + [0.0] * (threads - 1), (body,), file, 88)
    profiles = write_hpctoolkit(folder, root)
    why = "in each step another thread is the last at an explicit barrier: all compute equally long in sum and all wait"
    return truth("omp-barrier-wait", HPCTOOLKIT, profiles, share(root, lambda p: p.role == "placeholder"), why,
                 where=place(name, file=file), functions=(name, body.name, "main"),
                 acceptable=("omp-load-imbalance", "omp-fine-grained-regions"))  # fmt: skip


@recipe("omp-false-sharing", OPENMP, 2)
def shared_lines(draw: Draw, folder: Path) -> Truth:
    threads, seconds, file = draw.width(4, 8), draw.steps(4, 10) * 1.0, draw.names.file()
    name = draw.names.function()
    body = Part(f"{name}._omp_fn.0", even(draw, seconds, threads), (), file, 40, 95)
    root = Part("main", [0.05] + [0.0] * (threads - 1), (body,), file, 88)
    profiles = write_hpctoolkit(folder, root) if draw.chance(0.5) else write_perf(folder, root)
    form = HPCTOOLKIT if profiles == ["database"] else "Linux perf"
    why = "threads write to neighbouring counters in one cache line; times alone show only that all threads compute"
    return truth("omp-false-sharing", form, profiles, 1.0, why, where=place(name, file=file), visible=False,
                 acceptable=("insufficient-data", "hot-compute"), functions=(name, body.name))  # fmt: skip


@recipe("healthy", OPENMP, 2)
def even_threads(draw: Draw, folder: Path) -> Truth:
    threads, seconds, file = draw.width(4, 8), draw.steps(6, 14) * 1.0, draw.names.file()
    own = even(draw, seconds, threads, 0.004)
    name = draw.names.function()
    body = Part(f"{name}._omp_fn.0", own, (placeholder("barrier wait", waits(own, 0.005 * seconds)),), file, 40, 95)
    root = Part("main", [0.05] + [0.0] * (threads - 1), (body,), file, 88)
    profiles = write_hpctoolkit(folder, root)
    return truth("healthy", HPCTOOLKIT, profiles, 0.99, "all threads compute equally long and hardly wait",
                 acceptable=("hot-compute",))  # fmt: skip
