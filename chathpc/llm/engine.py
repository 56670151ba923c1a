"""llama.cpp in this process: what its Python packages have in common, and how many threads they get."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module, metadata, util
from pathlib import Path
from time import sleep
from typing import Protocol

from chathpc.errors import ModelUnavailableError
from chathpc.llm.backend import FinishReason, Request

#: Python packages with llama.cpp inside → distribution; the first one that is installed is used. The compiled one comes
#: first, since it was built for this very CPU.
ENGINES = {"llama_cpp": "llama-cpp-python", "xllamacpp": "xllamacpp"}
INSTALL_HINT = "pip install 'chathpc[local-wheel]' (ready in seconds) or 'chathpc[local]' (compiled for this CPU)."

#: Tokens that are evaluated between two looks at the clock. At 50 tokens/s, as measured for 1.5 billion parameters on two
#: busy cores, 128 are 2.5 s; larger batches were not faster there.
BATCH = 128

#: Token generation is bound by memory bandwidth; more threads than this do not help and disturb others on a shared node.
MOST_THREADS = 16


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What is fixed when a model is loaded: its file, the context in tokens, threads, layers on the GPU (-1: all)."""

    path: Path
    context: int
    threads: int
    gpu_layers: int = 0


@dataclass(frozen=True, slots=True)
class Generation:
    """What an engine tells of a finished text, apart from the text; `cached_tokens` of the prompt it still knew from the last one."""

    prompt_tokens: int | None
    completion_tokens: int | None
    finish_reason: FinishReason
    cached_tokens: int | None = None


class ContextOverflowError(Exception):
    """The prompt and its answer need `needed` tokens of context, more than are loaded."""

    def __init__(self, needed: int) -> None:
        super().__init__(needed)
        self.needed = needed


class Engine(Protocol):
    """A loaded model. Not thread-safe: the caller holds a lock."""

    @property
    def trained_context(self) -> int | None:
        """Tokens that the model was trained for, where it says so."""

    def generate(self, request: Request, emit: Callable[[str], None], until: float) -> Generation:
        """Generate an answer and `emit` its pieces, until `until` on the monotonic clock.

        Raises ContextOverflowError before any work is done, and ModelUnavailableError if the engine fails.
        """

    def close(self) -> None:
        """Free the model's memory."""


def installed_engines() -> list[str]:
    """Names of the engines that can be imported here, best first."""
    return [name for name in ENGINES if util.find_spec(name) is not None]


def engine_version(name: str) -> str:
    """The version of an engine's distribution."""
    try:
        return metadata.version(ENGINES[name])
    except metadata.PackageNotFoundError:
        return "unknown"


def load(name: str, options: EngineOptions) -> Engine:
    """Load a model with the engine `name`; raises ModelUnavailableError, which says what is wrong with engine or file."""
    # Idle OpenMP threads must sleep: spinning costs ten times the speed where the cores are shared. libgomp reads this
    # variable when it is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        module = import_module(f"chathpc.llm.engine_{name}")
        engine: Engine = module.load(options)
    except (ImportError, OSError, RuntimeError) as error:
        raise ModelUnavailableError(
            f"The engine {ENGINES[name]} cannot be loaded: {error}", hint=f"Install it again: {INSTALL_HINT}"
        ) from error
    return engine


def free_cores(
    *,
    allowed: Iterable[int] | None = None,
    busy_jiffies: Callable[[], dict[int, tuple[int, int]]] | None = None,
    sample: float = 0.1,
) -> int:
    """How many of the cores that this process may use have nothing else to do now, between 1 and MOST_THREADS.

    Respects the CPU affinity, a cgroup's quota and OMP_NUM_THREADS. What others use is measured for `sample` seconds: the
    load average would still count what has just ended.
    """
    cores = set(os.sched_getaffinity(0) if allowed is None else allowed)
    read = _jiffies if busy_jiffies is None else busy_jiffies
    before = read()
    sleep(sample)
    after = read()
    busy = 0.0
    for core in cores & before.keys() & after.keys():
        total = after[core][1] - before[core][1]
        busy += (after[core][0] - before[core][0]) / total if total > 0 else 0.0
    free = min(len(cores) - round(busy), _quota(), MOST_THREADS)
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if wanted.isdigit() and int(wanted) > 0:
        free = min(free, int(wanted))
    return max(1, free)


def _jiffies(path: Path = Path("/proc/stat")) -> dict[int, tuple[int, int]]:
    """Core → (busy, all) ticks since boot; proc(5): user nice system idle iowait irq softirq steal."""
    ticks = {}
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError:
        return {}
    for line in lines:
        name, *fields = line.split()
        if name.startswith("cpu") and name != "cpu":
            values = [int(value) for value in fields[:8]]
            ticks[int(name[3:])] = (sum(values) - values[3] - values[4], sum(values))
    return ticks


def _quota(root: Path = Path("/sys/fs/cgroup")) -> int:
    """Cores that the control group grants (cgroup v2: cpu.max, "quota period" in microseconds), rounded up."""
    try:
        quota, period = (root / "cpu.max").read_text(encoding="ascii").split()
        return MOST_THREADS if quota == "max" else max(1, -(-int(quota) // int(period)))
    except (OSError, ValueError, ZeroDivisionError):
        return MOST_THREADS
