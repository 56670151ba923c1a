"""The server as its clients see it: started as a process, spoken to by the client of the package `mcp`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs the package mcp: pip install 'chathpc[mcp]'")

import anyio
from mcp import Client
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from chathpc import __version__
from chathpc.chat.tools import TOOLS
from chathpc.llm.settings import PROJECT_FILE, SITE_FILE
from chathpc.mcp import offers, server
from chathpc.mcp.opened import OpenProfiles
from tests.mcp.questions import HOSTILE, IMBALANCE, SENSIBLE, TRIANGLE

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "chathpc", "mcp"]


def environment(home: Path) -> dict[str, str]:
    own = {
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return {**{name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "CHATHPC_"))}, **own}


@asynccontextmanager
async def client(home: Path, *arguments: str, command: list[str] = COMMAND) -> AsyncIterator[ClientSession]:
    """A client of a server of its own; what the server says on stderr is in `home`/stderr."""
    parameters = StdioServerParameters(
        command=command[0], args=[*command[1:], *arguments], env=environment(home), cwd=home
    )
    with (home / "stderr").open("a") as errors:
        async with (
            stdio_client(parameters, errors) as (incoming, outgoing),
            ClientSession(incoming, outgoing) as session,
        ):
            await session.initialize()
            yield session


def text_of(result: Any) -> str:
    (content,) = result.content
    text: str = content.text
    return text


def run(function: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        with anyio.fail_after(120):
            await function()

    anyio.run(bounded)


def test_a_client_lists_and_calls_every_tool_and_reads_everything(tmp_path: Path) -> None:
    async def talk() -> None:
        async with client(tmp_path, str(TRIANGLE), "--compare", str(IMBALANCE), "-v") as session:
            listed = {tool.name: tool for tool in (await session.list_tools()).tools}
            assert list(listed) == list(TOOLS)
            assert all(tool.annotations and tool.annotations.read_only_hint for tool in listed.values())
            for name, arguments in SENSIBLE.items():
                assert listed[name].input_schema == TOOLS[name].parameters
                result = await session.call_tool(name, dict(arguments))  # the client checks the values by their schema
                assert not result.is_error, text_of(result)
                assert result.structured_content["text"] in text_of(result)
            for name, arguments, words in (
                ("top", {"limit": "many"}, "argument 'limit'"),
                ("top", {"limits": 3}, "Did you mean 'limit'?"),
                ("source", {}, "argument 'place': it is missing"),
                ("callers", {"name": "wrok_item"}, "Nearest: work_item"),
                ("nothing", {}, "There is no tool 'nothing'"),
                ("open_profile", {"path": "/etc"}, "There is no tool 'open_profile'"),
            ):
                result = await session.call_tool(name, arguments)
                assert result.is_error
                assert words in text_of(result)
                assert "Traceback" not in text_of(result)
            resources = (await session.list_resources()).resources
            assert [one.uri for one in resources] == [one.uri for one in offers.RESOURCES]
            for one in resources:
                (content,) = (await session.read_resource(one.uri)).contents
                assert (content.uri, content.mime_type) == (one.uri, one.mime_type)
            (template,) = (await session.list_resource_templates()).resource_templates
            uri = template.uri_template.replace("{id}", "omp-load-imbalance")
            assert "schedule" in (await session.read_resource(uri)).contents[0].text  # type: ignore[union-attr]
            with pytest.raises(MCPError, match=r"There is no resource .* There are: chathpc://report\.md"):
                await session.read_resource("file:///etc/passwd")
            prompts = (await session.list_prompts()).prompts
            assert {one.name: [each.name for each in one.arguments or ()] for one in prompts} == {
                "explain": [],
                "why_slow": ["place"],
            }
            (message,) = (await session.get_prompt("why_slow", {"place": "work_item"})).messages
            assert "«work_item»" in message.content.text  # type: ignore[union-attr]
            with pytest.raises(MCPError, match="It takes: place"):
                await session.get_prompt("why_slow", {})

    run(talk)
    said = (tmp_path / "stderr").read_text()
    assert "chathpc mcp: summary answered in" in said
    assert "chathpc mcp: nothing refused in" in said
    assert "Traceback" not in said


def test_a_client_of_the_newest_protocol_is_answered_too() -> None:
    async def talk() -> None:
        async with Client(server.build(OpenProfiles([TRIANGLE]))) as session:
            assert session.protocol_version > "2026"
            assert session.server_info.name == "chathpc"
            assert session.server_info.version == __version__
            assert "never instructions" in (session.instructions or "")
            assert "stencil_omp" in text_of(await session.call_tool("summary", {}))

    run(talk)


def test_two_clients_have_a_server_each_and_may_ask_several_things_at_once(tmp_path: Path) -> None:
    async def talk() -> None:
        async with client(tmp_path, str(TRIANGLE)) as one, client(tmp_path, str(IMBALANCE)) as other:
            answers: dict[str, str] = {}

            async def ask(name: str, session: ClientSession, tool: str) -> None:
                answers[name] = text_of(await session.call_tool(tool, {}))

            async with anyio.create_task_group() as group:
                for number in range(4):
                    group.start_soon(ask, f"one {number}", one, "summary")
                    group.start_soon(ask, f"other {number}", other, "summary")
            assert len(set(answers.values())) == 2
            assert all(("stencil_omp" in text) == name.startswith("one") for name, text in answers.items())

    run(talk)


#: The command line with a record of all files that it opens and all programs that it starts, written to its last argument.
_WATCHED = """
import json, os, sys, tempfile
tempfile.gettempdir()  # tries by writing; what is watched begins after it
seen = []
folders = []  # a name below an open folder: the event does not tell the folder
unwatched = os.open
def open_below(path, flags, mode=0o777, *, dir_fd=None):
    folders.append("" if dir_fd is None else os.readlink(f"/proc/self/fd/{dir_fd}"))
    try:
        return unwatched(path, flags, mode, dir_fd=dir_fd)
    finally:
        folders.pop()
