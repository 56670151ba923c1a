"""Facts about the machine that a figure is worth little without; nothing that names the machine or its user."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

from chathpc.measure.files import text_of

_CPUINFO, _MEMINFO = Path("/proc/cpuinfo"), Path("/proc/meminfo")
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


def facts(cpuinfo: Path = _CPUINFO, meminfo: Path = _MEMINFO, governor: Path = _GOVERNOR) -> dict[str, str]:
    """processor, cores that may be used, memory (bytes), system, frequency governor and load; what is not known is left out."""
    processor = re.search(r"^model name\s*: (.+)$", text_of(cpuinfo), re.MULTILINE)
    memory = re.search(r"^MemTotal:\s*(\d+) kB", text_of(meminfo), re.MULTILINE)
    found = {
        "processor": processor[1].strip()[:200] if processor else platform.processor(),
        "architecture": platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": str(int(memory[1]) * 1024) if memory else "",
        "system": f"{platform.system()} {platform.release()}",
        "governor": text_of(governor).strip()[:40],
        "load": f"{os.getloadavg()[0]:.2f}",
    }
    return {key: value for key, value in found.items() if value}
