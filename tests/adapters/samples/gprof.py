"""gprof's text and gprof2dot's graph."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic.gprof import HEAT, dot, flat, graph


def write_samples(folder: Path) -> list[Path]:
    """Four files of one program."""
    texts = {
        "both.txt": flat(HEAT, brief=False) + graph(HEAT),
        "flat.txt": flat(HEAT),
        "graph.txt": graph(HEAT),
        "heat.dot": dot(HEAT),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder / name for name in texts]
