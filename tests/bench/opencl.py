"""Times of our OpenCL kernels on pocl, beside what is predicted from source, launch and machine.

python -m tests.bench.opencl measure RAW.csv     append a round of times (needs pyopencl and pocl)
python -m tests.bench.opencl follow              count the work of launches that tests/predict/opencl/work.jsonl has not
python -m tests.bench.opencl times RAW.csv       the least time of each launch over all rounds, to times.csv
python -m tests.bench.opencl table               error for seen and unseen kernels, and the constants; table v: each launch
python -m tests.bench.opencl loops               the same for programs in C
"""

from __future__ import annotations

import contextlib
import csv
import ctypes
import dataclasses
import importlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chathpc.errors import ChathpcError
from chathpc.predict import host_code, host_time, opencl
from chathpc.predict.host_code import Work
from chathpc.predict.host_time import Constants, Host
from tests.predict.opencl import launches

DATA = Path(launches.__file__).parent
TIMES, WORK, MACHINE = DATA / "times.csv", DATA / "work.jsonl", DATA / "machine.txt"
CACHES = (
    (32 << 10, 8),
    (512 << 10, 8),
    (20 << 20, 20),
)  # of the last, 32 MB, what others leave (the knee of machine.txt)
CPU = "znver3"
NAMES = tuple(f.name for f in dataclasses.fields(Constants))
# How far a constant may go from what is measured or documented, as a standard deviation of its logarithm: a factor of e^0.5 is no surprise.
PRIOR = 0.5
# What is measured or documented, where the fit begins.
START = Constants(
    core=1.0, launch=200.0, group=20.0, branch=16.0, waits=1.0, atomic=18.0, translation=1.0, walk=1.0, conflict=6.0, foreign=12.0,
    second=1.0, third=1.0, third_unordered=1.0, memory=1.0, memory_unordered=1.0, write_back=1.0, crowded=1.0,
)  # fmt: skip
# Standard deviation of the logarithm of time over prediction that the fit reckons with, beyond which launches weigh less.
RESIDUAL = 0.25


@dataclass(frozen=True, slots=True)
class Sample:
    """A launch with its work and its measured time in seconds."""

    name: str
    kernel: str
    regime: str
    groups: int
    work: Work
    seconds: float


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """All threads of this process before those of others, for as long as it lasts, where we may."""
    threads = [int(name) for name in os.listdir("/proc/self/task")]
    try:
        for thread in threads:
            os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        sys.stderr.write("Others may disturb the times: no permission for real-time scheduling.\n")
    try:
        yield
    finally:
        for thread in threads:
            os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))


def measure(out: Path, only: Sequence[str]) -> None:
    """Append a round to `out`: of every launch the least time of repetitions for about 0.2 s, and how many there were."""
    cl = importlib.import_module("pyopencl")
    device = next(d for p in cl.get_platforms() if "Portable" in p.name for d in p.get_devices())
    context = cl.Context([device])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    new = not out.exists()
    with out.open("a") as file:
        if new:
            file.write("launch,kernel,regime,seconds,runs\n")
        for case in launches.cases():
            launch = case.launch
            if only and launch.kernel not in only:
                continue
            program = cl.Program(context, launch.source.read_text()).build(launch.options)
            kernel = cl.Kernel(program, launch.kernel)
            arguments: list[object] = []
            for a in launch.arguments:
                if isinstance(a, opencl.Local):
                    arguments.append(cl.LocalMemory(a.bytes))
                elif isinstance(a, np.ndarray):
                    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
                    arguments.append(cl.Buffer(context, flags, hostbuf=a))
                else:
                    arguments.append(a)
            kernel.set_args(*arguments)
            cl.enqueue_nd_range_kernel(queue, kernel, launch.items, launch.local).wait()  # compiled by the first launch
            times: list[float] = []
            with _undisturbed():
                end = time.monotonic() + 0.08
                while len(times) < 4 or (time.monotonic() < end and len(times) < 1000):
                    event = cl.enqueue_nd_range_kernel(queue, kernel, launch.items, launch.local)
                    event.wait()
                    times.append((event.profile.end - event.profile.start) * 1e-9)
            file.write(f"{case.name},{launch.kernel},{case.regime},{min(times[1:]):.4g},{len(times)}\n")
            file.flush()
            for made in arguments:
                if isinstance(made, cl.Buffer):
                    made.release()


