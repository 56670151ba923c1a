"""A small problem for the model strategies: one source, one finding, and askers that say what a script says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from chathpc.diagnosis.fact import Fact, Form, Kind, Quantity
from chathpc.diagnosis.records import Diagnosis, Finding, Place, Verdict
from chathpc.fix.models.asker import Question
from chathpc.fix.project import Project, Run
from chathpc.fix.records import Attempt, Candidate, GateResult, Problem, Speedup
from chathpc.fix.records import Verdict as Outcome

SOURCE = """#include <stdio.h>

static double sum(const double *v, int n) {
  double s = 0.0;
  for (int i = 0; i < n; i++) s += v[i];
  return s;
}

int main(void) {
  double v[2] = {1.0, 2.0};
  printf("%g\\n", sum(v, 2));
  return 0;
}
"""
FASTER = SOURCE.replace("for (int i = 0; i < n; i++) s += v[i];", "for (int i = n - 1; i >= 0; i--) s += v[i];")
FUNCTION = FASTER[FASTER.index("static") : FASTER.index("int main")]


def problem(
    sources: dict[str, str] | None = None, advice: Sequence[str] = ("Turn the loop.", "Unroll the loop.")
) -> Problem:
    place = Place("sum", "/src/sum.c", 5)
    finding = Finding(
        cause="strided-access",
        title="Strided access",
        summary="sum reads memory with a stride.",
        where=place,
        seconds=4.0,
        share=0.8,
        headroom=0.9,
        speedup_bound=3.6,
        confidence=0.9,
        confidence_reason="two signs",
        evidence=("E1",),
        advice=tuple(advice),
    )
    evidence = Fact(
        "E1",
        Kind.AMOUNT,
        "sum",
        4.0,
        "s",
        "perf",
        whole=Quantity(5.0, "s"),
        form=Form.NAME,
        metric="cpu.time",
        where=place,
    )
    diagnosis = Diagnosis(Verdict.BOTTLENECK, "sum reads memory with a stride.", (finding,), (evidence,), ())
    project = Project(Path("/src"), "make", Run("run", "./app"), ("*.c",))
    return Problem(project, {"sum.c": SOURCE} if sources is None else sources, diagnosis)


@dataclass
class Scripted:
    """Answers from a list, or from a function of the question; then None. Remembers what it was asked."""

    answers: list[str | None] | Callable[[Question], str | None]
    form: Literal["prose", "structured"] = "structured"
    asked: list[Question] = field(default_factory=list)

    def __call__(self, question: Question, problem: Problem) -> str | None:
        self.asked.append(question)
        if callable(self.answers):
            return self.answers(question)
        return self.answers.pop(0) if self.answers else None


def block(search: str, replace: str, file: str = "sum.c") -> str:
    return f"FILE: {file}\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


def attempt(candidate: Candidate, outcome: Outcome, speedup: float | None = None, statement: str = "") -> Attempt:
    gate = GateResult("speed", outcome == Outcome.ACCEPTED, statement, None if outcome == Outcome.ACCEPTED else outcome)
    fast = None if speedup is None else Speedup(speedup, speedup * 0.95, speedup * 1.05, 12)
    return Attempt(candidate, outcome, (gate,), fast)