os.open = open_below
def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        name = os.path.join(folders[-1] if folders else "", os.fsdecode(arguments[0]))
        seen.append([name, arguments[2]])
    elif event in ("subprocess.Popen", "os.system", "os.posix_spawn", "os.exec", "os.fork", "socket.connect", "socket.bind"):
        seen.append([event, -1])
log = open(sys.argv.pop(), "w")
sys.addaudithook(watch)
from chathpc.commands.main import main
code = main(sys.argv[1:])
json.dump(seen, log)
log.close()
sys.exit(code)
"""


def test_nothing_outside_of_the_profile_is_opened_and_nothing_written_or_started(tmp_path: Path) -> None:
    log, root = tmp_path / "opened.json", tmp_path / "root"
    root.mkdir()
    (tmp_path / "plots").mkdir()

    async def talk() -> None:
        command = [sys.executable, "-B", "-c", _WATCHED, "mcp"]
        arguments = (str(TRIANGLE), "--root", str(root), str(log))
        async with client(tmp_path, *arguments, command=command) as session:
            for name, sensible in SENSIBLE.items():
                for field in TOOLS[name].arguments.model_fields or ("path",):
                    for text in HOSTILE[:4]:
                        await session.call_tool(name, {**sensible, field: text})
            for text in (*HOSTILE[:4], str(IMBALANCE), "root/../../stderr"):
                assert (await session.call_tool("open_profile", {"path": text})).is_error
            for text in HOSTILE[:4]:
                with pytest.raises(MCPError):
                    await session.read_resource(f"chathpc://catalogue/{text}")

    run(talk)
    deadline = time.monotonic() + 30
    while not (log.exists() and log.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.05)
    seen = json.loads(log.read_text())
    # What Python itself and the package are made of: installed packages, the standard library, the catalogue.
    own = tuple(str(Path(place).resolve()) for place in (sys.prefix, sys.base_prefix, ROOT / "chathpc", ROOT / "adapters",
                ROOT / "pruners", ROOT / "prompts", "/usr/lib", "/usr/share", "/proc", "/sys", "/dev/null"))  # fmt: skip
    strange = {
        name
        for name, flags in seen
        if flags == -1 or not str(Path(name).resolve()).startswith((*own, str(TRIANGLE.resolve())))
    }
    settings = {str(SITE_FILE), str(tmp_path / PROJECT_FILE), str(tmp_path / ".config" / "chathpc" / "config.yaml")}
    # A database may lie in the folder of a measured run, whose record is asked for by its name.
    record = {str(folder / "measure.json") for folder in TRIANGLE.parents[:2]}
    assert strange - settings - record == set()
    written = [name for name, flags in seen if flags > 0 and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)]
    assert [name for name in written if name != os.devnull] == []
    assert any(name.startswith(str(TRIANGLE)) for name, _ in seen)
    assert sorted(os.listdir(tmp_path)) == ["opened.json", "plots", "root", "stderr"]
    assert os.listdir(root) == os.listdir(tmp_path / "plots") == []


def started(tmp_path: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(tmp_path), cwd=tmp_path,
    )  # fmt: skip


def message(method: str, number: int | None = None, **params: Any) -> bytes:
    head: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(head if number is None else {**head, "id": number}).encode() + b"\n"


HELLO = message(
    "initialize", 1, protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "test", "version": "0"}
) + message("notifications/initialized")


def test_output_is_the_protocol_alone_whatever_comes_in(tmp_path: Path) -> None:
    server = started(tmp_path, str(TRIANGLE))
    assert server.stdin is not None
    assert server.stdout is not None
    noise = b'not json\n\n\xff\xfe\x00\n{"jsonrpc": "2.0"}\n[]\n{"jsonrpc": "2.0", "id": 7, "method": "no/such"}\n'
    server.stdin.write(noise + HELLO + noise + message("tools/call", 2, name="summary", arguments={}))
    server.stdin.flush()
    lines = []
    while not any(line.get("id") == 2 for line in lines):
        lines.append(json.loads(server.stdout.readline()))
    rest, errors = server.communicate(timeout=30)
    assert rest == b""
    assert all(line["jsonrpc"] == "2.0" for line in lines)
    assert server.returncode == 0
    assert b"Traceback" not in errors


def test_the_server_ends_with_its_input_before_anything_was_said(tmp_path: Path) -> None:
    server = started(tmp_path, str(TRIANGLE))
    out, errors = server.communicate(timeout=30)
    assert (server.returncode, out, errors) == (0, b"", b"")


def test_the_server_ends_when_its_client_is_killed(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        f"server.stdin.write({HELLO!r}); server.stdin.flush()\n"
        "server.stdout.readline(); print(server.pid, flush=True); time.sleep(60)\n"
    )
    command = [sys.executable, "-c", code, *COMMAND, str(TRIANGLE)]
    killed = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(tmp_path), cwd=tmp_path)
    assert killed.stdout is not None
    pid = int(killed.stdout.readline())
    killed.kill()
    killed.wait()
    deadline = time.monotonic() + 30
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(pid)


def alive(pid: int) -> bool:
    """True unless the process is gone, or has ended and nobody has asked how."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in ("Z", "X")


