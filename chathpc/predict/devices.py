"""Devices that a kernel's time is predicted for: the catalogue devices.yaml, a file of the user's, the machine at hand."""

from __future__ import annotations

import os
import re
import timeit
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import yaml

from chathpc.errors import UsageError
from chathpc.packaged import FastLoader, table

__all__ = ["CLASSES", "Device", "device", "devices", "known_as", "own_processor", "told"]

#: Classes of operations that a device has a rate for.
CLASSES = ("fp16", "fp32", "fp64", "integer", "special", "conversion", "tensor")
#: Those where one instruction may multiply and add; integers because the published labels count them so (IMAD).
_FUSED = frozenset({"fp16", "fp32", "fp64", "integer", "tensor"})


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU, or one socket of processors, in SI units: Hz, bytes, bytes a second.

    `units`: multiprocessors, compute units or cores. `rates`: operations of single threads that a unit begins in a cycle, by class.
    `clock`: what peaks and times are computed with; `boost` and `base`: the highest, and what a profiler locks it to.
    `load_store`: threads that units for it serve in a cycle. `l2_rate`: bytes a cycle of the whole L2 cache.
    `launch`: seconds that an empty kernel takes on the device.
    """

    key: str
    name: str
    architecture: str
    units: int
    clock: float
    bandwidth: float
    rates: Mapping[str, float]
    source: str
    aliases: tuple[str, ...] = ()
    base: float = 0.0
    boost: float = 0.0
    memory: float = 0.0
    bus: int = 0
    l2: float = 0.0
    l2_rate: float = 0.0
    last: float = 0.0
    l1: float = 0.0
    shared: float = 0.0
    shared_block: float = 0.0
    registers: int = 65536
    warp: int = 32
    max_warps: int = 1
    max_blocks: int = 1
    schedulers: int = 4
    load_store: int = 32
    launch: float = 2e-6

    @property
    def usual(self) -> Device:
        """The device at the clock that programs run at: the catalogue has that of the labels' device as a profiler locks it."""
        return self.at(self.boost) if self.clock == self.base and self.boost else self

    @property
    def vendor(self) -> str:
        """The maker as its products' names begin: NVIDIA, AMD, Intel, …; empty for others."""
        first = self.name.split(" ")[0]
        return first if first in {"NVIDIA", "AMD", "Intel", "AWS", "Fujitsu"} else ""

    @property
    def gpu(self) -> bool:
        """It has blocks, warps and shared memory."""
        return self.shared > 0

    @property
    def max_threads(self) -> int:
        """Threads that a unit holds at once."""
        return self.max_warps * self.warp

    @property
    def memory_clock(self) -> float:
        """Hz of the memory such that two transfers a cycle over the bus give the bandwidth, as CUDA's attributes tell it."""
        return self.bandwidth / (2 * self.bus / 8) if self.bus else 0.0

    def rate(self, kind: str) -> float:
        """Operations of single threads that the device begins in a second; 0 if it has no unit for the class."""
        return self.rates.get(kind, 0.0) * self.units * self.clock

    def peak(self, kind: str) -> float:
        """Operations per second of a class where every one multiplies and adds: two of each (special and conversion: one)."""
        return self.rate(kind) * (2 if kind in _FUSED else 1)

    @property
    def peaks(self) -> Mapping[str, float]:
        """Peaks of all classes that the device has units for."""
        return {kind: self.peak(kind) for kind in self.rates if self.peak(kind)}

    def balance(self, kind: str) -> float:
        """Operations of a class per byte of device memory where its roof meets that of the memory."""
        return self.peak(kind) / self.bandwidth

    def at(self, clock: float) -> Device:
        """The same device at another clock, in Hz."""
        return replace(self, clock=clock)


#: How a number stands in files, and in SI: a field's factor.
_UNITS: Mapping[str, float] = MappingProxyType(
    {
        **dict.fromkeys(("clock", "base", "boost", "bandwidth"), 1e9),
        "memory": 2.0**30,
        **dict.fromkeys(("l2", "last"), 2.0**20),
        **dict.fromkeys(("l1", "shared", "shared_block"), 1024.0),
        **dict.fromkeys(("l2_rate", "launch"), 1.0),
    }
)
_WHOLE = ("units", "bus", "registers", "warp", "max_warps", "max_blocks", "schedulers", "load_store")
_NEEDED = ("units", "clock", "bandwidth", "rates")
#: Bytes a cycle of L2 for each multiprocessor where the whole cache's rate is not told: between those of V100 (26) and A100 (47).
_L2_PER_UNIT = 32.0


