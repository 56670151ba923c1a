"""A writer of the text of `perf script`, from its print functions' layout, and samples to write."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame: symbol, load module, source place (`app.c:12`)."""

    symbol: str
    module: str = "/opt/heat"
    place: str = ""
    address: int = 0x4005D6


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample; `frames` stand innermost first."""

    frames: tuple[Frame, ...]
    comm: str = "heat"
    pid: int = 4000
    tid: int = 4000
    cpu: int = 1
    seconds: float = 100.0
    period: int = 1_000_000
    event: str = "cpu-clock"


@dataclass(frozen=True, slots=True)
class Fields:
    """Which fields are printed (`-F`)."""

    pid: bool = False
    cpu: bool = False
    time: bool = True
    period: bool = True
    event: bool = True
    offset: bool = True
    lines: bool = False
    one_line: bool = False
    aligned: bool = False


def head(sample: Sample, fields: Fields) -> str:
    """The first line of a sample."""
    parts = [f"{sample.comm:>16s}" if fields.aligned else sample.comm]
    parts.append(f"{sample.pid}/{sample.tid}" if fields.pid else f"{sample.tid:5d}")
    if fields.cpu:
        parts.append(f"[{sample.cpu:03d}]")
    if fields.time:
        parts.append(f"{sample.seconds:12.6f}:")
    if fields.period:
        parts.append(f"{sample.period:10d}")
    if fields.event:
        parts.append(f"{sample.event}:")
    return " ".join(parts)


def frame_text(frame: Frame, fields: Fields) -> str:
    """A frame without the leading blank."""
    offset = "+0x16" if fields.offset and frame.symbol != "[unknown]" else ""
    return f"{frame.address:16x} {frame.symbol}{offset} ({frame.module})"


def write(samples: Iterable[Sample], fields: Fields = Fields(), *, header: bool = False) -> str:
    """The text of the samples."""
    rows = []
    if header:
        rows += [
            "# ========",
            "# captured on    : Sat Nov 21 07:20:57 2026",
            "# hostname : secret-host",
            "# perf version : 6.1.0",
            "# cpudesc : A Processor",
            "# cmdline : /usr/bin/perf record --password secret ./heat",
            "# ========",
            "#",
        ]
    for sample in samples:
        if fields.one_line:
            rows.append(f"{head(sample, fields)} {frame_text(sample.frames[0], fields)}")
            continue
        rows.append(f"{head(sample, fields)} ")
        for frame in sample.frames:
            rows.append(f"\t{frame_text(frame, fields)}")
            if fields.lines and frame.place:
                rows.append(f"  {frame.place}")
        rows.append("")
    return "\n".join(rows) + "\n"


MAIN = Frame("main", place="heat.c:40")
SOLVE = Frame("solve(Grid const&, int)", place="heat.c:12")
EXP = Frame("__ieee754_exp_fma", "/lib/x86_64-linux-gnu/libm-2.31.so")
KERNEL = Frame("clear_page_erms", "[kernel.kallsyms]", address=0xFFFFFFFF821EB0E7)
LOST = Frame("[unknown]", "[unknown]", address=0x6CE258D4C544155)


def heat(count: int = 400) -> list[Sample]:
    """A program with two threads: half of the samples in solve, a quarter in exp, some in the kernel and some lost."""
    made = []
    for number in range(count):
        place = number % 8
        stack = (
            (SOLVE, MAIN)
            if place < 4
            else (EXP, SOLVE, MAIN)
            if place < 6
            else (KERNEL, MAIN)
            if place == 6
            else (LOST,)
        )
        made.append(Sample(stack, tid=4000 + number % 2, cpu=number % 4, seconds=100.0 + number * 1e-3))
    return made


#: What perf script makes of a recording of the scheduler's events: a program that waits in fsync, and another one.
SCHEDULER = """\
# cmdline : /usr/bin/perf sched record -g ./heat 9
heat 7/7 0.001000: sched:sched_stat_runtime: comm=heat pid=7 runtime=1000 [ns]
\tffffffff81 update_curr ([kernel.kallsyms])

heat 7/7 0.010000: sched:sched_switch: prev_comm=heat prev_pid=7 prev_prio=120 prev_state=D ==> next_comm=other next_pid=9 next_prio=120
\tffffffff82 schedule ([kernel.kallsyms])
\t     fec20 fsync (/usr/lib/libc.so.6)

other 9/9 0.030000: sched:sched_switch: prev_comm=other prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
\tffffffff82 schedule ([kernel.kallsyms])

swapper 0/0 0.040000: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=heat next_pid=7 next_prio=120
heat 7/7 0.060000: sched:sched_switch: prev_comm=heat prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm=other next_pid=9 next_prio=120
\tffffffff82 schedule ([kernel.kallsyms])
\t     40100 work (/opt/heat)

other 9/9 0.065000: sched:sched_switch: prev_comm=other prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=heat next_pid=7 next_prio=120
heat 7/7 0.075000: sched:sched_switch: prev_comm=heat prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
\tffffffff82 schedule ([kernel.kallsyms])
\t     fec20 fsync (/usr/lib/libc.so.6)
"""
