"""A language model behind any server that speaks OpenAI's chat protocol: hosted, of the site, or on this machine."""

from __future__ import annotations

import json
import queue
import re
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain
from time import monotonic, sleep
from typing import Any

from chathpc.errors import BudgetSpentError, ModelUnavailableError
from chathpc.llm import retry as retries
from chathpc.llm.backend import Completion, FinishReason, Form, OnToken, Request, ToolCall
from chathpc.llm.keys import Endpoint, Key
from chathpc.llm.sse import LARGEST_EVENT, StreamError, events
from chathpc.profile.text import clean

CONNECT_TIMEOUT = 4.0  # seconds; compute nodes without a way out should notice soon
#: Bounds on what a server may send for one token that was asked for (characters), and on the list of its models (bytes).
_CHARACTERS_PER_TOKEN = 64
_LARGEST_LIST = 1 << 22
_MODELS_SHOWN = 8
#: Tools that a model may ask for in one answer, and characters of a call's id and name.
_MOST_CALLS = 16
_LONGEST_NAME = 200

#: How a JSON schema is asked for, best first; servers differ in which they take.
_SCHEMA_FORMS: tuple[Callable[[dict[str, Any]], dict[str, Any] | None], ...] = (
    lambda schema: {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}},
    lambda schema: {"type": "json_object", "schema": schema},
    lambda schema: None,
)
#: Parameters that some servers refuse by name. Without them the answer is less repeatable, or its length less bound.
_OPTIONAL = ("stream_options", "max_tokens", "temperature", "seed")
_EMPTY = "empty"  # the code of a stream without any event
_TOO_LONG = re.compile(r"context (?:length|size|window)|too many tokens|prompt is too long", re.IGNORECASE)


