"""What both of Caliper's file formats hold: rows of values, each at a region path and with labels beside it."""

from __future__ import annotations

from dataclasses import dataclass, field

from chathpc.profile.tree import NodeKind

#: A region path deeper than this is none that a person annotated or a sampler unwound.
DEEPEST = 10_000
#: Attributes (metrics and labels) in a file; Caliper's own number about a hundred.
MOST_ATTRIBUTES = 5_000

#: Attributes whose values are functions of the program or of a library; any other nested attribute names a region.
_FUNCTIONS = (
    "function",
    "mpi.function",
    "cupti.runtimeAPI",
    "cupti.driverAPI",
    "cuda.runtimeAPI",
    "rocm.api",
    "pthread",
)
#: Labels that name the GPU kernel that a row is about.
KERNEL_LABELS = ("cupti.kernel.name", "rocm.kernel.name", "gpu.kernel.name", "kernel.name")


def kind_of(attribute: str, name: str) -> NodeKind:
    """What a value of a nested attribute stands for in the tree."""
    if attribute in KERNEL_LABELS:
        return NodeKind.GPU_KERNEL
    if attribute in _FUNCTIONS or "function" in attribute or name.startswith(("MPI_", "PMPI_")):
        return NodeKind.FUNCTION
    return NodeKind.REGION


#: A region of the tree: the one that it stands in (−1: none), what it stands for, its name.
Region = tuple[int, NodeKind, str]


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column: `name` as Caliper calls it, `alias` and `unit` as it tells people."""

    name: str
    alias: str = ""
    unit: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The name taken apart: operators, outermost first, then what was measured."""
        return tuple(self.name.split("#"))


@dataclass(frozen=True, slots=True)
class Row:
    """One record: its place in the tree of regions (−1: outside all), labels by attribute, numbers by attribute."""

    place: int
    labels: dict[str, str]
    values: dict[str, float]


@dataclass(slots=True)
class Table:
    """A whole file: `regions` are (parent, kind, name), parents first; `facts` the run's metadata, not to be shown as it is."""

    regions: list[Region] = field(default_factory=list)
    attributes: dict[str, Attribute] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    complete: bool = True
