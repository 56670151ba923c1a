"""The loop: measure, diagnose, propose, let every candidate pass the gates, go on from the best one."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from chathpc.comparison.record import Diff
from chathpc.diagnosis.records import Diagnosis
from chathpc.diagnosis.records import Verdict as Health
from chathpc.errors import BudgetSpentError, ChathpcError, UsageError
from chathpc.fix import globs
from chathpc.fix.gates import build as build_gate
from chathpc.fix.gates import cause as cause_gate
from chathpc.fix.gates import plausibility, scope
from chathpc.fix.gates import speed as speed_gate
from chathpc.fix.gates.correctness import Examination, Reference
from chathpc.fix.gates.imports import imports
from chathpc.fix.history import Past, candidate_data, candidate_of, gate_data, speedup_of
from chathpc.fix.ledger import Ledger
from chathpc.fix.outputs import compare
from chathpc.fix.profiling import Profiler, measured
from chathpc.fix.project import Flags, Project
from chathpc.fix.records import Attempt, Candidate, Gate, GateResult, Problem, Proposer, Speedup, Verdict
from chathpc.fix.runner import Built, Case, Runner, changed_inputs
from chathpc.fix.speed import Timing
from chathpc.fix.thresholds import threshold
from chathpc.fix.workspace import Workspace, entries, tree_hash, work_folder
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean
from chathpc.sandbox import Sandbox

Progress = Callable[[str], None]
#: Source files that a proposer is shown are no larger (bytes), and are so many in all.
_LARGEST_SOURCE, _ALL_SOURCES = 2 << 20, 32 << 20


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

    `key` is that of the candidate that led here; None for the original.
    """

    files: Mapping[str, str]
    flags: str | None
    built: Built
    profile: Profile
    diagnosis: Diagnosis
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it. `accepted` build on each other; `speedup` is that of all of them together against the original."""

    project: Project
    first: State
    last: State
    attempts: tuple[Attempt, ...]
    accepted: tuple[Attempt, ...]
    speedup: Speedup | None
    diff: Diff | None
    baselines: tuple[Baseline, ...]
    originals: Mapping[str, str]
    remarks: tuple[str, ...]
    complete: bool
    work: Path
    sandbox: str

    @property
    def healthy(self) -> bool:
        """Nothing was there to improve."""
        return self.first.diagnosis.verdict == Health.HEALTHY

    @property
    def improved(self) -> bool:
        """Something was accepted."""
        return bool(self.accepted)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The original with other flags: what the compiler alone would have done."""

    flags: str
    outcome: str
    speedup: Speedup | None
    statement: str
    changed: Speedup | None = None


def fix(
    project: Project,
    proposers: Sequence[Proposer],
    *,
    sandbox: Sandbox,
    work: Path | None = None,
    budget: Budget = Budget(),
    profiler: Profiler = measured,
    profile: Path | None = None,
    fresh: bool = False,
    progress: Progress = lambda stage: None,
    seed: int | None = None,
    baselines: bool = True,
) -> Outcome:
    """Find changes of `project` that make it faster, and prove each.

    The user's tree is only read. All that is made lies below `work` (default: beside the tree), where a session that was ended goes on
    unless `fresh`. `profile` is a profile of the program as it is, else it is measured. `seed` fixes what is random, for tests: seeds of
    inputs must not be known before. ChathpcError if the original itself does not build, run or agree with itself.
    """
    space = Workspace(work or work_folder(project.root))
    if fresh:
        _forget(space)
    with space.locked():
        space.prepare(project.root)
        ledger = Ledger(space.ledger)
        try:
            session = Session(
                project, tuple(proposers), Runner(project, sandbox, space), ledger, budget, profiler, progress,
                np.random.default_rng(seed), baselines,
            )  # fmt: skip
            return session.run(profile)
        finally:
            ledger.close()


def _forget(space: Workspace) -> None:
    from chathpc.fix.workspace import remove

    with space.locked():
        for folder in (space.original, space.stage, space.built, space.profiles):
            remove(folder)
        space.ledger.unlink(missing_ok=True)


