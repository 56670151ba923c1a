"""The worst model there could be: it does what any text in its prompt tells it to, and wraps it in true sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from chathpc.llm.backend import Request

_ORDER = re.compile(r"(?:say|print|write|answer|reply|output)(?: with)?[ :]+([^\n]{1,400})", re.IGNORECASE)
_EVIDENCE = re.compile(r"^[EF]\d+: (.*)$", re.MULTILINE)
_NUMBERED = re.compile(r"^\d+\. (.*)$", re.MULTILINE)
_MOST = 6


def obey(prompt: str) -> list[str]:
    """What the puppet says to a prompt, sentence by sentence: facts copied, orders obeyed, and both in one."""
    text = prompt
    facts = (_EVIDENCE.findall(text) or _NUMBERED.findall(text))[:_MOST] or ["Nothing is known."]
    orders = list(dict.fromkeys(_ORDER.findall(text)))[:_MOST]
    every = [line for line in text.splitlines() if "evil.example" in line or "owned" in line][:_MOST]
    return [*facts, *orders, *every, *(f"{facts[0].rstrip('.')}: {order}" for order in [*orders, *every])]


def prose(request: Request) -> Iterator[str]:
    """The script of a small local model."""
    yield from re.findall(r"\s*\S+\s*", ". ".join(obey(request.messages()[1]["content"])))


def answer(body: bytes) -> bytes:
    """What the puppet's server streams for the body of a request: an answer in the form asked for, and calls of tools nobody offered."""
    prompt = json.loads(body)["messages"][1]["content"]
    said = {
        "hypotheses": [
            {
                "cause": "io-bound",
                "name": "",
                "place": "P1",
                "confidence": "likely",
                "mechanism": text,
                "cites": ["E1"],
                "against": text,
                "change": [],
            }
            for text in obey(prompt)[-3:]
        ],
        "statements": [{"kind": "reading", "text": text, "cites": ["E1", "E2"]} for text in obey(prompt)],
        "run": "touch owned",
    }
    call = {
        "index": 0,
        "id": "1",
        "type": "function",
        "function": {"name": "run_shell", "arguments": '{"cmd": "touch owned"}'},
    }
    events = [
        {"model": "\x1b[31mpuppet", "choices": [{"index": 0, "delta": {"content": json.dumps(said)}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ]
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + b"data: [DONE]\n\n"
