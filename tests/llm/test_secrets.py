"""A planted key goes into the request header and nowhere else."""

from __future__ import annotations

import json
import logging
import subprocess
import traceback
from pathlib import Path

import pytest

from chathpc.errors import ChathpcError, UsageError
from chathpc.llm import hosted, settings
from chathpc.llm.backend import Request
from chathpc.llm.hosted import HostedBackend
from chathpc.llm.keys import Key, endpoint, read_key
from chathpc.llm.settings import Settings
from chathpc.llm.sources import IndexSource
from chathpc.llm.spec import resolve
from chathpc.llm.weights import SourceError, find_weights
from tests.llm import fault_server as fs
from tests.llm.fault_server import fault_server

SECRET = "sk-planted-4f1b7c9d2e"
ASK = Request("s", "u", 20, json_schema={"type": "object"})


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setattr(hosted, "sleep", lambda _: None)


FAULTS = {
    "echoes the key": fs.fail(401, f"Incorrect API key provided: {SECRET}."),
    "echoes the header": fs.fail(400, f"bad header Authorization: Bearer {SECRET}"),
    "echoes another key": fs.fail(403, "not sk-someoneelse-123456"),
    "echoes it in the stream": fs.stream(fs.event({"error": {"message": f"key {SECRET}"}})),
    "fails": fs.fail(500, SECRET),
    "sends nonsense": fs.stream(f"data: {SECRET}\n\n".encode()),
    "sends a page": fs.whole(SECRET.encode(), "text/html"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_error_and_no_log_shows_the_key(
    fault: str, planted: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with fault_server(FAULTS[fault]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        choice = resolve("openai:m", settings.load_settings(site=Path("/nonexistent")))
        assert isinstance(choice.backend, HostedBackend)
        with pytest.raises(ChathpcError) as caught:
            choice.backend.complete(ASK)
        assert server.seen[-1].headers["authorization"] == f"Bearer {SECRET}"
        assert SECRET not in json.dumps([seen.body for seen in server.seen])
    shown = str(caught.value) + "".join(traceback.format_exception(caught.value)) + caplog.text
    assert SECRET not in shown
    assert "sk-someoneelse" not in shown


def test_no_representation_shows_the_key(planted: None) -> None:
    loaded = settings.load_settings({"base_url": "https://llm.example/v1"}, site=Path("/nonexistent"))
    choice = resolve("openai:m", loaded)
    assert isinstance(choice.backend, HostedBackend)
    key = read_key(loaded, endpoint(loaded))
    assert key.secret == SECRET
    shown = f"{key!r} {key} {loaded!r} {choice!r} {choice.backend!r} {choice.backend.label} {choice.identity}"
    assert SECRET not in shown
    assert SECRET not in loaded.model_dump_json()
    assert SECRET not in f"{[key]} {(key,)!s} {{1: {key}}}"


@pytest.mark.parametrize(
    ("url", "origin", "sent"),
    [
        ("https://llm.example/v1", "--base-url", True),
        ("http://127.0.0.1:8000/v1", "OPENAI_BASE_URL", True),
        ("http://gpu01:8000/v1", "OPENAI_BASE_URL", True),
        ("http://127.0.0.1:8000/v1", "--base-url", False),  # another user's server may listen there
        ("http://gpu01:8000/v1", "CHATHPC_BASE_URL", False),
        ("http://gpu01:8000/v1", "/etc/chathpc/config.yaml, base_url", False),
    ],
)
def test_the_key_of_the_environment_goes_encrypted_or_to_the_url_beside_it(
    url: str, origin: str, sent: bool, planted: None
) -> None:
    loaded = Settings(base_url=url, origins={"base_url": origin})
    assert bool(read_key(loaded, endpoint(loaded)).secret) is sent


def test_a_server_on_this_machine_needs_no_key() -> None:
    with fault_server(fs.stream(*fs.WELCOME)) as server:
        choice = resolve("openai:m", settings.load_settings({"base_url": server.url}, site=Path("/nonexistent")))
        assert choice.backend is not None
        assert choice.backend.complete(Request("s", "u", 20)).text == "Good day."
        assert server.seen[-1].headers["authorization"] == "Bearer none"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(f"{SECRET}\n")
    path.chmod(0o600)
    return path


def _with_file(path: Path) -> str:
    loaded = Settings(base_url="http://gpu01:8000/v1", api_key_file=path)
    return read_key(loaded, endpoint(loaded)).secret


def test_a_key_file_of_its_owner_alone_is_read(key_file: Path) -> None:
    assert _with_file(key_file) == SECRET


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_key_file_that_others_can_read_is_refused(mode: int, key_file: Path) -> None:
    key_file.chmod(mode)
    with pytest.raises(UsageError, match="this key is readable by others") as caught:
        _with_file(key_file)
    assert f"chmod 600 {key_file}" in caught.value.hint
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("content", ["", "two lines\nof text", "a\x1bb", "clé", "x" * 9000])
def test_what_is_no_key_is_refused(content: str, key_file: Path) -> None:
    key_file.write_text(content)
    with pytest.raises(UsageError, match="not a key"):
        _with_file(key_file)


def test_a_key_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        _with_file(tmp_path / "missing")


def test_a_password_in_the_base_url_is_refused_and_not_shown() -> None:
    with pytest.raises(UsageError) as caught:
        endpoint(Settings(base_url=f"https://user:{SECRET}@llm.example/v1"))
    assert SECRET not in str(caught.value)


def test_no_command_line_gets_the_key(planted: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[str] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        seen.extend(command)
        return subprocess.CompletedProcess(command, 1, "", "")

    monkeypatch.setattr(subprocess, "run", run)

    weights = find_weights()
    assert weights.index is not None
    with (tmp_path / "part").open("ab+") as part, pytest.raises(SourceError):
        IndexSource(weights.index).fetch(weights, part, lambda done, source: None)
    assert seen
    assert SECRET not in " ".join(seen)


def test_redaction_keeps_the_rest_of_a_message() -> None:
    assert Key("abc").redact("key abc refused\nby server") == "key [key] refused by server"
    assert Key("x").redact("no model 'gpt-x' with x, only next") == "no model 'gpt-x' with [key], only next"
    assert Key("abcdefgh").redact("at=abcdefgh1") == "at=[key]1"
