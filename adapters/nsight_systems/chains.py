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
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+$")
#: A stack that is the profiler's from end to end.
PROFILER = "<Nsight Systems>"


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """A tree of frames: `parent[i] < i` (−1: outermost). `leaf` holds for the ids, ascending, the innermost frame.

    −1 as a leaf: all frames were the profiler's.
    """

    parent: Int32Array
    depth: Int32Array
    name: Int32Array
    module: Int32Array
    ids: Int64Array
    leaf: Int32Array

    def find(self, ids: Int64Array) -> tuple[NDArray[np.bool_], Int32Array]:
        """Whether there is a stack with each of the ids, and its innermost frame."""
        if not len(self.ids):
            return np.zeros(len(ids), dtype=bool), np.full(len(ids), -1, dtype=np.int32)
        at = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        there = self.ids[at] == ids
        return there, np.where(there, self.leaf[at], np.int32(-1)).astype(np.int32)


def read_chains(database: Database, table: str, paths: Paths, *, below: str = "") -> Chains | None:
    """The stacks of a table *_CALLCHAINS; None if it is absent or empty.

    `below` is "cuda" or "os" for stacks of recorded calls, which end inside the call: these frames are left out too.
    """
    found = rows(database, table, ("id", "symbol", "module", "stackDepth"))
    if found is None or found.count == 0:
        return None
    chain, frame, inward = _sorted(found)
    names, modules, dropped = _frames(database, found, paths, below=below)
    # What is to drop stands at the inner end of the stack; behind the first frame that is kept nothing is dropped.
    gone = dropped[frame]
    kept_before: Int64Array = np.cumsum(~gone) - ~gone
    first = np.ones(len(chain), dtype=bool)
    first[1:] = chain[1:] != chain[:-1]
    begin = np.flatnonzero(first)
    group = np.cumsum(first) - 1
    leading = gone & (kept_before == kept_before[begin][group])
    keep = ~leading & (inward < DEEPEST)
    ids = chain[begin]
    return _trie(ids, group[keep].astype(np.int32), names[frame[keep]], modules[frame[keep]])


def _sorted(found: Rows) -> tuple[Int64Array, Int32Array, Int64Array]:
    """Stack, number of the frame's (symbol, module) pair, and place from the inner end, by stack from the inner end on."""
    chain, depth = found["id"], found["stackDepth"]
    order = np.lexsort((depth, chain))
    chain = chain[order]
    first = np.ones(len(chain), dtype=bool)
    first[1:] = chain[1:] != chain[:-1]
    begin = np.flatnonzero(first)
    inward = np.arange(len(chain)) - begin[np.cumsum(first) - 1]
    return chain, order.astype(np.int32), inward


def _frames(
    database: Database, found: Rows, paths: Paths, *, below: str
) -> tuple[Int32Array, Int32Array, NDArray[np.bool_]]:
    """Name, module, and whether it can be dropped at the inner end, of each row's frame."""
    symbols, symbol = encode(found["symbol"])
    libraries, library = encode(found["module"])
    known = texts(database, np.concatenate([symbols, libraries]))
    symbol_texts = [known.get(key, "") for key in symbols.tolist()]
    files = [known.get(key, "") for key in libraries.tolist()]
    bases = [file.replace("\\", "/").rsplit("/", 1)[-1] for file in files]
    ours = np.array([bool(_PROFILER.search(file)) for file in files])
    inside = {"cuda": _BELOW_CUDA, "os": _BELOW_OS}.get(below)
    callee = np.array([inside is not None and bool(inside.match(base)) for base in bases])
    runtime = np.array([below == "cuda" and bool(_CALL.match(text)) for text in symbol_texts])
    module_table = np.array([paths.modules.number(base) if base else -1 for base in bases], dtype=np.int32)
    pairs, pair = encode(symbol.astype(np.int64) * len(files) + library)
    table = []
    for key in pairs.tolist():
        text, base = symbol_texts[key // len(files)], bases[key % len(files)]
        if not text or _ADDRESS.match(text):
            text = f"<unknown procedure> [{base}]" if base else "<unknown procedure>"
        table.append(paths.names.number(text))
    dropped = ours[library] | callee[library] | runtime[symbol]
    return np.array(table, dtype=np.int32)[pair], module_table[library], dropped


def _trie(ids: Int64Array, group: Int32Array, name: Int32Array, module: Int32Array) -> Chains:
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
    return Chains(parent, depth, names_of, modules_of, ids, leaf.astype(np.int32))


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
