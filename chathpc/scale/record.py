"""What `chathpc scale` found, as data that other programs can rely on (schema chathpc-scale/1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import ConfigDict, Field

from chathpc.report import PlaceRecord, Record

SCHEMA: Final = "chathpc-scale/1"


class RangeRecord(Record):
    """A value with its 80 % interval."""

    value: float
    low: float
    high: float


class CurveRecord(Record):
    """What a law gives at a scale."""

    at: float
    cost: RangeRecord


class LawRecord(Record):
    """How a cost grows along the parameter."""

    text: str = Field(description="Such as `1.2 + 0.3 · ranks`, in the unit of the metric.")
    kind: str
    error: float = Field(description="Symmetric mean absolute percentage error of leaving one point out, 0..2.")
    growth: RangeRecord = Field(description="Exponent of the growth at the largest scale.")
    others: list[str] = Field(description="Laws that explain the costs about as well.")
    curve: list[CurveRecord] = Field(
        description="From the smallest scale to the farthest target; empty where it cannot be extrapolated."
    )


class PointRecord(Record):
    """One scale: the mean of its repetitions. Efficiencies are POP's, 0..1 or above; null where they do not apply or were not measured."""

    value: float
    repetitions: int
    workers: float = Field(description="Threads, or ranks of one thread, that the profile shows.")
    elapsed: float = Field(description="Time of the worker that computes longest, in the unit of the metric.")
    spread: float = Field(description="Standard deviation of that between repetitions.")
    speedup: float
    overall: float | None = None
    parallel: float | None = None
    balance: float | None = None
    balance_ranks: float | None = None
    balance_threads: float | None = None
    communication: float | None = None
    mpi: float | None = None
    offload: float | None = None
    threads: float | None = None
    serialisation: float | None = None
    transfer: float | None = None
    computation: float | None = None
    instructions: float | None = None
    ipc: float | None = None
    frequency: float | None = None
    devices: float | None = None
    device_balance: float | None = None
    device_copies: float | None = None
    device_use: float | None = None


class StepRecord(Record):
    """A place on the hot path of the loss."""

    name: str
    loss: float = Field(description="Inclusive scaling loss, as a share of all workers' time at the largest scale.")


class FindingRecord(Record):
    """A place that costs more than it should at the largest scale."""

    loss: Literal["computing", "uneven", "waiting", "growth"]
    name: str
    where: PlaceRecord
    why: str
    cause: str | None = Field(
        description="Id of the catalogue's cause that this measures; null where several may be behind it."
    )
    advice: str = Field(description="What the catalogue advises, for the languages of the program; may be empty.")
    share: float = Field(description="Of all workers' time at the largest scale.")
    seconds: float = Field(description="The same for one worker, in the unit of the metric.")
    error: float = Field(description="One standard error of that.")
    costs: list[float] = Field(description="What the place costs a worker at each scale.")
    law: LawRecord | None


def is_below(one: FindingRecord, other: FindingRecord) -> bool:
    """True if the way down to one place goes on from another."""
    size = len(other.where.path)
    return size < len(one.where.path) and one.where.path[:size] == other.where.path


class RankedRecord(Record):
    """A place at the target."""

    name: str
    cost: RangeRecord


class PredictionRecord(Record):
    """The time at another scale."""

    at: dict[str, float]
    elapsed: RangeRecord | None
    efficiency: RangeRecord | None = Field(description="Against the smallest scale.")
    ranked: list[RankedRecord]
    refusal: str = Field(description="Why it cannot be extrapolated from these runs; empty if it can.")

    @classmethod
    def refused(cls, at: Mapping[str, float], why: str) -> PredictionRecord:
        """That nothing can be said of a point."""
        return cls(at=dict(at), elapsed=None, efficiency=None, ranked=[], refusal=why)


class CrossingRecord(Record):
    """From which scale on workers wait longer than they compute; null: not within 1,024 times the largest one."""

    value: float | None
    low: float | None
    high: float | None
    refusal: str