def device(name: str) -> Device:
    """The device of a name or alias of the catalogue, of a YAML file (`like: NAME` and what differs, or all fields), or "own":
    this machine's first GPU. UsageError with near names where there is none, or with what is wrong in the file.
    """
    if name == "own":
        return _own_gpu()
    if name.endswith((".yaml", ".yml")):
        return _from_file(Path(name))
    known, wanted = _names(), _folded(name)
    if (found := known_as(name)) is not None:
        return found
    near = list(dict.fromkeys(known[each].key for each in get_close_matches(wanted, known, n=8, cutoff=0.5)))[:4]
    near += [each.key for each in devices() if wanted and wanted in _folded(each.name) and each.key not in near]
    hint = f"Near it: {', '.join(near[:6])}. " if near else ""
    raise UsageError(
        f"No device is known as {name!r}.",
        hint=f"{hint}Known: {', '.join(each.key for each in devices())}; or a YAML file: docs/predict.md.",
    )


def known_as(name: str) -> Device | None:
    """The device of the catalogue that has this name or alias."""
    return _names().get(_folded(name))


@cache
def devices() -> tuple[Device, ...]:
    """All devices of the catalogue, in its order."""
    return tuple(_made(key, values, "devices.yaml") for key, values in _catalogue()["devices"].items())


def _folded(name: str) -> str:
    kept = "".join(letter for letter in name.casefold() if letter.isalnum())
    for maker in ("nvidia", "geforce", "tesla", "amd", "instinct", "intel"):
        kept = kept.replace(maker, "")
    return kept


@cache
def _catalogue() -> Mapping[str, Any]:
    found: Mapping[str, Any] = table("chathpc.predict", "devices.yaml")
    return found


@cache
def _names() -> Mapping[str, Device]:
    return {_folded(name): each for each in devices() for name in (each.name, *each.aliases, each.key)}


def _from_file(path: Path) -> Device:
    try:
        values = yaml.load(path.read_text("utf-8"), Loader=FastLoader)  # noqa: S506, TID251 (one of the two safe loaders)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"The device {path} cannot be read: {' '.join(str(error).split())[:200]}") from error
    if not isinstance(values, dict):
        raise UsageError(f"The device {path} is not a table of names and values.", hint="docs/predict.md shows one.")
    values = {str(name): value for name, value in values.items()}
    like = values.pop("like", None)
    if like is not None:
        base = _catalogue()["devices"].get(device(str(like)).key, {})
        values = {**base, "aliases": [], "source": str(path), **values}
    return _made(path.stem, values, str(path))


def _made(key: str, values: Mapping[str, Any], where: str) -> Device:
    data = _catalogue()
    architecture = str(values.get("architecture", ""))
    shared = data["architectures"].get(architecture, {})
    merged = {**shared, **values}
    if missing := [name for name in _NEEDED if name not in merged]:
        raise UsageError(
            f"The device {key} in {where} lacks {', '.join(missing)}.",
            hint="Give them, or an architecture of the catalogue, or like: NAME.",
        )
    known = {"name", "architecture", "aliases", "source", "rates", *_WHOLE, *_UNITS, *CLASSES}
    if unknown := [name for name in merged if name not in known]:
        raise UsageError(f"The device {key} in {where} has fields that are not known: {', '.join(unknown)}.")
    rates = merged["rates"]
    if not isinstance(rates, dict) or (unknown := [kind for kind in rates if kind not in CLASSES]):
        raise UsageError(f"The rates of the device {key} in {where} are not a table of {', '.join(CLASSES)}.")
    rates = rates | {kind: merged[kind] for kind in CLASSES if kind in merged}
    numbers = {name: _number(merged[name], key, name, where) for name in (*_UNITS, *_WHOLE) if name in merged}
    si: dict[str, Any] = {name: value * _UNITS.get(name, 1.0) for name, value in numbers.items()}
    si |= {name: int(numbers[name]) for name in _WHOLE if name in numbers}
    si.setdefault("l2_rate", _L2_PER_UNIT * si["units"])
    sources = [str(each) for each in dict.fromkeys((values.get("source"), shared.get("source"))) if each]
    return Device(
        key=key, name=str(merged.get("name", key)), architecture=architecture,
        aliases=tuple(str(each) for each in merged.get("aliases", ())),
        rates=MappingProxyType({kind: _number(rate, key, kind, where, zero=True) for kind, rate in rates.items()}),
        source="; ".join(str(data["documents"].get(each, each)) for each in sources), **si,
    )  # fmt: skip


