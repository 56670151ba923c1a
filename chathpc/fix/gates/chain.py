"""The gates in their order, for one candidate: each is asked once, and the first that says no ends it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

from chathpc.comparison.function_names import common_key
from chathpc.comparison.record import Diff
from chathpc.errors import MeasurementError
from chathpc.fix import suspected
from chathpc.fix.gates import build, cause, effects, plausibility, scope, speed
from chathpc.fix.gates.build import imports
from chathpc.fix.gates.correctness import examine
from chathpc.fix.gates.examination import Examination
from chathpc.fix.history import gate_data, speedup_of
from chathpc.fix.records import Attempt, Candidate, Gate, GateResult, Speedup, Verdict, figures_of
from chathpc.fix.runner import Built, changed_inputs
from chathpc.fix.session import Session, State
from chathpc.fix.thresholds import threshold
from chathpc.profile.text import clean


def attempt(session: Session, key: str, candidate: Candidate, base: State) -> Attempt:
    """Let a candidate, which changes the state `base`, pass the gates, from the first one that the ledger does not have."""
    past = session.past
    if key not in past.verdicts:
        session.progress(f"trying: {clean(candidate.title)}")
        chain = Chain(session, key, candidate, base)
        verdict = Verdict.ACCEPTED
        for result in chain.results():
            if not result.passed:
                verdict = result.verdict or Verdict.INVALID
                break
        if verdict == Verdict.ACCEPTED and effects.durability(past.gates.get(key, [])):
            verdict = Verdict.IMPROVED_IF
        past.verdicts[key] = verdict
        speedup = speedup_of(past.gates.get(key, ()))
        session.ledger.append(
            "verdict",
            {
                "key": key,
                "verdict": verdict,
                "predicted": None if candidate.finding is None else candidate.finding.speedup_bound,
                "realised": None if speedup is None else [speedup.estimate, speedup.low, speedup.high],
            },
        )
        if verdict not in (Verdict.ACCEPTED, Verdict.IMPROVED_IF) and chain.changed is not None:
            session.forget(chain.changed)
    return past.attempt(key, candidate)


@dataclass(slots=True)
class Chain:
    """The gates of one candidate; `files` and `flags` are those of the whole change against the original."""

    session: Session
    key: str
    candidate: Candidate
    base: State
    files: Mapping[str, str] = field(init=False)
    flags: str | None = field(init=False)
    changed: Built | None = None

    def __post_init__(self) -> None:
        self.files, self.flags = self.base.changed_by(self.candidate)

    def results(self) -> Iterator[GateResult]:
        """What each gate says; those that are done are not done again."""
        session, base = self.session, self.base
        yield self._once("scope", self._scope)
        yield self._once("build", self._build)
        changed = self.changed = session.runner.build(self.files, self.flags)
        correct = self._once("correctness", lambda: self._correctness(changed))
        yield correct
        quick = correct.figures.get("quick")
        if not quick:
            yield self._once("effects", lambda: effects.examine(session.original, changed, session.progress))
        yield self._once("speed", lambda: self._speed(changed, quick if isinstance(quick, list) else []))
        speedup = speedup_of(session.past.gates[self.key])
        if speedup is None:
            return
        diff = cache(lambda: session.compared(base, changed))
        try:
            yield self._once("plausibility", lambda: self._plausible(speedup, diff))
            yield self._once("cause", lambda: self._cause(changed, diff))
        except MeasurementError as error:  # one change that cannot be profiled is no reason to end the session
            yield from self._unprofiled(speedup, error.message)

    def _unprofiled(self, speedup: Speedup, why: str) -> Iterator[GateResult]:
        """What the last gates say where the changed program left no profile: of one that is so short all time is gone."""
        from chathpc.comparison.compare import diff

        profile, finding = self.base.measured, self.candidate.finding
        same = diff(profile, profile)
        before = same.total.before if same.total is not None and same.unit == "s" else 0.0
        after = self._room()
        cost = before if finding is None else finding.share * before
        gone = None if after is None else cause.vanished(before, cost, after)
        if gone is None:
            yield self._once("cause", partial(cause.unknown, why))
            return
        lost = [plausibility.Lost(row.name, row.before, row.before / before) for row in same.functions]
        yield self._once("plausibility", lambda: self._judged_plausible(speedup, lost, after))
        yield self._once("cause", lambda: gone)

    def _room(self) -> float | None:
        """Seconds over all threads that the changed program can have taken: each core, or each thread that waits, has no more than the
        whole run. None if it was not timed.
        """
        seconds = figures_of(self.session.past.gates[self.key], "speed", "seconds_changed")
        return max(len(self.base.measured.locations), os.cpu_count() or 1) * max(seconds) if seconds else None

    def _once(self, name: Gate, judge: Callable[[], GateResult]) -> GateResult:
        """What the ledger has of a gate, else what `judge` says, which is written there."""
        done = self.session.past.gates.setdefault(self.key, [])
        found = next((result for result in done if result.gate == name), None)
        if found is None:
            found = judge()
            done.append(found)
            self.session.ledger.append("gate", gate_data(self.key, found))
        return found

    def _scope(self) -> GateResult:
        """Both what the candidate does by itself, and all changes together against the original."""
        session, base = self.session, self.base
        tree = tuple(dict.fromkeys((*session.paths, *self.files)))
        alone = scope.judge(self.candidate, session.project_at(base), session.sources(base), tree)
        if not alone.passed:
            return alone
        whole = replace(self.candidate, files=self.files, flags=self.flags)
        return scope.judge(whole, session.project, session.originals, tree)

    def _build(self) -> GateResult:
        self.session.progress("building")
        runner, original = self.session.runner, self.session.original.built
        changed = runner.build(self.files, self.flags)
        touched: list[str] = []
        programs = None
        if changed.completed.succeeded:
            by_original = set(changed_inputs(original, runner.workspace.original, ()))
            found = changed_inputs(changed, runner.workspace.original, tuple(self.files))
            touched = [path for path in found if path not in by_original]
            if touched:  # a module or object file that an earlier build has left
                rewritten = {
                    path: self.session.originals[path] for path in self.files if path in self.session.originals
                }
                made = runner.makes(touched, rewritten)
                touched = [path for path in touched if path not in made]
            touched += [path for path, text in self.files.items() if not _holds(changed.folder / path, text)]
            mine, theirs = imports(runner, original), imports(runner, changed)
            programs = None if mine is None or theirs is None else (mine, theirs)
        return build.judge(original, changed, touched, programs)

    def _correctness(self, changed: Built) -> GateResult:
        session, base = self.session, self.base

        def pair() -> tuple[float, float] | None:
            case = session.original.timed()
            session.progress("a quick speed test")
            sides = (base.built, changed)
            ran = {at: session.runner.run(sides[at], case) for at in session.random.permutation(2).tolist()}
            return (ran[0].seconds, ran[1].seconds) if all(each.completed.succeeded for each in ran.values()) else None

        texts = {**session.originals, **self.files}
        found = examine(
            Examination(session.original, changed, texts, session.originals, session.random, session.progress, pair)
        )
        if not found.passed or not session.project.kernels or found.figures.get("quick"):
            return found
        from chathpc.fix.gpu import gate as kernels

        judged = kernels.judge(
            session.runner, base.measured, session.sources(base), self.files, session.random,
            seconds=session.budget.timing * threshold("less_timing"), tell=session.progress,
        )  # fmt: skip
        return kernels.gate(judged, found)

    def _speed(self, changed: Built, quick: Sequence[float]) -> GateResult:
        result = speed.dropped(quick) if quick else self._timed(changed)
        if result.passed or self.candidate.proposer != suspected.NAME:
            return result
        return replace(result, figures={**result.figures, "moved": self._has_moved(changed)})

    def _timed(self, changed: Built) -> GateResult:
        return speed.result(*self.session.timed(self.base.built, changed, watched=self._watched()))[0]

    def _has_moved(self, changed: Built) -> bool | None:
        """Whether what a hypothesis cites went down though the run is no faster, which refutes it; None where that cannot be told."""
        finding = self.candidate.finding
        if finding is None:
            return None
        try:
            return cause.moved(self.session.compared(self.base, changed), finding)[0]
        except MeasurementError:
            return None

    def _watched(self) -> float | None:
        """Bytes that the change writes for each one of the original's, as both were watched; None where that is not known."""
        values = figures_of(self.session.past.gates[self.key], "effects", "written")
        return values[1] / values[0] if len(values) == 2 and values[0] > 0 else None

    def _plausible(self, speedup: Speedup, diff: Callable[[], Diff]) -> GateResult:
        finding, before = self.candidate.finding, self.session.sources(self.base)
        flags_alone = all(before.get(path, text) == text for path, text in self.candidate.files.items())
        first = plausibility.judge(speedup, finding, None, (), (), flags_alone=flags_alone)
        if first.passed:
            return first
        found = diff()
        room = self._room() if found.unit == "s" else None
        return self._judged_plausible(speedup, cause.lost(found), room)

    def _judged_plausible(self, speedup: Speedup, lost: Sequence[plausibility.Lost], room: float | None) -> GateResult:
        """Whether a gain above the bound of the finding is explained by what `lost` time; see `plausibility.judge`."""
        before = self.session.sources(self.base)
        named = plausibility.named_functions(self.base.measured, self.base.diagnosis, self.candidate.claims)
        own = plausibility.own_functions((each.function for each in lost), before)
        return plausibility.judge(speedup, self.candidate.finding, lost, named, own, room=room)

    def _cause(self, changed: Built, diff: Callable[[], Diff]) -> GateResult:
        """Where one profile of each side contradicts what many pairs of runs showed, both are profiled once more, and both looks decide."""
        first, finding = diff(), self.candidate.finding
        others, inside = self._others(first), self._inside(first, changed)
        judged = cause.judge(first, finding, others, inside)
        if judged.passed:
            return judged
        again = self.session.compared(self.base, changed, again=True)
        second = cause.judge(again, finding, others | self._others(again), inside | self._inside(again, changed), first)
        return replace(second, figures={**second.figures, "first_profiles": judged.statement})

    def _others(self, diff: Diff) -> set[str]:
        """Functions that the program did not define before the change: those that the change brings, and libraries'."""
        names = {row.name for row in diff.functions}
        return names - plausibility.own_functions(names, self.session.sources(self.base))

    def _inside(self, diff: Diff, changed: Built) -> set[str]:
        """Functions that are called from the place of the finding alone, before and after the change."""
        finding = self.candidate.finding
        if finding is None or finding.where.function is None:
            return set()
        sides = (self.base.measured, self.session.profile(changed))
        before, after = (
            set(map(common_key, plausibility.only_below(each, (finding.where.function,)))) for each in sides
        )
        return {row.name for row in diff.functions if common_key(row.name) in before & after}


def _holds(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode("utf-8", "surrogateescape")
    except OSError:
        return False