@dataclass(slots=True)
class Session:
    """One session of the loop."""

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
    originals: dict[str, str] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    attempts: list[Attempt] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    reference: Reference | None = None
    loaded: dict[Path, Profile] = field(default_factory=dict)

    # -- the whole -------------------------------------------------------------------------------------------

    def run(self, profile: Path | None) -> Outcome:
        """From the beginning, or from where an earlier session ended."""
        self.begun = self.clock()
        self._begin()
        first = self._first(profile)
        last, accepted, complete = first, [], True
        if first.diagnosis.verdict == Health.BOTTLENECK:
            for number in range(1, self.budget.rounds + 1):
                try:
                    best = self._round(number, last)
                except BudgetSpentError as error:
                    self.remarks.append(error.message)
                    complete = False
                    break
                if best is None:
                    break
                last, attempt = best
                accepted.append(attempt)
        outcome = self._ended(first, last, accepted, complete)
        if complete:
            self.ledger.append("end", {"improved": outcome.improved, "healthy": outcome.healthy})
        return outcome

    def _begin(self) -> None:
        space = self.runner.workspace
        self.past = Past.of(self.ledger.events)
        if self.ledger.dropped:
            self.remarks.append(
                f"The last line of the ledger had not been written to its end ({self.ledger.dropped} bytes); what it said is done again."
            )
        self.paths = tuple(path for path, _ in entries(space.original))
        self.originals = self._read_sources(space.original)
        identity = {"tree": tree_hash(space.original), "project": _fingerprint(self.project)}
        if self.past.begun is None:
            self.ledger.append("begin", {"schema": "chathpc-ledger/1", **identity, "sandbox": self.runner.sandbox.name})
        elif any(self.past.begun.get(name) != value for name, value in identity.items()):
            raise ChathpcError(
                f"The work in {space.root} was begun with another chathpc.yaml.", hint="Start anew with --fresh."
            )
        else:
            self.ledger.append("resume", {"sandbox": self.runner.sandbox.name})
        if tree_hash(self.project.root) != identity["tree"]:
            raise ChathpcError(
                f"Files in {self.project.root} have changed since the work began.", hint="Start anew with --fresh."
            )

    def _read_sources(self, root: Path) -> dict[str, str]:
        chosen = globs.chosen(root, self.project.edit, self.project.protect)
        found, size = {}, 0
        for path in chosen:
            content = (root / path).read_bytes()
            size += len(content)
            if len(content) <= _LARGEST_SOURCE and size <= _ALL_SOURCES and b"\0" not in content:
                found[path] = content.decode("utf-8", "surrogateescape")
        return found

    # -- the original ----------------------------------------------------------------------------------------

    def _first(self, profile: Path | None) -> State:
        self.progress("building the original")
        built = self.runner.build({}, None)
        if not built.completed.succeeded:
            said = build_gate.first_error((built.completed.stderr or built.completed.stdout).decode("utf-8", "replace"))
            raise ChathpcError(
                f"The program as it is does not build with '{clean(self.project.build)}': {said}",
                hint="Correct 'build' in chathpc.yaml.",
            )
        self.reference = Reference(self.runner, built)
        if "original" not in self.past.measured:
            self._agrees_with_itself(built)
            self.ledger.append("measured", {"what": "original", "seconds": self.reference.run(self._case()).seconds})
        return self._state({}, None, built, None, given=profile)

    def _case(self) -> Case:
        return Case.usual(self.project.run)

    def _agrees_with_itself(self, built: Built) -> None:
        """Nothing can be compared with a program that says something else each time."""
        reference = self._reference()
        for run in reference.declared:
            self.progress(f"running the original: {clean(run.name)}")
            case = Case.usual(run)
            ran = reference.run(case)
            if not ran.completed.succeeded:
                said = clean(ran.completed.stderr.decode("utf-8", "replace").strip().split("\n")[-1])[:200]
                how = f"status {ran.completed.code}" if ran.completed.status == "exited" else ran.completed.status
                raise ChathpcError(
                    f"The program as it is fails with '{clean(case.command)}' ({how}){': ' + said if said else ''}.",
                    hint="Correct 'run' and 'inputs' in chathpc.yaml.",
                )
            again = self.runner.run(built, case)
            found = compare(ran.outputs, again.outputs, self.project.check)
            if not found.same:
                raise UsageError(
                    f"Two runs of the program as it is do not agree: {found.statement}.",
                    hint="Name lines that differ each time under check.ignore in chathpc.yaml, or allow for a tolerance.",
                )
            if not any(ran.outputs.contents.values()):
                raise UsageError(
                    "The program leaves nothing that could be compared.",
                    hint="Name the files that it writes under check.outputs in chathpc.yaml.",
                )
            done = self.runner.check_command(built, ran)
            if done is not None and not done.succeeded:
                raise UsageError(
                    f"The check '{clean(str(self.project.check.command))}' says no to the program as it is.",
                    hint="Correct check.command in chathpc.yaml.",
                )

    def _reference(self) -> Reference:
        if self.reference is None:
            raise AssertionError("the original was not built")
        return self.reference

    def _state(
        self, files: Mapping[str, str], flags: str | None, built: Built, key: str | None, given: Path | None = None
    ) -> State:
        """The state of a built tree, profiled unless that is done."""
        from chathpc.diagnosis.diagnose import diagnose

        profile = self._load(self._profile(built) if given is None else given)
        return State(files, flags, built, profile, diagnose(profile), key)

    def _profile(self, built: Built) -> Path:
        """The profile of a built tree, made once."""
        known = self.past.profiles.get(built.digest)
        root = self.runner.workspace.root
        if known is not None and (root / known).exists():
            return root / known
        self.progress("profiling")
        path = self.profiler(self.runner, built, self.runner.workspace.profiles / built.digest)
        self.past.profiles[built.digest] = str(path.relative_to(root))
        self.ledger.append("profile", {"build": built.digest, "path": self.past.profiles[built.digest]})
        return path

    def _load(self, path: Path) -> Profile:
        """The profile at a path, read once."""
        if path not in self.loaded:
            from chathpc.adapters.load import load

            self.loaded[path] = load(path)
        return self.loaded[path]

    # -- a round ---------------------------------------------------------------------------------------------

    def _round(self, number: int, base: State) -> tuple[State, Attempt] | None:
        """The best accepted candidate of a round as the next state; None if there is none."""
        known = self.past.rounds
        passed: list[tuple[Attempt, str]] = []
        for key, candidate in self._candidates(number, base):
            attempt = self._attempt(key, candidate, base)
            self.attempts.append(attempt)
            if attempt.verdict == Verdict.ACCEPTED:
                passed.append((attempt, key))
        best = max(passed, key=lambda each: each[0].speedup.low if each[0].speedup else 0.0, default=None)
        if number not in known:
            self.ledger.append("round", {"round": number, "accepted": None if best is None else best[1]})
        if best is None:
            return None
        attempt, key = best
        files = {**base.files, **attempt.candidate.files}
        flags = base.flags if attempt.candidate.flags is None else attempt.candidate.flags
        return self._state(files, flags, self.runner.build(files, flags), key), attempt

    def _candidates(self, number: int, base: State) -> Iterator[tuple[str, Candidate]]:
        """Those that the ledger has of this round, then what the proposers say; none twice."""
        for key, data in list(self.past.candidates.items()):
            if data["round"] == number:
                self.seen.add(key)
                yield key, candidate_of(data, base.diagnosis.findings)
        if number in self.past.rounds:
            return
        sources = {**self.originals, **base.files}
        problem = Problem(replace(self.project, flags=self._flags(base)), sources, base.diagnosis, base.profile)
        for proposer in self.proposers:
            if (number, proposer.name) in self.past.asked:
                continue
            for candidate in proposer.propose(problem, tuple(self.attempts)):
                self._spend()
                key = self._key(candidate, base)
                if key in self.seen:
                    continue
                self.seen.add(key)
                self.ledger.append("candidate", candidate_data(candidate, key, number))
                yield key, candidate
            self.ledger.append("asked", {"round": number, "proposer": proposer.name})

    def _flags(self, base: State) -> Flags | None:
        return (
            self.project.flags
            if base.flags is None or self.project.flags is None
            else replace(self.project.flags, value=base.flags)
        )

    def _spend(self) -> None:
        """BudgetSpentError if nothing more may be tried."""
        taken = self.past.seconds + self.clock() - self.begun
        if taken > self.budget.seconds:
            raise BudgetSpentError(
                f"The time limit of {self.budget.seconds:g} s was reached.",
                hint="Give more with --time-limit; what is done is kept.",
            )
        if len(self.seen) >= self.budget.candidates:
            raise BudgetSpentError(
                f"{self.budget.candidates} candidates were tried, the limit.", hint="Allow for more with --candidates."
            )

    def _key(self, candidate: Candidate, base: State) -> str:
        """What a candidate is known by: everything that it makes of the original."""
        files = {**base.files, **candidate.files}
        flags = base.flags if candidate.flags is None else candidate.flags
        return self.runner.digest(
            {path: text for path, text in files.items() if text != self.originals.get(path)}, flags
        )

    # -- a candidate -----------------------------------------------------------------------------------------

    def _attempt(self, key: str, candidate: Candidate, base: State) -> Attempt:
        """Let a candidate pass the gates, from the first one that the ledger does not have."""
        if key not in self.past.verdicts:
            self.progress(f"trying: {clean(candidate.title)}")
            verdict = Verdict.ACCEPTED
            for result in self._gates(key, candidate, base):
                if not result.passed:
                    verdict = result.verdict or Verdict.INVALID
                    break
            self.past.verdicts[key] = verdict
            speedup = speedup_of(self.past.gates.get(key, ()))
            self.ledger.append(
                "verdict",
                {
                    "key": key,
                    "verdict": verdict,
                    "predicted": None if candidate.finding is None else candidate.finding.speedup_bound,
                    "realised": None if speedup is None else [speedup.estimate, speedup.low, speedup.high],
                },
            )
        return self.past.attempt(key, candidate)

    def _gates(self, key: str, candidate: Candidate, base: State) -> Iterator[GateResult]:
        """What each gate says; those that are done are not done again."""
        done: dict[Gate, GateResult] = {result.gate: result for result in self.past.gates.get(key, ())}

        def gate(name: Gate, judge: Callable[[], GateResult]) -> GateResult:
            found = done.get(name)
            if found is None:
                found = judge()
                self.past.gates.setdefault(key, []).append(found)
                self.ledger.append("gate", gate_data(key, found))
            return found

        files = {**base.files, **candidate.files}
        flags = base.flags if candidate.flags is None else candidate.flags
        whole = replace(candidate, files=files, flags=flags)
        tree = tuple(dict.fromkeys((*self.paths, *files)))
        yield gate("scope", lambda: self._scope(whole, candidate, base, tree))
        yield gate("build", lambda: self._build(files, flags))
        changed = self.runner.build(files, flags)
        correct = gate("correctness", lambda: self._correctness(changed, files, base))
        yield correct
        quick = correct.figures.get("quick")
        yield gate("speed", lambda: self._speed(base.built, changed, quick if isinstance(quick, list) else []))
        speedup = speedup_of(self.past.gates[key])
        if speedup is None:
            return
        diff = _Later(lambda: self._compared(base, changed))
        flags_alone = not any(
            candidate.files.get(path) != text
            for path, text in {**self.originals, **base.files}.items()
            if path in candidate.files
        )
        yield gate("plausibility", lambda: self._plausible(candidate, base, speedup, diff, flags_alone))
        yield gate("cause", lambda: cause_gate.judge(diff(), candidate.finding))

    def _scope(self, whole: Candidate, candidate: Candidate, base: State, tree: Sequence[str]) -> GateResult:
        """Both what the candidate does by itself, and all changes together against the original."""
        alone = scope.judge(
            candidate, replace(self.project, flags=self._flags(base)), {**self.originals, **base.files}, tree
        )
        return alone if not alone.passed else scope.judge(whole, self.project, self.originals, tree)

    def _build(self, files: Mapping[str, str], flags: str | None) -> GateResult:
        self.progress("building")
        changed = self.runner.build(files, flags)
        touched: list[str] = []
        programs = None
        if changed.completed.succeeded:
            by_original = set(changed_inputs(self._reference().built, self.runner.workspace.original, ()))
            found = changed_inputs(changed, self.runner.workspace.original, tuple(files))
            touched = [path for path in found if path not in by_original]
            touched += [path for path, text in files.items() if not _holds(changed.folder / path, text)]
            mine, theirs = imports(self.runner, self._reference().built), imports(self.runner, changed)
            programs = None if mine is None or theirs is None else (mine, theirs)
        return build_gate.judge(self._reference().built, changed, touched, programs)

    def _correctness(self, changed: Built, files: Mapping[str, str], base: State) -> GateResult:
        def pair() -> tuple[float, float] | None:
            case = self._case()
            self.progress("a first look at its speed")
            sides = (base.built, changed)
            ran = {at: self.runner.run(sides[at], case) for at in self.random.permutation(2).tolist()}
            return (ran[0].seconds, ran[1].seconds) if all(each.completed.succeeded for each in ran.values()) else None

        texts = {**self.originals, **files}
        found = Examination(
            self._reference(), changed, texts, self.originals, self.random, self.progress, pair
        ).examine()
        if not found.passed or not self.project.kernels or found.figures.get("quick"):
            return found
        from chathpc.fix.gpu import gate as kernels

        judged = kernels.judge(
            self.runner, base.profile, {**self.originals, **base.files}, files, self.random,
            seconds=self.budget.timing * threshold("less_timing"), tell=self.progress,
        )  # fmt: skip
        return kernels.gate(judged, found)

    def _speed(self, original: Built, changed: Built, quick: Sequence[float]) -> GateResult:
        if quick:
            return speed_gate.dropped(quick)
        timing, problem = self._timed(original, changed)
        return speed_gate.result(timing, problem)[0]

    def _timed(self, original: Built, changed: Built, fewest: float | None = None) -> tuple[Timing, str]:
        seconds = self.budget.timing * (1 if fewest is None else threshold("less_timing"))

        def once() -> tuple[Timing, str]:
            return speed_gate.measure(
                self.runner, original, changed, seconds=seconds, random=self.random, clock=self.clock,
                tell=self.progress, fewest=fewest,
            )  # fmt: skip

        timing, problem = once()
        if timing.outcome == "invalid" and not problem and timing.pairs >= threshold("min_pairs"):
            # Something else happened on the machine; one more time it is given.
            timing, problem = once()
        return timing, problem

    def _compared(self, base: State, changed: Built) -> Diff:
        from chathpc.comparison.compare import diff

        after = self._load(self._profile(changed))
        self.progress("comparing the profiles")
        return diff(base.profile, after)

    def _plausible(
        self, candidate: Candidate, base: State, speedup: Speedup, diff: Callable[[], Diff], flags_alone: bool
    ) -> GateResult:
        finding = candidate.finding
        first = plausibility.judge(speedup, finding, None, (), (), flags_alone=flags_alone)
        if first.passed:
            return first
        lost = cause_gate.lost(diff())
        own = _own_functions({**self.originals, **base.files})
        names = {each.function for each in lost if _plain(each.function) in own}
        return plausibility.judge(speedup, finding, lost, _named(base), names, flags_alone=flags_alone)

    # -- the end ---------------------------------------------------------------------------------------------

    def _ended(self, first: State, last: State, accepted: Sequence[Attempt], complete: bool) -> Outcome:
        run = self.project.run
        if (
            self.attempts
            and len(self._reference().declared) == 1
            and not run.seeded
            and not re.search(r"\d", run.command)
        ):
            self.remarks.append(
                "There is one input and no seed: a change that knows the answer is harder to find. Declare more under 'inputs'."
            )
        speedup, diff = None, None
        baselines: tuple[Baseline, ...] = ()
        if accepted:
            speedup = accepted[0].speedup if len(accepted) == 1 else self._whole(first, last)
            diff = self._compared(first, last.built)
            if self.with_baselines:
                baselines = self._baselines(first, last)
        return Outcome(
            project=self.project,
            first=first,
            last=last,
            attempts=tuple(self.attempts),
            accepted=tuple(accepted),
            speedup=speedup,
            diff=diff,
            baselines=baselines,
            originals=self.originals,
            remarks=tuple(self.remarks),
            complete=complete,
            work=self.runner.workspace.root,
            sandbox=self.runner.sandbox.name,
        )

    def _whole(self, first: State, last: State) -> Speedup | None:
        """All accepted changes together against the original."""
        self.progress("timing all changes together")
        return self._recorded(f"all {last.built.digest}", first.built, last.built)[1]

    def _recorded(
        self, what: str, original: Built, changed: Built, fewest: float | None = None
    ) -> tuple[str, Speedup | None, str]:
        """A timing that is taken once: outcome, speed-up, statement."""
        known = self.past.measured.get(what)
        if known is None:
            timing, problem = self._timed(original, changed, fewest)
            result, speedup = speed_gate.result(timing, problem)
            known = {
                "what": what,
                "outcome": "wrong answer" if problem else timing.outcome,
                "speedup": None if speedup is None else [speedup.estimate, speedup.low, speedup.high, speedup.pairs],
                "statement": result.statement,
            }
            self.ledger.append("measured", known)
        values = known["speedup"]
        return str(known["outcome"]), None if values is None else Speedup(*values), str(known["statement"])

    def _baselines(self, first: State, last: State) -> tuple[Baseline, ...]:
        """Would the compiler alone have done it? The original with -O3 -march=native, and the change with it as well."""
        if self.project.flags is None:
            self.remarks.append("What -O3 alone would do is not known: chathpc.yaml names no place for flags.")
            return ()
        flags = optimised(self.project.flags.value)
        self.progress(f"building the original with {flags}")
        built = self.runner.build({}, flags)
        if not built.completed.succeeded or built.digest == last.built.digest:
            return ()
        outcome, speedup, statement = self._recorded(
            f"original {flags}", first.built, built, threshold("baseline_pairs")
        )
        changed = None
        if outcome != "wrong answer" and last.files:
            both = self.runner.build(last.files, optimised(last.flags or self.project.flags.value))
            if both.completed.succeeded:
                changed = self._recorded(f"changed {both.digest}", built, both, threshold("baseline_pairs"))[1]
        return (Baseline(flags, outcome, speedup, statement, changed),)


