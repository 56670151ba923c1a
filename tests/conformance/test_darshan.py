"""Public Darshan logs: totals equal those of Darshan's own tables, conclusions those of a careful reader, damage is survived."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

import chathpc
from tests.adapters.contained import Server
from tests.adapters.damage import DAMAGES

DATA = (
    Path(os.environ.get("CHATHPC_TEST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
    / "profiles"
    / "darshan"
)

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the public Darshan logs are not here (CHATHPC_TEST_DATA)")
package = pytest.importorskip("darshan", reason="the package darshan is not installed: pip install 'chathpc[darshan]'")

LOGS = ("sample", "sample-goodost", "dxt", "ior_hdf5_example")


@pytest.mark.parametrize("name", LOGS)
def test_totals_are_those_of_darshans_own_tables(name: str) -> None:
    """Bytes of POSIX and STDIO; times of MPI-IO for the files that it has, and below it for the others."""
    path = DATA / f"{name}.darshan"
    profile = chathpc.load(path)
    report = package.DarshanReport(str(path), read_all=True)
    tables = {
        module: report.records[module].to_df() for module in ("MPI-IO", "POSIX", "STDIO") if module in report.records
    }
    above = set(tables["MPI-IO"]["counters"]["id"]) if "MPI-IO" in tables else set()
    sums: dict[str, float] = {"io.system.time": 0.0}
    for module, table in tables.items():
        prefix = module.replace("-", "")
        outermost = (module == "MPI-IO") | ~table["fcounters"]["id"].isin(above)
        for kind in ("read", "write", "meta"):
            times = table["fcounters"][f"{prefix}_F_{kind.upper()}_TIME"].clip(lower=0)
            sums[f"io.{kind}.time"] = sums.get(f"io.{kind}.time", 0.0) + float(times[outermost].sum())
            sums["io.system.time"] += float(times.sum()) if module != "MPI-IO" else 0.0
        for metric, counter in (("io.read.bytes", "BYTES_READ"), ("io.write.bytes", "BYTES_WRITTEN")):
            moved = float(table["counters"][f"{prefix}_{counter}"].sum()) if module != "MPI-IO" else 0.0
            sums[metric] = sums.get(metric, 0.0) + moved
    for metric, value in sums.items():
        assert (profile.total(metric) if metric in profile.metrics else 0.0) == pytest.approx(value, rel=1e-9)
    assert profile.total("run.time") == report.metadata["job"]["nprocs"] * report.metadata["job"]["run_time"]


@pytest.mark.parametrize(
    ("name", "verdict", "causes"),
    [
        ("sample", "bottleneck", ["io-bound"]),
        ("sample-goodost", "healthy", ["io-bound"]),
        ("dxt", "insufficient-data", []),
        ("ior_hdf5_example", "insufficient-data", []),
    ],
)
def test_conclusions_are_those_of_a_careful_reader(name: str, verdict: str, causes: list[str]) -> None:
    report = chathpc.explain(DATA / f"{name}.darshan", llm="none")
    assert (report.verdict, [finding.cause for finding in report.findings]) == (verdict, causes)
    if name == "dxt":
        assert "metadata" in report.headline


def test_damaged_logs_are_read_or_refused(tmp_path: Path) -> None:
    with Server("tests.adapters.everything:read_everything") as server:
        for number in range(60):
            random = Random(number)
            data = bytearray((DATA / f"{random.choice(LOGS)}.darshan").read_bytes())
            damage = random.choice(DAMAGES)
            damage(data, random, bytes(data))
            path = tmp_path / f"{number}.darshan"
            path.write_bytes(data)
            outcome = server.run(path, cpu=5.0, wall=60.0)
            assert outcome.good, (number, damage.__name__, outcome)
