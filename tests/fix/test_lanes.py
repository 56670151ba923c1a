"""What goes on beside each other: where it lies, how much of it there is, and how it ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from chathpc.fix.gates.examination import Reference
from chathpc.fix.lanes import Lanes
from chathpc.fix.project import Project
from chathpc.fix.runner import Case, Runner
from chathpc.fix.workspace import Workspace, remove
from chathpc.sandbox import Completed, Sandbox, choose
from tests.fix.parts import Unguarded
from tests.fix.shell_project import project


def alone(cpu: float, peak: int = 1 << 20) -> Completed:
    return Completed("exited", 0, b"", b"", 1.0, cpu, peak=peak)


@pytest.fixture
def four(monkeypatch: pytest.MonkeyPatch) -> Lanes:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3})
    return Lanes(several=True)


def test_so_many_run_beside_each_other_as_there_are_cores_for(four: Lanes) -> None:
    for cpu, width in ((0.1, 4), (1.0, 4), (1.4, 2), (2.0, 2), (3.9, 1), (9.0, 1)):
        four.learn(alone(cpu))
        assert four.width == width
    four.learn(alone(1.0, peak=1 << 50))
    assert four.width == 1


def test_nothing_goes_on_beside_before_anything_is_known_or_where_a_sandbox_cannot(four: Lanes) -> None:
    assert four.width == 1
    single = Lanes(several=False)
    single.learn(alone(1.0))
    assert single.builds([lambda: single.number] * 3) == [0, 0, 0]


def test_each_has_a_lane_of_its_own_and_answers_come_in_order(four: Lanes) -> None:
    together = threading.Barrier(4, timeout=20)

    def task(at: int) -> tuple[int, int, list[int]]:
        together.wait()
        return at, four.number, four.builds([lambda: four.number] * 2)

    found = four.builds([lambda at=at: task(at) for at in range(4)])  # type: ignore[misc]
    assert [at for at, _, _ in found] == [0, 1, 2, 3]
    assert {lane for _, lane, _ in found} == {1, 2, 3, 4}
    assert all(within == [lane, lane] for _, lane, within in found)  # no more beside what is beside
    assert four.number == 0


def test_an_error_ends_what_goes_on_beside_it(four: Lanes) -> None:
    def waits() -> bool:
        for _ in range(2000):
            if four.given_up():
                return True
            threading.Event().wait(0.01)
        raise AssertionError("it was not told")

    def fails() -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        four.builds([fails, waits])
    assert not four.given_up()


def made(tmp_path: Path, sandbox: Sandbox, environ: Mapping[str, str] = os.environ) -> tuple[Runner, Project]:
    found = project(tmp_path / "tree")
    space = Workspace(tmp_path / "work")
    space.prepare(found.root)
    return Runner(found, sandbox, space, environ), found


def test_runs_beside_each_other_find_themselves_at_one_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    runner, found = made(tmp_path, choose())
    if not runner.sandbox.relocates:
        pytest.skip("this sandbox shows a folder only where it is")
    built = runner.build({}, None)
    case = Case.usual(found.run)
    runner.lanes.learn(alone(1.0))
    first, second = runner.lanes.runs([lambda: runner.run(built, case)] * 2)
    assert first.completed.succeeded
    assert first.outputs == second.outputs == runner.run(built, case).outputs
    where = runner.lanes.runs([lambda: (runner._fresh(built.folder), runner.shell("pwd; echo $HOME", case))] * 2)
    assert {done.stdout for _, done in where} == {f"{runner.workspace.stage}\n{runner.workspace.stage}\n".encode()}
    assert len({folder for folder, _ in where}) == 2


def test_runs_do_not_see_a_folder_above_the_work_whatever_a_variable_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    (tmp_path / "bin").mkdir()
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    runner, found = made(tmp_path, choose(), {"PATH": path, "SLURM_SUBMIT_DIR": str(tmp_path)})
    assert tmp_path / "bin" in runner.readable
    if not runner.sandbox.relocates:
        pytest.skip("this sandbox shows a folder only where it is")
    built = runner.build({}, None)
    runner.lanes.learn(alone(1.0))
    remove(runner.workspace.stage)
    case = Case.usual(found.run)
    seen = runner.lanes.runs([lambda: (runner._fresh(built.folder), runner.shell(f"ls {tmp_path}/work", case))] * 2)
    assert {done.stdout for _, done in seen} == {b"stage\n"}


def test_a_sandbox_that_cannot_has_one_lane(tmp_path: Path) -> None:
    runner, _ = made(tmp_path, Unguarded())
    runner.lanes.learn(alone(1.0))
    assert runner.lanes.width == 1


def test_what_has_the_time_in_its_name_is_otherwise_in_two_runs_that_go_on_beside_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3})
    runner, found = made(tmp_path, choose())
    text = "#!/bin/sh\necho $1; date > log-$(date +%s).txt; echo always > kept.txt\n"
    built = runner.build({"work.txt": text}, None)
    runner.lanes.learn(alone(0.1))
    reference = Reference(runner, built)
    first, second = reference.twice(Case.usual(found.run))
    assert set(first.left) != set(second.left)
    assert reference.unsteady() == {"log-#.txt"}
