"""What the original does: each input is run once, with the flags of the user or with more."""

from __future__ import annotations

from chathpc.fix.project import Run
from chathpc.fix.runner import Built, Case, Ran, Runner


class Reference:
    """What the original does; each case is run once."""

    def __init__(self, runner: Runner, built: Built) -> None:
        self.runner = runner
        self.built = built
        self._ran: dict[tuple[str, Case], Ran] = {}
        self._variants: dict[str, Built] = {}

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
