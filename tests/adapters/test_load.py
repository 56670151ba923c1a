"""Finding the adapter for a path, and what is said about paths that are no profile."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

import chathpc
from chathpc.adapters.glance import Glance
from chathpc.adapters.load import load
from chathpc.adapters.registry import built_in
from chathpc.diagnosis import lacks
from chathpc.diagnosis.facts import Facts
from chathpc.errors import AdapterError, UsageError
from chathpc.profile.run import NO_COUNTERS
from tests.synthetic import programs
from tests.synthetic.hpctoolkit_v4 import TIME, write

XML = "<?xml version='1.0'?>\n<HPCToolkitExperiment version='2.2'></HPCToolkitExperiment>\n"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return write(tmp_path / "runs" / "db", programs.small()).path


def refusal(path: Path | str, words: str, **options: str) -> AdapterError:
    with pytest.raises(AdapterError, match=words) as caught:
        load(path, **options)
    assert caught.value.hint
    return caught.value


def test_a_database_is_recognised_by_what_is_in_it(database: Path) -> None:
    for path in (database, str(database), f"{database}/"):
        assert chathpc.load(path).total(TIME) == 20.875  # by hand, from the seconds in programs.small


def test_a_link_to_a_database_is_a_database(database: Path, tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(database)
    assert load(tmp_path / "latest").format == "HPCToolkit v4.0"


def test_a_format_may_be_named(database: Path) -> None:
    assert load(database, format="hpctoolkit").title == "small"
    with pytest.raises(AdapterError):
        load(database, format="hpctoolkit-v3")


def test_an_unknown_format_is_told_with_the_known_ones(database: Path) -> None:
    with pytest.raises(UsageError, match="Unknown format 'vtune'") as caught:
        load(database, format="vtune")
    assert caught.value.hint == f"Known formats: {', '.join(adapter.name for adapter in built_in().adapters)}."


def test_several_paths_are_joined(database: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", replace(programs.small(), traces={})).path
    joined = load(database, other)
    assert joined.total(TIME) == 2 * 20.875
    assert len(joined.sources) == 2


def test_a_path_that_is_given_twice_is_refused(database: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(database)
    with pytest.raises(UsageError, match="given twice"):
        load(database, tmp_path / "link")


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    assert refusal(tmp_path / "nowhere", "no such file or folder").path == tmp_path / "nowhere"
    refusal(tmp_path / "nowhere" / "deeper", "no such file or folder", format="hpctoolkit")
    (tmp_path / "file").touch()
    refusal(tmp_path / "file" / "below", "Not a directory")
    refusal("a" * 5000, "File name too long")


def test_a_path_that_is_none(tmp_path: Path) -> None:
    error = refusal(f"{tmp_path}/nul\0byte", "not a path")
    assert "\0" not in str(error)


def test_a_link_that_goes_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    refusal(tmp_path / "circle", "symbolic links")


def test_an_empty_folder(tmp_path: Path) -> None:
    assert "a profiler wrote" in refusal(tmp_path, "the folder is empty").hint


def test_a_file_that_is_no_profile(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("notes")
    assert "chathpc adapters list" in refusal(tmp_path / "notes.txt", "not a profile").hint


def test_measurements_are_told_to_need_hpcprof(tmp_path: Path) -> None:
    (tmp_path / "app-000000-000-7f0101-1-0.hpcrun").touch()
    hint = refusal(tmp_path, r"it holds app-000000-000-7f0101-1-0.hpcrun").hint
    assert f"hpcstruct {tmp_path}" in hint
    assert f"hpcprof {tmp_path}" in hint


def test_a_folder_with_a_database_in_it(database: Path) -> None:
    (database.parent / "a file").touch()
    (database.parent / "a folder").mkdir()
    error = refusal(database.parent, r"\(it holds a file, a folder, db\)")
    assert error.hint == f"There is a profile in it: give {database}."


def test_a_folder_of_anything_else_is_told_with_some_of_its_names(tmp_path: Path) -> None:
    for name in ("b" * 60, "a\x1b[2J", "c", "d", "e"):
        (tmp_path / name).touch()
    error = refusal(tmp_path, "not a profile that chathpc knows")
    assert f"(it holds a\N{REPLACEMENT CHARACTER}[2J, {'b' * 40}, c, d, …)" in error.message
    assert "\x1b" not in str(error)
    assert "chathpc adapters list" in error.hint


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    refusal(tmp_path / "pipe", "neither a file nor a folder")
    (tmp_path / "db").mkdir()
    for name in ("meta.db", "profile.db"):
        os.mkfifo(tmp_path / "db" / name)
    refusal(tmp_path / "db", "not a regular file")


def test_a_device_is_refused() -> None:
    refusal("/dev/null", "neither a file nor a folder")


@pytest.mark.unprivileged
@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "file").touch()
    (tmp_path / "closed").chmod(0)
    try:
        refusal(tmp_path / "closed", "the folder cannot be read")
        refusal(tmp_path / "closed" / "db", "Permission denied")
        # A closed folder beside it is no reason to fail.
        refusal(tmp_path, "not a profile that chathpc knows")
    finally:
        (tmp_path / "closed").chmod(0o755)


def test_folders_that_the_system_does_not_open_to_us_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What file permissions do to users other than root.
    (tmp_path / "file").touch()
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "permissions" in refusal(tmp_path, "the folder cannot be read").hint
    assert "permissions" in refusal(tmp_path / "file", "the file cannot be read").hint


def test_an_adapter_recognises_only_what_is_its_own(database: Path) -> None:
    old = database.parent / "old"
    old.mkdir()
    (old / "experiment.xml").write_text(XML)
    for adapter in built_in().adapters:
        assert [adapter.recognises(Glance(database)), adapter.recognises(Glance(old))] == [
            adapter.name == "hpctoolkit",
            adapter.name == "hpctoolkit-v3",
        ], adapter.name
        for nothing in (database.parent, database / "trace.db", database / "nowhere"):
            assert not adapter.recognises(Glance(nothing)), adapter.name


def test_a_folder_with_profiles_in_it_that_are_not_one(tmp_path: Path) -> None:
    for name in ("rank0.json", "rank1.json"):
        (tmp_path / name).write_text(
            '{"schemaVersion": 1, "traceEvents": [{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2}]}'
        )
    hint = refusal(tmp_path, "rank0.json").hint
    assert f"give one, such as {tmp_path}/rank0.json" in hint
    assert "ranks of one run" in hint
    (tmp_path / "rank1.json").unlink()
    assert refusal(tmp_path, "rank0.json").hint == f"There is a profile in it: give {tmp_path}/rank0.json."


@pytest.mark.parametrize(
    ("tool", "events", "counters", "told"),
    [
        ("perf", ["cpu-clock"], "", "this machine has none"),
        ("perf", ["cpu-clock", "cycles"], "", "./app"),
        ("py-spy", [], "", "./app"),
        ("py-spy", [], "none", "this machine has none"),
    ],
)
def test_a_machine_without_counters_is_known_as_such(
    tmp_path: Path, tool: str, events: list[str], counters: str, told: str
) -> None:
    (tmp_path / "stacks.folded").write_text("main;work 900\nmain;rest 100\n")
    record = {"tool": tool, "events": events, "profile": "stacks.folded", "code": 0, "machine": {"counters": counters}}
    (tmp_path / "measure.json").write_text(json.dumps(record))
    profile = load(tmp_path)
    assert (profile.run.get(NO_COUNTERS) == "yes") == (told == "this machine has none")
    lack = lacks.counters(Facts(profile))
    assert lack is not None
    assert told in lack.remedy


@pytest.mark.parametrize(
    ("overhead", "interval", "told"),
    [(0.83, None, True), (0.83, [0.3, 1.2], True), (0.3, [0.02, 0.5], False), (0.05, None, False), (None, None, False)],
)
def test_a_large_overhead_of_measuring_is_told(
    tmp_path: Path, overhead: float | None, interval: list[float] | None, told: bool
) -> None:
    (tmp_path / "stacks.txt").write_text("main;work 900\nmain;rest 100\n")
    record = {"profile": "stacks.txt", "tool": "perf", "overhead": overhead, "overhead_interval": interval}
    (tmp_path / "measure.json").write_text(json.dumps(record))
    report = chathpc.explain(tmp_path, llm="none")
    assert any("Measuring made the run" in note for note in report.notes) is told
