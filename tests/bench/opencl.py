"""Times of our OpenCL kernels on pocl, beside what is predicted from source, launch and machine.

python -m tests.bench.opencl measure RAW.csv     append a round of times (needs pyopencl and pocl)
python -m tests.bench.opencl follow              count the work of launches that tests/predict/opencl/work.jsonl has not
python -m tests.bench.opencl times RAW.csv       the least time of each launch over all rounds, to times.csv
python -m tests.bench.opencl table               error for seen and unseen kernels, and the constants
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chathpc.errors import ChathpcError
from chathpc.predict import host_time, opencl
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
    import pyopencl as cl

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
            for a in arguments:
                if isinstance(a, cl.Buffer):
                    a.release()


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
    start = np.log([getattr(Constants(), name) for name in NAMES])
    truth = np.log([s.seconds for s in known])
    # Kernels weigh alike, whatever their number of launches.
    per = defaultdict(int)
    for s in known:
        per[s.kernel] += 1
    weight = np.sqrt([6.0 / per[s.kernel] for s in known])

    def residuals(p: NDArray[np.float64]) -> NDArray[np.float64]:
        k = Constants(*np.exp(p))
        off = (np.log([predict(s, host, k) for s in known]) - truth) / RESIDUAL
        robust = np.sign(off) * np.sqrt(2 * (np.sqrt(1 + off * off) - 1))
        return np.concatenate([weight * robust, (p - start) / PRIOR])

    return Constants(*np.exp(_least_squares(residuals, start)))


def _least_squares(
    f: Callable[[NDArray[np.float64]], NDArray[np.float64]], p: NDArray[np.float64]
) -> NDArray[np.float64]:
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


def spread(predicted: NDArray[np.float64], truth: NDArray[np.float64]) -> tuple[float, float]:
    """Factors on a prediction that hold four of five of these times."""
    low, high = np.quantile(truth / predicted, [0.1, 0.9])
    return float(low), float(high)


def table(detail: bool = False) -> None:
    """Print the errors."""
    host = host_time.host(MACHINE.read_text(), CPU, CACHES)
    every = samples()
    truth = np.array([s.seconds for s in every])
    kernels = sorted({s.kernel for s in every})
    of = np.array([kernels.index(s.kernel) for s in every])
    development = np.array([s.kernel not in launches.HELD_OUT for s in every])
    seen_constants = fit([s for s, d in zip(every, development, strict=True) if d], host)
    plain = np.array([predict(s, host, Constants()) for s in every])
    seen = np.array([predict(s, host, seen_constants) for s in every])
    unseen = np.zeros(len(every))
    for k in range(len(kernels)):
        constants = fit([s for s, o in zip(every, of, strict=True) if o != k], host)
        for i in np.flatnonzero(of == k):
            unseen[i] = predict(every[i], host, constants)
    held = 0
    for k in range(len(kernels)):
        low, high = spread(unseen[of != k], truth[of != k])
        held += int(np.sum((unseen * low <= truth) & (truth <= unseen * high) & (of == k)))
    if detail:
        for i, s in enumerate(every):
            ratios = f"plain {plain[i] / s.seconds:5.2f}  unseen {unseen[i] / s.seconds:5.2f}"
            print(f"{s.name:42} {s.seconds * 1e6:10.1f} us  {ratios}  followed {s.work.followed:.2f}")
    rows = [
        ("nothing fitted, all kernels", plain, development | True),
        ("seen: fitted to development, development", seen, development),
        ("unseen: fitted to development, held out", seen, ~development),
        ("unseen: each kernel left out, all", unseen, development | True),
    ]
    for name, predicted, which in rows:
        if which.any():
            print(f"{name:44} {figures(predicted[which], truth[which])}")
    for regime in ("few", "about", "many"):
        which = np.array([s.regime == regime for s in every])
        print(f"{'  left out, ' + regime + ' work-groups':44} {figures(unseen[which], truth[which])}")
    low, high = spread(unseen, truth)
    print(f"80 % interval: x {low:.2f} to x {high:.2f}; of left-out kernels holds {held / len(every):.0%}")
    for k, kernel in enumerate(kernels):
        bias = np.exp(np.mean(np.log(unseen[of == k] / truth[of == k])))
        held_out = "held out" if kernel in launches.HELD_OUT else ""
        print(
            f"  {kernel:18} {np.mean(np.abs(unseen[of == k] / truth[of == k] - 1)):6.1%}  bias x {bias:.2f}  {held_out}"
        )
    print("constants:", {name: round(value, 3) for name, value in host_time.named(fit(every, host)).items()})


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    match command:
        case "measure":
            measure(Path(rest[0]), rest[1:])
        case "follow":
            follow(rest)
        case "times":
            least(Path(rest[0]))
        case _:
            table(bool(rest))
