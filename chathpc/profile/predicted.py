"""What was predicted of a kernel before it ran (chathpc predict), as it stands beside a profile."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PredictedKernel:
    """One launch of a kernel on a device: its class by the roofline model ("bandwidth" or "compute") with the probability of that, what
    its time is most for (`limiter`), the seconds with their bounds, and of the class of operations that decides (`kind`) the
    operations per byte of device memory and the balance point. `used`: part (0..1) of the sectors of global accesses that threads ask
    for; None without such accesses.
    """

    kernel: str
    device: str
    bound: str
    probability: float
    limiter: str
    seconds: tuple[float, float, float]
    kind: str = ""
    intensity: float = 0.0
    balance: float = 0.0
    used: float | None = None
