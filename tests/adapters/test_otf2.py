"""OTF2 traces written through the package otf2; expected numbers are arithmetic on what is written."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chathpc.adapters import native
from chathpc.adapters.glance import Glance
from chathpc.adapters.otf2 import ADAPTER as adapter
from chathpc.adapters.otf2 import child
from chathpc.diagnosis.diagnose import diagnose
from chathpc.errors import AdapterError
from chathpc.profile.merge import merge
from chathpc.profile.messages import Meeting
from chathpc.profile.metric import Clock
from chathpc.profile.profile import Profile, Source, no_timeline
from tests.diagnosis.mpi_traces import profile_of
from tests.synthetic.mpi_program import Network, Step, simulate
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


# -- timeline --------------------------------------------------------------------------------------------------

RING: dict[int, list[Step]] = {
    rank: [
        ("compute", "read", 100 + rank),
        ("irecv", (rank - 1) % 3, 64),
        ("isend", (rank + 1) % 3, 64),
        ("compute", "inner", 40),
        ("waitall",),
        ("collective", "BCAST", 1, 8),
        ("collective", "REDUCE", 2, 8),
        *([("send", 2, 9)] if rank == 0 else [("recv", 0, 9)] if rank == 2 else []),
        ("collective", "ALLREDUCE", None, 8),
    ]
    for rank in range(3)
}


def test_the_timeline_is_that_of_a_plain_reading_of_the_events(tmp_path: Path) -> None:
    events = simulate(RING, Network(latency=30, overhead=2, transfer=5))
    found = adapter.read(write_otf2(tmp_path / "run", events))
    expected, timeline = profile_of(events), found.timeline
    assert timeline is not None
    assert expected.timeline is not None
    assert (timeline.begin, timeline.end, timeline.is_whole) == (0, expected.timeline.end, True)
    for lane, plain in zip(timeline.lanes, expected.timeline.lanes, strict=True):
        assert lane.location == plain.location
        assert lane.start.tolist() == plain.start.tolist()
        names = [
            [each.tree.label(int(node)) if node >= 0 else "" for node in one.node.tolist()]
            for each, one in ((found, lane), (expected, plain))
        ]
        assert names[0] == names[1]
    ours, theirs = timeline.communication, expected.timeline.communication
    assert ours is not None
    assert theirs is not None
    for part in ("calls", "messages", "collectives"):
        for name in getattr(ours, part).__slots__:
            if name not in ("node", "instance", "meeting"):
                column, plain_column = (getattr(getattr(each, part), name) for each in (ours, theirs))
                order = np.argsort(ours.messages.sent), np.argsort(theirs.messages.sent)
                if part == "messages":
                    column, plain_column = column[order[0]], plain_column[order[1]]
                if part == "collectives":
                    column, plain_column = sorted(column.tolist()), sorted(plain_column.tolist())
                assert list(column) == list(plain_column), (part, name)
    meetings = [
        {int(call): int(each.meeting[number]) for call, number in zip(each.begun, each.instance, strict=True)}
        for each in (ours.collectives, theirs.collectives)
    ]
    assert meetings[0] == meetings[1]
    assert (ours.unmatched, found.caveats) == (0, ())


def test_collectives_without_blocking_span_two_calls(tmp_path: Path) -> None:
    def rank(work: int) -> Events:
        return [
            (0, "enter", "main"), (work, "enter", "MPI_Ibarrier"), (work, "begun", 7), (work + 1, "leave", "MPI_Ibarrier"),
            (60, "enter", "MPI_Wait"), (70, "collective", ("BARRIER", None, 0, 7)), (70, "leave", "MPI_Wait"),
            (80, "leave", "main"),
        ]  # fmt: skip

    timeline = adapter.read(write_otf2(tmp_path / "run", {0: rank(10), 1: rank(50)})).timeline
    assert timeline is not None
    assert timeline.communication is not None
    found = timeline.communication.collectives
    assert (found.begun.tolist(), found.done.tolist(), found.meeting.tolist()) == ([0, 2], [1, 3], [Meeting.ALL])


def test_what_has_no_partner_is_told(tmp_path: Path) -> None:
    alone: Events = [
        (0, "enter", "main"), (10, "enter", "MPI_Send"), (10, "send", (1, 5)), (20, "leave", "MPI_Send"),
        (20, "enter", "MPI_Send"), (20, "send", (9, 5)), (30, "leave", "MPI_Send"), (50, "leave", "main"),
    ]  # fmt: skip
    profile = adapter.read(write_otf2(tmp_path / "run", {0: alone, 1: [(0, "enter", "main"), (50, "leave", "main")]}))
    assert profile.timeline is not None
    assert profile.timeline.communication is not None
    assert profile.timeline.communication.unmatched == 2  # nobody receives the first, and there is no rank 9
    assert profile.caveats[0].startswith("2 sends and receives of the trace have no partner in it")


def test_a_call_that_does_not_end_lasts_to_the_end_of_the_trace(tmp_path: Path) -> None:
    events: Events = [(0, "enter", "main"), (10, "enter", "MPI_Barrier"), (15, "enter", "MPI_Send"), (30, "leave", "MPI_Send")]  # fmt: skip
    timeline = adapter.read(write_otf2(tmp_path / "run", {0: events})).timeline
    assert timeline is not None
    assert timeline.communication is not None
    calls = timeline.communication.calls
    assert (calls.start.tolist(), calls.end.tolist()) == ([10_000], [30_000])  # what MPI_Barrier calls is a part of it


def test_of_a_large_trace_the_beginning_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "child.py"
    source = Path(child.__file__).read_text()
    script.write_text(source.replace("MOST_ENTRIES = 4_000_000", "MOST_ENTRIES = 20"))
    run = native.run
    monkeypatch.setattr(native, "run", lambda _, *rest: run(script, *rest))
    events = simulate(RING, Network(latency=30, overhead=2, transfer=5))
    profile = adapter.read(write_otf2(tmp_path / "run", events))
    timeline = profile.timeline
    assert timeline is not None
    assert (sum(len(lane.start) for lane in timeline.lanes), timeline.is_whole) == (20, False)
    assert profile.caveats[0].startswith("The trace is large: only the first ")
    assert "no partner" not in "".join(profile.caveats)
    plain = adapter.read(write_otf2(tmp_path / "again", events))
    assert profile.total("cpu.time") == plain.total("cpu.time")


def test_threads_that_wait_at_a_barrier_have_a_critical_path(tmp_path: Path) -> None:
    def thread(work: int) -> list[tuple[int, str, str]]:
        events: list[tuple[int, str, str]] = [(0, "enter", "main")]
        for step in range(0, 200_000, 1000):
            events += [
                (step, "enter", "!$omp for @heat.c:9"),
                (step + work, "enter", "!$omp implicit barrier @heat.c:9"),
            ]
            events += [
                (step + 1000, "leave", "!$omp implicit barrier @heat.c:9"),
                (step + 1000, "leave", "!$omp for @heat.c:9"),
            ]
        return [*events, (200_000, "leave", "main")]

    profile = adapter.read(write_otf2(tmp_path / "run", {0: thread(1000), 1: thread(400)}, process={1: 0}))
    assert profile.where.thread.tolist() == [0, 1]
    assert profile.timeline is not None
    assert profile.timeline.communication is None
    told = [each.statement for each in diagnose(profile).evidence]
    path = next(each for each in told if each.startswith("The critical path"))
    assert path.startswith("The critical path takes 200 ms of the 200 ms of the trace (100 %): main 100 %.")
    assert any("= load balance 70.0 %" in each for each in told)


def test_two_traces_of_one_run_are_merged_with_their_messages(tmp_path: Path) -> None:
    events = simulate(RING)
    profile = adapter.read(write_otf2(tmp_path / "run", events))
    other = replace(adapter.read(write_otf2(tmp_path / "sums", {0: [(0, "enter", "main"), (9, "leave", "main")]})),
                    read_timeline=no_timeline, format="Score-P", sources=(Source(tmp_path, "Score-P"),))  # fmt: skip
    merged = merge([profile, other])
    assert merged.timeline is not None
    assert profile.timeline is not None
    ours, theirs = merged.timeline.communication, profile.timeline.communication
    assert ours is not None
    assert theirs is not None
    assert ours.messages.sent.tolist() == theirs.messages.sent.tolist()
    assert {merged.tree.label(int(node)) for node in ours.calls.node} == {
        profile.tree.label(int(node)) for node in theirs.calls.node
    }


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
