"""Measurements with stand-ins for the profilers, which take only options that the real ones document."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import chathpc
from chathpc.adapters.nsight_compute import native
from chathpc.diagnosis.diagnose import diagnose
from chathpc.errors import AdapterError, ChathpcError, MeasurementError, UsageError
from chathpc.measure import Measured, machine, measure
from chathpc.measure.live import Direct
from chathpc.measure.profiler import HIGHEST_WAITING
from chathpc.measure.record import Overhead
from chathpc.sandbox import Completed, Limits, Request
from tests.measure import stand_in

HEAT = "\n\nvoid work(void) {}\n\nint main(void) {\n  work();\n}\n"
APP = '#!/bin/sh\necho "out $*"\necho warned >&2\nread line && echo "read $line"\nexit ${APP_CODE:-0}\n'


@dataclass
class Watched:
    """A runner that keeps the requests."""

    seen: list[Request] = field(default_factory=list)
    inner: Callable[[Request], Completed] = field(default_factory=Direct)

    def __call__(self, request: Request) -> Completed:
        self.seen.append(request)
        return self.inner(request)


@dataclass
class Bench:
    """A folder with a program, tools on a PATH of their own, and the measuring of that program."""

    folder: Path
    bin: Path
    environment: dict[str, str]
    runner: Watched = field(default_factory=Watched)

    def tools(self, *names: str) -> Bench:
        stand_in.install(self.bin, *names)
        return self

    def measure(self, *command: str, **options: object) -> Measured:
        program = command or ("./app", "1", "2")
        return measure(program, self.folder, runner=self.runner, environment=self.environment, **options)  # type: ignore[arg-type]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "app").write_text(APP)
    (folder / "app").chmod(0o755)
    (folder / "heat.c").write_text(HEAT)
    basics = tmp_path / "basics"
    basics.mkdir()
    for name in ("sh", "true", "env"):
        (basics / name).symlink_to(
            next(Path(place) / name for place in ("/bin", "/usr/bin") if (Path(place) / name).exists())
        )
    return Bench(folder, tmp_path / "bin", {"PATH": f"{tmp_path / 'bin'}:{basics}"})


def left_behind(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if entry.name not in ("app", "heat.c"))


def test_perf_leaves_a_profile_that_is_read_and_shown_with_its_source(bench: Bench) -> None:
    measured = bench.tools("perf").measure()
    assert measured.folder == bench.folder / "chathpc-measure-app-1"
    assert measured.path == measured.folder / "profile" / "perf.txt"
    assert (measured.tool, measured.version, measured.events) == (
        "perf",
        "perf version 6.0.stand-in",
        ("cpu-clock", "context-switches", "page-faults"),
    )
    assert measured.code == 0
    profile = chathpc.load(measured.path)
    assert profile.total("cpu.time") == pytest.approx(0.250, rel=1e-9)  # 250 samples of a million nanoseconds
    # A sample each 10 ms, of which the thread is blocked for 7; after the last one it blocks once more and comes back.
    assert profile.total("cpu.time.wall") == pytest.approx(249 * 0.010 + 0.009, rel=1e-6)
    assert profile.read_source("heat.c", 3, 0) is not None
    (code,) = profile.sampled_code
    assert (code.function, code.samples, code.lines[0].file, code.lines[0].line) == ("work", 250, "heat.c", 3)
    assert "processor" in profile.hardware
    assert (measured.folder / "stdout.txt").read_text() == "out 1 2\n"
    assert (measured.folder / "stderr.txt").read_text() == "warned\n"


def test_samples_that_perf_lost_are_told_of_what_was_measured_here(bench: Bench) -> None:
    bench.environment["STAND_IN_DROPS"] = "250"
    profile = chathpc.load(bench.tools("perf").measure(overhead=False).path)
    assert profile.caveats[0].startswith("perf lost 50.0 % of its samples")


def test_a_run_that_leaves_few_samples_is_measured_once_more_and_more_often(bench: Bench) -> None:
    bench.environment["STAND_IN_RARE"] = "1"
    measured = bench.tools("perf").measure(overhead=False)
    assert [step.name for step in measured.steps].count("run") == 2
    # 9 samples at 499 a second: a thousand would need 55,000 a second, and the highest rate is the limit.
    assert measured.rate == HIGHEST_WAITING - 1
    assert chathpc.load(measured.path).total("cpu.time") == pytest.approx(0.399, rel=1e-9)
    chosen = bench.measure(overhead=False, rate=501)
    assert [step.name for step in chosen.steps].count("run") == 1
    assert chosen.rate == 501


def test_a_run_of_which_no_sample_was_taken_is_measured_again_and_not_forever(bench: Bench, tmp_path: Path) -> None:
    late = tmp_path / "late"
    bench.environment["STAND_IN_LATE"] = str(late)
    late.write_text("2")
    measured = bench.tools("perf").measure(overhead=False)
    assert [step.name for step in measured.steps].count("run") == 3
    assert chathpc.load(measured.path).total("cpu.time") == pytest.approx(0.250, rel=1e-9)
    late.write_text("3")
    with pytest.raises(MeasurementError, match="no sample was taken"):
        bench.measure(overhead=False)
    late.write_text("1")  # a rate that the user has chosen is not tried again with another result
    with pytest.raises(MeasurementError, match="no sample was taken"):
        bench.measure(overhead=False, rate=501)


def test_the_record_says_what_was_run_without_the_name_of_the_folder(bench: Bench) -> None:
    measured = bench.tools("perf").measure()
    record = json.loads((measured.folder / "measure.json").read_text())
    assert record["schema"] == "chathpc-measure/1"
    assert record["profile"] == "profile/perf.txt"
    assert record["command"] == ["./app", "1", "2"]
    assert record["folder"] == ".."
    assert chathpc.load(measured.folder).run["command"] == "./app 1 2"
    assert measured.overhead is not None
    assert record["overhead"] == pytest.approx(measured.overhead.share, abs=1e-6)
    assert record["plain_seconds"] == pytest.approx(sum(measured.overhead.alone) / 3, abs=1e-6)
    assert (record["runs"], record["overhead_interval"]) == (3, list(measured.overhead.interval or ()))
    assert record["steps"][0]["name"] == "plain run"
    assert all(step["code"] == 0 for step in record["steps"])
    assert str(bench.folder) not in json.dumps(record)
    assert record["machine"]["cores"] == str(len(os.sched_getaffinity(0)))
    assert str(measured.folder) in measured.steps[-1].command[-1]


def test_runs_alone_and_measured_take_turns_and_the_start_of_the_profiler_is_no_overhead(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "idle_seconds", lambda: None)  # whatever else keeps the cores busy here
    (bench.folder / "app").write_text("#!/bin/sh\necho ran\necho run >> runs\n")
    measured = bench.tools("perf").measure()
    assert (bench.folder / "runs").read_text() == "run\n" * 6
    assert (measured.folder / "stdout.txt").read_text() == "ran\n"
    runs = [step for step in measured.steps if step.name in ("plain run", "run")]
    assert [step.name for step in runs] == ["plain run", "run"] * 3
    cost = measured.overhead
    assert cost is not None
    assert cost.alone == pytest.approx([step.seconds for step in runs[::2]], abs=1e-5)
    # What perf did beside the program, here the start of Python: the rest of the whole.
    whole = sum(step.seconds for step in runs[1::2]) / 3
    assert cost.start_up == pytest.approx(whole - sum(cost.under) / 3, abs=1e-5)
    assert 0 < cost.start_up < whole
    assert "overhead" not in [entry.name for entry in measured.folder.iterdir()]


@pytest.mark.parametrize(("queued", "least", "most"), [(None, 0.0, 0.4), (1.0, 0.0, 0.4), (0.0, 0.5, 60.0)])
def test_a_wait_for_a_core_is_no_overhead_and_sleep_is_no_such_wait(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, queued: float | None, least: float, most: float
) -> None:
    (bench.folder / "app").write_text(f"#!/bin/sh\nexec {shutil.which('sleep')} 0.5\n")  # computes for milliseconds
    monkeypatch.setattr(machine, "idle_seconds", lambda: 100.0)  # no core is idle meanwhile
    bench.runner.inner = lambda request: replace(Direct()(request), queued=queued)
    cost = bench.tools("perf").measure().overhead
    assert cost is not None
    assert least <= min(cost.alone) <= max(cost.alone) <= most


def test_a_run_that_is_not_short_is_made_once_alone_and_once_measured(bench: Bench) -> None:
    def slow(request: Request) -> Completed:
        done = Direct()(request)
        return replace(done, seconds=done.seconds + 3.0 * ("./app" in request.command))

    bench.tools("perf")
    measured = measure(["./app"], bench.folder, runner=slow, environment=bench.environment)
    assert [step.name for step in measured.steps if step.name in ("plain run", "run")] == ["plain run", "run"]
    assert measured.overhead is not None
    assert measured.overhead.interval is None


@pytest.mark.parametrize(
    ("alone", "under", "told"),
    [
        ((0.50, 0.54, 0.52), (1.10, 1.12, 1.14), "115% overhead (104% to 128%, 3 runs each)"),
        ((0.50, 0.54, 0.52), (0.53, 0.50, 0.56), "no overhead beyond noise, at most 12% (3 runs each)"),
        ((0.50, 0.90, 0.52), (0.53, 0.50, 1.56), "overhead unknown, as noise allows up to 212% (3 runs each)"),
        ((0.50, 0.54, 0.52), (0.40, 0.41, 0.42), "no overhead beyond noise (3 runs each)"),
        ((0.52,), (1.12,), "115% overhead (one run each; noise unknown)"),
        ((1.12,), (0.52,), "no overhead seen (one run each; noise unknown)"),
    ],
)
def test_overhead_is_told_with_what_noise_leaves_of_it_and_never_below_nothing(
    alone: tuple[float, ...], under: tuple[float, ...], told: str
) -> None:
    assert str(Overhead(alone, under, 0.1)) == told


def test_the_folder_itself_is_as_good_as_its_profile(bench: Bench) -> None:
    measured = bench.tools("perf").measure(overhead=False)
    assert chathpc.load(measured.folder).total("cpu.time") == chathpc.load(measured.path).total("cpu.time")
    (measured.folder / "source.c").write_text("int main(void) { return 0; }\n")
    assert chathpc.load(measured.folder).total("cpu.time") == chathpc.load(measured.path).total("cpu.time")


def test_what_a_page_fault_costs_and_what_the_program_held_are_known_to_who_reads_the_profile(bench: Bench) -> None:
    measured = bench.tools("perf").measure(overhead=False)
    record = json.loads((measured.folder / "measure.json").read_text())
    assert 1e-8 < record["page_fault"] < 1e-3  # from far below to far above what machines need
    assert record["peak_memory"] > 1 << 20  # a shell
    for path in (measured.folder, measured.path):
        run = chathpc.load(path).run
        assert (float(run["page_fault"]), int(run["peak_memory"])) == (record["page_fault"], record["peak_memory"])
    alone = bench.folder / "alone.txt"
    alone.write_bytes(measured.path.read_bytes())
    assert "page_fault" not in chathpc.load(alone).run


def test_how_many_cores_there_were_is_known_where_the_tool_does_not_tell(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples/omp-triangle/database"
    assert "processors" not in chathpc.load(example).hardware
    shutil.copytree(example, tmp_path / "database")
    (tmp_path / "measure.json").write_text('{"profile": "database", "machine": {"cores": "2"}}')
    assert chathpc.load(tmp_path).hardware["processors"] == "2"
    doubts = chathpc.explain(chathpc.load(tmp_path), llm="none").findings[0].against
    assert any("4 threads ran on 2 cores" in doubt for doubt in doubts)


@pytest.mark.parametrize(
    "record",
    [
        "",
        "[]",
        "{}",
        '{"profile": "../perf.txt"}',
        '{"profile": "."}',
        '{"profile": 3}',
        '{"profile": "x\\u0000"}',
        "[" * 9999,
    ],
)
def test_a_record_that_is_wrong_leads_nowhere(bench: Bench, record: str) -> None:
    measured = bench.tools("perf").measure(overhead=False)
    (bench.folder / "perf.txt").write_bytes(measured.path.read_bytes())
    folder = bench.folder / "result"
    folder.mkdir()
    (folder / "measure.json").write_text(record)
    with pytest.raises(AdapterError, match="not a profile that chathpc knows"):
        chathpc.load(folder)


def test_perf_that_the_kernel_forbids_is_told(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "paranoid").write_text("4\n")
    monkeypatch.setattr("chathpc.measure.perf._PARANOID", tmp_path / "paranoid")
    monkeypatch.setattr(os, "geteuid", lambda: 1001)
    with pytest.raises(ChathpcError, match="perf_event_paranoid=2"):
        bench.tools("perf").measure()
    monkeypatch.setattr("chathpc.measure.perf._PARANOID", tmp_path / "absent")
    assert bench.measure(overhead=False).tool == "perf"


def test_everything_runs_through_the_runner_and_may_write_one_folder_more(bench: Bench, tmp_path: Path) -> None:
    bench.environment["ONLY"] = "this"
    bench.tools("perf").measure(readable=(tmp_path,), limits=Limits(seconds=50, memory=1 << 33), stdin=b"line\n")
    assert len(bench.runner.seen) >= 5
    for request in bench.runner.seen:
        assert request.folder == bench.folder
        assert [each.parent for each in request.writable] == [bench.folder]
        assert request.readable == (tmp_path,)
        assert request.environment["ONLY"] == "this"
        assert "HOME" not in request.environment
        assert request.limits.memory == 1 << 33
    assert (bench.folder / "chathpc-measure-app-1" / "stdout.txt").read_text() == "out 1 2\nread line\n"


def test_counters_are_measured_where_there_are_some(bench: Bench) -> None:
    bench.environment["STAND_IN_COUNTERS"] = "1"
    measured = bench.tools("perf").measure()
    assert measured.events == ("cpu-clock", "context-switches", "page-faults", "cycles", "instructions", "cache-misses")
    assert {"cpu.time", "cpu.cycles", "cpu.instructions", "cpu.cache.misses"} <= set(
        chathpc.load(measured.path).metrics
    )


def test_every_rank_is_measured_behind_its_launcher(bench: Bench) -> None:
    measured = bench.tools("perf", "mpirun").measure("mpirun", "-n", "3", "./app", "5")
    assert sorted(file.name for file in measured.folder.glob("perf*.data")) == [
        "perf.0.data",
        "perf.1.data",
        "perf.2.data",
    ]
    profile = chathpc.load(measured.path)
    assert profile.total("cpu.time") == pytest.approx(0.750, rel=1e-9)
    assert (measured.folder / "stdout.txt").read_text() == "out 5\n" * 3


def test_ranks_on_two_nodes_keep_their_numbers_and_nodes(bench: Bench) -> None:
    """Process ids of different nodes may be the same; the rank is in the name of its file, the node in its header."""
    bench.environment["STAND_IN_HOSTS"] = "nid0{rank}.site3.example"
    profile = chathpc.load(bench.tools("perf", "mpirun").measure("mpirun", "-n", "3", "./app", "5").path)
    assert sorted(zip(profile.where.node.tolist(), profile.where.rank.tolist(), strict=True)) == [
        (0, 0),
        (1, 1),
        (2, 2),
    ]


@pytest.fixture
def python(bench: Bench) -> Bench:
    """With a program of Python, which the shell runs here, and the tools that py-spy's run needs."""
    (bench.folder / "app.py").write_text(APP)
    (bench.bin.parent / "basics" / "cat").symlink_to("/bin/cat")
    bench.bin.mkdir()
    (bench.bin / "python3").symlink_to("/bin/sh")
    return bench


