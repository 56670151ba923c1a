"""The call tree of TAU's rows, and what each row itself adds to it.

A timer has a flat row, and with TAU_CALLPATH=1 a row for each call path that ends in it. The flat row is the sum of these, so
only what they leave of it (a function without caller) belongs to it. Paths are cut to TAU_CALLPATH_DEPTH frames, two
unless set: the caller's own path is put before a path whose first function has just one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from chathpc.adapters.tau.text import Frame, Timer, frame_of
from chathpc.profile.build import TreeBuilder
from chathpc.profile.tree import NodeKind

#: Frames of a path after callers were put before it.
DEEPEST = 2_000
#: What rows round to: microseconds.
ROUNDING = 1.0

Path = tuple[str, ...]


@dataclass(slots=True)
class Paths:
    """Call paths of all files: where each stands in the tree."""

    builder: TreeBuilder
    callers: dict[str, Path | None] = field(default_factory=dict)
    cut: bool = False
    _frames: dict[str, Frame] = field(default_factory=dict)
    _nodes: dict[Path, int] = field(default_factory=dict)
    _starts: dict[str, int] = field(default_factory=dict)
    _depth: dict[int, int] = field(default_factory=dict)

    def learn(self, timers: Iterable[Timer]) -> None:
        """Note the callers of each function: its one path, or None if it has several."""
        for timer in timers:
            if len(timer.path) > 1:
                last, above = timer.path[-1], timer.path[:-1]
                known = self.callers.setdefault(last, above)
                if known is not None and known != above:
                    self.callers[last] = None

    def _caller(self, name: str) -> Path | None:
        """The one path that `name` is called from; None for a function without caller, or with several."""
        above = self.callers.get(name)
        if above is None and name in self.callers:
            self.cut = True
        return above

    def _start(self, name: str) -> int:
        """The node below which a path that begins with `name` stands: that of its one caller, −1 without one."""
        chain: list[str] = []
        pending = {name}
        above = self._caller(name)
        while above is not None and name not in self._starts:
            chain.append(name)
            name = above[0]
            if name in pending:  # a circle: it has to begin somewhere
                self.cut = True
                break
            pending.add(name)
            above = self._caller(name)
        at = self._starts.get(name, -1)
        if not chain:
            return at
        for one in reversed(chain):
            above = self.callers[one]
            if above is None or (at >= 0 and self._depth[at] + len(above) > DEEPEST):
                self.cut, at = True, -1
            at = self._down(at, above or ())
            self._starts[one] = at
        return at

    def _down(self, at: int, path: Path) -> int:
        """The node at the end of `path` below node `at`."""
        for name in path:
            frame = self.frame(name)
            if frame.sampled == "CONTEXT":  # the timer that stands above it, once more
                continue
            label = None if frame.kind in (NodeKind.LINE, NodeKind.LOOP) else frame.name
            depth = self._depth[at] + 1 if at >= 0 else 0
            at = self.builder.node(at, frame.kind, label, file=frame.file, line=frame.line)
            self._depth.setdefault(at, depth)
        return at

    def frame(self, name: str) -> Frame:
        """The parts of a timer's name."""
        known = self._frames.get(name)
        if known is None:
            known = self._frames[name] = frame_of(name)
        return known

    def node(self, path: Path) -> int:
        """Number of the node at the end of `path`."""
        known = self._nodes.get(path)
        if known is not None:
            return known
        at = self._down(self._start(path[0]), path)
        self._nodes[path] = at
        return at


@dataclass(frozen=True, slots=True)
class Part:
    """What a row itself adds: its path, calls and own time (or count)."""

    path: Path
    calls: float
    own: float


def parts(timers: Iterable[Timer]) -> list[Part]:
    """What each row of one file adds, flat rows without what their call paths have."""
    rows = list(timers)
    by_path: dict[Path, Timer] = {}
    for row in rows:
        by_path.setdefault(row.path, row)
    paths_calls: dict[str, float] = {}
    paths_own: dict[str, float] = {}
    children: dict[Path, float] = {}
    for path, row in by_path.items():
        if len(path) > 1:
            paths_calls[path[-1]] = paths_calls.get(path[-1], 0.0) + row.calls
            paths_own[path[-1]] = paths_own.get(path[-1], 0.0) + row.exclusive
            children[path[:-1]] = children.get(path[:-1], 0.0) + row.inclusive
    contexts = _contexts(by_path, children)
    found = []
    for path, row in by_path.items():
        calls, own = row.calls, row.exclusive
        sampled = frame_of(path[-1]).sampled if path[-1].startswith("[") else ""
        if sampled:
            if len(path) == 1:
                continue  # the sum of the paths that end in it
            calls = 0.0
            own = row.inclusive - children.get(path, 0.0) if sampled != "SAMPLE" else row.exclusive
            own = 0.0 if own <= ROUNDING else own
            if sampled == "CONTEXT":
                own = 0.0
        elif len(path) == 1 and path[0] in paths_own:
            calls, own = calls - paths_calls[path[0]], own - paths_own[path[0]]
            if abs(own) <= ROUNDING * (1 + 1e-6 * row.exclusive):
                own = 0.0
            if own <= 0 and calls <= 0:
                continue
        own -= contexts.get(path, 0.0)
        found.append(Part(path, max(calls, 0.0), max(own, 0.0)))
    return found


def _contexts(by_path: Mapping[Path, Timer], children: Mapping[Path, float]) -> dict[Path, float]:
    """Time of sampled functions below each timer, which is part of the timer's own time."""
    found: dict[Path, float] = {}
    for path in by_path:
        if len(path) > 1 and path[-1].startswith("[CONTEXT]"):
            above = path[:-1]
            found[above] = found.get(above, 0.0) + children.get(path, 0.0)
    return found
