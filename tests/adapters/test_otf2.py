"""OTF2 traces written through the package otf2; expected numbers are arithmetic on what is written."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

from chathpc.adapters import native
from chathpc.adapters import otf2 as adapter
from chathpc.adapters.glance import Glance
from chathpc.errors import AdapterError
from chathpc.profile.metric import Clock
from chathpc.profile.profile import Profile
from tests.synthetic.otf2 import Events, write_otf2

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("otf2") is None, reason="needs the package otf2: pip install 'chathpc[otf2]'"
)

RANK: Events = [
    (100, "enter", "main"), (200, "enter", "MPI_Send"), (210, "send", (1, 64)), (300, "leave", "MPI_Send"),
    (500, "enter", "MPI_Allreduce"), (640, "collective", ("ALLREDUCE", None, 8)), (650, "leave", "MPI_Allreduce"), (1100, "leave", "main"),
]  # fmt: skip
LATE: Events = [
    (100, "enter", "main"),
    (150, "enter", "MPI_Recv"),
    (160, "recv", (0, 64)),
    (400, "leave", "MPI_Recv"),
    (900, "leave", "main"),
]


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_otf2(tmp_path_factory.mktemp("otf2") / "run", {0: RANK, 1: LATE}, secret="PLANTED-a1b2c3")


def own(profile: Profile, metric: str = "cpu.time") -> dict[str, float]:
    """Exclusive values by the node's label."""
    column = profile.exclusive(metric)
    return {profile.tree.label(int(n)): float(v) for n, v in zip(column.nodes, column.values, strict=True)}


def test_regions_nest_and_messages_are_counted(trace: Path) -> None:
    assert adapter.recognises(Glance(trace))
    assert adapter.recognises(Glance(trace / "traces.otf2"))
    for path in (trace, trace / "traces.otf2"):
        profile = adapter.read(path)
        profile.tree.check()
        assert own(profile) == pytest.approx(
            {"main": 1300e-6, "MPI_Send": 100e-6, "MPI_Allreduce": 150e-6, "MPI_Recv": 250e-6}
        )
        assert own(profile, "calls.count") == {"main": 2, "MPI_Send": 1, "MPI_Allreduce": 1, "MPI_Recv": 1}
        assert (profile.total("mpi.sent.bytes"), profile.total("mpi.received.bytes")) == (72, 72)
        assert profile.total("mpi.message.count") == 2
        assert profile.where.rank.tolist() == [0, 1]
        assert profile.location_totals("cpu.time") == pytest.approx([1000e-6, 800e-6])
        assert profile.metrics["cpu.time"].clock == Clock.WALL
        assert profile.timed
        assert not profile.caveats
        again = Profile.from_graphframe(profile.graphframe())
        assert again.total("cpu.time") == pytest.approx(profile.total("cpu.time"), rel=1e-12)
        assert "PLANTED" not in repr(
            (profile.run, profile.hardware, profile.caveats, profile.tree.names, profile.metrics)
        )
    assert profile.tree.place(0) == "heat.c:7"


def test_regions_without_end_or_beginning_are_told(tmp_path: Path) -> None:
    events: Events = [
        (50, "leave", "main"),
        (100, "enter", "main"),
        (200, "enter", "MPI_Init"),
        (300, "leave", "MPI_Init"),
    ]
    profile = adapter.read(write_otf2(tmp_path / "run", {0: events}))
    assert own(profile) == pytest.approx({"main": 100e-6, "MPI_Init": 100e-6})
    assert [caveat[:10] for caveat in profile.caveats] == ["1 regions ", "1 regions "]


def test_streams_of_accelerators_are_no_time_of_the_host(tmp_path: Path) -> None:
    profile = adapter.read(write_otf2(tmp_path / "run", {0: [RANK[0], RANK[-1]], 1: [RANK[0], RANK[-1]]}, device=(1,)))
    assert (profile.total("cpu.time"), profile.total("gpu.time")) == pytest.approx((1000e-6, 1000e-6))


def test_a_trace_without_regions_is_insufficient(tmp_path: Path) -> None:
    assert adapter.read(write_otf2(tmp_path / "run", {0: []})).insufficient


@pytest.mark.parametrize("victim", ["traces.otf2", "traces.def", "traces/0.evt", "traces/0.def"])
@pytest.mark.parametrize("way", ["cut", "noise", "gone"])
def test_damage_ends_in_a_profile_or_a_refusal(tmp_path: Path, trace: Path, victim: str, way: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(trace, copy)
    file = copy / victim
    if not file.exists():
        return  # not every version of the library writes this file
    data = file.read_bytes()
    if way == "gone":
        file.unlink()
    else:
        file.write_bytes(
            data[: len(data) // 2] if way == "cut" else data[:20] + bytes(b ^ 0x5A for b in data[20:60]) + data[60:]
        )
    try:
        adapter.read(copy)
    except AdapterError as error:
        assert error.hint  # noqa: PT017


def test_a_reader_that_crashes_or_hangs_is_an_error_of_the_trace(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(AdapterError, match="ended with status 1 on the trace"):
        adapter.read(trace)
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(AdapterError, match="no process can be started"):
        adapter.read(trace)


def test_the_package_is_named_where_it_is_absent(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "find_spec", lambda name: None)
    assert adapter.needs() == "pip install 'chathpc[otf2]'"
    with pytest.raises(AdapterError, match="needs the package otf2") as caught:
        adapter.read(trace)
    assert "pip install" in caught.value.hint


@pytest.mark.parametrize("data", [b"", b"OTF", b"hello OTF2", b"x" * 20 + b"OTF2"])
def test_other_files_are_not_recognised(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    assert not adapter.recognises(Glance(tmp_path / "a.txt"))
    assert not adapter.recognises(Glance(tmp_path))
