"""How often to look: enough samples to tell shares apart, few enough not to disturb."""

from __future__ import annotations

from pathlib import Path

#: Samples of the whole run. The standard error of a share p of n samples is √(p(1−p)/n): half a percentage point at most with so many.
SAMPLES = 10_000
#: With fewer samples than the first a run is measured once more, so often that about as many as the second are to be expected.
FEWEST, ENOUGH = 200, 1_000
#: Samples a second and thread. Above the highest, the interrupts themselves begin to cost per cents; the lowest bounds the size of long runs.
HIGHEST, LOWEST = 4_000, 9
#: A program that computes for less than this part of its run is looked at more often while it does: only then is it disturbed at all.
WAITING_PART, HIGHEST_WAITING = 1 / 3, 20_000
#: Where the run's time is not known.
USUAL = 499
_KERNEL_LIMIT = Path("/proc/sys/kernel/perf_event_max_sample_rate")


def sampling_rate(cpu_seconds: float | None, seconds: float | None = None) -> int:
    """Samples a second and thread for a run of so many CPU seconds in all its threads, and so many of the clock on the wall: SAMPLES in
    all, within bounds.

    Odd, so that samples do not fall into step with timers of 100, 250 or 1,000 Hz.
    """
    if cpu_seconds is None:
        return USUAL
    waits = seconds is not None and cpu_seconds < WAITING_PART * seconds
    highest = HIGHEST_WAITING if waits else HIGHEST
    return int(min(max(SAMPLES / max(cpu_seconds, 1e-3), LOWEST), highest - 1)) | 1


def kernel_limit(file: Path = _KERNEL_LIMIT) -> int:
    """The highest rate that the kernel lets perf use; it lowers it when interrupts take too long."""
    try:
        return max(int(file.read_text()), LOWEST + 1)
    except (OSError, ValueError):
        return HIGHEST
