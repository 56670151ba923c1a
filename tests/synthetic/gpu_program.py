"""A program with a GPU, run step by step on a simple machine, and written down as different profilers would.

The host has a clock; a launch costs it time; an operation begins when it was launched and its stream is free. So the gaps of the
device follow from what the host does, as they do in a real run. Times are in microseconds here and in nanoseconds inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.synthetic import nsight_systems as nsys
from tests.synthetic import rocprof
from tests.synthetic.chrome_trace import Trace

MICRO = 1000
LAUNCH, LATENCY = 5.0, 2.0  #: what a launch costs the host, and how long it takes to reach the device
_KINDS = {"h2d": nsys.H2D, "d2h": nsys.D2H, "d2d": nsys.D2D, "p2p": nsys.PEER, "uvm": nsys.UNIFIED_H2D}


@dataclass
class Event:
    """A call, range or operation; `what` is call, range, mpi, os, kernel, graph or a direction of copies."""

    what: str
    name: str
    start: int
    end: int
    correlation: int | None = None
    device: int = 0
    stream: int = 7
    thread: int = 0
    pid: int = 7
    size: int = 0
    pageable: bool = False
    grid: int = 4096
    node: int | None = None
    table: str = ""


@dataclass
class Program:
    """One process. All methods take microseconds."""

    pid: int = 7
    rank: int | None = None
    start: float = 1000.0
    launch_cost: float = LAUNCH
    events: list[Event] = field(default_factory=list)
    free: dict[tuple[int, int], float] = field(default_factory=dict)
    device: int = 0
    thread: int = 0
    multiprocessors: bool = True
    hidden: frozenset[str] = frozenset()  #: kinds of events that the profiler did not record
    numbers: int = 0

    def __post_init__(self) -> None:
        self.now = self.start

    # -- host ------------------------------------------------------------------------------------------------

    def call(self, name: str, cost: float = 2.0) -> int:
        """A call of the runtime that takes a while; its correlation."""
        self.numbers += 1
        self._put("call", name, self.now, self.now + cost, correlation=self.numbers)
        self.now += cost
        return self.numbers

    def work(self, cost: float, name: str | None = None) -> None:
        """Work of the host, in a range if it has a name."""
        if name is not None:
            self._put("range", name, self.now, self.now + cost)
        self.now += cost

    @contextmanager
    def range(self, name: str) -> Iterator[None]:
        """A range around what is done inside."""
        begin = self.now
        yield
        self._put("range", name, begin, self.now)

    def mpi(self, name: str, cost: float) -> None:
        """A call of MPI."""
        table = "MPI_P2P_EVENTS" if "end" in name or "ecv" in name else "MPI_COLLECTIVES_EVENTS"
        self._put("mpi", name, self.now, self.now + cost, table=table)
        self.now += cost

    def system(self, name: str, cost: float) -> None:
        """A call of the operating system."""
        self._put("os", name, self.now, self.now + cost)
        self.now += cost

    # -- device ----------------------------------------------------------------------------------------------

    def launch(
        self, name: str, cost: float, *, stream: int = 7, grid: int = 4096, call: str = "cudaLaunchKernel"
    ) -> float:
        """A kernel; when it ends."""
        number = self.call(call, self.launch_cost)
        return self.run("kernel", name, cost, number, stream=stream, grid=grid)

    def run(self, what: str, name: str, cost: float, number: int | None = None, **more: object) -> float:
        """An operation that is launched now; when it ends."""
        stream = int(str(more.get("stream", 7)))
        begin = max(self.now + LATENCY, self.free.get((self.device, stream), 0.0))
        self._put(what, name, begin, begin + cost, correlation=number, **more)
        self.free[self.device, stream] = begin + cost
        return begin + cost

    def copy(
        self, what: str, size: int, rate: float, *, wait: bool = False, stream: int = 7, pageable: bool = False, call: str = ""
    ) -> float:  # fmt: skip
        """A copy of `size` bytes at `rate` GB/s; `wait`: the call returns when it is done. When it ends."""
        cost = size / rate / 1e3
        name = call or ("cudaMemcpy" if wait else "cudaMemcpyAsync")
        if not wait:
            return self.run(what, what, cost, self.call(name, 4.0), stream=stream, size=size, pageable=pageable)
        self.numbers += 1
        begin, number = self.now, self.numbers
        end = self.run(what, what, cost, number, stream=stream, size=size, pageable=pageable)
        self._put("call", name, begin, end + 3, correlation=number)
        self.now = end + 3
        return end

    def graph(self, kernels: list[tuple[str, float]], *, whole: bool = False) -> None:
        """A CUDA graph of kernels, traced as a whole or kernel by kernel; kernels in it are 1 µs apart."""
        number = self.call("cudaGraphLaunch", 8.0)
        if whole:
            self.run("graph", "graph", sum(cost + 1 for _, cost in kernels), number)
            return
        for place, (name, cost) in enumerate(kernels):
            self.run("kernel", name, cost, number, node=place + 1)
            self.free[self.device, 7] += 1

    def sync(self, name: str = "cudaDeviceSynchronize", stream: int | None = None) -> None:
        """Wait until the device (or a stream of it) has done all."""
        busy = [end for (device, each), end in self.free.items() if device == self.device and stream in (None, each)]
        cost = max(max(busy, default=0.0) + 3 - self.now, 2.0)
        self.call(name, cost)

    def _put(self, what: str, name: str, start: float, end: float, **more: object) -> None:
        if what not in self.hidden:
            whole = {"device": self.device, "pid": self.pid, "thread": self.thread, **more}
            self.events.append(Event(what, name, round(start * MICRO), round(end * MICRO), **whole))  # type: ignore[arg-type]

    def shift(self, microseconds: float) -> None:
        """Move everything in time."""
        for event in self.events:
            event.start += round(microseconds * MICRO)
            event.end += round(microseconds * MICRO)


# -- as profilers write it -------------------------------------------------------------------------------------


def write_nsys(path: Path, *programs: Program, age: int = 2026, epoch: int | None = None, uuid: str = "") -> Path:
    """An SQLite export of Nsight Systems; `epoch` is when its session began, in nanoseconds."""
    export = nsys.Export(age)
    numbers: dict[tuple[int, int], int] = {}
    for device in sorted({event.device for program in programs for event in program.events}):
        if all(program.multiprocessors for program in programs):
            export.gpu(device, "Synthetic GPU", uuid=f"{uuid}{device}")
    if epoch is not None:
        export.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=epoch, utcTime="", localTime="")
    for program in programs:
        export.process(program.pid, "/opt/app/solver")
        if program.rank is not None:
            export.add("MPI_RANKS", globalTid=nsys.tid(program.pid), rank=program.rank)
        for event in program.events:
            pid, thread = event.pid, event.pid + event.thread
            key = (pid, event.correlation or 0)
            if event.what == "call":
                numbers[key] = export.call(event.start, event.end, event.name, pid=pid, thread=thread)
    for program in programs:
        for event in program.events:
            _nsys_event(export, event, numbers.get((event.pid, event.correlation or 0)))
    return export.write(path)


def _nsys_event(export: nsys.Export, event: Event, number: int | None) -> None:
    start, end, pid, thread = event.start, event.end, event.pid, event.pid + event.thread
    place = {"pid": pid, "device": event.device, "stream": event.stream}
    if event.what == "range":
        export.range(start, end, event.name, pid=pid, thread=thread)
    elif event.what == "mpi":
        export.add(event.table, start=start, end=end, globalTid=nsys.tid(pid, thread), textId=export.string(event.name))
    elif event.what == "os":
        export.os_call(start, end, event.name, pid=pid, thread=thread)
    elif event.what == "kernel":
        export.kernel(
            start, end, event.name, number, grid=(event.grid, 1, 1), block=(256, 1, 1), node=event.node, **place
        )
    elif event.what == "memset":
        export.memset(start, end, number, pid=pid, device=event.device)
    elif event.what == "graph":
        export.graph(start, end, number, pid=pid)
    elif event.what in _KINDS:
        host = nsys.PAGEABLE if event.pageable else nsys.PINNED
        ends = {"h2d": (host, nsys.ON_DEVICE), "d2h": (nsys.ON_DEVICE, host)}
        memory = ends.get(event.what, (nsys.ON_DEVICE, nsys.ON_DEVICE))
        devices = (event.device, 1 - event.device) if event.what == "p2p" else (None, None)
        export.copy(start, end, _KINDS[event.what], event.size, number, memory=memory, devices=devices, **place)


_COPIES = {"h2d": ("HtoD", "Pinned -> Device"), "d2h": ("DtoH", "Device -> Pinned"), "d2d": ("DtoD", "Device -> Device"),
           "p2p": ("PtoP", "Device -> Device")}  # fmt: skip


def write_kineto(path: Path, *programs: Program, world: int | None = None) -> Path:
    """A trace of the PyTorch profiler; names of ranges with `::` are operators."""
    trace = Trace()
    trace.header["deviceProperties"] = [
        {
            "id": 0,
            "name": "Synthetic GPU",
            "totalGlobalMem": 1 << 34,
            "computeMajor": 9,
            "computeMinor": 0,
            "numSms": 108,
        }
    ]
    if world is not None:
        rank = programs[0].rank or 0
        trace.header["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": world}
    for program in programs:
        for event in program.events:
            start, cost, thread = event.start / MICRO, (event.end - event.start) / MICRO, event.pid + event.thread
            trace.process, trace.device = event.pid, event.device
            number = None if event.correlation is None else event.pid * 1_000_000 + event.correlation
            if event.what == "call":
                trace.call(event.name, start, cost, thread=thread, correlation=number)
            elif event.what == "range" and "::" in event.name:
                trace.operator(event.name, start, cost, thread=thread)
            elif event.what in ("range", "mpi"):
                trace.annotation(event.name, start, cost, thread=thread)
            elif event.what == "kernel":
                trace.kernel(event.name, start, cost, stream=event.stream, correlation=number, grid=[event.grid, 1, 1])
            elif event.what in _COPIES:
                direction, memory = _COPIES[event.what]
                memory = memory.replace("Pinned", "Pageable") if event.pageable else memory
                trace.copy(
                    f"Memcpy {direction} ({memory})", start, cost, event.size, stream=event.stream, correlation=number
                )
    return trace.write(path)


def for_rocprof(program: Program) -> tuple[list[rocprof.Call], list[rocprof.Work]]:
    """The calls and the work of a program as the writers of rocprof want them; names are those of HIP."""
    names = {"h2d": "MEMORY_COPY_HOST_TO_DEVICE", "d2h": "MEMORY_COPY_DEVICE_TO_HOST"}
    calls, works = [], []
    for event in program.events:
        start, end = event.start + rocprof.START, event.end + rocprof.START
        number = event.correlation or 0
        if event.what in ("call", "range"):
            name = event.name.replace("cuda", "hip", 1)
            calls.append(rocprof.Call(name, start, end, number, marker=event.what == "range"))
        elif event.what == "kernel":
            works.append(rocprof.Work(event.name, start, end, number, event.stream, blocks=event.grid))
        elif event.what in names:
            works.append(rocprof.Work(names[event.what], start, end, number, event.stream, event.what, event.size))
    return calls, works
