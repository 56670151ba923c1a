"""Generated runs of programs with a GPU, recorded by Nsight Systems, PyTorch's profiler or AMD's rocprof.

The runs come from the simple machine of tests/synthetic/gpu_program.py: gaps of the device follow from what the host does.
Shares are computed from the run's parameters, not from what is written.
"""

from __future__ import annotations

from pathlib import Path

from tests.accuracy.draw import Draw
from tests.accuracy.recipes import Truth, place, recipe, truth
from tests.synthetic import rocprof
from tests.synthetic.gpu_program import Program, for_rocprof, write_kineto, write_nsys

MB = 1_000_000
NSYS, KINETO, ROCPROF = "Nsight Systems", "PyTorch profiler", "rocprof"
SYSTEM = "gpu-system"


def nsys(folder: Path, *programs: Program) -> list[str]:
    """A report of Nsight Systems; its name."""
    return [write_nsys(folder / "report.sqlite", *programs).name]


def kineto(folder: Path, program: Program, **more: int) -> list[str]:
    """A trace of PyTorch; its name."""
    return [write_kineto(folder / "trace.json.gz", program, **more).name]


def rocm(folder: Path, program: Program, form: str) -> list[str]:
    """What rocprofv3 writes, as CSV files or a database; its name."""
    if form == "csv":
        return [rocprof.write_csv(folder / "out", of=for_rocprof(program)).name]
    return [rocprof.write_rocpd(folder / "results.db", of=for_rocprof(program)).name]


def small_things(draw: Draw, p: Program) -> None:
    """What any program does besides and what is nobody's trouble: a small copy, a short kernel, a little host work."""
    if draw.sometimes(0.5):
        p.copy("h2d", int(draw.near(2000, 0.9)), 1.0)
    if draw.sometimes(0.5):
        p.work(draw.near(5, 0.9))


# -- copies ------------------------------------------------------------------------------------------------------


def copied(draw: Draw, way: str, *, pageable: bool = False) -> tuple[Program, float]:
    """A program that copies in one direction, waits and computes; the part of its time in copies."""
    p = Program()
    rate = draw.real(1.8, 4.5) if pageable else draw.real(10, 24)
    size = draw.whole(16, 96) * MB
    cost = size / rate / 1e3
    compute = cost * draw.real(0.25, 0.6)
    kernel, steps = draw.names.kernel(), draw.steps(40, 90)
    for _ in range(steps):
        if way == "h2d":
            p.copy("h2d", size, rate, wait=True, pageable=pageable)
        p.launch(kernel, draw.near(compute))
        if way == "d2h":
            p.copy("d2h", size, rate, wait=True, pageable=pageable)
        else:
            p.sync()
        small_things(draw, p)
    return p, steps * cost / (p.now - p.start)


def copy_truth(cause: str, form: str, profiles: list[str], share: float, why: str, *also: str) -> Truth:
    return truth(cause, form, profiles, share, why, acceptable=("gpu-no-overlap", *also))


@recipe("gpu-h2d-copy-bound", SYSTEM)
def h2d_nsys(draw: Draw, folder: Path) -> Truth:
    p, share = copied(draw, "h2d")
    why = (
        "each step copies its input from pinned memory and waits for it; kernels take less than two thirds of that time"
    )
    return copy_truth("gpu-h2d-copy-bound", NSYS, nsys(folder, p), share, why)


@recipe("gpu-h2d-copy-bound", SYSTEM)
def h2d_rocprof(draw: Draw, folder: Path) -> Truth:
    p, share = copied(draw, "h2d")
    why = "each step copies its input to the device and waits for it; kernels take less than two thirds of that time"
    return copy_truth(
        "gpu-h2d-copy-bound", ROCPROF, rocm(folder, p, draw.choice("csv", "db")), share, why, "gpu-pageable-copies"
    )


@recipe("gpu-d2h-copy-bound", SYSTEM)
def d2h_nsys(draw: Draw, folder: Path) -> Truth:
    p, share = copied(draw, "d2h")
    why = "each step copies its whole result back and waits for it; kernels take less than two thirds of that time"
    return copy_truth("gpu-d2h-copy-bound", NSYS, nsys(folder, p), share, why)


@recipe("gpu-d2h-copy-bound", SYSTEM)
def d2h_rocprof(draw: Draw, folder: Path) -> Truth:
    p, share = copied(draw, "d2h")
    why = "each step copies its whole result back and waits for it; kernels take less than two thirds of that time"
    return copy_truth(
        "gpu-d2h-copy-bound", ROCPROF, rocm(folder, p, draw.choice("csv", "db")), share, why, "gpu-pageable-copies"
    )


