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
    path = DATA / f"{name}.darshan"
    profile = chathpc.load(path)
    report = package.DarshanReport(str(path), read_all=True)
    sums: dict[str, float] = {}
    for module in ("POSIX", "STDIO"):
        if module in report.records:
            tables = report.records[module].to_df()
            for metric, counters in (
                ("io.read.bytes", ("BYTES_READ",)), ("io.write.bytes", ("BYTES_WRITTEN",)), ("io.write.time", ("F_WRITE_TIME",)),
                ("io.read.time", ("F_READ_TIME",)), ("io.meta.time", ("F_META_TIME",)),
            ):  # fmt: skip
                for counter in counters:
                    column = f"{module}_{counter}"
                    table = tables["fcounters"] if "_F_" in column else tables["counters"]
                    sums[metric] = sums.get(metric, 0.0) + float(table[column].clip(lower=0).sum())
    for metric, value in sums.items():
        assert (profile.total(metric) if metric in profile.metrics else 0.0) == pytest.approx(value, rel=1e-9)
    assert profile.total("run.time") == report.metadata["job"]["nprocs"] * report.metadata["job"]["run_time"]


@pytest.mark.parametrize(
    ("name", "verdict", "causes"),
    [
        ("sample", "bottleneck", ["io-imbalance", "io-bound"]),
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
