"""Why warps of a GPU do not issue: the one table of reasons, for counters (`gpu.kernel.stall.<reason>`) and for samples (`gpu.stall.<key>`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stall:
    """What a warp waits for, in words; the key of its samples, which all tools' that mean the same have; what NVIDIA calls it in samples where that differs."""

    words: str
    key: str
    names: tuple[str, ...] = ()


#: By reason, as NVIDIA names it. `gpu.kernel.stall.<reason>` are cycles between two instructions of a warp; with `selected` their sum is
#: `gpu.kernel.latency-per-issue`.
STALLS: Mapping[str, Stall] = {
    "long-scoreboard": Stall("data from global, local, texture or surface memory", "memory"),
    "short-scoreboard": Stall("data from shared memory or a special function", "short-scoreboard"),
    "lg-throttle": Stall("the queue of global and local memory instructions", "memory-throttle"),
    "tex-throttle": Stall("the queue of the texture unit", "texture"),
    "mio-throttle": Stall("the queue of shared memory and special functions", "mio-throttle"),
    "math-pipe-throttle": Stall("a busy arithmetic pipe", "pipe-busy"),
    "barrier": Stall("other warps at a barrier", "barrier"),
    "membar": Stall("a memory fence", "memory-fence"),
    "wait": Stall("a fixed latency of an earlier instruction", "dependency"),
    "no-instruction": Stall("the next instruction to be fetched", "instruction-fetch", ("no_instructions",)),
    "not-selected": Stall("the scheduler, which chose another warp", "not-selected"),
    "branch-resolving": Stall("the target of a branch", "branch"),
    "imc-miss": Stall("constants or immediates in the cache", "constant"),
    "dispatch-stall": Stall("the dispatcher", "dispatch"),
    "drain": Stall("stores to end at the exit", "drain"),
    "sleep": Stall("a sleep of the program's own", "sleep", ("sleeping",)),
    "misc": Stall("other reasons", "other"),
    "gmma": Stall("matrix instructions of a warp group", "warpgroup", ("gmma", "warpgroup_arrive")),
    "selected": Stall("nothing: it issues", "selected"),
}  # fmt: skip
#: Kind of waiting → the reasons that are evidence of it. By NVIDIA's Kernel Profiling Guide a warp that drains, or stands at a fence, waits for
#: memory operations that are under way, and a miss in the cache of constants for a read of device memory.
WAITING: Mapping[str, tuple[str, ...]] = {
    "memory": ("long-scoreboard", "lg-throttle", "tex-throttle", "drain", "membar", "imc-miss"),
    "barrier": ("barrier",),
    "dependency": ("wait", "short-scoreboard", "mio-throttle"),
    "fetch": ("no-instruction",),
    "pipe": ("math-pipe-throttle", "gmma"),
}


def names_in_samples(reason: str) -> tuple[str, ...]:
    """What NVIDIA's samples call a reason: `long-scoreboard` is `long_scoreboard`."""
    return tuple(dict.fromkeys((*STALLS[reason].names, reason.replace("-", "_"))))


def sampled(*reasons: str) -> tuple[str, ...]:
    """The metrics of samples by reason."""
    return tuple(f"gpu.stall.{STALLS[reason].key}" for reason in reasons)


def samples_of(kind: str) -> tuple[str, ...]:
    """The metrics of samples that are evidence of a kind of waiting; tools that do not tell global memory apart count all of memory."""
    return (*sampled(*WAITING[kind]), *(("gpu.stall.any-memory",) if kind == "memory" else ()))


def sampling_caveat(metrics: Iterable[str]) -> tuple[str, ...]:
    """What a reader has to know where some of the metrics are samples of reasons."""
    told = "Stall samples come from PC sampling: the kernel's time × their share is a rough cost, as other warps may work meanwhile."
    return (told,) if any(name.startswith("gpu.stall.") for name in metrics) else ()
