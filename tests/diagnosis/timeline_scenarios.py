"""Programs with a GPU whose trouble is known because it was built in; each writes a file (or a folder) into a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.synthetic import rocprof
from tests.synthetic.chrome_trace import Trace
from tests.synthetic.gpu_program import Program, for_rocprof, write_kineto, write_nsys

MB, GB = 1_000_000, 1_000_000_000
GEMM = "void gemm_tiled<float, 128>(float const*, float const*, float*, int)"
AXPY = "axpy(double*, double const*, double, int)"
REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"
DAY = 86_400e6  #: microseconds

Maker = Callable[[Path], Path]
SCENARIOS: dict[str, Maker] = {}


def scenario(maker: Maker) -> Maker:
    """Register a scenario under its name."""
    SCENARIOS[maker.__name__] = maker
    return maker


def one(folder: Path, program: Program, *more: Program) -> Path:
    return write_nsys(folder / "report.sqlite", program, *more)


# -- copies ----------------------------------------------------------------------------------------------------


@scenario
def d2h_bound(folder: Path) -> Path:
    p = Program()
    for _ in range(60):
        p.launch(AXPY, 400)
        p.copy("d2h", 64 * MB, 12, wait=True)
        p.work(50)
    return one(folder, p)


def _h2d(p: Program, *, rate: float = 12, pageable: bool = False) -> Program:
    for _ in range(60):
        p.copy("h2d", 32 * MB, rate, wait=True, pageable=pageable)
        p.launch(AXPY, 700)
        p.sync()
    return p


@scenario
def h2d_bound(folder: Path) -> Path:
    return one(folder, _h2d(Program()))


@scenario
def h2d_pageable(folder: Path) -> Path:
    return one(folder, _h2d(Program(), rate=3, pageable=True))


@scenario
def h2d_without_kernels_traced(folder: Path) -> Path:
    return one(folder, _h2d(Program(hidden=frozenset({"kernel"}))))


@scenario
def copies_alternate(folder: Path) -> Path:
    p = Program()
    for _ in range(60):
        p.copy("h2d", 24 * MB, 12)
        p.launch(GEMM, 2400)
        p.copy("d2h", 12 * MB, 12)
        p.sync()
    return one(folder, p)


@scenario
def copies_overlap(folder: Path) -> Path:
    p = Program()
    for _ in range(100):
        p.copy("h2d", 24 * MB, 12, stream=14)
        p.launch(GEMM, 2400)
        p.copy("d2h", 12 * MB, 12, stream=15)
    p.sync()
    return one(folder, p)


@scenario
def copies_inside_the_device(folder: Path) -> Path:
    p = Program()
    for _ in range(80):
        p.launch(AXPY, 800)
        p.copy("d2d", 2000 * MB, 800)
    p.sync()
    return one(folder, p)


@scenario
def copies_between_devices(folder: Path) -> Path:
    p = Program()
    for _ in range(50):
        for device in (0, 1):
            p.device = device
            p.launch(AXPY, 900)
            p.copy("p2p", 32 * MB, 20)
        for p.device in (0, 1):
            p.sync()
    return one(folder, p)


@scenario
def pages_migrate(folder: Path) -> Path:
    p = Program()
    for _ in range(40):
        end = p.launch(AXPY, 6000)
        for page in range(20):
            p.now, now = end - 5500 + page * 200, p.now
            p.run("uvm", "uvm", 150, stream=99, size=2 << 20)
            p.now = now
        p.sync()
        p.work(100)
    return one(folder, p)


@scenario
def one_copy_each_way_around_a_long_run(folder: Path) -> Path:
    p = Program()
    p.copy("h2d", 400 * MB, 12, wait=True)
    for _ in range(500):
        p.launch(GEMM, 2000)
    p.copy("d2h", 400 * MB, 12, wait=True)
    return one(folder, p)


@scenario
def blocking_copy_waits_for_long_kernels(folder: Path) -> Path:
    p = Program()
    for _ in range(30):
        p.launch(GEMM, 30_000)
        p.copy("d2h", 4096, 1, wait=True)
    return one(folder, p)


# -- launches and waits ------------------------------------------------------------------------------------------


@scenario
def waits_after_tiny_kernels(folder: Path) -> Path:
    p = Program()
    for _ in range(5000):
        p.launch(AXPY, 8)
        p.sync()
    return one(folder, p)


@scenario
def waits_for_long_kernels(folder: Path) -> Path:
    p = Program()
    for _ in range(40):
        p.launch(GEMM, 25_000)
        p.sync()
    return one(folder, p)


@scenario
def many_tiny_kernels(folder: Path) -> Path:
    p = Program(launch_cost=8.0)
    for _ in range(100_000):
        p.launch(AXPY, 2)
    p.sync()
    return one(folder, p)


@scenario
def many_tiny_kernels_without_calls(folder: Path) -> Path:
    p = Program(launch_cost=8.0, hidden=frozenset({"call"}))
    for _ in range(20_000):
        p.launch(AXPY, 2)
    return one(folder, p)


def _graphs(p: Program, *, whole: bool) -> Program:
    for _ in range(200):
        p.graph([("norm(float*)", 3.0), ("attention(float*)", 6.0), ("mlp(float*)", 4.0)] * 60, whole=whole)
    p.sync()
    return p


@scenario
def graphs_of_short_kernels(folder: Path) -> Path:
    return one(folder, _graphs(Program(), whole=False))


@scenario
def graphs_as_a_whole(folder: Path) -> Path:
    return one(folder, _graphs(Program(), whole=True))


@scenario
def launches_ahead_of_short_kernels(folder: Path) -> Path:
    """8 µs kernels that are queued faster than they run: short, and yet nothing waits."""
    p = Program(launch_cost=4.0)
    for _ in range(20_000):
        p.launch(AXPY, 8)
    p.sync()
    return one(folder, p)


# -- the host ----------------------------------------------------------------------------------------------------


def _phases(p: Program) -> Program:
    for _ in range(20):
        p.work(30_000, "assemble matrix")
        with p.range("solve"):
            for _ in range(10):
                p.launch(GEMM, 1000)
            p.sync()
    return p


@scenario
def host_phases(folder: Path) -> Path:
    return one(folder, _phases(Program()))


@scenario
def host_phases_unnamed(folder: Path) -> Path:
    return one(folder, _phases(Program(hidden=frozenset({"range"}))))


@scenario
def host_reads_files(folder: Path) -> Path:
    p = Program()
    for _ in range(30):
        p.system("read", 20_000)
        p.copy("h2d", 8 * MB, 12, wait=True)
        p.launch(GEMM, 6000)
        p.sync()
    return one(folder, p)


@scenario
def allocates_in_the_loop(folder: Path) -> Path:
    p = Program()
    for _ in range(200):
        p.call("cudaMalloc", 900)
        p.launch(AXPY, 600)
        p.sync()
        p.call("cudaFree", 500)
    return one(folder, p)


@scenario
def allocates_before_a_long_run(folder: Path) -> Path:
    p = Program()
    p.call("cudaMalloc", 250_000)
    for _ in range(300):
        p.launch(GEMM, 2000)
    p.sync()
    p.call("cudaFree", 100_000)
    return one(folder, p)


@scenario
def compiles_at_the_start_of_a_long_run(folder: Path) -> Path:
    p = Program()
    p.launch(AXPY, 50)
    p.sync()
    p.work(60_000, "nvrtcCompileProgram")
    p.call("cuModuleLoadData", 3000)
    for _ in range(1500):
        p.launch(GEMM, 2000)
    p.sync()
    return one(folder, p)


@scenario
def compiles_most_of_the_time(folder: Path) -> Path:
    p = Program()
    for number in range(8):
        p.work(60_000, "nvrtcCompileProgram")
        p.call("cuModuleLoadData", 3000)
        for _ in range(20):
            p.launch(f"fused_{number}(float*)", 400)
        p.sync()
    return one(folder, p)


@scenario
def compiles_only_before_the_device_works(folder: Path) -> Path:
    p = Program()
    p.work(900_000, "ptxas")
    for _ in range(1000):
        p.launch(GEMM, 2000)
    p.sync()
    return one(folder, p)


@scenario
def warms_up_then_works(folder: Path) -> Path:
    p = Program()
    p.launch(AXPY, 20)
    p.sync()
    p.work(150_000, "load weights")
    for _ in range(2000):
        p.launch(GEMM, 1000)
    p.sync()
    return one(folder, p)


@scenario
def starts_late_then_works(folder: Path) -> Path:
    p = Program()
    p.work(60e6, "read input")
    for _ in range(1000):
        p.launch(GEMM, 2000)
    p.sync()
    return one(folder, p)


@scenario
def touches_the_device_long_before_it_works(folder: Path) -> Path:
    p = Program()
    p.copy("h2d", 4096, 1)
    p.work(20e6, "read input")
    for _ in range(1000):
        p.launch(GEMM, 2000)
    p.sync()
    return one(folder, p)


# -- MPI ---------------------------------------------------------------------------------------------------------


@scenario
def mpi_between_kernels(folder: Path) -> Path:
    p = Program(rank=0)
    for _ in range(100):
        p.launch(GEMM, 3000)
        p.sync()
        p.mpi("MPI_Allreduce", 4000)
    return one(folder, p)


@scenario
def mpi_messages_between_kernels(folder: Path) -> Path:
    p = Program(rank=0)
    for _ in range(100):
        p.launch(GEMM, 3000)
        p.sync()
        p.mpi("MPI_Sendrecv", 2500)
    return one(folder, p)


@scenario
def mpi_beside_kernels(folder: Path) -> Path:
    p = Program(rank=0)
    for _ in range(100):
        p.launch(GEMM, 3000)
        p.mpi("MPI_Sendrecv", 2500)
        p.sync()
    return one(folder, p)


def _ranks(folder: Path, programs: list[Program]) -> Path:
    place = folder / "reports"
    place.mkdir()
    for number, program in enumerate(programs):
        write_nsys(
            place / f"rank{number}.sqlite", program, epoch=1_700_000_000_000_000_000 + number * 1000, uuid=f"n{number}"
        )
    return place


@scenario
def ranks_with_unequal_work(folder: Path) -> Path:
    programs = [Program(pid=100 + rank, rank=rank) for rank in range(4)]
    for _ in range(40):
        for p in programs:
            p.launch(GEMM, 9000 if p.rank == 2 else 3000)
            p.sync()
        last = max(p.now for p in programs)
        for p in programs:
            p.mpi("MPI_Allreduce", last - p.now + 50)
    return _ranks(folder, programs)


@scenario
def ranks_with_equal_work(folder: Path) -> Path:
    programs = [Program(pid=100 + rank, rank=rank) for rank in range(4)]
    for _ in range(40):
        for p in programs:
            p.launch(GEMM, 9000 + 20 * int(p.rank or 0))
            p.sync()
        last = max(p.now for p in programs)
        for p in programs:
            p.mpi("MPI_Allreduce", last - p.now + 50)
    return _ranks(folder, programs)


# -- several devices ---------------------------------------------------------------------------------------------


@scenario
def one_of_two_devices_has_the_work(folder: Path) -> Path:
    p = Program()
    for _ in range(100):
        for p.device, cost in ((0, 4000), (1, 1000)):
            p.launch(GEMM, cost)
        p.device = 0
        p.sync()
    return one(folder, p)


def _training(p: Program, *, hidden: bool) -> Program:
    for _ in range(60):
        for _ in range(10):
            p.launch(GEMM, 500)
        if hidden:
            p.launch(REDUCE, 3000, stream=20)
        else:
            p.sync()
            p.launch(REDUCE, 3000, stream=20)
            p.sync()
    p.sync()
    return p


@scenario
def collectives_exposed(folder: Path) -> Path:
    return one(folder, _training(Program(), hidden=False))


@scenario
def collectives_hidden(folder: Path) -> Path:
    return one(folder, _training(Program(), hidden=True))


@scenario
def collectives_wait_for_a_slow_rank(folder: Path) -> Path:
    programs = [Program(pid=200 + rank, rank=rank) for rank in range(2)]
    for _ in range(60):
        for p in programs:
            p.launch(GEMM, 8000 if p.rank == 1 else 2000)
        begin = [max(p.free.values()) for p in programs]
        for p, at in zip(programs, begin, strict=True):
            p.launch(REDUCE, max(begin) - at + 100)
            p.sync()
    return _ranks(folder, programs)


# -- shapes of recordings ----------------------------------------------------------------------------------------


@scenario
def tiny_run(folder: Path) -> Path:
    p = Program()
    for _ in range(3):
        p.launch(AXPY, 2)
    return one(folder, p)


@scenario
def kernels_alone_busy(folder: Path) -> Path:
    p = Program(hidden=frozenset({"call"}))
    for _ in range(300):
        p.launch(GEMM, 2000)
    return one(folder, p)


@scenario
def kernels_alone_with_long_gaps(folder: Path) -> Path:
    p = Program(hidden=frozenset({"call"}))
    for _ in range(100):
        p.launch(GEMM, 2000)
        p.sync()
        p.work(5000)
    return one(folder, p)


@scenario
def only_ranges_and_system_calls(folder: Path) -> Path:
    p = Program(hidden=frozenset({"call", "kernel"}))
    for _ in range(50):
        p.work(4000, "step")
        p.system("read", 2000)
    return one(folder, p)


@scenario
def small_grid(folder: Path) -> Path:
    p = Program()
    for _ in range(100):
        p.launch("sequential_scan(float*, int)", 9000, grid=2)
        p.launch(AXPY, 500)
    p.sync()
    return one(folder, p)


@scenario
def one_huge_kernel(folder: Path) -> Path:
    p = Program()
    p.copy("h2d", 4 * MB, 12)
    p.launch("simulate(State*, long)", 8e6)
    p.copy("d2h", 4 * MB, 12, wait=True)
    return one(folder, p)


@scenario
def many_streams(folder: Path) -> Path:
    p = Program()
    for step in range(4000):
        p.launch(AXPY, 120, stream=10 + step % 16, grid=16)
    p.sync()
    return one(folder, p)


@scenario
def kernels_of_all_lengths(folder: Path) -> Path:
    p = Program(launch_cost=3.0)
    for _ in range(40):
        for power in range(15):
            p.launch(f"stage_{power}(float*)", 2.0**power)
    p.sync()
    return one(folder, p)


@scenario
def times_days_from_zero(folder: Path) -> Path:
    p = _h2d(Program())
    p.shift(40 * DAY)
    return one(folder, p)


@scenario
def one_event_days_away(folder: Path) -> Path:
    """A range with a time of another clock: it must not stretch the window."""
    p = _training(Program(), hidden=True)
    q = Program(start=30 * DAY)
    q.work(10, "odd")
    p.events += q.events
    return one(folder, p)


@scenario
def processes_take_turns_on_a_device(folder: Path) -> Path:
    first, second = Program(pid=31), Program(pid=32)
    for turn in range(200):
        p, other = (first, second) if turn % 2 == 0 else (second, first)
        p.free[0, 7] = max(p.free.get((0, 7), 0.0), other.free.get((0, 7), 0.0) + 120)
        p.launch(GEMM, 2000)
    for p in (first, second):
        p.sync()
    return one(folder, first, second)


# -- PyTorch -----------------------------------------------------------------------------------------------------


def _steps(p: Program, *, load: float, kernels: int, cost: float, operator: float, fetch: bool = False) -> Program:
    for step in range(20):
        with p.range(f"ProfilerStep#{step + 5}"):
            p.work(load, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")
            for _ in range(kernels):
                begin = p.now
                p.work(operator)
                p.launch("void at::native::vectorized_elementwise_kernel<4, float>(int, float)", cost)
                p._put("range", "aten::mul", begin, p.now)
            if fetch:
                with p.range("aten::item"):
                    p.copy("d2h", 4, 0.001)
                    p.sync("cudaStreamSynchronize", 7)
    p.sync()
    return p


@scenario
def data_loader_stalls(folder: Path) -> Path:
    p = _steps(Program(), load=60_000, kernels=100, cost=200, operator=20)
    return write_kineto(folder / "trace.json.gz", p)


@scenario
def eager_operators_on_small_tensors(folder: Path) -> Path:
    p = _steps(Program(), load=50, kernels=200, cost=3, operator=20)
    return write_kineto(folder / "trace.json.gz", p)


@scenario
def training_that_fills_the_device(folder: Path) -> Path:
    p = _steps(Program(), load=100, kernels=100, cost=300, operator=20)
    return write_kineto(folder / "trace.json.gz", p)


@scenario
def training_that_fetches_each_loss(folder: Path) -> Path:
    """Each step ends with .item(); kernels are long, so the wait costs next to nothing."""
    p = _steps(Program(), load=100, kernels=100, cost=300, operator=20, fetch=True)
    return write_kineto(folder / "trace.json.gz", p)


@scenario
def training_of_several_processes_in_one_trace(folder: Path) -> Path:
    programs = []
    for rank in range(2):
        p = Program(pid=400 + rank * 50, rank=rank, device=rank)
        programs.append(_steps(p, load=100, kernels=60, cost=300, operator=20))
    return write_kineto(folder / "trace.json.gz", *programs)


@scenario
def a_rank_that_waits_in_collectives(folder: Path) -> Path:
    p = Program(rank=3)
    for step in range(20):
        with p.range(f"ProfilerStep#{step}"):
            for _ in range(20):
                p.launch(GEMM, 400)
            p.launch(REDUCE, 12_000)
            p.sync()
    return write_kineto(folder / "trace.json.gz", p, world=8)


@scenario
def copies_alone_pytorch(folder: Path) -> Path:
    trace = Trace()
    for step in range(100):
        trace.copy("Memcpy HtoD (Pageable -> Device)", 1000.0 + 5000 * step, 400.0, 4 * MB)
    return trace.write(folder / "trace.json")


# -- AMD ---------------------------------------------------------------------------------------------------------


@scenario
def amd_h2d_bound_csv(folder: Path) -> Path:
    return rocprof.write_csv(folder / "out", of=for_rocprof(_h2d(Program())))


@scenario
def amd_copies_alone_csv(folder: Path) -> Path:
    """The file of copies alone: whether kernels ran between them is not known."""
    rocprof.write_csv(folder / "out", of=for_rocprof(_h2d(Program())))
    file = next((folder / "out").rglob("*memory_copy_trace.csv"))
    return file.rename(folder / "memory_copy_trace.csv")


@scenario
def amd_kernels_alone_csv(folder: Path) -> Path:
    rocprof.write_csv(folder / "out", of=for_rocprof(_phases(Program())))
    file = next((folder / "out").rglob("*kernel_trace.csv"))
    return file.rename(folder / "kernel_trace.csv")


@scenario
def amd_tiny_kernels_rocpd(folder: Path) -> Path:
    p = Program(launch_cost=8.0)
    for _ in range(5000):
        p.launch(AXPY, 2)
    p.sync()
    return rocprof.write_rocpd(folder / "results.db", of=for_rocprof(p))


@scenario
def amd_healthy_json(folder: Path) -> Path:
    p = Program()
    for _ in range(400):
        p.launch(GEMM, 2000)
    p.sync()
    return rocprof.write_json(folder / "results.json", of=for_rocprof(p))


@scenario
def amd_host_phases_rocpd(folder: Path) -> Path:
    return rocprof.write_rocpd(folder / "results.db", of=for_rocprof(_phases(Program())))


# -- ranks that do different things ------------------------------------------------------------------------------


@scenario
def ranks_wait_for_the_host_work_of_one(folder: Path) -> Path:
    """Rank 0 writes a checkpoint in every step while its device and those of all others wait."""
    programs = [Program(pid=100 + rank, rank=rank) for rank in range(4)]
    for _ in range(40):
        for p in programs:
            p.launch(GEMM, 3000)
            p.sync()
            if p.rank == 0:
                p.work(5000, "write checkpoint")
        last = max(p.now for p in programs)
        for p in programs:
            p.mpi("MPI_Allreduce", last - p.now + 50)
    return _ranks(folder, programs)


@scenario
def ranks_with_tiny_kernels(folder: Path) -> Path:
    """Four ranks out of step, each of which waits after each of its kernels."""
    programs = [Program(pid=100 + rank, rank=rank, start=1000 + 7.3 * rank) for rank in range(4)]
    for p in programs:
        for _ in range(2000):
            p.launch(AXPY, 8 + int(p.rank or 0))
            p.sync()
    return _ranks(folder, programs)


@scenario
def ranks_that_allocate_in_the_loop(folder: Path) -> Path:
    programs = [Program(pid=100 + rank, rank=rank, start=1000 + 300.0 * rank) for rank in range(3)]
    for p in programs:
        for _ in range(100):
            p.launch(AXPY, 900)
            p.sync()
            p.work(1500, "pack halo")
            if p.rank == 1:
                p.call("cudaMalloc", 100)
    return _ranks(folder, programs)


@scenario
def two_devices_take_turns(folder: Path) -> Path:
    """A model cut in two: each device waits for the other's result."""
    p = Program()
    for _ in range(100):
        for p.device in (0, 1):
            p.launch(GEMM, 3000)
            p.sync()
            p.copy("p2p", 2 * MB, 20)
            p.sync()
    return one(folder, p)


