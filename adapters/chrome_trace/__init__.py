"""Chrome trace events: what the PyTorch profiler (Kineto) writes, and traces of anything else in this form."""

from __future__ import annotations

import json
import re

from chathpc.adapters.adapter import Adapter, reader
from chathpc.adapters.glance import Glance

#: Keys with which an object begins that holds events, also where these come later than the first look reaches.
_OBJECT = re.compile(
    r'\{\s*"(?:traceEvents"\s*:\s*\[|(?:schemaVersion|deviceProperties|distributedInfo|displayTimeUnit|traceName'
    r'|baseTimeNanoseconds|otherData|systemTraceEvents|stackFrames|samples|controllerTraceDataKey|metadata)"\s*:)'
)
_EVENTS = re.compile(r'"traceEvents"\s*:\s*\[')
_KINETO = re.compile(r'"(?:deviceProperties|distributedInfo|traceName|baseTimeNanoseconds)"\s*:')


def recognises(glance: Glance) -> bool:
    """True for a JSON object with trace events, and for an array of events."""
    if glance.content[:256].lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n")[:1] not in (b"{", b"["):
        return False
    text = glance.text.lstrip("\ufeff \t\r\n")
    if text.startswith("["):
        return _is_event(text[1:].lstrip())
    return _EVENTS.search(text) is not None or (_OBJECT.match(text) is not None and _KINETO.search(text) is not None)


def _is_event(text: str) -> bool:
    """True if `text` begins with an object that has a phase."""
    try:
        first, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and isinstance(first.get("ph"), str)


ADAPTER = Adapter(
    name="chrome-trace",
    reads="traces of the PyTorch profiler and other Chrome traces (.json, .json.gz)",
    recognises=recognises,
    read=reader("chathpc.adapters.chrome_trace.trace"),
    order=60,
)
