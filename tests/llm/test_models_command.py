from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chathpc.commands import models
from chathpc.errors import ChathpcError
from chathpc.llm import fitness, weights
from chathpc.llm.settings import load_settings
from chathpc.llm.spec import resolve


@pytest.fixture
def folder(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for models; the default model is the tiny one, and a mirror has it."""
    data = tiny_model.read_bytes()
    default = replace(
        weights.find_weights(), bytes=len(data), sha256=hashlib.sha256(data).hexdigest(), hub=None, index=None
    )
    monkeypatch.setattr(weights, "_manifest", lambda: (default.name, {default.name: default}))
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / default.file).write_bytes(data)
    monkeypatch.setenv("CHATHPC_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


def run(*arguments: str, env: Mapping[str, str] | None = None) -> Result:
    return CliRunner().invoke(models.command, arguments, env=env)


def test_pull_prints_the_path_and_nothing_else(folder: Path) -> None:
    result = run("pull", "--from", str(folder.parent / "mirror"))
    assert result.stdout == f"{folder / 'qwen2.5-coder-1.5b-instruct-q4_k_m.gguf'}\n"
    assert result.stderr.startswith("chathpc: qwen2.5-coder-1.5b: 0.0 of 0.0 GB, from ")
    assert len(result.stderr.splitlines()) <= 11
    (folder / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf").unlink()
    assert run("pull", "-q", "--from", str(folder.parent / "mirror")).stderr == ""
    assert run("path").stdout == result.stdout


def test_pull_without_a_source_ends_in_exit_code_4(folder: Path) -> None:
    result = run("pull")
    assert isinstance(result.exception, ChathpcError)
    assert result.exception.exit_code == 4


def test_list_shows_what_is_known_what_is_here_and_what_it_can(folder: Path) -> None:
    assert "qwen2.5-coder-1.5b   0.0 GB   2.2 GB  Apache-2.0  not here  default\n" in run("list").stdout
    run("pull", "--from", str(folder.parent / "mirror"))
    after = run("list").stdout
    assert "Apache-2.0  untested  default\n" in after
    assert f"Folder: {folder}" in after
    choice = resolve("local", load_settings())
    fitness.remember(choice.identity, fitness.Fitness("m", None, None, None, 1.0, retells=fitness.Retells(5, 5)))
    assert "Apache-2.0  retells   default\n" in run("list").stdout


@pytest.mark.parametrize("columns", [80, 120])
def test_list_fits_a_terminal_and_tells_where_models_come_from_if_it_is_wide(columns: int) -> None:
    text = run("list", env={"COLUMNS": str(columns)}).stdout
    rows = [line for line in text.splitlines() if not line.startswith(("Folder", "Engine"))]
    assert max(map(len, rows)) <= columns
    assert ("unsloth/gpt-oss-20b-GGUF" in text) is (columns == 120)
    assert "gpt-oss-20b             11.6 GB    14 GB  Apache-2.0  not here  " in text


def test_list_says_how_to_get_an_engine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chathpc.llm.engine.installed_engines", list)
    assert "Engine: none; pip install 'chathpc[local-wheel]'" in run("list").stdout


def test_path_of_a_model_that_is_not_here_ends_in_exit_code_4(folder: Path) -> None:
    result = run("path")
    assert isinstance(result.exception, ChathpcError)
    assert result.exception.exit_code == 4
    assert result.stdout == ""


def test_test_tells_what_the_tiny_model_can(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xllamacpp", reason="the engine xllamacpp is not installed")
    monkeypatch.setattr("chathpc.llm.engine.installed_engines", lambda: ["xllamacpp"])
    run("pull", "--from", str(folder.parent / "mirror"))
    result = run("test", "qwen2.5-coder-1.5b", "--limit", "4", env={"CHATHPC_THREADS": "1"})
    assert result.exception is None
    assert "ability      neither: auto does without it" in result.stdout
    assert "source       0 of " in result.stdout
    assert "facts        0 of 5 retold in full" in result.stdout
    assert ": --limit SECONDS gives more\n" in result.stdout
    assert "tokens/s" in result.stdout


def test_test_takes_a_spec_and_says_if_the_result_could_not_be_kept(own_home: Path) -> None:
    env = {"CHATHPC_TEST_BACKENDS": "tests.llm.scripted"}
    (own_home / ".cache").touch()
    result = run("test", "scripted:silent", env=env)
    assert "speed        unknown" in result.stdout
    assert "first token  never" in result.stdout
    assert "source       0 of 8 faulty pieces right, cause and line (required: 70 %)\n" in result.stdout
    assert "could not be saved" in result.stderr


def test_test_without_a_name_tests_what_is_configured() -> None:
    result = run("test", env={"CHATHPC_TEST_BACKENDS": "tests.llm.scripted", "CHATHPC_LLM": "scripted:silent"})
    assert "model        silent (scripted)" in result.stdout
    assert "--limit" not in result.stdout


def test_test_without_a_model_ends_in_exit_code_4() -> None:
    result = run("test")
    assert isinstance(result.exception, ChathpcError)
    assert result.exception.exit_code == 4


LISTED = ("tiny.gguf", "owner/tiny-GGUF")


@pytest.fixture
def listed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> weights.Weights:
    """A model without a sum, beside the default one; the mirror has a file of it."""
    default = weights.find_weights()
    hub = weights.Hub(LISTED[1], "main")
    model = replace(default, name="large", file=LISTED[0], sha256=None, bytes=7_000_000_000, automatic=False, hub=hub)
    monkeypatch.setattr(weights, "_manifest", lambda: (default.name, {default.name: default, "large": model}))
    (folder.parent / "mirror" / LISTED[0]).write_bytes((folder.parent / "mirror" / default.file).read_bytes())
    return model


def test_a_model_without_a_sum_is_not_fetched_and_the_error_says_what_to_do(listed: weights.Weights) -> None:
    result = run("pull", "large")
    assert isinstance(result.exception, ChathpcError)
    assert result.exception.exit_code == 4
    assert "it is untested" in str(result.exception)
    assert "tiny.gguf of owner/tiny-GGUF" in result.exception.hint
    assert "--path FILE" in result.exception.hint
    assert "--sha256 SUM" in result.exception.hint


def test_a_file_that_the_user_has_is_taken_and_its_sum_noted(listed: weights.Weights, folder: Path) -> None:
    mine = folder.parent / "mirror" / "tiny.gguf"
    result = run("pull", "large", "--path", str(mine))
    assert result.stdout == f"{folder / 'tiny.gguf'}\n"
    assert run("path", "large").stdout == result.stdout == run("pull", "large").stdout
    sum_ = hashlib.sha256(mine.read_bytes()).hexdigest()
    assert (folder / "tiny.gguf.sha256").read_text() == f"{sum_}  tiny.gguf\n"
    assert run("pull", "large", "--path", str(folder / "tiny.gguf")).stdout == result.stdout
    assert (folder / "tiny.gguf").read_bytes() == mine.read_bytes()


def test_a_file_is_copied_where_no_link_can_be_made(
    listed: weights.Weights, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(Path, "hardlink_to", refused)
    mine = folder.parent / "mirror" / "tiny.gguf"
    run("pull", "large", "--path", str(mine))
    assert (folder / "tiny.gguf").read_bytes() == mine.read_bytes()
    assert not (folder / "tiny.gguf").samefile(mine)


def test_what_is_no_model_or_another_one_is_not_taken(listed: weights.Weights, folder: Path) -> None:
    text = folder.parent / "notes.txt"
    text.write_text("no weights")
    other = folder.parent / "other.gguf"
    other.write_bytes(b"GGUF and something else")
    for name, file, told in (
        ("large", text, "not a GGUF file"),
        ("large", folder.parent / "missing.gguf", "No such file"),
        ("qwen2.5-coder-1.5b", other, "another file than qwen2.5-coder-1.5b"),
    ):
        result = run("pull", name, "--path", str(file))
        assert isinstance(result.exception, ChathpcError)
        assert told in str(result.exception)
    assert not list(folder.glob("*.gguf"))


def test_a_model_is_fetched_by_a_sum_that_the_user_knows(listed: weights.Weights, folder: Path) -> None:
    mirror = folder.parent / "mirror"
    sum_ = hashlib.sha256((mirror / "tiny.gguf").read_bytes()).hexdigest()
    result = run("pull", "large", "--from", str(mirror), "--sha256", sum_.upper())
    assert result.stdout == f"{folder / 'tiny.gguf'}\n"
    assert run("path", "large").stdout == result.stdout


@pytest.mark.parametrize(("sum_", "code"), [("0" * 64, 4), ("12", 2), ("g" * 64, 2)])
def test_a_wrong_sum_fetches_nothing(
    sum_: str, code: int, listed: weights.Weights, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    result = run("pull", "large", "--from", str(folder.parent / "mirror"), "--sha256", sum_)
    assert isinstance(result.exception, ChathpcError)
    assert result.exception.exit_code == code
    assert not list(folder.glob("*.gguf"))


def test_a_progress_bar_is_for_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    default = weights.find_weights()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    for quiet in (False, True):
        with models._progress(default, quiet=quiet) as show:
            show(default.bytes // 2, "hub [bold]")
        assert ("hub [bold]" in capsys.readouterr().err) is not quiet


def test_importing_the_command_loads_no_engine_and_no_client() -> None:
    script = (
        "import sys, chathpc.commands.models; "
        "print([m for m in ('openai', 'llama_cpp', 'xllamacpp', 'pydantic', 'rich', 'yaml') if m in sys.modules])"
    )
    root = Path(models.__file__).parents[2]
    found = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
