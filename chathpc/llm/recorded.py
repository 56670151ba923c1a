"""Answers of a model kept in a file with the questions that they answer, and given again: `record:FILE:MODEL`, `replay:FILE`.

A recording is JSON, one object a line: {"system": id, "text": …} for each system text, and for each answer {"key", "model", "system": id,
"user", "answer", "prompt_tokens", "completion_tokens"}, and "calls" where it called tools. Questions and answers stand there with their
names, whatever placeholders a server was sent: what may stay as it is changes with each word that chathpc learns. The key is the SHA-256 of
the messages; a question that has changed since has no answer, and is told so.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from chathpc.errors import ModelUnavailableError
from chathpc.llm.backend import Completion, Form, OnToken, Request, ToolCall

RENEW = "Renew the recording: chathpc bench diagnosis SET --llm openai:MODEL --record FILE"


def key_of(request: Request) -> str:
    """What tells a question from all others: the messages, the tools and the schema."""
    asked = [request.messages(), list(request.tools), request.json_schema]
    return hashlib.sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class Recording:
    """A file of answers; one that is not there yet is empty."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._answers: dict[str, dict[str, Any]] = {}
        try:
            for line in file.read_text("utf-8").splitlines() if file.exists() else ():
                entry = json.loads(line)
                if entry["system"] and "key" in entry:
                    self._answers[entry["key"]] = entry
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelUnavailableError(f"{file}: not a recording ({type(error).__name__}).", hint=RENEW) from None

    @property
    def models(self) -> list[str]:
        """The models that answered."""
        return sorted({str(entry["model"]) for entry in self._answers.values()})

    def find(self, request: Request) -> Completion | None:
        """The answer to `request`; None if there is none."""
        entry = self._answers.get(key_of(request))
        if entry is None:
            return None
        tokens = entry["prompt_tokens"], entry["completion_tokens"]
        calls = tuple(ToolCall(*map(str, call)) for call in entry.get("calls", ()))
        return Completion(entry["answer"], str(entry["model"]), *tokens, "stop", 0.0, calls)

    def keep(self, request: Request, found: Completion) -> None:
        """Add an answer to the file, in one write: several processes may record."""
        system = hashlib.sha256(request.system.encode()).hexdigest()[:16]
        entry: dict[str, object] = {
            "key": key_of(request),
            "model": found.model,
            "system": system,
            "user": "\n\n".join(str(message["content"]) for message in request.messages()[1:]),
            "answer": found.text,
            "prompt_tokens": found.prompt_tokens,
            "completion_tokens": found.completion_tokens,
        }
        if found.tool_calls:
            entry["calls"] = [[call.id, call.name, call.arguments] for call in found.tool_calls]
        lines = [json.dumps(entry, ensure_ascii=False)]
        text = json.dumps({"system": system, "text": request.system}, ensure_ascii=False)
        written = self.file.read_text("utf-8") if self.file.exists() else ""  # by other processes as well
        if text not in written:
            lines.insert(0, text)
        handle = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, ("\n".join(lines) + "\n").encode())
        finally:
            os.close(handle)
        self._answers[str(entry["key"])] = entry


class ReplayBackend:
    """Gives the answers of a recording."""

    form: Form = "structured"
    calls_tools = True

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    @property
    def name(self) -> str:
        """`replay:` and the file."""
        return f"replay:{self._recording.file}"

    @property
    def label(self) -> str:
        """The models that answered, and that these are recordings."""
        return f"{', '.join(self._recording.models)} (recorded)"

    def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
        """The recorded answer to `request`; ModelUnavailableError if there is none."""
        found = self._recording.find(request)
        if found is None:
            file = self._recording.file
            raise ModelUnavailableError(f"{file} has no answer to this question, which has changed since.", hint=RENEW)
        if on_token is not None and found.text:
            on_token(found.text)
        return found
