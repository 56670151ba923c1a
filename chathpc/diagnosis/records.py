"""What a diagnosis consists of: measured facts, findings that rest on them, and a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from chathpc.diagnosis.fact import Fact
from chathpc.diagnosis.measured_gains import TypicalGain

#: Where a finding comes from, and what its cause rests on.
Origin = Literal["profile", "source"]
Status = Literal["measured", "derived"]


class Verdict(StrEnum):
    """What the profile as a whole says: a measured cause is worth removing; the source gives a reason that nothing measured yet; the
    time is at a place and no cause was found; nothing waits and the work is at a limit, spread out or in tuned libraries; too little data.
    """

    BOTTLENECK = "bottleneck"
    SUSPECTED = "suspected"
    HOT_SPOT = "hot-spot"
    HEALTHY = "healthy"
    INSUFFICIENT = "insufficient-data"


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the program something is: names as recorded by the tool; `path` from the entry point down; `node` in
    the tree or −1.
    """

    function: str | None = None
    file: str | None = None
    line: int | None = None
    kernel: str | None = None
    path: tuple[str, ...] = ()
    node: int = -1

    @property
    def short(self) -> str:
        """`heat.c:12` (base name), `heat.c`, or the empty string."""
        if self.file is None:
            return ""
        base = self.file.rsplit("/", 1)[-1]
        return f"{base}:{self.line}" if self.line else base


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause from the catalogue at a place, what it costs, what could be won, and why to believe it.

    `seconds` is the cost over all threads (None if the profile has no time), `share` the same as a part of the whole
    (0..1),
    `share_error` the standard error of that from sampling (None where it was measured),
    `headroom` the part of the cost (0..1) that could go, `speedup_bound` the run's speed-up if all went that a repair of
    this cause can remove, which the catalogue says (None where it says nothing), `speedup_if_free` that if the place took no time, with all
    that is below it (Amdahl's law; no promise), `typical_gain` what measured repairs of the cause gave.
    `confidence` is a probability (0..1), `confidence_reason` says what it was computed from. `suspected` names causes that the source at a
    hot place makes one suspect and that this profile cannot show: no claim, but worth a measurement, or a try.
    `origin` says whether the profile or the source (or the machine code) named the cause; `status` is `derived` where only the time at the place was
    measured and the cause was read in the source or the machine code.
    """

    cause: str
    title: str
    summary: str
    where: Place
    seconds: float | None
    share: float
    headroom: float
    speedup_bound: float | None
    confidence: float
    confidence_reason: str
    evidence: tuple[str, ...]
    against: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    next_measurement: str | None = None
    impact: float | None = None
    share_error: float | None = None
    suspected: tuple[str, ...] = ()
    origin: Origin = "profile"
    status: Status = "measured"
    speedup_if_free: float | None = None
    typical_gain: TypicalGain | None = None

    @property
    def weight(self) -> float:
        """Cost × headroom, or `impact` where the cost is not time (a leak): by this findings are ranked.

        The largest node of a healthy program has no headroom.
        """
        return self.share * self.headroom if self.impact is None else self.impact


@dataclass(frozen=True, slots=True)
class Skipped:
    """Checks that could not see anything: their names, what the profile lacks for them, and what would supply it."""

    checks: tuple[str, ...]
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Examined:
    """The checks that ran, by name, and those that could not."""

    run: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Verdict, the sentence that states it, findings (the most worthwhile first), all evidence, and what was examined."""

    verdict: Verdict
    headline: str
    findings: tuple[Finding, ...] = ()
    evidence: tuple[Fact, ...] = ()
    notes: tuple[str, ...] = ()
    not_collected: Mapping[str, str] = field(default_factory=dict)
    examined: Examined = Examined()

    @property
    def blames(self) -> bool:
        """True if the first finding is a cause that is worth removing, measured or read in the source."""
        if self.verdict == Verdict.SUSPECTED:
            return any(finding.status == "derived" for finding in self.findings[:1])
        return self.verdict == Verdict.BOTTLENECK
