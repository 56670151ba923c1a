"""The rules: each looks at the facts and returns drafts of findings. A rule's thresholds stand in the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.facts import Facts

Rule = Callable[[Facts], Iterable[Draft]]


def host_rules() -> tuple[Rule, ...]:
    """Rules over the time of host threads."""
    from chathpc.diagnosis.rules import compute, input_output, memory, mpi, openmp, waiting

    return (
        *compute.RULES,
        *openmp.RULES,
        *mpi.RULES,
        *waiting.RULES,
        *input_output.RULES,
        *memory.RULES,
    )


def device_rules() -> tuple[Rule, ...]:
    """Rules over GPU operations and kernels; they need no host time."""
    from chathpc.diagnosis.rules import gpu_kernel, gpu_system

    return (*gpu_system.RULES, *gpu_kernel.RULES)