def test_py_spy_goes_first_where_the_program_is_pythons(python: Bench) -> None:
    """It talks on stdout and loses the status: neither is the program's."""
    python.environment["APP_CODE"] = "3"
    measured = python.tools("perf", "hpcrun", "hpcstruct", "hpcprof", "py-spy").measure("python3", "app.py", "5")
    assert (measured.tool, measured.code, measured.rate) == ("py-spy", 3, 100)
    assert (measured.folder / "stdout.txt").read_text() == "out 5\n"
    assert (measured.folder / "stderr.txt").read_text() == "warned\n"
    profile = chathpc.load(measured.path)
    assert (profile.title, profile.total("cpu.time"), profile.sees_waiting) == ("app", pytest.approx(2.0), True)
    assert [source.tool for source in profile.sources] == ["py-spy"]
    assert profile.read_source("app.py", 3, 0) is not None
    found = diagnose(profile).findings[0]
    assert (found.cause, found.where.function, found.where.file) == ("library-call", "main", "app.py")


def test_py_spy_measures_each_rank(python: Bench) -> None:
    measured = python.tools("py-spy", "mpirun").measure("mpirun", "-n", "3", "python3", "app.py")
    profile = chathpc.load(measured.path)
    assert sorted(profile.where.rank.tolist()) == [0, 1, 2]
    assert profile.location_totals("cpu.time").tolist() == pytest.approx([2.0] * 3)