@scenario
def three_devices_of_four_are_not_used(folder: Path) -> Path:
    p = Program()
    for p.device in (1, 2, 3):
        p.copy("h2d", 4096, 1)
    p.device = 0
    for _ in range(300):
        p.launch(GEMM, 2000)
    p.sync()
    return one(folder, p)


# -- more on the host --------------------------------------------------------------------------------------------


@scenario
def sleeps_between_requests(folder: Path) -> Path:
    p = Program()
    for _ in range(60):
        p.system("epoll_wait", 20_000)
        for _ in range(5):
            p.launch(GEMM, 800)
        p.sync()
    return one(folder, p)


@scenario
def many_small_blocking_copies(folder: Path) -> Path:
    p = Program()
    for _ in range(200):
        for _ in range(20):
            p.copy("h2d", 2048, 1.5, wait=True, pageable=True)
            p.work(0.3)
        p.launch(AXPY, 30)
    p.sync()
    return one(folder, p)


@scenario
def fetches_a_flag_after_each_kernel(folder: Path) -> Path:
    p = Program()
    for _ in range(3000):
        p.launch(AXPY, 15)
        p.copy("d2h", 4, 0.002, wait=True)
        p.work(20)
    return one(folder, p)


@scenario
def a_thread_waits_all_the_time(folder: Path) -> Path:
    """A helper thread sits in cudaEventSynchronize while the main thread launches tiny kernels: no waiting of the main thread."""
    p = Program(launch_cost=8.0)
    for _ in range(5000):
        p.launch(AXPY, 2)
    end = p.now
    q = Program(thread=1, numbers=1_000_000)
    q.call("cudaEventSynchronize", end - q.now)
    p.events += q.events
    return one(folder, p)


