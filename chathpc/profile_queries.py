"""What a profile answers to the claim check, looked up when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from chathpc.errors import UsageError

if TYPE_CHECKING:
    import networkx

    from chathpc.grounding.evidence.queries import Measured, Spread
    from chathpc.profile.profile import Profile

#: Metrics that count what a sentence may speak of, the first that is there.
_COUNTS = {
    "call": ("cpu.calls", "host.calls", "io.calls", "mpi.calls"),
    "sample": ("cpu.samples",),
    "launch": ("gpu.kernel.count",),
}


class ProfileQueries:
    """Answers from a Profile; it only reads. Names that several functions or lines share are not answered for."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    def time_of(self, name: str) -> Measured | None:
        """Exclusive and inclusive seconds of the function `name`, and the total; None if it is unknown or not unique."""
        return self._functions.get(name)

    def time_of_line(self, place: str) -> Measured | None:
        """The same of a line by its file's base name, `heat.c:12`."""
        return self._lines.get(place) if ":" in place else None

    def count_of(self, name: str, what: str) -> float | None:
        """Calls, samples or launches of the function `name` without what it calls; None where they were not counted."""
        found = next((id for id in _COUNTS.get(what, ()) if id in self._profile.metrics), None)
        if found is None:
            return None
        if found not in self._counted:
            self._counted[found] = {n: m.exclusive for n, m in self._table("function", found).items()}
        return self._counted[found].get(name)

    def spread_over(self, kind: str) -> Spread | None:
        """The most, least and mean time of the ranks or threads of the host; None if there is one of them alone, or of none the time."""
        from chathpc.grounding.evidence.queries import Spread

        time, locations = self._profile.time, self._profile.locations
        if time is None or kind not in locations.columns or time.id not in locations.columns or str(time.unit) != "s":
            return None
        own = locations[locations[kind] >= 0].fillna({time.id: 0.0})
        keys = [column for column in ("rank", "thread") if column in own.columns][: 1 if kind == "rank" else 2]
        totals = own.groupby(keys)[time.id].sum()
        return Spread(float(totals.max()), float(totals.min()), float(totals.mean())) if len(totals) > 1 else None

    def callers_of(self, name: str) -> frozenset[str]:
        """The functions that call `name`, by the time metric; empty where it is unknown or not unique."""
        from chathpc.grounding.language.tokens import normal_code

        if name not in self._functions:
            return frozenset()
        graph = self._graph
        found = [node for node in graph if normal_code(str(node)) == name]
        return frozenset(normal_code(str(caller)) for node in found for caller in graph.predecessors(node))

    @cached_property
    def _graph(self) -> networkx.DiGraph:
        return self._profile.callgraph()

    @cached_property
    def _counted(self) -> dict[str, dict[str, float]]:
        return {}

    @cached_property
    def _functions(self) -> dict[str, Measured]:
        return self._table("function", None)

    @cached_property
    def _lines(self) -> dict[str, Measured]:
        return self._table("line", None)

    def _table(self, by: str, metric: str | None) -> dict[str, Measured]:
        from chathpc.grounding.evidence.queries import Measured
        from chathpc.grounding.language.tokens import normal_code

        try:
            table = self._profile.table(by) if metric is None else self._profile.table(by, metric)
        except UsageError:
            return {}
        total = float(table["exclusive"].sum())
        names: Iterable[str] = map(str, table["name"])
        if by == "line":
            files = (str(file).replace("\\", "/").rsplit("/", 1)[-1] for file in table["file"])
            names = (f"{file}:{line}" for file, line in zip(files, table["line"], strict=True))
        found: dict[str, Measured] = {}
        shared: set[str] = set()
        for name, own, with_callees in zip(names, table["exclusive"], table["inclusive"], strict=True):
            key = normal_code(name)
            if key in found:
                shared.add(key)
            found[key] = Measured(float(own), float(with_callees), total)
        return {name: measured for name, measured in found.items() if name not in shared}
