"""The model as an engineer: one conversation over all rounds, in which it works with tools and submits what the gates judge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chathpc.chat.tools.record import Result
from chathpc.errors import BudgetSpentError, ModelUnavailableError
from chathpc.fix.agent import tools
from chathpc.fix.agent.briefing import Guidance, briefing, claimed, diagnosed, verdict_of
from chathpc.fix.agent.workbench import NOTHING, Workbench
from chathpc.fix.models.asker import Asker, ModelAsker, Question
from chathpc.fix.records import Attempt, Candidate, Problem, Verdict, identity
from chathpc.llm.asking import Exchange
from chathpc.llm.backend import ToolCall
from chathpc.profile.text import clean
from chathpc.prompts.loader import template
from chathpc.prompts.untrusted import block, marker_of, quote
from chathpc.report import HypothesisRecord

_FORM, _CRITIC_FORM = "fix_agent", "fix_critic"
_BAD = re.compile(r"\s*[*`]*BAD\b[*`]*[:.]?\s*(?P<why>.*)", re.DOTALL | re.IGNORECASE)
_UNTIMED = "They could not be timed: submit them again as they are."
_SUBMIT_AGAIN = "Submit again, unchanged or revised, to have it judged."
#: Calls of one turn; more is a model that has lost its way.
_CALLS = 16
#: Characters of what a tool says.
_LONGEST = 30_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of a whole session: turns of the model, and tokens that it reads and writes in all of them."""

    turns: int = 60
    tokens: int = 1_000_000

    def __str__(self) -> str:
        return f"at most {self.turns} turns, {self.tokens:,} tokens"


@dataclass(frozen=True, slots=True)
class Manner:
    """How a model is asked to work: by its `own` knowledge or also told the catalogue's suggestions, with which hypotheses of a report,
    within which bounds, and whether what it submits is read by another model first (its SPEC).
    """

    guidance: Guidance = "own"
    critic: str | None = None
    bounds: Bounds = Bounds()
    hypotheses: tuple[HypothesisRecord, ...] = ()


