"""The adapters that are installed: entry points of the group `chathpc.adapters`, our own and those of other packages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, distribution, entry_points

from chathpc.adapters.adapter import GROUP, Adapter
from chathpc.errors import ChathpcError
from chathpc.profile.text import clean

#: Turns the adapters of other packages off if it is set and empty, or names the ones to use, separated by commas.
PLUGINS = "CHATHPC_PLUGINS"


@dataclass(frozen=True, slots=True)
class Broken:
    """An entry point that gives no adapter, and why."""

    name: str
    package: str
    reason: str


@dataclass(frozen=True, slots=True)
class Installed:
    """The adapters of one or several packages, in the order in which they are asked, and what could not be loaded."""

    by_package: tuple[tuple[str, Adapter], ...]
    broken: tuple[Broken, ...] = ()

    @property
    def adapters(self) -> tuple[Adapter, ...]:
        """The adapters without the names of their packages."""
        return tuple(adapter for _, adapter in self.by_package)


@lru_cache(maxsize=1)
def built_in() -> Installed:
    """The adapters of chathpc itself."""
    try:
        package: Distribution = distribution("chathpc")
    except PackageNotFoundError:
        raise ChathpcError(
            "chathpc is not installed, so its adapters cannot be found.", hint="Install it: pip install -e ."
        ) from None
    return _load(point for point in package.entry_points if point.group == GROUP)


def third_party() -> Installed:
    """The adapters of other packages, unless CHATHPC_PLUGINS turns them off; they never replace one of ours."""
    allowed = os.environ.get(PLUGINS)
    ours = {adapter.name for adapter in built_in().adapters}
    wanted = None if allowed is None else {name.strip() for name in allowed.split(",")}
    return _load(
        point
        for point in entry_points(group=GROUP)
        if point.name not in ours and _package(point) != "chathpc" and (wanted is None or point.name in wanted)
    )


def every_adapter() -> Iterator[Adapter]:
    """Our own adapters, then, only if a caller still asks, those of other packages."""
    yield from built_in().adapters
    yield from third_party().adapters


def _load(points: Iterator[EntryPoint]) -> Installed:
    found: list[tuple[str, Adapter]] = []
    broken: list[Broken] = []
    for point in points:
        try:
            loaded = point.load()
        except Exception as error:  # noqa: BLE001  whatever another package raises must not stop ours
            broken.append(Broken(point.name, _package(point), clean(f"{type(error).__name__}: {error}")[:300]))
            continue
        if isinstance(loaded, Adapter):
            found.append((_package(point), loaded))
        else:
            broken.append(Broken(point.name, _package(point), f"{point.value} is not a chathpc Adapter"))
    return Installed(tuple(sorted(found, key=lambda pair: (pair[1].order, pair[1].name))), tuple(broken))


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else ""
