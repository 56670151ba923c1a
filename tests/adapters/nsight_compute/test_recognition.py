"""What is taken for a file of Nsight Compute, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.adapters.glance import Glance
from chathpc.adapters.load import detect
from chathpc.adapters.nsight_compute import ADAPTER, recognises
from tests.adapters.nsight_compute.runs import THREE
from tests.synthetic.nsight_compute import details_page, raw_page, report


@pytest.mark.parametrize("text", [
    raw_page(THREE), details_page(THREE), details_page(THREE, old=True), "hello\n==PROF== x\n" + raw_page(THREE, nvtx=True),
    "==PROF== Connected to process 1 (/bin/x)\n",
])  # fmt: skip
def test_exports_are_recognised_whatever_they_are_called(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    assert recognises(Glance(path))
    adapter = detect(Glance(path))
    assert adapter is not None
    assert adapter.name == "nsight-compute"


def test_reports_are_recognised_by_their_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "anything"
    path.write_bytes(report(THREE))
    assert recognises(Glance(path))
    path.write_bytes(b"NVR")
    assert not recognises(Glance(path))
    compressed = tmp_path / "report.ncu-repz"
    compressed.write_bytes(b"\x28\xb5\x2f\xfd")
    assert recognises(Glance(compressed))


@pytest.mark.parametrize("text", [
    "", "ID,Kernel Name\n1,x\n", "Time (%),Total Time (ns),Instances,Name\n1,2,3,x\n", "==123== Profiling application\n",
    "\x00\x01", '{"traceEvents": []}',
])  # fmt: skip
def test_other_files_are_not(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file.csv"
    path.write_text(text)
    assert not recognises(Glance(path))


def test_a_folder_needs_a_file_and_no_other_tools(tmp_path: Path) -> None:
    assert not recognises(Glance(tmp_path))
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    assert not recognises(Glance(tmp_path))
    (tmp_path / "b.csv").write_text(raw_page(THREE))
    assert recognises(Glance(tmp_path))
    for other in ("meta.db", "experiment.xml", "trace.nsys-rep", "trace.sqlite", "x.hpcrun"):
        (tmp_path / other).write_text("")
        assert not recognises(Glance(tmp_path))
        (tmp_path / other).unlink()
    assert not recognises(Glance(tmp_path / "missing"))


def test_reports_in_a_folder_count_before_their_exports(tmp_path: Path) -> None:
    from chathpc.adapters.nsight_compute import files_in

    (tmp_path / "a.csv").write_text(raw_page(THREE))
    assert files_in(Glance(tmp_path)) == ["a.csv"]
    (tmp_path / "a.ncu-rep").write_bytes(report(THREE))
    assert files_in(Glance(tmp_path)) == ["a.ncu-rep"]


def test_the_adapter_says_what_it_reads() -> None:
    assert "ncu --page raw|details --csv" in ADAPTER.reads
