"""The way from a proposer to a language model: one question, one text, with what it took; never a change of anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

from chathpc.errors import BudgetSpentError, ModelUnavailableError

if TYPE_CHECKING:
    from chathpc.fix.records import Problem
    from chathpc.llm.asking import Exchange
    from chathpc.llm.backend import Completion
    from chathpc.llm.guard import GuardedBackend
    from chathpc.llm.settings import Settings
    from chathpc.llm.spec import Choice
    from chathpc.profile.profile import Profile


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked."""

    system: str
    user: str
    max_tokens: int


class Asker(Protocol):
    """Answers questions about a problem with a model."""

    @property
    def form(self) -> Literal["prose", "structured"]:
        """The form that fits the model: small models, which write `prose`, are asked for whole functions."""
        ...

    def __call__(self, question: Question, problem: Problem) -> str | None:
        """The answer; None if there is none, or none any more (the model is away, the budget spent)."""
        ...


@dataclass(slots=True)
class ModelAsker:
    """The first of the models that a SPEC names which can be asked, behind the guard; counts what it takes.

    All strategies of a session share one: a local model is loaded once, and the guard, which has to find every name of the profile, is
    made once for each problem. `tokens` are the model's own count, of prompts and answers; `notes` says why there was no answer, each reason once.
    """

    llm: str
    settings: Settings
    notice: Callable[[str], None] | None = None
    tokens: int = 0
    questions: int = 0
    notes: list[str] = field(default_factory=list)
    _choice: Choice | None = None
    _over: bool = False
    _guarded: tuple[Problem, GuardedBackend] | None = None

    @property
    def form(self) -> Literal["prose", "structured"]:
        """That of the back end."""
        choice = self._chosen()
        return "prose" if choice is None or choice.backend is None else choice.backend.form

    def __call__(self, question: Question, problem: Problem) -> str | None:
        """Ask the model within the settings' deadline; see Asker."""
        from chathpc.llm.asking import ask
        from chathpc.llm.backend import Request

        backend, choice = self._shown_source(problem), self._chosen()
        if backend is None or choice is None:
            return None
        request = Request(
            system=question.system,
            user=question.user,
            max_tokens=question.max_tokens,
            deadline=self.settings.deadline,
        )
        self.questions += 1
        try:
            answer = ask(replace(choice, backend=backend), request)
        except (ModelUnavailableError, BudgetSpentError) as error:
            self._over = True
            self._note(str(error).replace("\n", " "))
            return None
        self.tokens += (answer.prompt_tokens or 0) + (answer.completion_tokens or 0)
        return answer.text

    def backend(self, problem: Problem) -> GuardedBackend | None:
        """The back end behind the guard, of a model that calls tools and may see source; None where there is none, which `notes` tells."""
        found = self._shown_source(problem)
        if found is not None and not found.calls_tools:
            self._note(f"{found.label} cannot call tools, which the agent strategy needs: use --strategy advice.")
            return None
        return found

    def check(self) -> None:
        """ModelUnavailableError if there is no model to ask, as far as that can be told without a question."""
        from chathpc.llm.hosted import HostedBackend

        choice = self._chosen()
        if choice is None:
            raise ModelUnavailableError(" ".join(self.notes) or "No model is named.")
        if isinstance(choice.backend, HostedBackend):
            choice.backend.check()

    def exchange(self, backend: GuardedBackend, system: str, user: str, most: int) -> Exchange:
        """A conversation with the model, in which an answer has `most` tokens; all of it is one answer to the purse."""
        from chathpc.llm.asking import Exchange
        from chathpc.llm.backend import Request
        from chathpc.llm.guard import new_answer

        new_answer(backend)
        return Exchange(backend, Request(system, user, most))

    def count(self, done: Completion) -> None:
        """Count a turn of a conversation."""
        self.questions += 1
        self.tokens += (done.prompt_tokens or 0) + (done.completion_tokens or 0)

    def _shown_source(self, problem: Problem) -> GuardedBackend | None:
        """The back end behind the guard, of a model that may see source; None where there is none, which `notes` tells."""
        choice = self._chosen()
        if self._over or choice is None or choice.backend is None or problem.profile is None:
            return None
        found = self._behind_guard(choice, problem, problem.profile)
        if found.mode == "all":
            self._note("With `confidential: all` no source leaves the machine: a hosted model cannot propose changes.")
            return None
        return found

    def _behind_guard(self, choice: Choice, problem: Problem, profile: Profile) -> GuardedBackend:
        """The back end behind the guard for this problem."""
        if self._guarded is None or self._guarded[0] is not problem:
            from chathpc.reading.explaining import guard

            self._guarded = problem, guard(profile, problem.diagnosis, choice, self.settings, self.notice)
        return self._guarded[1]

    def _chosen(self) -> Choice | None:
        if self._choice is None and not self._over:
            from chathpc.llm.spec import choices

            for choice in choices(self.llm, self.settings):
                if choice.backend is not None:
                    self._choice = choice
                    break
                if choice.note:
                    self._note(choice.note.replace("\n", " "))
            self._over = self._choice is None
        return self._choice

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
