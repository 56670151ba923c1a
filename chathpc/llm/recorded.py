"""Answers of a model kept in a file with the questions that they answer, and given again: `record:FILE:MODEL`, `replay:FILE`.

A recording is JSON, one object a line: {"system": id, "text": …} for each system text, and for each answer {"key", "model", "system": id,
"user", "answer", "prompt_tokens", "completion_tokens"}. The key is the SHA-256 of the messages as they left; a question that has changed
since has none, and is told so.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from chathpc.errors import ModelUnavailableError
from chathpc.llm.backend import Completion, Form, OnToken, Request
from chathpc.llm.hosted import HostedBackend

RENEW = "Renew the recording: chathpc bench diagnosis SET --llm openai:MODEL --record FILE"


def key_of(request: Request) -> str:
    """What tells a question from all others: the messages, the tools and the schema."""
    asked = [request.messages(), list(request.tools), request.json_schema]
    return hashlib.sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class RecordingBackend:
    """Passes questions on to a server, and adds each with its answer to a file, unless the file has it already."""

    def __init__(self, backend: HostedBackend, file: Path) -> None:
        self._backend, self._file = backend, file
        self._kept = ReplayBackend(file) if file.exists() else None

    @property
    def name(self) -> str:
        """That of the server's model."""
        return self._backend.name

    @property
    def label(self) -> str:
        """That of the server's model."""
        return self._backend.label

    @property
    def form(self) -> Form:
        """That of the server's model."""
        return self._backend.form

    def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
        """Answer `request` from the file or from the server; see Backend."""
        if self._kept is not None and self._kept.knows(request):
            return self._kept.complete(request, on_token=on_token)
        found = self._backend.complete(request, on_token=on_token)
        system = hashlib.sha256(request.system.encode()).hexdigest()[:16]
        entry = {
            "key": key_of(request),
            "model": found.model,
            "system": system,
            "user": "\n\n".join(str(message["content"]) for message in request.messages()[1:]),
            "answer": found.text,
            "prompt_tokens": found.prompt_tokens,
            "completion_tokens": found.completion_tokens,
        }
        lines = [json.dumps(entry, ensure_ascii=False)]
        if self._kept is None or system not in self._kept.systems:
            lines.insert(0, json.dumps({"system": system, "text": request.system}, ensure_ascii=False))
        written = ("\n".join(lines) + "\n").encode()
        handle = os.open(
            self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644
        )  # one write: several processes may record
        try:
            os.write(handle, written)
        finally:
            os.close(handle)
        self._kept = ReplayBackend(self._file)
        return found


class ReplayBackend:
    """Gives the answers of a recording."""

    form: Form = "structured"

    def __init__(self, file: Path) -> None:
        self._file = file
        self._answers: dict[str, dict[str, Any]] = {}
        self.systems: set[str] = set()
        try:
            for line in file.read_text("utf-8").splitlines():
                entry = json.loads(line)
                self.systems.add(entry["system"])
                if "key" in entry:
                    self._answers[entry["key"]] = entry
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelUnavailableError(f"{file}: it is no recording ({type(error).__name__}).", hint=RENEW) from None

    @property
    def name(self) -> str:
        """`replay:` and the file."""
        return f"replay:{self._file}"

    @property
    def label(self) -> str:
        """The models that answered, and that these are recordings."""
        models = sorted({str(entry["model"]) for entry in self._answers.values()})
        return f"{', '.join(models)} (recorded)"

    def knows(self, request: Request) -> bool:
        """Whether there is an answer to `request`."""
        return key_of(request) in self._answers

    def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
        """The recorded answer to `request`; ModelUnavailableError if there is none."""
        entry = self._answers.get(key_of(request))
        if entry is None:
            raise ModelUnavailableError(
                f"{self._file} has no answer to this question, which has changed since.", hint=RENEW
            )
        if on_token is not None:
            on_token(entry["answer"])
        return Completion(
            entry["answer"], str(entry["model"]), entry["prompt_tokens"], entry["completion_tokens"], "stop", 0.0
        )