def test_where_py_spy_may_not_trace_perf_measures(python: Bench) -> None:
    python.environment["STAND_IN_FAILS"] = "py-spy"
    measured = python.tools("py-spy", "perf").measure("python3", "app.py")
    assert measured.tool == "perf"
    assert "py-spy: the stand-in was asked to fail" in measured.remarks[0]


@pytest.mark.parametrize(("lost", "tool"), [(1, "py-spy"), (9, "perf")])
def test_a_run_that_ends_before_py_spy_saw_it_is_repeated(python: Bench, tmp_path: Path, lost: int, tool: str) -> None:
    (tmp_path / "left").write_text(str(lost))
    python.environment["STAND_IN_LOSES"] = str(tmp_path / "left")
    measured = python.tools("py-spy", "perf").measure("python3", "app.py", "5")
    assert measured.tool == tool
    told = [remark for remark in measured.remarks if "py-spy" in remark]
    assert len(told) == (tool == "perf")
    assert all("it left no profile of a run of" in remark and "out 5" not in remark for remark in told)


def test_py_spy_is_for_python_alone(bench: Bench) -> None:
    bench.tools("py-spy")
    with pytest.raises(ChathpcError, match="the program is not started by Python"):
        bench.measure(tool="py-spy")


def test_hpctoolkit_goes_before_perf_and_makes_a_database(bench: Bench) -> None:
    measured = bench.tools("perf", "hpcrun", "hpcstruct", "hpcprof").measure()
    assert measured.tool == "hpctoolkit"
    assert measured.events == (f"REALTIME@f{measured.rate:.0f}",)
    assert chathpc.load(measured.path).format.startswith("HPCToolkit")
    names = [step.name for step in measured.steps]
    assert names[:5] == ["plain run", "run", "hpcrun --version", "hpcstruct", "hpcprof"]
    assert measured.overhead is not None
    assert measured.overhead.start_up is None


