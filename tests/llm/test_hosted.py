"""The openai package against servers that misbehave in each way we know of."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from time import monotonic, sleep

import openai  # noqa: F401 - takes a second to import, which would count against the first deadline
import pytest

from chathpc.errors import BudgetSpentError, ChathpcError, ModelUnavailableError, UsageError
from chathpc.llm import hosted, trouble
from chathpc.llm.backend import Completion, Request, ToolCall, Turn
from chathpc.llm.hosted import HostedBackend
from chathpc.llm.keys import NO_KEY, Key, endpoint
from chathpc.llm.settings import Settings
from tests.llm import fault_server as fs
from tests.llm.fault_server import FaultServer, fault_server

ASK = Request("You explain profiles.", "main<|im_end|> takes 3.17 s.", max_tokens=20, seed=7)
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses are noted instead of waited for."""
    noted: list[float] = []
    monkeypatch.setattr(hosted, "sleep", noted.append)
    return noted


def backend(server: FaultServer, key: Key = NO_KEY) -> HostedBackend:
    return HostedBackend("asked", endpoint(Settings(base_url=server.url)), key)


def ask(server: FaultServer, request: Request = ASK) -> Completion:
    return backend(server).complete(request)


def posts(server: FaultServer) -> list[dict[str, object]]:
    return [seen.body for seen in server.seen if seen.body]


def test_an_answer_is_streamed_with_its_counts() -> None:
    pieces: list[str] = []
    with fault_server(fs.stream(*fs.WELCOME)) as server:
        answer = backend(server).complete(ASK, on_token=pieces.append)
    assert pieces == ["Good", " day."]
    assert (answer.text, answer.model, answer.finish_reason) == ("Good day.", "served", "stop")
    assert (answer.prompt_tokens, answer.completion_tokens) == (11, 2)


def test_a_request_says_what_servers_understand_and_holds_no_template_tokens() -> None:
    with fault_server(fs.stream(*fs.WELCOME)) as server:
        ask(server)
    (body,) = posts(server)
    assert body == {
        "model": "asked",
        "messages": [
            {"role": "system", "content": "You explain profiles."},
            {"role": "user", "content": "main  takes 3.17 s."},
        ],
        "max_tokens": 20,
        "temperature": 0.0,
        "seed": 7,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_a_server_that_counts_nothing_has_its_pieces_counted() -> None:
    with fault_server(fs.stream(fs.piece("a"), fs.piece("b", "stop"), fs.DONE)) as server:
        answer = ask(server)
    assert (answer.prompt_tokens, answer.completion_tokens) == (None, 2)


def test_a_server_that_does_not_stream_is_understood() -> None:
    answer = {"model": "m", "choices": [{"message": {"content": "Whole."}, "finish_reason": "length"}]}
    with fault_server(fs.whole(answer)) as server:
        completion = ask(server)
    assert (completion.text, completion.finish_reason) == ("Whole.", "length")


def test_reasoning_is_not_text_but_counts_against_the_limit() -> None:
    thought = fs.event({"choices": [{"delta": {"reasoning_content": "hm"}}]})
    with fault_server(fs.stream(*[thought] * 30)) as server:
        answer = ask(server)
    assert (answer.text, answer.finish_reason) == ("", "length")


# What a server refuses, and what is asked instead.
def test_a_schema_is_asked_for_in_three_ways_and_the_one_that_works_is_kept() -> None:
    refused, broken, fine = (
        fs.fail(400, "response_format?"),
        fs.fail(500, "text or json_object"),
        fs.stream(*fs.WELCOME),
    )
    request = Request("s", "u", 20, json_schema=SCHEMA)
    with fault_server(refused, broken, fine) as server:
        model = backend(server)
        assert model.complete(request).text == "Good day."
        assert model.complete(request).text == "Good day."
    formats = [body.get("response_format") for body in posts(server)]
    json_schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True}}
    assert formats == [json_schema, {"type": "json_object", "schema": SCHEMA}, None, None]


