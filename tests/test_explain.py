"""From a profile to the report that other programs rely on."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

import chathpc
from chathpc.profile.metric import Metric, Unit
from chathpc.profile.profile import Profile, Source
from chathpc.report import Report
from tests.diagnosis.parts import barrier, function, gomp, hot_loop, libc, main, source, thread, wall
from tests.diagnosis.test_diagnose import any_profiles
from tests.profile.build import build, call, entry, line, loop
from tests.synthetic.hpctoolkit_v4 import write
from tests.synthetic.programs import gpu, small

PLACE = {"function", "file", "line", "kernel", "path"}
KEYS = {
    "schema": None,
    "verdict": None,
    "headline": None,
    "notes": None,
    "timings": None,
    "versions": None,
    "profile": {"format", "paths", "title", "shape", "run", "contexts", "locations", "metrics", "caveats", "not_collected"},
    "findings": {
        "cause", "title", "summary", "where", "source", "seconds", "share", "share_error",
        "speedup_if_free", "speedup_bound", "typical_gain", "confidence", "confidence_reason",
        "evidence", "against", "advice", "change", "next_measurement", "origin", "status",
    },
    "evidence": {"id", "kind", "statement", "subject", "metric", "value", "unit", "whole", "parts", "where", "source", "tool", "error"},
    "hypotheses": None,
    "explanation": {"text", "statements", "model", "audience", "lack", "note", "usage"},
    "examined": {"run", "skipped"},
    "flat": {"name", "share", "own"},
    "flat_metric": None,
    "view": None,
    "tree": {"metric", "unit", "total", "rows"},
    "pruning": {
        "contexts_before", "contexts_after", "metrics_before", "metrics_after", "time_kept_share", "tokens",
    },
}  # fmt: skip


def uneven() -> Profile:
    """Two threads, 4 s and 1 s of work in one region, 3 s of waiting: 8 s in all."""
    body = function(
        "forces._omp_fn.0",
        loop("app.c:11", line("app.c:12", time=(4.0, 1.0))),
        barrier(time=(None, 3.0)),
        at="app.c:10",
    )
    profile = wall(build(main(line("app.c:5", gomp("GOMP_parallel", body))), format="HPCToolkit v4"))
    return replace(profile, sources=(Source(Path("db/profile.db"), "HPCToolkit", "2024.01"), Source(Path("db"), "x")))


def test_the_report_has_the_keys_that_programs_rely_on() -> None:
    data = json.loads(chathpc.explain(uneven()).to_json())
    assert set(data) == set(KEYS)
    assert data["schema"] == "chathpc-report/2"
    for key, inside in KEYS.items():
        if inside is not None:
            item = data[key][0] if isinstance(data[key], list) else data[key]
            assert set(item) == inside, key
    assert set(data["findings"][0]["where"]) == PLACE
    assert set(data["evidence"][1]["where"]) == PLACE
    assert set(data["explanation"]["statements"][0]) == {"kind", "text", "cites", "by", "dropped_because"}
    assert set(data["profile"]["metrics"][0]) == {"id", "source_name", "unit", "total"}
    assert set(data["tree"]["rows"][0]) == {"depth", "label", "place", "inclusive", "exclusive", "share"}


def test_the_flat_profile_is_the_time_by_function_and_by_what_libraries_do() -> None:
    rows = [(row.name, row.share, row.own) for row in chathpc.explain(uneven(), llm="none").flat]
    assert rows == [("forces", 5 / 8, True), ("waiting in OpenMP", 3 / 8, False)]


def test_the_flat_profile_names_the_library_by_its_package() -> None:
    file = Path(__file__).parents[1] / "examples" / "python-pairs" / "before.speedscope.json.gz"
    data = json.loads(gzip.decompress(file.read_bytes()))
    frames = [frame.get("file") or "" for frame in data["shared"]["frames"]]
    leaves = [frames[stack[-1]] for one in data["profiles"] for stack in one["samples"]]
    expected = sum("/site-packages/numpy/" in leaf for leaf in leaves) / len(leaves)
    rows = {row.name: row.share for row in chathpc.explain(file, llm="none").flat}
    assert rows["numpy in neighbours"] == pytest.approx(expected, abs=0.02)


def test_the_report_says_what_the_diagnosis_found() -> None:
    report = chathpc.explain(uneven(), llm="none")
    assert (report.verdict, report.findings[0].cause) == ("bottleneck", "omp-load-imbalance")
    found = report.findings[0]
    assert (found.seconds, found.share) == (3.0, 0.375)
    assert found.speedup_bound == pytest.approx(1 / (1 - 0.375), rel=0.1)  # with the error of sampling
    assert (found.where.function, found.where.line) == ("forces", 11)
    assert found.where.path == ["<program root>", "main", "GOMP_parallel [libgomp.so.1.0.0]", "forces._omp_fn.0"]
    assert report.headline == found.summary
    assert report.explanation.model is None
    assert report.explanation.text == " ".join(each.text for each in report.explanation.statements)
    assert {(each.kind, each.by) for each in report.explanation.statements} == {("retold", "the catalogue")}
    assert report.profile.paths == ["db/profile.db", "db"]
    assert report.profile.shape == "2 threads"
    assert (report.profile.contexts, report.profile.locations) == (len(uneven().tree), 2)
    assert [(m.id, m.unit, m.total) for m in report.profile.metrics] == [("cpu.time", "s", 8.0)]
    assert list(report.profile.not_collected) == ["hardware counters (cache misses, instructions per cycle)"]


def test_metrics_that_are_hidden_or_have_no_values_are_not_listed() -> None:
    profile = build(main(line("app.c:2", values={"cpu.time": 4.0, "io.read.bytes": 5.0})))
    hidden = replace(profile.metrics["io.read.bytes"], hidden=True)
    nothing = Metric("cpu.cycles", Unit.CYCLES, "", "CYCLES", has_values=False)
    changed = replace(profile, metrics={**profile.metrics, "io.read.bytes": hidden, "cpu.cycles": nothing})
    assert [metric.id for metric in chathpc.explain(changed).profile.metrics] == ["cpu.time"]


def test_every_stage_is_announced_and_timed() -> None:
    told: list[str] = []
    report = chathpc.explain(uneven(), progress=told.append)
    assert told == ["diagnose", "prune", "explain"] == list(report.timings)
    assert all(seconds >= 0 for seconds in report.timings.values())


def test_a_path_is_loaded_first(tmp_path: Path) -> None:
    write(tmp_path / "db", small())
    told: list[str] = []
    report = chathpc.explain(tmp_path / "db", progress=told.append)
    assert told == ["load", "diagnose", "prune", "explain"] == list(report.timings)
    assert report.profile.title == "small"
    again = chathpc.explain(str(tmp_path / "db"))
    assert again.findings == report.findings
    assert again.tree == report.tree


def test_several_paths_are_views_of_one_run_and_anything_else_is_wrong_usage(tmp_path: Path) -> None:
    write(tmp_path / "db", small())
    assert chathpc.explain([tmp_path / "db"]).findings == chathpc.explain(tmp_path / "db").findings
    with pytest.raises(chathpc.UsageError, match="is given twice"):
        chathpc.explain([tmp_path / "db", str(tmp_path / "db")])
    for wrong in ([], None, 3):
        with pytest.raises(chathpc.UsageError, match="Give a profile"):
            chathpc.explain(wrong)


def test_profiles_and_reports_print_shortly() -> None:
    report = chathpc.explain(uneven())
    assert len(repr(uneven())) < 200
    assert f"{len(uneven().tree)} contexts" in repr(uneven())
    assert len(repr(report)) < 200
    first, *rest = str(report).splitlines()
    assert first == f"{report.verdict.upper()}: {report.headline}"
    assert len(rest) == len(report.findings)


def test_a_device_profile_makes_a_report(tmp_path: Path) -> None:
    write(tmp_path / "db", gpu())
    report = chathpc.explain(tmp_path / "db")
    assert any(metric.id.startswith("gpu.") for metric in report.profile.metrics)


def test_a_path_that_is_no_profile_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(chathpc.AdapterError):
        chathpc.explain(tmp_path)


def test_helper_threads_are_not_in_the_tree() -> None:
    engine = call("progress_engine", libc("poll", time=30.0), module="/usr/lib/libopen-pal.so.40")
    profile = build(
        main(function("solve", hot_loop(4.0, "app.c:10"), at="app.c:9")), thread(libc("start_thread", engine))
    )
    report = chathpc.explain(profile)
    assert report.tree is not None
    assert report.tree.total == 4.0
    assert not [row for row in report.tree.rows if "poll" in row.label or "progress" in row.label]
    assert report.tree.rows[0].share == 1.0
    assert report.profile.metrics[0].total == 4.0
    assert len(report.notes) == 1


@pytest.mark.parametrize("timed", [True, False])
def test_calls_that_were_measured_inside_calls_are_in_the_tree(timed: bool) -> None:
    """Of 8 s in MPI_Finalize 6 are in MPI_File_open, which is one of its internals only where samples show it."""
    opening = call("MPI_File_open", call("opal_progress", time=1.0), time=5.0)
    profile = replace(build(entry("app", call("MPI_Finalize", opening, time=2.0), time=1.0)), timed=timed)
    tree = chathpc.explain(profile, llm="none").tree
    assert tree is not None
    own = {row.label: row.exclusive for row in tree.rows}
    assert own == {"app": 1.0, **({"MPI_Finalize": 2.0, "MPI_File_open": 6.0} if timed else {"MPI_Finalize": 8.0})}


def test_other_metrics_are_kept_beside_the_time_without_helpers() -> None:
    grow = function("window", line("app.c:31", libc("malloc", values={"memory.allocated.bytes": 8e6}), time=4.0))
    helper = thread(libc("start_thread", libc("poll", time=3.0)))
    report = chathpc.explain(build(main(grow), helper))
    assert report.findings[0].cause == "memory-leak"
    assert report.pruning.metrics_before == 2


def test_pruning_says_what_was_left_out() -> None:
    report = chathpc.explain(uneven())
    pruning = report.pruning
    assert pruning.contexts_before == len(uneven().tree)
    assert 0 < pruning.contexts_after <= pruning.contexts_before
    assert 0 < pruning.time_kept_share <= 1
    small = chathpc.explain(uneven(), tokens=40).pruning
    assert small.contexts_after <= pruning.contexts_after
    assert small.tokens <= pruning.tokens


def test_a_profile_without_metrics_has_no_tree() -> None:
    report = chathpc.explain(build(main()))
    assert (report.verdict, report.tree, report.findings) == ("insufficient-data", None, [])


def test_versions_name_the_tools() -> None:
    versions = chathpc.explain(uneven()).versions
    assert versions["chathpc"] == chathpc.__version__
    assert versions["HPCToolkit"] == "2024.01"
    assert "x" not in versions
    assert "numpy" in versions


def test_two_reports_of_a_profile_differ_in_their_timings_only() -> None:
    first, second = (chathpc.explain(uneven()).model_dump(exclude={"timings"}) for _ in range(2))
    assert first == second


@given(any_profiles())
def test_any_profile_makes_a_report_that_validates(profile: Profile) -> None:
    report = chathpc.explain(profile)
    assert Report.model_validate_json(report.to_json()) == report
    ids = {item.id for item in report.evidence}
    for each in report.explanation.statements:
        assert set(each.cites) <= ids


def test_a_statement_of_fortran_is_told_from_its_beginning() -> None:
    text = "do j = 1, n\n  a(j) = b(j) &\n    + c(j) &\n    & + d(j)\nend do\n"
    for name, told in (("a.f90", "a(j) = b(j) + c(j) + d(j)"), ("a.c", "& + d(j)")):
        profile = replace(build(main(line(f"{name}:4", time=9.0), at=f"{name}:1")), read_source=source({name: text}))
        assert chathpc.explain(profile).findings[0].source == told
