"""Kernels in the roofline (Williams, Waterman, Patterson, CACM 52(4), 2009), where counters tell operations and memory traffic."""

from __future__ import annotations

from chathpc.profile.profile import Profile
from chathpc.view.records import DrawnKernel
from chathpc.view.tables import Tables

_INTENSITY, _BANDWIDTH = "gpu.kernel.arithmetic-intensity", "gpu.kernel.peak-dram-rate"
_PRECISIONS = ("fp64", "fp32", "fp16", "tensor")
MOST_KERNELS = 200


def roofline_of(profile: Profile, tables: Tables) -> list[DrawnKernel]:
    """The kernels whose arithmetic intensity and rate were counted, longest first."""
    if _INTENSITY not in profile.metrics or not profile.metrics[_INTENSITY].has_values:
        return []
    intensity = profile.exclusive(_INTENSITY)

    def at(metric: str, node: int) -> float | None:
        known = profile.metrics.get(metric)
        return profile.exclusive(metric).at(node) if known is not None and known.has_values else None

    kernels = []
    for node, value in zip(intensity.nodes.tolist(), intensity.values.tolist(), strict=True):
        rate, precision = max((at(f"gpu.kernel.flops.{each}", node) or 0.0, each) for each in _PRECISIONS)
        if rate <= 0 or not value > 0:
            continue
        time = "gpu.kernel.time" in profile.metrics
        kernels.append(
            DrawnKernel(
                name=tables.names.add(profile.tree.label(node)),
                intensity=value,
                rate=rate,
                seconds=profile.inclusive("gpu.kernel.time").at(node) if time else None,
                precision=precision,
                peak_rate=at(f"gpu.kernel.peak-flops.{precision}", node),
                peak_bandwidth=at(_BANDWIDTH, node),
            )
        )
    kernels.sort(key=lambda kernel: -(kernel.seconds or 0.0))
    return kernels[:MOST_KERNELS]
