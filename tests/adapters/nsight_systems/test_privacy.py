"""Environments, command lines and captured output lie in exports; none of it may reach a profile, a report or a prompt."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

import chathpc
from chathpc.adapters.nsight_systems.report import read
from tests.synthetic.nsight_systems import AGES, all_features

SECRET = "hunter2-s3cr3t"


@pytest.mark.parametrize("age", AGES)
def test_nothing_planted_reaches_the_profile_or_the_report(tmp_path: Path, age: int) -> None:
    export = all_features(age)
    export.plant(SECRET)
    path = export.write(tmp_path / "a.sqlite")
    assert SECRET.encode() in path.read_bytes()
    profile = read(path)
    assert SECRET not in repr([getattr(profile, part.name) for part in fields(profile)])
    assert not [name for name in (*profile.tree.names, *profile.tree.files, *profile.tree.modules) if SECRET in name]
    report = chathpc.explain(path, llm="none")
    assert SECRET not in report.model_dump_json()


def test_folders_of_users_are_cut_off_programs_and_libraries(tmp_path: Path) -> None:
    export = all_features()
    export.process(30, f"/home/{SECRET}/bin/app")
    export.call(0, 10, "cudaFree", pid=30, stack=[("main", f"/home/{SECRET}/bin/app")])
    profile = read(export.write(tmp_path / "a.sqlite"))
    assert SECRET not in repr((profile.tree.names, profile.tree.modules, profile.title))


def test_tables_that_hold_secrets_are_never_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chathpc.adapters.sqlite import Database

    asked: list[str] = []
    each = Database.each

    def noted(self: Database, statement: str, parameters: tuple[object, ...] = ()) -> object:
        asked.append(statement)
        return each(self, statement, parameters)

    monkeypatch.setattr(Database, "each", noted)
    export = all_features()
    export.plant(SECRET)
    read(export.write(tmp_path / "a.sqlite"))
    for table in ("TARGET_INFO_SYSTEM_ENV", "META_DATA_CAPTURE", "ProcessStreams", "ANALYSIS_FILE"):
        assert not [statement for statement in asked if table in statement]
    assert asked
