"""The model goes away in the middle of an answer: what is reported is complete all the same, and the exit code says what happened.

Everything is real: chathpc runs as a process of its own, and where a server is killed it is one of xllamacpp with the tiny model. Between
the two stands a relay, which kills the server as soon as the first words of an answer have come through.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import util
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from tests.llm import fault_server as fs
from tests.llm.fault_server import fault_server
from tests.llm.test_servers import _XLLAMACPP

ROOT = Path(__file__).parents[2]
DATABASE = ROOT / "examples" / "omp-triangle" / "database"
QUESTION = "why is it slow?"


@contextmanager
def served(model: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A server of xllamacpp and its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", _XLLAMACPP.replace("2048", "8192"), str(model), str(port), ""],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until = monotonic() + 60
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert process.poll() is None, "the server ended"
            assert monotonic() < until, "the server does not start"
            sleep(0.05)
        yield process, port
    finally:
        process.kill()
        process.wait()


@contextmanager
def killing(process: subprocess.Popen[bytes], port: int) -> Iterator[str]:
    """The address of a relay to `port` that kills `process` by SIGKILL in the middle of the first streamed answer."""
    listener = socket.create_server(("127.0.0.1", 0))

    def relay(client: socket.socket) -> None:
        with suppress(OSError), client, socket.create_connection(("127.0.0.1", port)) as server:
            threading.Thread(target=_forward, args=(client, server), daemon=True).start()
            come = b""
            while data := server.recv(256):
                client.sendall(data)
                come += data
                if process.poll() is None and come.count(b'"content"') > 2 and b"data: " in come:
                    process.kill()
                    process.wait()
            client.shutdown(socket.SHUT_RDWR)  # or the thread that reads from it would keep it open

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=relay, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        listener.close()


def _forward(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(4096):
            target.sendall(data)


def chathpc(*arguments: str, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """A run of chathpc in a process of its own."""
    command = [sys.executable, "-m", "chathpc", *arguments]
    own = {**os.environ, "PYTHONPATH": str(ROOT), "CHATHPC_LOG": "false", "CHATHPC_FORM": "prose", **environment}
    return subprocess.run(command, input=given, env=own, capture_output=True, text=True, timeout=120, check=False)


def report(text: str) -> dict[str, Any]:
    """A report without what differs from run to run, and without the words on the model."""
    found: dict[str, Any] = json.loads(text)
    explanation = found["explanation"]
    printed = [each for each in explanation["statements"] if each["dropped_because"] is None]
    return {
        **found,
        "timings": None,
        "explanation": (explanation["text"], printed, explanation["model"]),
    }


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    """The report without a model."""
    run = chathpc("explain", str(DATABASE), "--llm", "none", "--format", "json", "-q")
    assert run.returncode == 0
    return report(run.stdout)


needs_server = pytest.mark.skipif(util.find_spec("xllamacpp") is None, reason="xllamacpp is not installed")


@needs_server
def test_a_server_that_is_killed_in_mid_stream_leaves_the_whole_report(tiny_model: Path, plain: dict[str, Any]) -> None:
    with served(tiny_model) as (process, port), killing(process, port) as url:
        run = chathpc("explain", str(DATABASE), "--llm", "openai:tiny", "--base-url", url, "--format", "json", "-q")
        assert process.poll() == -9, "it was killed by the relay, in mid-stream"
    assert report(run.stdout) == plain
    assert run.returncode == 4
    assert json.loads(run.stdout)["explanation"]["lack"] == "unavailable"
    assert "No model worded this report" in run.stderr
    assert "Traceback" not in run.stderr


@needs_server
@pytest.mark.parametrize("verb", ["ask", "chat"])
def test_a_server_that_is_killed_in_mid_stream_leaves_the_answer_of_the_tools(verb: str, tiny_model: Path) -> None:
    def asked(*options: str) -> subprocess.CompletedProcess[str]:
        if verb == "ask":
            return chathpc("ask", str(DATABASE), QUESTION, "-q", *options)
        return chathpc("chat", str(DATABASE), "-q", *options, given=f"{QUESTION}\n/top 2\n")

    expected = asked("--llm", "none")
    assert expected.returncode == 0
    with served(tiny_model) as (process, port), killing(process, port) as url:
        run = asked("--llm", "openai:tiny", "--base-url", url)
        assert process.poll() == -9
    findings = expected.stdout.split("\n\n")
    assert all(part.strip() in run.stdout for part in findings), run.stdout
    assert run.returncode == (4 if verb == "ask" else 0)
    assert "Traceback" not in run.stderr + run.stdout


def test_weights_that_are_removed_before_they_are_loaded_leave_the_whole_report(
    tiny_model: Path, tmp_path: Path, plain: dict[str, Any]
) -> None:
    """A process that has found the file is stopped until it is gone."""
    pytest.importorskip("xllamacpp")
    weights = shutil.copy(tiny_model, tmp_path / "gone.gguf")
    script = (
        "import sys, os, chathpc.llm.spec as spec; found = spec._from_file\n"
        "def gone(*given): choice = found(*given); os.unlink(given[0]); return choice\n"
        "spec._from_file = gone\n"
        "from chathpc.commands.main import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", script, "explain", str(DATABASE), "--llm", f"local:{weights}", "--format", "json"]
    own = {**os.environ, "PYTHONPATH": str(ROOT), "CHATHPC_LOG": "false"}
    run = subprocess.run(command, env=own, capture_output=True, text=True, timeout=120, check=False)
    assert not Path(weights).exists()
    assert report(run.stdout) == plain
    assert run.returncode == 4
    assert "gone" in run.stderr
    assert "Traceback" not in run.stderr


def drip(pause: float) -> Callable[[Any], None]:
    """An answer in words that never ends."""

    def play(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        while True:
            handler.wfile.write(fs.piece("word "))
            handler.wfile.flush()
            sleep(pause)

    return play


def test_a_deadline_in_mid_answer_leaves_the_whole_report(plain: dict[str, Any]) -> None:
    with fault_server(drip(0.02)) as server:
        options = ("--llm", "openai:m", "--base-url", server.url, "--format", "json", "-q")
        run = chathpc("explain", str(DATABASE), *options, CHATHPC_DEADLINE="1.5")
    assert report(run.stdout) == plain
    assert run.returncode == 5
    assert json.loads(run.stdout)["explanation"]["lack"] == "budget"


def test_silence_until_the_deadline_leaves_the_whole_report(plain: dict[str, Any]) -> None:
    with fault_server(lambda handler: sleep(10)) as server:
        options = ("--llm", "openai:m", "--base-url", server.url, "--format", "json", "-q")
        run = chathpc("explain", str(DATABASE), *options, CHATHPC_DEADLINE="1")
    assert report(run.stdout) == plain
    assert run.returncode == 5


def test_tokens_that_are_spent_between_two_calls_of_tools_leave_what_was_looked_up() -> None:
    call = {"index": 0, "id": "1", "function": {"name": "top", "arguments": '{"limit": 2}'}}
    asks = fs.event({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]})
    usage = fs.event({"choices": [], "usage": {"prompt_tokens": 9_000, "completion_tokens": 500}})
    with fault_server(fs.stream(asks, usage, fs.DONE)) as server:
        options = ("--llm", "openai:m", "--base-url", server.url, "-q", "--budget", "10000")
        run = chathpc("ask", str(DATABASE), QUESTION, *options, CHATHPC_FORM="structured")
        assert sum(one.path.endswith("completions") for one in server.seen) == 1
    assert "work_item" in run.stdout
    assert "--budget TOKENS" in " ".join(run.stdout.split())
    assert run.returncode == 5
