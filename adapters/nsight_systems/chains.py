"""Call stacks that were sampled, or recorded at calls: a tree of frames, and its paths below nodes of the call tree."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.nsight_systems.columns import Int32Array, Int64Array, Rows, encode, rows
from chathpc.adapters.nsight_systems.paths import Paths
from chathpc.adapters.nsight_systems.strings import texts
from chathpc.adapters.sqlite import Database
from chathpc.profile.tree import NodeKind

#: Frames of a stack that are kept, the innermost ones: deeper recursion repeats itself.
DEEPEST = 128
#: Calls that are looked at to tell how they count their stacks.
LOOKED_AT = 10_000
#: Stacks that are put below their nodes at once.
AT_ONCE = 50_000
#: Libraries of the profiler itself; their frames at the inner end of a stack are no part of the program.
_PROFILER = re.compile(
    r"[/\\](host|target)-(linux|windows|qnx)[\w-]*[/\\]|(^|[/\\])lib(cupti|ToolsInjection|InterceptorInjection|nvperf)"
)
#: Libraries below a call that is recorded by itself: driver and runtime below one of CUDA, the C library below one of its own.
_BELOW_CUDA = re.compile(r"libcuda\.|libcudart|libnvcuda|nvcuda\.dll|cudart64")
_BELOW_OS = re.compile(r"(libc|libpthread|ld)[-.]|ld-linux")
_CALL = re.compile(r"cu(da)?[A-Z]\w*$")
#: How the profiler's wrappers around functions of the system begin.
_WRAPPERS = ("NSYS_OSRT_", "NSYS_DL_", "NSYS_MPI_")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+$")
#: Where the profiler works inside the program's threads.
PROFILER = "<Nsight Systems>"


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """A tree of frames: `parent[i] < i` (−1: outermost). `leaf` holds for the ids, ascending, the innermost frame.

    −1 as a leaf: no frame was kept. `cut` tells the stacks whose inner end was the profiler's.
    """

    parent: Int32Array
    depth: Int32Array
    name: Int32Array
    module: Int32Array
    ids: Int64Array
    leaf: Int32Array
    cut: NDArray[np.bool_]
    call: Int32Array  #: name of the innermost frame that is a function of CUDA's interface; −1 without one

    def shifted(self, ids: Int64Array, names: Int32Array) -> Int64Array:
        """The ids, increased by one if the stacks then agree with the names of the calls more often.

        In exports of 2021 and 2022 the calls count their stacks from 0, the table of stacks from 1.
        """
        ids = ids.astype(np.int64, copy=False)
        known = np.flatnonzero(ids >= 0)[:LOOKED_AT]
        agree = []
        for step in (0, 1):
            at = np.minimum(np.searchsorted(self.ids, ids[known] + step), len(self.ids) - 1)
            agree.append(int(((self.ids[at] == ids[known] + step) & (self.call[at] == names[known])).sum()))
        return np.where(ids >= 0, ids + 1, ids) if agree[1] > agree[0] else ids

    def find(self, ids: Int64Array) -> tuple[Int32Array, NDArray[np.bool_]]:
        """The innermost frame of the stack with each of the ids (−1: none), and whether it was cut."""
        at = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        there = self.ids[at] == ids
        return np.where(there, self.leaf[at], np.int32(-1)).astype(np.int32), there & self.cut[at]


def read_chains(database: Database, table: str, paths: Paths, *, below: str = "") -> Chains | None:
    """The stacks of a table *_CALLCHAINS; None if it is absent or empty.

    What the profiler's own code calls is left out, and its wrappers around functions of the system. `below` is "cuda" or
    "os" for stacks of recorded calls, which end inside the call: these frames are left out too.
    """
    found = rows(database, table, ("id", "symbol", "module", "stackDepth"))
    if found is None or found.count == 0:
        return None
    frame, begin, group = _sorted(found)
    inward = np.arange(len(frame)) - begin[group]
    frames = _frames(database, found, paths, below=below)
    # The outermost frame of the profiler, and all that it called.
    outermost = np.full(len(begin), -1, dtype=np.int64)
    own = frames.own[frame]
    np.maximum.at(outermost, group[own], inward[own])
    gone = inward <= outermost[group]
    # From there outward, what belongs to the call itself; behind the first frame that is kept there is none.
    inside = gone | frames.callee[frame] | frames.wrapper[frame]
    kept: Int64Array = np.cumsum(~inside) - ~inside
    leading = inside & (kept == kept[begin][group])
    keep = ~(gone | leading | frames.wrapper[frame]) & (inward < outermost[group] + DEEPEST)
    used = frame[keep]
    made = _trie(
        found["id"][frame[begin]], outermost >= 0, group[keep].astype(np.int32), frames.name[used], frames.module[used]
    )
    calls = np.flatnonzero(frames.call[frame] >= 0)[::-1]  # so that the innermost of each stack is set last
    made.call[group[calls]] = frames.call[frame][calls]
    return made


def _sorted(found: Rows) -> tuple[Int32Array, NDArray[np.intp], NDArray[np.intp]]:
    """The rows by stack from the inner end on, where each stack begins among them, and the number of each one's stack."""
    chain, depth = found["id"], found["stackDepth"]
    order = np.lexsort((depth, chain))
    chain = chain[order]
    first = np.ones(len(chain), dtype=bool)
    first[1:] = chain[1:] != chain[:-1]
    return order.astype(np.int32), np.flatnonzero(first), np.cumsum(first) - 1


