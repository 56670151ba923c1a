"""What a profiler costs: runs alone and under it in turns, its own start apart, and what their noise leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean


@dataclass(frozen=True, slots=True)
class Overhead:
    """Wall seconds of runs that took turns: alone, and under the profiler, without its own `start_up` where that can be told."""

    alone: tuple[float, ...]
    under: tuple[float, ...]
    start_up: float | None

    @property
    def seconds(self) -> float:
        """Of a run alone."""
        return mean(self.alone)

    @property
    def share(self) -> float:
        """How much longer the program takes, as a share of its time alone; nothing where it seems to take less."""
        return max(mean(self.under) / self.seconds - 1, 0.0)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The least and the most that the share can be with any of these runs for the others; None for one run each.

        That all of three runs under a profiler are slower than three alone happens by chance once in twenty times (1 of 6! / (3! 3!)).
        """
        if len(self.alone) < 2:
            return None
        return max(min(self.under) / max(self.alone) - 1, 0.0), max(max(self.under) / min(self.alone) - 1, 0.0)

    def __str__(self) -> str:
        """`8 % overhead (5 % to 12 %, 3 runs each)`."""
        if self.interval is None:
            cost = f"{self.share:.0%} overhead" if self.share else "no overhead seen"
            return f"{cost} (one run each; noise unknown)"
        (least, most), runs = self.interval, f"{len(self.alone)} runs each"
        if not least:
            limit = f", at most {most:.0%}" if most else ""
            return f"no overhead beyond noise{limit} ({runs})"
        return f"{self.share:.0%} overhead ({least:.0%} to {most:.0%}, {runs})"
