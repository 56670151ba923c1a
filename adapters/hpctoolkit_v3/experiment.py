"""experiment.xml: the tables, the call path tree and the summary values, as columns in document order.

The document is read in one pass with expat, without building a tree of elements. It is untrusted: entity declarations
are refused (HPCToolkit writes none), so nothing can expand or point elsewhere; depth and document type are bounded.
Source of the names of elements and attributes: the DTD "HPCToolkit Experiment, version 2.0" that hpcprof writes.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import IO
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.content import open_regular
from chathpc.errors import AdapterError
from chathpc.profile.text import clean
from chathpc.profile.tree import BoolArray, CallTree, FloatArray, IntArray, NodeKind, Relation, is_one_of

#: The root element that tells an HPCToolkit document from any other XML.
ROOT = "HPCToolkitExperiment"
#: Frames, loops and lines inside one another; the deepest recursion that hpcrun unwinds is well below it.
DEEPEST = 100_000
#: Columns of the MetricTable; a database has two for each event, or for each event and thread.
MOST_METRICS = 20_000
#: Beyond anything measured, and far enough from the largest double for sums.
LARGEST_VALUE = 1e100
#: Attribute declarations; the DTD that hpcprof writes has about 90. Each costs time at every element.
MOST_ATTRIBUTES_DECLARED = 1_000
#: Bytes given to expat at a time, at least; for large files a 64th, because expat rescans an unfinished token for each.
CHUNK = 1 << 20

DAMAGED = "The file is damaged or was cut off; run hpcprof again."
_FORGED = "Do not trust this file: hpcprof did not write it."
NEWER = (
    "It was written by a development version of HPCToolkit from 2021 or 2022; run hpcprof of release 2022.10 or later."
)


class Tag(IntEnum):
    """Elements of the call path tree."""

    PF = 0  #: procedure frame: a function that was called
    PR = 1  #: procedure in the text of another: inlined (alien) or nested
    L = 2  #: loop
    C = 3  #: call site
    S = 4  #: statement


_TAGS = {"PF": Tag.PF, "Pr": Tag.PR, "L": Tag.L, "C": Tag.C, "S": Tag.S}


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A row of the MetricTable; `view` is the formula of a metric that a viewer is to compute, else empty."""

    id: int
    name: str
    order: int
    hidden: bool
    view: str


@dataclass(frozen=True, slots=True, eq=False)
class Experiment:
    """What experiment.xml holds. Nodes stand in document order, which is preorder.

    Shapes: `tag`, `alien`, `parent`, `end`, `name`, `file`, `module`, `line`, `id`, `trace_id` have one entry per node;
    `value_node`, `value_metric`, `value` one per value. `name`, `file`, `module` are indices into `names`, `files`,
    `modules`; −1 where there is none. `stored` tells of names in the MetricDBTable which of the numbers of a record in a
    `*.metric-db` file they are. `ticks_per_second` is the unit of trace timestamps, None without a trace.
    """

    path: Path
    version: str
    title: str
    metrics: Sequence[MetricRow]
    stored: Sequence[tuple[str, int]]
    ticks_per_second: int | None
    names: Sequence[str]
    files: Sequence[str]
    modules: Sequence[str]
    tag: NDArray[np.int8]
    alien: NDArray[np.int8]
    parent: IntArray
    end: IntArray
    name: IntArray
    file: IntArray
    module: IntArray
    line: IntArray
    id: NDArray[np.int64]
    trace_id: NDArray[np.int64]
    value_node: IntArray
    value_metric: IntArray
    value: FloatArray


def read_experiment(path: Path) -> Experiment:
    """Read a whole experiment.xml of format 2.x; AdapterError with line and byte for anything that is not one."""
    with open_regular(path) as file:
        return _Reader(path).read(file)


#: Columns of an Experiment that grow node by node, or value by value.
_COLUMNS = (
    "tag", "alien", "parent", "end", "name", "file", "module", "line", "id", "trace_id", "value_node", "value_metric",
)  # fmt: skip


