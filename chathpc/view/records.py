"""What a page draws, as data: columns of equal length, names by their number in tables that all parts share."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

#: What the time of a place was spent on, as pages colour it.
Group = Literal["own", "math", "library", "memory", "io", "mpi", "openmp", "wait", "gpu", "runtime", "other"]


#: Where source text comes from: it came with the profile, was named, or was found by its name.
Origin = Literal["profile", "named", "found"]


class Drawn(BaseModel):
    """Base of the parts: immutable, nothing beyond the schema."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)


class DrawnMetric(Drawn):
    """A metric that the parts have values of."""

    id: str
    title: str = Field(description="What it counts, in words.")
    unit: str
    total: float


class DrawnTree(Drawn):
    """The pruned calling context tree in preorder. Exclusive values add up to the total of each metric."""

    parent: list[int]
    name: list[int] = Field(description="Number in the table of names.")
    file: list[int] = Field(description="Number in the table of files; -1 for none.")
    line: list[int] = Field(description="0 for none.")
    group: list[int] = Field(description="Number in the table of groups.")
    values: dict[str, list[float]] = Field(description="Metric → exclusive value of each node.")
    before: dict[str, list[float]] = Field(
        default_factory=dict, description="The same for the run that this one is compared with; empty without one."
    )
    contexts: int = Field(description="Contexts that the tree represents.")


class DrawnRows(Drawn):
    """Functions or lines: those with most of any metric."""

    name: list[int]
    file: list[int]
    line: list[int]
    module: list[int]
    group: list[int]
    exclusive: dict[str, list[float]]
    inclusive: dict[str, list[float]]
    left_out: int = Field(description="Rows with a value that are not listed.")


class DrawnThreads(Drawn):
    """The inclusive values of places at each rank and thread."""

    metric: str
    rank: list[int] = Field(description="-1 where there are no ranks.")
    thread: list[int] = Field(description="-1 where there are no threads; the number within its rank.")
    places: list[int] = Field(description="Names; -1 for the program as a whole.")
    values: list[list[float]] = Field(description="For each place the value at each location.")
    left_out: int = Field(description="Locations that are not listed.")


class DrawnLane(Drawn):
    """What one place was busy with: intervals in nanoseconds from the beginning."""

    title: str
    owner: str = Field(description="The device, or the host.")
    group: Group
    start: list[int]
    length: list[int]
    name: list[int]
    count: list[int] = Field(description="Events of the recording behind each interval: short neighbours are one.")
    groups: list[int] = Field(default_factory=list, description="Group of each interval, where they differ.")


class DrawnTimeline(Drawn):
    """All lanes."""

    length: int = Field(description="Nanoseconds.")
    resolution: int = Field(description="Events shorter than this, in nanoseconds, are drawn with their neighbours.")
    lanes: list[DrawnLane]
    left_out: int = Field(description="Lanes that are not listed.")


class DrawnKernel(Drawn):
    """A GPU kernel in the roofline: operations per second over operations per byte of device memory traffic."""

    name: int
    intensity: float
    rate: float
    seconds: float | None
    precision: str
    peak_rate: float | None
    peak_bandwidth: float | None


class DrawnRemark(Drawn):
    """What a compiler, or the rule of a tool, says of a line (0: of the place as a whole)."""

    line: int
    said: str = Field(description="What became of the loop or call: vectorised, not inlined, …; or the kind of remark.")
    good: bool
    text: str
    by: str


class DrawnPiece(Drawn):
    """Lines of source that follow each other."""

    first: int
    lines: list[str]


class DrawnSource(Drawn):
    """The lines of a file around those with time."""

    file: int
    origin: Origin
    pieces: list[DrawnPiece]
    heat: dict[str, list[tuple[int, float]]] = Field(description="Metric → line and its exclusive value.")
    remarks: list[DrawnRemark]


class KernelRemark(Drawn):
    """What a tool's own rule says of a kernel."""

    name: int
    remark: DrawnRemark
    speedup: float | None = Field(
        description="The tool's estimate of the possible gain, as a fraction (0..1) of the kernel's time."
    )


class View(Drawn):
    """Everything that a page draws beyond the report."""

    metrics: list[DrawnMetric]
    names: list[str]
    files: list[str]
    modules: list[str]
    groups: list[Group]
    tree: DrawnTree | None = None
    functions: DrawnRows | None = None
    lines: DrawnRows | None = None
    threads: DrawnThreads | None = None
    timeline: DrawnTimeline | None = None
    roofline: list[DrawnKernel] = Field(default_factory=list)
    sources: list[DrawnSource] = Field(default_factory=list)
    kernel_remarks: list[KernelRemark] = Field(default_factory=list)
