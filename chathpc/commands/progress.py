"""What chathpc is doing, on stderr, for a person who waits."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import TextIO

from chathpc.profile.text import clean

#: Nobody needs to know what takes less than this (seconds).
DELAY = 1.0
_ERASE = "\r\x1b[K"


class Progress:
    """Shows the current stage once the work has taken a second; call it with the name of each stage as it begins.

    Silent if `quiet`; where stderr is no terminal, only notices are written. On a terminal nothing is left behind.
    """

    def __init__(self, *, quiet: bool = False, stream: TextIO | None = None, delay: float = DELAY) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._lock = threading.Lock()
        self._stage = ""
        self._shown = False
        self._timer: threading.Timer | None = None
        told = not quiet and self._stream is not None
        self._logged = told and not self._stream.isatty()
        if told and not self._logged:
            self._timer = threading.Timer(delay, self._begin)
            self._timer.daemon = True

    def __call__(self, stage: str) -> None:
        """`stage` begins."""
        with self._lock:
            self._stage = clean(" ".join(stage.split()))
            if self._shown:
                self._write(f"{_ERASE}{self._stage} ...")

    def notice(self, text: str) -> None:
        """`text` is a stage that a log keeps as well, such as what a request costs."""
        if self._logged:
            self._write(f"chathpc: {clean(' '.join(text.split()))}\n")
        else:
            self(text)

    def __enter__(self) -> Progress:
        if self._timer is not None:
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            if self._shown:
                self._write(_ERASE)
            self._shown = False
            self._timer = None

    def _begin(self) -> None:
        with self._lock:
            if self._timer is not None:
                self._shown = True
                self._write(f"{_ERASE}{self._stage} ...")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._shown = False
