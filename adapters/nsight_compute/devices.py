"""The GPUs that a report describes."""

from __future__ import annotations

from collections.abc import Iterable

from chathpc.adapters.nsight_compute.launch import Launch
from chathpc.profile.remark import Device
from chathpc.profile.text import clean


def hardware_of(launches: Iterable[Launch]) -> dict[str, str]:
    """The names of the GPUs, as a fact about the machine."""
    names = dict.fromkeys(clean(launch.texts.get("device__attribute_display_name", "")) for launch in launches)
    found = [name for name in names if name]
    return {"gpu": ", ".join(found)} if found else {}


def devices_of(launches: Iterable[Launch]) -> dict[int, Device]:
    """The GPUs by ordinal, as the first launch on each describes it."""
    found: dict[int, Device] = {}
    for launch in launches:
        if launch.device not in found:
            device = _device(launch)
            if device is not None:
                found[launch.device] = device
    return found


def _device(launch: Launch) -> Device | None:
    def attribute(*names: str) -> float | None:
        value = launch.value(*(f"device__attribute_{name}" for name in names))
        return value if value is not None and value > 0 else None

    name = clean(launch.texts.get("device__attribute_display_name", ""))
    major, minor = attribute("compute_capability_major"), launch.value("device__attribute_compute_capability_minor")
    capability = f"{major:.0f}.{minor or 0:.0f}" if major is not None else launch.texts.get("capability", "")
    if not name and not capability:
        return None
    memory, count = attribute("total_memory"), attribute("multiprocessor_count")
    clock, width = (
        attribute("memory_clock_rate", "max_mem_frequency_khz"),
        attribute("global_memory_bus_width", "fb_bus_width"),
    )
    cycles = attribute("clock_rate")
    return Device(
        name=name or f"GPU of compute capability {clean(capability)}",
        multiprocessors=None if count is None else int(count),
        memory=None if memory is None else int(memory),
        # Two transfers a clock on every line of the bus: the rule of NVIDIA's deviceQuery.
        bandwidth=None if clock is None or width is None else 2 * clock * 1e3 * width / 8,
        clock=None if cycles is None else cycles * 1e3,
        capability=clean(capability),
    )