def test_hpctoolkit_measures_ranks_in_one_folder(bench: Bench) -> None:
    measured = bench.tools("hpcrun", "hpcstruct", "hpcprof", "mpirun").measure("mpirun", "-n", "2", "./app")
    assert len(list((measured.folder / "measurements").glob("*.hpcrun"))) == 2


def test_a_gpu_program_is_traced_by_nsys_if_it_is_there(bench: Bench) -> None:
    bench.tools("perf", "hpcrun", "hpcstruct", "hpcprof")
    without = bench.measure(gpu=True)
    assert (without.tool, without.events[1]) == ("hpctoolkit", "gpu=nvidia")
    measured = bench.tools("nsys").measure(gpu=True)
    assert (measured.tool, measured.rate) == ("nsys", None)
    assert "cuda" in measured.events
    assert chathpc.load(measured.path).format.startswith("Nsight Systems")
    assert all(request.gpu for request in bench.runner.seen)


def test_nsys_leaves_a_folder_of_ranks(bench: Bench) -> None:
    measured = bench.tools("nsys", "mpirun").measure("mpirun", "-n", "2", "./app", gpu=True)
    assert sorted(file.name for file in measured.path.iterdir()) == ["report.0.sqlite", "report.1.sqlite"]
    assert "mpi" in measured.events