@pytest.mark.parametrize("name", ["stream_options", "temperature", "seed"])
def test_a_parameter_that_a_server_refuses_by_name_is_left_out(name: str) -> None:
    with fault_server(fs.fail(400, f"Unsupported parameter: '{name}'"), fs.stream(*fs.WELCOME)) as server:
        model = backend(server)
        model.complete(ASK)
        model.complete(ASK)
    first, *others = posts(server)
    assert name in first
    assert [name in body for body in others] == [False, False]


def test_a_server_that_wants_the_newer_name_of_the_limit_gets_it() -> None:
    with fault_server(fs.fail(400, "unsupported", param="max_tokens"), fs.stream(*fs.WELCOME)) as server:
        ask(server)
    assert posts(server)[1]["max_completion_tokens"] == 20
    assert "max_tokens" not in posts(server)[1]


# Retries.
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 408, 529])
def test_a_passing_failure_is_tried_again(status: int, pauses: list[float]) -> None:
    with fault_server(fs.fail(status), fs.stream(*fs.WELCOME)) as server:
        assert ask(server).text == "Good day."
    assert pauses == [trouble.STATUS[status].pause]


def test_a_server_is_given_the_time_that_it_asks_for(pauses: list[float]) -> None:
    with fault_server(fs.fail(429, retry_after="7"), fs.stream(*fs.WELCOME)) as server:
        ask(server)
    assert pauses == [7.0]


@pytest.mark.parametrize(("retry_after", "tries"), [("3600", 1), ("Wed, 21 Oct 2026 07:28:00 GMT", 5)])
def test_tries_are_limited_and_so_are_pauses(retry_after: str, tries: int, pauses: list[float]) -> None:
    with (
        fault_server(fs.fail(429, "slow down", retry_after=retry_after)) as server,
        pytest.raises(ModelUnavailableError, match=r"HTTP status 429.*slow down"),
    ):
        ask(server)
    assert len(posts(server)) == tries
    assert pauses == [1.0, 2.0, 4.0, 8.0][: tries - 1]


def test_no_pause_goes_beyond_the_deadline(pauses: list[float]) -> None:
    with fault_server(fs.fail(429)) as server, pytest.raises(ModelUnavailableError):
        ask(server, Request("s", "u", 20, deadline=0.9))
    assert (len(posts(server)), pauses) == (1, [])


def test_a_spent_quota_is_not_tried_again(pauses: list[float]) -> None:
    with fault_server(fs.fail(429, "pay", code="insufficient_quota")) as server, pytest.raises(ModelUnavailableError):
        ask(server)
    assert len(posts(server)) == 1


def test_an_answer_that_breaks_off_is_asked_for_once_more(pauses: list[float]) -> None:
    with fault_server(fs.stream(fs.piece("Good")), fs.stream(*fs.WELCOME)) as server:
        assert ask(server).text == "Good day."
    assert len(pauses) == 1


def test_a_server_with_nothing_to_stream_is_asked_for_the_reason(pauses: list[float]) -> None:
    too_long = fs.fail(400, "This model's maximum context length is 2048 tokens.")
    with fault_server(fs.stream(), too_long) as server, pytest.raises(BudgetSpentError, match="maximum context length"):
        ask(server)
    assert [body["stream"] for body in posts(server)] == [True, False]


def test_an_answer_that_a_reader_has_seen_is_not_begun_again(pauses: list[float]) -> None:
    with (
        fault_server(fs.stream(fs.piece("Good")), fs.stream(*fs.WELCOME)) as server,
        pytest.raises(ModelUnavailableError, match="broke off"),
    ):
        backend(server).complete(ASK, on_token=lambda _: None)
    assert len(posts(server)) == 1