@dataclass(frozen=True, slots=True, eq=False)
class _Frames:
    """Name and module of each row's frame, and whose it is."""

    name: Int32Array
    module: Int32Array
    own: NDArray[np.bool_]  #: the profiler's
    wrapper: NDArray[np.bool_]  #: a function of the profiler that only passes on
    callee: NDArray[np.bool_]  #: part of the call that is recorded
    call: Int32Array  #: name of a function of CUDA's interface; −1 for others


def _frames(database: Database, found: Rows, paths: Paths, *, below: str) -> _Frames:
    symbols, symbol = encode(found["symbol"])
    libraries, library = encode(found["module"])
    known = texts(database, np.concatenate([symbols, libraries]))
    functions = [known.get(key, "") for key in symbols.tolist()]
    files = [known.get(key, "") for key in libraries.tolist()]
    bases = [file.replace("\\", "/").rsplit("/", 1)[-1] for file in files]
    ours = np.array([bool(_PROFILER.search(file)) for file in files])[library]
    wraps = np.array([text.startswith(_WRAPPERS) for text in functions])[symbol]
    inside = {"cuda": _BELOW_CUDA, "os": _BELOW_OS}.get(below)
    callee = np.array([inside is not None and bool(inside.match(base)) for base in bases])[library]
    calls = [paths.names.number(text) if below == "cuda" and _CALL.match(text) else -1 for text in functions]
    call = np.array(calls, dtype=np.int32)[symbol]
    callee |= call >= 0
    modules = np.array([paths.modules.number(base) if base else -1 for base in bases], dtype=np.int32)
    pairs, pair = encode(symbol.astype(np.int64) * len(files) + library)
    table = []
    for key in pairs.tolist():
        text, base = functions[key // len(files)], bases[key % len(files)]
        if not text or _ADDRESS.match(text):
            text = f"<unknown procedure> [{base}]" if base else "<unknown procedure>"
        table.append(paths.names.number(text))
    names = np.array(table, dtype=np.int32)
    return _Frames(names[pair], modules[library], ours & ~wraps, wraps, callee, call)


def _trie(ids: Int64Array, cut: NDArray[np.bool_], group: Int32Array, name: Int32Array, module: Int32Array) -> Chains:
    """The tree of the stacks `group` (numbers of `ids`), whose frames stand from the inner end on."""
    sizes = np.bincount(group, minlength=len(ids))
    last = np.cumsum(sizes)
    outward = last[group] - 1 - np.arange(len(group))
    order = np.argsort(outward, kind="stable")
    edges = np.searchsorted(outward[order], np.arange(int(outward.max(initial=-1)) + 2))
    leaf = np.full(len(ids), -1, dtype=np.int64)
    columns: list[tuple[NDArray[np.int64], ...]] = []
    count = 0
    modules = int(module.max(initial=0)) + 2
    for level in range(len(edges) - 1):
        at = order[edges[level] : edges[level + 1]]
        stack = group[at]
        code = name[at].astype(np.int64) * modules + module[at] + 1
        codes, number = encode(code)
        known, index = encode((leaf[stack] + 1) * len(codes) + number)
        code = codes[known % len(codes)]
        columns.append((known // len(codes) - 1, np.full(len(known), level), code // modules, code % modules - 1))
        leaf[stack] = count + index
        count += len(known)
    parent, depth, names_of, modules_of = (
        np.concatenate([column[part] for column in columns]).astype(np.int32)
        if columns
        else np.zeros(0, dtype=np.int32)
        for part in range(4)
    )
    return Chains(
        parent, depth, names_of, modules_of, ids, leaf.astype(np.int32), cut, np.full(len(ids), -1, dtype=np.int32)
    )


def put_below(paths: Paths, node: Int32Array, chains: Chains, leaf: Int32Array) -> Int32Array:
    """For each row the node of the stack that ends in frame `leaf`, put below `node`; `node` itself where it is −1."""
    if not len(chains.parent):
        return node
    frames = len(chains.parent) + 1
    pairs, index = encode(node.astype(np.int64) * frames + leaf + 1)
    result = np.empty(len(pairs), dtype=np.int32)
    for begin in range(0, len(pairs), AT_ONCE):
        piece = slice(begin, begin + AT_ONCE)
        result[piece] = _grafted(paths, (pairs[piece] // frames).astype(np.int32), chains, pairs[piece] % frames - 1)
    return result[index]


def _grafted(paths: Paths, node: Int32Array, chains: Chains, leaf: Int64Array) -> Int32Array:
    """As `put_below`, for some pairs: the frames of each stack are listed, then made from the outermost on."""
    depth = np.where(leaf >= 0, chains.depth[np.maximum(leaf, 0)] + 1, 0)
    deepest = int(depth.max(initial=0))
    frames = np.full((deepest, len(leaf)), -1, dtype=np.int32)
    current = leaf.copy()
    while (going := np.flatnonzero(current >= 0)).size:
        frames[chains.depth[current[going]], going] = current[going]
        current[going] = chains.parent[current[going]]
    node = node.copy()
    for level in range(deepest):
        there = np.flatnonzero(depth > level)
        frame = frames[level, there]
        node[there] = paths.add(node[there], NodeKind.FUNCTION, chains.name[frame], chains.module[frame])
    return node
