"""The report: what `chathpc explain` found, as data that other programs can rely on (schema chathpc-report/2).

Renderers (chathpc.reports) turn it into text, Markdown, JSON, …; nothing is computed there.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from chathpc.diagnosis.fact import Kind
from chathpc.profile.run import RunFacts
from chathpc.profile.text import clean
from chathpc.view.records import View

#: A hypothesis about a smaller part of the run is not worth a reader's time.
SMALLEST_SHARE = 0.05

#: What the profile as a whole says.
VerdictName = Literal["bottleneck", "suspected", "hot-spot", "healthy", "insufficient-data"]


class Record(BaseModel):
    """Base of the report's parts: immutable, nothing beyond the schema. `model_validate` makes one of any object with such attributes, too."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", from_attributes=True, json_schema_serialization_defaults_required=True
    )


class Document(Record):
    """A record that stands for itself in a file; its key `schema` says what it is."""

    model_config = ConfigDict(populate_by_name=True)

    def to_json(self, *, indent: int = 2) -> str:
        """JSON text that validates against the schema of its kind in docs/."""
        return self.model_dump_json(by_alias=True, indent=indent)


class PlaceRecord(Record):
    """A place in the program, names as recorded by the tool."""

    function: str | None = None
    file: str | None = None
    line: int | None = None
    kernel: str | None = None
    path: list[str] = Field(default_factory=list, description="From the entry point down to the place.")


class MetricRecord(Record):
    """A metric that has values."""

    id: str
    source_name: str
    unit: str
    total: float


class ProfileRecord(Record):
    """What was read."""

    format: str
    paths: list[str]
    title: str
    shape: str = Field(description="Nodes, ranks and threads of the program in words: 4 ranks × 2 threads.")
    run: RunFacts = Field(description="Numbers of the whole run; null or 0 where unknown.")
    contexts: int
    locations: int
    metrics: list[MetricRecord]
    caveats: list[str]
    not_collected: dict[str, str] = Field(description="What the profile lacks → the command that would collect it.")


class QuantityRecord(Record):
    """What a fact is a part of, or is compared with."""

    value: float | None = Field(description="Null where only its name is known.")
    unit: str
    of: str = Field(description="What it is; empty for the whole run.")


class PartRecord(Record):
    """One of several quantities of a fact."""

    label: str
    value: float | None = Field(description="Null where only the name is known.")
    unit: str


class EvidenceRecord(Record):
    """One measured fact."""

    id: str
    kind: Kind
    statement: str = Field(description="The fact as a sentence, made from the other fields.")
    subject: str
    metric: str | None
    value: float
    unit: str
    whole: QuantityRecord | None = None
    parts: list[PartRecord] = Field(default_factory=list)
    where: PlaceRecord | None
    source: str
    tool: str = ""
    error: float | None = Field(
        default=None, description="Standard error of the value from sampling, in its unit; null where it was measured."
    )


class GainRecord(Record):
    """Speed-ups of whole runs by measured repairs: the middle half of them, and their number."""

    low: float
    high: float
    cases: int


class EditRecord(Record):
    """One edit of a proposed change: `search` stands once in the file and becomes `replace`."""

    file: str
    search: str
    replace: str


class ChangeRecord(Record):
    """A change of the source that is there, made by a recipe: proposed, not tried."""

    file: str
    line: int
    also: list[int] = Field(default=[], description="Further lines that it changes alike.")
    says: str = Field(description="What it does, as it goes on after the place's name.")
    whole: bool = Field(default=True, description="False where it is known to leave a part of what costs the time.")
    edits: list[EditRecord]


class FindingRecord(Record):
    """A cause at a place, with its cost, its evidence and what to do."""

    cause: str
    title: str
    summary: str
    where: PlaceRecord
    source: str | None = Field(default=None, description="The source line at the place, where the profile has it.")
    seconds: float | None = Field(description="Cost over all threads; null if the profile has no time.")
    share: float = Field(description="Cost as a part of the whole, 0..1.")
    share_error: float | None = Field(
        default=None, description="Standard error of the share from sampling; null where it was measured."
    )
    speedup_if_free: float | None = Field(
        description="Speed-up of the run if the place and all that it calls were eliminated (Amdahl); an upper bound."
    )
    speedup_bound: float | None = Field(
        description="Upper bound of a fix, where the catalogue says what it can remove; else null."
    )
    typical_gain: GainRecord | None = Field(description="Speed-ups of measured fixes of this cause; null if none.")
    confidence: float = Field(ge=0, le=1)
    confidence_reason: str
    evidence: list[str]
    against: list[str]
    advice: list[str]
    change: ChangeRecord | None = Field(
        default=None, description="The advice as a change of the source; null without source or recipe."
    )
    next_measurement: str | None
    origin: Literal["profile", "source"] = Field(
        default="profile", description="Whether the profile or the source named the cause."
    )
    status: Literal["measured", "derived"] = Field(
        default="measured",
        description="derived: the time at the place was measured, the cause was read in the source or the machine code.",
    )


class SkippedRecord(Record):
    """Checks that could not see anything, and why."""

    checks: list[str]
    reason: str
    remedy: str = Field(description="What would supply what they lack: an option of chathpc, or a command.")


class ExaminedRecord(Record):
    """What was examined and what was not."""

    run: list[str] = Field(default_factory=list, description="The checks that ran.")
    skipped: list[SkippedRecord] = Field(default_factory=list)


