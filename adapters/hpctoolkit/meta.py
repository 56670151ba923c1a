"""meta.db: what the numbers in the other files are about: metrics, modules, files, functions and the context tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.hpctoolkit import structures as st
from chathpc.adapters.hpctoolkit.binary import DatabaseFile
from chathpc.adapters.hpctoolkit.contexts import walk
from chathpc.profile.text import clean
from chathpc.profile.tree import CallTree, NodeKind, Relation

#: Sections of the header, in the order of the file.
GENERAL, ID_NAMES, METRICS, CONTEXT, STRINGS, MODULES, FILES, FUNCTIONS = range(8)

#: All decoded text together may be at most this many times as long as the file: names may share bytes, but a table in
#: which every entry points into the same long string is an attack on memory.
TEXT_FACTOR = 4


@dataclass(frozen=True, slots=True)
class Scope:
    """A way in which a metric's values are propagated up the tree: the bit of the propagation masks that says so, the id of such
    values in a location's profile, and that of their plain sum over locations in the summary; None where there is none.
    """

    type: int
    bit: int
    prop: int | None = None
    sum: int | None = None


NO_SCOPE = Scope(-1, 0)


@dataclass(frozen=True, slots=True)
class RawMetric:
    """A metric as registered, with its scopes by name."""

    name: str
    scopes: dict[str, Scope]

    def of_type(self, kind: int) -> Scope:
        """The first scope of that type."""
        return next((scope for scope in self.scopes.values() if scope.type == kind), NO_SCOPE)


@dataclass(frozen=True, slots=True, eq=False)
class Meta:
    """Contents of meta.db. `propagation` is the bitmask of each node of the tree."""

    file: DatabaseFile
    title: str
    description: str
    identifier_kinds: tuple[str, ...]
    metrics: tuple[RawMetric, ...]
    tree: CallTree
    propagation: NDArray[np.uint16]


#: Printable ASCII and the NUL that ends a string.
_PLAIN = bytes(range(0x20, 0x7F)) + b"\0"


def _plain_strings(section: bytes, at: int) -> dict[int, str]:
    """All strings of a section by their offset in the file, if every one of them is printable ASCII; else nothing.

    Decoding thousands of names at once takes a fraction of the time that one by one takes.
    """
    # A section of little else than NULs would become far more objects than it has bytes.
    if section.count(0) > 1000 + len(section) // 10:
        return {}
    if section.translate(None, _PLAIN) or not section.endswith(b"\0"):
        return {}
    strings = {}
    for text in section.decode("ascii").split("\0")[:-1]:
        strings[at] = text
        at += len(text) + 1
    strings.pop(0, None)
    return strings


class _Reader:
    def __init__(self, file: DatabaseFile) -> None:
        self.file = file
        self.budget = TEXT_FACTOR * len(file.data) + (1 << 16)
        self.strings_at, size = file.sections[STRINGS]
        self.strings = bytes(file.data[self.strings_at : self.strings_at + size])
        self.seen = _plain_strings(self.strings, self.strings_at)

    def string(self, offset: int) -> str:
        """The text at `offset`, decoded once; nearly all texts are in one section, which is searched as a whole."""
        found = self.seen.get(offset)
        if found is None:
            end = self.strings.find(0, offset - self.strings_at) if offset >= self.strings_at else -1
            raw = None if end < 0 else self.strings[offset - self.strings_at : end]
            found = self.file.string(offset) if raw is None else clean(raw.decode("utf-8", "replace"))
            self.seen[offset] = found
            self.budget -= len(found)
            if self.budget < 0:
                raise self.file.damaged("names add up to far more text than the file holds", offset)
        return found

    def table(self, section: int, header: np.dtype[Any], layout: np.dtype[Any], name: str, what: str) -> _Table:
        """A section that is one table: fields p<name>s, n<name>s, sz<name>."""
        head = self.file.header(section, header)
        at, count, stride = int(head[f"p{name}s"]), int(head[f"n{name}s"]), int(head[f"sz{name}"])
        if count == 0:
            return _Table(self.file, np.empty(0, dtype=layout), at, layout.itemsize, what)
        return _Table(self.file, self.file.array(at, layout, count, stride), at, stride, what)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A table that others point into: its rows, where they begin, and what a person calls one."""

    file: DatabaseFile
    rows: NDArray[Any]
    at: int
    stride: int
    what: str

    def index(self, pointers: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Row numbers for pointers into the table; −1 for null pointers."""
        distance = pointers - np.uint64(self.at)  # wraps for pointers before the table, and is then far too large
        row, rest = np.divmod(distance, np.uint64(self.stride))
        fits = (row < len(self.rows)) & (rest == 0)
        if bool(fits.all()) and self.at != 0:
            return row.astype(np.int32)
        null = pointers == 0
        if not bool((fits | null).all()):
            wrong = int(np.flatnonzero(~(fits | null))[0])
            raise self.file.damaged(f"points to a {self.what} that does not exist", int(pointers[wrong]))
        return np.where(null, -1, row.astype(np.int64)).astype(np.int32)


def read_meta(file: DatabaseFile) -> Meta:
    """Read meta.db whole; AdapterError where it contradicts itself or has a pre-release layout."""
    reader = _Reader(file)
    metrics = _metrics(reader)  # first: a pre-release layout shows here, and is to be called by its name
    general = file.header(GENERAL, st.GENERAL)
    names = file.header(ID_NAMES, st.ID_NAMES)
    kinds = file.array(int(names["ppNames"]), np.dtype([("p", "<u8")]), int(names["nKinds"]))
    modules = reader.table(MODULES, st.MODULES, st.MODULE, "Module", "load module")
    files = reader.table(FILES, st.SOURCE_FILES, st.SOURCE_FILE, "File", "source file")
    functions = reader.table(FUNCTIONS, st.FUNCTIONS, st.FUNCTION, "Function", "function")
    tree, propagation = _tree(reader, functions, files, modules)
    return Meta(
        file=file,
        title=reader.string(int(general["pTitle"])),
        description=reader.string(int(general["pDescription"])),
        identifier_kinds=tuple(reader.string(int(pointer)) for pointer in kinds["p"]),
        metrics=metrics,
        tree=tree,
        propagation=propagation,
    )


def _metrics(reader: _Reader) -> tuple[RawMetric, ...]:
    file = reader.file
    head = file.header(METRICS, st.METRICS)
    sizes = int(head["szMetric"]), int(head["szScopeInst"]), int(head["szSummary"])
    if int(head["nMetrics"]) and (sizes[0] < 0x20 or sizes[2] < 0x18):
        raise file.damaged(
            f"claims format 4.0 but has a pre-release layout (structures of {sizes[0]}, {sizes[1]} and {sizes[2]} bytes "
            "for metrics, scopes and summaries; the release has 32, 16 and 24)",
            file.sections[METRICS][0],
            hint="It was written by a development version of HPCToolkit from before release 2022.10; run hpcprof again.",
        )
    stride, at = int(head["szScope"]), int(head["pScopes"])
    scopes = {
        at + number * stride: (
            reader.string(int(row["pScopeName"])),
            int(row["type"]),
            int(row["propagationIndex"]) & 15,
        )
        for number, row in enumerate(file.array(at, st.SCOPE, int(head["nScopes"]), stride))
    }

    def scope_at(pointer: int) -> tuple[str, int, int]:
        if pointer not in scopes:
            raise file.damaged("points to a propagation scope that does not exist", pointer)
        return scopes[pointer]

    metrics = []
    budget = len(file.data)
    for row in file.array(int(head["pMetrics"]), st.METRIC, int(head["nMetrics"]), sizes[0]):
        instance_count, summary_count = int(row["nScopeInsts"]), int(row["nSummaries"])
        budget -= 16 * (instance_count + summary_count)
        if budget < 0:
            raise file.damaged("metrics share the tables of their scopes", int(row["pScopeInsts"]))
        sums: dict[str, int] = {}
        for one in file.array(int(row["pSummaries"]), st.SUMMARY, summary_count, sizes[2]):
            name, formula = scope_at(int(one["pScope"]))[0], reader.string(int(one["pFormula"]))
            if formula == "$$" and int(one["combine"]) == st.COMBINE_SUM:
                sums.setdefault(name, int(one["statMetricId"]))
        found = {}
        for one in file.array(int(row["pScopeInsts"]), st.SCOPE_INSTANCE, instance_count, sizes[1]):
            name, kind, bit = scope_at(int(one["pScope"]))
            found[name] = Scope(kind, bit, int(one["propMetricId"]), sums.get(name))
        metrics.append(RawMetric(reader.string(int(row["pName"])), found))
    return tuple(metrics)


def _function_names(
    reader: _Reader, functions: NDArray[Any], module: NDArray[np.int32], modules: Sequence[str], names: dict[str, int]
) -> NDArray[np.int32]:
    """Id of each function's name, entering new names into `names`; equal names share an id."""
    pointers = functions["pName"].tolist()
    texts = [reader.seen.get(pointer) for pointer in pointers]
    for row in [row for row, text in enumerate(texts) if text is None]:  # odd text, or none at all
        if pointers[row]:
            texts[row] = reader.string(pointers[row])
        elif module[row] >= 0:
            texts[row] = f"{modules[module[row]]}+{int(functions['offset'][row]):#x}"
        else:
            texts[row] = "<unknown function>"
    for text in dict.fromkeys(texts):
        names.setdefault(text or "", len(names))
    return np.fromiter((names[text or ""] for text in texts), dtype=np.int32, count=len(texts))


#: Kind of a node by lexical type; types that are newer than this reader count as regions.
_KINDS = np.full(256, NodeKind.REGION, dtype=np.uint8)
_KINDS[st.LEXICAL_FUNCTION] = NodeKind.FUNCTION
_KINDS[st.LEXICAL_LOOP] = NodeKind.LOOP
_KINDS[st.LEXICAL_LINE] = NodeKind.LINE
_KINDS[st.LEXICAL_INSTRUCTION] = NodeKind.INSTRUCTION

#: Words of `flex` that the fields take, by the three known flags.
_FLEX_WORDS = np.array([(f & 1) + (f & 2) + 2 * (f >> 2) for f in range(8)], dtype=np.uint8)


def _tree(reader: _Reader, functions: _Table, files: _Table, modules: _Table) -> tuple[CallTree, NDArray[np.uint16]]:
    file = reader.file
    module_names = [reader.string(pointer) for pointer in modules.rows["pPath"].tolist()]
    file_names = [reader.string(pointer) for pointer in files.rows["pPath"].tolist()]
    head = file.header(CONTEXT, st.CONTEXT_TREE)
    entries = file.array(
        int(head["pEntryPoints"]), st.ENTRY_POINT, int(head["nEntryPoints"]), int(head["szEntryPoint"])
    )
    records = walk(file, CONTEXT, entries["pChildren"], entries["szChildren"])
    n = len(records.word)
    words = file.data[: len(file.data) // 8 * 8].view("<u8")
    is_entry = records.entry >= 0
    word = records.word
    identity = words[word + st.CONTEXT_ID_WORD]
    identity[is_entry] = 0
    # The upper half of the word: flags, relation, lexical type, words of flex; one byte each.
    halves = identity.view("<u4").reshape(n, 2)
    bytes_of = identity.view("u1").reshape(n, 8)
    flags, relation, lexical, flex_words = (np.ascontiguousarray(bytes_of[:, index]) for index in range(4, 8))
    context_id = halves[:, 0].astype(np.int64)
    context_id[is_entry] = entries["ctxId"][records.entry[is_entry]]
    propagation = words[word + st.CONTEXT_PROPAGATION_WORD].astype(np.uint16)
    propagation[is_entry] = 0

    has_function = (flags & st.HAS_FUNCTION) != 0
    has_place = (flags & st.HAS_SRCLOC) != 0
    has_point = (flags & st.HAS_POINT) != 0
    if bool((_FLEX_WORDS[flags & 7] > flex_words).any()):
        short = int(np.flatnonzero(_FLEX_WORDS[flags & 7] > flex_words)[0])
        raise file.damaged("a context is shorter than its fields", int(word[short]) * 8)
    flex = word + st.CONTEXT_WORDS

    name = np.full(n, -1, dtype=np.int32)
    source = np.full(n, -1, dtype=np.int32)
    line = np.zeros(n, dtype=np.int32)
    module = np.full(n, -1, dtype=np.int32)
    offset = np.zeros(n, dtype=np.uint64)
    names: dict[str, int] = {}
    function_file = files.index(functions.rows["pFile"])
    function_module = modules.index(functions.rows["pModule"])
    function_name = _function_names(reader, functions.rows, function_module, module_names, names)
    at = np.flatnonzero(has_function)
    function = functions.index(words[flex[at]])
    at, function = at[function >= 0], function[function >= 0]
    name[at] = function_name[function]
    source[at] = function_file[function]
    line[at] = np.minimum(functions.rows["line"], 2**31 - 1)[function]
    module[at] = function_module[function]
    at = np.flatnonzero(has_place)
    place = flex[at] + has_function[at]
    source[at] = files.index(words[place])
    line[at] = np.minimum(words[place + 1] & np.uint64(0xFFFFFFFF), np.uint64(2**31 - 1))
    at = np.flatnonzero(has_point)
    point = flex[at] + has_function[at] + 2 * has_place[at]
    module[at] = modules.index(words[point])
    offset[at] = words[point + 1]

    kind = _KINDS[lexical]
    function_like = kind == NodeKind.FUNCTION
    kind[function_like & (relation == Relation.INLINED_CALL)] = NodeKind.INLINED
    kind[is_entry] = NodeKind.ENTRY
    relation = np.minimum(relation, Relation.INLINED_CALL)
    relation[is_entry] = Relation.CALL
    unknown = names.setdefault("<unknown function>", len(names))
    name[function_like & (name < 0) & ~is_entry] = unknown
    for index in np.flatnonzero(is_entry).tolist():
        pretty = reader.string(int(entries["pPrettyName"][records.entry[index]]))
        name[index] = names.setdefault(pretty, len(names))
    _mark_runtime_kinds(kind, name, module, records.parent, list(names))
    tree = CallTree(
        parent=records.parent,
        end=records.end,
        kind=kind,
        relation=relation,
        name=name,
        file=source,
        line=line,
        module=module,
        names=list(names),
        files=file_names,
        modules=module_names,
        source_id=context_id,
        offset=offset,
    )
    return tree, propagation


def _mark_runtime_kinds(
    kind: NDArray[np.uint8],
    name: NDArray[np.int32],
    module: NDArray[np.int32],
    parent: NDArray[np.int32],
    names: Sequence[str],
) -> None:
    """Set the kinds of HPCToolkit's placeholders (`<gpu copyin>`, `<omp barrier wait>`) and of the kernels below
    them, in place.
    """

    def named(*prefixes: str, but: tuple[str, ...] = ()) -> NDArray[np.bool_]:
        """Nodes whose name begins with one of `prefixes`; the last entry of the table answers for nodes without a name."""
        table = [text.startswith(prefixes) and not (but and text.startswith(but)) for text in names]
        return np.array([*table, False])[name] if any(table) else np.zeros(len(name), dtype=bool)

    placeholder = (kind == NodeKind.FUNCTION) & (module < 0)
    kind[placeholder & named("<omp ", but=("<omp tgt ",))] = NodeKind.PLACEHOLDER
    operation = placeholder & named("<gpu ", "<omp tgt ")
    if operation.any():
        kind[operation] = NodeKind.GPU_OP
        launches = operation & named("<gpu kernel>", "<omp tgt kernel>")
        kind[(parent >= 0) & launches[parent] & (kind == NodeKind.FUNCTION)] = NodeKind.GPU_KERNEL
