"""`chathpc measure`, with a stand-in for perf."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from chathpc.commands.measure import command
from tests.measure import stand_in


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Shell:
    """The command line in a process of its own, as a user has it: streams are passed on by the system."""

    folder: Path
    environment: dict[str, str]

    def __call__(self, *words: str, stdin: str = "", **more: str) -> Ended:
        done = subprocess.run(
            [sys.executable, "-m", "chathpc", "measure", *words], cwd=self.folder, env=self.environment | more,
            input=stdin, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert "Traceback" not in done.stdout + done.stderr
        return Ended(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "app").write_text('#!/bin/sh\necho "out $*"\necho warned >&2\ncat\nexit ${APP_CODE:-0}\n')
    (folder / "app").chmod(0o755)
    stand_in.install(tmp_path / "bin", "perf")
    environment = dict(os.environ, PATH=f"{tmp_path / 'bin'}:/usr/bin:/bin", LANG="C.UTF-8", HOME=str(tmp_path))
    return Shell(folder, environment)


def test_the_programs_output_goes_where_it_would_go_without_us(shell: Shell) -> None:
    done = shell("--tool", "perf", "--", "./app", "-n", "3", stdin="from stdin\n")
    assert (done.code, done.out) == (0, "out -n 3\nfrom stdin\n")
    assert "warned" in done.err
    assert "cpu-clock, context-switches, page-faults by perf at" in done.err
    assert re.search(
        r"; without waits for a core, estimated by idle cores, the program took [\d.]+ \w+, alone [\d.]+ \w+: .*over",
        done.err,
    )
    assert "chathpc explain chathpc-measure-app-1/profile/perf.txt" in done.err
    assert (shell.folder / "chathpc-measure-app-1" / "measure.json").is_file()


def test_options_of_the_program_are_its_own_also_without_dashes(shell: Shell) -> None:
    done = shell("-q", "--no-overhead", "--tool", "perf", "./app", "-o", "x", "--explain")
    assert done.out == "out -o x --explain\n"
    assert done.err == "warned\n"


def test_the_status_is_that_of_the_program(shell: Shell) -> None:
    assert shell("--tool", "perf", "./app", APP_CODE="9").code == 9
    (shell.folder / "app").write_text("#!/bin/sh\nkill -SEGV $$\n")
    assert shell("--tool", "perf", "./app").code != 0


def test_the_status_is_that_of_the_program_where_no_sample_was_taken(shell: Shell) -> None:
    (shell.folder / "late").write_text("9")
    late = {"STAND_IN_LATE": str(shell.folder / "late")}
    done = shell("--no-overhead", "--tool", "perf", "./app", APP_CODE="3", **late)
    assert (done.code, done.out) == (3, "out \n"), done.err
    assert "no sample was taken" in done.err
    assert "The program ended with status 3." in done.err
    assert shell("--no-overhead", "--tool", "perf", "./app", **late).code == 1


@pytest.mark.parametrize("tool", ["hpctoolkit", "nsys", "ncu"])
def test_the_program_is_not_run_for_a_profiler_that_is_not_there(shell: Shell, tool: str) -> None:
    (shell.folder / "app").write_text("#!/bin/sh\ntouch was-run\n")
    done = shell("--tool", tool, "./app")
    assert done.code == 1
    assert "is not installed" in done.err
    assert [entry.name for entry in shell.folder.iterdir()] == ["app"]


def test_without_overhead_the_program_runs_once(shell: Shell) -> None:
    (shell.folder / "app").write_text("#!/bin/sh\necho x >> runs\n")
    assert shell("--no-overhead", "--tool", "perf", "./app", STAND_IN_RARE="1").code == 0
    assert (shell.folder / "runs").read_text() == "x\n"


@pytest.mark.parametrize(("number", "alone"), [(signal.SIGINT, True), (signal.SIGINT, False), (signal.SIGTERM, False)])
def test_a_measurement_that_is_stopped_leaves_nothing(shell: Shell, number: int, alone: bool) -> None:
    (shell.folder / "app").write_text("#!/bin/sh\ntouch begun\nexec sleep 60\n")
    words = ["--tool", "perf", *([] if alone else ["--no-overhead"]), "./app"]
    process = subprocess.Popen(
        [sys.executable, "-m", "chathpc", "measure", *words], cwd=shell.folder, env=shell.environment, stderr=subprocess.PIPE,
        text=True, start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    while not (shell.folder / "begun").exists():
        time.sleep(0.01)
    # A terminal tells all of its group, a batch system the process that it knows.
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    said = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert said.endswith("chathpc: interrupted\n")
    assert sorted(entry.name for entry in shell.folder.iterdir()) == ["app", "begun"]


def test_with_a_report_stdout_is_the_report_alone(shell: Shell) -> None:
    done = shell("--explain", "--llm", "none", "--format", "json", "--tool", "perf", "./app", "7")
    assert done.out.startswith("{")
    assert '"chathpc-report/' in done.out
    assert "out 7" in done.err


def test_a_report_may_go_to_a_file(shell: Shell) -> None:
    done = shell("--explain", "--llm", "none", "--report", "r.md", "-o", "result", "--tool", "perf", "./app", "7")
    assert done.out == "out 7\n"
    assert "app" in (shell.folder / "r.md").read_text()
    assert (shell.folder / "result" / "measure.json").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--llm", "none", "./app"), "--llm is about the report"),
        (("--report", "x", "./app"), "--report is about the report"),
        (("--format", "json", "./app"), "--format is about the report"),
        (("./absent",), "'./absent' is not an executable program"),
        ((), "Missing argument"),
        (("--tool", "vtune", "./app"), "vtune"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_run(shell: Shell, words: tuple[str, ...], said: str) -> None:
    done = shell(*words)
    assert done.code == 2
    assert said in done.err
    assert "out" not in done.out


def test_sources_of_the_whole_working_tree_are_found(shell: Shell) -> None:
    (shell.folder / ".git").mkdir()
    (shell.folder / "src").mkdir()
    (shell.folder / "src" / "heat.c").write_text("\n\nvoid work(void) {}\n")
    below = shell.folder / "build"
    below.mkdir()
    done = Shell(below, shell.environment)("--no-overhead", "--tool", "perf", "-o", "result", "../app")
    assert done.code == 0
    assert (below / "result" / "profile" / "heat.c").is_file()


def test_a_series_is_sampled_at_the_rate_that_its_largest_point_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int | None]] = []

    def measured(words: tuple[str, ...], *_: object, output: Path, rate: int | None, **__: object) -> SimpleNamespace:
        asked.append((words[1], rate))
        # As runs that are left to themselves choose it: the shorter, the more often.
        chosen = rate or {"100": 9_999, "900": 499}[words[1]]
        return SimpleNamespace(tool="perf", rate=chosen, code=0, folder=output, path=output)

    monkeypatch.setattr("chathpc.measure.measure", measured)
    monkeypatch.setattr("chathpc.commands.measure._elapsed", lambda *_: 1.0)
    found = CliRunner().invoke(command, ["--vary", "n=100,900", "-o", str(tmp_path / "s"), "--", "./app", "{n}"])
    assert found.exit_code == 0
    assert asked == [("900", None), ("100", 499), *[("900", 499), ("100", 499)] * 2]
