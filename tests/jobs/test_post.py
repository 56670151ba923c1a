"""`chathpc post` at the end of a job: exit code 0, whole files or none, at most one line on stderr, whatever happens."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from chathpc.jobs.post import FILES, folder_beside, time_limit
from chathpc.jobs.post import names as jobs_names
from chathpc.report import Report
from chathpc.reports import renderers
from chathpc.reports.style import Style
from chathpc.reports.write import write_folder
from tests.reports.sample import sample

ROOT = Path(__file__).parents[2]
NAMES = set(FILES.values())
#: What stands beside the profile after the first report outside of a job.
FIRST = {"report-1", "latest"}


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG") or name.startswith("COV")}
    return kept | {"PYTHONPATH": str(ROOT)} | dict(extra or {})


def post(
    behaviour: str, *args: str, env: Mapping[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.jobs.stub", behaviour, "post", *args]
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run(command, env=environment(env), text=True, timeout=60, check=False, **options)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    (tmp_path / "job" / "database").mkdir(parents=True)
    return tmp_path / "job" / "database"


def names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def test_three_reports_are_written_beside_the_profile_and_the_verdict_into_the_log(database: Path) -> None:
    done = post("fine", str(database))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("chathpc: BOTTLENECK 35.2 % of the thread time")
    assert done.stdout.endswith(f" · Report: {database.parent / 'report-1' / 'report.txt'}\n")
    assert names(database.parent) == {"database", *FIRST}
    assert names(database.parent / "latest") == NAMES
    for form, file in FILES.items():
        text = (database.parent / "report-1" / file).read_text(encoding="utf-8")
        assert text == renderers()[form](sample(), Style(width=100))


def test_a_quiet_one_writes_the_reports_alone(database: Path) -> None:
    done = post("fine", str(database), "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert names(database.parent) == {"database", *FIRST}


def test_the_folder_of_the_reports_is_made_if_it_is_missing(database: Path, tmp_path: Path) -> None:
    assert post("fine", str(database), "-o", str(tmp_path / "a" / "b")).returncode == 0
    assert names(tmp_path / "a" / "b") == FIRST
    assert names(database.parent) == {"database"}


def test_the_reports_of_a_database_in_the_current_folder_go_there(tmp_path: Path) -> None:
    assert folder_beside([tmp_path / "db"]) == tmp_path
    assert folder_beside([tmp_path / "db" / ""]) == tmp_path
    assert folder_beside([Path("db")]) == Path.cwd()


def test_work_is_done_at_low_priority_with_one_thread_and_no_model(database: Path) -> None:
    done = post("modest", str(database))
    assert done.stdout.startswith(f"chathpc: BOTTLENECK {min(19, os.nice(0) + 10)} 1 0 none · Report: ")


def test_changes_are_proposed_as_by_explain(database: Path) -> None:
    assert post("proposing", str(database)).stdout.startswith("chathpc: BOTTLENECK exact_changes · Report: ")


#: Behaviour, further arguments, a part of the line on stderr (None: no trouble).
FAULTS: dict[str, tuple[str, list[str], str | None]] = {
    "a damaged profile": ("unreadable", [], "db/meta.db at byte 12: damaged badly. Measure again."),
    "a bug": ("bug", [], "internal error, please report it: ZeroDivisionError: a bug"),
    "code that exits": ("exit", [], "internal error, please report it: SystemExit: 3"),
    "too little memory": ("memory", [], "out of memory"),
    "a crash": ("crash", [], "ended unexpectedly with SIGSEGV"),
    "the out-of-memory killer": ("killed", [], "ended unexpectedly with SIGKILL, possibly out of memory"),
    "no end": ("hang", ["--time-limit", "0.5"], "stopped at the time limit of 0.5 s"),
    "no end in a library": ("deaf", ["--time-limit", "0.5"], "stopped at the time limit of 0.5 s"),
    "noise of libraries": ("noise", [], None),
    "a full file system": ("full", [], "report-1/report.txt: File too large. Name another folder with -o"),
    "a folder that cannot be made": ("fine", ["-o", "/proc/no/such"], "Cannot create /proc/no/such: "),
    "a folder that cannot be written": ("fine", ["-o", "/proc"], "Cannot write /proc/report-1: "),
    "a file in place of the folder": ("fine", ["-o", "/dev/null"], "Cannot create /dev/null: "),
    "an option that does not exist": ("fine", ["--nonsense"], "No such option"),
    "a limit that is no number": ("fine", ["--time-limit", "soon"], "'soon' is not a valid float"),
    "a limit of nothing": ("fine", ["--time-limit", "0"], "no time left in this job"),
    "a limit that is not a number at all": ("fine", ["--time-limit", "nan"], "no time left in this job"),
    "a limit without end": ("fine", ["--time-limit", "inf"], None),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_on_stderr_and_never_fails_the_job(fault: str, database: Path) -> None:
    behaviour, args, expected = FAULTS[fault]
    done = post(behaviour, str(database), *args)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    if expected is None:
        assert done.stderr == ""
        assert names(database.parent) == {"database", *FIRST}
        return
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("chathpc: post: ")
    assert expected in done.stderr
    assert done.stderr.endswith(" The job is not affected.\n")
    assert names(database.parent) == {"database"}


#: Surroundings of a job on a compute node: environment, and what is done before the program starts.
SURROUNDINGS: dict[str, tuple[dict[str, str], Callable[[], None] | None]] = {
    "no home": ({"HOME": "/nonexistent", "XDG_CACHE_HOME": "/proc/x", "XDG_CONFIG_HOME": "/proc/x"}, None),
    "an empty home variable": ({"HOME": ""}, None),
    "the C locale": ({"LANG": "C", "LC_ALL": "C"}, None),
    "an unknown locale": ({"LC_ALL": "xx_YY.nonsense"}, None),
    "an ASCII stdout": ({"PYTHONIOENCODING": "ascii"}, None),
    "no temporary folder": ({"TMPDIR": "/nonexistent"}, None),
    "closed stdin": ({}, lambda: os.close(0)),
    "closed stdout": ({}, lambda: os.close(1)),
    "closed stderr": ({}, lambda: os.close(2)),
    "all closed": ({}, lambda: os.closerange(0, 3)),
    "SIGCHLD ignored": ({}, lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN) and None),
    "a strict umask": ({}, lambda: os.umask(0o077) and None),
    "a job that ends later": ({"SLURM_JOB_END_TIME": "99999999999"}, None),
    "an end of the job that is no number": ({"SLURM_JOB_END_TIME": "soon"}, None),
}


@pytest.mark.parametrize("surroundings", SURROUNDINGS)
def test_the_surroundings_of_a_job_change_nothing(surroundings: str, database: Path) -> None:
    env, before = SURROUNDINGS[surroundings]
    done = post("fine", str(database), env=env, preexec_fn=before)
    assert (done.returncode, done.stderr) == (0, "")
    assert names(database.parent) == {"database", *FIRST}
    Report.model_validate_json((database.parent / "latest" / "report.json").read_text())


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_full_stream_does_not_fail_the_job(stream: str, database: Path) -> None:
    with open("/dev/full", "w") as full:
        assert post("fine" if stream == "stdout" else "bug", str(database), **{stream: full}).returncode == 0


def test_no_path_at_all_does_not_fail_the_job() -> None:
    done = post("fine")
    assert done.returncode == 0
    assert done.stderr == "chathpc: post: Missing argument 'PATH...'. No report was written. The job is not affected.\n"


def test_a_current_folder_that_is_gone_does_not_fail_the_job(tmp_path: Path) -> None:
    def vanish() -> None:
        os.chdir(tmp_path)
        tmp_path.rmdir()

    done = post("fine", "db", preexec_fn=vanish)
    assert done.returncode == 0
    assert len(done.stderr.splitlines()) == 1


def test_earlier_reports_stay_and_latest_leads_to_the_newest(database: Path) -> None:
    slurm, pbs = {"SLURM_JOB_ID": "4711"}, {"PBS_JOBID": "12[3].server.example.org"}
    for env, name in (({}, "1"), ({}, "2"), (slurm, "4711"), (slurm, "4711-2"), (pbs, "12-3"), ({}, "3")):
        before = names(database.parent)
        assert post("fine", str(database), env=env).stderr == ""
        assert names(database.parent) - before - {"latest"} == {f"report-{name}"}
        assert os.readlink(database.parent / "latest") == f"report-{name}"
    assert all(names(folder) == NAMES for folder in database.parent.glob("report-*"))


def test_a_report_that_fails_changes_nothing(database: Path) -> None:
    post("fine", str(database))
    assert post("full", str(database)).returncode == 0
    assert names(database.parent) == {"database", *FIRST}


def test_what_is_called_latest_and_is_no_link_stays(database: Path) -> None:
    (database.parent / "latest").write_text("mine")
    assert post("fine", str(database)).stderr == ""
    assert (database.parent / "latest").read_text() == "mine"
    assert names(database.parent / "report-1") == NAMES


def test_reports_that_are_written_at_the_same_time_all_stay(tmp_path: Path) -> None:
    """Each has looked for a free name before the others wrote."""
    wanted = [iter(jobs_names({})) for _ in range(3)]
    written = [write_folder(tmp_path, {"report.txt": str(n)}, each) for n, each in enumerate(wanted)]
    assert [folder.name for folder in written] == ["report-1", "report-2", "report-3"]
    assert [(folder / "report.txt").read_text() for folder in written] == ["0", "1", "2"]


@pytest.mark.parametrize("id", ["../../etc", "a/b", "\x1b[31m", "x" * 500, ".", "..", "-"])
def test_a_jobs_id_is_only_a_part_of_a_name(id: str) -> None:
    name = next(iter(jobs_names({"JOB_ID": id})))
    assert re.fullmatch(r"report-[A-Za-z0-9_-]{1,60}", name)


def test_the_end_of_the_job_is_respected(database: Path) -> None:
    done = post("hang", str(database), env={"SLURM_JOB_END_TIME": str(int(time.time()) + 35)})
    assert done.returncode == 0
    assert "the time limit" in done.stderr
    done = post("fine", str(database), env={"SLURM_JOB_END_TIME": str(int(time.time()) + 20)})
    assert "no time left in this job" in done.stderr
    assert names(database.parent) == {"database"}


@pytest.mark.parametrize(
    ("asked", "end", "limit"),
    [
        (None, None, 120.0),
        (None, "1000", -30.0),
        (None, "1050", 20.0),
        (None, "1150", 120.0),
        (None, "9999", 120.0),
        (None, "soon", 120.0),
        (5.0, "1001", 5.0),
        (600.0, None, 600.0),
    ],
)
def test_the_limit_is_two_minutes_or_what_the_job_leaves(asked: float | None, end: str | None, limit: float) -> None:
    environ = {} if end is None else {"SLURM_JOB_END_TIME": end}
    assert time_limit(asked, environ, now=1000.0) == limit


def start(behaviour: str, database: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.jobs.stub", behaviour, "post", str(database)]
    return subprocess.Popen(command, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for_child(process: subprocess.Popen[str]) -> None:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not children.read_text().strip():
        time.sleep(0.005)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_work_but_not_the_job(number: signal.Signals, database: Path) -> None:
    with start("deaf", database) as process:
        wait_for_child(process)
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert err == f"chathpc: post: stopped by {number.name}. The job is not affected.\n"
    assert names(database.parent) == {"database"}


def test_nothing_goes_on_working_when_post_has_ended(database: Path) -> None:
    with start("hang", database) as process:
        wait_for_child(process)
        child = int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text())
        process.terminate()
        process.communicate(timeout=30)
    assert not Path(f"/proc/{child}").exists()


def test_a_signal_at_any_moment_leaves_old_or_new_files_only(database: Path) -> None:
    wanted = {file: renderers()[form](sample(), Style(width=100)) for form, file in FILES.items()}
    draw = random.Random(7)
    for _ in range(25):
        with start("slow", database) as process:
            wait_for_child(process)
            time.sleep(draw.uniform(0.0, 0.6))
            process.send_signal(draw.choice([signal.SIGTERM, signal.SIGUSR1]))
            process.communicate(timeout=30)
        assert process.returncode == 0
        found = names(database.parent) - {"database", "latest"}
        assert found == {f"report-{number}" for number in range(1, len(found) + 1)}
        for folder in found:
            texts = {file: (database.parent / folder / file).read_text(encoding="utf-8") for file in NAMES}
            assert texts == wanted


def test_a_real_path_that_is_no_profile_does_not_fail_the_job(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "chathpc", "post", str(tmp_path / "no\x1b[31m")],
        env=environment(), text=True, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
    assert "no such file or folder" in done.stderr
    assert "\x1b" not in done.stderr


def test_a_model_that_cannot_be_reached_is_one_line_on_stderr_beside_the_report(tmp_path: Path) -> None:
    database = ROOT / "examples" / "omp-triangle" / "database"
    done = subprocess.run(
        [sys.executable, "-m", "chathpc", "post", str(database), "-o", str(tmp_path / "out"), "--llm", "openai:big"],
        env=environment({"CHATHPC_BASE_URL": "http://127.0.0.1:9/v1", "HOME": str(tmp_path)}),
        text=True, capture_output=True, timeout=60, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout.startswith("chathpc: BOTTLENECK")
    assert re.fullmatch(
        r"chathpc: post: no model worded the report: 127\.0\.0\.1\S* cannot be reached.*\n", done.stderr
    )
    assert names(tmp_path / "out") == FIRST
