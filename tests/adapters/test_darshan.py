"""Darshan logs through a stand-in of the library: sums by hand, impossible times, crashes of native code, privacy; and the rules."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import chathpc
from chathpc.adapters import darshan, native
from chathpc.adapters.darshan import profile as darshan_log
from chathpc.adapters.glance import Glance
from chathpc.errors import AdapterError
from tests.synthetic.darshan_stub import install, write_log


@pytest.fixture(autouse=True)
def stand_in(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(install(tmp_path_factory.mktemp("stub")))
    for name in [name for name in sys.modules if name.split(".")[0] == "darshan"]:
        monkeypatch.delitem(sys.modules, name)


def shared(**values: float) -> dict[str, object]:
    return {"file": "/scratch/someone/run/out.h5", "rank": -1, **values}


WRITES = shared(
    OPENS=4, WRITES=400, BYTES_WRITTEN=400 * 2**23, F_WRITE_TIME=160.0, F_META_TIME=1.0, SIZE_WRITE_4M_10M=400, SEQ_WRITES=396,
    F_SLOWEST_RANK_TIME=42.0, F_FASTEST_RANK_TIME=39.0,
)  # fmt: skip


def causes(path: Path) -> tuple[str, list[str]]:
    report = chathpc.explain(chathpc.load(path), llm="none")
    return report.verdict, [finding.cause for finding in report.findings]


def test_layers_are_not_counted_twice(tmp_path: Path) -> None:
    above = shared(COLL_WRITES=400, BYTES_WRITTEN=400 * 2**23, F_WRITE_TIME=161.0)
    profile = chathpc.load(write_log(tmp_path / "a.darshan", POSIX=[WRITES], MPIIO=[above]))
    profile.tree.check()
    assert profile.total("io.time") == 161.0
    assert profile.total("io.system.time") == 161.0
    assert profile.total("io.write.bytes") == 400 * 2**23
    assert profile.total("io.write.count") == 400
    assert profile.total("io.meta.count") == 4
    assert profile.total("io.large.count") == 400
    assert profile.total("run.time") == 400.0
    assert profile.total("io.files") == 1
    assert profile.title == "a"
    only = chathpc.load(write_log(tmp_path / "b.darshan", MPIIO=[above]))
    assert only.total("io.write.time") == 161.0


def test_a_log_without_requests_to_the_file_system_is_explained(tmp_path: Path) -> None:
    """Of Darshan's modules only MPI-IO was on: what the layer below did is not known, and the outermost one stands for it."""
    above = shared(
        COLL_WRITES=400,
        BYTES_WRITTEN=400 * 2**23,
        F_WRITE_TIME=300.0,
        F_SLOWEST_RANK_TIME=90.0,
        F_FASTEST_RANK_TIME=60.0,
    )
    path = write_log(tmp_path / "a.darshan", MPIIO=[above])
    assert "io.system.time" not in chathpc.load(path).metrics
    assert causes(path)[0] == "bottleneck"


def test_ranks_are_locations_and_shared_files_one_of_their_own(tmp_path: Path) -> None:
    rows = [
        {"file": f"/d/f{rank}", "rank": rank, "READS": 10, "BYTES_READ": 100, "F_READ_TIME": 1.0 + rank}
        for rank in (0, 3)
    ]
    profile = chathpc.load(write_log(tmp_path / "a.darshan", POSIX=[*rows, shared(F_WRITE_TIME=5.0, WRITES=1)]))
    table = profile.locations.set_index("rank")["io.time"]
    assert {int(rank): value for rank, value in table.items()} == {-1: 5.0, 0: 1.0, 3: 4.0}


def test_paths_of_files_are_cut_and_people_are_not_named(tmp_path: Path) -> None:
    text = chathpc.explain(
        chathpc.load(write_log(tmp_path / "a.darshan", POSIX=[WRITES])), llm="none"
    ).model_dump_json()
    assert "run/out.h5" in text
    assert "someone" not in text
    assert "SECRET" not in text