def least(raw: Path) -> None:
    """Write the least time of each launch, and how much longer the second least round took: how far the least can be trusted."""
    rounds: dict[str, list[float]] = defaultdict(list)
    about: dict[str, tuple[str, str]] = {}
    with raw.open() as file:
        for row in csv.DictReader(file):
            rounds[row["launch"]].append(float(row["seconds"]))
            about[row["launch"]] = (row["kernel"], row["regime"])
    with TIMES.open("w") as file:
        file.write("launch,kernel,regime,seconds,rounds,second_over_least\n")
        for name in (case.name for case in launches.cases()):
            best = sorted(rounds[name])
            ratio = best[1] / best[0] if len(best) > 1 else float("nan")
            file.write(f"{name},{','.join(about[name])},{best[0]:.4g},{len(best)},{ratio:.3f}\n")


def follow(only: Sequence[str]) -> None:
    """Count the work of every launch that is not known yet."""
    known = {json.loads(line)["launch"] for line in WORK.read_text().splitlines()} if WORK.exists() else set()
    core = host_time.host(MACHINE.read_text(), CPU, CACHES).core
    with WORK.open("a") as file:
        for case in launches.cases():
            if case.name in known or (only and case.launch.kernel not in only):
                continue
            start = time.monotonic()
            try:
                work = opencl.work(case.launch, CACHES, core)
            except ChathpcError as error:
                sys.stderr.write(f"{case.name}: {error}\n")
                continue
            row = {"launch": case.name, "groups": case.launch.groups, **dataclasses.asdict(work)}
            file.write(json.dumps(row, default=float) + "\n")
            file.flush()
            print(f"{case.name:40} {time.monotonic() - start:5.1f} s  {work.instructions:.3g} instructions")


def samples() -> list[Sample]:
    """All launches that were measured and followed."""
    with TIMES.open() as file:
        measured = {row["launch"]: row for row in csv.DictReader(file)}
    found = []
    for line in WORK.read_text().splitlines():
        row = json.loads(line)
        name, groups = row.pop("launch"), row.pop("groups")
        row = {
            k: tuple(tuple(x) if isinstance(x, list) else x for x in v) if isinstance(v, list) else v
            for k, v in row.items()
        }
        if time_row := measured.get(name):
            seconds = float(time_row["seconds"])
            found.append(Sample(name, time_row["kernel"], time_row["regime"], groups, Work(**row), seconds))
    return found


def predict(sample: Sample, host: Host, k: Constants) -> float:
    """Predicted seconds."""
    return host_time.seconds(sample.work, host, k, sample.groups)


def fit(known: Sequence[Sample], host: Host) -> Constants:
    """Constants that fit the logarithms of the times of `known` best (pseudo-Huber loss), held near the defaults; Levenberg and Marquardt."""
    start = np.log([getattr(START, name) for name in NAMES])
    truth = np.log([s.seconds for s in known])
    # Kernels weigh alike, whatever their number of launches.
    per: dict[str, int] = defaultdict(int)
    for s in known:
        per[s.kernel] += 1
    weight = np.sqrt([6.0 / per[s.kernel] for s in known])

    def residuals(p: NDArray[np.float64]) -> NDArray[np.float64]:
        k = Constants(*np.exp(p))
        off = (np.log([predict(s, host, k) for s in known]) - truth) / RESIDUAL
        robust = np.sign(off) * np.sqrt(2 * (np.sqrt(1 + off * off) - 1))
        return np.concatenate([weight * robust, (p - start) / PRIOR])

    return Constants(*np.exp(least_squares(residuals, start)))