def test_a_kernel_is_measured_by_ncu(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "installed", lambda: False)
    measured = bench.tools("ncu", "nsys", "perf").measure(kernel="regex:solve", launches=2)
    assert measured.tool == "ncu"
    run = next(step for step in measured.steps if step.name == "run")
    assert run.command[run.command.index("--kernel-name") + 1] == "regex:solve"
    assert run.command[run.command.index("--launch-count") + 1] == "2"
    assert chathpc.load(measured.path).format.startswith("Nsight Compute")


def test_ncu_leaves_a_folder_of_ranks(bench: Bench) -> None:
    measured = bench.tools("ncu", "mpirun").measure("mpirun", "-n", "2", "./app", tool="ncu", raw=False)
    assert sorted(file.name for file in measured.path.iterdir()) == ["report.0.ncu-rep", "report.1.ncu-rep"]


def test_a_report_is_enough_where_it_can_be_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "installed", lambda: True)
    assert bench.tools("ncu").measure(tool="ncu").path.name == "report.ncu-rep"


@pytest.mark.parametrize(("tool", "step"), [("nsys", "nsys-export"), ("ncu", "ncu-import")])
def test_an_export_that_fails_is_told(bench: Bench, monkeypatch: pytest.MonkeyPatch, tool: str, step: str) -> None:
    monkeypatch.setattr(native, "installed", lambda: False)
    bench.environment["STAND_IN_FAILS"] = step
    with pytest.raises(ChathpcError, match="asked to fail"):
        bench.tools(tool).measure(tool=tool)