class _Table:
    """Names by the number that elements refer to them with; elements may also carry a name instead of a number."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.names: list[str] = []
        self.index: dict[str, int] = {}

    def add(self, key: str, name: str) -> None:
        self.index[key] = len(self.names)
        self.names.append(clean(name))

    def find(self, key: str) -> int:
        found = self.index.get(key)
        if found is None:
            if key.isdigit():
                raise _Damage(f"refers to {self.kind} {key}, which is not in the table")
            self.add(key, key)
            found = self.index[key]
        return found


class _Damage(Exception):
    """Something is wrong at the parser's present position."""

    def __init__(self, what: str, hint: str = DAMAGED) -> None:
        super().__init__(what)
        self.hint = hint


class _Reader:
    """The handlers of one pass; `open` holds the nodes from the root down to the element that is being read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.version, self.title = "", ""
        self.metrics: list[MetricRow] = []
        self.stored: list[tuple[str, int]] = []
        self.ticks_per_second: int | None = None
        self.procedures, self.sources, self.load_modules = _Table("procedure"), _Table("file"), _Table("load module")
        self.depth = 0
        self.seen_tree = False
        self.attributes_declared = 0
        self.open: list[int] = []
        self.tag, self.alien = array("b"), array("b")
        self.parent, self.end, self.name, self.file, self.module, self.line = (array("i") for _ in range(6))
        self.id, self.trace_id = array("q"), array("q")
        self.value_node, self.value_metric, self.value = array("i"), array("i"), array("d")
        self.row: tuple[int, str, int, bool] | None = None
        self.view = ""
        self.headers: dict[str, Callable[[dict[str, str]], None]] = {
            "Header": self.on_header,
            "Metric": self.on_metric,
            "MetricFormula": self.on_formula,
            "MetricDB": self.on_stored_metric,
            "TraceDB": self.on_trace,
            "LoadModule": lambda a: self.load_modules.add(a["i"], a["n"]),
            "File": lambda a: self.sources.add(a["i"], a["n"]),
            "Procedure": lambda a: self.procedures.add(a["i"], a["n"]),
            "SecCallPathProfileData": self.on_tree,
            "SecFlatProfile": self.on_flat,
        }

    # -- the pass ------------------------------------------------------------------------------------------

    def read(self, file: IO[bytes]) -> Experiment:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.specified_attributes = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self.on_first
        parser.EndElementHandler = self.on_end
        parser.EntityDeclHandler = self.on_entity
        parser.AttlistDeclHandler = self.on_attribute_declaration
        self.parser = parser
        size = file.seek(0, 2)
        file.seek(0)
        chunk = max(CHUNK, size // 64)
        try:
            while block := file.read(chunk):
                parser.Parse(block, False)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            at = max(parser.ErrorByteIndex, 0)
            if size == 0:
                raise AdapterError("the file is empty", path=self.path, hint=DAMAGED) from error
            what = f"line {error.lineno}: not well-formed XML ({expat.ErrorString(error.code)})"
            raise AdapterError(what, path=self.path, offset=at, hint=DAMAGED) from error
        except _Damage as error:
            raise self.damaged(str(error), error.hint) from error
        except KeyError as error:
            raise self.damaged(f"an element lacks its attribute '{clean(str(error.args[0]))}'") from error
        except (ValueError, OverflowError) as error:
            raise self.damaged("a number is expected here") from error
        except LookupError as error:
            raise self.damaged("the encoding of the document is unknown") from error
        except OSError as error:
            raise AdapterError(f"cannot be read: {error.strerror}", path=self.path) from error
        if not self.seen_tree:
            raise AdapterError("contains no call path profile", path=self.path, hint=DAMAGED)
        return self.finish()

    def damaged(self, what: str, hint: str = DAMAGED) -> AdapterError:
        at = max(self.parser.CurrentByteIndex, 0)
        return AdapterError(f"line {self.parser.CurrentLineNumber}: {what}", path=self.path, offset=at, hint=hint)

    def finish(self) -> Experiment:
        value = np.asarray(self.value)
        if not bool(np.all(np.abs(value) <= LARGEST_VALUE)):
            raise AdapterError("contains a value that is not a number or is beyond 1e100", path=self.path, hint=DAMAGED)
        return Experiment(
            path=self.path,
            version=self.version,
            title=self.title,
            metrics=self.metrics,
            stored=self.stored,
            ticks_per_second=self.ticks_per_second,
            names=self.procedures.names,
            files=self.sources.names,
            modules=self.load_modules.names,
            **{name: np.asarray(getattr(self, name)) for name in _COLUMNS},
            value=value,
        )

    # -- the document type: nothing in it is needed, and entities are refused ------------------------------

    def on_entity(self, *_: object) -> None:
        raise _Damage("declares an entity, which HPCToolkit never does", _FORGED)

    def on_attribute_declaration(self, *_: object) -> None:
        self.attributes_declared += 1
        if self.attributes_declared > MOST_ATTRIBUTES_DECLARED:
            raise _Damage("declares too many attributes", _FORGED)

    # -- elements ------------------------------------------------------------------------------------------

    def on_first(self, tag: str, attributes: dict[str, str]) -> None:
        if tag != ROOT:
            raise _Damage(f"begins with <{clean(tag)[:40]}>, not with <{ROOT}>", "It is not a database of HPCToolkit.")
        version = clean(attributes.get("version", ""))
        if version.split(".", 1)[0] != "2":
            hint = NEWER if version.startswith(("3", "4")) else "It is not a database of HPCToolkit."
            raise _Damage(f"is of format '{version[:20]}', and chathpc reads 2.x of experiment.xml", hint)
        self.version = version
        self.parser.StartElementHandler = self.on_start

    def on_start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise _Damage(f"elements are nested deeper than {DEEPEST:,}")
        handler = self.headers.get(tag)
        if handler is not None:
            handler(attributes)

    def on_end(self, tag: str) -> None:
        self.depth -= 1
        if tag == "Metric" and self.row is not None:
            self.metrics.append(MetricRow(*self.row, self.view))
            self.row, self.view = None, ""

    def on_start_in_tree(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "M":
            if self.open:
                self.value_node.append(self.open[-1])
                self.value_metric.append(int(attributes["n"]))
                self.value.append(float(attributes["v"]))
        elif tag in _TAGS:
            self.on_node(_TAGS[tag], attributes)
        else:
            raise _Damage(f"an element <{clean(tag)[:40]}> has no place in a call path profile")

    def on_end_in_tree(self, tag: str) -> None:
        if tag in _TAGS:
            self.end[self.open.pop()] = len(self.tag)
        elif tag == "SecCallPathProfileData":
            self.depth -= 1
            self.parser.StartElementHandler, self.parser.EndElementHandler = self.on_start, self.on_end

    def on_node(self, tag: Tag, attributes: dict[str, str]) -> None:
        above = self.open[-1] if self.open else -1
        if len(self.open) >= DEEPEST:
            raise _Damage(f"elements are nested deeper than {DEEPEST:,}")
        procedure = file = module = -1
        if above >= 0:
            file, module = self.file[above], self.module[above]
        if tag <= Tag.PR:
            procedure = self.procedures.find(attributes["n"])
            # A frame says where it is; what it does not say is not known, and not what its caller has.
            file = module = -1
            if "lm" in attributes:
                module = self.load_modules.find(attributes["lm"])
        if "f" in attributes:
            file = self.sources.find(attributes["f"])
        self.open.append(len(self.tag))
        self.tag.append(tag)
        self.alien.append(attributes.get("a") == "1")
        self.parent.append(above)
        self.end.append(0)
        self.name.append(procedure)
        self.file.append(file)
        self.module.append(module)
        self.line.append(_line(attributes.get("l", "0")))
        self.id.append(int(attributes["i"]))
        self.trace_id.append(int(attributes.get("it", "-1")))

    # -- tables --------------------------------------------------------------------------------------------

    def on_header(self, attributes: dict[str, str]) -> None:
        self.title = clean(attributes.get("n", ""))

    def on_metric(self, attributes: dict[str, str]) -> None:
        if len(self.metrics) >= MOST_METRICS:
            raise _Damage(f"declares more than {MOST_METRICS:,} metrics", _FORGED)
        # show: 0 off by default, 1 on, 2 and 3 on in one of the columns, 4 never shown
        hidden = attributes.get("show", "1") in ("0", "4")
        self.row = (int(attributes["i"]), clean(attributes["n"]), int(attributes.get("o", "-1")), hidden)

    def on_formula(self, attributes: dict[str, str]) -> None:
        if attributes.get("t") == "view":
            self.view = attributes.get("frm", "")

    def on_stored_metric(self, attributes: dict[str, str]) -> None:
        self.stored.append((clean(attributes["n"]), int(attributes.get("db-id", "-1"))))

    def on_trace(self, attributes: dict[str, str]) -> None:
        ticks = int(attributes.get("u", "1000000"))
        if not 0 < ticks <= 1_000_000_000:
            raise _Damage("the unit of trace timestamps is not between a second and a nanosecond")
        self.ticks_per_second = ticks

    def on_tree(self, attributes: dict[str, str]) -> None:
        if self.seen_tree:
            raise _Damage("a second call path profile begins", "Give the database of one run at a time.")
        self.seen_tree = True
        self.parser.StartElementHandler, self.parser.EndElementHandler = self.on_start_in_tree, self.on_end_in_tree

    def on_flat(self, attributes: dict[str, str]) -> None:
        raise _Damage("is a flat profile, which has no call paths", "Run hpcprof instead of hpcprof-flat.")


def _line(text: str) -> int:
    """First line of `12` or `12-20`; 0 where unknown or out of range."""
    number = int(text.split("-", 1)[0] or 0)
    return number if 0 <= number < 2**31 else 0


# -- the calling context tree -------------------------------------------------------------------------------------

#: Procedures that hpcrun puts above the first function of a thread, or above call paths that it could not unwind to it.
ENTRIES = ("<program root>", "<thread root>", "<partial call paths>")
#: States of the measurement itself: nothing of the program runs there.
IDLE = ("<no activity>", "<no thread>")
#: Placeholders of GPU operations, and those that have the kernel itself below them.
GPU_PREFIXES = ("<gpu ", "<omp tgt ")
LAUNCHES = ("<gpu kernel>", "<omp tgt kernel>")

_KIND = {
    Tag.PF: NodeKind.FUNCTION,
    Tag.PR: NodeKind.FUNCTION,
    Tag.L: NodeKind.LOOP,
    Tag.C: NodeKind.LINE,
    Tag.S: NodeKind.LINE,
}


def call_tree(experiment: Experiment) -> CallTree:
    """One node per element: frames are functions, call sites and statements are lines.

    Placeholders (`<gpu copyin>`) stand in a file of the measurement library; that place is left out.
    """
    tag, parent = experiment.tag, experiment.parent
    kind = np.array([_KIND[one] for one in Tag], dtype=np.uint8)[tag]
    relation = np.full(len(tag), Relation.LEXICAL, dtype=np.uint8)
    relation[tag == Tag.PF] = Relation.CALL
    alien = (tag == Tag.PR) & (experiment.alien != 0)
    kind[alien] = NodeKind.INLINED
    relation[alien] = Relation.INLINED_CALL

    names = experiment.names
    frame = tag == Tag.PF
    kind[frame & _named(experiment, [name in ENTRIES for name in names])] = NodeKind.ENTRY
    state = frame & _named(experiment, [name in IDLE or name.startswith("<omp ") for name in names])
    kind[state] = NodeKind.PLACEHOLDER
    kind[frame & _named(experiment, [name.startswith(GPU_PREFIXES) for name in names])] = NodeKind.GPU_OP
    launch = (kind == NodeKind.GPU_OP) & _named(experiment, [name in LAUNCHES for name in names])
    # A kernel hangs below the call site in the launch.
    below = _child_of(parent, launch)
    in_launch = below | _child_of(parent, below & (tag == Tag.C))
    kind[in_launch & (kind == NodeKind.FUNCTION)] = NodeKind.GPU_KERNEL

    own = is_one_of(kind, (NodeKind.ENTRY, NodeKind.PLACEHOLDER, NodeKind.GPU_OP))
    artificial = own | (_child_of(parent, own) & (kind == NodeKind.LINE))
    unknown = np.int32(-1)
    return CallTree(
        parent=parent,
        end=experiment.end,
        kind=kind,
        relation=relation,
        name=experiment.name,
        file=np.where(artificial, unknown, experiment.file),
        line=np.where(artificial, np.int32(0), experiment.line),
        module=np.where(artificial, unknown, experiment.module),
        names=experiment.names,
        files=experiment.files,
        modules=experiment.modules,
        source_id=experiment.id,
    )


def _named(experiment: Experiment, wanted: list[bool]) -> BoolArray:
    """True for each node whose procedure is `wanted`; the last entry stands for nodes without one (−1)."""
    return np.array([*wanted, False], dtype=bool)[experiment.name]


def _child_of(parent: NDArray[np.int32], chosen: BoolArray) -> BoolArray:
    """True for each node whose parent is `chosen`."""
    return np.append(chosen, False)[parent]