def test_impossible_times_are_left_out_and_told(tmp_path: Path) -> None:
    rows = [shared(F_WRITE_TIME=-2662.0, WRITES=3), {**WRITES, "F_READ_TIME": float("nan")}]
    profile = chathpc.load(write_log(tmp_path / "a.darshan", POSIX=[rows[1]], STDIO=[rows[0]], partial=("STDIO",)))
    assert profile.total("io.time") == 161.0
    assert any("STDIO write time is -2662 s" in caveat for caveat in profile.caveats)
    assert any("POSIX read time" in caveat for caveat in profile.caveats)
    assert any("ran out of memory for STDIO" in caveat for caveat in profile.caveats)


def test_large_balanced_writes_are_the_file_systems_limit(tmp_path: Path) -> None:
    assert causes(write_log(tmp_path / "a.darshan", POSIX=[WRITES])) == ("hot-spot", ["io-bound"])


def test_what_the_log_shows_to_be_done_is_not_advised_and_requests_off_the_blocks_are_told(tmp_path: Path) -> None:
    """400 of 400 requests are off the blocks; no flush was made, and all calls on the file are collective, each of eight requests."""
    above = shared(COLL_WRITES=3200, BYTES_WRITTEN=400 * 2**23, F_WRITE_TIME=161.0)
    rows = {
        False: write_log(tmp_path / "a.darshan", POSIX=[WRITES | {"FILE_NOT_ALIGNED": 400}], MPIIO=[above]),
        True: write_log(tmp_path / "b.darshan", POSIX=[WRITES | {"FSYNCS": 400}]),
    }
    for flushes, path in rows.items():
        report = chathpc.explain(chathpc.load(path), llm="none")
        told = " ".join(report.findings[0].advice)
        assert ("fsync" in told) is flushes
        assert ("collectively" in told) is flushes
        assert ("H5Pset_alignment" in told) is not flushes
        said = " ".join(item.statement for item in report.evidence)
        assert ("not aligned to the file system's blocks 100 %" in said) is not flushes


def test_small_requests_are_found(tmp_path: Path) -> None:
    row = shared(WRITES=400_000, BYTES_WRITTEN=400_000 * 1000, F_WRITE_TIME=160.0, SIZE_WRITE_100_1K=400_000)
    assert causes(write_log(tmp_path / "a.darshan", POSIX=[row])) == ("bottleneck", ["io-small-requests"])


def test_metadata_is_found(tmp_path: Path) -> None:
    row = shared(OPENS=90_000, STATS=200_000, READS=90_000, BYTES_READ=9e8, F_READ_TIME=5.0, F_META_TIME=120.0)
    verdict, found = causes(write_log(tmp_path / "a.darshan", POSIX=[row]))
    assert (verdict, found[0]) == ("bottleneck", "io-metadata-bound")


def test_a_slow_rank_on_a_shared_file_is_found(tmp_path: Path) -> None:
    # Mean 40.25 s, slowest 80 s of 100 s: 39.75 s that the others may wait.
    report = chathpc.explain(
        write_log(tmp_path / "a.darshan", POSIX=[{**WRITES, "F_SLOWEST_RANK_TIME": 80.0}]), llm="none"
    )
    first = report.findings[0]
    assert first.cause == "io-imbalance"
    assert first.share == pytest.approx((80 - 161 / 4) / 100)
    assert "spread from 4 ranks accurate to a factor of 1.5" in first.confidence_reason
    assert any("MPI_File_write_at_all" in advice for advice in first.advice)


