"""What the original does, each input run once, and a change that is being examined: its runs beside those of the original."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

import numpy as np

from chathpc.fix.left_files import missing_or_other, unsteady
from chathpc.fix.outputs import compare
from chathpc.fix.project import Run
from chathpc.fix.records import Figure, Verdict
from chathpc.fix.runner import Built, Case, Ran, Runner
from chathpc.fix.thresholds import threshold
from chathpc.profile.text import clean


class Reference:
    """What the original does; each case is run once."""

    def __init__(self, runner: Runner, built: Built) -> None:
        self.runner = runner
        self.built = built
        self._ran: dict[tuple[str, Case], Ran] = {}
        self._twice: dict[Case, tuple[Ran, Ran]] = {}
        self._unsteady: frozenset[str] | None = None

    def run(self, case: Case, variant: str = "", seconds: float | None = None) -> Ran:
        """The original's run of a case, built with the flags `variant` in addition, ended after so many seconds."""
        key = (variant, case)
        if key not in self._ran:
            self._ran[key] = self.runner.run(self.variant(variant), case, seconds=seconds)
        return self._ran[key]

    def variant(self, more: str) -> Built:
        """The original with more flags."""
        return self.runner.build(self.built.files, None, more=more) if more else self.built

    def twice(self, case: Case) -> tuple[Ran, Ran]:
        """Two runs of the original, traced where that works: only what they agree on is asked of a change."""
        if case not in self._twice:
            usual = [Case.usual(run) for run in self.declared]
            cases = [each for each in usual if each not in self._twice] if case in usual else [case]
            run = partial(self.runner.run, self.built, traced=self.runner.traces)
            begun = time.monotonic()

            def later(each: Case) -> Ran:
                time.sleep(max(0.0, begun + threshold("another_time") - time.monotonic()))
                return run(each)

            ran = self.runner.lanes.runs(
                [*(partial(run, each) for each in cases), *(partial(later, each) for each in cases)]
            )
            self._twice |= zip(cases, zip(ran[: len(cases)], ran[len(cases) :], strict=True), strict=True)
        return self._twice[case]

    def unsteady(self, tell: Callable[[str], None] = lambda stage: None) -> frozenset[str]:
        """Names of files that the original leaves otherwise each time, with `#` for numbers, over all declared inputs."""
        if self._unsteady is None:
            found: set[str] = set()
            for run in self.declared:
                tell(f"checking which files the original leaves: {clean(run.name)}")
                found |= unsteady(*(ran.left for ran in self.twice(Case.usual(run))))
            self._unsteady = frozenset(found)
        return self._unsteady

    @property
    def declared(self) -> tuple[Run, ...]:
        """The inputs to check with, that which is timed among them."""
        project = self.runner.project
        return tuple({run.command: run for run in (project.run, *project.inputs)}.values())

    def timed(self) -> Case:
        """The run that is timed."""
        return Case.usual(self.runner.project.run)

    def quickest(self) -> Case:
        """The declared input that takes least time."""
        cases = [Case.usual(run) for run in self.declared]
        return min(cases, key=lambda case: self.run(case).seconds)


Tell = Callable[[str], None]
#: What a step found: the verdict, and one sentence.
Problem = tuple[Verdict, str]


