"""Small programs for the tests of whatever reads HPCToolkit databases; their sums are worked out by hand in the tests."""

from __future__ import annotations

from tests.synthetic.hpctoolkit_v4 import (
    TIME,
    Database,
    Derived,
    Location,
    Metric,
    entry,
    function,
    inlined,
    instruction,
    line,
    loop,
    point,
)  # fmt: skip

PAGE_FAULTS = "perf::page-faults"


def small() -> Database:
    """Two threads; main calls work in a loop of loops; an inlined function; a worker without symbols; a recursion.

    Seconds at (thread 0, thread 1):
        main:3 (0.25, 0) · work loop 7: line 8 (2, 1), loop 9: line 10 (4, 3) · clamp inlined in line 10 (0.5, 0.5) ·
        fib 20 → fib 20 (1, 0) each (0.125, 0) outer · worker (0, 8) below an instruction · placeholder wait (0, 0.5)
    """

    def seconds(first: float, second: float = 0.0) -> dict[str, dict[int, float]]:
        return {TIME: {0: first, 1: second}}

    clamp = inlined("clamp", line("clamp.h", 4, point(0x1048, seconds(0.5, 0.5))), file="clamp.h", line=3)
    inner = loop("work.c", 9, line("work.c", 10, clamp, point(0x1050, seconds(4.0, 3.0))), offset=0x1040)
    outer = loop("work.c", 7, line("work.c", 8, point(0x1030, seconds(2.0, 1.0))), inner, offset=0x1020)
    work = function("work", outer, file="work.c", line=5, offset=0x1000)
    deep = function("fib", line("fib.c", 20, point(0x2010, seconds(1.0))), file="fib.c", line=18, offset=0x2000)
    call = line("fib.c", 20, deep, point(0x2010, {TIME: {0: 0.125}, PAGE_FAULTS: {0: 3}}))
    fib = function("fib", call, file="fib.c", line=18, offset=0x2000)
    wait = function("<omp barrier wait>", module=None, samples=seconds(0.0, 0.5))
    text = line("src/main.c", 3, work, fib, wait, point(0x3010, seconds(0.25)))
    main = function("main", text, file="src/main.c", line=1, offset=0x3000)
    nameless = instruction(
        "/usr/lib/libgomp.so.1", 0x1F780, function("worker", samples=seconds(0.0, 8.0), offset=0x4000)
    )
    roots = [entry(main), entry(nameless, kind=2)]
    return Database(
        roots,
        [Location(thread=0, core=0), Location(thread=1, core=1)],
        [Metric(TIME), Metric(PAGE_FAULTS), Metric("Bytes Allocated"), Metric("Bytes Freed", visible=False)],
        [Derived("Bytes Leaked", {"-": ["Bytes Allocated", "Bytes Freed"]}, "allocated and never freed", "%6.2f %%")],
        traces={
            0: [(1_000, main), (6_000, outer.children[0]), (11_000, None), (16_000, text)],
            1: [(2_000, nameless), (9_000, None)],
        },
        sources={"src/main.c": "int main(void)\n{\n  work(); fib(2);\n}\n"},
        title="small",
    )


def gpu() -> Database:
    """One MPI rank with a GPU stream: a kernel below its placeholder, values without structure, a trace of the stream."""
    metrics = ["GKER (sec)", "GXCOPY (sec)", "GINS", "GINS:STL_ANY", "GKER:COUNT", "GPUOP (sec)"]
    kernel = function(
        "saxpy(int, float, float*)",
        line("saxpy.cu", 12, point(0x100, {"GINS": {0: 4096.0}, "GINS:STL_ANY": {0: 2048.0}}, module="saxpy.gpubin")),
        file="saxpy.cu", line=10, module="saxpy.gpubin",
        samples={"GKER (sec)": {0: 0.5}, "GPUOP (sec)": {0: 0.5}, "GKER:COUNT": {0: 10.0}},
    )  # fmt: skip
    placeholder = function("<gpu kernel>", kernel, module=None)
    copy = function("<gpu copy>", module=None, samples={"GXCOPY (sec)": {0: 2.0}, "GPUOP (sec)": {0: 2.0}})
    launch = line("main.cu", 30, function("cudaLaunchKernel [libcudart.so]", placeholder), function("cudaMemcpy", copy))
    return Database(
        [entry(function("main", launch, file="main.cu", line=20))],
        [Location(thread=0, rank=0), Location(thread=None, rank=0, gpu_context=1, gpu_stream=7)],
        [Metric(name) for name in metrics],
        traces={1: [(100, kernel), (200, None), (300, kernel), (400, None)]},
        title="saxpy",
    )