@pytest.mark.parametrize(
    ("posix", "mpi", "told"),
    [
        ({"SLOWEST_RANK_BYTES": 2**30, "FASTEST_RANK_BYTES": 2**30}, {}, False),  # each moved as much
        ({"SLOWEST_RANK_BYTES": 3 * 2**30, "FASTEST_RANK_BYTES": 2**28}, {}, True),
        ({}, {"COLL_WRITES": 399, "INDEP_WRITES": 1}, False),  # the calls were collective already
        ({}, {"INDEP_WRITES": 400}, True),
    ],
)
def test_a_slow_rank_is_no_writer_for_all_where_it_moved_no_more_or_calls_are_collective(
    tmp_path: Path, posix: dict[str, float], mpi: dict[str, float], told: bool
) -> None:
    slow = {**WRITES, "F_SLOWEST_RANK_TIME": 80.0, **posix}
    above = {**shared(BYTES_WRITTEN=400 * 2**23, F_WRITE_TIME=160.0, F_META_TIME=1.0, F_SLOWEST_RANK_TIME=80.0), **mpi}
    modules = {"POSIX": [slow]} | ({"MPIIO": [above]} if mpi else {})
    assert ("io-imbalance" in causes(write_log(tmp_path / "a.darshan", **modules))[1]) == told


def test_one_rank_that_writes_for_all_is_found(tmp_path: Path) -> None:
    rows = [
        {
            "file": "/d/out",
            "rank": 0,
            "WRITES": 9000,
            "BYTES_WRITTEN": 9e9,
            "F_WRITE_TIME": 60.0,
            "SIZE_WRITE_100K_1M": 9000,
        },
        {"file": "/d/in", "rank": 1, "READS": 1, "BYTES_READ": 10, "F_READ_TIME": 0.1},
    ]
    assert causes(write_log(tmp_path / "a.darshan", POSIX=rows))[1][0] == "io-imbalance"


def explained(path: Path) -> tuple[str, list[str], str]:
    report = chathpc.explain(chathpc.load(path), llm="none")
    sentences = " ".join((report.headline, *(fact.statement for fact in report.evidence)))
    return report.verdict, [finding.cause for finding in report.findings], sentences


def own(rank: int, seconds: float, **values: float) -> dict[str, object]:
    """A file of one rank, in large requests, of 10 GB unless told."""
    sizes = {"BYTES_WRITTEN": 10**10, "MAX_BYTE_WRITTEN": 10**10 - 1, "SIZE_WRITE_4M_10M": 2000} | values
    return {"file": f"/d/part{rank}", "rank": rank, "OPENS": 1, "WRITES": 2000, "F_WRITE_TIME": seconds, **sizes}


def stripes(file: str, *targets: int, size: float = 2**20, first: float = 0, last: float = -1) -> dict[str, object]:
    return {"file": file, "components": [{"counters": [size, first, last], "osts": list(targets)}]}


def test_the_slowest_rank_decides_how_much_of_the_run_is_input_and_output(tmp_path: Path) -> None:
    # One rank of 100 writes for 30 s of 100 s: the mean is 0.3 s, 0.3 % of the run.
    verdict, found, text = explained(write_log(tmp_path / "a.darshan", processes=100, POSIX=[own(7, 30.0)]))
    assert (verdict, found[0]) == ("bottleneck", "io-imbalance")
    assert "30.0 % of the run on the slowest rank" in text
    assert "Rank 7, the slowest, takes 30.0 s of the 100 s of the run (30.0 %): a rank on average 300 ms." in text
    assert "a rank on average 300 ms" in text


def test_the_slowest_rank_is_that_of_its_own_and_of_shared_files_together(tmp_path: Path) -> None:
    # Rank 2: 20 s alone and 30 s as the slowest on the shared file; the others there (100 − 30 − 6) / 2 = 32, at most 30.
    both = {**WRITES, "F_WRITE_TIME": 99.0, "SLOWEST_RANK": 2, "F_SLOWEST_RANK_TIME": 30.0, "F_FASTEST_RANK_TIME": 6.0}
    text = explained(write_log(tmp_path / "a.darshan", POSIX=[both, own(2, 20.0)]))[2]
    assert "Rank 2, the slowest, takes 50.0 s" in text


