"""What a profile cannot show, and how it would be collected. Said, never guessed."""

from __future__ import annotations

from collections.abc import Mapping

from chathpc.diagnosis.gpu_tools import counters, stall_events, vendor_of
from chathpc.profile.metric import Clock
from chathpc.profile.profile import TIME_METRICS, Profile
from chathpc.profile.tree import NodeKind

#: Times of host threads; a profile of a device alone has only the device's.
HOST_TIME = tuple(name for name in TIME_METRICS if name.startswith("cpu."))
#: What stands for the time where none was recorded.
NO_TIME = ("cpu.samples", "cpu.instructions", "cpu.share")
#: Formats of profiles whose gaps HPCToolkit's own commands would fill.
_HINTED = ("HPCToolkit", "hatchet")


def not_collected(profile: Profile) -> Mapping[str, str]:
    """What is missing → the command that would collect it; only what bears on this kind of profile.

    Where the adapter says how its own tool collects it, that is kept. What HPCToolkit would show is said of its own databases
    and of hatchet's frames; other adapters know their tool's options.
    """
    own = dict(profile.not_collected)
    if "counters of kernels" in own and vendor_of(profile) is not None:
        own["counters of kernels"] = counters(profile)
    if not any(name in profile.format for name in _HINTED):
        return own
    metrics = {name for name, metric in profile.metrics.items() if metric.has_values}
    missing: dict[str, str] = {}
    has_gpu = any(name.startswith("gpu.") for name in metrics)
    host = profile.time is not None and profile.time.id in HOST_TIME
    if profile.time is None or not host or profile.time.id in NO_TIME:
        missing["host time"] = "hpcrun -e REALTIME -t ./app"
    elif profile.time.clock == Clock.CPU:
        missing["waiting (blocked and sleeping threads)"] = "hpcrun -e REALTIME -t ./app"
    if host and not metrics & {"cpu.cycles", "cpu.instructions", "cpu.cache.misses"}:
        missing["hardware counters (cache misses, instructions per cycle)"] = (
            "hpcrun -e cycles -e instructions -e cache-misses -t ./app"
        )
    if has_gpu and not any(name.startswith("gpu.stall.") for name in metrics):
        missing["reasons for GPU stalls"] = f"hpcrun -e {stall_events(profile)} -t ./app"
    if not profile.tree.has(NodeKind.LINE, NodeKind.LOOP):
        missing["source lines, loops and inlined functions"] = "hpcstruct MEASUREMENTS; hpcprof MEASUREMENTS"
    return own | {what: command for what, command in missing.items() if what not in own}
