"""What `chathpc diff` found, as data that other programs can rely on (schema chathpc-diff/1)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from chathpc.report import Document, PlaceRecord, Record, VerdictName
from chathpc.view.records import View


class ChangeRecord(Record):
    """A quantity on both sides, in the unit of the metric; of several runs the mean."""

    before: float
    after: float
    change: float = Field(description="after − before")
    error: float = Field(description="Half of the 95 % interval of the change.")
    beyond_noise: bool


class TotalRecord(ChangeRecord):
    """The run as a whole."""

    ratio: float | None = Field(description="after / before; null unless both are positive.")
    ratio_low: float | None = Field(description="Lower end of the 95 % interval of the ratio.")
    ratio_high: float | None


class ShareRecord(ChangeRecord):
    """A part of the difference of the totals. No second is in two of them: they add up, with `rest`, to that difference."""

    function: str = Field(description="The function of the program (or the entry point) that it happens in.")
    call: str | None = Field(description="The library call, or kind of calls, that the function makes; null: itself.")
    activity: str | None = Field(description="What most of the changed time was spent on; null without host time.")
    only: Literal["before", "after"] | None = Field(description="Set if one side alone has any time there.")
    where_before: PlaceRecord | None = Field(description="The place with most of the time, where any is known.")
    where_after: PlaceRecord | None
    contexts: list[list[str]] = Field(description="Call paths, from the entry point down.")
    mostly_in: str | None = Field(
        default=None,
        description="The function below that has most of the change: told here, as by itself it did not change beyond noise.",
    )
    merged_before: list[str] = Field(
        description="Functions that only the side before has and that were weighed with this one: inlined or renamed since."
    )
    merged_after: list[str] = Field(description="The same of the side after.")
    findings: list[str] = Field(description="Causes of the findings about this function that came, went or changed.")


class RowRecord(ChangeRecord):
    """A row of a table."""

    name: str


class FunctionRecord(RowRecord):
    """A function (or kind of library calls) by itself, and with all that it calls."""

    inclusive_before: float
    inclusive_after: float


class FindingChange(Record):
    """A finding of the diagnosis of either side, and what became of it."""

    cause: str
    title: str
    status: Literal["gone", "new", "grown", "shrunk", "same"]
    where_before: PlaceRecord | None
    where_after: PlaceRecord | None
    seconds_before: float | None = Field(description="Cost; null where there is no finding, or no time.")
    seconds_after: float | None
    share_before: float | None = Field(description="Cost as a part of the run, 0..1.")
    share_after: float | None
    beyond_noise: bool = Field(description="False if the time at the place did not change by more than noise.")
    summary: str


class MeasurementRecord(Record):
    """Another metric that both sides measured; without a judgement, for its noise is not known."""

    id: str
    unit: str
    before: float
    after: float


class RunRecord(Record):
    """A profile that was read."""

    paths: list[str]
    title: str
    format: str
    total: float | None
    elapsed: float | None = Field(
        default=None,
        description="How long it took, in seconds; null where that is unknown, or the total is not its time.",
    )
    samples: float | None = Field(description="Samples behind the total; null where nothing was sampled.")
    contexts: int
    ranks: int | None = Field(
        default=None, description="0 where they are not known; null where nothing is compared, and in older files."
    )
    threads: int | None = None


class SideRecord(Record):
    """One side of the comparison."""

    runs: list[RunRecord]
    ranks: int = Field(description="Of the first run.")
    threads: int = Field(description="Of the first run.")
    verdict: VerdictName
    headline: str


class NoiseRecord(Record):
    """How noise was told from change."""

    kind: Literal["repetitions", "sampling", "exact", "assumed"]
    statement: str
    level: float = Field(description="A table's rows count as changed up to this probability of chance.")


class GateRecord(Record):
    """The outcome of --fail-on-regression."""

    limit: float = Field(description="Growth that is allowed, as a part of what was before.")
    outcome: Literal["passed", "failed", "undecided"]
    statement: str


class Diff(Document):
    """Everything that `chathpc diff` says."""

    schema_: Literal["chathpc-diff/1"] = Field(default="chathpc-diff/1", alias="schema")
    verdict: Literal["faster", "slower", "less", "more", "unchanged", "undecided", "not-comparable"] = Field(
        description="faster and slower are used for times, cycles and samples, less and more of everything else; undecided where waits for a core hide it."
    )
    headline: str
    metric: str | None = Field(description="Id of the metric that is compared; null if none.")
    unit: str | None
    metric_name: str = Field(description="What the tool calls it.")
    before: SideRecord
    after: SideRecord
    noise: NoiseRecord | None
    total: TotalRecord | None = Field(description="Sum over all threads.")
    elapsed: TotalRecord | None = Field(
        description="How long the run took, in seconds, of a single thread without waits for a core; null unless both sides tell it."
    )
    shares: list[ShareRecord]
    rest: ChangeRecord | None = Field(description="What the shares leave of the difference of the totals.")
    functions: list[FunctionRecord]
    functions_rest: ChangeRecord | None = Field(description="All functions that have no row.")
    activities: list[RowRecord]
    kernels: list[RowRecord] = Field(description="GPU kernels, by their time.")
    findings: list[FindingChange]
    measurements: list[MeasurementRecord]
    notes: list[str]
    gate: GateRecord | None
    versions: dict[str, str]
    view: View | None = Field(
        default=None, description="What a page draws; null unless it was asked for (diff --view, or a page)."
    )
