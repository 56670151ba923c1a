"""Trace folders of Neutrino (OSDI 2025): what probes inside GPU kernels recorded, one file a launch.

Layout, from the reading of its sources (github.com/open-neutrino/neutrino, `src/common.h`, `src/cuda.c`): `probe.toml` (what
was recorded), `event.log` (launches, kernels' names, times), `result/<seconds>.bin` (records), `kernel/` (binaries, not read).
No trace is public; ours are generated from this layout.
"""

from __future__ import annotations

from chathpc.adapters.adapter import Adapter, reader
from chathpc.adapters.glance import Glance


def recognises(glance: Glance) -> bool:
    """True for a folder with results beside a log or a description of probes as Neutrino names them."""
    if "result" not in glance.names:
        return False
    if "probe.toml" in glance.names:
        return True
    return "event.log" in glance.names and glance.inside("event.log").content.startswith(b"[pid]")


ADAPTER = Adapter(
    name="neutrino",
    reads="Neutrino trace folders (probe.toml, event.log, result/*.bin)",
    recognises=recognises,
    read=reader("chathpc.adapters.neutrino.trace"),
    order=20,
)
