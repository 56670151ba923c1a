"""Builds and runs of which nobody takes the time go on beside each other, on cores that would be idle.

Each has a folder of its own, which the sandbox shows as the one place that every run finds itself at. What is timed or profiled is alone.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from chathpc.sandbox import Completed

T = TypeVar("T")


class Lanes:
    """How many there are, and which of them the running thread has."""

    def __init__(self, *, several: bool) -> None:
        """`several` is whether the sandbox can show a folder at another place, and nothing but cores is shared."""
        self._several = several
        self._here = threading.local()
        self._given_up = threading.Event()
        self._runs = 1

    @property
    def number(self) -> int:
        """The lane of this thread; 0 where nothing goes on beside it."""
        return getattr(self._here, "number", 0)

    def given_up(self) -> bool:
        """Whether nobody waits for what runs in this thread any more."""
        return self.number > 0 and self._given_up.is_set()

    def learn(self, alone: Completed) -> None:
        """See from a run of the original how many have room beside each other, by cores and by memory."""
        busy = max(1.0, alone.cpu_seconds / max(alone.seconds, 1e-3))
        room = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
        self._runs = max(1, min(int(cores() / busy), room // max(alone.peak, 1)))

    def runs(self, tasks: Sequence[Callable[[], T]]) -> list[T]:
        """What `tasks` return, each of which runs the program as often as it likes; the first error of any, when all have ended."""
        return self._beside(tasks, self._runs)

    @property
    def width(self) -> int:
        """How many runs have room beside each other."""
        return self._runs if self._several else 1

    def builds(self, tasks: Sequence[Callable[[], T]]) -> list[T]:
        """What `tasks` return, each of which builds."""
        return self._beside(tasks, cores())

    def _beside(self, tasks: Sequence[Callable[[], T]], most: int) -> list[T]:
        width = min(len(tasks), most) if self._several and not self.number else 1
        if width <= 1:
            return [task() for task in tasks]
        free: SimpleQueue[int] = SimpleQueue()
        for number in range(1, width + 1):
            free.put(number)

        def one(task: Callable[[], T]) -> T:
            self._here.number = free.get()
            try:
                return task()
            finally:
                free.put(self._here.number)
                self._here.number = 0

        with ThreadPoolExecutor(width) as pool:
            waiting = [pool.submit(one, task) for task in tasks]
            try:
                return [each.result() for each in waiting]
            except BaseException:
                self._given_up.set()
                pool.shutdown(wait=True, cancel_futures=True)
                self._given_up.clear()
                raise


def cores() -> int:
    """Cores that builds and runs may use."""
    return len(os.sched_getaffinity(0))
