"""What the original does: each input is run once, with the flags of the user or with more."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from chathpc.fix.left_files import unsteady
from chathpc.fix.project import Run
from chathpc.fix.runner import Built, Case, Ran, Runner
from chathpc.fix.thresholds import threshold
from chathpc.profile.text import clean


class Reference:
    """What the original does; each case is run once."""

    def __init__(self, runner: Runner, built: Built) -> None:
        self.runner = runner
        self.built = built
        self._ran: dict[tuple[str, Case], Ran] = {}
        self._variants: dict[str, Built] = {}
        self._twice: dict[Case, tuple[Ran, Ran]] = {}
        self._unsteady: frozenset[str] | None = None

    def run(self, case: Case, variant: str = "") -> Ran:
        """The original's run of a case, built with the flags `variant` in addition."""
        key = (variant, case)
        if key not in self._ran:
            built = self.built if not variant else self.variant(variant)
            self._ran[key] = self.runner.run(built, case)
        return self._ran[key]

    def variant(self, more: str) -> Built:
        """The original with more flags."""
        if more not in self._variants:
            self._variants[more] = self.runner.build(self.built.files, None, more=more)
        return self._variants[more]

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