class HypothesisRecord(Record):
    """What a model suspects from facts and source, under its name: no finding until a trial has decided."""

    id: str
    cause: str = Field(description="A cause of the catalogue, or other.")
    name: str
    where: PlaceRecord
    mechanism: str = Field(
        description="What the code does and why it costs time; empty where what the model said did not hold."
    )
    cites: list[str] = Field(description="Ids of evidence and places, and source lines, that it rests on.")
    against: list[str]
    confidence: Literal["likely", "possible", "unlikely"]
    share: float | None = Field(description="Part of the run (0..1) that the place has; null where it is not known.")
    trial: str | None = Field(description="change, or the cause whose measurement in the catalogue would settle it.")
    measurement: str = Field(
        default="", description="That measurement for this program, and what it shows; empty for none."
    )
    change: list[EditRecord] = Field(description="Proposed, not tried.")
    status: Literal["suspected", "proved", "refuted", "undecided"]
    by: str = Field(description="The model.")
    supported: bool = Field(default=False, description="Whether a finding names the same cause.")

    @property
    def is_shown(self) -> bool:
        """Whether a reader is shown it: its author or a measured finding holds it likely, nothing rules it out, and its place is worth a trial."""
        return (
            (self.confidence == "likely" or (self.confidence == "possible" and self.supported))
            and self.status != "refuted"
            and (self.share is None or self.share >= SMALLEST_SHARE)
        )


class StatementRecord(Record):
    """A sentence under its author's name, and why it is not printed if it is not: a reading of the source or a piece of advice by a model, or
    a fact told by a model or by the catalogue.
    """

    kind: Literal["reading", "advice", "retold"]
    text: str
    cites: list[str]
    by: str
    dropped_because: str | None


class UsageRecord(Record):
    """What a model's answer took: how often it was asked, calls of tools, tokens, money; null where its server does not count, or its price
    is not in the settings.
    """

    tries: int
    calls: int = 0
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    currency: str | None


class ExplanationRecord(Record):
    """The explanation: `text` is the facts that matter most in words, `statements` who said which sentence, also those that were dropped.
    `model` is null where none spoke.
    """

    text: str
    model: str | None
    audience: Literal["expert", "newcomer", "manager"] = "expert"
    statements: list[StatementRecord] = Field(default_factory=list)
    note: str | None = Field(default=None, description="Why there is no model, or what went wrong with it.")
    lack: Literal["unavailable", "budget", "unsupported"] | None = Field(
        default=None,
        description="Why no model's words are used though one was asked: none could be had, a limit on time, tokens or money was "
        "reached, or nothing of what was said holds.",
    )
    usage: UsageRecord | None = Field(default=None, description="What the model's answer took; null without one.")


class FlatRecord(Record):
    """A row of the flat profile: a function of the program or a kernel, or what libraries do."""

    name: str
    share: float = Field(description="Its own part of the whole, 0..1.")
    own: bool = Field(description="Whether it is the program's own.")


class TreeRow(Record):
    """A row of the pruned call tree, in preorder."""

    depth: int
    label: str
    place: str
    inclusive: float
    exclusive: float
    share: float = Field(description="Inclusive value as a part of the total, 0..1.")


class TreeRecord(Record):
    """The pruned call tree by one metric."""

    metric: str
    unit: str
    total: float
    rows: list[TreeRow]


class PruningRecord(Record):
    """What was left out, and how much of the time is covered by what was kept."""

    contexts_before: int
    contexts_after: int
    metrics_before: int
    metrics_after: int
    time_kept_share: float
    tokens: int


class Report(Document):
    """Everything that `chathpc explain` says."""

    schema_: Literal["chathpc-report/2"] = Field(default="chathpc-report/2", alias="schema")
    profile: ProfileRecord
    verdict: VerdictName
    headline: str
    findings: list[FindingRecord]
    hypotheses: list[HypothesisRecord] = Field(
        default_factory=list, description="What a model suspects, the most worthwhile first."
    )
    evidence: list[EvidenceRecord]
    notes: list[str]
    explanation: ExplanationRecord
    examined: ExaminedRecord = Field(default_factory=ExaminedRecord)
    flat: list[FlatRecord] = Field(default_factory=list, description="The flat profile, largest first.")
    flat_metric: str | None = Field(
        default=None, description="Id of what its shares are of: the metric of the tree, or gpu.time beside it."
    )
    tree: TreeRecord | None
    pruning: PruningRecord
    timings: dict[str, float] = Field(description="Seconds per stage.")
    versions: dict[str, str]
    view: View | None = Field(
        default=None, description="What a page draws; null unless it was asked for (explain --view, or a page)."
    )

    def __repr__(self) -> str:
        """What it is about, not all of it."""
        return f"<Report on {self.profile.title}: {self.verdict}, {len(self.findings)} findings>"

    def __str__(self) -> str:
        """The verdict and a line for each finding; all of it is in the fields, and in what the renderers make of them."""
        lines = [f"{self.verdict.upper()}: {self.headline}"]
        for number, each in enumerate(self.findings, 1):
            where = (
                each.where.kernel or each.where.function,
                each.where.file and f"{each.where.file}:{each.where.line}",
            )
            lines.append(f"{number}. {', '.join((each.title, *filter(None, where)))}")
        return "\n".join(clean(" ".join(line.split())) for line in lines)

    @property
    def suspected(self) -> list[HypothesisRecord]:
        """The hypotheses that a reader is shown: worth a trial, and ruled out by nothing."""
        return [each for each in self.hypotheses if each.is_shown]
