"""Times of our OpenCL kernels on pocl, beside what is predicted from source and launch.

python -m tests.bench.opencl measure OUT.csv     run the kernels (needs pyopencl and pocl)
python -m tests.bench.opencl follow OUT.jsonl    count the work, without a run
python -m tests.bench.opencl table               predict, leaving out one kernel at a time
"""

from __future__ import annotations

import csv
import dataclasses
import json
import sys
import time
from pathlib import Path

import numpy as np

from chathpc.predict import opencl
from tests.predict.opencl import launches

ROUNDS = 5
CACHES = ((32 << 10, 8), (512 << 10, 8), (16 << 20, 16))


def measure(out: Path, only: list[str]) -> None:
    """Time every launch: the least of several rounds over all launches, each the least of repetitions for about 0.1 s."""
    import pyopencl as cl

    device = next(d for p in cl.get_platforms() if "Portable" in p.name for d in p.get_devices())
    context = cl.Context([device])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    times: dict[str, list[float]] = {}
    cases = list(launches.cases())
    for _ in range(ROUNDS):
        for case in cases:
            if only and case.launch.kernel not in only:
                continue
            launch = case.launch
            program = cl.Program(context, launch.source.read_text()).build(launch.options)
            kernel = cl.Kernel(program, launch.kernel)
            arguments = []
            for a in launch.arguments:
                if isinstance(a, opencl.Local):
                    arguments.append(cl.LocalMemory(a.bytes))
                elif isinstance(a, np.ndarray):
                    arguments.append(cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=a))
                else:
                    arguments.append(a)
            kernel.set_args(*arguments)
            best, end = float("inf"), time.monotonic() + 0.15
            runs = 0
            while runs < 4 or time.monotonic() < end and runs < 300:
                event = cl.enqueue_nd_range_kernel(queue, kernel, launch.items, launch.local)
                event.wait()
                took = (event.profile.end - event.profile.start) * 1e-9
                if runs:
                    best = min(best, took)
                runs += 1
            times.setdefault(case.name, []).append(best)
            for a in arguments:
                if isinstance(a, cl.Buffer):
                    a.release()
    with out.open("w") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["launch", "kernel", "regime", "seconds", "spread"])
        for case in cases:
            if case.name in times:
                best = sorted(times[case.name])
                # The second best round says how far the best can be trusted.
                writer.writerow([case.name, case.launch.kernel, case.regime, f"{best[0]:.4g}", f"{best[1] / best[0] - 1:.3f}"])


def follow(out: Path, only: list[str]) -> None:
    """Count the work of every launch that is not in `out` yet."""
    known = {json.loads(line)["launch"] for line in out.read_text().splitlines()} if out.exists() else set()
    with out.open("a") as file:
        for case in launches.cases():
            if case.name in known or only and case.launch.kernel not in only:
                continue
            start = time.monotonic()
            try:
                work = opencl.work(case.launch, CACHES, "znver3")
            except Exception as error:
                print(case.name, "FAILED", error)
                continue
            row = {"launch": case.name, "kernel": case.launch.kernel, "regime": case.regime, "groups": case.launch.groups}
            file.write(json.dumps({**row, **dataclasses.asdict(work)}) + "\n")
            file.flush()
            print(f"{case.name:32} {time.monotonic() - start:5.1f} s", work)


if __name__ == "__main__":
    {"measure": measure, "follow": follow}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3:])
