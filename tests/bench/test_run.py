from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from chathpc.bench import outcome as measuring
from chathpc.bench.case import Case
from chathpc.bench.floors import biggest_nodes
from chathpc.bench.folders import find_cases
from chathpc.bench.outcome import Outcome, measure, peak_bytes
from chathpc.bench.run import run_cases
from chathpc.diagnosis.facts import Facts
from chathpc.profile.profile import Profile
from tests.bench.labelled import case, three
from tests.diagnosis.parts import function, hot_loop, libc, libm, main, mpi
from tests.profile.build import build, call, entry, gpu_op, kernel, line


def plain(outcome: Outcome) -> Outcome:
    """Without what differs from run to run."""
    return replace(outcome, seconds=0.0, peak=0)


def cases_of(folder: Path) -> list[Case]:
    return list(find_cases([folder]).cases)


def test_a_case_is_run_in_a_process_of_its_own_with_the_answer_that_it_has_here(tmp_path: Path) -> None:
    cases = cases_of(three(tmp_path))
    outcomes = run_cases(cases)
    assert [outcome.verdict for outcome in outcomes] == ["bottleneck", "insufficient-data", "hot-spot"]
    assert [plain(outcome) for outcome in outcomes] == [plain(measure(each.paths)) for each in cases]
    first = outcomes[0]
    assert (first.findings[0].cause, first.findings[0].function) == ("allocation-churn", "parse")
    assert first.findings[0].weight > 0.05
    assert first.seconds > 0
    assert first.peak == 0 or first.peak > 10_000_000


def test_cases_that_are_run_at_once_keep_their_order(tmp_path: Path) -> None:
    cases, told = cases_of(three(tmp_path)), []
    outcomes = run_cases(cases, jobs=3, progress=told.append)
    assert [plain(outcome) for outcome in outcomes] == [plain(outcome) for outcome in run_cases(cases)]
    assert sorted(told) == ["churn", "few", "plain"]


def test_what_cannot_be_read_is_a_case_without_an_answer(tmp_path: Path) -> None:
    folder = case(tmp_path / "a")
    (folder / "stacks.folded").write_text("not a profile\n")
    (outcome,) = run_cases(cases_of(tmp_path))
    assert outcome.failure.startswith("stacks.folded: ")
    assert outcome.verdict == ""


def test_a_case_that_takes_too_long_or_crashes_is_one_without_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = cases_of(case(tmp_path / "a"))
    # On a busy machine the wall clock may end it before its processor time is spent.
    spinning = ("its process crashed (signal", "its process did not finish")
    for text, ended in (("while True: pass", spinning), ("import os; os.abort()", ("its process crashed (signal 6)",))):
        (tmp_path / "child.py").write_text(f"import sys; sys.stdin.read()\n{text}\n")
        monkeypatch.setattr("chathpc.bench.run._CHILD", tmp_path / "child.py")
        (outcome,) = run_cases(cases, seconds=1)
        assert outcome.failure.startswith(ended)


def test_a_bug_is_a_case_without_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    from chathpc.bench import child

    def buggy(*arguments: object) -> None:
        raise KeyError("secret")

    monkeypatch.setattr(measuring, "measure", buggy)
    monkeypatch.setattr("sys.stdin", _Stdin(b'{"paths": ["x"], "llm": "none", "base_url": null, "import_path": []}'))
    saved, path = os.dup(1), list(__import__("sys").path)
    monkeypatch.setattr("sys.path", path)
    try:
        child.main()
    finally:
        os.dup2(saved, 1)
        os.close(saved)
    assert b"internal error, please report it: KeyError" in capfdbinary.readouterr().out


class _Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = self
        self.data = data

    def read(self) -> bytes:
        return self.data


def test_where_the_system_tells_no_peak_it_is_unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(measuring, "_STATUS", tmp_path / "missing")
    assert peak_bytes() == 0
    (tmp_path / "status").write_text("Name:\tpython\nVmHWM:\t  2048 kB\n")
    monkeypatch.setattr(measuring, "_STATUS", tmp_path / "status")
    assert peak_bytes() == 2 << 20


# -- the floor of the biggest node -------------------------------------------------------------------------------


def biggest(profile: Profile) -> list[tuple[str, str | None]]:
    return [(answer.cause, answer.function or answer.kernel) for answer in biggest_nodes(Facts(profile))]


def test_the_biggest_node_is_a_function_over_all_its_contexts_at_the_program_that_calls_it() -> None:
    profile = build(
        main(
            function("one", hot_loop(3.0), line("app.c:7", libc("malloc", time=2.0))),
            function("two", line("app.c:9", libc("malloc", time=2.5))),
            function("three", line("app.c:20", libm("exp", time=1.0))),
        )
    )
    assert biggest(profile) == [("allocation-churn", "two"), ("hot-compute", "one"), ("expensive-math", "three")]
    assert biggest_nodes(Facts(profile))[0].line == 9
    assert biggest_nodes(Facts(profile))[0].share == pytest.approx(4.5 / 8.5)


def test_waiting_in_mpi_is_taken_for_communication() -> None:
    profile = build(main(function("step", hot_loop(1.0), line("app.c:9", mpi("MPI_Recv", time=2.0)))))
    assert biggest(profile)[0] == ("mpi-communication-bound", "step")


def test_kernels_and_copies_are_nodes_as_well() -> None:
    busy = kernel("saxpy", values={"gpu.time": 5.0, "gpu.kernel.time": 5.0, "gpu.kernel.count": 1.0})
    copied = gpu_op("<gpu copyin>", values={"gpu.time": 7.0, "gpu.copy.time": 7.0})
    api = call("cudaLaunchKernel", gpu_op("<gpu kernel>", busy), copied, module="/usr/lib/libcudart.so.12")
    profile = build(entry("<program root>", function("solve", line("app.cu:9", api))))
    assert biggest(profile) == [("gpu-h2d-copy-bound", None), ("gpu-kernel-bound", "saxpy")]


def test_an_empty_profile_has_no_biggest_node() -> None:
    assert biggest(build(main())) == []


# -- words -------------------------------------------------------------------------------------------------------


def test_a_small_model_in_the_loop_changes_nothing_and_is_no_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHATHPC_TEST_BACKENDS", "tests.llm.scripted")
    (each,) = cases_of(case(tmp_path / "a"))
    assert plain(measure(each.paths, llm="scripted:liar")) == plain(measure(each.paths, llm="none"))
