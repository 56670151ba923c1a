"""Databases of hpcprof before 2022.10: a document alone, with files of threads, with traces, packed, and a bare one."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic.hpctoolkit_v3 import (
    TRACED_NS,
    along_the_path,
    database,
    document,
    metric_db,
    packed,
    thread_name,
    trace,
)

#: Nanoseconds and statement.
AT = [(1_000_000, 31), (1_400_000, 32), (2_000_000, 19), (2_500_000, 31)]


def write_samples(folder: Path) -> list[Path]:
    """Five databases, between them with each file that the adapter knows."""
    alone, threads, traced, packs, bare = (folder / name for name in ("alone", "threads", "traced", "packs", "bare"))
    texts = {alone: document(), threads: document(), traced: document(more=TRACED_NS), packs: document(more=TRACED_NS),
             bare: document(stored="", head="")}  # fmt: skip
    for place, text in texts.items():
        place.mkdir()
        database(place, text)
    values = [metric_db(along_the_path(8, 500.0)), metric_db(along_the_path(12, 70.0))]
    for rank, content in enumerate(values):
        (threads / thread_name(rank, 0, "metric-db")).write_bytes(content)
        (traced / thread_name(rank, 0, "hpctrace", "")).write_bytes(trace(AT))
    (packs / "experiment-1.mdb").write_bytes(packed([(rank, 0, content) for rank, content in enumerate(values)]))
    (packs / "experiment.mt").write_bytes(packed([(0, 0, trace(AT)), (1, 0, trace(AT[1:]))]))
    return [*texts]
