"""Small exports of Nsight Compute in all their forms. Reports are NVIDIA's own format: tests/conformance damages real ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.adapters.nsight_compute.runs import DEVICE, FAILED, FULL, THREE
from tests.synthetic.nsight_compute import Printed, details_page, raw_page, summary_page

PREAMBLE = "output of the program\n==PROF== Connected to process 1 (/bin/program)\n"


def write_samples(folder: Path) -> list[Path]:
    """Raw and details pages of several years and locales, a summary, and a folder of ranks."""
    described = replace(THREE[0], metrics={**THREE[0].metrics, **DEVICE})
    texts = {
        "raw.csv": raw_page([described, *THREE[1:], FAILED], nvtx=True),
        "raw-base.csv": PREAMBLE + raw_page([FULL, *THREE], printed=Printed(scaled=False)) + "==PROF== Disconnected\n",
        "details.csv": PREAMBLE + details_page([FULL, *THREE]),
        "details-2020.csv": details_page(THREE, old=True),
        "details-european.csv": details_page(
            [FULL], printed=Printed(decimal=",", grouping="."), nvtx=True, ragged=False
        ),
        "summary.csv": summary_page([(THREE[0], 14), (THREE[2], 2)]),
    }
    found = []
    for name, text in texts.items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        found.append(path)
    utf16 = folder / "windows.csv"
    utf16.write_bytes(details_page(THREE).replace("\n", "\r\n").encode("utf-16"))
    ranks = folder / "ranks"
    ranks.mkdir()
    for rank, run in enumerate(THREE):
        (ranks / f"rank{rank}.csv").write_text(raw_page([run]), encoding="utf-8")
    return [*found, utf16, ranks]
