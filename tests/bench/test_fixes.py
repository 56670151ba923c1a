"""`chathpc bench fix`: tasks are found in the forms that people give them, outcomes are kept, figures are arithmetic."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from chathpc.bench.fixes import pages
from chathpc.bench.fixes import run as running
from chathpc.bench.fixes.find import find_tasks, missing
from chathpc.bench.fixes.oracle import differing, human
from chathpc.bench.fixes.outcome import Outcome, Tried, from_data, to_data
from chathpc.bench.fixes.pages import renderers
from chathpc.bench.fixes.result import Row, figures_of, result_of, verdicts
from chathpc.bench.fixes.run import Settings, outcome_of, run_tasks
from chathpc.bench.fixes.task import Task, read_task
from chathpc.commands.main import main
from chathpc.diagnosis.records import Verdict as Health
from chathpc.errors import AdapterError, ChathpcError, UsageError
from chathpc.fix.ledger import Ledger
from chathpc.fix.patch import unified
from chathpc.fix.records import Attempt, Candidate, GateResult, Speedup, Verdict
from chathpc.fix.session import Budget
from chathpc.reports.style import Style
from chathpc.sandbox import Request

PROJECT = 'project:\n  build: make\n  run: ./app\n  edit: ["*.c"]\n'
SOURCE = "int main(void) { return 0; }\n"


def make(
    root: Path,
    name: str = "sums",
    label: str | None = "cause: strided-access\n",
    original: str = "original",
    better: str = "human",
) -> Path:
    """A task of one source; the human version is one line longer."""
    folder = root / name
    (folder / original).mkdir(parents=True)
    (folder / original / "app.c").write_text(SOURCE)
    (folder / original / "Makefile").write_text("app: app.c\n")
    (folder / original / "chathpc.yaml").write_text(PROJECT)
    if better:
        (folder / better).mkdir()
        (folder / better / "app.c").write_text(SOURCE + "int more;\n")
        (folder / better / "Makefile").write_text("app: app.c\n\techo\n")
    if label is not None:
        (folder / "task.yaml").write_text(label)
    return folder


# -- tasks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("original", "better"), [("original", "human"), ("program", "fixed"), ("baseline", "expert"), ("before", "after")]
)
def test_the_folders_of_a_task_may_have_other_names(tmp_path: Path, original: str, better: str) -> None:
    make(tmp_path, label=None, original=original, better=better)
    (task,) = find_tasks((tmp_path,))
    assert (task.name, task.group, task.title) == ("sums", tmp_path.name, "sums")
    assert (task.original.name, task.human and task.human.name, task.buggy) == (original, better, None)
    assert task.right == ("unknown",)


@pytest.mark.parametrize("better", ["human", "expert", "fixed"])
def test_a_version_may_be_a_patch_of_the_original(tmp_path: Path, better: str) -> None:
    folder = make(tmp_path, label=None, better="")
    after = {"app.c": SOURCE + "int more;\n", "Makefile": "app: app.c\n\techo\n", "new.h": "int new;\n"}
    (folder / f"{better}.patch").write_text(unified({"app.c": SOURCE, "Makefile": "app: app.c\n"}, after))
    (task,) = find_tasks((tmp_path,))
    assert task.human is not None
    assert differing(task.human, {"app.c": SOURCE}) == {"app.c": after["app.c"], "new.h": after["new.h"]}


def test_a_label_tells_causes_needs_and_flags(tmp_path: Path) -> None:
    label = "title: Sums\ncause: strided-access\nacceptable: [tiling, strided-access]\nneeds: [mpi]\nflags: -O3\nown: {x: 1}\n"
    task = read_task(make(tmp_path, label=label), "set")
    assert task.right == ("strided-access", "tiling")
    assert (task.title, task.needs, task.flags, task.expect) == ("Sums", ("mpi",), "-O3", "faster")


@pytest.mark.parametrize("label", ["cause: healthy\n", "healthy: true\ncause: hot-compute\n", "expect: healthy\n"])
def test_a_program_without_a_fault_is_healthy(tmp_path: Path, label: str) -> None:
    task = read_task(make(tmp_path, label=label), "set")
    assert task.healthy
    assert (task.right, task.expect) == (("healthy",), "healthy")


def test_the_label_of_a_profile_is_a_label(tmp_path: Path) -> None:
    folder = make(tmp_path, label=None)
    truth = {
        "cause": "strided-access",
        "acceptable": ["memory-latency"],
        "visible_in_profile": True,
        "where": {"lines": [1, 2]},
    }
    (folder / "truth.json").write_text(json.dumps(truth))
    assert read_task(folder, "set").right == ("strided-access", "memory-latency")


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("cause: [a]\n", "cause"),
        ("expect: sometimes\n", "expect"),
        ("a: &x 1\nb: *x\n", "alias"),
        ("- 1\n", "expected keys with values"),
        ("cause: {\n", "YAML"),
        ("#" * (1 << 18) + "x\n", "larger"),
    ],
)
def test_a_label_that_breaks_the_rules_is_told(tmp_path: Path, label: str, said: str) -> None:
    folder = make(tmp_path, label=label)
    with pytest.raises(AdapterError, match=said) as error:
        find_tasks((tmp_path,))
    assert str(folder) in str(error.value)


def test_folders_without_tasks_and_names_that_no_task_has_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no folder"):
        find_tasks((tmp_path / "none",))
    with pytest.raises(UsageError, match="No task in"):
        find_tasks((tmp_path,))
    make(tmp_path, "sums")
    make(tmp_path, "rows")
    assert [task.name for task in find_tasks((tmp_path,), ["s*"])] == ["sums"]
    with pytest.raises(UsageError, match="no task 'columns'"):
        find_tasks((tmp_path,), ["columns"])


def test_tasks_of_one_name_get_that_of_their_set(tmp_path: Path) -> None:
    for name in ("one", "two"):
        make(tmp_path / name)
    assert [task.name for task in find_tasks((tmp_path / "one", tmp_path / "two"))] == ["one/sums", "two/sums"]


def test_what_a_machine_lacks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = read_task(make(tmp_path), "set")
    monkeypatch.setattr("shutil.which", lambda name: None if name == "mpirun" else f"/bin/{name}")
    monkeypatch.setattr("chathpc.bench.fixes.find._DEVICES", (tmp_path / "device",))
    assert missing(replace(task, needs=("openmp", "fortran"))) == ""
    assert "no mpirun here" in missing(replace(task, needs=("mpi",)))
    assert missing(replace(task, needs=("gpu",))) == "it needs a GPU"
    (tmp_path / "device").touch()
    assert missing(replace(task, needs=("gpu",))) == ""


# -- the oracles ----------------------------------------------------------------------------------------------


def test_the_human_version_is_proposed_once_for_the_finding_that_it_mends(tmp_path: Path) -> None:
    task = read_task(make(tmp_path), "set")
    findings = (SimpleNamespace(cause="hot-compute"), SimpleNamespace(cause="strided-access"))
    problem: Any = SimpleNamespace(sources={"app.c": SOURCE}, diagnosis=SimpleNamespace(findings=findings))
    (candidate,) = human(task).propose(problem, ())
    assert candidate.files == {"app.c": SOURCE + "int more;\n"}, "build files are no part of a change"
    assert candidate.finding is findings[1]
    attempt = Attempt(candidate, Verdict.ACCEPTED, ())
    assert not list(human(task).propose(problem, (attempt,)))
    same: Any = SimpleNamespace(sources={"app.c": SOURCE + "int more;\n"}, diagnosis=SimpleNamespace(findings=()))
    assert not list(human(task).propose(same, ()))


# -- the run --------------------------------------------------------------------------------------------------


class Nowhere:
    """A sandbox in which nothing is run."""

    name = "nowhere"
    relocates = False

    def run(self, request: Request) -> Any:
        """Not called."""
        raise AssertionError


def settings(root: Path, seconds: float = 60.0) -> Settings:
    """Bounds for the tests."""
    return Settings(Nowhere(), root / "work", Budget(seconds=seconds))


def ended(verdict: str, *, seconds: float = 3.0) -> Any:
    """A stand-in for the loop, which leaves a ledger as the loop does."""

    def fix(project: Any, proposers: Any, *, work: Path, **others: Any) -> Any:
        work.mkdir(parents=True)
        times = iter((100.0, 100.0 + seconds, 900.0, 901.0))
        ledger = Ledger(work / "ledger.jsonl", clock=lambda: next(times))
        ledger.append("begin", {})
        ledger.append("measured", {"what": "original", "seconds": 0.5})
        ledger.append("resume", {})
        ledger.append("candidate", {"round": 1})  # the time limit ended the round
        ledger.close()
        speedup, won = Speedup(2.0, 1.8, 2.2, 10), verdict in ("improved", "improved-if")
        attempt = Attempt(
            Candidate("one", "scripted", "One.", {"app.c": "x"}),
            Verdict.ACCEPTED if won else Verdict.SLOWER,
            (GateResult("speed", won, "It took longer."),),
            speedup if won else None,
        )
        accepted = (attempt,) if won else ()
        health = Health.HEALTHY if verdict == "healthy" else Health.BOTTLENECK
        return SimpleNamespace(
            interrupted=False,
            first=SimpleNamespace(diagnosis=SimpleNamespace(verdict=health, headline="Head.", findings=())),
            improved=bool(accepted),
            conditional=verdict == "improved-if",
            complete=verdict != "unfinished",
            attempts=() if verdict == "healthy" else (attempt,),
            accepted=accepted,
            speedup=speedup if accepted else None,
            remarks=(),
            sandbox="nowhere",
        )

    return fix


def test_an_outcome_is_kept_and_what_was_built_thrown_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [read_task(make(tmp_path), "set")]
    monkeypatch.setattr(running, "fix", ended("improved"))
    ((first,),) = run_tasks(tasks, ["human"], settings(tmp_path))
    assert first.improved
    assert (first.rounds, first.seconds, first.original_seconds) == (1, 4.0, 0.5), (
        "the pause before a resume is not counted"
    )
    kept = sorted(path.name for path in (tmp_path / "work/sums/human").iterdir())
    assert kept == ["ledger.jsonl", "outcome.json"]

    def never(*arguments: Any, **others: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(running, "fix", never)
    assert run_tasks(tasks, ["human"], settings(tmp_path)) == [(first,)]
    for damaged in ("", "[]", '{"key": 1}', json.dumps({"key": "x", "outcome": {}})):
        (tmp_path / "work/sums/human/outcome.json").write_text(damaged)
        with pytest.raises(AssertionError):
            run_tasks(tasks, ["human"], settings(tmp_path))


def test_a_task_that_changed_or_other_bounds_are_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make(tmp_path)
    monkeypatch.setattr(running, "fix", ended("improved"))
    run_tasks([read_task(folder, "set")], ["human"], settings(tmp_path))
    monkeypatch.setattr(running, "fix", ended("nothing-passed"))
    ((again,),) = run_tasks([read_task(folder, "set")], ["human"], settings(tmp_path, seconds=61.0))
    assert again.ended == "nothing-passed"
    (folder / "human/app.c").write_text("int other;\n")
    monkeypatch.setattr(running, "fix", ended("unfinished"))
    ((third,),) = run_tasks([read_task(folder, "set")], ["human"], settings(tmp_path, seconds=61.0))
    assert third.ended == "unfinished"


def test_expected_trouble_of_a_task_is_an_outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any, **others: Any) -> Any:
        raise ChathpcError("It does not build.")

    monkeypatch.setattr(running, "fix", broken)
    task = read_task(make(tmp_path), "set")
    ((failed, skipped),) = run_tasks([task], ["human", "buggy"], settings(tmp_path))
    assert (failed.ended, failed.reason) == ("failed", "It does not build.")
    assert (skipped.ended, skipped.reason) == ("skipped", "there is no buggy version")
    ((lacking,),) = run_tasks([replace(task, needs=("no-such-program",))], ["human"], settings(tmp_path))
    assert (lacking.ended, lacking.counted) == ("skipped", False)
    with pytest.raises(UsageError, match="no strategy 'guess'"):
        run_tasks([task], ["guess"], settings(tmp_path))


@pytest.mark.parametrize("where", ["beside", "nowhere"])
def test_the_description_may_lie_beside_the_original_or_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    folder = make(tmp_path)
    (folder / "original/chathpc.yaml").unlink()
    (folder / "original/Makefile").write_text("CFLAGS = -O2\n\napp: app.c\n\tcc $(CFLAGS) -o app app.c\n")
    if where == "beside":
        (folder / "chathpc.yaml").write_text(PROJECT)
    seen = []

    def look(project: Any, proposers: Any, **others: Any) -> Any:
        seen.append(project.run.command)
        return ended("healthy")(project, proposers, **others)

    monkeypatch.setattr(running, "fix", look)
    ((outcome,),) = run_tasks([read_task(folder, "set")], ["human"], settings(tmp_path))
    assert outcome.ended == "healthy", outcome.reason
    assert seen == ["./app"]
    assert not (folder / "original/chathpc.yaml").exists(), "the task itself is only read"


@pytest.mark.parametrize("verdict", ["improved", "improved-if", "nothing-passed", "unfinished", "healthy"])
def test_outcomes_survive_their_file(tmp_path: Path, verdict: str) -> None:
    outcome = outcome_of(ended(verdict)(None, None, work=tmp_path / "w"))
    assert outcome.ended == verdict
    assert from_data(json.loads(json.dumps(to_data(outcome)))) == outcome
    assert from_data({"ended": 3, "tried": 4}) is None


# -- figures --------------------------------------------------------------------------------------------------


def task(name: str, cause: str = "strided-access") -> Task:
    """A task that is nowhere."""
    return Task(name, "set", Path("/none"), Path("/none"), None, None, name, "c", "serial", (cause,))


def reached(times: float | None, *, seconds: float = 10.0, ended: str = "nothing-passed") -> Outcome:
    """An outcome with that speed-up."""
    if times is None:
        return Outcome(ended, "why", seconds=seconds, tried=(Tried("A", "slower", "It is slower."),) * 2)
    return Outcome(
        "improved",
        speedup=Speedup(times, times * 0.9, times * 1.1, 10),
        seconds=seconds,
        tried=(Tried("B", "accepted", ""),),
    )


ROWS = [
    (task("a"), reached(4.0), reached(4.0)),
    (task("b"), reached(8.0), reached(2.0, seconds=20)),
    (task("c"), reached(2.0), reached(None, seconds=30)),
    (task("d"), reached(3.0), reached(None, ended="failed", seconds=40)),
    (task("e", "healthy"), reached(None, ended="skipped"), reached(None, ended="healthy", seconds=50)),
    (task("f"), reached(None, ended="skipped"), reached(None, ended="skipped")),
]


def result() -> Any:
    """A run over these."""
    tasks, first, second = zip(*ROWS, strict=True)
    return result_of(
        tasks, list(zip(first, second, strict=True)), ("human", "recipes"), time_limit=300, sandbox="nowhere"
    )


def test_what_gives_durability_up_has_a_row_of_its_own_and_is_not_improved() -> None:
    only_if = Outcome("improved-if", speedup=Speedup(9.0, 8.0, 10.0, 10), tried=(Tried("C", "improved-if", ""),))
    figures = figures_of("human", [Row(task("a"), {"human": only_if}), Row(task("b"), {"human": reached(2.0)})])
    assert figures.get("improved").value == 0.5  # type: ignore[union-attr]
    assert figures.get("improved-if").value == 0.5  # type: ignore[union-attr]
    assert figures.get("geometric-mean").value == pytest.approx(2.0)  # type: ignore[union-attr]
    assert pages.reached(task("a"), only_if, "human") == "9.00x (8.00 to 10.00) if durability may be given up"


def test_figures_are_arithmetic() -> None:
    found = {part.name: part for part in result().figures}["recipes"]

    def value(key: str) -> float:
        figure = found.get(key)
        assert figure is not None
        return figure.value

    assert value("improved") == 2 / 4
    assert value("geometric-mean") == pytest.approx(math.sqrt(4.0 * 2.0))
    # log 4 / log 4, log 2 / log 8, and nothing of the other two.
    assert value("of-expert") == pytest.approx((1 + 1 / 3 + 0 + 0) / 4)
    assert value("healthy-untouched") == 1.0
    assert value("task-seconds") == 30
    assert value("failed") == 1
    assert verdicts(ROWS[2][2]) == "2 slower"


def test_the_best_is_the_fastest_of_those_that_are_no_oracle() -> None:
    whole = result()
    assert [whole.best(row) for row in whole.rows] == ["recipes", "recipes", None, None, None, None]


def test_all_formats_tell_every_task_and_figure() -> None:
    whole = result()
    for name, render in renderers().items():
        text = render(whole, Style(width=120, encoding="utf-8"))
        assert "4.00x (3.60 to 4.40)" in text or name == "json"
        assert "strided-access" in text
        assert "why" in text
    content = json.loads(renderers()["json"](whole, Style(width=80, encoding="ascii")))
    assert content["schema"] == "chathpc-bench-fix/1"
    assert [each["name"] for each in content["tasks"]] == list("abcdef")
    assert content["tasks"][1]["outcomes"]["recipes"]["speedup"]["estimate"] == 2.0
    assert content["strategies"][0]["figures"][0]["key"] == "improved"


# -- the command ----------------------------------------------------------------------------------------------


def test_the_command_tells_what_came_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make(tmp_path / "tasks")
    monkeypatch.setattr(running, "fix", ended("improved"))
    words = [
        "bench",
        "fix",
        str(tmp_path / "tasks"),
        "--strategy",
        "human",
        "--work",
        str(tmp_path / "w"),
        "--no-sandbox",
        "-q",
    ]
    assert main([*words, "--require", "human:improved=100"]) == 0
    assert "2.00x (1.80 to 2.20)" in capsys.readouterr().out
    assert main([*words, "--require", "geometric-mean=3"]) == 1
    assert "at least 3 was required" in capsys.readouterr().err

    def broken(*arguments: Any, **others: Any) -> Any:
        raise ChathpcError("It does not build.")

    monkeypatch.setattr(running, "fix", broken)
    assert main([*words, "--time-limit", "7"]) == 1
    assert "1 could not be tried: sums" in capsys.readouterr().err