@recipe("gpu-pageable-copies", SYSTEM, 3)
def pageable_nsys(draw: Draw, folder: Path) -> Truth:
    way = draw.choice("h2d", "d2h")
    p, share = copied(draw, way, pageable=True)
    why = "copies start or end in pageable memory, at a quarter of the rate of pinned ones; the report names the kind of memory"
    return copy_truth("gpu-pageable-copies", NSYS, nsys(folder, p), share, why, f"gpu-{way}-copy-bound")


@recipe("gpu-no-overlap", SYSTEM, 3)
def one_stream(draw: Draw, folder: Path) -> Truth:
    p = Program()
    rate, size = draw.real(11, 24), draw.whole(16, 64) * MB
    cost = size / rate / 1e3
    compute, back = cost * draw.real(1.3, 1.9), draw.real(0.6, 0.9)
    kernel, steps = draw.names.kernel(), draw.steps(50, 120)
    for _ in range(steps):
        p.copy("h2d", size, rate)
        p.launch(kernel, draw.near(compute))
        p.copy("d2h", int(size * back), rate)
        if draw.sometimes(0.1):
            p.sync()
    p.sync()
    share = steps * cost * (1 + back) / (p.now - p.start)
    why = "asynchronous copies in both directions and kernels of about their length stand in one stream, so nothing overlaps"
    return truth(
        "gpu-no-overlap", NSYS, nsys(folder, p), share, why, acceptable=("gpu-h2d-copy-bound", "gpu-d2h-copy-bound")
    )


@recipe("gpu-unified-memory", SYSTEM)
def migrations(draw: Draw, folder: Path) -> Truth:
    p, moved = Program(), 0.0
    kernel, steps, pages = draw.names.kernel(), draw.steps(30, 60), draw.whole(15, 25)
    page = draw.real(120, 180)
    for _ in range(steps):
        end = p.launch(kernel, pages * page * draw.real(1.2, 1.6))
        start = end - pages * page * 1.1
        for number in range(pages):
            p.now, now = start + number * page * 1.05, p.now
            p.run("uvm", "uvm", page, stream=99, size=2 << 20)
            p.now, moved = now, moved + page
        p.sync()
        p.work(draw.real(20, 120))
    why = "pages of managed memory migrate to the device while kernels wait for them, in every step"
    return truth("gpu-unified-memory", NSYS, nsys(folder, p), moved / (p.now - p.start), why,
                 acceptable=("gpu-h2d-copy-bound",))  # fmt: skip


# -- the host ----------------------------------------------------------------------------------------------------


def host_phases(draw: Draw, *, named: bool) -> tuple[Program, float, str]:
    p = Program(hidden=frozenset() if named else frozenset({"range"}))
    work, kernel, name = draw.real(4_000, 40_000), draw.names.kernel(), draw.names.function()
    kernels, steps = draw.whole(5, 20), draw.steps(25, 60)
    length = work * draw.real(0.4, 0.9) / kernels
    idle = 0.0
    for _ in range(steps):
        cost = draw.near(work)
        p.work(cost, name)
        idle += cost
        for _ in range(kernels):
            p.launch(kernel, draw.near(length))
        p.sync()
    return p, idle / (p.now - p.start), name


@recipe("gpu-idle-host-bound", SYSTEM)
def host_work_nsys(draw: Draw, folder: Path) -> Truth:
    p, share, name = host_phases(draw, named=True)
    why = f"the host computes in {name} before each group of kernels, longer than these take, and the device has nothing to do"
    return truth("gpu-idle-host-bound", NSYS, nsys(folder, p), share, why, where=place(name))


@recipe("gpu-idle-host-bound", SYSTEM)
def host_work_rocprof(draw: Draw, folder: Path) -> Truth:
    p, share, _ = host_phases(draw, named=False)
    why = "the host works before each group of kernels, longer than these take, and the device has nothing to do"
    return truth("gpu-idle-host-bound", ROCPROF, rocm(folder, p, draw.choice("csv", "db")), share, why)


