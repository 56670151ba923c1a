"""A proposer and a critic: what the critic finds fault with is written once more, and the best tries seed the next round."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from chathpc.diagnosis.records import Finding
from chathpc.fix.models.asker import Asker
from chathpc.fix.models.asking import Asking
from chathpc.fix.models.questions import candidate, question, tries_of, worthwhile
from chathpc.fix.records import Attempt, Candidate, Problem, Verdict, identity

#: Proposals of one finding in a round.
_PROPOSALS = 2
_BAD = re.compile(r"\s*[*`]*BAD\b[*`]*[:.]?\s*(?P<why>.*)", re.DOTALL | re.IGNORECASE)
#: What a try may have failed for and still be worth going on from.
_PROMISING = frozenset({Verdict.INCONCLUSIVE, Verdict.SLOWER, Verdict.CAUSE_UNMOVED})


class Team(Asking):
    """Candidates that the critic has read; those that it finds good come first, but the gates judge them all."""

    name = "team"

    def __init__(self, ask: Asker, critic: Asker | None = None) -> None:
        super().__init__(ask)
        self._critic = critic or ask

    def propose(self, problem: Problem, history: Sequence[Attempt]) -> Iterator[Candidate]:
        """For each finding some proposals, the ones that the critic finds good first."""
        known = {attempt.candidate.id for attempt in history}
        for finding in worthwhile(problem):
            tries = tries_of(finding, history)
            start = _best(tries)
            best = None if start is None else start.candidate.files
            bad: list[Candidate] = []
            first = self._turn(finding, len(tries), _PROPOSALS)
            for seed in range(first, first + _PROPOSALS):
                change = self._written(problem, finding, tries, best=best, seed=seed)
                if change is None:
                    break
                remark = self._criticised(problem, finding, change) if change else ""
                if change and remark:
                    again = self._written(problem, finding, tries, best=best, seed=seed, remark=remark)
                    if again:
                        change, remark = again, self._criticised(problem, finding, again)
                id = identity(change)
                if change and id not in known:
                    known.add(id)
                    made = candidate(
                        self.name, change, finding, id, parent=None if start is None else start.candidate.id
                    )
                    # At once, lest all time is spent on questions before anything is tried.
                    if remark:
                        bad.append(made)
                    else:
                        yield made
            yield from bad

    def _written(
        self,
        problem: Problem,
        finding: Finding,
        tries: Sequence[Attempt],
        *,
        seed: int,
        best: Mapping[str, str] | None,
        remark: str = "",
    ) -> Mapping[str, str] | None:
        """The files that the model changes, empty if its answer cannot be used; None if it cannot be asked."""
        asked = question(
            "fix_direct",
            problem,
            finding,
            model=self._ask.form,
            tries=tries,
            best=best,
            remark=remark,
            unused=self._why_unused(finding),
            temperature=0.7 if seed else 0.0,
            seed=seed,
        )
        answer = self._ask(asked, problem)
        return None if answer is None else self._edits(answer, problem, finding)

    def _criticised(self, problem: Problem, finding: Finding, change: Mapping[str, str]) -> str:
        """What the critic finds wrong; empty if nothing, or if it cannot be asked."""
        asked = question("fix_critic", problem, finding, model=self._critic.form, change=change)
        said = _BAD.match(self._critic(asked, problem) or "")
        return "" if said is None else said["why"].strip() or "It does not do what is needed."


def _best(tries: Sequence[Attempt]) -> Attempt | None:
    """The fastest of the tries that failed for nothing worse than being too slow."""
    promising = [one for one in tries if one.verdict in _PROMISING and one.speedup is not None]
    return max(promising, key=lambda one: one.speedup.estimate if one.speedup else 0.0, default=None)
