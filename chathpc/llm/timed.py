"""Asking a model against the clock: its answers, and how fast it is."""

from __future__ import annotations

from dataclasses import replace
from statistics import median_high
from time import monotonic

from chathpc.errors import BudgetSpentError
from chathpc.llm.backend import Backend, Completion, Request
from chathpc.profile.text import estimate_tokens


class Timed:
    """Asks a model within `limit` seconds in all."""

    def __init__(self, backend: Backend, limit: float) -> None:
        self._backend = backend
        self._started = monotonic()
        self._limit = limit
        self._waits: list[float] = []
        self._reading: list[float] = []
        self._speeds: list[float] = []

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return monotonic() - self._started

    @property
    def left(self) -> float:
        """Seconds of the limit that are left; none where it is negative."""
        return self._limit - self.seconds

    @property
    def first_token(self) -> float | None:
        """Median seconds until an answer began."""
        return median_high(self._waits) if self._waits else None

    @property
    def read_speed(self) -> float | None:
        """Median tokens of a prompt that are read in a second."""
        return median_high(self._reading) if self._reading else None

    @property
    def tokens_per_second(self) -> float | None:
        """Median speed of generation."""
        return median_high(self._speeds) if self._speeds else None

    def load(self) -> Completion | None:
        """Have the weights loaded, which belongs to no answer; null if that took all the time."""
        ready = Request("Answer with one word.", "Answer with the word ready.", max_tokens=4, deadline=self._limit)
        try:
            return self._backend.complete(ready)
        except BudgetSpentError:
            return None

    def ask(self, request: Request) -> Completion | None:
        """The answer; None if there was none in time."""
        times: list[float] = []
        began = monotonic()
        within = replace(request, deadline=min(request.deadline, self.left))
        try:
            answer = self._backend.complete(within, on_token=lambda _piece: times.append(monotonic()))
        except BudgetSpentError:
            return None
        if times:
            self._waits.append(times[0] - began)
            # The constant text is read once and kept; what is read anew is the rest.
            self._reading.append(estimate_tokens(request.user) / max(self._waits[-1], 1e-3))
        if len(times) > 1 and times[-1] > times[0]:
            self._speeds.append(((answer.completion_tokens or len(times)) - 1) / (times[-1] - times[0]))
        return answer