@recipe("gpu-idle-host-bound", SYSTEM)
def data_loader(draw: Draw, folder: Path) -> Truth:
    p, idle = Program(), 0.0
    load, kernels, length = draw.real(20_000, 80_000), draw.whole(40, 120), draw.real(100, 250)
    kernel = draw.names.kernel()
    for step in range(draw.steps(12, 25)):
        with p.range(f"ProfilerStep#{step}"):
            cost = draw.near(load)
            p.work(cost, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")
            idle += cost
            for _ in range(kernels):
                p.work(15)
                p.launch(kernel, draw.near(length))
            p.sync()
    why = "each step waits for the data loader, which runs in the same process, before the first kernel"
    return truth(
        "gpu-idle-host-bound", KINETO, kineto(folder, p), idle / (p.now - p.start), why, acceptable=("io-bound",)
    )


@recipe("gpu-idle-host-bound", SYSTEM)
def reads_files(draw: Draw, folder: Path) -> Truth:
    p, idle = Program(), 0.0
    read, kernel = draw.real(10_000, 30_000), draw.names.kernel()
    compute = read * draw.real(0.2, 0.5)
    for _ in range(draw.steps(30, 60)):
        cost = draw.near(read)
        p.system("read", cost)
        idle += cost
        p.copy("h2d", draw.whole(1, 4) * MB, 12, wait=True)
        p.launch(kernel, draw.near(compute))
        p.sync()
    why = "the host reads from a file before each kernel, in the thread that launches"
    return truth("gpu-idle-host-bound", NSYS, nsys(folder, p), idle / (p.now - p.start), why, acceptable=("io-bound",))


def tiny_kernels(draw: Draw) -> tuple[Program, float]:
    p = Program(launch_cost=draw.real(5.5, 9.0))
    length, count = draw.real(1.4, 2.8), draw.steps(4_000, 9_000)
    kernel = draw.names.kernel()
    for _ in range(count):
        p.launch(kernel, draw.near(length))
    p.sync()
    return p, 1 - count * length / (p.now - p.start)


@recipe("gpu-launch-bound", SYSTEM)
def tiny_nsys(draw: Draw, folder: Path) -> Truth:
    p, share = tiny_kernels(draw)
    why = "kernels of two microseconds are launched one by one; a launch takes the host three times as long"
    return truth("gpu-launch-bound", NSYS, nsys(folder, p), share, why, acceptable=("gpu-idle-host-bound",))


@recipe("gpu-launch-bound", SYSTEM)
def tiny_rocprof(draw: Draw, folder: Path) -> Truth:
    p, share = tiny_kernels(draw)
    why = "kernels of two microseconds are launched one by one; a launch takes the host three times as long"
    return truth("gpu-launch-bound", ROCPROF, rocm(folder, p, draw.choice("csv", "db")), share, why,
                 acceptable=("gpu-idle-host-bound",))  # fmt: skip


@recipe("gpu-launch-bound", SYSTEM)
def eager_operators(draw: Draw, folder: Path) -> Truth:
    p, kernels = Program(), 0.0
    operator, length = draw.real(14, 30), draw.real(2, 4)
    for step in range(draw.steps(12, 20)):
        with p.range(f"ProfilerStep#{step}"):
            for _ in range(draw.whole(120, 240)):
                begin, name = p.now, draw.choice("aten::mul", "aten::add", "aten::relu")
                p.work(operator)
                cost = draw.near(length)
                p.launch("void at::native::vectorized_elementwise_kernel<4, float>(int, float)", cost)
                p._put("range", name, begin, p.now)
                kernels += cost
    p.sync()
    why = "operators on small tensors: Python and the dispatcher take the host five times as long as their kernels the device"
    return truth("gpu-launch-bound", KINETO, kineto(folder, p), 1 - kernels / (p.now - p.start), why,
                 acceptable=("gpu-idle-host-bound",))  # fmt: skip


@recipe("gpu-sync-overuse", SYSTEM, 3)
def waits_each_time(draw: Draw, folder: Path) -> Truth:
    p, kernels = Program(), 0.0
    length, kernel = draw.real(7, 16), draw.names.kernel()
    wait = draw.choice("cudaDeviceSynchronize", "cudaStreamSynchronize")
    for _ in range(draw.steps(3_000, 6_000)):
        cost = draw.near(length)
        p.launch(kernel, cost)
        p.sync(wait)
        kernels += cost
    why = "the host waits after each kernel of ten microseconds, so that no launch is hidden behind a running kernel"
    return truth("gpu-sync-overuse", NSYS, nsys(folder, p), 1 - kernels / (p.now - p.start), why,
                 acceptable=("gpu-launch-bound",))  # fmt: skip


@recipe("gpu-allocation-in-loop", SYSTEM)
def allocates(draw: Draw, folder: Path) -> Truth:
    p, spent = Program(), 0.0
    take, give, compute = draw.real(400, 1200), draw.real(300, 700), draw.real(500, 900)
    kernel = draw.names.kernel()
    for _ in range(draw.steps(120, 260)):
        first, last = draw.near(take), draw.near(give)
        p.call("cudaMalloc", first)
        p.launch(kernel, draw.near(compute))
        p.sync()
        p.call("cudaFree", last)
        spent += first + last
    why = "device memory is allocated and freed around each kernel, and the device is idle meanwhile"
    return truth("gpu-allocation-in-loop", NSYS, nsys(folder, p), spent / (p.now - p.start), why)


@recipe("gpu-allocation-in-loop", SYSTEM)
def allocates_rocprof(draw: Draw, folder: Path) -> Truth:
    p, spent = Program(), 0.0
    take, give, compute = draw.real(400, 1200), draw.real(300, 700), draw.real(500, 900)
    kernel = draw.names.kernel()
    for _ in range(draw.steps(120, 260)):
        first, last = draw.near(take), draw.near(give)
        p.call("cudaMalloc", first)
        p.launch(kernel, draw.near(compute))
        p.sync()
        p.call("cudaFree", last)
        spent += first + last
    why = "device memory is allocated and freed around each kernel, and the device is idle meanwhile"
    return truth("gpu-allocation-in-loop", ROCPROF, rocm(folder, p, "db"), spent / (p.now - p.start), why)


@recipe("jit-compilation", SYSTEM)
def compiles(draw: Draw, folder: Path) -> Truth:
    p, spent = Program(), 0.0
    for _ in range(draw.steps(6, 12)):
        cost, kernel = draw.real(40_000, 90_000), draw.names.kernel()
        p.work(cost, "nvrtcCompileProgram")
        p.call("cuModuleLoadData", 3000)
        spent += cost + 3000
        for _ in range(draw.whole(15, 30)):
            p.launch(kernel, 400)
        p.sync()
    why = "kernels are compiled at run time again and again, longer than they run"
    return truth("jit-compilation", NSYS, nsys(folder, p), spent / (p.now - p.start), why,
                 acceptable=("gpu-idle-host-bound",))  # fmt: skip


# -- several devices ---------------------------------------------------------------------------------------------


@recipe("multi-gpu-imbalance", SYSTEM)
def uneven_devices(draw: Draw, folder: Path) -> Truth:
    p, idle = Program(), 0.0
    devices, busy = draw.width(2, 4), draw.real(1.8, 3.0)
    length, kernel, steps = draw.real(1500, 4000), draw.names.kernel(), draw.steps(60, 120)
    for _ in range(steps):
        for p.device in range(devices):
            p.launch(kernel, length * (busy if p.device == 0 else draw.near(1.0)))
        for p.device in range(devices):
            p.sync()
        idle += (devices - 1) * length * (busy - 1)
    why = "one device gets two to three times the work of the others, which wait for it in every step"
    return truth("multi-gpu-imbalance", NSYS, nsys(folder, p), idle / devices / (p.now - p.start), why,
                 acceptable=("gpu-idle-host-bound",))  # fmt: skip


REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"


@recipe("nccl-bound", SYSTEM)
def exposed_collectives_nsys(draw: Draw, folder: Path) -> Truth:
    compute, ratio, kernel = draw.real(3000, 6000), draw.real(0.5, 1.0), draw.names.kernel()
    programs = [Program(pid=200 + rank, rank=rank, device=rank) for rank in range(draw.width(2))]
    for _ in range(draw.steps(40, 80)):
        for p in programs:
            p.launch(kernel, draw.near(compute, 0.01))
            p.launch(REDUCE, compute * ratio)
            p.sync()
    why = "all ranks compute equally long and then spend half as long or longer in a reduction that nothing hides"
    return truth("nccl-bound", NSYS, nsys(folder, *programs), ratio / (1 + ratio), why)


@recipe("nccl-bound", SYSTEM)
def exposed_collectives_kineto(draw: Draw, folder: Path) -> Truth:
    p, ratio = Program(rank=0), draw.real(0.6, 1.2)
    kernels, length, kernel = draw.whole(15, 30), draw.real(300, 600), draw.names.kernel()
    for step in range(draw.steps(15, 25)):
        with p.range(f"ProfilerStep#{step}"):
            for _ in range(kernels):
                p.launch(kernel, draw.near(length))
            p.launch(REDUCE, kernels * length * ratio)
            p.sync()
    why = "a rank spends about as long in exposed reductions of gradients as in its own kernels"
    return truth("nccl-bound", KINETO, kineto(folder, p, world=8), ratio / (1 + ratio), why)


# -- nothing wrong -----------------------------------------------------------------------------------------------

BUSY = ("gpu-kernel-bound",)
FULL = "the device is busy with long kernels nearly all the time; only counters could say more"


@recipe("healthy", SYSTEM)
def full_device_nsys(draw: Draw, folder: Path) -> Truth:
    p = Program()
    kernels = [(draw.names.kernel(), draw.real(200, 3000)) for _ in range(draw.whole(2, 5))]
    p.copy("h2d", draw.whole(20, 200) * MB, 12, wait=True)
    for _ in range(draw.steps(250, 500)):
        for name, cost in kernels:
            p.launch(name, draw.near(cost))
    p.sync()
    p.copy("d2h", draw.whole(20, 200) * MB, 12, wait=True)
    return truth("healthy", NSYS, nsys(folder, p), 1.0, FULL, acceptable=BUSY)


@recipe("healthy", SYSTEM)
def full_device_rocprof(draw: Draw, folder: Path) -> Truth:
    p, kernel, cost = Program(), draw.names.kernel(), draw.real(500, 3000)
    for _ in range(draw.steps(300, 500)):
        p.launch(kernel, draw.near(cost))
    p.sync()
    return truth("healthy", ROCPROF, rocm(folder, p, draw.choice("csv", "db")), 1.0, FULL, acceptable=BUSY)


@recipe("healthy", SYSTEM)
def training(draw: Draw, folder: Path) -> Truth:
    p, kernel, cost = Program(), draw.names.kernel(), draw.real(250, 500)
    for step in range(draw.steps(15, 25)):
        with p.range(f"ProfilerStep#{step}"):
            p.work(draw.real(50, 300), "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")
            for _ in range(80):
                p.work(15)
                p.launch(kernel, draw.near(cost))
    p.sync()
    return truth("healthy", KINETO, kineto(folder, p), 1.0, FULL, acceptable=BUSY)


@recipe("healthy", SYSTEM)
def overlapped_copies(draw: Draw, folder: Path) -> Truth:
    p, kernel = Program(), draw.names.kernel()
    rate, size = draw.real(11, 20), draw.whole(16, 48) * MB
    compute = size / rate / 1e3 * draw.real(1.3, 2.0)
    for _ in range(draw.steps(80, 150)):
        p.copy("h2d", size, rate, stream=14)
        p.launch(kernel, compute)
        p.copy("d2h", size // 2, rate, stream=15)
    p.sync()
    why = "copies in both directions run in streams of their own beside kernels that take longer"
    return truth("healthy", NSYS, nsys(folder, p), 1.0, why, acceptable=BUSY)


# -- two faults --------------------------------------------------------------------------------------------------


@recipe("two-faults", SYSTEM)
def pageable_and_host(draw: Draw, folder: Path) -> Truth:
    p, copies, works = Program(), 0.0, 0.0
    size, rate, kernel, name = draw.whole(16, 48) * MB, draw.real(2.5, 4), draw.names.kernel(), draw.names.function()
    cost = size / rate / 1e3
    work = cost * draw.real(0.55, 0.8)
    for _ in range(draw.steps(40, 80)):
        p.work(work, name)
        p.copy("h2d", size, rate, wait=True, pageable=True)
        p.launch(kernel, cost * draw.real(0.4, 0.6))
        p.sync()
        copies, works = copies + cost, works + work
    whole = p.now - p.start
    why = f"copies from pageable memory at a quarter of the possible rate, and host work in {name} while the device is idle"
    return truth("gpu-pageable-copies", NSYS, nsys(folder, p), copies / whole, why,
                 acceptable=("gpu-h2d-copy-bound", "gpu-no-overlap"), functions=("cudaMemcpy",),
                 second=("gpu-idle-host-bound", works / whole, place(name)))  # fmt: skip


@recipe("two-faults", SYSTEM)
def allocation_and_result(draw: Draw, folder: Path) -> Truth:
    p, spent, copies = Program(), 0.0, 0.0
    size, rate, kernel = draw.whole(12, 32) * MB, draw.real(10, 14), draw.names.kernel()
    cost = size / rate / 1e3
    take = cost * draw.real(0.3, 0.5)
    for _ in range(draw.steps(60, 120)):
        p.call("cudaMalloc", take)
        p.launch(kernel, cost * draw.real(0.4, 0.7))
        p.copy("d2h", size, rate, wait=True)
        p.call("cudaFree", take / 2)
        spent, copies = spent + take * 1.5, copies + cost
    whole = p.now - p.start
    why = "device memory is allocated and freed in each step, and the whole result is copied back and waited for"
    return truth("gpu-d2h-copy-bound", NSYS, nsys(folder, p), copies / whole, why, acceptable=("gpu-no-overlap",),
                 second=("gpu-allocation-in-loop", spent / whole, place()))  # fmt: skip