# Final failures: the message, and its exit code.
@pytest.mark.parametrize(
    ("behaviour", "kind", "message", "hint"),
    [
        (fs.fail(401, "bad key"), ModelUnavailableError, "status 401: bad key", "No key was sent"),
        (fs.fail(403, "no"), ModelUnavailableError, "status 403", "No key"),
        (fs.fail(404, "what model?"), ModelUnavailableError, "status 404: what model", "/v1"),
        (fs.fail(400, "nonsense"), ModelUnavailableError, "status 400: nonsense", "--llm none"),
        (fs.fail(400, "x", code="context_length_exceeded"), BudgetSpentError, "status 400", "too long"),
        (fs.fail(400, "maximum context length is 8 (max_tokens)"), BudgetSpentError, "status 400", "too long"),
        (fs.redirect("http://127.0.0.1:9/v1"), ModelUnavailableError, "status 307", "not followed"),
        (fs.whole(b"<html>log in</html>", "text/html"), ModelUnavailableError, "sent text/html instead", "base URL"),
        (fs.whole(b"oops"), ModelUnavailableError, "broke off", "running"),
        (fs.whole(b"{oops"), ModelUnavailableError, "not JSON", "running"),
        (fs.whole({"error": "out of memory"}), ModelUnavailableError, "out of memory", "running"),
        (fs.whole(b'{"a": "' + b"x" * (1 << 21) + b'"}'), ModelUnavailableError, "more than 1048576", "running"),
        (fs.stream(b"data: {oops\n\n"), ModelUnavailableError, "not JSON", "running"),
        (fs.stream(fs.event({"error": {"message": "GPU\x1b[31m gone"}})), ModelUnavailableError, "GPU", "running"),
        (fs.stream(fs.DONE), ModelUnavailableError, "sent no answer", "running"),
        (fs.stream(fs.event({"choices": [{"delta": None}]}), fs.event({"choices": ["x"]}), fs.DONE),
         ModelUnavailableError, "sent no answer", "running"),
    ],
)  # fmt: skip
def test_a_failure_is_told_in_words(
    behaviour: fs.Behaviour, kind: type[ChathpcError], message: str, hint: str, pauses: list[float]
) -> None:
    with fault_server(behaviour) as server, pytest.raises(kind, match=message) as caught:
        ask(server)
    assert hint in caught.value.hint
    assert "\x1b" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_redirection_is_not_followed_with_the_profile_in_hand() -> None:
    with fault_server(fs.stream(*fs.WELCOME)) as thief:
        with fault_server(fs.redirect(thief.url + "/chat/completions")) as server, pytest.raises(ModelUnavailableError):
            ask(server)
        assert thief.seen == []


def test_a_server_that_is_not_there_is_named(pauses: list[float]) -> None:
    with fault_server(fs.stream(*fs.WELCOME)) as server:
        pass
    with pytest.raises(ModelUnavailableError, match=r"127\.0\.0\.1 cannot be reached.*\(3 tries\)"):
        ask(server)
    assert pauses == [0.3, 0.6]


# Deadlines and limits.
def _silence(_handler: BaseHTTPRequestHandler) -> None:
    sleep(8)


def _silence_after_a_word(handler: BaseHTTPRequestHandler) -> None:
    fs.stream(fs.piece("Well"))(handler)
    sleep(8)


def _drip(handler: BaseHTTPRequestHandler) -> None:
    fs.stream()(handler)
    for _ in range(160):
        handler.wfile.write(b": ping\n")
        handler.wfile.flush()
        sleep(0.05)


@pytest.mark.parametrize("behaviour", [_silence, _drip])
def test_a_server_that_says_nothing_is_given_up_at_the_deadline(behaviour: fs.Behaviour) -> None:
    with fault_server(behaviour) as server:
        model = backend(server)
        started = monotonic()
        with pytest.raises((BudgetSpentError, ModelUnavailableError)):
            model.complete(Request("s", "u", 20, deadline=1.0))
    assert monotonic() - started < 6


def test_what_was_said_before_the_deadline_is_kept() -> None:
    with fault_server(_silence_after_a_word) as server:
        answer = ask(server, Request("s", "u", 20, deadline=2.0))
    assert (answer.text, answer.finish_reason) == ("Well", "deadline")


def test_an_endless_answer_is_cut_at_the_token_limit_and_the_server_is_hung_up_on() -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        fs.stream()(handler)
        for _ in range(20_000):
            handler.wfile.write(fs.piece("on and "))
            sleep(0.0005)

    with fault_server(endless) as server:
        answer = ask(server)
        assert answer.text == "on and " * 20
        assert answer.finish_reason == "length"
        assert server.closed.wait(5)


