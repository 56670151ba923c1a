"""What a server sends of an answer, piece by piece: server-sent events (WHATWG HTML, section 9.2) with JSON in their data lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from chathpc.llm.backend import FinishReason
from chathpc.profile.text import clean

#: Tools that a model may ask for in one answer, and characters of a call's id and name.
_MOST_CALLS = 16
_LONGEST_NAME = 200


@dataclass(slots=True)
class Answer:
    """What has arrived of an answer."""

    model: str = ""
    pieces: int = 0
    characters: int = 0
    text: list[str] = field(default_factory=list)
    finish: FinishReason | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    calls: dict[int, Call] = field(default_factory=dict)


@dataclass(slots=True)
class Call:
    """What has arrived of the call of a tool."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


def events_of(chunks: Iterator[bytes]) -> Iterator[dict[str, object]]:
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


def read(event: dict[str, object], answer: Answer) -> str:
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


def _read_calls(parts: object, answer: Answer) -> bool:
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
        call = answer.calls.setdefault(index, Call())
        call.id = call.id or str(part.get("id") or "")[:_LONGEST_NAME]
        call.name = call.name or str(function.get("name") or "")[:_LONGEST_NAME]
        written = function.get("arguments")
        if isinstance(written, str):
            call.arguments.append(written)
            answer.characters += len(written)
    return bool(parts)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


#: No event of a token stream comes near; a server that sends more is broken or hostile (bytes).
LARGEST_EVENT = 1 << 20
_DONE = b"[DONE]"


class StreamError(Exception):
    """The bytes are not a stream of JSON events."""


def events(chunks: Iterable[bytes]) -> Iterator[dict[str, object]]:
    """The JSON objects of an event stream, from bytes cut anywhere.

    Returns after `[DONE]`. Raises StreamError for what is not JSON, not an object, or endless, and EOFError if the bytes end
    without `[DONE]`. An empty mapping is yielded for every chunk without a complete event, so that a caller that watches a
    clock gets its turn even if the server sends nothing but comments.
    """
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).replace(b"\r\n", b"\n").split(b"\n")
        if len(rest) > LARGEST_EVENT:
            raise StreamError(f"an event of more than {LARGEST_EVENT} bytes")
        yield {}
        for line in lines:
            name, value = _field(line)
            if value == _DONE:
                return
            if value:
                yield _event(name, value)
    name, value = _field(rest)
    if value == _DONE:
        return
    if value:
        yield _event(name, value)
    raise EOFError("the stream ended before it was done")


def _field(line: bytes) -> tuple[bytes, bytes]:
    """The name and the value of a field that tells something; llama.cpp's older servers report an error as a field of that name."""
    name, _, value = line.partition(b":")
    return name, value.strip() if name in (b"data", b"error") else b""


def _event(name: bytes, value: bytes) -> dict[str, object]:
    try:
        event = json.loads(value)
    except (ValueError, RecursionError):
        raise StreamError("an event that is not JSON") from None
    if not isinstance(event, dict):
        raise StreamError("an event that is not a JSON object")
    return {"error": event} if name == b"error" and "error" not in event else event
