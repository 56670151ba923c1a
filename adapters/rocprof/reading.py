"""Any form of AMD's profilers as a Profile."""

from __future__ import annotations

from pathlib import Path

from chathpc.adapters.glance import Glance
from chathpc.adapters.rocprof.kinds import Kind, kind_of
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile


def read(path: Path) -> Profile:
    """Read what is at `path`; AdapterError for what is damaged or of none of the forms."""
    kind = kind_of(Glance(path))
    if kind is Kind.TRACES:
        from chathpc.adapters.rocprof import csv_traces

        return csv_traces.read(path)
    if kind is Kind.SDK_JSON:
        from chathpc.adapters.rocprof import sdk_json

        return sdk_json.read(path)
    if kind is Kind.ROCPD:
        from chathpc.adapters.rocprof import rocpd

        return rocpd.read(path)
    if kind is Kind.RPD:
        from chathpc.adapters.rocprof import rpd

        return rpd.read(path)
    if kind is Kind.LEGACY:
        from chathpc.adapters.rocprof import legacy

        return legacy.read(path)
    if kind is Kind.COMPUTE:
        from chathpc.adapters.rocprof import compute

        return compute.read(path)
    if kind is Kind.COMPUTE_DB:
        from chathpc.adapters.rocprof import compute_db

        return compute_db.read(path)
    raise AdapterError(
        "it contains nothing that AMD's profilers write",
        path=path,
        hint="Give the output folder of rocprofv3, one of its files, or a workload of rocprof-compute.",
    )
