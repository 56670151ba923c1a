"""A database and a text, packed in every way."""

from __future__ import annotations

from pathlib import Path

from tests.adapters.packings import PACKERS
from tests.adapters.samples import linux_perf, rocprof


def write_samples(folder: Path) -> list[Path]:
    """Two files of each packing, one of two members."""
    plain = folder / "plain"
    plain.mkdir()
    database = next(one for one in rocprof.write_samples(plain) if one.suffix == ".db")
    text = linux_perf.write_samples(plain)[0]
    written = []
    for name, pack in PACKERS.items():
        for base, members in ((database, 1), (text, 2)):
            data = base.read_bytes()
            cut = len(data) // members
            written.append(folder / f"{base.name}.{name}")
            written[-1].write_bytes(b"".join(pack(data[at : at + cut + 1]) for at in range(0, len(data), cut + 1)))
    return written