def test_a_kernel_that_is_never_launched_is_told(bench: Bench) -> None:
    with pytest.raises(ChathpcError, match="ncu"):
        bench.tools("ncu").measure(kernel="absent")
    assert left_behind(bench.folder) == []


@pytest.mark.parametrize("step", ["hpcrun", "hpcprof"])
def test_a_profiler_that_fails_gives_way_to_the_next_with_its_reason(bench: Bench, step: str) -> None:
    bench.environment["STAND_IN_FAILS"] = step
    measured = bench.tools("perf", "hpcrun", "hpcstruct", "hpcprof").measure()
    assert measured.tool == "perf"
    assert any("hpctoolkit" in remark and "asked to fail" in remark for remark in measured.remarks)
    assert not (measured.folder / "measurements").exists()


def test_hpcstruct_may_fail(bench: Bench) -> None:
    bench.environment["STAND_IN_FAILS"] = "hpcstruct"
    assert bench.tools("hpcrun", "hpcstruct", "hpcprof").measure().tool == "hpctoolkit"


def test_without_source_lines_the_samples_are_still_written(bench: Bench) -> None:
    bench.environment["STAND_IN_FAILS"] = "perf-script-srcline"
    measured = bench.tools("perf").measure()
    assert chathpc.load(measured.path).total("cpu.time") == pytest.approx(0.250, rel=1e-9)


@pytest.mark.parametrize(
    ("fails", "told"),
    [("perf-script", "asked to fail"), ("perf-record", "asked to fail"), ("perf-samples", "too little CPU time")],
)
def test_a_measurement_that_fails_leaves_nothing_and_says_why(bench: Bench, fails: str, told: str) -> None:
    bench.environment["STAND_IN_FAILS"] = fails
    with pytest.raises(ChathpcError, match=told) as caught:
        bench.tools("perf").measure()
    assert caught.value.hint
    assert left_behind(bench.folder) == []


@pytest.mark.parametrize(
    ("tool", "package"), [("auto", "linux-perf"), ("hpctoolkit", "hpcrun"), ("nsys", "nsight"), ("ncu", "ncu")]
)
def test_what_is_not_installed_is_told_with_where_to_get_it(bench: Bench, tool: str, package: str) -> None:
    with pytest.raises(ChathpcError, match=package):
        bench.measure(tool=tool)
    assert left_behind(bench.folder) == []


def test_a_result_is_never_overwritten(bench: Bench) -> None:
    bench.tools("perf")
    names = [bench.measure(overhead=False).folder.name for _ in range(2)]
    assert names == ["chathpc-measure-app-1", "chathpc-measure-app-2"]
    mine = bench.folder / "mine"
    mine.mkdir()
    assert bench.measure(output=mine, overhead=False).folder == mine
    before = sorted(entry.name for entry in mine.iterdir())
    with pytest.raises(UsageError, match="exists"):
        bench.measure(output=mine)
    assert sorted(entry.name for entry in mine.iterdir()) == before


def test_a_folder_that_appears_meanwhile_is_not_replaced(bench: Bench) -> None:
    target = bench.folder / "result"

    def sly(request: Request) -> Completed:
        target.mkdir(exist_ok=True)
        (target / "mine.txt").write_text("precious")
        return Direct()(request)

    with pytest.raises(ChathpcError, match="result"):
        measure(["./app"], bench.tools("perf").folder, runner=sly, environment=bench.environment, output=target)
    assert [entry.name for entry in target.iterdir()] == ["mine.txt"]


def test_the_status_of_the_program_is_kept(bench: Bench) -> None:
    bench.environment["APP_CODE"] = "7"
    measured = bench.tools("perf").measure()
    assert measured.code == 7
    assert measured.overhead is not None  # both runs ended so
    assert any("status 7" in remark for remark in measured.remarks)
    told = diagnose(chathpc.load(measured.folder)).notes[0]
    assert told.startswith("The program failed: it ended with status 7.")


