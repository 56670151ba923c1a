"""Lines in, answers out: slash commands, completion, rendering, and a terminal (pty) with its keys."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from chathpc.chat import slash
from chathpc.chat.conversation import Conversation
from chathpc.chat.render import answer_text, markdown
from chathpc.chat.repl import Repl
from chathpc.chat.session import Session
from chathpc.chat.terminal import completions
from chathpc.chat.tools import TOOLS
from chathpc.errors import UsageError
from chathpc.llm.backend import Backend, Request
from chathpc.profile.profile import Profile
from chathpc.reports.style import Style
from tests.chat.profiles import HOSTILE, calls, hostile
from tests.llm.scripted import ScriptedBackend

EXAMPLE = Path(__file__).parents[2] / "examples" / "omp-triangle" / "database"
RIGHT = "The function dot takes 10.0 s of 20.0 s (50.0 %). "


class Talk:
    """A Repl whose output is kept."""

    def __init__(self, backend: Backend | None = None, profile: Profile | None = None, *, live: bool = False) -> None:
        self.out = ""
        self.complaints: list[str] = []
        self.loaded: list[Sequence[Path]] = []
        self.conversation = Conversation(Session(profile or calls()), backend)
        self.repl = Repl(
            self.conversation, Style(), write=self._write, complain=self._complain, load=self._load,
            choose=lambda spec: None if spec == "none" else ScriptedBackend("echo"), live=live,
        )  # fmt: skip

    def _write(self, text: str) -> None:
        self.out += text

    def _complain(self, message: str, hint: str) -> None:
        self.complaints.append(f"{message} {hint}".strip())

    def _load(self, paths: Sequence[Path]) -> Profile:
        self.loaded.append(paths)
        return calls()

    def __call__(self, *lines: str) -> str:
        before = len(self.out)
        self.repl.run(lines)
        return self.out[before:]


def test_lines_are_answered_until_quit() -> None:
    talk = Talk()
    out = talk("", "# a comment", "/top 1", "who calls dot?", "/quit", "/tree")
    assert "dot" in out
    assert "is called by 2 functions" in out
    assert len(talk.conversation.turns) == 2


def test_every_command_of_the_help_works_without_a_model(tmp_path: Path) -> None:
    talk = Talk()
    out = talk("/help")
    arguments = {
        "callers": "dot",
        "callees": "main",
        "loops": "dot",
        "source": "solve",
        "whatif": "solve 2x",
        "why": "solve",
        "measured": "bytes written",
        "diff": "other/db",
        "query": '["*"]',
    }
    arguments |= {"catalogue": "false sharing", "save": str(tmp_path / "x.json")}
    for name in slash.COMMANDS:
        assert f"/{name}" in out
        if name != "quit":
            assert talk(f"/{name} {arguments.get(name, '')}".strip()), name
    assert talk.complaints == []
    assert not any(step.error for turn in talk.conversation.turns for step in turn.steps)
    assert (tmp_path / "x.json").exists()


def test_in_a_pipe_each_line_stands_above_its_answer_and_at_a_terminal_not_again() -> None:
    talk = Talk()
    out = talk("# a comment", "who calls dot?", "/top 1 \x1b[31m", "")
    assert next(line for line in out.splitlines() if line.startswith(">")) == "> who calls dot?"
    assert out.index("> who calls dot?") < out.index("is called by 2 functions") < out.index("> /top 1")
    assert "\x1b" not in out
    assert "> who" not in Talk(live=True)("who calls dot?")


def test_a_wrong_line_is_told_and_not_the_end() -> None:
    talk = Talk()
    assert "dot" in talk("/nope", "/timeline now", "/save", "/budget much", "/save /nowhere/at/all.json", "/top 1")
    assert len(talk.complaints) == 5
    assert talk.complaints[0].startswith("There is no command '/nope'.")


def test_diff_loads_a_profile_once_and_keeps_its_path_for_saving(tmp_path: Path) -> None:
    talk = Talk()
    talk("/diff old/db", "/diff old/db", f"/save {tmp_path / 'a.json'}")
    assert talk.loaded == [[Path("old/db")]]
    assert '"old/db"' in (tmp_path / "a.json").read_text()


def test_diff_takes_options_and_paths_with_spaces() -> None:
    talk = Talk()
    out = talk('/diff "a b/db" metric=io.write.bytes limit=1', "/diff metric=cpu.time")
    assert talk.loaded == [[Path("a b/db")]]
    assert talk.complaints == []
    assert [turn.steps[0].arguments for turn in talk.conversation.turns] == [
        {"other": "a b/db", "metric": "io.write.bytes", "limit": 1},
        {"metric": "cpu.time"},
    ]
    assert "io_write" in out


def test_model_and_budget_can_be_changed() -> None:
    talk = Talk()
    assert talk("/model") == "> /model\nModel: none.\n"
    assert talk("/model echo").endswith("\nModel: echo (scripted).\n")
    assert talk("/budget 5,000").endswith("\n0 of 5,000 tokens used.\n")
    assert talk("/model none", "/statements").endswith("No model has worded an answer yet.\n")


def test_statements_tell_what_became_of_each_sentence() -> None:
    talk = Talk(ScriptedBackend(lambda request: iter([RIGHT, "The function frobnicate() waits. "])))
    talk("hottest functions")
    out = talk("/statements")
    assert "printed: The function dot takes 10.0 s" in out
    assert "frobnicate is not in the fact: The function frobnicate() waits." in out


def test_live_answers_come_sentence_by_sentence_and_once() -> None:
    talk = Talk(ScriptedBackend(lambda request: iter(RIGHT)), live=True)
    out = talk("hottest functions")
    assert out.count("The function dot takes 10.0 s") == 1
    assert "a language model, not measured" in out


def test_an_interrupt_stops_an_answer_and_not_the_program() -> None:
    def interrupted(request: Request) -> Iterator[str]:
        raise KeyboardInterrupt

    talk = Talk(ScriptedBackend(interrupted), live=True)
    out = talk("hottest functions", "/budget")
    assert "10.0 s" in out
    assert "tokens used" in out
    assert talk.complaints == ["stopped"]
    with pytest.raises(KeyboardInterrupt):
        Talk(ScriptedBackend(interrupted))("hottest functions")


@pytest.mark.parametrize(
    ("line", "tool", "arguments"),
    [
        ("/top", "top", {}),
        ("/top lines 5 gpu.time", "top", {"by": "line", "limit": 5, "metric": "gpu.time"}),
        ("/top inclusive", "top", {"order": "inclusive"}),
        ("/tree main > solve depth=3 by=loop", "tree", {"place": "main > solve", "depth": 3, "by": "loop"}),
        ("/whatif a::b(int, char) 2.5x itself=true", "what_if", {"place": "a::b(int, char)", "factor": 2.5, "itself": True}),
        ("/findings 2", "findings", {"number": 2}),
        ("/findings false sharing", "findings", {"words": "false sharing"}),
        ("/activities mpi", "activities", {"kind": "mpi"}),
        ("/callers operator\"\"_x", "callers", {"name": "operator_x"}),
        ("/callers it's", "callers", {"name": "it's"}),
        ('/query ["*", {"name": "a b"}]', "query", {"query": '["*", {"name": "a b"}]'}),
        ("/EVIDENCE e3", "evidence", {"id": "e3"}),
    ],
)  # fmt: skip
def test_commands_are_read_as_they_are_typed(line: str, tool: str, arguments: dict[str, object]) -> None:
    typed = slash.parse(line)
    assert typed.command.tool == tool
    assert typed.arguments == arguments


def test_every_tool_has_a_command() -> None:
    assert {one.tool for one in slash.COMMANDS.values()} - {""} == set(TOOLS)


def test_a_command_says_how_it_is_written() -> None:
    with pytest.raises(UsageError) as caught:
        slash.parse("/missing everything")
    assert caught.value.hint == "/missing"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/to", ["/top"]),
        ("/callers so", ["solve"]),
        ("/tree main by=l", ["loop", "line"]),
        ("/top metric=io", ["io.write.bytes"]),
        ("/top l", ["line", "loop", "least=", "limit="]),
        ("/source he", ["heat.c"]),
        ("/metrics cpu", ["cpu.time"]),
        ("/catalogue omp-false", ["omp-false-sharing"]),
        ("/findings omp-false", ["omp-false-sharing"]),
        ("/activities wai", ["waiting"]),
        ("/activities m", ["mathematics", "mpi"]),
        ("why is sol", ["solve"]),
        ("/tree main dep", ["depth="]),
        ("/nope x", []),
        ("/quit x", []),
        ("/top nonsense=x", []),
        ("/diff o", ["old"]),
        ("a", []),
    ],
)
def test_what_was_begun_is_completed(line: str, expected: list[str]) -> None:
    session = Session(calls(), others={"old": calls()})
    assert completions(line, session)[1] == expected


@pytest.mark.parametrize(("text", "part"), HOSTILE)
def test_hostile_names_do_not_reach_terminal_completion_or_markdown(text: str, part: str) -> None:
    session = Session(hostile(text))
    conversation = Conversation(session)
    for question in ("/top", "/tree", "/source solve" + text, "why", f"who calls {text}", f"/callers {text}"):
        answer = conversation.ask(question)
        for said in (
            answer_text(answer, Style()),
            answer_text(answer, Style(colour=False, encoding="ascii")),
            markdown(answer, Style()),
        ):
            assert part not in said
            assert "\x1b" not in said
            assert "](http" not in said
    for begun in ("/callers s", "sol", "/source h"):
        assert not any(part in one for one in completions(begun, session)[1])


def test_markdown_holds_tables_and_the_models_name() -> None:
    conversation = Conversation(Session(calls()), ScriptedBackend(lambda request: iter([RIGHT])))
    text = markdown(conversation.ask("hottest functions"), Style())
    assert text.startswith("**hottest functions**\n")
    assert "| ---: |" in text
    assert "  solve  " in markdown(conversation.ask("/tree"), Style()), "the depth of a place is kept, as code"
    assert "a language model, not measured" in text
    assert "I did not understand the question" in markdown(conversation.ask("sing"), Style())
    assert "nothing_like" in markdown(conversation.ask("/callers nothing_like"), Style())


# -- a terminal ------------------------------------------------------------------------------------------------


#: What stands for the sequence by which a line editor says that it takes keys (bracketed paste).
READY = "<ready>"


class Terminal:
    """The program in a pseudo-terminal."""

    def __init__(self, pid: int, descriptor: int) -> None:
        self.pid = pid
        self.descriptor = descriptor
        self.seen = ""

    def send(self, keys: str) -> None:
        os.write(self.descriptor, keys.encode())

    def expect(self, text: str, seconds: float = 120.0) -> None:
        """Wait until `text` has appeared since the last one."""
        until = time.monotonic() + seconds
        while True:
            plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.seen.replace("\x1b[?2004h", READY))
            if text in plain:
                self.seen = plain[plain.index(text) + len(text) :]
                return
            assert time.monotonic() < until, f"no {text!r} in {self.seen[-2000:]!r}"
            if select.select([self.descriptor], [], [], 0.2)[0]:
                with suppress(OSError):
                    data = os.read(self.descriptor, 65_536).decode("utf-8", "replace")
                    if "\x1b[6n" in data:
                        self.send("\x1b[1;1R")  # where the cursor is, which line editors ask
                    self.seen += data

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@contextmanager
def terminal(home: Path, *arguments: str) -> Iterator[Terminal]:
    pid, descriptor = pty.fork()
    if pid == 0:  # pragma: no cover  # the child
        os.environ.update(
            HOME=str(home),
            TERM="xterm",
            CHATHPC_TEST_BACKENDS="tests.llm.scripted",
            LANG="C.UTF-8",
            COLUMNS="100",
            LINES="40",
        )
        for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
            os.environ.pop(name, None)
        os.execv(sys.executable, [sys.executable, "-m", "chathpc", "chat", str(EXAMPLE), *arguments])
    try:
        yield Terminal(pid, descriptor)
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
        os.close(descriptor)


def test_at_a_terminal_names_are_completed_control_c_stops_an_answer_and_control_d_ends(tmp_path: Path) -> None:
    with terminal(tmp_path, "--llm", "scripted:endless") as screen:
        screen.expect("128 contexts")
        screen.expect("Ctrl-D ends")
        screen.expect(READY)
        screen.send("/callers work_i\t")
        screen.expect("tem")  # what the editor writes behind `work_i`
        screen.send("\r")
        screen.expect("is called by 1 function")
        screen.expect(READY)
        screen.send("half a line\x03")  # at the prompt: the line is gone, the program is not
        screen.expect(READY)
        screen.send("hottest functions\r")
        screen.expect("The functions with most wall-clock time")
        screen.send("\x03")  # the model would never stop
        screen.expect(READY)
        screen.send("/budget\r")
        screen.expect("tokens used")
        screen.expect(READY)
        screen.send("\x04")
        assert screen.wait() == 0
    history = tmp_path / ".local" / "state" / "chathpc" / "history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert "/callers work_item" in history.read_text()
