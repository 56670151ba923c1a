"""Small timemory outputs with every feature that the adapter knows between them."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic.timemory import Scope, component, flat, write_timemory

MAIN = Scope("main", 10.0, (Scope("sweep@heat.cpp:30/inner", 7.0, laps=5), Scope("output", 1.0)))


def write_samples(folder: Path) -> list[Path]:
    """A tree of two ranks, a flat list, counters with labels, a folder of two components."""
    found = [write_timemory(folder / "wall.tree.json", {"WALL_CLOCK": component([[MAIN], [MAIN]])})]
    found.append(
        write_timemory(
            folder / "wall.json", {"wall_clock": flat([[(0, "main", 9.0), (1, "sweep", 4.0), (1, "out", 1.0)]])}
        )
    )
    counters = Scope("main", [10.0, 4.0], (Scope("sweep", [7.0, 1.0]),))
    labels = {
        "labels": ["PAPI_TOT_CYC", "PAPI_L1_DCM"],
        "descriptions": ["cycles", "misses"],
        "display_units": ["", ""],
    }
    found.append(
        write_timemory(
            folder / "papi.tree.json", {"PAPI": component([[counters]], id="papi_vector", unit="", **labels)}
        )
    )
    together = folder / "together"
    together.mkdir()
    write_timemory(together / "wall.tree.json", {"WALL_CLOCK": component([[MAIN]])})
    write_timemory(together / "peak_rss.tree.json", {"PEAK_RSS": component([[MAIN]], id="peak_rss", unit="MB")})
    return [*found, together]
