"""Who gives a part of what is read as a whole is told what that is, and where it lies."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import chathpc
from chathpc.errors import AdapterError
from tests.adapters import mutations
from tests.synthetic import programs
from tests.synthetic.hpctoolkit_v4 import write


def refused(path: Path) -> tuple[str, str]:
    with pytest.raises(AdapterError) as caught:
        chathpc.load(path)
    assert caught.value.message.startswith(f"{path}: ")
    return caught.value.message.removeprefix(f"{path}: "), caught.value.hint


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An OTF2 archive by its files' names; only the anchor has a content that is looked at."""
    folder = tmp_path / "scorep-1"
    (folder / "traces").mkdir(parents=True)
    (folder / "traces.otf2").write_bytes(b"\x03OTF2" + bytes(40))
    for name in ("traces.def", "scorep.cfg", "traces/0.def", "traces/0.evt"):
        (folder / name).write_bytes(b"\x03B\x01" + bytes(40))
    return folder


@pytest.mark.parametrize("part", ["traces.def", "scorep.cfg", "traces", "traces/0.def", "traces/0.evt"])
def test_a_part_of_a_trace_leads_to_its_anchor(part: str, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    what = "a part of an OTF2 archive, not a profile by itself"
    assert refused(archive / part) == (what, f"Give {archive / 'traces.otf2'}.")
    monkeypatch.chdir(archive.parent)
    assert refused(Path("scorep-1", part)) == (what, "Give scorep-1/traces.otf2.")


def test_a_part_without_the_rest_is_known_by_its_name(archive: Path, tmp_path: Path) -> None:
    shutil.copy(archive / "traces" / "0.evt", tmp_path / "0.evt")
    what, how = refused(tmp_path / "0.evt")
    assert what == "a part of an OTF2 archive, not a profile by itself"
    assert how == "Give traces.otf2 of the archive, keeping all its parts in place."
    (tmp_path / "scorep.cfg").write_text("SCOREP_ENABLE_TRACING=1\n")
    assert "OTF2" not in refused(tmp_path / "scorep.cfg")[0]


@pytest.mark.parametrize("part", ["cct.db", "meta.db", "metrics", "metrics/default.yaml"])
def test_a_part_of_a_database_leads_to_its_folder(part: str, tmp_path: Path) -> None:
    database = write(tmp_path / "db", programs.small()).path
    assert refused(database / part) == (
        "a part of an HPCToolkit database, not a profile by itself",
        f"Give {database}.",
    )
    shutil.copy(database / "cct.db", tmp_path / "cct.db")
    assert refused(tmp_path / "cct.db")[0] == "one file of an HPCToolkit database, not a profile that chathpc knows"


@pytest.mark.parametrize(
    ("format", "noun", "part"),
    [("rocprof", "a workload of rocprof-compute", "roofline.csv"), ("neutrino", "a Neutrino trace", "event.log")],
)
def test_other_folders_are_told_by_a_part(format: str, noun: str, part: str, tmp_path: Path) -> None:
    for base in mutations.write_bases(format, tmp_path):
        if base.is_dir() and ((base / part).exists() or (base / "pmc_perf.csv").exists()):
            if not (base / part).exists():
                (base / part).write_text("device,HBMBw\n0,1300\n")
            assert refused(base / part) == (f"a part of {noun}, not a profile by itself", f"Give {base}.")
            return
    pytest.fail("no sample is such a folder")


def test_one_rank_of_a_run_says_that_there_are_others(tmp_path: Path) -> None:
    base = next(
        one for one in mutations.write_bases("tau", tmp_path) if one.is_dir() and len(list(one.glob("profile.*"))) > 1
    )
    count = len(list(base.glob("profile.*")))
    words = f"It is one of {count} files of a run; all are read if their folder is given."
    assert words in chathpc.load(base / "profile.0.0.0").caveats
    assert words not in chathpc.load(base).caveats


def test_a_stranger_beside_a_trace_is_no_part_of_it(archive: Path) -> None:
    (archive / "notes.txt").write_text("hello\n")
    assert "OTF2 archive, not" not in refused(archive / "notes.txt")[0]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("7f01a2b3c000 3f8 LazyCompile:*solve /app/solve.js:12\n7f01a2b3d000 20 Stub\n", "perf-PID.map"),
        ("# darshan log version: 3.41\n# compression method: ZLIB\n", "darshan-parser"),
        ("43 dynamic_trace_events\n# FunctionId Group Tag", "a TAU trace"),
    ],
)
def test_what_lies_beside_profiles_has_a_name(text: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(text)
    assert what in refused(tmp_path / "x")[0]