def least_squares(
    f: Callable[[NDArray[np.float64]], NDArray[np.float64]], p: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The point near `p` where the sum of squares of `f` is least (Levenberg and Marquardt)."""
    damping, r = 1e-2, f(p)
    for _ in range(40):
        slope = np.stack([(f(p + 1e-4 * e) - r) / 1e-4 for e in np.eye(len(p))], 1)
        step = np.linalg.solve(slope.T @ slope + damping * np.eye(len(p)), -slope.T @ r)
        tried = f(p + step)
        if tried @ tried < r @ r:
            p, r, damping = p + step, tried, damping / 3
        else:
            damping *= 4
        if np.abs(step).max() < 1e-4:
            break
    return p


def ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank of each value."""
    return np.argsort(np.argsort(values)).astype(float)


def figures(predicted: NDArray[np.float64], truth: NDArray[np.float64]) -> str:
    """MAPE, median error, rank correlation, share within a factor of two."""
    error = np.abs(predicted / truth - 1)
    spearman = np.corrcoef(ranks(predicted), ranks(truth))[0, 1] if len(truth) > 2 else float("nan")
    twice = np.mean(np.abs(np.log(predicted / truth)) < np.log(2))
    return f"MAPE {error.mean():6.1%}  median {np.median(error):6.1%}  Spearman {spearman:.3f}  within 2x {twice:4.0%}  n {len(truth)}"


def spread(which: Sequence[Sample], predicted: Mapping[str, float]) -> tuple[float, float]:
    """Factors on a prediction that hold four of five of these times."""
    low, high = np.quantile([s.seconds / predicted[s.name] for s in which], [0.1, 0.9])
    return float(low), float(high)


def _holds(sample: Sample, predicted: float, factors: tuple[float, float]) -> bool:
    return factors[0] * predicted <= sample.seconds <= factors[1] * predicted


def table(detail: bool = False) -> None:
    """Print the errors: of kernels that were fitted (seen), of each left out of the fit, and of the fresh ones."""
    host = host_time.host(MACHINE.read_text(), CPU, CACHES)
    every = samples()
    known = [s for s in every if s.kernel not in launches.FRESH]
    fresh = [s for s in every if s.kernel in launches.FRESH]
    fitted = fit(known, host)
    left_out: dict[str, float] = {}
    for kernel in sorted({s.kernel for s in known}):
        others = fit([s for s in known if s.kernel != kernel], host)
        left_out |= {s.name: predict(s, host, others) for s in known if s.kernel == kernel}
    unseen = {**left_out, **{s.name: predict(s, host, fitted) for s in fresh}}

    def line(name: str, which: Sequence[Sample], times: Callable[[Sample], float]) -> None:
        if which:
            print(f"{name:44} {figures(_array(times(s) for s in which), _array(s.seconds for s in which))}")

    if detail:
        for s in every:
            plain, now = predict(s, host, START) / s.seconds, unseen[s.name] / s.seconds
            print(
                f"{s.name:42} {s.seconds * 1e6:10.1f} us  nothing fitted x {plain:5.2f}  unseen x {now:5.2f}  followed {s.work.followed:4.0%}"
            )
    line("nothing fitted", every, lambda s: predict(s, host, START))
    line("seen kernels", known, lambda s: predict(s, host, fitted))
    line("unseen kernels, each left out", known, lambda s: unseen[s.name])
    for regime in ("few", "about", "many"):
        line(f"  {regime} work-groups", [s for s in known if s.regime == regime], lambda s: unseen[s.name])
    line("unseen kernels, fresh", fresh, lambda s: unseen[s.name])
    low, high = spread(known, left_out)
    held = sum(_holds(s, left_out[s.name], spread([o for o in known if o.kernel != s.kernel], left_out)) for s in known)
    print(f"80 % interval: x {low:.2f} to x {high:.2f}; holds {held / len(known):.0%} of those left out", end="")
    print(f", {np.mean([_holds(s, unseen[s.name], (low, high)) for s in fresh]):.0%} of the fresh" if fresh else "")
    for kernel in sorted({s.kernel for s in every}, key=lambda k: (k in launches.FRESH, k)):
        ratio = _array(unseen[s.name] / s.seconds for s in every if s.kernel == kernel)
        note = "fresh" if kernel in launches.FRESH else ""
        print(f"  {kernel:18} {np.mean(np.abs(ratio - 1)):6.1%}  bias x {np.exp(np.mean(np.log(ratio))):.2f}  {note}")
    print("fitted:", ", ".join(f"{name}={value:.3g}" for name, value in dataclasses.asdict(fitted).items()))


def program(
    sources: Sequence[Path],
    arguments: Sequence[str],
    caches: Sequence[tuple[int, int]],
    core: host_code.Core,
) -> host_code.Work:
    """Follow a whole program in C, from `main`, with its command line. What its libraries do is not followed."""
    compiler = host_code.tool("clang", host_code.LLVM[::-1])
    with tempfile.TemporaryDirectory() as name:
        folder, texts = Path(name), []
        for k, source in enumerate(sources):
            host_code.run([compiler, "-O2", "-S", "-fPIC", "-o", str(folder / "part.s"), str(source)])
            texts.append(re.sub(r"\.L(?=\w)", f".L{k}_", (folder / "part.s").read_text()))
        code = host_code.traced("\n".join(texts))
        library = host_code.build(code, folder, compiler)

        def follow() -> host_code.Seen:
            follower = host_code.Follower(library, code, caches)
            values = [str(sources[0]).encode(), *(a.encode() for a in arguments)]
            with open(os.devnull, "w") as nowhere:
                os.dup2(nowhere.fileno(), 1)
            follower.library.main(len(values), (ctypes.c_char_p * (len(values) + 1))(*values, None))
            return follower.seen()

        seen = host_code.apart(follow, 600)
    return host_code.Work(
        instructions=host_code.count(code, seen, ""), cycles=host_code.core_cycles(code, seen, core), mispredicted=seen.mispredicted,
        missed_waits=host_code.missed_waits(code, seen, core), atomics=host_code.count(code, seen, "lock"),
        calls=host_code.count(code, seen, "call"), lines=seen.lines, conflicts=seen.conflicts, written_back=seen.written_back,
        pages=seen.pages, footprint=(0.0, 0.0), followed=1.0, operations=host_code.operations(code, seen),
    )  # fmt: skip


def loops() -> None:
    """Times of the programs in tests/predict/loops, beside what is predicted; the constants were not fitted to them."""
    host = host_time.host(MACHINE.read_text(), CPU, CACHES)
    truth, predicted = [], []
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted((DATA.parent / "loops").glob("*.c")):
            built = f"{folder}/{source.stem}"
            host_code.run([host_code.tool("clang", host_code.LLVM[::-1]), "-O2", "-o", built, str(source), "-lm"])
            taken = []
            for _ in range(9):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run([built], check=False)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                taken.append(after.ru_utime - before.ru_utime)
            work = program([source], [], CACHES, host.core)
            truth.append(min(taken))
            predicted.append(host_time.seconds(work, host, host_time.FITTED))
            ratio = predicted[-1] / truth[-1]
            print(f"{source.stem:12} {truth[-1] * 1e3:7.1f} ms  predicted {predicted[-1] * 1e3:7.1f} ms  x {ratio:.2f}")
    print(figures(np.array(predicted), np.array(truth)))


def _array(values: Iterable[float]) -> NDArray[np.float64]:
    return np.array(list(values))


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    match command:
        case "measure":
            measure(Path(rest[0]), rest[1:])
        case "follow":
            follow(rest)
        case "times":
            least(Path(rest[0]))
        case "loops":
            loops()
        case _:
            table(bool(rest))
