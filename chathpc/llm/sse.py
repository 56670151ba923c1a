"""Server-sent events, as far as OpenAI-compatible servers use them (WHATWG HTML, section 9.2): data lines with JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

#: No event of a token stream comes near; a server that sends more is broken or hostile (bytes).
LARGEST_EVENT = 1 << 20


class StreamError(Exception):
    """The bytes are not a stream of JSON events."""


class EndOfStream(Exception):
    """The server said [DONE]."""


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
            try:
                event = _event(line)
            except EndOfStream:
                return
            if event is not None:
                yield event
    try:
        event = _event(rest)
    except EndOfStream:
        return
    if event is not None:
        yield event
    raise EOFError("the stream ended before it was done")


def _event(line: bytes) -> dict[str, object] | None:
    name, _, value = line.rstrip(b"\r").partition(b":")
    if name not in (b"data", b"error"):  # llama.cpp's older servers report an error as a field of that name
        return None
    value = value.strip()
    if value == b"[DONE]":
        raise EndOfStream
    if not value:
        return None
    try:
        event = json.loads(value)
    except (ValueError, RecursionError):
        raise StreamError("an event that is not JSON") from None
    if not isinstance(event, dict):
        raise StreamError("an event that is not a JSON object")
    return {"error": event} if name == b"error" and "error" not in event else event
