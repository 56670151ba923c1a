"""What each command prints, and where to."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chathpc
from chathpc.commands.output import style_for
from chathpc.commands.progress import Progress
from chathpc.diagnosis.facts import Facts
from chathpc.fix.recipes.exact import exact_changes
from chathpc.pipeline import explain
from chathpc.profile.gpu_counters import counter
from chathpc.profile.profile import Profile
from chathpc.report import Report
from chathpc.reports import renderers
from chathpc.reports.style import Style
from tests.commands.conftest import Result
from tests.diagnosis.parts import wall
from tests.llm import fault_server as fs
from tests.profile.build import build, call
from tests.reports.sample import sample
from tests.reports.test_parts import small_profile

DATABASE = Path(__file__).parents[2] / "examples" / "omp-triangle" / "database"
Run = Callable[..., Result]
Calls = list[dict[str, Any]]


@pytest.mark.parametrize("form", ["text", "markdown", "json", "html"])
def test_explain_prints_the_report_in_the_format_asked_for(run: Run, calls: Calls, form: str) -> None:
    result = run("explain", "db", "--format", form)
    assert result == Result(0, renderers()["screen" if form == "text" else form](sample(), Style()), "")


def test_the_whole_report_is_asked_for(run: Run, calls: Calls) -> None:
    whole = renderers()["text"](sample(), Style())
    assert run("explain", "db", "--full").out == whole
    assert run("explain", "db", "--full", "--format", "text").out == whole
    assert run("explain", "db", "-v").out == renderers()["text"](sample(), Style(verbose=True))


def test_explain_chooses_a_model_by_itself_unless_told(run: Run, calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHATHPC_BASE_URL", "")
    run("explain", "db")
    run("explain", "db", "--llm", "none", "--tokens", "500")
    run("explain", "db", "--audience", "manager", "--source", "a", "--source", "b")
    unset = {
        "base_url": None,
        "confidential": None,
        "patterns": None,
        "source": (),
        "audience": None,
        "propose": exact_changes,
        "view": False,
    }
    assert calls == [
        {**unset, "llm": "auto"},
        {**unset, "llm": "none", "tokens": 500},
        {**unset, "llm": "auto", "audience": "manager", "source": (Path("a"), Path("b"))},
    ]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("r.json", "json"),
        ("r.md", "markdown"),
        ("r.txt", "screen"),
        ("r", "screen"),
        ("r.html", "html"),
        ("r.sarif", "sarif"),
    ],
)
def test_the_format_follows_the_name_of_the_file(run: Run, calls: Calls, tmp_path: Path, name: str, form: str) -> None:
    assert run("explain", "db", "-o", name) == Result(0, "", "")
    assert (tmp_path / name).read_text(encoding="utf-8") == renderers()[form](sample(), Style())
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_format_that_is_named_wins_over_the_name_of_the_file(run: Run, calls: Calls, tmp_path: Path) -> None:
    run("explain", "db", "-o", "r.txt", "--format", "json")
    Report.model_validate_json((tmp_path / "r.txt").read_text())


def test_an_output_folder_that_does_not_exist_is_wrong_usage(run: Run, calls: Calls, tmp_path: Path) -> None:
    result = run("explain", "db", "-o", "no/r.txt")
    assert result.code == 2
    assert "There is no folder" in result.err
    assert list(tmp_path.iterdir()) == []


def test_no_profile_is_overwritten_by_its_report(run: Run, calls: Calls, tmp_path: Path) -> None:
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "meta.db").write_text("precious")
    result = run("explain", "db", "-o", "db/meta.db", "--format", "text")
    assert result.code == 2
    assert "is part of the profile" in result.err
    assert (tmp_path / "db" / "meta.db").read_text() == "precious"
    assert run("explain", "db", "-o", "db/report.txt").code == 0


@pytest.mark.parametrize("name", ["r.htlm", "r.pdf", "r.docx", "out.d/r.x"])
def test_an_ending_that_says_no_format_is_an_error_that_lists_the_known_ones(
    run: Run, calls: Calls, tmp_path: Path, name: str
) -> None:
    result = run("explain", "db", "-o", name)
    assert result.code == 2
    assert ".html" in result.err
    assert ".json" in result.err
    assert "--format" in result.err
    assert list(tmp_path.iterdir()) == []
    assert run("explain", "db", "-o", "r.dat", "--format", "text").code == 0
    assert run("explain", "db", "-o", "report").code == 0
    assert run("explain", "db", "-o", "/dev/null").code == 0


def test_a_command_without_pages_does_not_take_the_ending_of_one(run: Run, calls: Calls) -> None:
    result = run("patterns", "list", "-o", "p.html")
    assert result.code == 2
    assert ".html," not in result.err


def test_dash_means_stdout(run: Run, calls: Calls) -> None:
    assert run("explain", "db", "-o", "-").out.startswith("stencil_omp")


def test_the_c_locale_gets_ascii(run: Run, calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    assert run("explain", "db").out.isascii()


@pytest.mark.parametrize(
    ("environ", "encoding"),
    [
        ({"LANG": "C"}, "ascii"),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "ascii"),  # what Python itself makes of LANG=C
        ({"LANG": "en_US.UTF-8"}, "utf-8"),
        ({"LANG": "C", "LC_ALL": "C.UTF-8"}, "utf-8"),
        ({"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, "utf-8"),
        ({}, "utf-8"),
    ],
)
def test_the_locale_decides_about_unicode(environ: dict[str, str], encoding: str) -> None:
    assert style_for("file", environ=environ).encoding == encoding


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "colour"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
        ({}, False),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], colour: bool
) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert style_for(None, environ=environ).colour is colour
    assert style_for("file", environ=environ).colour is False


@pytest.mark.parametrize(("columns", "width"), [("20", 40), ("80", 80), ("110", 110), ("300", 110)])
def test_the_width_is_that_of_the_terminal_within_reason(
    run: Run, calls: Calls, monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert run("explain", "db").out == renderers()["screen"](sample(), Style(width=width))


def test_tree_prints_the_tree(run: Run, calls: Calls) -> None:
    lines = run("tree", "db", "--by", "loop").out.splitlines()
    assert lines[0] == "small · 1 thread · 10.1 s of cpu.time · 3 of 5 contexts"
    assert [line.split()[-2:] for line in lines[2:5]] == [["main", "a.c:1"], ["at", "a.c:2"], ["f", "a.c:10"]]


def test_tree_gives_json(run: Run, calls: Calls) -> None:
    content = json.loads(run("tree", "db", "--format", "json", "--min-share", "45%").out)
    assert content["schema"] == "chathpc-tree/1"
    assert [row["label"] for row in content["rows"]] == ["main"]


@pytest.mark.parametrize(("given", "shown"), [("40%", 2), ("40", 2), ("0.4", 2), ("41%", 1), ("0", 2), ("100%", 1)])
def test_the_least_share_is_a_percentage_with_or_without_its_sign(
    run: Run, calls: Calls, given: str, shown: int
) -> None:
    rows = json.loads(run("tree", "db", "--format", "json", "--min-share", given).out)["rows"]
    assert len(rows) == shown  # main has 100 %, f 4.05 s of 10.05 s: 40.3 %


def test_an_unknown_metric_is_wrong_usage(run: Run, calls: Calls) -> None:
    assert run("tree", "db", "--metric", "x").code == 2


def test_metrics_lists_ids_names_units_and_totals(run: Run, calls: Calls) -> None:
    text = run("metrics", "db").out
    assert ["cpu.time", "REALTIME", "s", "10.1", "s"] in [line.split() for line in text.splitlines()]
    content = json.loads(run("metrics", "db", "--format", "json").out)
    assert content["metrics"][0]["total"] == pytest.approx(10.05)
    assert content["locations"] == {"count": 1, "time": {"count": 1, "min": 10.05, "mean": 10.05, "max": 10.05}}


def test_what_every_kernel_has_was_measured_though_it_has_no_total(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    node = build(call("main", time=1.0))
    registers = counter("gpu.kernel.registers", "registersPerThread")
    profile = replace(node, metrics={**node.metrics, registers.id: registers})
    monkeypatch.setattr(chathpc, "load", lambda *_: profile, raising=False)
    (row,) = (line for line in run("metrics", "db").out.splitlines() if registers.id in line)
    assert row.endswith("no total")
    told = json.loads(run("metrics", "db", "--format", "json").out, parse_constant=pytest.fail)["metrics"]
    assert {each["id"]: each["total"] for each in told} == {"cpu.time": 1.0, registers.id: None}


def test_metrics_has_as_many_samples_as_a_report(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = wall(small_profile())
    monkeypatch.setattr(chathpc, "load", lambda *_: profile, raising=False)
    found = json.loads(run("metrics", "db", "--format", "json").out)["run"]["samples"]
    assert found == explain(profile, llm="none").profile.run.samples == round(Facts(profile).samples)


def test_metrics_lists_the_time_first_and_what_has_no_values_last(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    node = build(call("main", time=1.0))
    kept = node.metrics["cpu.time"]
    more = {name: replace(kept, id=name, has_values=name != "b", hidden=name == "c") for name in "cba"}
    monkeypatch.setattr(chathpc, "load", lambda *_: replace(node, metrics={**more, **node.metrics}), raising=False)
    monkeypatch.setattr(Profile, "total", lambda *_: 1.0)
    listed = [line.split()[0] for line in run("metrics", "db").out.splitlines() if line.strip()]
    assert listed[listed.index("metric") + 1 :][:3] == ["cpu.time", "a", "No"]
    assert "No values  b" in run("metrics", "db").out


def test_metrics_says_what_the_data_cannot_tell(run: Run, calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    import chathpc

    profile = replace(
        small_profile(), caveats=("Few samples.",), not_collected={"cache misses": "hpcrun -e cache-misses"}
    )
    monkeypatch.setattr(chathpc, "load", lambda *paths: profile)
    text = run("metrics", "db").out
    assert " - Few samples." in text
    assert "   cache misses\n     hpcrun -e cache-misses\n" in text
    content = json.loads(run("metrics", "db", "--format", "json").out)
    assert content["not_collected"] == {"cache misses": "hpcrun -e cache-misses"}


def test_adapters_list_names_every_format_and_what_it_needs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from chathpc.adapters import registry
    from chathpc.adapters.adapter import Adapter

    ours = registry.built_in()
    listed = json.loads(run("adapters", "list", "--format", "json").out)
    assert [entry["format"] for entry in listed] == [adapter.name for adapter in ours.adapters]
    assert {entry["package"] for entry in listed} == {"chathpc"}
    lacking = Adapter("far", "far files", lambda glance: False, lambda path: 1 / 0, needs=lambda: "install 'far'")  # type: ignore[arg-type,return-value]
    theirs = registry.Installed((("far-tools", lacking),), (registry.Broken("odd", "odd-tools", "no such module"),))
    monkeypatch.setattr(registry, "third_party", lambda: theirs)
    text = run("adapters", "list").out
    assert all(f"{adapter.name}\n" in text for adapter in ours.adapters)
    assert "far (far-tools)\n   far files\n   Here: install 'far'\n" in text
    assert "odd (odd-tools)\n   Here: does not load: no such module\n" in text
    far, odd = json.loads(run("adapters", "list", "--format", "json").out)[-2:]
    assert far == {
        "format": "far",
        "reads": "far files",
        "available": False,
        "needs": "install 'far'",
        "package": "far-tools",
    }
    assert odd["available"] is False


def test_doctor_names_versions_and_remedies_and_never_fails(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from importlib.metadata import version

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "hpcrun").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "hpcrun").chmod(0o755)
    checks = {check["name"]: check for check in json.loads(run("doctor", "--format", "json").out)}
    assert checks["numpy"]["detail"] == version("numpy")
    assert checks["tree-sitter-fortran"]["detail"] == version("tree-sitter-fortran")
    assert checks["hpcrun"] | {"group": ""} == {
        "group": "", "name": "hpcrun", "ok": True, "detail": str(tmp_path / "hpcrun"), "remedy": "",
    }  # fmt: skip
    assert checks["nsys"]["ok"] is False
    assert "CUDA" in checks["nsys"]["remedy"]
    result = run("doctor")
    assert result.code == 0
    assert "missing  nsys" in result.out


def test_doctor_tells_what_is_not_read_without_a_grammar(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from chathpc.commands import doctor

    known = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "tree-sitter-fortran" else known(name))
    checks = {check["name"]: check for check in json.loads(run("doctor", "--format", "json").out)}
    assert checks["tree-sitter-fortran"]["ok"] is False
    assert checks["tree-sitter-fortran"]["remedy"] == (
        "pip install tree-sitter-fortran; without it the diagnosis does not analyse Fortran source"
    )
    assert checks["tree-sitter-c"]["ok"] is True


def test_doctor_says_which_sandbox_is_used_and_what_it_leaves_open(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    states = (("broken", "It is broken."), ("landlock", ""), ("none", ""))
    monkeypatch.setattr("chathpc.sandbox.states", lambda: states)
    checks = json.loads(run("doctor", "--format", "json").out)
    lines = {check["name"]: check for check in checks if check["group"] == "sandboxes"}
    assert not lines["broken"]["ok"]
    assert "It is broken." in lines["broken"]["remedy"]
    assert lines["landlock"]["detail"] == "is used for changed code"
    assert "arguments of all processes" in lines["landlock"]["remedy"]
    assert lines["none"]["detail"].startswith("not needed")


def test_doctor_tells_how_optional_parts_are_installed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from chathpc.commands import doctor

    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "mcp" else "1.0")
    checks = {check["name"]: check for check in json.loads(run("doctor", "--format", "json").out)}
    assert checks["mpi4py"]["detail"] == checks["nvidia-cuda-nvcc"]["detail"] == "1.0"
    assert checks["mcp"]["remedy"] == "optional: pip install 'chathpc[mcp]', for chathpc mcp"
    assert (checks["ipython"]["ok"], checks["ipython"]["detail"], checks["ipython"]["remedy"]) == (True, "1.0", "")


def test_doctor_misses_no_second_engine(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from chathpc.commands import doctor

    def engines(*present: str) -> dict[str, bool]:
        monkeypatch.setattr(doctor.util, "find_spec", lambda name: name if name in present else None)
        return {check.name: check.ok for check in doctor._engines()}

    assert engines("xllamacpp") == {"xllamacpp": True}
    assert engines() == {"xllamacpp": False, "llama-cpp-python": False}


def test_a_missing_option_is_told_on_one_line(run: Run) -> None:
    result = run("export", "db")
    assert (result.code, result.err.count("\n")) == (2, 2)
    assert "Missing option '--to'. Choose from: hatchet-json, speedscope" in result.err


def test_doctor_tells_a_broken_settings_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "chathpc.yaml").write_text("nonsense: 1\n")
    result = run("doctor")
    assert result.code == 0
    assert "there is no setting 'nonsense'" in " ".join(result.out.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_names_the_program_and_its_variable(run: Run, shell: str) -> None:
    script = run("completion", shell).out
    assert "_CHATHPC_COMPLETE" in script
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_completion_completes_commands() -> None:
    from click.shell_completion import BashComplete

    from chathpc.commands.main import cli

    complete = BashComplete(cli, {}, "chathpc", "_CHATHPC_COMPLETE")
    assert [item.value for item in complete.get_completions([], "exp")] == ["explain", "export"]
    assert [item.value for item in complete.get_completions(["explain", "--format"], "")] == [
        "text",
        "markdown",
        "json",
        "html",
        "sarif",
        "github",
        "gitlab",
    ]


def test_progress_is_silent_when_piped_and_when_quiet() -> None:
    for stream, quiet in ((io.StringIO(), False), (Terminal(), True)):
        with Progress(quiet=quiet, stream=stream, delay=0) as progress:
            progress("read")
        assert stream.getvalue() == ""


@pytest.mark.parametrize(
    "name", ["explain", "diff", "tree", "metrics", "view", "export", "ranks", "scale", "ask", "chat"]
)
def test_every_command_that_reads_a_profile_can_be_quiet(name: str) -> None:
    import click

    from chathpc.commands.main import cli

    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert [each.opts for each in command.params if "--quiet" in each.opts] == [["-q", "--quiet"]]


def test_what_a_request_needs_is_told_once_where_it_is_piped_too() -> None:
    for stream, quiet, told in (
        (io.StringIO(), False, "chathpc: asking m:�[2J 5 tokens\n"),
        (io.StringIO(), True, ""),
        (Terminal(), True, ""),
    ):
        with Progress(quiet=quiet, stream=stream) as progress:
            progress.notice("asking m:\x1b[2J\n5 tokens")
        assert stream.getvalue() == told


@pytest.mark.parametrize(
    ("answer", "why", "code"),
    [
        (fs.stream(fs.piece("{", "length"), fs.USAGE, fs.DONE), "it is longer than it may be, and was cut off", 5),
        (fs.stream(fs.piece("", "stop"), fs.USAGE, fs.DONE), "it is empty", 4),
        (fs.stream(*[fs.piece("blah ")] * 5000, fs.DONE), "it is longer than it may be, and was cut off", 5),
        (fs.stream(fs.piece("no"), fs.piece(finish="stop"), fs.DONE), "it is not one JSON object", 4),
    ],
)
def test_what_is_asked_of_a_server_and_why_it_was_of_no_use_is_on_stderr(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: fs.Behaviour, why: str, code: int
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with fs.fault_server(answer) as server:
        told = ("explain", str(DATABASE), "--base-url", server.url, "--llm")
        alone = run(*told, "openai:m")
        last = run(*told, "openai:m,none")
    assert (alone.code, last.code) == (code, 0)
    for one in (alone, last):
        assert "chathpc: asking m (at 127.0.0.1): about " in one.err
        assert f"No model worded this report: m (at 127.0.0.1) gave no usable answer: {why}." in one.err


def test_progress_is_silent_while_the_work_is_short() -> None:
    stream = Terminal()
    with Progress(stream=stream, delay=3600) as progress:
        progress("read")
    assert stream.getvalue() == ""


def test_progress_shows_the_stages_escaped_and_leaves_nothing_behind() -> None:
    stream = Terminal()
    with Progress(stream=stream, delay=0) as progress:
        progress("read")
        progress._begin()  # as the timer does after its delay
        progress("diag\x1b[2Jnose")
    assert "read ..." in stream.getvalue()
    assert "diag\N{REPLACEMENT CHARACTER}[2Jnose ..." in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")