@scenario
def frees_memory_behind_long_kernels(folder: Path) -> Path:
    p = Program()
    for _ in range(50):
        p.call("cudaMalloc", 50)
        p.launch(GEMM, 8000)
        p.sync("cudaFree")
    return one(folder, p)


@scenario
def loads_modules_at_first_use(folder: Path) -> Path:
    """Lazy loading: the first launch of each kernel loads its code; the run is long."""
    p = Program()
    for number in range(20):
        p.call("cuLibraryLoadData", 1500)
        p.launch(f"layer_{number}(float*)", 100)
    for _ in range(200):
        for number in range(20):
            p.launch(f"layer_{number}(float*)", 400)
    p.sync()
    return one(folder, p)


@scenario
def saves_a_checkpoint_now_and_then(folder: Path) -> Path:
    p = Program()
    for step in range(600):
        p.launch(GEMM, 3000)
        if step % 200 == 199:
            p.sync()
            p.work(60_000, "save checkpoint")
    p.sync()
    return one(folder, p)


@scenario
def memory_sets_fill_the_device(folder: Path) -> Path:
    p = Program()
    for _ in range(100):
        p.launch(AXPY, 200)
        p.run("memset", "memset", 1800, p.call("cudaMemsetAsync", 3))
    p.sync()
    return one(folder, p)


