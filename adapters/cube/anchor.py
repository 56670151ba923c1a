"""anchor.xml of a CUBE4 profile: metrics, regions, call tree and system tree.

Read with expat in one pass, as untrusted: declarations of entities are refused, depth and numbers are bounded. Attributes of
the run and of regions may hold command lines and paths, and are not read. Source: CUBE 4 User Guide, "Cube format".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from chathpc.adapters.content import DAMAGED
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

#: Elements inside one another: a call path takes one each.
DEEPEST = 20_000
#: A name or other text of an element.
LONGEST = 100_000
CHUNK = 1 << 20


@dataclass(slots=True)
class CubeMetric:
    """A metric; `kind` is EXCLUSIVE or INCLUSIVE for what is stored, else the name of a rule that computes it."""

    number: int
    kind: str
    name: str = ""
    title: str = ""
    type: str = ""
    unit: str = ""


@dataclass(slots=True)
class Region:
    """A function, loop or other piece of source."""

    module: str
    line: int
    name: str = ""
    paradigm: str = ""
    role: str = ""


@dataclass(slots=True)
class CubeLocation:
    """A thread, GPU stream or counter of a process."""

    process: int
    rank: int = -1
    kind: str = "thread"


@dataclass(slots=True)
class Anchor:
    """The document. Call nodes stand in document order: `parents[i] < i`, −1 for roots; `numbers` are their ids."""

    creator: str = ""
    version: str = ""
    metrics: list[CubeMetric] = field(default_factory=list)
    regions: dict[int, Region] = field(default_factory=dict)
    parents: list[int] = field(default_factory=list)
    callees: list[int] = field(default_factory=list)
    parameters: dict[int, str] = field(default_factory=dict)
    processes: list[int] = field(default_factory=list)  #: rank of each process
    nodes: list[int] = field(default_factory=list)  #: number of the machine's node of each process
    locations: list[CubeLocation] = field(default_factory=list)

    def deep(self) -> list[int]:
        """Call nodes in preorder, the enumeration that exclusive metrics are stored in."""
        return list(range(len(self.parents)))

    def wide(self) -> list[int]:
        """Call nodes in the enumeration that inclusive metrics are stored in: children of a node stand together."""
        children: dict[int, list[int]] = {}
        for node, parent in enumerate(self.parents):
            children.setdefault(parent, []).append(node)
        found: list[int] = []
        for root in children.get(-1, []):
            found.append(root)
            stack = [root]
            while stack:
                below = children.get(stack.pop(), [])
                found += below
                stack += reversed(below)
        return found


def read_anchor(data: bytes, path: Path) -> Anchor:
    """The parts of an anchor.xml; AdapterError with the line of what is damaged."""
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.EntityDeclHandler = reader.entity
    try:
        for begin in range(0, len(data), CHUNK):
            parser.Parse(data[begin : begin + CHUNK], False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise AdapterError(
            f"anchor.xml, line {error.lineno}: {expat.ErrorString(error.code)}", path=path, hint=DAMAGED
        ) from None
    except (_Damage, KeyError, ValueError, IndexError) as error:
        what = str(error) if isinstance(error, _Damage) else "an element lacks a required part"
        raise AdapterError(f"anchor.xml, line {parser.CurrentLineNumber}: {what}", path=path, hint=DAMAGED) from None
    anchor = reader.anchor
    if not anchor.parents or not anchor.metrics or not anchor.locations:
        raise AdapterError("has no metrics, no call tree or no locations", path=path, hint=DAMAGED)
    return anchor


class _Damage(Exception):
    """Something is wrong at the parser's present position."""


class _Reader:
    """Handlers of one pass; `open` are the names of the elements down to the present one."""

    def __init__(self) -> None:
        self.anchor = Anchor()
        self.open: list[str] = []
        self.pieces: list[str] = []
        self.length = 0
        self.metric: list[CubeMetric] = []
        self.region: Region | None = None
        self.call: list[int] = []
        self.machine = -1
        self.machines = 0

    def entity(self, *_: object) -> None:
        raise _Damage("declares an entity, which Cube never does")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.open.append(name)
        if len(self.open) > DEEPEST:
            raise _Damage(f"has elements more than {DEEPEST:,} deep")
        self.pieces, self.length = [], 0
        anchor = self.anchor
        if name == "metric":
            self.metric.append(CubeMetric(int(attributes["id"]), attributes.get("type", "EXCLUSIVE")))
            anchor.metrics.append(self.metric[-1])
        elif name == "region":
            self.region = Region(clean(attributes.get("mod", "")), _line(attributes.get("begin", "-1")))
            anchor.regions[int(attributes["id"])] = self.region
        elif name == "cnode":
            anchor.parents.append(self.call[-1] if self.call else -1)
            anchor.callees.append(int(attributes["calleeId"]))
            self.call.append(len(anchor.parents) - 1)
        elif name == "parameter" and self.call:
            words = clean(f"{attributes.get('parkey', '')}={attributes.get('parvalue', '')}")[:200]
            anchor.parameters[self.call[-1]] = words
        elif name == "systemtreenode":
            self.machine = self.machines
            self.machines += 1
        elif name == "locationgroup":
            anchor.processes.append(-1)
            anchor.nodes.append(self.machine)
        elif name == "location":
            anchor.locations.append(CubeLocation(len(anchor.processes) - 1))
        elif name == "attr" and len(self.open) == 2:
            if attributes.get("key") == "Creator":
                anchor.creator = clean(attributes.get("value", ""))[:60]
        elif name == "cube":
            anchor.version = clean(attributes.get("version", ""))[:20]
            if len(self.open) > 1:
                raise _Damage("is not a Cube document")
        elif len(self.open) == 1:
            raise _Damage("is not a Cube document")

    def text(self, piece: str) -> None:
        self.length += len(piece)
        if self.length <= LONGEST:
            self.pieces.append(piece)

    def end(self, name: str) -> None:
        self.open.pop()
        parent = self.open[-1] if self.open else ""
        words = clean("".join(self.pieces).strip())
        self.pieces, self.length = [], 0
        if name == "metric":
            self.metric.pop()
        elif name == "cnode":
            self.call.pop()
        elif name == "region":
            self.region = None
        elif parent == "metric":
            self._of_metric(name, words)
        elif parent == "region" and self.region is not None:
            if name in ("name", "paradigm", "role"):
                setattr(self.region, name, words)
        elif parent == "locationgroup" and name == "rank":
            self.anchor.processes[-1] = _rank(words)
        elif parent == "location" and name in ("rank", "type"):
            if name == "rank":
                self.anchor.locations[-1].rank = _rank(words)
            else:
                self.anchor.locations[-1].kind = words

    def _of_metric(self, name: str, words: str) -> None:
        if name == "uniq_name":
            self.metric[-1].name = words
        elif name == "disp_name":
            self.metric[-1].title = words
        elif name == "dtype":
            self.metric[-1].type = words.upper()
        elif name == "uom":
            self.metric[-1].unit = words


def _line(text: str) -> int:
    number = int(text)
    return number if 0 < number < 2**31 else 0


def _rank(text: str) -> int:
    number = int(text)
    return number if 0 <= number < 2**31 else -1
