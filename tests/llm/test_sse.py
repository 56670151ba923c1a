from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.llm.answer import LARGEST_EVENT, StreamError, events

EVENTS = [{"a": 1}, {"b": "é\n"}, {"c": [1, 2]}]
STREAM = (
    b": comment\n\ndata: "
    + json.dumps(EVENTS[0]).encode()
    + b"\r\n\r\nevent: x\ndata:"
    + json.dumps(EVENTS[1], ensure_ascii=False).encode()
    + b"\n\ndata: \ndata: "
    + json.dumps(EVENTS[2]).encode()
    + b"\n\ndata: [DONE]\n\ndata: never read\n"
)


def read(*chunks: bytes) -> list[dict[str, object]]:
    return [event for event in events(chunks) if event]


@given(st.lists(st.integers(0, len(STREAM)), max_size=8).map(sorted))
def test_events_are_the_same_wherever_the_bytes_are_cut(cuts: list[int]) -> None:
    bounds = [0, *cuts, len(STREAM)]
    chunks = [STREAM[begin:end] for begin, end in pairwise(bounds)]
    assert read(*chunks) == EVENTS


def test_a_caller_gets_its_turn_for_every_chunk_even_of_comments() -> None:
    assert list(events([b": ping\n", b": ping\n", b"data: [DONE]\n"])) == [{}, {}, {}]


def test_a_stream_without_done_is_one_that_broke_off() -> None:
    with pytest.raises(EOFError):
        read(b'data: {"a": 1}\n\n')
    with pytest.raises(EOFError):
        read()


def test_done_without_a_line_end_is_done() -> None:
    assert read(b'data: {"a": 1}\n\ndata: [DONE]') == [{"a": 1}]


@pytest.mark.parametrize(
    "line", [b"data: {oops\n", b"data: [1]\n", b"data: " + b"[" * 100_000 + b"\n", b"data: \xff\n"]
)
def test_what_is_not_a_json_object_is_refused(line: bytes) -> None:
    with pytest.raises(StreamError):
        read(line)


def test_an_endless_event_is_refused() -> None:
    with pytest.raises(StreamError, match="1048576"):
        read(b"data: ", b"x" * LARGEST_EVENT)


def test_an_error_field_is_an_event() -> None:
    assert read(b'error: {"message": "no"}\ndata: [DONE]\n') == [{"error": {"message": "no"}}]