@scenario
def a_benchmark_of_copies(folder: Path) -> Path:
    """Calls were recorded and none launches a kernel: there were none."""
    p = Program()
    for _ in range(100):
        p.copy("h2d", 64 * MB, 24, wait=True)
    return one(folder, p)


@scenario
def waits_for_messages_in_another_thread(folder: Path) -> Path:
    """A progress thread is in MPI all the time; the main thread keeps the device busy only half the time with its own work."""
    p = Program(rank=0)
    for _ in range(100):
        p.launch(GEMM, 2000)
        p.sync()
        p.work(2000, "refine mesh")
    end = p.now
    q = Program(thread=1)
    q.mpi("MPI_Recv", end - q.now)
    p.events += q.events
    return one(folder, p)


@scenario
def idle_with_a_graph_between(folder: Path) -> Path:
    """Whole graphs with host work between them."""
    p = Program()
    for _ in range(100):
        p.graph([("decode(float*)", 5.0)] * 200, whole=True)
        p.sync()
        p.work(3000, "sample tokens")
    return one(folder, p)


@scenario
def graphs_of_tiny_kernels(folder: Path) -> Path:
    """2 µs kernels 1 µs apart inside graphs: a third of the time is between them, and no wait of the host causes it."""
    p = Program()
    for _ in range(100):
        p.graph([("tiny(float*)", 2.0)] * 300)
    p.sync()
    return one(folder, p)


