"""A web server on the loopback interface that plays a script, one behaviour a request, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Behaviour = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Seen:
    path: str
    headers: dict[str, str]
    body: dict[str, object]
    raw: bytes = b""


@dataclass
class FaultServer:
    url: str
    script: list[Behaviour]
    models: Behaviour
    seen: list[Seen] = field(default_factory=list)
    closed: threading.Event = field(default_factory=threading.Event)  # a client hung up on an endless answer


def event(data: object) -> bytes:
    return b"data: " + (data if isinstance(data, bytes) else json.dumps(data).encode()) + b"\n\n"


def piece(text: str | None = None, finish: str | None = None) -> bytes:
    delta = {} if text is None else {"content": text}
    return event({"model": "served", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


USAGE = event({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 2}})
DONE = event(b"[DONE]")
WELCOME = [piece("Good"), piece(" day."), piece(finish="stop"), USAGE, DONE]


def send(handler: BaseHTTPRequestHandler, status: int, data: bytes, kind: str, **headers: str) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


def stream(*chunks: bytes, kind: str = "text/event-stream") -> Behaviour:
    """Send the chunks, each at once, and close the connection."""

    def play(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.end_headers()
        for chunk in chunks:
            handler.wfile.write(chunk)
            handler.wfile.flush()

    return play


def whole(data: object, kind: str = "application/json") -> Behaviour:
    return lambda handler: send(handler, 200, data if isinstance(data, bytes) else json.dumps(data).encode(), kind)


def fail(status: int, message: str = "no", *, retry_after: str | None = None, **error: str) -> Behaviour:
    data = json.dumps({"error": {"message": message, **error}}).encode()
    headers = {} if retry_after is None else {"Retry_After": retry_after}
    return lambda handler: send(handler, status, data, "application/json", **headers)


def redirect(where: str) -> Behaviour:
    return lambda handler: send(handler, 307, b"", "text/plain", Location=where)


@contextmanager
def fault_server(*script: Behaviour, models: Behaviour | None = None) -> Iterator[FaultServer]:
    """Serve `script` in order, the last behaviour for ever; `models` answers GET, by default with status 404."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._note({})
            state.models(self)

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            raw = self.rfile.read(length)
            self._note(json.loads(raw), raw)
            behaviour = state.script.pop(0) if len(state.script) > 1 else state.script[0]
            try:
                behaviour(self)
            except OSError:
                state.closed.set()

        def _note(self, body: dict[str, object], raw: bytes = b"") -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            state.seen.append(Seen(self.path, headers, body, raw))

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state = FaultServer(
        f"http://127.0.0.1:{server.server_address[1]}/v1", list(script), models or fail(404), closed=threading.Event()
    )
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
