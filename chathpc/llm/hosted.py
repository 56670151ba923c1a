"""A language model behind any server that speaks OpenAI's chat protocol: hosted, of the site, or on this machine."""

from __future__ import annotations

import json
import queue
import re
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing
from math import inf
from time import monotonic, sleep
from typing import Any

from chathpc.errors import BudgetSpentError, ModelUnavailableError
from chathpc.llm.answer import Answer, StreamError, events_of, read
from chathpc.llm.backend import MORE_TIME, Completion, Form, OnToken, Request, ToolCall
from chathpc.llm.keys import Endpoint, Key
from chathpc.llm.trouble import (
    BROKEN_ANSWER,
    Trouble,
    check_type,
    failures,
    final_error,
    pause_before,
    transport,
    trouble_of,
)
from chathpc.profile.text import clean

CONNECT_TIMEOUT = 4.0  # seconds; compute nodes without a way out should notice soon
#: Bounds on what a server may send for one token that was asked for (characters), and on the list of its models (bytes).
_CHARACTERS_PER_TOKEN = 64
_LARGEST_LIST = 1 << 22
_MODELS_SHOWN = 8

#: How a JSON schema is asked for, best first; servers differ in which they take.
_SCHEMA_FORMS: tuple[Callable[[dict[str, Any]], dict[str, Any] | None], ...] = (
    lambda schema: {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}},
    lambda schema: {"type": "json_object", "schema": schema},
    lambda schema: None,
)
#: Parameters that some servers refuse by name. Without them the answer is less repeatable, or its length less bound.
_OPTIONAL = ("stream_options", "max_tokens", "temperature", "seed", "tools")
_EMPTY = "empty"  # the code of a stream without any event