@scenario
def slow_launches(folder: Path) -> Path:
    """Launches take the host 150 µs each (a debugging layer): kernels of 60 µs starve."""
    p = Program(launch_cost=150.0)
    for _ in range(2000):
        p.launch(AXPY, 60)
    p.sync()
    return one(folder, p)


@scenario
def application_start_unnamed(folder: Path) -> Path:
    p = Program()
    p.call("cudaFree", 400_000)
    p.work(30e6)
    for _ in range(1000):
        p.launch(GEMM, 2000)
    p.sync()
    return one(folder, p)


# -- more that could be taken for something else -----------------------------------------------------------------


@scenario
def threads_that_each_wait_for_their_stream(folder: Path) -> Path:
    """Four threads of one process, each with a stream: launches 40 µs kernels and waits for them; together they fill the device."""
    events = []
    for thread in range(4):
        p = Program(thread=thread, numbers=thread * 100_000, start=1000 + 9.0 * thread)
        for _ in range(1000):
            p.launch(AXPY, 40, stream=10 + thread)
            p.sync("cudaStreamSynchronize", 10 + thread)
        events += p.events
    whole = Program()
    whole.events = events
    return one(folder, whole)


@scenario
def collectives_of_ranks_in_step(folder: Path) -> Path:
    """Ranks with equal work spend a third of the time in exposed collectives: it is the transfer."""
    programs = [Program(pid=200 + rank, rank=rank) for rank in range(2)]
    for _ in range(60):
        for p in programs:
            p.launch(GEMM, 6000)
            p.launch(REDUCE, 3000)
            p.sync()
    return _ranks(folder, programs)


