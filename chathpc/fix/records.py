"""What the fix loop hands from hand to hand: a problem, candidates, what each gate said, and the verdict."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol

from chathpc.diagnosis.records import Diagnosis, Finding
from chathpc.fix.project import Project
from chathpc.profile.profile import Profile

if TYPE_CHECKING:
    from chathpc.fix.agent.workbench import Workbench

Gate = Literal["scope", "build", "correctness", "effects", "speed", "plausibility", "cause"]
#: In this order; the first that says no ends it.
Figure = str | float | int | bool | None | Sequence["Figure"] | Mapping[str, "Figure"]


class Verdict(StrEnum):
    """What became of a candidate."""

    ACCEPTED = "accepted"
    IMPROVED_IF = "improved-if"
    OUT_OF_SCOPE = "out-of-scope"
    BUILD_FAILED = "build-failed"
    WRONG_ANSWER = "wrong-answer"
    CHEATED = "cheated"
    EFFECTS_LOST = "effects-lost"
    SLOWER = "slower"
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"
    IMPLAUSIBLE = "implausible"
    CAUSE_UNMOVED = "cause-unmoved"


@dataclass(frozen=True, slots=True)
class Problem:
    """What a proposer sees: the project, its sources as they are (path below the root → text), and the diagnosis.

    `sources` holds those that may be edited. Findings are in `diagnosis`, by cost × headroom, and `profile` is what it was made of.
    `workbench` is for who tries edits before proposing them.
    """

    project: Project
    sources: Mapping[str, str]
    diagnosis: Diagnosis
    profile: Profile | None = None
    workbench: Workbench | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One change: whole new texts of files (path below the root → text), and the compiler's flags if they change.

    `proposer` is the strategy, `recipe` what it applied; `title` says in one line what was done. `finding` is what it is meant to
    mend (None: the build as a whole). `parent` is the id of the candidate that it goes on from. `claims` are the functions of which its
    author says that they take less time, beside what findings name.
    """

    id: str
    proposer: str
    title: str
    files: Mapping[str, str] = field(default_factory=dict)
    flags: str | None = None
    finding: Finding | None = None
    recipe: str = ""
    parent: str | None = None
    claims: tuple[str, ...] = ()


def identity(files: Mapping[str, str], flags: str | None = None) -> str:
    """The id of a candidate, from what it changes and nothing else: 16 hexadecimal digits (SHA-256)."""
    whole = hashlib.sha256()
    for text in [flags or "", *(part for path in sorted(files) for part in (path, files[path]))]:
        data = text.encode("utf-8", "surrogateescape")
        whole.update(len(data).to_bytes(8, "little") + data)
    return whole.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class GateResult:
    """What one gate said of a candidate: its verdict if it said no, one sentence, and the figures that it rests on."""

    gate: Gate
    passed: bool
    statement: str
    verdict: Verdict | None = None
    figures: Mapping[str, Figure] = field(default_factory=dict)


def figures_of(gates: Iterable[GateResult], gate: Gate, name: str) -> list[float]:
    """The numbers that a gate has under a name; none where it was not asked, or has nothing of that kind."""
    told = next((each.figures.get(name) for each in gates if each.gate == gate), None)
    return [float(each) for each in told if isinstance(each, int | float)] if isinstance(told, list) else []


@dataclass(frozen=True, slots=True)
class Speedup:
    """Time of the original over that of the changed program: estimate and 95 % interval, from `pairs` interleaved runs."""

    estimate: float
    low: float
    high: float
    pairs: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """A candidate with all that was found out about it; `predicted` is the bound of its finding (Amdahl)."""

    candidate: Candidate
    verdict: Verdict
    gates: tuple[GateResult, ...]
    speedup: Speedup | None = None
    predicted: float | None = None


class Proposer(Protocol):
    """A strategy: candidates for a problem, knowing what became of the earlier ones."""

    @property
    def name(self) -> str:
        """recipes, advice or agent."""
        ...

    @property
    def learns(self) -> bool:
        """True if it may say more about the same problem once it knows what became of its candidates."""
        ...

    def propose(self, problem: Problem, history: Sequence[Attempt]) -> Iterable[Candidate]:
        """Candidates of one round, best first; none when it has no more. Never raises for what a model answered."""
        ...