class HostedBackend:
    """Completes requests at an OpenAI-compatible server.

    Answers are streamed, so that a request that is given up ends on the server too. Retries follow chathpc.llm.trouble within
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
        self.check(until)
        answer = self._persist(request, until, on_token)
        return self._completion(answer, request, monotonic() - started)

    def check(self, until: float = inf) -> None:
        """Connect, if that is not done; ModelUnavailableError if the server refuses the key or says that it has no such model."""
        if self._client is None:
            self._client = self._connect()
            self._check_model(min(until, monotonic() + 2 * CONNECT_TIMEOUT))

    def body(self, request: Request) -> bytes:
        """The body of the first message that `complete` sends for `request`, byte for byte; nothing is sent.

        Where a server refuses a parameter it is asked again in another way, with the same text.
        """
        import openai

        package = transport()
        taken: list[bytes] = []

        def take(message: Any) -> Any:
            taken.append(message.read())
            return package.Response(200, json={})

        http = openai.DefaultHttpxClient(transport=package.MockTransport(take), trust_env=False)
        with openai.OpenAI(base_url=self._endpoint.url, api_key="none", max_retries=0, http_client=http) as client:
            arguments = self._arguments(request, self._schema_form, stream=True)
            with client.chat.completions.with_streaming_response.create(**arguments):
                return taken[0]

    def _persist(self, request: Request, until: float, on_token: OnToken | None) -> Answer:
        """Ask until there is an answer: in another way where the server refuses one, again where that may help."""
        schema_form = self._schema_form
        stream = True
        tried = 1
        while True:
            answer = Answer()
            try:
                self._ask(self._arguments(request, schema_form, stream=stream), answer, until, on_token)
            except Trouble as trouble:
                if self._adapt(trouble):
                    continue
                if request.json_schema is not None and trouble.refuses_schema and schema_form < len(_SCHEMA_FORMS) - 1:
                    schema_form += 1
                    continue
                heard = on_token is not None and answer.text  # what a reader has seen cannot be said again
                remaining = until - monotonic()
                pause = None if heard else pause_before(trouble.retry, tried, trouble.retry_after, remaining)
                if pause is None:
                    raise final_error(trouble, tried, self._endpoint, self._key) from None
                sleep(pause)
                tried += 1
                # The server of llama-cpp-python, for one, tells only without streaming why there is nothing to stream.
                stream = trouble.code != _EMPTY
            else:
                self._schema_form = schema_form
                return answer

    def _completion(self, answer: Answer, request: Request, seconds: float) -> Completion:
        text = "".join(answer.text)
        if answer.finish == "deadline" and not text.strip():
            raise BudgetSpentError(
                f"{self.label} did not answer within {request.deadline:g} s.",
                hint=f"{MORE_TIME}, or --llm none.",
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
        except Trouble as trouble:
            if trouble.status in (401, 403):
                raise final_error(trouble, 1, self._endpoint, self._key) from None
            return  # not every server has a list; the request itself will tell what is wrong
        except (TimeoutError, ValueError, LookupError, TypeError, RecursionError):
            return
        if names and self._model not in names:
            shown = ", ".join(self._key.redact(name)[:80] for name in names[:_MODELS_SHOWN])
            more = f" and {len(names) - _MODELS_SHOWN} more" if len(names) > _MODELS_SHOWN else ""
            raise ModelUnavailableError(
                f"{clean(self._endpoint.host)} has no model '{clean(self._model)}'.", hint=f"It offers {shown}{more}."
            )

    def _ask(self, arguments: dict[str, Any], answer: Answer, until: float, on_token: OnToken | None) -> None:
        """Send a request and fill `answer`; raises Trouble."""
        create = self._client.chat.completions.with_streaming_response.create
        limit = arguments.get("max_tokens", arguments.get("max_completion_tokens", 0))
        most = limit * _CHARACTERS_PER_TOKEN
        came = False

        def call() -> Any:
            return create(**arguments, timeout=self._timeout(until))

        try:
            with closing(self._receive(call, until)) as chunks:
                for event in events_of(chunks):
                    came = came or bool(event)
                    piece = read(event, answer)
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
                raise Trouble(f"broke off: {error}", code=code, retry=BROKEN_ANSWER) from None
        if answer.finish is None and not answer.text and not answer.calls:
            raise Trouble("sent no answer", retry=BROKEN_ANSWER)

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

    def _adapt(self, trouble: Trouble) -> bool:
        """Whether the server refused a parameter that can be left out or, for max_tokens, has a newer name."""
        if trouble.status not in (400, 422) or trouble.too_long:
            return False
        for name in _OPTIONAL:
            if name not in self._refused and re.search(rf"\b{name}\b", f"{trouble.message} {trouble.code}"):
                self._refused.add(name)
                return True
        return False

    def _receive(self, call: Callable[[], AbstractContextManager[Any]], until: float) -> Generator[bytes]:
        """The bytes of a response as they arrive; raises Trouble, and TimeoutError at `until`.

        A thread waits for the server, so that neither one that drips nor one that falls silent keeps the caller beyond the
        deadline. When the caller stops, the thread closes the connection at the next byte, at the latest at the deadline.
        """
        arrived: queue.SimpleQueue[bytes | Trouble | None] = queue.SimpleQueue()
        stop = threading.Event()

        def work() -> None:
            try:
                with call() as response:
                    check_type(response)
                    for chunk in response.iter_bytes():
                        arrived.put(chunk)
                        if stop.is_set():
                            return
                arrived.put(None)
            except Trouble as trouble:
                arrived.put(trouble)
            except failures() as error:
                arrived.put(trouble_of(error))

        threading.Thread(target=work, name="chathpc-llm", daemon=True).start()
        try:
            while True:
                try:
                    item = arrived.get(timeout=max(until - monotonic(), 0))
                except queue.Empty:
                    raise TimeoutError from None
                if item is None:
                    return
                if isinstance(item, Trouble):
                    if monotonic() >= until:
                        raise TimeoutError
                    raise item
                yield item
        finally:
            stop.set()


def json_bytes(content: object) -> bytes:
    """`content` as the transport would write it."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