def test_the_largest_imbalance_is_told_whether_files_are_shared_or_of_one_rank(tmp_path: Path) -> None:
    even = {**WRITES, "FASTEST_RANK": 0, "SLOWEST_RANK": 1}  # 42 s, the mean is 40.25 s
    alone = [own(rank, 50.0 if rank == 3 else 2.0) for rank in range(4)]
    text = explained(write_log(tmp_path / "a.darshan", POSIX=[even, *alone]))[2]
    # 50 s and the mean of the two unknown ranks on the shared file, (161 − 42 − 39) / 2; on average (161 + 56) / 4.
    assert "The slowest rank, in all its files, takes 90.0 s, a rank on average 54.2 s" in text
    uneven = {**WRITES, "SLOWEST_RANK": 1, "F_SLOWEST_RANK_TIME": 95.0, "FASTEST_RANK": 0}
    alone = [own(rank, 2.0) for rank in range(4)]
    text = explained(write_log(tmp_path / "b.darshan", POSIX=[uneven, *alone]))[2]
    assert "The slowest rank, on run/out.h5, takes 95.0 s, a rank on average 40.2 s" in text


def test_each_file_has_the_time_of_its_outermost_layer(tmp_path: Path) -> None:
    a, b, c = ({"file": f"/d/{name}"} for name in "abc")
    posix = [{**one, "WRITES": 10, "BYTES_WRITTEN": 1e9, "F_WRITE_TIME": 10.0} for one in (a, b, c)]
    mpi = [{**one, "COLL_WRITES": 10, "BYTES_WRITTEN": 1e9, "F_WRITE_TIME": 15.0} for one in (a, b)]
    log = write_log(
        tmp_path / "a.darshan", POSIX=posix, MPIIO=mpi, H5F=[{**a, "OPENS": 4, "F_META_TIME": 2.0}],
        H5D=[{**a, "part": f"/step{step}", "WRITES": 5, "BYTES_WRITTEN": 5e8, "F_WRITE_TIME": 9.0} for step in (0, 1)],
    )  # fmt: skip
    profile = chathpc.load(log)
    assert profile.total("io.time") == 2 * 9 + 2 + 15 + 10
    assert profile.total("io.system.time") == 30
    assert (profile.total("io.write.bytes"), profile.total("io.write.count"), profile.total("io.files")) == (3e9, 30, 3)
    labels = [" > ".join(map(profile.tree.label, profile.tree.path(node))) for node in range(len(profile.tree))]
    assert "job > HDF5 > d/a > /step1 > write" in labels


def test_a_layer_that_has_seen_less_than_the_one_below_is_not_the_outermost(tmp_path: Path) -> None:
    below = shared(INDEP_WRITES=400, BYTES_WRITTEN=3e9, F_WRITE_TIME=161.0)
    sets = [
        {**shared(WRITES=100, BYTES_WRITTEN=1e9, F_WRITE_TIME=52.0), "part": "/x", "rank": rank} for rank in (1, 2, 3)
    ]
    assert chathpc.load(write_log(tmp_path / "a.darshan", MPIIO=[below], H5D=sets)).total("io.time") == 161.0


@pytest.mark.parametrize("collective", [0, 4000])
def test_independent_access_to_a_shared_file_is_told_where_it_is_not_joined(tmp_path: Path, collective: int) -> None:
    """HDF5 was asked to write collectively; MPI-IO does not, or ROMIO falls back below it: 200 kB reach the file system one by one."""
    sizes = {"BYTES_WRITTEN": 8e8, "F_WRITE_TIME": 160.0}
    mpi = shared(INDEP_WRITES=4000 - collective, COLL_WRITES=collective, SIZE_WRITE_AGG_100K_1M=4000, **sizes)
    asked = {**shared(WRITES=4000, USE_MPIIO_COLLECTIVE=1, **sizes), "part": "/x"}
    posix = shared(WRITES=4000, SIZE_WRITE_100K_1M=4000, **sizes)
    verdict, found, text = explained(write_log(tmp_path / "a.darshan", POSIX=[posix], MPIIO=[mpi], H5D=[asked]))
    assert (verdict, found) == ("bottleneck", ["io-independent"])
    assert (
        f"100 % of 4,000 calls: independent {4000 - collective:,} calls, asked of a library above collectively 4,000"
        in text
    )


