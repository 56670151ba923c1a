"""Call stacks with weights, added up to a call tree: what sampling profilers write."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chathpc.profile import numbers
from chathpc.profile.build import MOST_CONTEXTS, Frame, TreeBuilder
from chathpc.profile.location import Locations
from chathpc.profile.metric import Metric
from chathpc.profile.profile import Profile, Source
from chathpc.profile.sparse import SparseValues
from chathpc.profile.tree import CallTree, IntArray, NodeKind

#: How profilers write a place in a library that has no name: `<unknown> 0x1e2d0 [libgomp.so.1.0.0]`, `[libm.so.6]`, `libgomp.so.1+0x1cd8d`.
_IN_LIBRARY = re.compile(r"(?:.*[ /])?\[?([\w.+-]+\.so[\d.]*)(?:\]|\+0x[0-9a-f]+)")


def library_in(name: str) -> str:
    """The load module that the name of a frame tells where nothing else does; empty without one."""
    found = _IN_LIBRARY.fullmatch(name) if ".so" in name[-300:] else None
    return found[1] if found else ""


class Stacks(TreeBuilder):
    """A call tree of stacks: what sampling profilers write. Code without symbols is an instruction that is called."""

    parts = (NodeKind.LINE, NodeKind.LOOP)

    def __init__(self, most: int = MOST_CONTEXTS) -> None:
        super().__init__(most)
        #: The frames by number, when they were last asked for.
        self._listed: list[Frame] = []
        self._instead: dict[int, int | None] = {}
        self.nodes = np.empty(0, dtype=np.int32)  #: the tree's node of each context, once `finish` made the tree

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
        return np.asarray(new, dtype=np.int32)

    @property
    def _frames_by_number(self) -> list[Frame]:
        if len(self._listed) != len(self._frames):
            self._listed = list(self._frames)
        return self._listed

    def functions(self, contexts: Iterable[int]) -> list[tuple[str, str]]:
        """Name and load module of the innermost function of each context, as they are known so far; empty where not."""
        frames, found = self._frames_by_number, []
        for context in contexts:
            while not frames[self._frame[context]][1] and self._parent[context] >= 0:
                context = self._parent[context]
            _, name, _, _, module, *_ = frames[self._frame[context]]
            found.append((name, module))
        return found

    def around(self, context: int) -> Iterator[tuple[str, str]]:
        """Name and load module of the frames of a context, the innermost first, as they are known so far; placeholders apart."""
        while context >= 0:
            kind, name, _, _, module, *_ = self._frames_by_number[self._frame[context]]
            if name and kind != NodeKind.PLACEHOLDER:
                yield name, module
            context = self._parent[context]

    def has_name(self, name: str) -> bool:
        """True if a frame has that name."""
        return any(frame[1] == name for frame in self._frames)

    def modules_of(self, name: str) -> set[str]:
        """The load modules of the frames with that name."""
        return {module for _, known, _, _, module, *_ in self._frames if known == name}

    def has_kind(self, kind: NodeKind) -> bool:
        """True if a frame is of that kind."""
        return any(frame[0] == kind for frame in self._frames)

    def finish(self, metrics: Iterable[Metric], locations: int = 1) -> tuple[CallTree, SparseValues, IntArray]:
        """The tree, its values, and the tree's node of each context."""
        self._moved = self._replaced() if self._instead else None
        tree, values, self.nodes = super().finish(metrics, locations)
        return tree, values, self.nodes

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
        tree, values, _ = self.finish(found.values(), len(where))
        title = title or path.name.split(".")[0]
        return Profile(format, title, tree, found, values, where, sources=(Source(path, tool),))


#: Seconds. Starting a process takes about as long; what lasts less is not what a person waits for.
SHORTEST = 1e-3


def too_short(seconds: float) -> str:
    """A sentence for `Profile.insufficient` if a run of so many seconds says nothing, else the empty string."""
    if seconds >= SHORTEST:
        return ""
    return f"Only {numbers.seconds(seconds)} were measured, less than starting a process takes: too little to show what costs time."
