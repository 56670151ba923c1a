"""How often to look: enough samples to tell shares apart, few enough not to disturb."""

from __future__ import annotations

from pathlib import Path

#: Samples of the whole run. The standard error of a share p of n samples is √(p(1−p)/n): half a percentage point at most with so many.
SAMPLES = 10_000
#: Samples a second and thread. Above the highest, the interrupts themselves begin to cost per cents; the lowest bounds the size of long runs.
HIGHEST, LOWEST = 4_000, 9
#: Where the run's time is not known.
USUAL = 499
_KERNEL_LIMIT = Path("/proc/sys/kernel/perf_event_max_sample_rate")


def sampling_rate(cpu_seconds: float | None, highest: int = HIGHEST) -> int:
    """Samples a second and thread for a run of so many CPU seconds in all its threads: SAMPLES in all, within bounds.

    Odd, so that samples do not fall into step with timers of 100, 250 or 1,000 Hz.
    """
    wanted = USUAL if cpu_seconds is None else SAMPLES / max(cpu_seconds, 1e-3)
    return int(min(max(wanted, LOWEST), highest - 1)) | 1


def kernel_limit(file: Path = _KERNEL_LIMIT) -> int:
    """The highest rate that the kernel lets perf use; it lowers it when interrupts take too long."""
    try:
        return max(int(file.read_text()), LOWEST + 1)
    except (OSError, ValueError):
        return HIGHEST