def test_collective_calls_that_are_joined_are_not_told_as_independent(tmp_path: Path) -> None:
    mpi = shared(COLL_WRITES=4000, BYTES_WRITTEN=8e8, F_WRITE_TIME=160.0, SIZE_WRITE_AGG_100K_1M=4000)
    posix = shared(WRITES=48, BYTES_WRITTEN=8e8, F_WRITE_TIME=40.0, SIZE_WRITE_10M_100M=48)
    found, text = explained(write_log(tmp_path / "a.darshan", POSIX=[posix], MPIIO=[mpi]))[1:]
    assert found == ["io-bound"]
    assert "of these in requests to the file system 40.0 s" in text


def test_a_rank_that_writes_below_collective_calls_for_all_is_found(tmp_path: Path) -> None:
    # All 64 ranks wait 60 s in MPI-IO; below it rank 0 alone makes the requests.
    mpi = shared(
        COLL_WRITES=640, BYTES_WRITTEN=8e9, F_WRITE_TIME=64 * 60.0, F_SLOWEST_RANK_TIME=60.5, F_FASTEST_RANK_TIME=59.5
    )
    posix = {**shared(WRITES=2000, BYTES_WRITTEN=8e9, F_WRITE_TIME=58.0, SIZE_WRITE_4M_10M=2000), "rank": 0}
    found, text = explained(write_log(tmp_path / "a.darshan", processes=64, POSIX=[posix], MPIIO=[mpi]))[1:]
    assert found[0] == "io-imbalance"
    assert "in requests to the file system, takes 58.0 s, a rank on average 906 ms" in text


def test_time_and_bytes_of_files_are_those_of_the_targets_of_their_stripes(tmp_path: Path) -> None:
    # 10 GB on OST 3 and 5; 1.5 MB of which the first stripe of 1 MiB is on OST 3, the second on 5, none on 7;
    # a layout whose first MiB is on OST 9.
    rows = [own(0, 40.0), own(1, 10.0, BYTES_WRITTEN=1_500_000, MAX_BYTE_WRITTEN=1_499_999)]
    rows.append(own(2, 8.0, BYTES_WRITTEN=2**22, MAX_BYTE_WRITTEN=2**22 - 1))
    layout = [stripes("/d/part0", 3, 5), stripes("/d/part1", 3, 5, 7), stripes("/d/part2", 9, last=2**20)]
    layout[2]["components"].append({"counters": [2**20, 2**20, -1], "osts": [3]})  # type: ignore[attr-defined]
    profile = chathpc.load(write_log(tmp_path / "a.darshan", POSIX=rows, LUSTRE=layout))
    seconds = {
        profile.tree.label(int(node)): value for node, value in zip(*_column(profile, "io.target.time"), strict=True)
    }
    assert seconds == {"OST 3": 20 + 5 + 6, "OST 5": 20 + 5, "OST 9": 2}
    assert _column(profile, "io.target.files")[1] == [3, 2, 1]
    assert profile.total("io.target.bytes") == pytest.approx(10**10 + 1_500_000 + 2**22)


def test_a_file_on_more_targets_than_lustre_allows_costs_no_more(tmp_path: Path) -> None:
    layout = [stripes("/d/part0", *range(50_000))]
    log = darshan_log.read_log(write_log(tmp_path / "a.darshan", POSIX=[own(0, 40.0)], LUSTRE=layout))
    assert [len(part.targets) for parts in log.stripes.values() for part in parts] == [2000]


