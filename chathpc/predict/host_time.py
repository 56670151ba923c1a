"""Time of followed code of the host: cycles of the cores, plus what they wait for caches and memory.

    time = launch + share · (core · cycles + branches + translations + lines of the caches + group · work-groups) + lines of memory + atomics

`share` is the largest part of the work-groups that one thread gets. What a line or a cycle costs on a machine is measured there
(machine/host_speed.c); the factors on it, which say how much of that the core hides, were fitted to the launches in
tests/predict/opencl/times.csv (python -m tests.bench.opencl).
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import sqrt
from pathlib import Path

from chathpc.predict import host_code
from chathpc.predict.host_code import MACHINE, Work


@dataclass(frozen=True, slots=True)
class Host:
    """A machine: LLVM's name of its processor, nanoseconds of a cycle, threads, caches (bytes, ways; three levels), nanoseconds that a line costs
    beyond the first cache (second cache, third, memory; each after no order, a stride, a neighbour), nanoseconds to write a line back to
    memory, and how much longer a line of memory takes when all threads ask.
    """

    cpu: str
    cycle: float
    threads: int
    caches: tuple[tuple[int, int], ...]
    lines: tuple[tuple[float, float, float], ...]
    write_back: float
    crowded: float


@dataclass(frozen=True, slots=True)
class Constants:
    """Factors on what is measured of the machine, and costs that are not measured: nanoseconds of a launch and of a work-group; cycles of a
    mispredicted branch, an atomic operation, a translation of an address by the second table and by a walk.
    """

    core: float = 1.0
    launch: float = 200.0
    group: float = 20.0
    branch: float = 13.0
    atomic: float = 18.0
    translation: float = 2.0
    walk: float = 15.0
    second: float = 1.0
    third: float = 1.0
    memory: float = 1.0
    unordered: float = 1.0
    write_back: float = 1.0
    crowded: float = 1.0


def seconds(work: Work, host: Host, k: Constants, groups: int = 1, launches: int = 1) -> float:
    """Time of the work when its `groups` run on the threads of the host, as pocl hands them out; a program is one group."""
    share = largest_share(groups, host.threads)
    order = (k.unordered, sqrt(k.unordered), 1.0)
    second, third, memory = (
        sum(n * cost * factor for n, cost, factor in zip(lines, costs, order, strict=True))
        for lines, costs in zip(work.lines[1:], host.lines, strict=True)
    )
    cycles = (
        k.core * work.cycles + k.branch * work.mispredicted + k.translation * work.pages[0] + k.walk * work.pages[1]
    )
    near = cycles * host.cycle + k.second * second + k.third * third + k.group * groups
    far = k.memory * memory + k.write_back * host.write_back * work.written_back
    alone = share == 1.0
    atomics = k.atomic * host.cycle * work.atomics
    # A line that several threads change goes to and fro between them: no gain from more threads.
    kept = 1.0 if work.contended else share
    return 1e-9 * (
        k.launch * launches
        + share * near
        + far * (1.0 if alone else min(1.0, share * host.crowded * k.crowded))
        + kept * atomics
    )


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
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "speed"
        host_code.run(
            [
                host_code.tool("clang", host_code.LLVM),
                "-O2",
                "-mavx2",
                "-o",
                str(program),
                str(MACHINE / "host_speed.c"),
                "-lpthread",
            ]
        )
        return host(host_code.run([str(program)]), cpu, caches)


def host(told: str, cpu: str, caches: Sequence[tuple[int, int]]) -> Host:
    """The machine that machine/host_speed.c told of."""
    speeds: dict[tuple[str, int], dict[int, float]] = {}
    for line in told.splitlines():
        name, threads, size, nanoseconds = line.split()
        speeds.setdefault((name, int(threads)), {})[int(size)] = float(nanoseconds)
    most = max(threads for _, threads in speeds)

    def beyond(name: str, level: int) -> float:
        """What a line costs more than from the first cache, with data of a quarter of the next level, or four times the last."""
        curve = speeds[name, 1]
        size = caches[level + 1][0] // 4 if level + 1 < len(caches) else caches[level][0] * 4
        near = min(curve, key=lambda s: abs(s - size))
        return max(0.05, curve[near] - curve[min(curve)])

    lines = []
    for level in range(len(caches)):
        neighbour, none = beyond("read", level), beyond("scattered-read", level)
        lines.append((max(none, neighbour), sqrt(max(none, neighbour) * neighbour), neighbour))
    largest = max(speeds["read", 1])
    return Host(
        cpu,
        speeds["cycle", 1][0],
        most,
        tuple(caches),
        tuple(lines),
        max(0.0, beyond("write", 2) - beyond("read", 2)),
        max(1.0, speeds["read", most][largest] / speeds["read", 1][largest]),
    )


def named(constants: Constants) -> dict[str, float]:
    """The constants by name."""
    return {f.name: getattr(constants, f.name) for f in fields(constants)}