@pytest.mark.parametrize("overhead", [True, False])
def test_the_status_is_told_where_the_program_ends_before_a_sample(bench: Bench, overhead: bool) -> None:
    bench.environment |= {"APP_CODE": "7", "STAND_IN_FAILS": "perf-samples"}
    with pytest.raises(MeasurementError, match=r"too little CPU time.*ended with status 7") as caught:
        bench.tools("perf").measure(overhead=overhead)
    assert str(caught.value).count("status 7") == 1


def test_a_program_that_fails_only_under_the_profiler_is_not_believed(bench: Bench) -> None:
    (bench.folder / "app").write_text("#!/bin/sh\nif [ -e ran ]; then exit 5; fi\n: > ran\n")
    with pytest.raises(ChathpcError, match="status 5"):
        bench.tools("perf").measure()


def test_a_plain_run_that_was_made_already_is_not_made_again(bench: Bench) -> None:
    plain = Completed("exited", 0, b"", b"", 2.0, 20.0)
    measured = bench.tools("perf").measure(plain=plain)
    assert [step.name for step in measured.steps if step.name in ("plain run", "run")] == ["run"]
    assert measured.overhead is not None
    assert measured.overhead.alone == (2.0,)
    assert measured.rate == 501  # 10,000 samples in 20 CPU seconds, made odd


def test_what_only_the_profiler_reads_can_be_left_out(bench: Bench) -> None:
    measured = bench.tools("perf").measure(raw=False)
    assert sorted(entry.name for entry in measured.folder.iterdir()) == [
        "measure.json",
        "profile",
        "stderr.txt",
        "stdout.txt",
    ]


def test_links_that_the_program_leaves_in_the_result_are_not_followed(bench: Bench, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("mine")
    plant = "for d in .chathpc-measure-*.part; do ln -s ../../precious $d/profile; "
    plant += "for n in stdout.txt stderr.txt measure.json; do ln -s ../../precious/file $d/$n; done; done"
    (bench.folder / "app").write_text(f"#!/bin/sh\nPATH=/bin:/usr/bin\n{plant}\nexit 0\n")
    measured = bench.tools("perf").measure(overhead=False)
    assert [entry.name for entry in precious.iterdir()] == ["file"]
    assert (precious / "file").read_text() == "mine"
    assert not measured.path.parent.is_symlink()
    assert json.loads((measured.folder / "measure.json").read_text())["tool"] == "perf"


def test_two_sources_of_one_name_are_not_guessed_between(bench: Bench) -> None:
    (bench.folder / "old").mkdir()
    (bench.folder / "old" / "heat.c").write_text("other\n")
    assert not (bench.tools("perf").measure().path.parent / "heat.c").exists()


def test_sources_beside_a_program_elsewhere_are_found(bench: Bench, tmp_path: Path) -> None:
    other = tmp_path / "other" / "run"
    other.mkdir(parents=True)
    program = os.path.relpath(bench.folder / "app", other)
    bench.tools("perf")
    measured = measure(
        (program,),
        other,
        runner=bench.runner,
        environment=bench.environment,
        tool="perf",
        output=tmp_path / "m",
        sources=other,
    )
    assert (measured.path.parent / "heat.c").read_text() == (bench.folder / "heat.c").read_text()


@pytest.mark.parametrize("command", [("./absent",), ("absent",), ("./heat.c",), ()])
def test_what_cannot_be_run_is_told_before_anything_is_run(bench: Bench, command: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        measure(command, bench.folder, runner=bench.runner, environment=bench.environment)
    assert caught.value.hint
    assert bench.runner.seen == []


def test_an_unknown_tool_and_a_missing_folder_are_wrong_usage(bench: Bench) -> None:
    with pytest.raises(UsageError, match="no tool"):
        bench.measure(tool="vtune")
    with pytest.raises(UsageError, match="no folder"):
        bench.measure(output=bench.folder / "no" / "where")


def test_the_result_appears_with_permissions_of_the_user(bench: Bench) -> None:
    measured = bench.tools("perf").measure()
    assert stat.S_IMODE(measured.folder.stat().st_mode) & 0o700 == 0o700