def test_a_flood_in_one_piece_is_cut_too() -> None:
    with fault_server(fs.stream(*[fs.piece("x" * 1000)] * 5, fs.DONE)) as server:
        answer = ask(server)
    assert (len(answer.text), answer.finish_reason) == (2000, "length")  # 20 tokens of at most 64 characters are 1280


# Which model it is.
MODELS = fs.whole({"data": [{"id": name} for name in ["small", "large", *(f"m{n}" for n in range(9))]]})


def test_a_model_that_the_server_does_not_list_is_refused_with_what_it_has() -> None:
    with (
        fault_server(fs.stream(*fs.WELCOME), models=MODELS) as server,
        pytest.raises(ModelUnavailableError, match="has no model 'asked'") as caught,
    ):
        ask(server)
    assert caught.value.hint == "It offers small, large, m0, m1, m2, m3, m4, m5 and 3 more."


@pytest.mark.parametrize(
    "models",
    [
        fs.whole({"data": [{"id": "asked"}]}),
        fs.whole({"data": []}),
        fs.whole({"models": 1}),
        fs.whole(b"[" * 100_000),
        fs.whole(b"<html>", "text/html"),
        fs.whole(b"x" * (5 << 20)),
        fs.fail(500),
    ],
)
def test_a_list_that_has_the_model_or_tells_nothing_is_no_obstacle(models: fs.Behaviour) -> None:
    with fault_server(fs.stream(*fs.WELCOME), models=models) as server:
        assert ask(server).text == "Good day."


def test_a_refused_key_is_told_before_the_profile_is_sent() -> None:
    with fault_server(fs.stream(*fs.WELCOME), models=fs.fail(401, "bad")) as server:
        with pytest.raises(ModelUnavailableError, match="status 401") as caught:
            backend(server, Key("k")).complete(ASK)
        assert posts(server) == []
    assert "refused the key" in caught.value.hint


def test_a_proxy_is_not_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with fault_server(fs.fail(502)) as proxy, fault_server(fs.stream(*fs.WELCOME)) as server:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        assert ask(server).text == "Good day."
        assert proxy.seen == []


def test_no_thread_stays_behind_an_answer() -> None:
    with fault_server(fs.stream(*fs.WELCOME)) as server:
        ask(server)
    waited = monotonic()
    while any(thread.name == "chathpc-llm" for thread in threading.enumerate()):
        assert monotonic() - waited < 5
        sleep(0.01)


def test_it_is_named_by_model_and_host() -> None:
    model = HostedBackend("gpt", endpoint(Settings(base_url="https://llm.example:8443/v1")), NO_KEY)
    assert (model.name, model.label, model.form) == ("openai:gpt", "gpt (at llm.example)", "structured")


@pytest.mark.parametrize(
    "url", ["ftp://h/v1", "llm.example/v1", "http://", "http://h:x/v1", "http://h/v1?key=1", "http://["]
)
def test_what_is_no_endpoint_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        endpoint(Settings(base_url=url))


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("localhost", True), ("127.0.0.1", True), ("127.9.9.9", True), ("[::1]", True), ("127.0.0.1.evil.example", False),
     ("10.0.0.1", False), ("localhost.evil.example", False)],
)  # fmt: skip
def test_this_machine_is_told_from_others(host: str, loopback: bool) -> None:
    assert endpoint(Settings(base_url=f"http://{host}:8000/v1")).loopback is loopback


# -- tools -----------------------------------------------------------------------------------------------------

TOOL = {"name": "top", "description": "The hottest.", "parameters": {"type": "object", "properties": {}}}


def called(index: int, name: str = "", arguments: str = "", id: str = "") -> bytes:
    part = {"index": index, "function": {"name": name, "arguments": arguments}} | ({"id": id} if id else {})
    return fs.event({"choices": [{"index": 0, "delta": {"tool_calls": [part]}, "finish_reason": None}]})


