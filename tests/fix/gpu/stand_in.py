"""A device of numpy: the calls of pycuda.driver that the harness makes, with the arguments that pycuda's documentation allows.

Memory is one array, so that a kernel which writes beside its array hits what lies there. Kernels are Python functions by symbol.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Not 0, lest an offset passes for an address.
BASE = 1 << 32


class Error(Exception):
    """pycuda.driver.Error."""


class DeviceAllocation:
    """pycuda.driver.DeviceAllocation: casts to int."""

    def __init__(self, address: int) -> None:
        self._address = address

    def __int__(self) -> int:
        return self._address


class Api:
    """The module pycuda.driver with one device. `kernels` are called with the memory, the launch and the arguments.

    `cost` gives the microseconds of a launch by symbol; the clock moves by it and by nothing else.
    """

    Error = Error

    class device_attribute:
        CLOCK_RATE, L2_CACHE_SIZE = 13, 38

    def __init__(
        self, kernels: Mapping[str, Callable[..., None]], cost: Callable[[str], float] = lambda symbol: 50.0
    ) -> None:
        self.kernels = kernels
        self.cost = cost
        self.memory: NDArray[np.uint8] = np.zeros(8 << 20, np.uint8)
        self.next = 512
        self.now = 0.0
        self.launches: list[tuple[str, tuple[int, ...], tuple[int, ...], int]] = []
        self.flushed: list[int] = []
        self.broken = False
        self.contexts = 0
        self._numbers = itertools.count(1)
        api = self

        class Device:
            def __init__(self, number: int) -> None:
                assert number == 0

            @staticmethod
            def count() -> int:
                return 1

            def name(self) -> str:
                return "numpy"

            def compute_capability(self) -> tuple[int, int]:
                return 9, 0

            def get_attribute(self, attribute: int) -> int:
                return {13: 1_980_000, 38: 4096}[attribute]

            def make_context(self) -> Any:
                api.contexts += 1
                return Context()

        class Context:
            @staticmethod
            def synchronize() -> None:
                api.check()

            @staticmethod
            def pop() -> None:
                pass

            def detach(self) -> None:
                api.contexts -= 1

        class Event:
            def __init__(self) -> None:
                self.at: float | None = None

            def record(self) -> Event:
                self.at = api.now
                return self

            def time_since(self, other: Event) -> float:
                assert self.at is not None
                assert other.at is not None
                return (self.at - other.at) * 1e3  # milliseconds

        self.Device, self.Context, self.Event = Device, Context, Event

    def check(self) -> None:
        if self.broken:
            raise Error("cuCtxSynchronize failed: an illegal memory access was encountered")

    def init(self, flags: int = 0) -> None:
        pass

    def get_driver_version(self) -> int:
        return 13000

    def mem_alloc(self, count: int) -> DeviceAllocation:
        address = self.next
        self.next += (count + 255) // 256 * 256
        if self.next > len(self.memory):
            self.memory = np.concatenate((self.memory, np.zeros(self.next, np.uint8)))
        return DeviceAllocation(BASE + address)

    def _span(self, address: int | DeviceAllocation, count: int) -> NDArray[np.uint8]:
        self.check()
        start = int(address) - BASE
        assert 0 <= start <= start + count <= self.next, "outside of what was allocated"
        return self.memory[start : start + count]

    def memcpy_htod(self, dest: int, src: NDArray[Any]) -> None:
        content = np.frombuffer(src, np.uint8)
        self._span(dest, len(content))[:] = content

    def memcpy_dtoh(self, dest: NDArray[Any], src: int) -> None:
        view = dest.view(np.uint8)
        view[:] = self._span(src, len(view))

    def memcpy_dtod(self, dest: int, src: int, size: int) -> None:
        self._span(dest, size)[:] = self._span(src, size).copy()

    def memset_d8(self, dest: int, data: int, count: int) -> None:
        assert 0 <= data <= 255
        self._span(dest, count)[:] = data
        self.flushed.append(count)

    def module_from_buffer(self, buffer: bytes) -> Any:
        assert isinstance(buffer, bytes)
        return Module(self)

    def call(
        self, symbol: str, state: dict[str, Any], arguments: tuple[Any, ...], grid: Any, block: Any, shared: int
    ) -> None:
        for one in arguments:
            assert isinstance(one, (np.number, DeviceAllocation)), "pycuda takes sized numbers only"
        assert isinstance(block, tuple)
        assert len(block) == 3
        assert isinstance(grid, tuple)
        assert len(grid) <= 3
        self.launches.append((symbol, grid, block, shared))
        self.now += self.cost(symbol) * 1e-6
        threads = int(np.prod(grid)) * int(np.prod(block))
        self.kernels[symbol](Launch(self, threads, state, next(self._numbers)), *arguments)


class Module:
    """A module; what its kernels keep lives as long."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.state: dict[str, Any] = {}

    def get_function(self, symbol: str) -> Callable[..., None]:
        if symbol not in self.api.kernels:
            raise Error("cuModuleGetFunction failed: named symbol not found")

        def function(*arguments: Any, block: Any, grid: Any = (1, 1), stream: Any = None, shared: int = 0) -> None:
            self.api.call(symbol, self.state, arguments, grid, block, shared)

        return function


class Launch:
    """What a stand-in of a kernel sees."""

    def __init__(self, api: Api, threads: int, state: dict[str, Any], number: int) -> None:
        self.api, self.threads, self.state, self.number = api, threads, state, number

    def at(self, address: np.uintp, dtype: str, first: int, last: int) -> NDArray[Any]:
        """Elements first to last of what lies at an address; before 0 and behind the end is what is beside it."""
        width = np.dtype(dtype).itemsize
        start = int(address) - BASE + first * width
        return self.api.memory[start : start + (last - first) * width].view(dtype)

    def fault(self) -> None:
        """What an access to memory that is not there does."""
        self.api.broken = True
