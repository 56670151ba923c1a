"""The key `project` of a chathpc.yaml: what it may say, and how its errors read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from chathpc.errors import ChathpcError, UsageError
from chathpc.fix import globs
from chathpc.fix.project import Check, Flags, Profiling, Run
from chathpc.fix.project_file import ALWAYS_PROTECTED, PROTECTED, describes_project, read
from chathpc.fix.project_schema import ProjectValues
from chathpc.llm.settings import PROJECT_KEYS

EVERY_KEY = """
llm: none      # settings stand beside it
project:
  build: make CFLAGS="$CFLAGS"
  flags: {variable: CFLAGS, value: -O2 -g}
  run: ./app 2000
  inputs: [./app 100, {name: fresh, run: "./app 300 {seed}", stdin: small.txt}]
  edit: ["*.c", "src/**/*.f90"]
  protect: ["check*", "timer.*"]
  check: {outputs: [stdout, out/result.dat], relative: 1e-9, absolute: 1e-12, ignore: ["^time"], command: ./verify result.dat}
  threads: [1, 2, 1]
  launcher: mpirun -n 2
  profile: {command: ./profile.sh, result: out/profile.json}
  gpu: true
  allow: [durability]
  limits: {seconds: 2 min, memory: 8 GiB, file: 500 MB, output: 4096, processes: 64}
