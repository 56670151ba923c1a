"""The device, through pycuda.driver: memory, modules, launches, events. Nothing else of chathpc.fix.gpu talks to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chathpc.errors import ChathpcError
from chathpc.fix.gpu.plan import Plan

Bytes = NDArray[np.uint8]
_HINT = "Install the extra on a machine with a GPU, its driver and the CUDA toolkit: pip install 'chathpc[gpu]'"
#: Bytes that are written to empty the second-level cache where its size is not told: larger than any cache today (B200: 126 MB).
_FLUSH = 256 << 20


def driver() -> Any:
    """The module pycuda.driver, initialised. ChathpcError, with what is missing, where there is none or no device."""
    try:
        found = import_module("pycuda.driver")
    except ImportError as error:
        what = (
            "pycuda is not installed" if (error.name or "").startswith("pycuda") else f"pycuda cannot be used: {error}"
        )
        raise ChathpcError(f"Kernels cannot be run here: {what}.", hint=_HINT) from error
    try:
        found.init()
        count = found.Device.count()
    except found.Error as error:
        raise ChathpcError(f"Kernels cannot be run here: {error}.", hint=_HINT) from error
    if count < 1:
        raise ChathpcError("Kernels cannot be run here: there is no device.", hint=_HINT)
    return found


class Device:
    """One device with a context of its own. `api` is pycuda.driver, initialised."""

    def __init__(self, api: Any, number: int = 0) -> None:
        self.api = api
        self._device = api.Device(number)
        self._context = self._device.make_context()
        self._flush: tuple[Any, int] | None = None

    def close(self) -> None:
        """Give the context back."""
        self._flush = None
        self.api.Context.pop()
        self._context.detach()

    @property
    def arch(self) -> str:
        """What nvcc calls it: sm_90."""
        major, minor = self._device.compute_capability()
        return f"sm_{major}{minor}"

    def allocate(self, count: int) -> Any:
        """Memory of so many bytes, which is freed when nothing refers to it."""
        return self.api.mem_alloc(count)

    def upload(self, address: int, content: NDArray[Any]) -> None:
        """Copy an array to an address."""
        self.api.memcpy_htod(address, np.ascontiguousarray(content))

    def download(self, address: int, count: int) -> Bytes:
        """The bytes at an address."""
        content = np.empty(count, np.uint8)
        self.api.memcpy_dtoh(content, address)
        return content

    def fill(self, address: int, byte: int, count: int) -> None:
        """Fill memory with a byte."""
        self.api.memset_d8(address, byte, count)

    def copy(self, target: int, source: int, count: int) -> None:
        """Copy within the device."""
        self.api.memcpy_dtod(target, source, count)

    def load(self, cubin: bytes, symbol: str) -> Any:
        """The function of that symbol, from a module loaded anew: variables of the device have their first values."""
        module = self.api.module_from_buffer(cubin)
        function = module.get_function(symbol)
        return module, function

    def launch(self, loaded: Any, plan: Plan, arguments: Sequence[np.generic]) -> None:
        """Launch once and wait."""
        self._call(loaded, plan, arguments)
        self.api.Context.synchronize()

    def _call(self, loaded: Any, plan: Plan, arguments: Sequence[np.generic]) -> None:
        loaded[1](*arguments, grid=plan.grid, block=plan.block, shared=plan.shared)

    def times(
        self, loaded: Any, plan: Plan, arguments: Sequence[np.generic], restore: Iterable[tuple[int, int, int]],
        poison: Iterable[tuple[int, int, int]], count: int,
    ) -> list[float]:  # fmt: skip
        """Seconds of `count` launches by CUDA events, each behind what restores its arrays and empties the second-level cache.

        `restore` are (target, source, bytes), `poison` (target, byte, bytes).
        """
        target, size = self._flushing()
        events = []
        for _ in range(count):
            for each in restore:
                self.copy(*each)
            for each in poison:
                self.fill(*each)
            self.fill(int(target), 0, size)
            start, end = self.api.Event(), self.api.Event()
            start.record()
            self._call(loaded, plan, arguments)
            end.record()
            events.append((start, end))
        self.api.Context.synchronize()
        return [end.time_since(start) * 1e-3 for start, end in events]

    def _flushing(self) -> tuple[Any, int]:
        if self._flush is None:
            told = getattr(self.api.device_attribute, "L2_CACHE_SIZE", None)
            size = 2 * int(self._device.get_attribute(told) if told is not None else 0) or _FLUSH
            self._flush = self.allocate(size), size
        return self._flush
