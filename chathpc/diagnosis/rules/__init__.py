"""The rules: each looks at the facts and returns drafts of findings. A rule's thresholds stand in the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.facts import Facts

Rule = Callable[[Facts], Iterable[Draft]]


@dataclass(frozen=True, slots=True)
class Group:
    """Rules that need the same kind of data: they are asked where `applies` says that the profile has it."""

    name: str
    applies: Callable[[Facts], bool]
    rules: Callable[[], tuple[Rule, ...]]


def has_device_values(facts: Facts) -> bool:
    """True if anything about a device was measured."""
    return any(name.startswith("gpu.") and metric.has_values for name, metric in facts.profile.metrics.items())


def has_good_timeline(facts: Facts) -> bool:
    """True if it is known when devices worked, and that allows conclusions."""
    return facts.timeline is not None and facts.timeline.lack is None


def host_rules() -> tuple[Rule, ...]:
    """Rules over the time of host threads."""
    from chathpc.diagnosis.rules import (
        compiler,
        compute,
        input_output,
        jit,
        memory,
        mpi,
        mpi_messages,
        mpi_sums,
        openmp,
        own_patterns,
        waiting,
    )

    return (
        *compute.RULES,
        *compiler.RULES,
        *openmp.RULES,
        *mpi.RULES,
        *mpi_sums.RULES,
        *mpi_messages.RULES,
        *waiting.RULES,
        *input_output.RULES,
        *memory.RULES,
        *own_patterns.RULES,
        *jit.RULES,
    )


def total_rules() -> tuple[Rule, ...]:
    """Rules over sums of device time, where it is not known when the device worked."""
    from chathpc.diagnosis.rules import gpu_kernel, gpu_system

    return (*gpu_system.RULES, gpu_kernel.kernel_bound)


def timeline_rules() -> tuple[Rule, ...]:
    """Rules over timelines of devices; they say the same as those over sums, and more."""
    from chathpc.diagnosis.rules import gpu_copies, gpu_gaps, gpu_launches, gpu_timeline

    return (*gpu_timeline.RULES, *gpu_copies.RULES, *gpu_gaps.RULES, *gpu_launches.RULES)


def sample_rules() -> tuple[Rule, ...]:
    """Rules over stall samples and launch facts of kernels, and over what compilers say of them."""
    from chathpc.diagnosis.rules import compiler_kernels, gpu_kernel

    return (
        *(rule for rule in gpu_kernel.RULES if rule is not gpu_kernel.kernel_bound),
        *compiler_kernels.RULES,
    )


def counter_rules() -> tuple[Rule, ...]:
    """Rules over counters of kernels."""
    from chathpc.diagnosis.rules import gpu_counters

    return tuple(gpu_counters.RULES)


def log_rules() -> tuple[Rule, ...]:
    """Rules over logs of input and output."""
    from chathpc.diagnosis.rules import input_output_log

    return input_output_log.RULES


def has_io_log(facts: Facts) -> bool:
    """True if a log of the run's input and output is there, and allows conclusions."""
    from chathpc.diagnosis.rules.input_output_log import is_log, too_little_io

    return is_log(facts) and not too_little_io(facts)


HOST_GROUP = "host time"
KERNEL_GROUPS = ("stall samples of kernels", "counters of kernels")

#: All rules. A new kind of data is one more line.
GROUPS = (
    Group(HOST_GROUP, lambda facts: facts.has_host_time, host_rules),
    Group("device time over a timeline", has_good_timeline, timeline_rules),
    Group("device time in all", lambda facts: has_device_values(facts) and facts.timeline is None, total_rules),
    Group(KERNEL_GROUPS[0], has_device_values, sample_rules),
    Group(KERNEL_GROUPS[1], has_device_values, counter_rules),
    Group("log of input and output", has_io_log, log_rules),
)
