"""Time of followed code of the host: cycles of the cores, plus what they wait for caches and memory.

    time = launch + share · (core + branches + caches) + memory + atomics, each a sum of counts times costs (`parts`)

`share` is the largest part of the work-groups that one thread gets. What a line or a cycle costs on a machine is measured there
(machine/host_speed.c); the factors on it, which say how much of that the core hides, were fitted to the launches in
tests/predict/opencl/times.csv (python -m tests.bench.opencl).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from chathpc.predict import host_code
from chathpc.predict.counts import Range
from chathpc.predict.host_code import Core, Work

REACH = 4 << 20  # bytes whose pages of 4 KiB are well within the second table of translations (2048 entries, Zen 3)
TRANSLATION = 7.0  # cycles until the second table answers (Zen 3, after Fog's microarchitecture manual)


@dataclass(frozen=True, slots=True)
class Host:
    """A machine: its core, nanoseconds of a cycle, threads, caches (bytes, ways; three levels), nanoseconds that a line costs
    beyond the first cache (second cache, third, memory; each after no order, a stride, a neighbour), nanoseconds of a walk to a page's
    translation and of writing a line back to memory, and how much longer a line of memory takes when all threads ask.
    """

    core: Core
    cycle: float
    threads: int
    caches: tuple[tuple[int, int], ...]
    lines: tuple[tuple[float, float, float], ...]
    walk: float
    write_back: float
    crowded: float


@dataclass(frozen=True, slots=True)
class Constants:
    """Factors on what is measured of the machine, and costs that are not measured: nanoseconds of a launch and of a work-group; cycles of a
    mispredicted branch, an atomic operation, a translation of an address by the second table, a line whose set is crowded, and a line that the
    other cores' caches have. Fitted to the kernels of tests/predict/opencl but the fresh ones, on two cores of an EPYC of the third generation.
    """

    core: float = 1.02
    launch: float = 269
    group: float = 26.9
    branch: float = 11
    waits: float = 1.08
    atomic: float = 13.4
    translation: float = 1.13
    walk: float = 1.31
    conflict: float = 3.42
    foreign: float = 7.23
    second: float = 0.953
    third: float = 0.956
    third_unordered: float = 1.02
    memory: float = 0.865
    memory_unordered: float = 1.1
    write_back: float = 1.04
    crowded: float = 0.898


FITTED = Constants()
SPREAD = (0.71, 1.47)  # of time over prediction, each kernel left out of the fit


def seconds(work: Work, host: Host, k: Constants, groups: int = 1) -> float:
    """Time of the work when its `groups` run on the threads of the host, as pocl hands them out; a program is one group."""
    return sum(parts(work, host, k, groups).values())


def parts(work: Work, host: Host, k: Constants, groups: int = 1) -> dict[str, float]:
    """What the time goes to, in seconds: launch, core, branches, caches, memory, atomics."""
    share = largest_share(groups, host.threads)
    factors = ((k.second, 1.0), (k.third, k.third_unordered), (k.memory, k.memory_unordered))
    second, third, memory = (
        factor
        * sum(n * cost * more for n, cost, more in zip(lines, costs, (unordered, sqrt(unordered), 1.0), strict=True))
        for lines, costs, (factor, unordered) in zip(work.lines[1:], host.lines, factors, strict=True)
    )
    # Which thread gets which work-groups differs from launch to launch: the caches of the others have its lines.
    theirs = min(work.footprint[0], host.threads * host.caches[1][0] / 64) * (1 - 1 / host.threads) * (groups > 1)
    crowded = k.conflict * work.conflicts + k.foreign * theirs + k.translation * work.pages[0]
    near = {
        "core": k.core * work.cycles * host.cycle + k.group * groups,
        "branches": (k.branch * work.mispredicted + k.waits * work.missed_waits) * host.cycle,
        "caches": crowded * host.cycle + k.walk * host.walk * work.pages[1] + second + third,
    }
    far = share if share == 1.0 else min(1.0, share * host.crowded * k.crowded)
    times = {
        "launch": k.launch,
        **{name: time * share for name, time in near.items()},
        "memory": far * (memory + k.write_back * host.write_back * work.written_back),
        # A line that several threads change goes to and fro between them: no gain from more threads.
        "atomics": k.atomic * host.cycle * work.atomics * (1.0 if work.contended else share),
    }
    return {name: time * 1e-9 for name, time in times.items()}


def predicted(work: Work, host: Host, groups: int = 1) -> Range:
    """Seconds, with the bounds that hold four of five times of kernels that the constants were not fitted to."""
    time = seconds(work, host, FITTED, groups)
    return Range(time, time * SPREAD[0], time * SPREAD[1])


def largest_share(groups: int, threads: int) -> float:
    """Largest part of the work-groups that a thread gets: pocl hands out half of what is left, at most 32 a thread (256 if there are very many),
    after get_wg_index_range in its pthread_scheduler.c.
    """
    left, got = groups, [0] * threads
    while left:
        limit = (32 if left <= 256 * threads * threads else 256) * threads
        chunk = min(limit, 1 + (left - 1) // threads, left)
        got[got.index(min(got))] += chunk
        left -= chunk
    return max(got) / groups


def measured(cpu: str, caches: Sequence[tuple[int, int]]) -> Host:
    """Measure this machine; takes about ten seconds."""
    options = ("-O2", "-mavx2", "-lpthread")
    program = host_code.compiled("host_speed.c", host_code.tool("clang", host_code.LLVM), *options)
    return host(host_code.run([program]), cpu, caches)


def host(told: str, cpu: str, caches: Sequence[tuple[int, int]]) -> Host:
    """The machine that machine/host_speed.c told of."""
    speeds: dict[tuple[str, int], dict[int, float]] = {}
    for line in told.splitlines():
        if line.startswith("#"):
            continue
        name, threads, measured_at, nanoseconds = line.split()
        speeds.setdefault((name, int(threads)), {})[int(measured_at)] = float(nanoseconds)
    cycle = speeds["cycle", 1][0]
    most = max(threads for _, threads in speeds)

    sizes = (min(speeds["read", 1]), caches[1][0] // 4, REACH, max(speeds["read", 1]))

    def cost(name: str, size: int) -> float:
        """What a line costs more than one of the first cache, with data of a size."""
        return max(0.05, speeds[name, 1][size] - speeds[name, 1][sizes[0]])

    def walk(name: str) -> float:
        """What a walk costs: data for which the tables are too small, and the last cache is not."""
        return max(0.0, cost(name, 4 * REACH) - cost(name, REACH))

    lines, waits = [], []
    for level, size in enumerate(sizes[1:]):
        walks = level == len(sizes) - 2
        neighbour = cost("read", size)
        none = max(neighbour, cost("scattered-read", size) - walks * walk("scattered-read"))
        lines.append((none, sqrt(none * neighbour), neighbour))
        waits.append((cost("chain", size) - walks * walk("chain")) / cycle)
    return Host(
        Core(cpu, speeds["divide", 1][0] / cycle, (waits[0], waits[1], waits[2], TRANSLATION, walk("chain") / cycle)),
        cycle,
        most,
        tuple(caches),
        tuple(lines),
        walk("scattered-read"),
        max(0.0, cost("write", sizes[3]) - cost("read", sizes[3])),
        max(1.0, speeds["read", most][sizes[3]] / speeds["read", 1][sizes[3]]),
    )
