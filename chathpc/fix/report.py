"""What `chathpc fix` found, as data that other programs can rely on (schema chathpc-fix/1)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from chathpc.comparison.record import Diff
from chathpc.report import Document, Record, TreeRecord

SCHEMA = "chathpc-fix/1"


class SpeedupRecord(Record):
    """Time before over time after, with its 95 % interval."""

    model_config = ConfigDict(from_attributes=True)

    estimate: float
    low: float
    high: float
    pairs: int = Field(description="Pairs of interleaved runs that it rests on.")


class GateRecord(Record):
    """What one gate said of a change."""

    model_config = ConfigDict(from_attributes=True)

    gate: Literal["scope", "build", "correctness", "effects", "speed", "plausibility", "cause"]
    passed: bool
    verdict: str | None
    statement: str
    figures: dict[str, Any]


class AttemptRecord(Record):
    """A change that was tried."""

    id: str
    proposer: str
    recipe: str
    title: str
    finding: str | None = Field(description="Title of the finding that it addresses.")
    files: list[str]
    flags: str | None
    verdict: str
    reason: str = Field(description="Statement of the gate that rejected it, or of the last gate.")
    speedup: SpeedupRecord | None
    predicted: float | None = Field(description="The speed-up if the finding's cost vanished (Amdahl's law).")
    gates: list[GateRecord]


class UntriedRecord(Record):
    """A finding for which no change was tried."""

    finding: str = Field(description="Its title.")
    place: str
    why: str = Field(description="Why no change was tried.")
    advice: str = Field(description="What to do by hand.")
    general: bool = Field(
        default=False, description="True if the advice is for the cause wherever it is, not for this place."
    )


class BaselineRecord(Record):
    """The original with other flags of the compiler, and no change."""

    model_config = ConfigDict(from_attributes=True)

    flags: str
    statement: str
    speedup: SpeedupRecord | None = Field(description="Of the flags alone, against the user's own.")
    changed: SpeedupRecord | None = Field(
        description="Of the change against the original, both built with these flags."
    )


class FixReport(Document):
    """Everything that `chathpc fix` says."""

    schema_: Literal["chathpc-fix/1"] = Field(default="chathpc-fix/1", alias="schema")
    verdict: Literal["improved", "improved-if", "healthy", "nothing-passed", "insufficient-data", "unfinished"]
    headline: str
    folder: str
    command: str
    flags: str | None = Field(description="The compiler's flags: the user's own.")
    new_flags: str | None = Field(description="Flags that are part of what was accepted; null if none are.")
    sandbox: str
    diagnosis: str = Field(description="The headline of the diagnosis before.")
    speedup: SpeedupRecord | None = Field(description="All that was accepted together, against the original.")
    seconds_before: float | None = Field(description="Median wall time of the timed runs.")
    seconds_after: float | None
    accepted: list[str] = Field(
        description="Ids of the changes that were accepted, in the order in which they build on each other."
    )
    given_up: list[str] = Field(
        description="What a crash may cost more than before once it is applied; the verdict is improved-if unless that is allowed."
    )
    attempts: list[AttemptRecord]
    untried: list[UntriedRecord] = Field(
        default=[], description="Findings that remain and for which no change was tried."
    )
    baselines: list[BaselineRecord]
    compiler_alone: bool | None = Field(
        description="Whether flags alone would have done as much; null where that is not known."
    )
    patch: str = Field(description="Unified diff for `git apply` and `patch -p1`; empty if no file is changed.")
    tree_before: TreeRecord | None
    tree_after: TreeRecord | None
    comparison: Diff | None
    remarks: list[str]
    work: str = Field(description="Folder with ledger, builds and profiles.")
    versions: dict[str, str]

    @property
    def taken(self) -> list[AttemptRecord]:
        """The changes that were accepted, in their order. One that was submitted again has the id of what was refused before."""
        passed = {each.id: each for each in self.attempts if all(gate.passed for gate in each.gates)}
        return [passed[id] for id in self.accepted if id in passed]

    @property
    def not_taken(self) -> list[AttemptRecord]:
        """All other changes that were tried."""
        taken = self.taken
        return [each for each in self.attempts if each not in taken]
