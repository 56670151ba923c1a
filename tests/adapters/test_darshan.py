"""Darshan logs through a stand-in of the library: sums by hand, impossible times, crashes of native code, privacy; and the rules."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import chathpc
from chathpc.adapters import darshan, native
from chathpc.adapters.darshan import log as darshan_log
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
    assert profile.total("mpi.io.time") == 161.0
    assert profile.total("io.write.bytes") == 400 * 2**23
    assert profile.total("io.write.count") == 400
    assert profile.total("io.meta.count") == 4
    assert profile.total("io.large.count") == 400
    assert profile.total("run.time") == 400.0
    assert profile.total("io.files") == 1
    assert profile.title == "a, 4 processes, 100 s"
    only = chathpc.load(write_log(tmp_path / "b.darshan", MPIIO=[above]))
    assert only.total("io.write.time") == 161.0


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
    assert "spread from 4 ranks known to a factor of 1.5" in first.confidence_reason
    assert any("MPI_File_write_at_all" in advice for advice in first.advice)


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
        (b"closed", "refuses it"),
        (b"{]", "refuses it"),
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
    with pytest.raises(AdapterError, match="did not come to an end"):
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
