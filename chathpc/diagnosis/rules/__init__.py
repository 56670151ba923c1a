"""The rules: each looks at the facts and returns drafts of findings. A rule's thresholds stand in the catalogue, and it is only asked where
its group applies: those of host time, where there is some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Examined, Skipped

Rule = Callable[[Facts], Iterable[Draft]]


@dataclass(frozen=True, slots=True)
class Lack:
    """What a profile lacks for some checks, in a few words, and what would supply it."""

    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Checks:
    """Rules that look at the same kind of data. `lack` says what they cannot see without (None where they see all);
    `also` names checks beside the rules: what the source is searched for, where recognisers are no rules of their own.
    """

    rules: tuple[Rule, ...] = ()
    lack: Callable[[Facts], Lack | None] = lambda facts: None
    also: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all checks, as a reader sees them."""
        return (*(rule.__name__.strip("_").replace("_", " ") for rule in self.rules), *self.also)


@dataclass(frozen=True, slots=True)
class Group:
    """Checks that are made where `applies` says that the profile has their data; `concerns` says whether they bear on the program."""

    name: str
    applies: Callable[[Facts], bool]
    checks: Callable[[], tuple[Checks, ...]]
    concerns: Callable[[Facts], bool] = lambda facts: False

    def rules(self) -> tuple[Rule, ...]:
        """All rules of the group, in their order."""
        return tuple(rule for each in self.checks() for rule in each.rules)


def examined(facts: Facts) -> Examined:
    """Which checks ran on a profile, and which could not, for lack of what."""
    run: list[str] = []
    skipped: dict[Lack, list[str]] = {}
    for group in GROUPS:
        applies = group.applies(facts)
        if not applies and not group.concerns(facts):
            continue
        for checks in group.checks():
            lack = checks.lack(facts)
            if lack is not None:
                skipped.setdefault(lack, []).extend(checks.names)
            elif applies:
                run += checks.names
    once = {name.replace(" ", "-"): name for name in run}  # some are sought in the values and in the source
    return Examined(
        tuple(once.values()), tuple(Skipped(tuple(names), lack.reason, lack.remedy) for lack, names in skipped.items())
    )


def has_device_values(facts: Facts) -> bool:
    """True if anything about a device was measured."""
    return any(name.startswith("gpu.") and metric.has_values for name, metric in facts.profile.metrics.items())


def has_good_timeline(facts: Facts) -> bool:
    """True if it is known when devices worked, and that allows conclusions."""
    return facts.timeline is not None and facts.timeline.lack is None


def host_checks() -> tuple[Checks, ...]:
    """Checks of the time of host threads."""
    from chathpc.diagnosis import lacks
    from chathpc.diagnosis.rules import (
        called,
        compiler,
        compute,
        input_output,
        memory,
        mpi,
        mpi_sums,
        openmp,
        oversubscription,
        python,
        source,
        threads,
        waiting,
    )

    return (
        Checks(compute.RULES),
        Checks(
            (*openmp.RULES, *threads.RULES, *mpi.RULES, *oversubscription.RULES, *mpi_sums.RULES),
            lacks.threads,
        ),
        Checks(waiting.RULES, lacks.waiting),
        Checks(input_output.RULES),
        Checks(memory.RULES),
        Checks((called.functions, called.just_in_time, *python.RULES, called.host_calls)),
        Checks(lack=lacks.source, also=source.CAUSES),
        Checks(lack=lacks.counters, also=source.COUNTED),
        Checks((compiler.unoptimised,), lacks.options),
        Checks(compiler.REMARKED, lacks.remarks),
    )


def total_checks() -> tuple[Checks, ...]:
    """Checks of sums of device time, where it is not known when the device worked."""
    from chathpc.diagnosis.rules import gpu_kernel, gpu_system

    return (Checks((*gpu_system.RULES, gpu_kernel.kernel_bound)),)


def timeline_checks() -> tuple[Checks, ...]:
    """Checks of timelines of devices; they say the same as those of sums, and more."""
    from chathpc.diagnosis import lacks
    from chathpc.diagnosis.rules import gpu_copies, gpu_gaps, gpu_launches, gpu_timeline

    rules = (*gpu_timeline.RULES, *gpu_copies.RULES, *gpu_gaps.RULES, *gpu_launches.RULES)
    return (Checks(rules, lacks.timeline),)


def sample_checks() -> tuple[Checks, ...]:
    """Checks of stall samples and launch facts of kernels, and of what compilers say of them."""
    from chathpc.diagnosis import lacks
    from chathpc.diagnosis.rules import compiler_kernels, gpu_kernel

    return (
        Checks((gpu_kernel.stalls,), lacks.stalls),
        Checks((gpu_kernel.occupancy,)),
        Checks(tuple(compiler_kernels.RULES), lacks.kernel_remarks),
    )


def counter_checks() -> tuple[Checks, ...]:
    """Checks of counters of kernels."""
    from chathpc.diagnosis import lacks
    from chathpc.diagnosis.rules import gpu_counters

    return (Checks(tuple(gpu_counters.RULES), lacks.kernel_counters),)


def log_checks() -> tuple[Checks, ...]:
    """Checks of logs of input and output."""
    from chathpc.diagnosis.rules import input_output_log

    return (Checks(input_output_log.RULES),)


def has_io_log(facts: Facts) -> bool:
    """True if a log of the run's input and output is there, and allows conclusions."""
    from chathpc.diagnosis.rules.input_output_log import is_log, too_little_io

    return is_log(facts) and not too_little_io(facts)


HOST_GROUP = "host time"
TOTALS_GROUP = "device time in all"
KERNEL_GROUPS = ("stall samples of kernels", "counters of kernels")

#: All checks. A new kind of data is one more line.
GROUPS = (
    Group(HOST_GROUP, lambda facts: facts.has_host_time, host_checks),
    Group("device time over a timeline", has_good_timeline, timeline_checks, has_device_values),
    Group(TOTALS_GROUP, lambda facts: has_device_values(facts) and facts.timeline is None, total_checks),
    Group(KERNEL_GROUPS[0], has_device_values, sample_checks),
    Group(KERNEL_GROUPS[1], has_device_values, counter_checks),
    Group("log of input and output", has_io_log, log_checks),
)
