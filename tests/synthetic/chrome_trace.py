"""A writer of Chrome traces as PyTorch's profiler writes them (Kineto), from the layout of the format.

Times are given in microseconds. `training()` is a program of two steps whose sums are in `TRAINING`.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROCESS, THREAD = 4711, 4711
STREAM, COPY_STREAM, COLLECTIVE_STREAM = 7, 13, 20


@dataclass
class Trace:
    """Events of one process with one GPU."""

    process: int = PROCESS
    device: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)
    header: dict[str, Any] = field(default_factory=dict)
    numbers: int = 0

    def number(self) -> int:
        """A number that was not used yet."""
        self.numbers += 1
        return self.numbers

    def complete(
        self, category: str, name: str, start: float, duration: float, *, thread: Any = THREAD, process: Any = None,
        **arguments: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """Add an event with a duration."""
        event = {
            "ph": "X", "cat": category, "name": name, "pid": self.process if process is None else process,
            "tid": thread, "ts": start, "dur": duration, "args": arguments,
        }  # fmt: skip
        self.events.append(event)
        return event

    def annotation(self, name: str, start: float, duration: float, *, thread: int = THREAD) -> None:
        """A range of the program's own."""
        self.complete("user_annotation", name, start, duration, thread=thread)

    def operator(self, name: str, start: float, duration: float, *, thread: int = THREAD) -> int:
        """An operator of PyTorch; its number."""
        number = self.number()
        self.complete("cpu_op", name, start, duration, thread=thread, **{"External id": number})
        return number

    def python(self, name: str, start: float, duration: float, parent: Any = None, *, thread: int = THREAD) -> int:
        """A frame of Python; its number."""
        number = self.number()
        self.complete(
            "python_function", name, start, duration, thread=thread,
            **{"Python id": number, "Python parent id": parent},
        )  # fmt: skip
        return number

    def call(self, name: str, start: float, duration: float, *, thread: int = THREAD, correlation: Any = None) -> int:
        """A call of the runtime; its correlation."""
        number = self.number() if correlation is None else correlation
        self.complete("cuda_runtime", name, start, duration, thread=thread, cbid=1, correlation=number)
        return int(number)

    def kernel(self, name: str, start: float, duration: float, *, stream: int = STREAM, **arguments: Any) -> None:
        """A kernel on the device."""
        shape = {"grid": [64, 2, 1], "block": [128, 1, 1], "registers per thread": 40, "shared memory": 1024}
        place = {"device": self.device, "context": 1, "stream": stream}
        self.complete(
            "kernel", name, start, duration, thread=stream, process=self.device, **(place | shape | arguments)
        )

    def copy(
        self, name: str, start: float, duration: float, size: int, *, stream: int = COPY_STREAM, **more: Any
    ) -> None:
        """A copy."""
        place = {"device": self.device, "context": 1, "stream": stream, "bytes": size}
        self.complete("gpu_memcpy", name, start, duration, thread=stream, process=self.device, **(place | more))

    def memset(self, start: float, duration: float, size: int, **more: Any) -> None:
        """A memory set."""
        place = {"device": self.device, "context": 1, "stream": STREAM, "bytes": size}
        self.complete(
            "gpu_memset", "Memset (Device)", start, duration, thread=STREAM, process=self.device, **(place | more)
        )

    def arrow(self, number: int, begin: tuple[Any, Any, float], end: tuple[Any, Any, float]) -> None:
        """An arrow from a call to what it launched."""
        for phase, (process, thread, moment) in (("s", begin), ("f", end)):
            self.events.append(
                {"ph": phase, "cat": "ac2g", "name": "ac2g", "id": number, "pid": process, "tid": thread, "ts": moment}
            )

    def named(self, what: str, name: str, *, process: Any = None, thread: Any = 0, key: str = "name") -> None:
        """A name of a process or thread."""
        process = self.process if process is None else process
        self.events.append({"ph": "M", "name": what, "pid": process, "tid": thread, "ts": 0, "args": {key: name}})

    def text(self) -> str:
        """The trace as Kineto writes it."""
        return json.dumps({"schemaVersion": 1, **self.header, "traceEvents": self.events, "traceName": "trace.json"})

    def write(self, path: Path) -> Path:
        """Write the trace, compressed if the name says so."""
        content = self.text().encode()
        path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
        return path


