"""Facts about the machine that a figure is worth little without; nothing that names the machine or its user."""

from __future__ import annotations

import mmap
import os
import platform
import re
import resource
import time
from contextlib import suppress
from pathlib import Path
from statistics import median

from chathpc.measure.files import text_of

_CPUINFO, _MEMINFO = Path("/proc/cpuinfo"), Path("/proc/meminfo")
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_COUNTERS = Path("/sys/bus/event_source/devices")
#: How Linux calls the units that count what processors do: "cpu", those of hybrid ones "cpu_core", of Arm's "armv8_pmuv3_0".
_OF_PROCESSORS = ("cpu", "arm")
_STAT = Path("/proc/stat")
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


def facts(
    cpuinfo: Path = _CPUINFO,
    meminfo: Path = _MEMINFO,
    governor: Path = _GOVERNOR,
    caches: Path = _CACHES,
    counters: Path = _COUNTERS,
) -> dict[str, str]:
    """processor, cores that may be used, memory and last-level cache (bytes), system, frequency governor and load, and "none" for hardware
    counters where there are none; what is not known is left out.
    """
    units = [each.name for each in counters.glob("*")]
    processor = re.search(r"^model name\s*: (.+)$", text_of(cpuinfo), re.MULTILINE)
    memory = re.search(r"^MemTotal:\s*(\d+) kB", text_of(meminfo), re.MULTILINE)
    found = {
        "processor": processor[1].strip()[:200] if processor else platform.processor(),
        "architecture": platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": str(int(memory[1]) * 1024) if memory else "",
        "cache": str(_cache(caches) or ""),
        "system": f"{platform.system()} {platform.release()}",
        "governor": text_of(governor).strip()[:40],
        "load": f"{os.getloadavg()[0]:.2f}",
        "counters": "none" if units and not any(each.startswith(_OF_PROCESSORS) for each in units) else "",
    }
    return {key: value for key, value in found.items() if value}


def idle_seconds(stat: Path = _STAT) -> float | None:
    """Seconds for which the cores that may be used had nothing to do since the machine started, of all cores together; None where the
    system does not tell (proc(5): idle and iowait of each core, in ticks).
    """
    usable = os.sched_getaffinity(0)
    rows = re.findall(r"^cpu(\d+) \d+ \d+ \d+ (\d+) (\d+)", text_of(stat), re.MULTILINE)
    ticks = [int(idle) + int(waiting) for core, idle, waiting in rows if int(core) in usable]
    return sum(ticks) / os.sysconf("SC_CLK_TCK") if ticks else None


def without_core(
    seconds: float, cpu_seconds: float, before: float | None, after: float | None, queued: float | None = None
) -> float:
    """Seconds of a run in which it lacked a core, at least: while it neither computed nor any core was idle, by `idle_seconds` before and
    after. One that waits for a disk or a device leaves a core idle, unless others take that: no more than its threads were `queued`, where
    that was seen.
    """
    if before is None or after is None:
        return 0.0
    coarse = len(os.sched_getaffinity(0)) / os.sysconf("SC_CLK_TCK")
    lacked = max(seconds - cpu_seconds - (after - before) - coarse, 0.0)
    return lacked if queued is None else min(lacked, queued)


def _cache(caches: Path) -> int:
    """Bytes of the last cache before memory of the first core; 0 where the system does not tell."""
    known = [
        (int(level), int(size[1]) << {"K": 10, "M": 20}.get(size[2], 0))
        for each in caches.glob("index*")
        if (level := text_of(each / "level").strip()).isdigit()
        and (size := re.match(r"(\d+)([KM]?)", text_of(each / "size"))) is not None
    ]
    return max(known, default=(0, 0))[1]


def page_fault(pages: int = 1024, rounds: int = 5) -> float | None:
    """CPU seconds that a first touch of a page costs here, clearing it included: the median of rounds, each over as many `pages`.

    Of the usual size: a large one costs more, but there are few of them. None where the kernel lets none be counted.
    """

    def once() -> float | None:
        with mmap.mmap(-1, pages * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as area:
            if hasattr(mmap, "MADV_NOHUGEPAGE"):
                with suppress(OSError):
                    area.madvise(mmap.MADV_NOHUGEPAGE)
            touched, before = bytes(pages), resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
            begin = time.thread_time()
            area[:: mmap.PAGESIZE] = touched
            spent = time.thread_time() - begin
            faults = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before
        return spent / faults if faults else None

    found = [cost for cost in (once() for _ in range(rounds)) if cost]
    return median(found) if found else None
