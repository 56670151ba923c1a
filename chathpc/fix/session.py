"""What the steps of a session share: its bounds, where it stands, and profiles and timings, each taken once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from chathpc.comparison.record import Diff
from chathpc.diagnosis.records import Diagnosis, Verdict
from chathpc.errors import MeasurementError
from chathpc.fix.gates import speed as speed_gate
from chathpc.fix.gates.examination import Reference
from chathpc.fix.history import Past
from chathpc.fix.ledger import Ledger
from chathpc.fix.profiling import Profiler
from chathpc.fix.project import Project
from chathpc.fix.records import Attempt, Candidate, Proposer, Speedup
from chathpc.fix.records import Verdict as Passed
from chathpc.fix.runner import Built, Runner
from chathpc.fix.speed import Timing
from chathpc.fix.thresholds import threshold
from chathpc.profile.profile import Profile

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds of a session: rounds, candidates of all rounds, seconds in all, seconds for timing one candidate."""

    rounds: int = 3
    candidates: int = 24
    seconds: float = 1800.0
    timing: float = 60.0


@dataclass(frozen=True, slots=True)
class State:
    """Where the loop stands: files that are changed so far, flags (None: the user's), how it is built and what its profile says.

    `key` is that of the candidate that led here; None for the original. There is no profile of a change that made the program too
    short for one: nothing is tried from there.
    """

    files: Mapping[str, str]
    flags: str | None
    built: Built
    profile: Profile | None
    diagnosis: Diagnosis
    key: str | None = None

    @property
    def measured(self) -> Profile:
        """The profile, of a state that others are compared with."""
        if self.profile is None:
            raise AssertionError("no profile, nothing to try")
        return self.profile

    def changed_by(self, candidate: Candidate) -> tuple[dict[str, str], str | None]:
        """Files and flags of the whole change against the original once `candidate` is added."""
        flags = self.flags if candidate.flags is None else candidate.flags
        return {**self.files, **candidate.files}, flags