@scenario
def kernels_and_copies_of_two_processes(folder: Path) -> Path:
    """Two processes share a device and fill it together, each alone would leave half of it idle."""
    first, second = Program(pid=31), Program(pid=32, start=4000)
    for p in (first, second):
        for _ in range(100):
            p.launch(GEMM, 3000)
            p.sync()
            p.work(3000 - 10, "prepare")
    return one(folder, first, second)


@scenario
def a_busy_device_and_an_idle_rank_zero(folder: Path) -> Path:
    """Rank 0 only coordinates and has no device; it sits in MPI_Recv."""
    programs = [Program(pid=100 + rank, rank=rank) for rank in range(3)]
    for p in programs[1:]:
        for _ in range(100):
            p.launch(GEMM, 5000)
            p.sync()
    programs[0].mpi("MPI_Recv", programs[1].now - 1000)
    return one(folder, *programs)


@scenario
def pageable_copies_of_small_arrays(folder: Path) -> Path:
    """Pageable copies that are too small and too few to matter beside long kernels."""
    p = Program()
    for _ in range(200):
        p.copy("h2d", 16_384, 4, wait=True, pageable=True)
        p.launch(GEMM, 4000)
        p.sync()
    return one(folder, p)


@scenario
def idle_tail_after_the_work(folder: Path) -> Path:
    """The device works for a second, then the program writes its output for five, then frees memory with one copy."""
    p = Program()
    for _ in range(500):
        p.launch(GEMM, 2000)
    p.sync()
    p.work(5e6, "write output")
    p.copy("d2h", 4096, 1, wait=True)
    return one(folder, p)


