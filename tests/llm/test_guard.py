"""What leaves for a model, what comes back, and what is kept of it."""

from __future__ import annotations

import json
import os
import re
import sys
import types
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

import chathpc
from chathpc.chat.opening import choose
from chathpc.chat.session import Session
from chathpc.commands.main import main
from chathpc.diagnosis.diagnose import diagnose
from chathpc.errors import BudgetSpentError, ModelUnavailableError
from chathpc.llm import hosted
from chathpc.llm.backend import Completion, OnToken, Request, ToolCall, Turn
from chathpc.llm.guard import GuardedBackend, guarded, new_answer
from chathpc.llm.hosted import HostedBackend
from chathpc.llm.keys import NO_KEY, Endpoint, Key, read_key
from chathpc.llm.log import log_of
from chathpc.llm.price import Price, Purse
from chathpc.llm.settings import Settings
from chathpc.llm.spec import Choice
from chathpc.privacy.names import placeholders_for
from chathpc.privacy.placeholders import Placeholders
from tests.llm import fault_server as fs
from tests.llm.fault_server import fault_server
from tests.llm.scripted import ScriptedBackend

DATABASE = Path(__file__).parents[2] / "examples" / "omp-triangle" / "database"
FORTRAN = DATABASE.parents[1] / "fortran-advect/database"
ASK = Request("You explain.", "Threads wait in quokka_step at /opt/mdinh/quokka.c:7.", 50)
#: What identifies that program and where it was built.
NAMES = ("triangular_work", "work_item", "stencil_omp", "jacobi_sweep", "residual_norm", "hpctk")
SECRET = "sk-planted-4f1b7c9d2e"


def made(mode: str = "default") -> Placeholders:
    return Placeholders("all" if mode == "all" else "default", {"quokka_step": "fn"})


def says(*texts: str) -> ScriptedBackend:
    def script(_request: Request) -> Iterator[str]:
        yield from texts

    return ScriptedBackend(script)


def test_a_model_reads_placeholders_and_the_caller_names() -> None:
    backend = says("fn", "_1 waits; fn_", "2 and Fn_1 do not.")
    told: list[str] = []
    completion = GuardedBackend(backend, made()).complete(ASK, on_token=told.append)
    assert backend.requests[0].user == "Threads wait in fn_1 at /opt/dir_1/file_1.c:7."
    assert completion.text == "quokka_step waits; fn_2 and quokka_step do not."
    assert "".join(told) == completion.text


def test_every_text_of_a_request_passes_the_guard() -> None:
    # Whoever gives Request another text must pass it through GuardedBackend.concealed as well.
    texts = {"system", "user", "turns"}
    others = {
        "max_tokens",
        "temperature",
        "seed",
        "json_schema",
        "deadline",
        "tools",
    }  # the tools' descriptions are ours
    assert {field.name for field in fields(Request)} == texts | others


def test_credentials_leave_for_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "correct horse battery")
    backend = says("ok")
    text = f"key {SECRET}, https://u:hunter2@h.org/x, correct horse battery, DB_PASSWORD=swordfish1"
    GuardedBackend(backend, Placeholders("none")).complete(Request(text, text, 5))
    sent = backend.requests[0].system + backend.requests[0].user
    for secret in (SECRET, "hunter2", "correct horse", "swordfish"):
        assert secret not in sent


def test_the_log_holds_what_was_sent_and_what_came(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    log = log_of(environ)
    assert log is not None
    GuardedBackend(says("fn_1 and ", SECRET), made(), log).complete(ASK)
    (entry,) = log.entries()
    assert (entry.user, entry.answer) == ("Threads wait in fn_1 at /opt/dir_1/file_1.c:7.", "fn_1 and [key]")
    assert (entry.confidential, entry.model, entry.finish) == ("default", "scripted:custom", "stop")


def test_a_question_that_fails_is_in_the_log_and_still_fails(tmp_path: Path) -> None:
    def script(_request: Request) -> Iterator[str]:
        raise ModelUnavailableError(f"it broke: {SECRET}")
        yield ""

    log = log_of({"XDG_STATE_HOME": str(tmp_path)})
    assert log is not None
    with pytest.raises(ModelUnavailableError):
        GuardedBackend(ScriptedBackend(script), made(), log).complete(ASK)
    (entry,) = log.entries()
    assert (entry.answer, entry.error) == ("", "it broke: [key]")


def test_only_what_goes_to_a_server_gets_placeholders() -> None:
    modes: list[str] = []

    def make(mode: str) -> Placeholders:
        modes.append(mode)
        return Placeholders("none")

    server = HostedBackend("m", Endpoint("http://127.0.0.1:1/v1", "127.0.0.1", True, False), NO_KEY)
    for backend in (server, says("x")):
        for settings in (Settings(), Settings(confidential="all"), Settings(confidential="none")):
            shown = guarded(Choice(backend), settings, make)
            assert (shown.name, shown.label, shown.form) == (backend.name, backend.label, backend.form)
    assert modes == ["default", "all", "none", "none", "none", "none"]


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted, "sleep", lambda _: None)