@dataclass(slots=True)
class Session:
    """One session of the loop: what it was given, and what it has found out so far.

    `originals` are the sources of the original that may be edited (path below the root → text), `paths` all its files. `seen` are the
    keys of the candidates of all sessions, `longest` the seconds of the one that took longest. What was found out by earlier sessions
    is in `past`, and nothing of that is done again.
    """

    project: Project
    proposers: tuple[Proposer, ...]
    runner: Runner
    ledger: Ledger
    budget: Budget
    profiler: Profiler
    progress: Progress
    random: np.random.Generator
    with_baselines: bool = True
    clock: Callable[[], float] = time.monotonic
    past: Past = field(default_factory=Past)
    begun: float = 0.0
    longest: float = 0.0
    originals: Mapping[str, str] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    attempts: list[Attempt] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    reference: Reference | None = None
    loaded: dict[Path, Profile] = field(default_factory=dict)

    @property
    def original(self) -> Reference:
        """What the original does; it is built when a session begins."""
        if self.reference is None:
            raise AssertionError("the original was not built")
        return self.reference

    def takes(self, attempt: Attempt) -> bool:
        """Whether a change is gone on with: it passed, and gives up nothing that may not be given up."""
        return attempt.verdict == Passed.ACCEPTED or (
            attempt.verdict == Passed.IMPROVED_IF and "durability" in self.project.allow
        )

    # -- states ----------------------------------------------------------------------------------------------

    def state(
        self, files: Mapping[str, str], flags: str | None, built: Built, key: str | None, given: Path | None = None
    ) -> State:
        """The state of a built tree, profiled unless that is done; once more if that tells nothing, for a machine that does something
        else may lose samples.
        """
        from chathpc.diagnosis.diagnose import diagnose

        try:
            profile = self._load(self._measured(built) if given is None else given, built)
        except MeasurementError as error:
            if key is None:
                raise
            return State(files, flags, built, None, Diagnosis(Verdict.INSUFFICIENT, error.message, ()), key)
        diagnosis = diagnose(profile)
        if given is None and diagnosis.verdict == Verdict.INSUFFICIENT:
            with suppress(MeasurementError):  # what has become this short may leave nothing the next time
                profile = self._load(self._measured(built, again=True), built)
                diagnosis = diagnose(profile)
        return State(files, flags, built, profile, diagnosis, key)

    def sources(self, state: State) -> dict[str, str]:
        """All sources that may be edited, as they are in a state."""
        return {**self.originals, **state.files}

    def project_at(self, state: State) -> Project:
        """The project with the flags of a state."""
        flags = self.project.flags
        if flags is None or state.flags is None:
            return self.project
        return replace(self.project, flags=replace(flags, value=state.flags))

    # -- profiles --------------------------------------------------------------------------------------------

    def compared(self, state: State, changed: Built, *, again: bool = False) -> Diff:
        """The profiles of a state and of another tree, compared. With `again` both are measured once more, which counts from then on."""
        from chathpc.comparison.compare import diff

        if again:
            self._measured(state.built, again=True)
            self._measured(changed, again=True)
        before = self._known(state.built, again=True)
        after = self.profile(changed)
        self.progress("comparing the profiles")
        return diff(state.measured if before is None else self._load(before, state.built), after)

    def profile(self, built: Built) -> Profile:
        """The last profile of a tree, made if there is none."""
        return self._load(self._known(built, again=True) or self._measured(built), built)

    def forget(self, built: Built) -> None:
        """Let go of the profiles of a tree that is not gone on with."""
        for again in (False, True):
            path = self.past.profiles.get(_profile_name(built, again=again))
            if path is not None:
                self.loaded.pop(self.runner.workspace.root / path, None)

    def _known(self, built: Built, *, again: bool = False) -> Path | None:
        """The profile of a built tree if it was made."""
        known = self.past.profiles.get(_profile_name(built, again=again))
        path = None if known is None else self.runner.workspace.root / known
        return path if path is not None and path.exists() else None

    def _measured(self, built: Built, *, again: bool = False) -> Path:
        """The profile of a built tree, made once; with `again` its second one, made once as well."""
        known = self._known(built, again=again)
        if known is not None:
            return known
        name = _profile_name(built, again=again)
        self.progress("profiling once more" if again else "profiling")
        path = self.profiler(self.runner, built, self.runner.workspace.profiles / name)
        self.past.profiles[name] = str(path.relative_to(self.runner.workspace.root))
        self.ledger.append("profile", {"build": name, "path": self.past.profiles[name]})
        return path

    def _load(self, path: Path, built: Built) -> Profile:
        """The profile of a built tree at a path, read once; the tree has the source that it does not bring."""
        if path not in self.loaded:
            from chathpc.adapters.load import load

            self.loaded[path] = load(path).with_sources([built.folder] if built.folder.is_dir() else [])
        return self.loaded[path]

    @property
    def taken(self) -> float:
        """Seconds that the session has taken so far, with all that went before it was broken off."""
        return self.past.seconds + self.clock() - self.begun

    # -- timings ---------------------------------------------------------------------------------------------

    def timed(
        self, original: Built, changed: Built, fewest: float | None = None, *, watched: float | None = None
    ) -> tuple[Timing, speed_gate.Fault | None]:
        """Two trees timed in pairs of runs, and what was wrong with an answer; with `fewest` pairs in less time. `watched` as for
        `speed.measure`.
        """
        seconds = self.budget.timing * (1 if fewest is None else threshold("less_timing"))

        def once() -> tuple[Timing, speed_gate.Fault | None]:
            return speed_gate.measure(
                self.runner, original, changed, seconds=seconds, random=self.random, clock=self.clock,
                tell=self.progress, fewest=fewest, unexamined=self.original.unsteady(), watched=watched,
            )  # fmt: skip

        timing, problem = once()
        ended = problem is not None and problem.verdict is Passed.INVALID
        if ended or (timing.outcome == "invalid" and problem is None and timing.pairs >= threshold("min_pairs")):
            # Something else happened on the machine; one more time it is given.
            timing, problem = once()
        return timing, problem

    def recorded(
        self, what: str, original: Built, changed: Built, fewest: float | None = None
    ) -> tuple[str, Speedup | None, str]:
        """A timing that the ledger keeps as `what`: outcome, speed-up, statement."""
        known = self.past.measured.get(what)
        if known is None:
            timing, problem = self.timed(original, changed, fewest)
            result, speedup = speed_gate.result(timing, problem)
            known = {
                "what": what,
                "outcome": timing.outcome
                if problem is None
                else "invalid"
                if problem.verdict is Passed.INVALID
                else "wrong answer",
                "speedup": None if speedup is None else [speedup.estimate, speedup.low, speedup.high, speedup.pairs],
                "statement": result.statement,
            }
            self.ledger.append("measured", known)
        values = known["speedup"]
        return str(known["outcome"]), None if values is None else Speedup(*values), str(known["statement"])


def _profile_name(built: Built, *, again: bool) -> str:
    return f"{built.digest}-again" if again else built.digest