#: Sums of `training()` in microseconds, bytes and numbers, added up by hand from the calls below.
TRAINING = {
    "host": 2 * 100.0,  # two steps, nothing outside
    "kernel": 2 * (30.0 + 20.0 + 15.0),
    "collective": 2 * 15.0,
    "copy": 2 * 10.0,
    "copy.bytes": 2 * 4096,
    "memset": 2 * 2.0,
    "sync": 2 * 25.0,
    "kernels": 6,
    "window": 100.0 + 95.0 - 12.0,  # from the first copy to the end of the last kernel
}


def training(*, rank: int | None = None) -> Trace:
    """Two steps of a training: a copy from pageable memory, a product, its gradient on another thread, a reduction."""
    trace = Trace()
    trace.header["deviceProperties"] = [
        {"id": 0, "name": "Example GPU", "totalGlobalMem": 1 << 34, "computeMajor": 9, "computeMinor": 0, "numSms": 100}
    ]
    if rank is not None:
        trace.header["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 8}
    trace.named("process_name", "python3")
    trace.named("thread_name", "thread main", thread=THREAD)
    for step in range(2):
        t = 1000.0 + 100.0 * step
        trace.annotation(f"ProfilerStep#{step + 5}", t, 100.0)
        frame = trace.python("train.py(12): step", t + 1, 98.0)
        inner = trace.python("nn/linear.py(30): forward", t + 2, 40.0, frame)
        trace.python("<built-in method mm of Tensor object at 0x7f00aa>", t + 20, 20.0, inner)
        trace.operator("aten::to", t + 3, 12.0)
        number = trace.call("cudaMemcpyAsync", t + 5, 6.0)
        trace.copy("Memcpy HtoD (Pageable -> Device)", t + 12, 10.0, 4096, correlation=number)
        operator = trace.operator("aten::mm", t + 21, 15.0)
        number = trace.call("cudaLaunchKernel", t + 24, 5.0)
        trace.kernel("void gemm<float>(float*)", t + 30, 30.0, correlation=number, **{"External id": operator})
        number = trace.call("cudaMemsetAsync", t + 30, 1.0)
        trace.memset(t + 60, 2.0, 512, correlation=number)
        number = trace.call("cudaLaunchKernel", t + 45, 5.0)
        trace.kernel("gemm_backward", t + 62, 20.0, correlation=number)
        number = trace.call("cudaLaunchKernelExC", t + 52, 3.0)
        trace.kernel(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL", t + 80, 15.0, stream=COLLECTIVE_STREAM, correlation=number
        )
        trace.call("cudaDeviceSynchronize", t + 70, 25.0)
        trace.complete("gpu_user_annotation", f"ProfilerStep#{step + 5}", t + 12, 80.0, thread=STREAM, process=0)
        trace.complete("cuda_sync", "Context Sync", t + 70, 25.0, thread=-1, process=0, stream=-1, device=0)
    trace.complete("Trace", "PyTorch Profiler (0)", 900.0, 500.0, process="Spans", thread="PyTorch Profiler")
    trace.events.append(
        {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "ts": 1000, "pid": 1, "tid": 1}
    )
    return trace


def nested(depth: int, *, ends: bool = True) -> str:
    """A plain array of `depth` ranges that begin inside each other."""
    rows = [f'{{"ph":"B","pid":1,"tid":1,"name":"f{level % 7}","ts":{level}}}' for level in range(depth)]
    if ends:
        rows += [f'{{"ph":"E","pid":1,"tid":1,"ts":{depth + level}}}' for level in range(depth)]
    return "[" + ",\n".join(rows) + "]"
