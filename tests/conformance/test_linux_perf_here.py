"""Files that the perf of this machine records, where the kernel lets it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from chathpc.adapters import linux_perf, perf_stat
from chathpc.adapters.glance import Glance
from tests.adapters.opened import opened


@pytest.mark.skipif(shutil.which("perf") is None, reason="needs perf")
def test_perf_reads_what_it_recorded(tmp_path: Path) -> None:
    path = tmp_path / "perf.data"
    loop = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
    command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "999", "-g", "-o", str(path), "sh", "-c", loop]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    if done.returncode or not path.exists():
        pytest.skip("perf may not record here (perf_event_paranoid)")
    assert linux_perf.ADAPTER.needs() == ""
    profile = opened(linux_perf.ADAPTER, path)
    profile.tree.check()
    counted = subprocess.run(
        ["perf", "script", "-i", str(path), "-F", "period"], capture_output=True, text=True, timeout=60, check=True
    )
    periods = [int(row) for row in counted.stdout.split()]
    assert profile.sample_count == len(periods)
    assert profile.total("cpu.time") == pytest.approx(sum(periods) * 1e-9)


@pytest.mark.skipif(shutil.which("perf") is None, reason="needs perf")
@pytest.mark.parametrize("option", ["-x,", "-j"])
def test_perf_itself_is_read(option: str, tmp_path: Path) -> None:
    path = tmp_path / "counters"
    done = subprocess.run(
        ["perf", "stat", option, "-o", str(path), "true"], capture_output=True, timeout=60, check=False
    )
    if done.returncode or not path.exists() or not perf_stat.ADAPTER.recognises(Glance(path)):
        pytest.skip("perf may not count here, or is too old for this option")
    assert opened(perf_stat.ADAPTER, path).total("cpu.time") > 0
