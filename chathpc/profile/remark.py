"""What the measuring tool itself concluded, and facts about devices: kept beside the measurements, with their source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remark:
    """A result of a tool's own rule about a node of the tree (−1: the whole run).

    `kind` is ok, optimization, warning or error; `speedup` what the tool estimates could be won, as a part (0..1) of the
    kernel's time (`scope` global) or of the unit's (`scope` local); None where it gives no estimate.
    """

    tool: str
    rule: str
    kind: str
    title: str
    text: str
    node: int = -1
    speedup: float | None = None
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What two tools measured differently: `values` by tool, in `unit`; `subject` is the kernel or function at `node`."""

    subject: str
    quantity: str
    metric: str
    unit: str
    values: tuple[tuple[str, float], tuple[str, float]]
    node: int = -1


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU as the tool describes it; None where it does not say.

    `bandwidth` is the peak of the device's memory in bytes per second, `memory` its size in bytes, `clock` in hertz.
    """

    name: str
    multiprocessors: int | None = None
    memory: int | None = None
    bandwidth: float | None = None
    clock: float | None = None
    capability: str = ""
