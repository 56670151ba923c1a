"""AMD's profilers: one program in all their forms."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic import rocprof


def write_samples(folder: Path) -> list[Path]:
    """Folders of CSV files and workloads, JSON, and databases of five kinds."""
    counters = {"SQ_INSTS": [10.0, 20.0], "TCC_HIT_sum": [30.0, 10.0], "TCC_MISS_sum": [70.0, 10.0]}
    return [
        rocprof.write_csv(folder / "csv"),
        rocprof.write_counters(folder / "counted", counters),
        rocprof.write_more(folder / "more"),
        rocprof.write_statistics(folder / "statistics"),
        rocprof.write_json(folder / "results.json"),
        rocprof.write_rocpd(folder / "results.db", counters=True),
        rocprof.write_rpd(folder / "trace.rpd"),
        rocprof.write_legacy(folder / "legacy.db"),
        rocprof.write_legacy(folder / "legacy-trace.db", trace=True),
        rocprof.write_workload(folder / "workload"),
        rocprof.write_workload(folder / "workload-long", long=True),
        rocprof.write_compute_db(folder / "compute.db"),
    ]