@dataclass(slots=True)
class Examination:
    """A change that is being examined: what was tried, and the first thing that was wrong."""

    reference: Reference
    changed: Built
    texts: Mapping[str, str]
    original_texts: Mapping[str, str]
    random: np.random.Generator
    tell: Tell = lambda stage: None
    #: Seconds (of what it goes on from, of the change) of a pair of runs, or None: for a first look at whether it is worth the rest.
    pair: Callable[[], tuple[float, float] | None] | None = None
    cases: int = 0
    largest: float = 0.0
    tried: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def runner(self) -> Runner:
        """Builds and runs both sides."""
        return self.reference.runner

    def figures(self) -> dict[str, Figure]:
        """What the gate's verdict rests on."""
        return {
            "runs": self.cases,
            "largest_difference": self.largest,
            "tried": list(self.tried),
            "left_out": list(self.left_out),
        }

    def compare(self, case: Case, variant: str, changed: Built) -> str:
        """What is wrong with the run of a case where both sides are built with the flags `variant` in addition; empty if nothing is."""
        self.tell(f"checking {clean(case.name)}")
        return self._wrong(case, *self._both(case, variant, changed))

    def _both(self, case: Case, variant: str = "", changed: Built | None = None) -> tuple[Ran, Ran, float]:
        """A case run by the original (once in a session) and by the change, and the seconds after which the latter is ended."""
        mine = self.reference.run(case, variant)
        limit = mine.seconds * threshold("longer") + threshold("longer_seconds")
        return mine, self.runner.run(changed or self.changed, case, seconds=limit), limit

    def _wrong(self, case: Case, mine: Ran, theirs: Ran, limit: float) -> str:
        self.cases += 1
        where = f"With {clean(case.name)}"
        if theirs.completed.status == "timed-out":
            return f"{where} it does not end within {limit:.0f} s; the original takes {mine.seconds:.1f} s."
        if theirs.completed.status != "exited":
            return f"{where} it is terminated ({theirs.completed.status})."
        found = compare(mine.outputs, theirs.outputs, self.runner.project.check)
        if not found.same:
            said = clean(theirs.completed.last_words)[:160] if found.kind == "status" else ""
            return f"{where} {found.statement}.{f' It says: {said}' if said else ''}"
        fault = missing_or_other(mine.left, theirs.left, self.runner.project.check, self.reference.unsteady(self.tell))
        if fault:
            return f"{where} {fault}."
        self.largest = max(self.largest, found.largest)
        return ""

    def first_wrong(self, cases: Iterable[Case]) -> Problem | None:
        """The verdict on the first case in which something is wrong, and what; some are run beside each other."""
        left = iter(cases)
        while some := tuple(islice(left, self.runner.lanes.width)):
            self.tell(f"checking {', '.join(clean(case.name) for case in some)}")
            ran = self.runner.lanes.runs([partial(self._both, case) for case in some])
            for case, both in zip(some, ran, strict=True):
                problem = self._wrong(case, *both)
                if problem:
                    return Verdict.CHEATED if "leaves files" in problem else Verdict.WRONG_ANSWER, problem
        return None

    def agrees(self, case: Case) -> bool:
        """Whether the original itself works in this case."""
        return self.reference.run(case).completed.succeeded

    def agrees_twice(self, case: Case, seconds: float) -> bool:
        """Whether the original works in this case within so many seconds, and gives the same answer when it is run once more."""
        first, again = self.runner.lanes.runs(
            [
                partial(self.reference.run, case, seconds=seconds),
                partial(self.runner.run, self.reference.built, case, seconds=seconds),
            ]
        )
        return first.completed.succeeded and compare(first.outputs, again.outputs, self.runner.project.check).same

    def built_with(self, more: str) -> Built:
        """The change built with more flags, while the original is built with them, unless that is done."""
        build = partial(self.runner.build, self.changed.files, self.changed.flags, more=more)
        return self.runner.lanes.builds([build, partial(self.reference.variant, more)])[0]

    def works(self, case: Case, more: str) -> bool:
        """Whether the original, built with more flags, gives the answer that it gives without."""
        if not self.reference.variant(more).completed.succeeded:
            return False
        ran = self.reference.run(case, more)
        plain = self.reference.run(replace(case, environment=(), sanitized=False))
        return ran.completed.succeeded and compare(plain.outputs, ran.outputs, self.runner.project.check).same


def slower_alone(original: tuple[Ran, Ran], changed: tuple[Ran, Ran], again: Callable[[], Ran]) -> bool:
    """Whether the changed program alone takes much longer when something is altered that it could have known."""

    def much(ran: Ran) -> bool:
        mine = max(1.0, original[1].seconds / max(original[0].seconds, 1e-3))
        theirs = ran.seconds / max(changed[0].seconds, 1e-3)
        more = ran.seconds - changed[0].seconds
        return theirs > threshold("knew") * mine and more > threshold("knew_seconds")

    return much(changed[1]) and all(much(again()) for _ in range(2))