class _Later:
    """A value that is computed when it is asked for, once."""

    def __init__(self, make: Callable[[], Diff]) -> None:
        self._make = make
        self._value: Diff | None = None

    def __call__(self) -> Diff:
        if self._value is None:
            self._value = self._make()
        return self._value


def optimised(flags: str) -> str:
    """The flags with -O3 -march=native in the place of what they say of optimisation."""
    kept = [flag for flag in flags.split() if not flag.startswith("-O") and not flag.startswith("-march")]
    return " ".join([*kept, "-O3", "-march=native"])


def _own_functions(sources: Mapping[str, str]) -> set[str]:
    """Names of the functions that the program's files define."""
    from chathpc.diagnosis.source.text import parsed

    files = (parsed(path, text.encode("utf-8", "surrogateescape")) for path, text in sources.items())
    return {name for file in files if file is not None for name in file.function_names}


def _named(base: State) -> set[str]:
    """Functions that findings are about, and what is only called from there."""
    tree = base.profile.tree
    label, texts = tree.function_labels
    places = {each.where.function for each in base.diagnosis.findings if each.where.function}
    found = set(places)
    for place in places - {"main", "MAIN__"}:
        # Everything is called from the main program, which makes nothing plausible.
        inside = np.zeros(len(tree) + 1, dtype=np.int64)
        at = np.flatnonzero(label == texts.index(place)) if place in texts else np.zeros(0, dtype=np.int64)
        np.add.at(inside, at, 1)
        np.add.at(inside, tree.end[at], -1)
        below = np.cumsum(inside[:-1]) > 0
        everywhere = set(np.unique(label[~below]).tolist())
        found |= {texts[number] for number in np.unique(label[below]).tolist() if number not in everywhere}
    return found


def _plain(name: str) -> str:
    """A function's own name: without arguments, classes and what compilers append."""
    return name.partition("(")[0].rpartition("::")[2].partition(".")[0]


def _holds(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode("utf-8", "surrogateescape")
    except OSError:
        return False


def _fingerprint(project: Project) -> str:
    """A hash of everything that the project declares."""
    return hashlib.sha256(json.dumps(repr(replace(project, root=Path("."))), ensure_ascii=True).encode()).hexdigest()