class NextRunRecord(Record):
    """The run that would tell most for its price about the first target, or make it one that can be extrapolated."""

    purpose: Literal["decide", "extrapolate", "approach"] = Field(
        description="To decide the question; to be able to extrapolate to the target; or the first of several runs to be able to."
    )
    question: str = Field(description="What it is about, such as `what costs most`; empty if nothing is open.")
    answer: str = Field(description="What the runs until now say.")
    certainty: float = Field(description="Probability of that answer.")
    at: float | None = Field(description="Value of the parameter; null if no run is worth its price, or would help.")
    repetitions: int
    core_hours: float = Field(description="0 where the metric is no time.")
    seconds: float = Field(description="Upper bound of one run's time; 0 likewise.")
    bits: float = Field(description="Information that the run is expected to give about the answer.")
    job: str = Field(description="A batch script that makes it; empty without a run.")


class SpreadPlaceRecord(Record):
    """What a place itself costs, over all locations, in the unit of the metric."""

    name: str
    path: list[str]
    locations: int = Field(description="Those that have a value there.")
    total: float
    mean: float
    deviation: float
    least: float
    quantiles: list[float] = Field(description="Of the values of all locations: 10, 50 and 90 %.")
    most: float
    busiest: str = Field(description="The location that has most there.")


class GroupRecord(Record):
    """Locations that behave alike, and where they differ most from all others."""

    members: int
    representative: str = Field(description="The one nearest to their middle.")
    nodes: list[int] = Field(
        description="Compute nodes whose locations are all of this group; empty where a node has others too."
    )
    mean: float = Field(description="Their time at the places that differ.")
    place: str
    here: float
    elsewhere: float


class OddRecord(Record):
    """A location that stands out from its group."""

    label: str
    node: int | None
    time: float = Field(description="At the places that differ between locations.")
    usual_time: float
    place: str = Field(description="Where it differs most.")
    here: float
    usual: float


class SpreadRecord(Record):
    """How a run is spread over its ranks and threads (schema chathpc-ranks/1)."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Literal["chathpc-ranks/1"] = Field(default="chathpc-ranks/1", alias="schema")
    title: str
    metric: str
    what: str = Field(default="", description="What people call the metric.")
    unit: str
    locations: int
    contexts: int
    values: int = Field(description="That are not zero.")
    places: list[SpreadPlaceRecord] = Field(description="With most in all, the first ones.")
    groups: list[GroupRecord]
    odd: list[OddRecord] = Field(description="The farthest from the others, the first ones.")
    all_odd: int


class NodeRecord(Record):
    """A place of the call tree with its part of the time at the largest scale."""

    name: str
    parent: int = Field(description="Index in this list; -1 for the root.")
    time: float = Field(description="Of the busiest worker's time, with all below it.")
    loss: float = Field(description="Of all workers' time, with all below it.")


class Scaling(Record):
    """What a series tells."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Literal["chathpc-scale/1"] = Field(default=SCHEMA, alias="schema")
    title: str
    formats: list[str]
    verdict: Literal["scales", "loses", "grows", "cannot-tell"]
    headline: str
    parameter: str
    kind: Literal["strong", "weak", "problem size", "unknown"]
    kind_reason: str
    data_growth: float = Field(default=1.0, description="The exponent with which the data grow with the parameter.")
    source: str = Field(description="Where the values of the parameter came from.")
    worker: str = Field(description="What works: rank, thread, GPU, or worker where that may be several of them.")
    fixed: dict[str, float] = Field(description="Other parameters, which all these runs share.")
    metric: str
    unit: str
    points: list[PointRecord]
    loss: float | None = Field(description="Scaling loss at the largest scale, of all workers' time; null if unknown.")
    hot_path: list[StepRecord]
    findings: list[FindingRecord]
    law: LawRecord | None = Field(description="Of the elapsed time.")
    predictions: list[PredictionRecord]
    crossing: CrossingRecord | None
    next_run: NextRunRecord | None = Field(
        description="Null where costs alone are known, or the targets have several parameters."
    )
    spread: SpreadRecord | None = Field(description="Of the largest run; null for one location, or for very many.")
    tree: list[NodeRecord] = Field(
        description="Places with a hundredth of the time or of the loss, a parent before its children."
    )
    notes: list[str]
    versions: dict[str, str]