def _number(value: Any, key: str, name: str, where: str, zero: bool = False) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if number and (value > 0 or (zero and value == 0)):
        return float(value)
    raise UsageError(f"{name} of the device {key} in {where} is not a positive number: {str(value)[:40]!r}")


def _own_gpu() -> Device:
    """This machine's first GPU, as pycuda's driver tells it. UsageError where there is none."""
    try:
        driver = import_module("pycuda.driver")
        driver.init()
        found = driver.Device(0)
    except Exception as error:
        # pycuda's own errors are only known once its module was imported.
        if not isinstance(error, ImportError) and not type(error).__module__.startswith("pycuda"):
            raise
        raise UsageError("pycuda finds no GPU on this machine.", hint="Name one: --device rtx3080") from error
    asked = driver.device_attribute
    major, minor = found.compute_capability()
    return told(
        str(found.name()), f"{major}.{minor}", found.get_attribute(asked.MULTIPROCESSOR_COUNT), found.get_attribute(asked.CLOCK_RATE) * 1e3,
        2 * found.get_attribute(asked.MEMORY_CLOCK_RATE) * 1e3 * found.get_attribute(asked.GLOBAL_MEMORY_BUS_WIDTH) / 8,
        found.total_memory(), found.get_attribute(asked.L2_CACHE_SIZE), key="own",
    )  # fmt: skip


def told(
    name: str, capability: str, units: int, clock: float, bandwidth: float, memory: float, l2: float = 0.0, key: str = ""
) -> Device:  # fmt: skip
    """A GPU as its driver tells it, in SI units; what its architecture fixes is the catalogue's. UsageError for an architecture that
    the catalogue has not.
    """
    values: dict[str, object] = {
        "name": name, "architecture": f"sm_{capability.replace('.', '')}", "units": units, "clock": clock / 1e9,
        "bandwidth": bandwidth / 1e9, "source": "attributes that its driver tells",
    } | {field: value / 2**power for field, value, power in (("memory", memory, 30), ("l2", l2, 20)) if value}  # fmt: skip
    for each in devices():
        if _folded(each.name) == _folded(name):
            values["l2_rate"] = each.l2_rate
    return _made(key or _folded(name), values, "what the driver tells")


def own_processor(repeats: int = 5) -> Device:
    """The cores at hand, measured within seconds: bandwidth by a triad, peaks by matrix products of 32 and 64 bits, both with as many threads
    as numpy's BLAS takes.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # Three arrays of 64 MiB: larger than the caches of most processors together.
    a, b, c = (np.full(1 << 23, value) for value in (0.0, 1.0, 2.0))

    def fastest(action: Callable[[], object]) -> float:
        return max(min(timeit.repeat(action, number=1, repeat=repeats + 1)), 1e-9)

    def triad() -> None:
        np.multiply(c, 3.0, out=a)
        np.add(a, b, out=a)

    # numpy's triad is two passes: c read, a written (and read before: write allocate); a and b read, a written.
    bandwidth = 6 * a.nbytes / fastest(triad)
    # Where the system does not tell, rates take up what the clock is wrong by, and peaks stay as measured.
    clock = (float(_cpuinfo("cpu MHz") or 0) or 2500.0) * 1e6
    flops = {}
    for kind, precision in (("fp32", np.float32), ("fp64", np.float64)):
        size = 768
        left, right = (np.ones((size, size), precision) for _ in range(2))
        out = np.empty_like(left)
        flops[kind] = 2 * size**3 / fastest(partial(np.matmul, left, right, out=out))
    per = {kind: value / 2 / cores / clock for kind, value in flops.items()}
    values = {
        "name": _cpuinfo("model name") or "This machine's processor", "architecture": "measured", "units": cores, "clock": clock / 1e9,
        "bandwidth": bandwidth / 1e9,
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30,
        # Integers have as many lanes as numbers of 32 bits; divisions and roots give a result in several cycles.
        "rates": {**per, "integer": per["fp32"], "special": 2.0, "conversion": per["fp64"]},
        "source": "measured: numpy's triad and matrix products",
    }  # fmt: skip
    return _made("own", values, "what was measured")


def _cpuinfo(name: str) -> str:
    """What Linux tells of the first core; empty where it does not."""
    try:
        found = re.search(rf"^{name}\s*: *(.*)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
    except OSError:
        return ""
    return found[1] if found else ""