@scenario
def copies_of_unknown_memory(folder: Path) -> Path:
    """A D2H-bound trace of AMD without calls: kernels and copies only."""
    p = Program(hidden=frozenset({"call"}))
    for _ in range(60):
        p.launch(AXPY, 400)
        p.copy("d2h", 64 * MB, 12, wait=True)
    return rocprof.write_csv(folder / "out", of=for_rocprof(p))


@scenario
def waits_in_pytorch_after_each_operator(folder: Path) -> Path:
    """.item() after each small operator."""
    p = Program()
    for step in range(20):
        with p.range(f"ProfilerStep#{step}"):
            for _ in range(60):
                p.work(20)
                p.launch("void at::native::reduce_kernel<512>(int)", 12)
                with p.range("aten::item"):
                    p.copy("d2h", 4, 0.002)
                    p.sync("cudaStreamSynchronize", 7)
    return write_kineto(folder / "trace.json.gz", p)


@scenario
def compiles_in_pytorch_at_the_first_step(folder: Path) -> Path:
    p = Program()
    p.launch(GEMM, 100)
    with p.range("ProfilerStep#0"):
        p.work(3e6, "Inductor: compile_fx (dynamo_timed)")
        p.launch("triton_poi_fused_0", 300)
    for step in range(1, 20):
        with p.range(f"ProfilerStep#{step}"):
            for _ in range(50):
                p.launch("triton_poi_fused_0", 300)
    p.sync()
    return write_kineto(folder / "trace.json.gz", p)


@scenario
def runs_compiled_code(folder: Path) -> Path:
    """Ranges named after compiled code, which run it: nothing is compiled here."""
    p = Program()
    for step in range(20):
        p._put("range", f"ProfilerStep#{step}", p.now - 1, p.now + 11_100)
        with p.range("Torch-Compiled Region: 0/0"):
            p.work(8000)
            for _ in range(10):
                p.launch("triton_poi_fused_0", 300)
            p.sync()
        p.work(2)
    return write_kineto(folder / "trace.json.gz", p)


@scenario
def old_export_h2d_bound(folder: Path) -> Path:
    return write_nsys(folder / "report.sqlite", _h2d(Program()), age=2021)


@scenario
def old_export_healthy(folder: Path) -> Path:
    return write_nsys(folder / "report.sqlite", _training(Program(), hidden=True), age=2022)
