from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chathpc.commands import models as command
from chathpc.errors import ChathpcError
from chathpc.llm import weights


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
    return CliRunner().invoke(command.models, arguments, env=env)


def test_pull_prints_the_path_and_nothing_else(folder: Path) -> None:
    result = run("pull", "--from", str(folder.parent / "mirror"))
    assert result.stdout == f"{folder / 'qwen2.5-coder-1.5b-instruct-q4_k_m.gguf'}\n"
    assert result.stderr == ""
    assert run("path").stdout == result.stdout


def test_pull_without_a_source_ends_in_exit_code_4(folder: Path) -> None:
    result = run("pull")
    assert isinstance(result.exception, ChathpcError)
    assert result.exception.exit_code == 4


def test_list_shows_what_is_known_and_what_is_here(folder: Path) -> None:
    before = run("list").stdout
    assert "qwen2.5-coder-1.5b  0 MB  Apache-2.0  no" in before
    run("pull", "--from", str(folder.parent / "mirror"))
    after = run("list").stdout
    assert "qwen2.5-coder-1.5b  0 MB  Apache-2.0  yes" in after
    assert f"Folder: {folder}" in after


def test_list_says_how_to_get_an_engine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chathpc.llm.engine.installed_engines", list)
    assert "Engine: none; pip install 'chathpc[local-wheel]'" in run("list").stdout


def test_path_of_a_model_that_is_not_here_ends_in_exit_code_4(folder: Path) -> None:
    result = run("path")
    assert isinstance(result.exception, ChathpcError)
    assert result.exception.exit_code == 4
    assert result.stdout == ""


def test_test_tells_what_the_tiny_model_is_fit_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xllamacpp", reason="the engine xllamacpp is not installed")
    monkeypatch.setattr("chathpc.llm.engine.installed_engines", lambda: ["xllamacpp"])
    run("pull", "--from", str(folder.parent / "mirror"))
    result = run("test", "qwen2.5-coder-1.5b", env={"CHATHPC_THREADS": "1"})
    assert result.exception is None
    assert "0 of" in result.stdout
    assert "fit for         neither prose nor structured answers" in result.stdout
    assert "tokens/s" in result.stdout


def test_test_takes_a_spec_and_says_if_the_result_could_not_be_kept(own_home: Path) -> None:
    env = {"CHATHPC_TEST_BACKENDS": "1"}
    (own_home / ".cache").touch()
    result = run("test", "scripted:silent", env=env)
    assert "speed           unknown" in result.stdout
    assert "first token     never" in result.stdout
    assert "could not be kept" in result.stderr


def test_test_without_a_model_ends_in_exit_code_4() -> None:
    result = run("test")
    assert isinstance(result.exception, ChathpcError)
    assert result.exception.exit_code == 4


def test_a_progress_bar_is_for_a_terminal_alone(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    default = weights.find_weights()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert isinstance(command._progress(default, quiet=False), command._Bar)
    assert not isinstance(command._progress(default, quiet=True), command._Bar)
    with command._Bar(default) as show:
        show(default.bytes // 2, "hub [bold]")


def test_importing_the_command_loads_no_engine_and_no_client() -> None:
    script = (
        "import sys, chathpc.commands.models; "
        "print([m for m in ('openai', 'llama_cpp', 'xllamacpp', 'pydantic', 'rich', 'yaml') if m in sys.modules])"
    )
    root = Path(command.__file__).parents[2]
    found = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
