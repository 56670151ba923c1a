"""CUBE4 profiles written by our own writer; expected numbers are arithmetic on what is written."""

from __future__ import annotations

import gzip
import struct
import time
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.cube import ADAPTER, read, recognises
from chathpc.adapters.cube.archive import read_anchor
from chathpc.adapters.glance import Glance
from chathpc.errors import AdapterError
from chathpc.profile.metric import Clock
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind
from tests.adapters.samples.score_p import CALLS, REGIONS, TIME, device, spec, write_samples
from tests.synthetic.cube import (
    CubeSpec,
    MetricSpec,
    RegionSpec,
    anchor_of,
    archive_of,
    data_of,
    entry,
    index_of,
    write_cube,
)


def own(profile: Profile, metric: str = "cpu.time") -> dict[str, float]:
    """Exclusive values by the node's label."""
    column = profile.exclusive(metric)
    return {profile.tree.label(int(n)): float(v) for n, v in zip(column.nodes, column.values, strict=True)}


def test_samples_are_recognised_and_read(tmp_path: Path) -> None:
    for path in write_samples(tmp_path):
        assert recognises(Glance(path)), path
        profile = ADAPTER.read(path)
        profile.tree.check()
        assert profile.timed
        assert profile.exclusive("cpu.time").sum() == pytest.approx(profile.total("cpu.time"), rel=1e-12)
        again = Profile.from_graphframe(profile.graphframe())
        assert again.total("cpu.time") == pytest.approx(profile.total("cpu.time"), rel=1e-12)
        shown = repr(
            (profile.run, profile.hardware, profile.title, profile.caveats, profile.metrics, profile.tree.names)
        )
        assert "PLANTED" not in shown
        assert "--secret" not in shown


@pytest.mark.parametrize("data", [b"", b"anchor", b"\0" * 2000, b"anchor.xml" + b"x" * 3000, b"README\0" + b"x" * 3000])
def test_other_files_are_not_recognised(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "file").write_bytes(data)
    assert not recognises(Glance(tmp_path / "file"))
    assert not recognises(Glance(tmp_path))


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("order", ["<", ">"])
def test_inclusive_times_of_ranks_are_taken_apart(tmp_path: Path, order: str, packed: bool) -> None:
    profile = read(write_cube(tmp_path / "a.cubex", spec(), order=order, packed=packed, zipped=packed))
    assert own(profile) == {
        "heat": 2.0, "main": 20.0 - 11.0 - 6.0, "sweep": 11.0 - 1.5 - 6.5, "!$omp implicit barrier @heat.c:40": 1.5,
        "loop at heat.c:33": 6.5, "MPI_Allreduce": 6.0,
    }  # fmt: skip
    assert profile.total("cpu.time") == 22.0
    assert profile.location_totals("cpu.time").tolist() == [10.0, 12.0]
    assert profile.where.rank.tolist() == [0, 1]
    assert own(profile, "calls.count") == {"main": 2, "sweep": 14, "MPI_Allreduce": 6}
    assert own(profile, "mpi.sent.bytes") == {"MPI_Allreduce": 48}
    assert profile.total("cpu.cycles") == 11e9
    assert profile.total("mpi_wait_nxn") == 1.75
    assert profile.total("size") == 32.0
    assert not profile.metrics["mpi.put.bytes"].has_values
    assert profile.metrics["cpu.time"].clock == Clock.WALL
    assert "max_time" not in {metric.source_name for metric in profile.metrics.values()}
    assert (profile.title, profile.run["ranks"], profile.sources[0].tool) == ("heat", "2", "Score-P")


def test_source_places_are_those_of_the_programs_own_regions(tmp_path: Path) -> None:
    tree = read(write_cube(tmp_path / "a.cubex", spec())).tree
    places = {tree.label(node): tree.place(node) for node in range(len(tree))}
    assert places["main"] == "heat.c:10"
    assert places["MPI_Allreduce"] == ""
    assert places["heat"] == ""
    kinds = {tree.label(node): NodeKind(int(tree.kind[node])) for node in range(len(tree))}
    assert kinds["loop at heat.c:33"] == NodeKind.LOOP
    assert kinds["axpy"] == NodeKind.GPU_KERNEL
    assert kinds["!$omp implicit barrier @heat.c:40"] == NodeKind.REGION


def test_time_on_a_gpu_stream_is_no_time_of_the_host(tmp_path: Path) -> None:
    profile = read(write_cube(tmp_path / "a.cubex", device()))
    assert own(profile) == {"heat": 1.0, "main": 4.0}
    assert own(profile, "gpu.kernel.time") == {"axpy": 2.0}
    assert [profile.where.label(i) for i in range(2)] == ["location 0", "GPU context 0 stream 7"] or len(
        profile.where
    ) == 2
    assert not profile.caveats