@pytest.mark.parametrize("mode", ["default", "all"])
def test_what_is_shown_is_what_leaves_byte_for_byte_and_names_nothing(
    mode: str, no_pause: None, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with fault_server(fs.stream(*fs.WELCOME)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        arguments = ["explain", str(DATABASE), "--llm", "openai:m", "--confidential", mode, "-q"]
        assert main([*arguments, "--show-prompt"]) == 0
        shown = capsysbinary.readouterr()
        assert server.seen == []
        main(arguments)
        sent = [seen.raw for seen in server.seen if seen.raw]
    assert sent[0] == shown.out.strip() == shown.out
    assert b"Nothing was sent" in shown.err
    for name in NAMES:
        assert name.encode() not in sent[0].lower()
    assert (b"GOMP_parallel" in sent[0]) is (mode == "default")
    assert (b"<<source" in sent[0]) is (mode == "default")


def test_without_placeholders_the_names_leave(no_pause: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with fault_server(fs.stream(*fs.WELCOME)) as server:
        chathpc.explain(DATABASE, llm="openai:m", base_url=server.url, confidential="none")
        sent = [seen.raw for seen in server.seen if seen.raw]
    assert len(sent) == 2  # what the server says has not the form asked for, and is asked for once more
    assert all(b"triangular_work" in each for each in sent)


def test_names_are_back_before_the_answer_is_checked(no_pause: None) -> None:
    def answer(body: bytes) -> bytes:
        user = json.loads(body)["messages"][1]["content"]
        place = next(line for line in user.splitlines() if line.startswith("P1: fn_"))
        name = place[4:].split(" ")[0]
        read = {"kind": "reading", "text": f"Threads wait for `{name}`, {{P1}}, for {{E1}}.", "cites": ["E1", "P1"]}
        return json.dumps({"hypotheses": [], "statements": [read]}).encode()

    replies: list[bytes] = []

    def behaviour(handler: object) -> None:
        raw = server.seen[-1].raw
        replies.append(answer(raw))
        fs.stream(fs.piece(replies[-1].decode()), fs.piece(finish="stop"), fs.DONE)(handler)  # type: ignore[arg-type]

    with fault_server(behaviour) as server:
        report = chathpc.explain(DATABASE, llm="openai:m", base_url=server.url)
    assert b"fn_" in replies[0]
    assert b"triangular_work" not in replies[0]
    said = [each for each in report.explanation.statements if each.kind == "reading"]
    assert [(each.text, each.dropped_because) for each in said] == [
        (
            "Threads wait for `triangular_work`, triangular_work (stencil_omp.c:61), for 4.36 s (waiting in the OpenMP runtime).",
            None,
        )
    ]


def test_a_local_model_is_shown_with_its_messages(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHATHPC_TEST_BACKENDS", "tests.llm.scripted")
    assert main(["explain", str(DATABASE), "--llm", "scripted:echo", "--show-prompt", "-q"]) == 0
    messages = json.loads(capsys.readouterr().out)["messages"]
    assert [message["role"] for message in messages] == ["system", "user"]
    assert "triangular_work" in messages[1]["content"]


@pytest.mark.parametrize("llm", ["none", "auto"])
def test_without_a_model_there_is_no_prompt_to_show(llm: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(DATABASE), "--llm", llm, "--show-prompt", "-q"]) == 2
    assert "There is no prompt" in capsys.readouterr().err


def test_showing_needs_no_key_and_shows_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["explain", str(DATABASE), "--llm", "openai:m", "--show-prompt", "-q"]) == 0
    without = capsys.readouterr()
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert main(["explain", str(DATABASE), "--llm", "openai:m", "--show-prompt", "-q"]) == 0
    assert capsys.readouterr() == without
    assert SECRET not in without.out + without.err


class _KeyringError(Exception):
    pass


@pytest.mark.parametrize(
    ("entry", "secret"), [("sk-from-ring", "sk-from-ring"), (None, ""), (_KeyringError("locked"), "")]
)
def test_a_key_may_lie_in_the_keyring_under_its_host(
    entry: object, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    def get_password(service: str, user: str) -> object:
        asked.append((service, user))
        if isinstance(entry, Exception):
            raise entry
        return entry

    ring = types.ModuleType("keyring")
    errors = types.ModuleType("keyring.errors")
    ring.get_password = get_password  # type: ignore[attr-defined]
    errors.KeyringError = _KeyringError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", ring)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)
    target = Endpoint("https://llm.example/v1", "llm.example", False, True)
    assert read_key(Settings(), target, {}).secret == secret
    assert asked == [("chathpc", "llm.example")]
    assert read_key(Settings(), target, {"OPENAI_API_KEY": "sk-env"}) == Key("sk-env")
    clear = Endpoint("http://llm.example/v1", "llm.example", False, False)
    assert read_key(Settings(), clear, {}) == NO_KEY
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert read_key(Settings(), target, {}) == NO_KEY


def test_nothing_above_this_room_asks_a_back_end_that_is_not_guarded() -> None:
    asking = []
    for folder, _folders, files in os.walk(Path(chathpc.__file__).parent, followlinks=True):
        if Path(folder).name != "llm":
            asking += [
                name
                for name in files
                if name.endswith(".py") and re.search(r"\.complete\(|\bExchange\(", Path(folder, name).read_text())
            ]
    # A conversation has the guarded back end of chat/opening.py. Reports ask by llm/asking.py, and the trial, about our own pieces of
    # source, by llm/timed.py. The strategy of chathpc fix has its own from fix/models/asker.py. What records the answers of bench predict has
    # the guarded back end of its run.py, where it stands.
    assert sorted(asking) == ["asker.py", "run.py", "wording.py"]


def test_a_conversation_gets_its_model_behind_the_guard(no_pause: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    session = Session(chathpc.load(DATABASE))
    backend, _ = choose("openai:m", session, Settings(base_url="http://127.0.0.1:9/v1"))
    assert isinstance(backend, GuardedBackend)
    assert (backend.mode, backend.calls_tools) == ("default", True)


def test_what_tools_say_leaves_with_placeholders_and_calls_come_back_with_names() -> None:
    """A model that was told fn_1 asks the tool about fn_1; the tool gets the function's name."""

    def script(request: Request) -> Iterator[str]:
        yield "fine"

    class Calling(ScriptedBackend):
        def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
            name = re.findall(r"\bfn_\d+\b", request.user)[0]
            call = ToolCall("1", "callers", json.dumps({"name": name, "limit": 3}))
            return replace(super().complete(request), tool_calls=(call,))

    profile = chathpc.load(DATABASE)
    behind = Calling(script)
    placeholders = placeholders_for(profile, diagnose(profile), "all")
    backend = GuardedBackend(behind, placeholders)
    turn = Turn("assistant", "", (ToolCall("0", "tree", '{"place": "triangular_work"}'),))
    asked = Request(
        "s", "Who calls triangular_work?", 10, turns=(turn, Turn("tool", "triangular_work: 3 s", call_id="0"))
    )
    completion = backend.complete(asked)
    assert json.loads(completion.tool_calls[0].arguments) == {"name": "triangular_work", "limit": 3}
    (sent,) = behind.requests
    assert "triangular_work" not in json.dumps(sent.messages())
    assert "fn_" in sent.turns[0].calls[0].arguments
    assert "fn_" in sent.turns[1].content


def test_the_names_of_module_procedures_leave_with_placeholders_however_the_linker_calls_them() -> None:
    profile = chathpc.load(FORTRAN)
    names = placeholders_for(profile, diagnose(profile), "default")
    sent = names.conceal("function energy() of advection; __advection_MOD_energy; energy has 8 %")
    assert not re.search("energy|advection", sent)
    for symbol in ("__grid_MOD_total", "grid_mp_total_", "_QMgridPtotal", "_ZN4grid5totalEPKdi"):
        tree = replace(profile.tree, names=[symbol, *profile.tree.names[1:]])
        names = placeholders_for(replace(profile, tree=tree), None, "default")
        assert not re.search("grid|total", names.conceal("module grid, total(x)")), symbol


@pytest.mark.parametrize("arguments", ["", "{", "[1]", '"fn_1"'])
def test_arguments_that_are_no_object_come_back_as_they_are(arguments: str) -> None:
    class Calling(ScriptedBackend):
        def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
            return replace(super().complete(request), tool_calls=(ToolCall("1", "top", arguments),))

    profile = chathpc.load(DATABASE)
    backend = GuardedBackend(Calling("silent"), placeholders_for(profile, diagnose(profile), "all"))
    assert backend.complete(Request("s", "u", 10)).tool_calls[0].arguments == arguments


def test_what_costs_too_much_is_stopped_before_it_leaves_and_each_answer_begins_anew() -> None:
    behind = ScriptedBackend("echo")
    profile = chathpc.load(DATABASE)
    request = Request("s", "u", 100)  # at most 2 tokens of prompt and 100 of answer
    choice = Choice(behind, hosted=True, price=Price(input=1.0, output=1.0))
    names = placeholders_for(profile, diagnose(profile), "none")
    backend = GuardedBackend(behind, names, purse=Purse(choice, Settings(spend=103e-6)))
    backend.complete(request)
    with pytest.raises(BudgetSpentError, match="the limit per answer is"):
        backend.complete(request)  # the echo counted something, and both are one answer
    new_answer(backend)
    backend.complete(request)
    assert len(behind.requests) == 2


def test_there_is_no_guard_for_nothing() -> None:
    with pytest.raises(ValueError, match="no back end"):
        guarded(Choice(None), Settings(), lambda mode: pytest.fail("no placeholders are needed"))