"""
LEAST = {"build": "make", "run": "./app", "edit": ["*.c"]}
SCHEMA = Path(__file__).parents[2] / "docs" / "project-schema.json"


def folder_with(tmp_path: Path, text: str) -> Path:
    (tmp_path / "app.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "small.txt").write_text("3\n")
    (tmp_path / "chathpc.yaml").write_text(text)
    return tmp_path


def describing(tmp_path: Path, **keys: object) -> Path:
    return folder_with(tmp_path, yaml.safe_dump({"project": LEAST | keys}))


def refused(folder: Path) -> UsageError:
    with pytest.raises(UsageError) as caught:
        read(folder)
    assert caught.value.hint
    assert "Traceback" not in str(caught.value)
    return caught.value


def test_a_folder_of_python_is_described_by_hand(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("print(1)\n")
    with pytest.raises(UsageError) as caught:
        read(tmp_path)
    assert "by hand" in caught.value.hint
    (tmp_path / "fast.c").write_text("int f;\n")
    with pytest.raises(UsageError) as caught:
        read(tmp_path)
    assert caught.value.hint == f"Create a first one with: chathpc fix --init {tmp_path}"


def test_every_key_arrives_in_the_record(tmp_path: Path) -> None:
    project = read(folder_with(tmp_path, EVERY_KEY))
    assert project.root == tmp_path.resolve()
    assert project.build == 'make CFLAGS="$CFLAGS"'
    assert project.flags == Flags("CFLAGS", "-O2 -g")
    assert project.run == Run("run", "./app 2000")
    assert project.inputs == (
        Run("run", "./app 2000"),
        Run("input 1", "./app 100"),
        Run("fresh", "./app 300 {seed}", "small.txt"),
    )
    assert project.inputs[2].seeded
    assert project.edit == ("*.c", "src/**/*.f90")
    assert project.protect == (*ALWAYS_PROTECTED, "check*", "timer.*")
    assert project.check == Check(("stdout", "out/result.dat"), 1e-9, 1e-12, ("^time",), "./verify result.dat")
    assert project.threads == (1, 2)
    assert project.launcher == "mpirun -n 2"
    assert project.allow == ("durability",)
    assert project.profile == Profiling("command", "./profile.sh", "out/profile.json")
    assert project.gpu
    limits = project.limits
    assert (limits.seconds, limits.memory, limits.file) == (120.0, 8 * 1024**3, 500_000_000)
    assert (limits.output, limits.processes) == (4096, 64)


def test_three_keys_are_enough(tmp_path: Path) -> None:
    project = read(describing(tmp_path))
    assert project.inputs == (project.run,)
    assert project.protect == (*ALWAYS_PROTECTED, *PROTECTED)
    assert project.profile == Profiling("auto")
    assert (project.flags, project.threads, project.launcher, project.gpu) == (None, (), "", False)


def test_the_timed_run_is_checked_once_also_if_it_is_listed_among_the_inputs(tmp_path: Path) -> None:
    project = read(describing(tmp_path, inputs=["./app 1", {"name": "long", "run": "./app"}]))
    assert [run.command for run in project.inputs] == ["./app 1", "./app"]


@pytest.mark.parametrize(
    ("said", "seconds"), [("90", 90), (90, 90), ("1.5 h", 5400), ("2min", 120), ("250 ms", 0.25), ("1e2 s", 100)]
)
def test_times_have_units(tmp_path: Path, said: object, seconds: float) -> None:
    assert read(describing(tmp_path, limits={"seconds": said})).limits.seconds == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize(
    ("said", "size"),
    [(4096, 4096), ("1 KiB", 1024), ("2 kB", 2000), ("0.5 GiB", 1 << 29), ("1tib", 1 << 40), ("7 B", 7)],
)
def test_sizes_have_units(tmp_path: Path, said: object, size: int) -> None:
    assert read(describing(tmp_path, limits={"memory": said})).limits.memory == size


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"limits": {"seconds": "3 parsec"}}, "project.limits.seconds", "2 min"),
    ({"limits": {"seconds": True}}, "project.limits.seconds", "2 min"),
    ({"limits": {"seconds": 0}}, "project.limits.seconds", "2 min"),
    ({"limits": {"memory": "lots"}}, "project.limits.memory", "8 GiB"),
    ({"limits": {"memory": "1e300 GiB"}}, "project.limits.memory", "8 GiB"),
    ({"limits": {"memory": "1e999"}}, "project.limits.memory", "8 GiB"),
    ({"limits": {"second": 3}}, "project.limits.second'", "Did you mean 'seconds'"),
    ({"buildx": "make"}, "project.buildx", "Did you mean 'build'"),
    ({"xyz": 1}, "project.xyz", "Known here: build, run, edit"),
    ({"build": ""}, "project.build", "make CFLAGS"),
    ({"build": 7}, "project.build", "make CFLAGS"),
    ({"check": {"relative": "abc"}}, "project.check.relative", "1.0e-09"),
    ({"check": {"relative": 1.5}}, "project.check.relative", "1.0e-09"),
    ({"check": {"relative": float("nan")}}, "project.check.relative", "1.0e-09"),
    ({"check": {"outputs": ["/etc/passwd"]}}, "project.check.outputs[1]", "stdout"),
    ({"check": {"outputs": ["stdout", "../x"]}}, "project.check.outputs[2]", "stdout"),
    ({"check": {"outputs": []}}, "project.check.outputs", "stdout"),
    ({"check": {"ignore": ["("]}}, "project.check.ignore[1]", "^time"),
    ({"threads": [1, 0]}, "project.threads[2]", "[1, 2]"),
    ({"threads": [True]}, "project.threads[1]", "[1, 2]"),
    ({"inputs": [{"name": "x"}]}, "project.inputs[1].run", "{seed}"),
    ({"inputs": [4]}, "project.inputs[1]", "./app 100"),
    ({"inputs": [{"run": "./app", "stdin": "no.txt"}]}, "project.inputs[1].stdin", "relative"),
    ({"inputs": [{"run": "./app", "stdin": "../no.txt"}]}, "project.inputs[1].stdin", "inputs/small.txt"),
    ({"inputs": [{"run": "./a", "name": "x"}, {"run": "./b", "name": "x"}]}, "called 'x'", "unique name"),
    ({"edit": ["../*.c"]}, "project.edit[1]", "*.c"),
    ({"edit": ["/usr/**"]}, "project.edit[1]", "*.c"),
    ({"edit": ["src/**.c"]}, "project.edit[1]", "*.c"),
    ({"edit": ["[a.c"]}, "project.edit[1]", "*.c"),
    ({"edit": []}, "project.edit", "*.c"),
    ({"edit": ["*.cpp"]}, "no file below", "*.c"),
    ({"edit": ["*.c"], "protect": ["app.*"]}, "protected", "*.c"),
    ({"profile": {"tool": "vtune"}}, "project.profile.tool", "perf"),
    ({"profile": {"tool": "perf", "command": "x", "result": "y"}}, "project.profile.tool", "one of them"),
    ({"profile": {"tool": "command"}}, "project.profile.tool", "one of them"),
    ({"profile": {"command": "x"}}, "project.profile.result", "profile.json"),
    ({"profile": {"result": "x"}}, "project.profile.command", "profile.json"),
    ({"flags": "-O2"}, "project.flags", "CFLAGS"),
    ({"flags": {"variable": "A B", "value": ""}}, "project.flags.variable", "CFLAGS"),
    ({"gpu": 7}, "project.gpu", "true"),
    ({"allow": ["races"]}, "project.allow", "durability"),
]


@pytest.mark.parametrize(("keys", "named", "told"), WRONG, ids=[f"{n}-{row[1]}" for n, row in enumerate(WRONG)])
def test_an_error_names_the_file_and_the_key_and_says_what_to_write(
    tmp_path: Path, keys: dict[str, Any], named: str, told: str
) -> None:
    error = refused(describing(tmp_path, **keys))
    assert str(tmp_path / "chathpc.yaml") in error.message
    assert named in error.message
    assert told in error.hint


@pytest.mark.parametrize("key", sorted(LEAST))
def test_a_key_that_has_to_be_there_is_missed(tmp_path: Path, key: str) -> None:
    said = {name: value for name, value in LEAST.items() if name != key}
    error = refused(folder_with(tmp_path, yaml.safe_dump({"project": said})))
    assert f"'project.{key}': it is missing" in error.message
    assert f"{key}:" in error.hint


@pytest.mark.parametrize(
    "text",
    [
        "project: 3",
        "project: [1]",
        "project: {build: &x make, run: *x, edit: ['*.c']}",
        "project: {build: make, build: make}",
        "project: !!python/object/apply:os.system [true]",
        "[" * 60_000,
        "a: [",
        "\x00",
        "project: {? [1] : 2}",
        "project: {build: make, run: ./app, edit: ['*.c']} #" + "x" * 70_000,
    ],
    ids=["number", "list", "alias", "twice", "python", "deep", "open", "nul", "list as key", "large"],
)
def test_what_is_no_description_is_refused_with_a_hint(tmp_path: Path, text: str) -> None:
    assert "chathpc.yaml" in refused(folder_with(tmp_path, text)).message


MISPLACED = [
    ({"outputs": ["stdout"]}, "project.outputs", "It belongs below 'project.check'."),
    ({"seconds": 3}, "project.seconds", "It belongs below 'project.limits'."),
    ({"check": {"edit": ["*.c"]}}, "project.check.edit", "It belongs below 'project'."),
    ({"llm": "none"}, "project.llm", "It is a setting and belongs at the top level of the file, beside 'project'."),
    ({"bulid_": "make"}, "project.bulid_", "Did you mean 'build'?"),
    ({"limits": {"memry": "8 GiB"}}, "project.limits.memry", "Did you mean 'memory'?"),
    ({"memry": "8 GiB"}, "project.memry", "Did you mean 'memory', below 'project.limits'?"),
    ({"qqq": 1}, "project.qqq", "Known here: build, run, edit"),
]


@pytest.mark.parametrize(("keys", "named", "told"), MISPLACED, ids=[row[1] for row in MISPLACED])
def test_a_key_that_there_is_not_leads_to_the_one_that_was_meant(
    tmp_path: Path, keys: dict[str, Any], named: str, told: str
) -> None:
    error = refused(describing(tmp_path, **keys))
    assert f"unknown key '{named}'" in error.message
    assert error.hint.startswith(told)


@pytest.mark.parametrize("text", ["build: make\nrun: ./app\n", "build: make\nproject: {run: ./app, edit: ['*.c']}\n"])
def test_a_key_at_the_top_level_that_belongs_to_the_project_is_told_where(tmp_path: Path, text: str) -> None:
    error = refused(folder_with(tmp_path, text))
    assert "'build' is at the top level" in error.message
    assert error.hint.startswith("It belongs below 'project', indented: project: {build: …}")


def test_a_tab_and_a_misspelt_key_are_named(tmp_path: Path) -> None:
    file = tmp_path / "chathpc.yaml"
    file.write_text("project:\n\tbuild: make\n")
    with pytest.raises(UsageError, match="line 2 is indented by a tab; use spaces"):
        read(tmp_path)
    file.write_text("project: {build: make, run: ./app, edits: ['*.c']}\n")
    with pytest.raises(UsageError, match=r"unknown key 'project\.edits'") as error:
        read(tmp_path)
    assert error.value.hint == "Did you mean 'edit'?"


@pytest.mark.parametrize("text", ["", "llm: none\n", "project:\n"])
def test_a_file_without_a_project_leads_to_init(tmp_path: Path, text: str) -> None:
    assert "chathpc fix --init" in refused(folder_with(tmp_path, text)).hint


def test_a_missing_file_leads_to_init(tmp_path: Path) -> None:
    assert "chathpc fix --init" in refused(tmp_path).hint


def test_whether_a_file_has_a_project_is_told_also_of_a_wrong_one(tmp_path: Path) -> None:
    assert not describes_project(tmp_path)
    assert not describes_project(folder_with(tmp_path, "llm: none\n"))
    assert describes_project(folder_with(tmp_path, "project:\n"))


def test_an_input_that_is_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("key")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "in.txt").symlink_to(tmp_path / "secret")
    assert "stdin" in refused(describing(inside, inputs=[{"run": "./app", "stdin": "in.txt"}])).message


@given(st.binary(max_size=300))
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_a_project_or_an_error_that_is_expected(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "chathpc.yaml").write_bytes(b"project: " + data)
    with pytest.raises(ChathpcError) as caught:
        read(folder)
    assert caught.value.hint


def test_the_published_schema_takes_what_is_read_and_refuses_unknown_keys() -> None:
    check = Draft202012Validator(json.loads(SCHEMA.read_text()))
    check.validate(yaml.safe_load(EVERY_KEY.replace("1e-9", "1.0e-9").replace("1e-12", "1.0e-12"))["project"])
    check.validate(LEAST)
    assert not check.is_valid(LEAST | {"buildx": "make"})
    assert not check.is_valid({"build": "make"})
    assert not check.is_valid(LEAST | {"inputs": [4]})


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.c", "app.c", True),
        ("*.c", "src/app.c", True),
        ("src/*.c", "src/app.c", True),
        ("src/*.c", "src/deep/app.c", False),
        ("src/*.c", "other/src/app.c", False),
        ("src/**/*.c", "src/app.c", True),
        ("src/**/*.c", "src/a/b/app.c", True),
        ("**/b.c", "b.c", True),
        ("tests/**", "tests/a/b.c", True),
        ("tests/**", "tests", False),
        ("test?.c", "test1.c", True),
        ("[ab].c", "c.c", False),
        ("*.C", "app.c", False),
        ("**", "any/thing", True),
    ],
)
def test_patterns_mean_what_they_mean_in_gitignore(pattern: str, path: str, expected: bool) -> None:
    assert globs.matches(path, [pattern]) is expected


def test_no_pattern_takes_exponential_time() -> None:
    assert not globs.matches("/".join(["a"] * 2000), ["**/a/" * 40 + "b"])
    assert not globs.matches("a" * 200, ["*a" * 60 + "b"])


def test_links_and_protected_files_are_not_chosen(tmp_path: Path) -> None:
    for name in ("a.c", "check.c", "sub/b.c", ".git/c.c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "link.c").symlink_to(tmp_path / "a.c")
    os.symlink(tmp_path / "sub", tmp_path / "folder")
    assert globs.chosen(tmp_path, ["*.c"], ["check*"]) == ("a.c", "sub/b.c")


def test_a_folder_without_end_is_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(globs, "MOST_ENTRIES", 3)
    for number in range(5):
        (tmp_path / f"{number}.c").write_text("")
    with pytest.raises(UsageError, match="more than 3"):
        globs.chosen(tmp_path, ["*.c"], [])


def test_settings_know_the_keys_below_the_project() -> None:
    """Settings must not import what reads projects, so that the names stand twice."""
    assert tuple(ProjectValues.model_fields) == PROJECT_KEYS
