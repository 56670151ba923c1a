"""Call stacks with weights, added up to a call tree: what sampling profilers write."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chathpc.errors import AdapterError
from chathpc.profile import numbers
from chathpc.profile.build import tree_of_columns
from chathpc.profile.location import Locations
from chathpc.profile.metric import Metric
from chathpc.profile.profile import Profile, Source
from chathpc.profile.sparse import SparseValues
from chathpc.profile.tree import CallTree, NodeKind, Relation

#: Contexts that a profile may have; a limit for hostile files, far beyond what a person's profile has.
MOST_CONTEXTS = 20_000_000
#: Lines are numbered with 32 bits.
_LAST_LINE = 2**31 - 1


#: How profilers write a place in a library that has no name: `<unknown> 0x1e2d0 [libgomp.so.1.0.0]`, `[libm.so.6]`, `libgomp.so.1+0x1cd8d`.
_IN_LIBRARY = re.compile(r"(?:.*[ /])?\[?([\w.+-]+\.so[\d.]*)(?:\]|\+0x[0-9a-f]+)")


def library_in(name: str) -> str:
    """The load module that the name of a frame tells where nothing else does; empty without one."""
    found = _IN_LIBRARY.fullmatch(name) if ".so" in name[-300:] else None
    return found[1] if found else ""


class Stacks:
    """A call tree that grows frame by frame; equal frames below one context are one context.

    Frames get a number once (`frame`), then a step down the tree is one look-up (`step`): some million frames a second.
    """

    def __init__(self, most: int = MOST_CONTEXTS) -> None:
        self._most = min(most, MOST_CONTEXTS)
        self._frames: dict[tuple[int, str, str, int, str, int], int] = {}
        #: The frames by number, when `functions` was last asked.
        self._listed: list[tuple[int, str, str, int, str, int]] = []
        self._index: dict[int, int] = {}
        self._parent, self._frame = array("i"), array("i")
        self._values: dict[str, tuple[array[int], array[int], array[float]]] = {}
        self._instead: dict[int, int | None] = {}
        self.nodes = np.empty(0, dtype=np.int32)  #: the tree's node of each context, once `finish` made the tree

    def __len__(self) -> int:
        return len(self._parent)

    def frame(
        self,
        name: str,
        *,
        kind: NodeKind = NodeKind.FUNCTION,
        file: str = "",
        line: int = 0,
        module: str = "",
        offset: int = 0,
    ) -> int:
        """The number of a frame with these properties; an empty text or 0 is not known."""
        line = line if 0 < line <= _LAST_LINE else 0
        return self._frames.setdefault((int(kind), name, file, line, module, offset), len(self._frames))

    def step(self, parent: int, frame: int) -> int:
        """The context of `frame` below the context `parent` (−1: a root)."""
        key = (parent + 1 << 32) + frame
        found = self._index.get(key)
        if found is None:
            found = self._index[key] = len(self._parent)
            if found >= self._most:
                raise AdapterError(
                    f"has more than {self._most:,} different calling contexts", hint="Record a shorter run."
                )
            self._parent.append(parent)
            self._frame.append(frame)
        return found

    def walk(self, frames: Iterable[int], parent: int = -1) -> int:
        """The context at the end of a row of frames, outermost first."""
        for frame in frames:
            parent = self.step(parent, frame)
        return parent

    def common(self, one: int, other: int) -> int:
        """The innermost context that two contexts are both in, themselves included; −1 if there is none."""
        while one != other:
            if one > other:  # parents are made first
                one = self._parent[one]
            else:
                other = self._parent[other]
        return one

    def add(self, metric: str, node: int, value: float, location: int = 0) -> None:
        """Add to the exclusive value of a context at a location."""
        columns = self._values.get(metric)
        if columns is None:
            columns = self._values[metric] = (array("i"), array("i"), array("d"))
        nodes, locations, values = columns
        nodes.append(node)
        locations.append(location)
        values.append(value)

    def replace(self, frames: Mapping[int, int | None]) -> None:
        """Let other frames stand for some, which were not known when they were walked through; of one that nothing stands for, all below
        belongs to the context above it.
        """
        self._instead.update(frames)

    def _replaced(self) -> NDArray[np.int32]:
        """Put the other frames in their places; the new context of each one."""
        parents, frames = self._parent, self._frame
        self._index, self._parent, self._frame = {}, array("i"), array("i")
        new = array("i")
        for parent, frame in zip(parents, frames, strict=True):
            above = -1 if parent < 0 else new[parent]
            instead = self._instead.get(frame, frame)
            if instead is None:
                instead = -1 if above >= 0 else frame  # a root stays: its values need a context
            new.append(above if instead < 0 else self.step(above, instead))
        self._instead = {}
        return np.frombuffer(new, dtype=np.int32)

    def functions(self, contexts: Iterable[int]) -> list[tuple[str, str]]:
        """Name and load module of the innermost function of each context, as they are known so far; empty where not."""
        if len(self._listed) != len(self._frames):
            self._listed = list(self._frames)
        frames, found = self._listed, []
        for context in contexts:
            while not frames[self._frame[context]][1] and self._parent[context] >= 0:
                context = self._parent[context]
            _, name, _, _, module, _ = frames[self._frame[context]]
            found.append((name, module))
        return found

    def has_name(self, name: str) -> bool:
        """True if a frame has that name."""
        return any(frame[1] == name for frame in self._frames)

    def modules_of(self, name: str) -> set[str]:
        """The load modules of the frames with that name."""
        return {module for _, known, _, _, module, _ in self._frames if known == name}

    def has_kind(self, kind: NodeKind) -> bool:
        """True if a frame is of that kind."""
        return any(frame[0] == kind for frame in self._frames)

    def has(self, metric: str) -> bool:
        """True if a value was added to the metric."""
        return metric in self._values

    def finish(self, metrics: Iterable[Metric], locations: int = 1) -> tuple[CallTree, SparseValues]:
        """The tree and the values of `metrics`."""
        new = self._replaced() if self._instead else None
        frames = list(self._frames)
        names, files, modules = (dict[str, int](), dict[str, int](), dict[str, int]())
        facts = np.array(
            [
                (
                    kind,
                    names.setdefault(name, len(names)) if name else -1,
                    files.setdefault(file, len(files)) if file else -1,
                    line,
                    modules.setdefault(module, len(modules)) if module else -1,
                )
                for kind, name, file, line, module, _ in frames
            ],
            dtype=np.int32,
        ).reshape(-1, 5)
        frame = np.frombuffer(self._frame, dtype=np.int32) if self._frame else np.empty(0, dtype=np.int32)
        parent = np.frombuffer(self._parent, dtype=np.int32) if self._parent else np.empty(0, dtype=np.int32)
        kind = facts[frame, 0].astype(np.uint8)
        relation = np.full(len(parent), Relation.CALL, dtype=np.uint8)
        relation[kind == NodeKind.INLINED] = Relation.INLINED_CALL
        inside = np.isin(kind, (NodeKind.LINE, NodeKind.LOOP))
        relation[(parent < 0) | inside] = Relation.LEXICAL
        tree, place = tree_of_columns(
            parent, kind=kind, relation=relation, name=facts[frame, 1], file=facts[frame, 2], line=facts[frame, 3],
            module=facts[frame, 4], names=list(names), files=list(files), modules=list(modules),
            offset=np.array([where for *_, where in frames], dtype=np.uint64)[frame],
        )  # fmt: skip
        self.nodes = place if new is None else place[new]
        values = SparseValues(tree, locations)
        for metric in metrics:
            if metric.id in self._values:
                nodes, where, amounts = self._values[metric.id]
                own = np.frombuffer(nodes, dtype=np.int32)
                values.put(
                    metric,
                    self.nodes[own],
                    np.frombuffer(amounts, dtype=np.float64),
                    np.frombuffer(where, dtype=np.int32),
                )
        return tree, values

    def profile(
        self,
        path: Path,
        metrics: Iterable[Metric],
        where: Locations | None = None,
        *,
        format: str,
        tool: str,
        title: str = "",
    ) -> Profile:
        """The profile that `tool` wrote to `path`, with those of `metrics` to which something was added; titled as the file, unless told."""
        found = {metric.id: metric for metric in metrics if self.has(metric.id)}
        where = Locations.single() if where is None else where
        tree, values = self.finish(found.values(), len(where))
        title = title or path.name.split(".")[0]
        return Profile(format, title, tree, found, values, where, sources=(Source(path, tool),))


#: Seconds. Starting a process takes about as long; what lasts less is not what a person waits for.
SHORTEST = 1e-3


def too_short(seconds: float) -> str:
    """A sentence for `Profile.insufficient` if a run of so many seconds says nothing, else the empty string."""
    if seconds >= SHORTEST:
        return ""
    return f"Only {numbers.seconds(seconds)} were measured, less than starting a process takes: too little to show what costs time."
