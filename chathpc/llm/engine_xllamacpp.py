"""The engine of xllamacpp: llama.cpp's own server in this process.

It is spoken to over a socket in a folder that only this user can enter. The package can also call the server directly, but
then neither a deadline nor Ctrl-C ends the evaluation of a prompt; a closed connection does.
"""

from __future__ import annotations

import json
import secrets
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import xllamacpp

from chathpc.errors import ModelUnavailableError
from chathpc.llm.answer import StreamError, events
from chathpc.llm.backend import FinishReason, Request
from chathpc.llm.engine import BATCH, ContextOverflowError, EngineOptions, Generation
from chathpc.profile.text import clean

#: sockaddr_un holds 108 bytes, the last one a zero (unix(7)).
_LONGEST_SOCKET_PATH = 107

#: Seconds that a server gets to read its first token; the weights may come from a slow disk.
_START_TIMEOUT = 60.0

#: The server reads an answer to a schema as it is written, and fails over what no reader expects, such as broken UTF-8. What
#: was said until then is an answer too: the caller judges it.
_UNPARSED = "does not match the expected"


def load(options: EngineOptions) -> XllamacppEngine:
    """Load a model; raises ModelUnavailableError if llama.cpp cannot read the file."""
    return XllamacppEngine(options)


class XllamacppEngine:
    """A model in xllamacpp's server, which keeps the last prompt and does not read again what the next one begins with."""

    def __init__(self, options: EngineOptions) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None
        try:
            self._folder = tempfile.TemporaryDirectory(prefix="chathpc-")  # mode 0700
        except OSError:
            self._folder = None
        path = "" if self._folder is None else str(Path(self._folder.name) / "llama.sock")
        # Without a place for a socket the server listens on the loopback interface, where others need the key.
        self._socket = path if 0 < len(path.encode()) <= _LONGEST_SOCKET_PATH else None
        self._key = secrets.token_urlsafe(24)
        try:
            self._server = xllamacpp.Server(self._parameters(options))
        except RuntimeError as error:
            raise ModelUnavailableError(
                f"{options.path}: llama.cpp cannot load this model.",
                hint="The file may be damaged, or newer than the engine, or the memory too small.",
            ) from error
        self._wait_for_loop()
        self._model = self._ask_model()

    def _parameters(self, options: EngineOptions) -> xllamacpp.CommonParams:
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(options.path)
        parameters.hostnames = [self._socket or "127.0.0.1"]
        parameters.api_keys = [self._key]
        parameters.n_threads_http = 2
        parameters.n_parallel = 1
        parameters.n_ctx = options.context
        parameters.n_batch = parameters.n_ubatch = BATCH
        parameters.n_gpu_layers = options.gpu_layers
        for cores in (parameters.cpuparams, parameters.cpuparams_batch):
            cores.n_threads = options.threads
            cores.poll = 0  # idle threads sleep
        parameters.fit_params = False  # the context is what was asked for, not what is left of the memory
        parameters.cache_ram_mib = 0  # no copies of old prompts, 8 GiB by default
        parameters.warmup = False
        parameters.verbosity = -1
        parameters.ui = parameters.endpoint_slots = parameters.endpoint_props = False
        return parameters

    @property
    def trained_context(self) -> int | None:
        """Tokens that the model was trained for, where it says so."""
        value = self._model.get("n_ctx_train")
        return value if isinstance(value, int) else None

    def generate(self, request: Request, emit: Callable[[str], None], until: float) -> Generation:
        """Generate an answer; see Engine."""
        body: dict[str, object] = {
            "messages": request.messages(),
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.json_schema is not None:
            schema = {"name": "answer", "schema": dict(request.json_schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        finish: FinishReason = "stop"
        usage: dict[str, Any] = {}
        pieces = 0
        try:
            for event in events(self._post("/v1/chat/completions", body, until)):
                if pieces and _UNPARSED in str(event.get("error")):
                    break
                choice, told = _parts(event, request.max_tokens)
                usage = told or usage
                delta = choice.get("delta")
                piece = delta.get("content") if isinstance(delta, dict) else None
                if isinstance(piece, str) and piece:
                    pieces += 1
                    emit(piece)
                if choice.get("finish_reason") == "length":
                    finish = "length"
                if monotonic() > until:
                    raise TimeoutError
        except TimeoutError:
            finish = "deadline"
        except (OSError, HTTPException, EOFError, StreamError) as error:
            raise ModelUnavailableError(f"llama.cpp failed: {error or type(error).__name__}.") from error
        return Generation(
            prompt_tokens=usage.get("prompt_tokens"),
            completion_tokens=usage.get("completion_tokens", pieces),
            finish_reason=finish,
            cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens"),
        )

    def _connect(self, timeout: float) -> HTTPConnection:
        if self._socket is None:
            address = urlsplit(self._server.listening_address)
            return HTTPConnection(address.hostname or "127.0.0.1", address.port, timeout=timeout)
        connection = HTTPConnection("localhost", timeout=timeout)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(timeout)
        connection.sock.connect(self._socket)
        return connection

    def _post(self, path: str, body: dict[str, object], until: float) -> Iterator[bytes]:
        connection = self._connect(max(until - monotonic(), 1e-3))
        try:
            headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
            connection.request("POST", path, json.dumps(body), headers)
            stream = connection.sock  # the response takes it over
            response = connection.getresponse()
            if response.status != 200:
                yield b"data: " + response.read(1 << 16).replace(b"\n", b" ") + b"\ndata: [DONE]\n"
                return
            while True:
                stream.settimeout(max(until - monotonic(), 1e-3))
                chunk = response.read1(1 << 16)
                if not chunk:
                    return
                yield chunk
        finally:
            connection.close()

    def _wait_for_loop(self) -> None:
        """Have one token read: a server that is ended before its loop runs waits for itself for ever."""
        body: dict[str, object] = {"prompt": "a", "n_predict": 0}
        with suppress(OSError, HTTPException):
            for _ in self._post("/completion", body, monotonic() + _START_TIMEOUT):
                pass

    def _ask_model(self) -> dict[str, object]:
        connection = self._connect(10.0)
        try:
            connection.request("GET", "/v1/models", headers={"Authorization": f"Bearer {self._key}"})
            models = json.loads(connection.getresponse().read())["data"]
            return dict(models[0]["meta"])
        except (OSError, HTTPException, ValueError, LookupError, TypeError):
            return {}
        finally:
            connection.close()

    def close(self) -> None:
        """Free the model's memory."""
        del self._server
        if self._folder is not None:
            self._folder.cleanup()


def _parts(event: dict[str, object], max_tokens: int) -> tuple[dict[str, object], dict[str, Any]]:
    """The choice and the usage in an event, empty where it has none."""
    error = event.get("error")
    if isinstance(error, dict):
        if error.get("type") == "exceed_context_size_error":
            raise ContextOverflowError(int(error.get("n_prompt_tokens", 0)) + max_tokens)
        raise ModelUnavailableError(f"llama.cpp refuses the request: {clean(str(error.get('message')))[:300]}.")
    choices, usage = event.get("choices"), event.get("usage")
    return (
        choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {},
        usage if isinstance(usage, dict) else {},
    )
