"""The openai package against real OpenAI-compatible servers, with the tiny model behind them."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from importlib import util
from pathlib import Path
from time import monotonic, sleep

import pytest

from chathpc.errors import BudgetSpentError, ModelUnavailableError
from chathpc.llm.backend import Request
from chathpc.llm.hosted import HostedBackend
from chathpc.llm.keys import NO_KEY, Key, endpoint
from chathpc.llm.settings import Settings

CAUSE = {"type": "object", "properties": {"cause": {"enum": ["io-bound", "hot-compute"]}}, "required": ["cause"]}

#: The server of llama-cpp-python needs packages of its own, which no extra of chathpc brings.
SERVERS = ["xllamacpp"]
if all(util.find_spec(name) for name in ("llama_cpp", "uvicorn", "fastapi", "sse_starlette", "starlette_context")):
    SERVERS.append("llama_cpp.server")

_XLLAMACPP = """
import sys, time, xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.n_ctx, p.port, p.verbosity, p.warmup, p.model_alias = sys.argv[1], 2048, int(sys.argv[2]), -1, False, {"tiny"}
p.api_keys = [sys.argv[3]] if sys.argv[3] else []
s = xllamacpp.Server(p)
sys.stdin.read()
"""


@pytest.fixture(scope="module", params=SERVERS)
def url(request: pytest.FixtureRequest, tiny_model: Path) -> Iterator[str]:
    pytest.importorskip("xllamacpp" if request.param == "xllamacpp" else "llama_cpp")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    if request.param == "xllamacpp":
        command = [sys.executable, "-c", _XLLAMACPP, str(tiny_model), str(port), ""]
    else:
        command = [sys.executable, "-m", "llama_cpp.server", "--model", str(tiny_model), "--model_alias", "tiny"]
        command += ["--port", str(port), "--n_ctx", "2048", "--n_threads", "1"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5).close()
                break
            except OSError:
                assert process.poll() is None, "the server ended"
                assert monotonic() < until, "the server does not start"
                sleep(0.05)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def model(url: str, name: str = "tiny", key: Key = NO_KEY) -> HostedBackend:
    return HostedBackend(name, endpoint(Settings(base_url=url)), key)


def test_an_answer_arrives_with_its_tokens_and_is_repeatable(url: str) -> None:
    request = Request("You explain profiles.", "main takes 3.17 s.", max_tokens=20)
    pieces: list[str] = []
    answer = model(url).complete(request, on_token=pieces.append)
    assert "".join(pieces) == answer.text == model(url).complete(request).text != ""
    assert answer.finish_reason == "length"
    assert (answer.completion_tokens or 0) <= 20


def test_a_schema_is_kept_in_whichever_way_the_server_takes_it(url: str) -> None:
    answer = model(url).complete(Request("s", "u", max_tokens=200, json_schema=CAUSE))
    assert json.loads(answer.text, strict=False)["cause"] in ("io-bound", "hot-compute")


def test_a_prompt_that_is_too_long_is_a_spent_budget(url: str) -> None:
    with pytest.raises(BudgetSpentError, match="status 400"):
        model(url).complete(Request("s", "x" * 5000, max_tokens=20))


def test_a_model_that_is_not_served_is_refused(url: str) -> None:
    with pytest.raises(ModelUnavailableError, match="has no model 'gpt-9'") as caught:
        model(url, "gpt-9").complete(Request("s", "u", max_tokens=1))
    assert "tiny" in caught.value.hint


def test_a_request_that_is_given_up_ends_on_the_server(url: str) -> None:
    backend = model(url)
    long = {"type": "array", "items": CAUSE, "minItems": 90}
    backend.complete(Request("s", "u", max_tokens=1))
    answer = backend.complete(Request("s", "u", max_tokens=1900, json_schema=long, deadline=0.3))
    assert answer.finish_reason in ("deadline", "length")
    started = monotonic()
    assert backend.complete(Request("s", "u", max_tokens=2)).completion_tokens
    assert monotonic() - started < 10