def test_calls_of_tools_are_put_together_from_their_pieces() -> None:
    pieces = [
        called(0, "top", '{"li', "a1"),
        called(0, "", 'mit": 3}'),
        called(1, "tree", "{}", "a2"),
        fs.piece(finish="tool_calls"),
        fs.DONE,
    ]
    with fault_server(fs.stream(*pieces)) as server:
        completion = ask(server, replace(ASK, tools=(TOOL,)))
        sent = posts(server)[0]
    assert completion.tool_calls == (ToolCall("a1", "top", '{"limit": 3}'), ToolCall("a2", "tree", "{}"))
    assert completion.text == ""
    assert sent["tools"] == [{"type": "function", "function": TOOL}]


def test_calls_of_a_server_that_does_not_stream_are_read_too() -> None:
    message = {
        "content": None,
        "tool_calls": [{"id": "x", "type": "function", "function": {"name": "top", "arguments": "{}"}}],
    }
    with fault_server(fs.whole({"choices": [{"message": message, "finish_reason": "tool_calls"}]})) as server:
        assert ask(server, replace(ASK, tools=(TOOL,))).tool_calls == (ToolCall("x", "top", "{}"),)


def test_results_of_tools_go_back_without_template_tokens() -> None:
    turns = (Turn("assistant", "", (ToolCall("a", "top", "{}"),)), Turn("tool", "data <|im_end|> more", call_id="a"))
    with fault_server(fs.stream(*fs.WELCOME)) as server:
        ask(server, replace(ASK, tools=(TOOL,), turns=turns))
        messages = posts(server)[0]["messages"]
    assert isinstance(messages, list)
    assert [one["role"] for one in messages] == ["system", "user", "assistant", "tool"]
    assert messages[2]["tool_calls"][0]["function"] == {"name": "top", "arguments": "{}"}
    assert messages[3] == {"role": "tool", "tool_call_id": "a", "content": "data   more"}


def test_malformed_calls_are_left_out_and_endless_ones_bounded() -> None:
    odd = [
        fs.event({"choices": [{"delta": {"tool_calls": parts}}]})
        for parts in (
            "no",
            [1],
            [{"index": "x", "function": {}}],
            [{"index": 10**9, "function": {"name": "f"}}],
            [{"function": 3}],
        )
    ]
    with fault_server(fs.stream(*odd, *fs.WELCOME)) as server:
        completion = ask(server, replace(ASK, tools=(TOOL,)))
        assert (completion.tool_calls, completion.text) == ((), "Good day.")
    with fault_server(fs.stream(*[called(0, "top", "x" * 500)] * 400)) as server:
        completion = ask(server, replace(ASK, tools=(TOOL,)))
        assert completion.finish_reason == "length"
        assert len(completion.tool_calls[0].arguments) < 100_000


def test_only_models_that_keep_to_a_schema_are_offered_tools() -> None:
    with fault_server(fs.stream(*fs.WELCOME)) as server:
        assert backend(server).calls_tools
        assert not HostedBackend("m", backend(server)._endpoint, NO_KEY, form="prose").calls_tools


def test_a_question_is_answered_by_a_served_model_with_tools() -> None:
    from chathpc.chat.conversation import Conversation
    from chathpc.chat.session import Session
    from tests.chat.profiles import calls

    first = [called(0, "top", '{"limit": 2}', "a1"), fs.piece(finish="tool_calls"), fs.DONE]
    said = [("Half of the run is in {P1}.", "F1"), ("The moon has 7 s.", "F1")]
    words = json.dumps({"statements": [{"kind": "reading", "text": text, "cites": [fact]} for text, fact in said]})
    with fault_server(
        fs.stream(*first), fs.stream(fs.piece(words), fs.piece(finish="stop"), fs.USAGE, fs.DONE)
    ) as server:
        answer = Conversation(Session(calls()), backend(server)).ask("where is the time?")
        told = posts(server)[1]["messages"]
    assert answer.said == ["Half of the run is in dot."]
    assert [each.text for each in answer.statements if each.dropped_because] == ["The moon has 7 s."]
    assert [step.tool for step in answer.steps] == ["top"]
    assert isinstance(told, list)
    assert "10.0 s of the 20.0 s of cpu.time (50.0 %)" in told[3]["content"]