class Agent:
    """Candidates that a model has built and tried itself before it submits them."""

    name = "agent"

    def __init__(self, ask: ModelAsker, manner: Manner | None = None, critic: Asker | None = None) -> None:
        self._ask = ask
        self.check = ask.check
        self._manner = manner or Manner()
        self._critic = critic
        #: What the critic has read: what is submitted again as it was is judged.
        self._read: set[str] = set()
        self._exchange: Exchange | None = None
        #: The submission that was accepted, whose answer waits for the new profile.
        self._accepted: tuple[ToolCall, Attempt] | None = None
        self._over = False
        #: It ended by itself, and not at a bound or for want of a model.
        self.finished = False
        self._end = ""

    @property
    def learns(self) -> bool:
        """Until it has finished."""
        return not self._over

    def propose(self, problem: Problem, history: Sequence[Attempt]) -> Iterator[Candidate]:
        """What the model submits, until something is accepted or it has finished; `history` grows as its submissions are judged."""
        bench = problem.workbench
        if self._over or bench is None:
            return
        if self._exchange is None:
            self._exchange = self._begun(problem, bench, history)
        elif self._accepted is not None:
            call, attempt = self._accepted
            now = [
                verdict_of(attempt),
                "It is the new base. Measured again:",
                *diagnosed(problem, bench, self._manner.guidance),
            ]
            self._exchange.tell(call, block("verdict", now, marker_of(now)))
        self._accepted = None
        while self._exchange is not None and not self._over:
            calls = self._turn(self._exchange)
            failed = False
            for call in calls:
                if self._accepted is not None or self._over:
                    self._exchange.tell(call, "Not done: an earlier call already decided this turn.")
                elif failed and call.name in tools.AFTER_EDITS:
                    self._exchange.tell(call, "Not done: an earlier edit failed.")
                elif call.name == "submit":
                    yield from self._submitted(call, bench, problem, history)
                elif call.name == "finish":
                    self._finished(call)
                else:
                    text = tools.use(bench, call)
                    failed = call.name != "undo" and (failed or (call.name == "edit" and text != tools.DONE))
                    said = text[:_LONGEST].splitlines()
                    self._exchange.tell(call, block(f"result of {call.name[:40]}", said, marker_of(said)))
            if self._accepted is not None:
                return

    def _begun(self, problem: Problem, bench: Workbench, history: Sequence[Attempt]) -> Exchange | None:
        backend = self._ask.backend(problem)
        if backend is None:
            self._over = True
            return None
        form = template(_FORM)
        user = briefing(problem, bench, self._manner.guidance, self._manner.hypotheses, history, form.task)
        return self._ask.exchange(
            backend, form.system.replace("{limits}", str(self._manner.bounds)), user, form.max_output_tokens
        )

    def _turn(self, exchange: Exchange) -> tuple[ToolCall, ...]:
        """The calls of the model's next turn; none where it has ended, or a bound was reached."""
        if len(exchange.completions) >= self._manner.bounds.turns or self._ask.tokens >= self._manner.bounds.tokens:
            self._over, self._end = True, f"Limit reached: {self._manner.bounds}."
            return ()
        try:
            calls = exchange.ask(tools.descriptions(), self._ask.settings.deadline, _CALLS)
        except (ModelUnavailableError, BudgetSpentError) as error:
            self._over, self._end = True, str(error).replace("\n", " ")
            return ()
        self._ask.count(exchange.completions[-1])
        if not calls:
            self._over, self.finished, self._end = True, True, clean(exchange.text)[:300]
        return calls

    def _submitted(
        self, call: ToolCall, bench: Workbench, problem: Problem, history: Sequence[Attempt]
    ) -> Iterator[Candidate]:
        """The edits as a candidate, and what the gates said of it to the model."""
        given, exchange, id = tools.arguments(call), self._exchange, identity(bench.edits)
        if exchange is None:
            return
        if not isinstance(given, tools.Submit):
            exchange.tell(call, given.as_text() if isinstance(given, Result) else "")
            return
        claims = tuple(given.functions)
        known = [each for each in history if (each.candidate.id, each.candidate.claims) == (id, claims)]
        if not bench.edits or any(each.verdict != Verdict.INVALID for each in known):
            said = ["Judged before; only a change that differs is judged again.", *map(verdict_of, known[-1:])]
            exchange.tell(call, block("verdict", said, marker_of(said)) if bench.edits else NOTHING)
            return
        remark = self._criticised(bench, problem, id)
        if remark:
            exchange.tell(call, block("criticism by another model", [remark, _SUBMIT_AGAIN], marker_of([remark])))
            return
        finding = None if problem.profile is None else claimed(problem.profile, problem.diagnosis, *given.functions)
        yield Candidate(id, self.name, clean(given.title)[:200], dict(bench.edits), None, finding, claims=claims)
        judged = next((each for each in reversed(history) if each.candidate.id == id), None)
        if judged is None:
            exchange.tell(call, "Judged before, in an earlier session; only a change that differs is judged again.")
        elif judged.verdict == Verdict.ACCEPTED:
            self._accepted = call, judged
        else:
            said = [verdict_of(judged), "The edits are still in the working copy."]
            said += [_UNTIMED] if judged.verdict == Verdict.INVALID else []
            said.append(bench.time_left)
            exchange.tell(call, block("verdict", said, marker_of(said)))

    def _criticised(self, bench: Workbench, problem: Problem, id: str) -> str:
        """What the critic finds wrong with the edits, when it reads them first; empty if nothing, or if there is none."""
        if self._critic is None or id in self._read:
            return ""
        self._read.add(id)
        form = template(_CRITIC_FORM)
        lines = bench.patch().splitlines()
        user = "\n\n".join([block("change", lines, marker_of(lines)), form.task])
        said = _BAD.match(self._critic(Question(form.system, user, form.max_output_tokens), problem) or "")
        return "" if said is None else quote(said["why"].strip() or "It does not do what is required.", longest=1000)

    def _finished(self, call: ToolCall) -> None:
        given = tools.arguments(call)
        self._over = self.finished = True
        self._end = clean(given.reason) if isinstance(given, tools.Finish) else "The model has finished."

    @property
    def tokens(self) -> int:
        """Tokens of all turns, as far as the model counts them."""
        return self._ask.tokens

    @property
    def notes(self) -> list[str]:
        """What the model needed, of what at most, and why it ended."""
        notes = list(self._ask.notes)
        if self._exchange is not None:
            took = (
                f"agent: {len(self._exchange.completions)} turns, {self._ask.tokens:,} tokens ({self._manner.bounds})."
            )
            notes.append(f"{took} {self._end}".rstrip())
        return notes