def _column(profile: chathpc.Profile, metric: str) -> tuple[list[int], list[float]]:
    column = profile.exclusive(metric)
    return column.nodes.tolist(), column.values.tolist()


def test_a_slow_storage_target_is_found(tmp_path: Path) -> None:
    # 32 files of equal size on 8 targets; those on OST 5 take 60 s, the others 5 s: 240 s there, (240 + 7 × 20) / 8 on average.
    rows = [own(rank, 60.0 if rank % 8 == 5 else 5.0) for rank in range(32)]
    layout = [stripes(f"/d/part{rank}", rank % 8) for rank in range(32)]
    verdict, found, text = explained(write_log(tmp_path / "a.darshan", processes=32, POSIX=rows, LUSTRE=layout))
    assert (verdict, found) == ("bottleneck", ["io-storage-targets"])
    assert "OST 5 takes 5.05 times the mean of 8 storage targets for as many bytes" in text


def test_a_full_storage_target_is_found_and_targets_of_a_third_more_are_none(tmp_path: Path) -> None:
    rows = [own(rank, 60.0 if rank < 8 else 15.0, BYTES_WRITTEN=4e10 if rank < 8 else 1e10) for rank in range(32)]
    layout = [stripes(f"/d/part{rank}", rank // 8) for rank in range(32)]
    found, text = explained(write_log(tmp_path / "a.darshan", processes=32, POSIX=rows, LUSTRE=layout))[1:]
    assert found[0] == "io-storage-targets"
    assert "OST 0 holds 320 GB, 2.29 times the mean of 4 storage targets" in text
    even = [own(rank, 55.0 + rank % 2 * 15) for rank in range(32)]
    layout = [stripes(f"/d/part{rank}", rank % 8) for rank in range(32)]
    verdict, found, _ = explained(write_log(tmp_path / "b.darshan", processes=32, POSIX=even, LUSTRE=layout))
    assert (verdict, found) == ("healthy", ["io-bound"])


def test_many_ranks_that_share_one_target_are_found(tmp_path: Path) -> None:
    row = {**WRITES, "F_WRITE_TIME": 64 * 60.0, "F_SLOWEST_RANK_TIME": 61.0, "F_FASTEST_RANK_TIME": 59.0}
    layout = [stripes(str(row["file"]), 7)]
    verdict, found, text = explained(write_log(tmp_path / "a.darshan", processes=64, POSIX=[row], LUSTRE=layout))
    assert (verdict, found[0]) == ("bottleneck", "io-storage-targets")
    assert "64 ranks share one storage target" in text


def test_small_requests_count_by_the_time_of_their_files(tmp_path: Path) -> None:
    # Most requests are small, but the time goes into the file of large ones.
    large = shared(WRITES=400, BYTES_WRITTEN=4e9, F_WRITE_TIME=200.0, SIZE_WRITE_4M_10M=400)
    small = {**shared(WRITES=90_000, BYTES_WRITTEN=9e6, F_WRITE_TIME=8.0, SIZE_WRITE_100_1K=90_000), "file": "/d/log"}
    assert causes(write_log(tmp_path / "a.darshan", POSIX=[large, small])) == ("healthy", ["io-bound"])


def test_a_run_with_little_input_and_output_is_healthy_and_says_how_much_it_is(tmp_path: Path) -> None:
    # 4 s of 100 s on the slowest rank, 3.75 s on average.
    row = {**WRITES, "F_WRITE_TIME": 14.0, "F_SLOWEST_RANK_TIME": 4.0, "F_FASTEST_RANK_TIME": 3.5}
    verdict, found, text = explained(write_log(tmp_path / "a.darshan", POSIX=[row]))
    assert (verdict, found) == ("healthy", [])
    assert "Input and output take 4.00 % of the run on the slowest rank, 3.75 % on average" in text
    partial = write_log(tmp_path / "b.darshan", POSIX=[row], partial=("POSIX",))
    assert explained(partial)[0] != "healthy"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (shared(WRITES=9, BYTES_WRITTEN=9000, F_WRITE_TIME=0.5), "too little for a conclusion"),
        (
            shared(OPENS=200, F_META_TIME=9000.0, F_READ_TIME=0.2, BYTES_READ=1e6),
            "more than the 400 s of all processes",
        ),
    ],
)
def test_too_little_and_impossible_logs_support_no_conclusion(
    tmp_path: Path, row: dict[str, object], words: str
) -> None:
    report = chathpc.explain(write_log(tmp_path / "a.darshan", POSIX=[row]), llm="none")
    assert report.verdict == "insufficient-data"
    assert words in report.headline
    assert report.findings == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"crash", r"crashed \(signal 11\)"),
        (b"exit", "ended with status 3"),
        (b"closed", "rejects it"),
        (b"{]", "rejects it"),
        (b'{"job": {"nprocs": 0}, "records": {}, "names": {}, "partial": []}', "a job of 0 processes"),
    ],
)
def test_damage_ends_in_words_even_where_native_code_crashes(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "a.darshan"
    path.write_bytes(b"3.41\0\0\0\0" + (6567223).to_bytes(8, "little") + content)
    with pytest.raises(AdapterError, match=words) as caught:
        chathpc.load(path)
    assert caught.value.hint


def test_a_library_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(darshan_log, "_SECONDS", 0)
    with pytest.raises(AdapterError, match="did not finish"):
        chathpc.load(write_log(tmp_path / "a.darshan", POSIX=[WRITES]))


def test_without_the_package_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_log(tmp_path / "a.darshan", POSIX=[WRITES])
    monkeypatch.setattr(native, "find_spec", lambda name: None)
    with pytest.raises(AdapterError) as caught:
        chathpc.load(path)
    assert "pip install 'chathpc[darshan]'" in caught.value.hint
    assert "chathpc[darshan]" in darshan.needs()


def test_logs_are_recognised_by_their_magic_number(tmp_path: Path) -> None:
    assert darshan.recognises(Glance(write_log(tmp_path / "a.txt", POSIX=[])))
    (tmp_path / "b.darshan").write_bytes(b"3.41 something else")
    assert not darshan.recognises(Glance(tmp_path / "b.darshan"))


@pytest.mark.parametrize(
    "use", ["pandas.DataFrame({'a': [1]}).shape[0] == 1 or exit(9)", "def f(x: pandas.DataFrame) -> None: ..."]
)
def test_pandas_is_there_for_a_library_that_does_more_than_name_its_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use: str
) -> None:
    package = install(tmp_path / "stub")
    module = package / "darshan" / "backend" / "cffi_backend.py"
    module.write_text(f"import pandas\n{use}\n{module.read_text()}")
    monkeypatch.syspath_prepend(package)
    assert chathpc.load(write_log(tmp_path / "a.darshan", POSIX=[WRITES])).total("io.time") == 161.0


def test_a_log_without_the_records_of_a_module_that_it_lists_was_cut_off(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="no record of its module MPI-IO can be read: it was cut off"):
        chathpc.load(write_log(tmp_path / "a.darshan", POSIX=[WRITES], MPIIO=[]))


def test_times_of_all_ranks_together_are_no_location_beside_single_ranks(tmp_path: Path) -> None:
    from chathpc.commands.metrics import _spread

    together = chathpc.load(write_log(tmp_path / "a.darshan", POSIX=[WRITES, own(3, 2.0)]))
    assert _spread(together) is None
    apart = chathpc.load(write_log(tmp_path / "b.darshan", POSIX=[own(rank, 2.0 + rank) for rank in range(4)]))
    assert _spread(apart) is not None