class _Trouble(Exception):
    """A request that failed: what was said, the HTTP status (0: there was none), and whether to try again."""

    def __init__(
        self,
        message: str,
        status: int = 0,
        code: str = "",
        retry: retries.Retry | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.retry = retry
        self.retry_after = retry_after

    @property
    def too_long(self) -> bool:
        """Whether the prompt does not fit the model."""
        return self.status in (400, 413) and bool(_TOO_LONG.search(self.message) or "context" in self.code)

    @property
    def refuses_schema(self) -> bool:
        """Whether it may be the schema that the server does not take; some fail at it with status 500."""
        return self.status in (400, 422, 500, 501) and not self.too_long


@dataclass(slots=True)
class _Answer:
    """What has arrived of an answer."""

    model: str = ""
    pieces: int = 0
    characters: int = 0
    text: list[str] = field(default_factory=list)
    finish: FinishReason | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    calls: dict[int, _Call] = field(default_factory=dict)


@dataclass(slots=True)
class _Call:
    """What has arrived of the call of a tool."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class HostedBackend:
    """Completes requests at an OpenAI-compatible server.

    Answers are streamed, so that a request that is given up ends on the server too. Retries follow chathpc.llm.retry within
    the request's deadline. The key is in no error, log or representation.
    """

    def __init__(self, model: str, endpoint: Endpoint, key: Key, *, form: Form = "structured") -> None:
        self._model = model
        self._endpoint = endpoint
        self._key = key
        self._form = form
        self._client: Any = None
        self._schema_form = 0
        self._refused: set[str] = set()

    @property
    def name(self) -> str:
        """`openai:` and the model."""
        return f"openai:{self._model}"

    @property
    def label(self) -> str:
        """The model and the host that serves it."""
        return f"{clean(self._model)} (at {clean(self._endpoint.host)})"

    @property
    def form(self) -> Form:
        """Structured, unless the model has shown that it cannot."""
        return self._form

    @property
    def calls_tools(self) -> bool:
        """True for models that can be held to a schema; whether the server offers tools shows at the first request."""
        return self._form == "structured"

    def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
        """Answer `request`; see Backend."""
        started = monotonic()
        until = started + request.deadline
        if self._client is None:
            self._client = self._connect()
            self._check_model(min(until, started + 2 * CONNECT_TIMEOUT))
        answer = self._persist(request, until, on_token)
        return self._completion(answer, request, monotonic() - started)

    def body(self, request: Request) -> bytes:
        """The body of the first message that `complete` sends for `request`, byte for byte; nothing is sent.

        Where a server refuses a parameter it is asked again in another way, with the same text.
        """
        import openai

        transport = import_module(openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])
        taken: list[bytes] = []

        def take(message: Any) -> Any:
            taken.append(message.read())
            return transport.Response(200, json={})

        http = openai.DefaultHttpxClient(transport=transport.MockTransport(take), trust_env=False)
        with openai.OpenAI(base_url=self._endpoint.url, api_key="none", max_retries=0, http_client=http) as client:
            arguments = self._arguments(request, self._schema_form, stream=True)
            with client.chat.completions.with_streaming_response.create(**arguments):
                return taken[0]

    def _persist(self, request: Request, until: float, on_token: OnToken | None) -> _Answer:
        """Ask until there is an answer: in another way where the server refuses one, again where that may help."""
        schema_form = self._schema_form
        stream = True
        tried = 1
        while True:
            answer = _Answer()
            try:
                self._ask(self._arguments(request, schema_form, stream=stream), answer, until, on_token)
            except _Trouble as trouble:
                if self._adapt(trouble):
                    continue
                if request.json_schema is not None and trouble.refuses_schema and schema_form < len(_SCHEMA_FORMS) - 1:
                    schema_form += 1
                    continue
                heard = on_token is not None and answer.text  # what a reader has seen cannot be said again
                remaining = until - monotonic()
                pause = None if heard else retries.pause_before(trouble.retry, tried, trouble.retry_after, remaining)
                if pause is None:
                    raise self._error(trouble, tried) from None
                sleep(pause)
                tried += 1
                # The server of llama-cpp-python, for one, tells only without streaming why there is nothing to stream.
                stream = trouble.code != _EMPTY
            else:
                self._schema_form = schema_form
                return answer

    def _completion(self, answer: _Answer, request: Request, seconds: float) -> Completion:
        text = "".join(answer.text)
        if answer.finish == "deadline" and not text.strip():
            raise BudgetSpentError(
                f"{self.label} said nothing within {request.deadline:g} s.", hint="Allow more time, or --llm none."
            )
        return Completion(
            text=text,
            model=clean(answer.model)[:200] or self._model,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens if answer.completion_tokens is not None else answer.pieces,
            finish_reason=answer.finish or "stop",
            seconds=seconds,
            tool_calls=tuple(
                ToolCall(call.id or f"call-{index}", call.name, "".join(call.arguments))
                for index, call in sorted(answer.calls.items())
            ),
        )

    def _connect(self) -> Any:
        import openai

        http = openai.DefaultHttpxClient(
            follow_redirects=False,  # a redirection would take the profile to a server that nobody chose
            trust_env=not self._endpoint.loopback,  # a proxy would take what is meant for this machine elsewhere
        )
        return openai.OpenAI(
            base_url=self._endpoint.url,
            api_key=self._key.secret or "none",  # the package wants one; servers on this machine take any
            max_retries=0,
            http_client=http,
        )

    def _timeout(self, until: float) -> Any:
        import openai

        remaining = max(until - monotonic(), 1e-3)
        return openai.Timeout(remaining, connect=min(CONNECT_TIMEOUT, remaining))

    def _check_model(self, until: float) -> None:
        """Raises ModelUnavailableError if the server lists its models and this is not among them.

        Some servers answer to any name and repeat it, so that a report would name a model that was never asked.
        """
        listing = self._client.models.with_streaming_response.list
        data = bytearray()
        try:
            for chunk in self._receive(lambda: listing(timeout=self._timeout(until)), until):
                data += chunk
                if len(data) > _LARGEST_LIST:
                    return
            names = [str(entry["id"]) for entry in json.loads(data)["data"]]
        except _Trouble as trouble:
            if trouble.status in (401, 403):
                raise self._error(trouble, 1) from None
            return  # not every server has a list; the request itself will tell what is wrong
        except (TimeoutError, ValueError, LookupError, TypeError, RecursionError):
            return
        if names and self._model not in names:
            shown = ", ".join(self._key.redact(name)[:80] for name in names[:_MODELS_SHOWN])
            more = f" and {len(names) - _MODELS_SHOWN} more" if len(names) > _MODELS_SHOWN else ""
            raise ModelUnavailableError(
                f"{clean(self._endpoint.host)} has no model '{clean(self._model)}'.", hint=f"It offers {shown}{more}."
            )

    def _ask(self, arguments: dict[str, Any], answer: _Answer, until: float, on_token: OnToken | None) -> None:
        """Send a request and fill `answer`; raises _Trouble."""
        create = self._client.chat.completions.with_streaming_response.create
        limit = arguments.get("max_tokens", arguments.get("max_completion_tokens", 0))
        most = limit * _CHARACTERS_PER_TOKEN
        came = False

        def call() -> Any:
            return create(**arguments, timeout=self._timeout(until))

        try:
            with closing(self._receive(call, until)) as chunks:
                for event in _events(chunks):
                    came = came or bool(event)
                    piece = _read(event, answer)
                    if piece and answer.pieces <= limit and answer.characters <= most:
                        answer.text.append(piece)
                        if on_token is not None:
                            on_token(piece)
                    # Counts what is not shown too, such as reasoning: the limit is on what is paid for.
                    answer.characters += len(piece)
                    if answer.pieces > limit or answer.characters > most:
                        answer.finish = "length"
                        return
        except TimeoutError:
            answer.finish = "deadline"
        except (EOFError, StreamError) as error:
            if answer.finish is None:
                code = "" if came else _EMPTY
                raise _Trouble(f"broke off: {error}", code=code, retry=retries.BROKEN_ANSWER) from None
        if answer.finish is None and not answer.text and not answer.calls:
            raise _Trouble("sent no answer", retry=retries.BROKEN_ANSWER)

    def _arguments(self, request: Request, schema_form: int, *, stream: bool) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self._model,
            "messages": request.messages(),
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
            "stream": stream,
        }
        if stream:
            arguments["stream_options"] = {"include_usage": True}
        if request.tools:
            arguments["tools"] = [{"type": "function", "function": dict(tool)} for tool in request.tools]
        if request.json_schema is not None:
            response_format = _SCHEMA_FORMS[schema_form](dict(request.json_schema))
            if response_format is not None:
                arguments["response_format"] = response_format
        for name in self._refused:
            value = arguments.pop(name, None)
            if name == "max_tokens":
                arguments["max_completion_tokens"] = value
        return arguments

    def _adapt(self, trouble: _Trouble) -> bool:
        """Whether the server refused a parameter that can be left out or, for max_tokens, has a newer name."""
        if trouble.status not in (400, 422) or trouble.too_long:
            return False
        for name in _OPTIONAL:
            if name not in self._refused and re.search(rf"\b{name}\b", f"{trouble.message} {trouble.code}"):
                self._refused.add(name)
                return True
        return False

    def _receive(self, call: Callable[[], AbstractContextManager[Any]], until: float) -> Generator[bytes]:
        """The bytes of a response as they arrive; raises _Trouble, and TimeoutError at `until`.

        A thread waits for the server, so that neither one that drips nor one that falls silent keeps the caller beyond the
        deadline. When the caller stops, the thread closes the connection at the next byte, at the latest at the deadline.
        """
        arrived: queue.SimpleQueue[bytes | _Trouble | None] = queue.SimpleQueue()
        stop = threading.Event()

        def work() -> None:
            try:
                with call() as response:
                    _check_type(response)
                    for chunk in response.iter_bytes():
                        arrived.put(chunk)
                        if stop.is_set():
                            return
                arrived.put(None)
            except _Trouble as trouble:
                arrived.put(trouble)
            except self._failures() as error:
                arrived.put(self._trouble(error))

        threading.Thread(target=work, name="chathpc-llm", daemon=True).start()
        try:
            while True:
                try:
                    item = arrived.get(timeout=max(until - monotonic(), 0))
                except queue.Empty:
                    raise TimeoutError from None
                if item is None:
                    return
                if isinstance(item, _Trouble):
                    if monotonic() >= until:
                        raise TimeoutError
                    raise item
                yield item
        finally:
            stop.set()

    def _failures(self) -> tuple[type[Exception], ...]:
        """What the package and the transport under it raise; that is httpx, and httpx2 from openai 3."""
        import openai

        transport = import_module(openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])
        return (
            openai.OpenAIError,
            transport.HTTPError,
            transport.StreamError,
            transport.InvalidURL,
            OSError,
            ValueError,
        )

    def _trouble(self, error: Exception) -> _Trouble:
        import openai

        if isinstance(error, openai.APIStatusError):
            status = error.status_code
            body = error.body if isinstance(error.body, dict) else {}
            code = f"{body.get('code') or ''} {body.get('type') or ''} {body.get('param') or ''}"
            said = body.get("message")
            message = str(said) if said else "no reason given"
            again = None if "insufficient_quota" in code else retries.STATUS.get(status)
            return _Trouble(message, status, code, again, _seconds(error.response.headers.get("retry-after")))
        if isinstance(error, openai.APITimeoutError):
            return _Trouble("does not answer")
        detail = error.__cause__ or error
        return _Trouble(f"cannot be reached: {detail}", retry=retries.CONNECTION)

    def _error(self, trouble: _Trouble, tried: int) -> Exception:
        host = clean(self._endpoint.host)
        message = self._key.redact(trouble.message).rstrip(".")
        again = f" ({tried} tries)" if tried > 1 else ""
        if trouble.status == 0:
            hint = "Is the server running, and the base URL right?"
            return ModelUnavailableError(f"{host} {message}{again}.", hint=hint)
        said = f"{host} answered with HTTP status {trouble.status}{again}: {message}."
        if trouble.too_long:
            return BudgetSpentError(said, hint="The prompt is too long for this model; use one with a larger context.")
        if trouble.status in (401, 403):
            sent = "It refused the key." if self._key.secret else "No key was sent."
            hint = f"{sent} Set OPENAI_API_KEY (sent over https, or beside OPENAI_BASE_URL) or api_key_file."
        elif 300 <= trouble.status < 400:
            hint = "Redirections are not followed: give the final address as the base URL."
        elif trouble.status == 404:
            hint = "Does the base URL end as the server wants it, usually in /v1, and is the model's name right?"
        elif trouble.status == 429:
            hint = "Its limit on requests or money is reached; wait, or use --llm local or --llm none."
        else:
            hint = "Use --llm none for a report without a model."
        return ModelUnavailableError(said, hint=hint)


def json_bytes(content: object) -> bytes:
    """`content` as the transport would write it."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _events(chunks: Iterator[bytes]) -> Iterator[dict[str, object]]:
    """The events of a stream, or the one object of a server that does not stream."""
    first = next(chunks, b"")
    if not first.lstrip().startswith(b"{"):
        yield from events(chain([first], chunks))
        return
    data = bytearray(first)
    for chunk in chunks:
        data += chunk
        if len(data) > LARGEST_EVENT:
            raise StreamError(f"an answer of more than {LARGEST_EVENT} bytes")
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        raise StreamError("an answer that is not JSON") from None
    yield answer


def _check_type(response: Any) -> None:
    """Raises _Trouble for what no model's server sends, such as the page of a proxy or a login."""
    kind = str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
    if kind not in ("text/event-stream", "application/json", ""):
        raise _Trouble(f"sent {clean(kind)[:80]} instead of an answer")


def _seconds(value: str | None) -> float | None:
    """Retry-After in seconds; its other form, a date, is not used by such servers."""
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        return None


def _read(event: dict[str, object], answer: _Answer) -> str:
    """Note what an event tells, and return its piece of text."""
    error = event.get("error")
    if error:
        said = error.get("message") if isinstance(error, dict) else error
        raise StreamError(clean(str(said))[:200])
    if isinstance(event.get("model"), str):
        answer.model = str(event["model"])
    usage = event.get("usage")
    if isinstance(usage, dict):
        answer.prompt_tokens = _count(usage.get("prompt_tokens"))
        answer.completion_tokens = _count(usage.get("completion_tokens"))
    choices = event.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return ""
    choice = choices[0]
    if isinstance(choice.get("finish_reason"), str):
        answer.finish = "length" if choice["finish_reason"] == "length" else "stop"
    delta = choice.get("delta", choice.get("message"))
    if not isinstance(delta, dict):
        return ""
    said = delta.get("content")
    called = _read_calls(delta.get("tool_calls"), answer)
    answer.pieces += bool(said or called or delta.get("reasoning_content") or delta.get("reasoning"))
    return said if isinstance(said, str) else ""


def _read_calls(parts: object, answer: _Answer) -> bool:
    """Note the pieces of calls of tools; those of one call have its index. True if there were any."""
    if not isinstance(parts, list):
        return False
    for position, part in enumerate(parts[:_MOST_CALLS]):
        function = part.get("function") if isinstance(part, dict) else None
        if not isinstance(function, dict):
            continue
        index = part.get("index", position)
        if not isinstance(index, int) or not 0 <= index < _MOST_CALLS:
            continue
        call = answer.calls.setdefault(index, _Call())
        call.id = call.id or str(part.get("id") or "")[:_LONGEST_NAME]
        call.name = call.name or str(function.get("name") or "")[:_LONGEST_NAME]
        written = function.get("arguments")
        if isinstance(written, str):
            call.arguments.append(written)
            answer.characters += len(written)
    return bool(parts)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