def test_a_folder_with_an_analysis_of_the_trace_is_read_from_that(tmp_path: Path) -> None:
    write_cube(tmp_path / "profile.cubex", spec())
    waits = replace(
        spec(), metrics=(MetricSpec("time", TIME, kind="INCLUSIVE"), MetricSpec("mpi_latesender", {5: (1.0, 2.0)}))
    )
    write_cube(tmp_path / "scout.cubex", waits)
    profile = read(tmp_path)
    assert profile.total("mpi_latesender") == 3.0
    assert "waiting times and their causes" not in profile.not_collected
    write_cube(tmp_path / "scout.cubex", replace(waits, metrics=waits.metrics[:1]))
    assert "scan -t" in read(tmp_path).not_collected["waiting times and their causes"]


def test_equal_call_paths_and_parameters(tmp_path: Path) -> None:
    calls = ((-1, 1), (0, 2), (0, 2), (0, 2))
    one = CubeSpec(
        REGIONS,
        calls,
        (MetricSpec("time", {0: (6.0,), 1: (1.0,), 2: (2.0,), 3: (3.0,)}, kind="INCLUSIVE"),),
        parameters={3: ("n", "8")},
    )
    assert own(read(write_cube(tmp_path / "a.cubex", one))) == {"main": 0.0, "sweep": 3.0, "sweep (n=8)": 3.0} or own(
        read(tmp_path / "a.cubex")
    ) == {"sweep": 3.0, "sweep (n=8)": 3.0}


def test_contradicting_times_are_told(tmp_path: Path) -> None:
    one = CubeSpec(REGIONS, ((-1, 1), (0, 2)), (MetricSpec("time", {0: (1.0,), 1: (3.0,)}, kind="INCLUSIVE"),))
    profile = read(write_cube(tmp_path / "a.cubex", one))
    assert profile.total("cpu.time") == 3.0
    assert any("larger numbers were used" in caveat for caveat in profile.caveats)


def test_a_flushed_trace_buffer_is_told(tmp_path: Path) -> None:
    regions = (*REGIONS, RegionSpec("TRACE BUFFER FLUSH", paradigm="measurement", role="artificial"))
    one = CubeSpec(regions, ((-1, 0), (0, 7)), (MetricSpec("time", {0: (1.0,), 1: (0.5,)}, kind="INCLUSIVE"),))
    profile = read(write_cube(tmp_path / "a.cubex", one))
    assert any("SCOREP_TOTAL_MEMORY" in caveat for caveat in profile.caveats)
    assert "functions of the program" in profile.not_collected


def test_profiles_without_times_or_numbers(tmp_path: Path) -> None:
    counted = replace(spec(), metrics=(MetricSpec("visits", {1: (1, 1)}, type="UINT64", unit="occ"),))
    assert read(write_cube(tmp_path / "a.cubex", counted)).insufficient
    with pytest.raises(AdapterError, match="no stored numbers"):
        read(write_cube(tmp_path / "b.cubex", replace(spec(), metrics=(MetricSpec("time", {}),))))


# -- damage --------------------------------------------------------------------------------------------------

ONE = CubeSpec(REGIONS, CALLS, (MetricSpec("time", TIME, kind="INCLUSIVE"),), ((0, 0, "thread"), (1, 0, "thread")))
INDEX, DATA = index_of(ONE.metrics[0], CALLS), data_of(ONE.metrics[0], CALLS)
PACKED = data_of(ONE.metrics[0], CALLS, packed=True)
ANCHOR = anchor_of(ONE)


def refused(folder: Path, *, index: bytes = INDEX, data: bytes = DATA, anchor: str | bytes = ANCHOR) -> str:
    words = anchor.encode() if isinstance(anchor, str) else anchor
    (folder / "a.cubex").write_bytes(entry("0.index", index) + entry("0.data", data) + entry("anchor.xml", words))
    with pytest.raises(AdapterError) as caught:
        read(folder / "a.cubex")
    assert caught.value.hint
    return caught.value.message


@pytest.mark.parametrize(
    ("index", "what"),
    [
        (b"", "has the wrong header"),
        (INDEX[:15], "has the wrong header"),
        (INDEX[:-2], "announces 6 nodes and has 5"),
        (INDEX[:-4] + struct.pack("<I", 99), "names node 99 of 7"),
        (INDEX[:-4] + INDEX[-8:-4], "names a node twice"),
        (INDEX[:18] + struct.pack("<I", 2**32 - 1), "announces 4,294,967,295 nodes"),
    ],
)
def test_damaged_indices_are_told(tmp_path: Path, index: bytes, what: str) -> None:
    assert what in refused(tmp_path, index=index)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "have the wrong header"),
        (DATA[:-1], "bytes of values and needs"),
        (DATA + b"\0", "bytes of values and needs"),
        (PACKED[:15], "cut off"),
        (PACKED[:11] + struct.pack("<Q", 2**60) + PACKED[19:], "more than it has room for"),
        (PACKED[:-1], "reaches beyond the data"),
        (PACKED[:-3] + b"xyz", "damaged block"),
        (PACKED[:170] + b"\xff" * 20 + PACKED[190:], "damaged block"),
    ],
)
def test_damaged_data_are_told(tmp_path: Path, data: bytes, what: str) -> None:
    assert what in refused(tmp_path, data=data)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("<program>", "<program", "line"),
        ('calleeId="1"', 'calleeId="99"', "region 99"),
        ('calleeId="1"', 'calleeId="x"', "lacks"),
        ('calleeId="1"', "", "lacks"),
        ('<cube version="4.4">', "<tube>", "not a Cube document"),
        ("<rank>1</rank>", "<rank>x</rank>", "lacks"),
        ("</cube>", "", "line"),
        ('<cube version="4.4">', '<!DOCTYPE c [<!ENTITY a "b">]><cube version="4.4">', "declares an entity"),
    ],
)
def test_damaged_documents_are_told(tmp_path: Path, old: str, new: str, what: str) -> None:
    assert what in refused(tmp_path, anchor=ANCHOR.replace(old, new, 1))