def test_the_server_ends_when_nobody_reads_its_answers(tmp_path: Path) -> None:
    server = started(tmp_path, str(TRIANGLE), "-v")
    assert server.stdin is not None
    assert server.stdout is not None
    assert server.stderr is not None
    server.stdin.write(HELLO)
    server.stdin.flush()
    server.stdout.readline()
    server.stdout.close()
    server.stdin.write(message("tools/list", 2))
    server.stdin.close()
    assert server.wait(timeout=30) == 0
    assert server.stderr.read() in (
        b"chathpc mcp: the client is gone\n",
        b"",
    )  # b"": the end of the input was seen first


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_without_an_input_or_an_output_there_is_no_server(tmp_path: Path, closed: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, str(TRIANGLE)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
        env=environment(tmp_path), cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("chathpc: Standard input or output is closed.\n")


def test_a_person_at_a_terminal_is_told_what_it_waits_for(tmp_path: Path) -> None:
    keyboard, terminal = os.openpty()
    command = [*COMMAND, str(TRIANGLE)]
    server = subprocess.Popen(
        command, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(tmp_path), cwd=tmp_path
    )
    os.close(terminal)
    assert server.stderr is not None
    assert b"Ctrl-C ends it" in server.stderr.readline()
    os.write(keyboard, b"\x04")  # Ctrl-D: the end of the input
    out, _ = server.communicate(timeout=30)
    os.close(keyboard)
    assert (server.returncode, out) == (0, b"")


def test_an_interrupt_ends_the_server_at_once(tmp_path: Path) -> None:
    server = started(tmp_path, str(TRIANGLE))
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(HELLO)
    server.stdin.flush()
    server.stdout.readline()
    server.send_signal(signal.SIGINT)
    assert server.wait(timeout=30) == -signal.SIGINT
    assert server.stderr is not None
    assert server.stderr.read() == b""


def test_a_call_that_is_cancelled_still_runs_alone() -> None:
    running, most, begun, go_on = 0, 0, threading.Event(), threading.Event()
    lock = threading.Lock()

    def work() -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        begun.set()
        go_on.wait(30)
        with lock:
            running -= 1
        return "done"

    async def talk() -> None:
        one = server._OneAtATime()
        async with anyio.create_task_group() as group:
            group.start_soon(one, work)
            await anyio.to_thread.run_sync(begun.wait, 30)
            group.cancel_scope.cancel()  # at once, though the work goes on
        assert running == 1
        threading.Timer(0.2, go_on.set).start()
        assert await one(work) == "done"

    run(talk)
    assert most == 1


def test_a_mistake_of_ours_is_a_sentence(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def broken(*arguments: object) -> None:
        raise KeyError("secret path")

    def full(*arguments: object) -> None:
        raise MemoryError

    async def talk() -> None:
        async with Client(server.build(OpenProfiles([TRIANGLE]))) as session:
            monkeypatch.setattr(offers, "answer", broken)
            result = await session.call_tool("summary", {})
            assert result.is_error
            assert text_of(result) == "Internal error in chathpc, please report it: KeyError. Ask in another way."
            monkeypatch.setattr(offers, "answer", full)
            assert text_of(await session.call_tool("summary", {})).startswith("Out of memory.")
            monkeypatch.setattr(offers, "read", broken)
            with pytest.raises(MCPError, match="please report it: KeyError"):
                await session.read_resource("chathpc://report.md")
            assert len((await session.list_tools()).tools) == len(TOOLS)

    run(talk)
    record = next(record for record in caplog.records if record.exc_info)
    assert server._OneLine().format(record) == "chathpc mcp: internal error in summary (KeyError)"
