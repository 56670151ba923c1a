"""Reports of `nsys stats --format csv`: sums by kernel, copy, call and range, and traces of the GPU and of calls."""

from __future__ import annotations

from itertools import islice

from chathpc.adapters.adapter import Adapter, reader
from chathpc.adapters.glance import Glance

#: Files of a folder that are looked into.
_LOOKED = 64


def recognises(glance: Glance) -> bool:
    """True for a CSV file with the columns of one of the reports, and for a folder with such files."""
    from chathpc.adapters.nsys_stats.reports import holds_report

    if glance.is_folder:
        names = islice((name for name in glance.names if name.endswith(".csv")), _LOOKED)
        return any(holds_report(glance.inside(name).text) for name in names)
    return glance.is_file and holds_report(glance.text)


ADAPTER = Adapter(
    name="nsys-stats",
    reads="CSV reports of nsys stats (cuda_gpu_kern_sum, cuda_api_sum, cuda_gpu_trace, …)",
    recognises=recognises,
    read=reader("chathpc.adapters.nsys_stats.reading"),
    order=55,
)