def test_documents_without_the_essential_parts_are_refused(tmp_path: Path) -> None:
    assert "no metrics" in refused(tmp_path, anchor='<?xml version="1.0"?><cube version="4"></cube>')


def test_archives_without_a_document_or_with_broken_headers_are_refused(tmp_path: Path) -> None:
    whole = archive_of(ONE)
    for data, what in (
        (entry("0.index", INDEX), "no anchor.xml"),
        (whole[:124] + b"zzzzzzzzzzz" + whole[135:], "no size"),
        (whole[:124] + b"77777777777" + whole[135:], "beyond the end"),
    ):
        (tmp_path / "a.cubex").write_bytes(data)
        with pytest.raises(AdapterError, match=what):
            read(tmp_path / "a.cubex")


def test_bombs_are_refused_soon(tmp_path: Path) -> None:
    laughs = '<?xml version="1.0"?><!DOCTYPE cube [<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY a{i} "{"&a" + str(i - 1) + ";" if i else "&a;"}{"&a;" * 9}">' for i in range(10)
    ) + ']><cube version="4"><attr key="&a9;"/></cube>'  # fmt: skip
    began = time.process_time()
    assert "entity" in refused(tmp_path, anchor=laughs)
    assert "unpacks to more" in refused(tmp_path, anchor=gzip.compress(b" " * (200 << 20)))
    assert "deep" in refused(tmp_path, anchor=ANCHOR.replace("<program>", "<program>" + "<x>" * 30_000))
    bomb = zlib.compress(b"\0" * (50 << 20))
    header = b"ZCUBEX.DATA" + struct.pack("<Q3Q", 1, 0, 0, len(bomb))
    assert "unpacks to more than the 96 bytes" in refused(tmp_path, data=header + bomb)
    many = ANCHOR.replace("</locationgroup>", '<location Id="9"></location>' * 100_000 + "</locationgroup>", 1)
    assert "bytes of values" in refused(tmp_path, anchor=many)
    assert time.process_time() - began < 10


def test_text_without_end_is_cut(tmp_path: Path) -> None:
    long = ANCHOR.replace("<name>sweep</name>", f"<name>{'x' * 500_000}</name>")
    anchor = read_anchor(long.encode(), tmp_path)
    assert len(anchor.regions[2].name) <= 500_000


# -- properties ----------------------------------------------------------------------------------------------


@st.composite
def programs(draw: st.DrawFn) -> CubeSpec:
    size = draw(st.integers(1, 12))
    calls: list[tuple[int, int]] = [(-1, 0)]
    open_nodes = [0]
    for number in range(1, size):
        depth = draw(st.integers(1, len(open_nodes)))
        del open_nodes[depth:]
        calls.append((open_nodes[-1], number))
        open_nodes.append(number)
    ranks = draw(st.integers(1, 3))
    times = np.array([[draw(st.floats(0.001, 10)) for _ in range(ranks)] for _ in calls])
    whole = times.copy()
    for number in range(size - 1, 0, -1):
        whole[calls[number][0]] += whole[number]
    regions = tuple(RegionSpec(f"f{number}") for number in range(size))
    metrics = (
        MetricSpec("time", {n: whole[n].tolist() for n in range(size)}, kind="INCLUSIVE"),
        MetricSpec("other", {n: times[n].tolist() for n in range(size)}),
    )
    return CubeSpec(regions, calls, metrics, tuple((rank, 0, "thread") for rank in range(ranks)))


@settings(max_examples=60, deadline=None)
@given(programs(), st.booleans())
def test_exclusive_and_inclusive_metrics_say_the_same(
    tmp_path_factory: pytest.TempPathFactory, program: CubeSpec, packed: bool
) -> None:
    profile = read(write_cube(tmp_path_factory.mktemp("cube") / "a.cubex", program, packed=packed))
    n = len(profile.tree)
    assert n == len(program.calls)
    nodes = np.arange(n, dtype=np.int32)
    for inclusive in (True, False):
        np.testing.assert_allclose(
            profile.values.per_location("cpu.time", nodes, inclusive=inclusive),
            profile.values.per_location("other.other", nodes, inclusive=inclusive),
            rtol=1e-9, atol=1e-12,
        )  # fmt: skip
