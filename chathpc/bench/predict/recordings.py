"""Answers kept without their questions, which hold source that is not ours to copy.

As other recordings (chathpc.llm.recorded), so that `replay:FILE` gives the answers again; instead of a question's text there is its hash, the
program, the kernel and the kind of question.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from chathpc.llm.backend import Backend, Completion, Form, OnToken, Request
from chathpc.llm.recorded import Recording, key_of


def keep(file: Path, request: Request, found: Completion, about: tuple[str, str, str]) -> None:
    """Add an answer to `file`, in one write. `about`: the kind of question, the program and the kernel."""
    kind, program, kernel = about
    entry = {
        "key": key_of(request), "model": found.model, "system": hashlib.sha256(request.system.encode()).hexdigest()[:16], "kind": kind,
        "program": program, "kernel": kernel, "answer": found.text, "prompt_tokens": found.prompt_tokens,
        "completion_tokens": found.completion_tokens,
    }  # fmt: skip
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, (json.dumps(entry, ensure_ascii=False) + "\n").encode())
    finally:
        os.close(handle)


class Keeping:
    """A back end whose answers are kept in `file`; what it holds already is not asked again. `about` says what the next questions are about:
    the kind of question, the program and the kernel.
    """

    def __init__(self, backend: Backend, file: Path) -> None:
        self._backend = backend
        self._file = file
        self._recording = Recording(file)
        self.about = ("", "", "")
        self.name, self.label = backend.name, backend.label
        self.form: Form = backend.form

    def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
        """The recorded answer, else that of the back end, which is recorded; see Backend."""
        found = self._recording.find(request)
        if found is None:
            found = self._backend.complete(request, on_token=on_token)
            keep(self._file, request, found, self.about)
        return found
