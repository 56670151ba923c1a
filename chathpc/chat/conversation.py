"""Questions and answers about a profile, with a model or without."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

from chathpc.chat import slash
from chathpc.chat.index import short_name
from chathpc.chat.intents import Intent, Last, match
from chathpc.chat.record import Answer, Chat, StepRecord
from chathpc.chat.session import Session, split_place
from chathpc.chat.tools import Result, call
from chathpc.chat.tools.summary import ABSENT
from chathpc.chat.units import in_unit, split_unit
from chathpc.chat.wording import OnSentence, TokensLackError, Worded, converse, numbered, word
from chathpc.errors import BudgetSpentError, ChathpcError, ModelUnavailableError, UsageError
from chathpc.llm.backend import Backend
from chathpc.profile.metric import TIME, Clock
from chathpc.prompts.untrusted import quote
from chathpc.report import EvidenceRecord

if TYPE_CHECKING:
    from chathpc.llm.spec import Lack


#: Tokens that the model may read and write in one conversation, unless the user says otherwise.
BUDGET = 200_000
_LONGEST_QUESTION = 4_000
#: The id of the time in a sentence, and a question for the time of a CPU.
_ID = re.compile(rf"(?<![\w.]){re.escape(TIME)}(?![\w-]|\.\w)")
#: That a short name is that of several functions, which is said once.
_SEVERAL = re.compile(r" \(and \d+ of the same short name\)")
_CPU_TIME = re.compile(r"\bcpu[ -]?time\b", re.IGNORECASE)
#: What says that a question is about the run that was loaded for comparison, or about both; and tools that tell of both anyway.
_OTHER_RUN = re.compile(
    r"\b(?:before|previously|both|baseline|which (?:one|run|profile|version)|of the two|(?:other|old|first|previous) (?:one|run|profile|version))\b",
    re.IGNORECASE,
)
_OF_BOTH = frozenset({"compare", "scaling", "catalogue"})
#: Between two questions in one; what each has of its own (`how long on average` goes on with the one before it), and its least words.
_AND = re.compile(r",? and (?=(?:how|what|which|who|where|why|is|are|was|were|did|does)\b)", re.IGNORECASE)
_VERB = re.compile(r"\b(?:is|are|was|were|do|does|did|has|have|calls?|takes?|costs?)\b", re.IGNORECASE)
_A_QUESTION = 3
#: Errors that leave an answer without a model's words, but not without an answer.
_MODEL_ERRORS = (ModelUnavailableError, BudgetSpentError)


@dataclass(frozen=True, slots=True)
class Step:
    """A tool that was called, and what it said."""

    tool: str
    arguments: Mapping[str, object]
    result: Result


#: Is given each step as soon as it is done.
OnStep = Callable[[Step], None]


class Conversation:
    """Asks a Session, and a model for words. `turns` holds what was answered so far.

    Without `backend` the answers are the tools'. `budget` bounds the tokens of all turns, `deadline` the seconds of one answer.
    """

    def __init__(
        self, session: Session, backend: Backend | None = None, *, budget: int = BUDGET, deadline: float = 60.0
    ) -> None:
        self.session = session
        self.backend = backend
        self.budget = budget
        self.deadline = deadline
        self.turns: list[Answer] = []
        self._spent = 0  #: tokens of the answer that is being made
        #: The model that was offered tools, called none and said nothing in time that holds.
        self._calls_none: Backend | None = None

    @property
    def used(self) -> int:
        """Tokens that were used so far."""
        return sum(turn.tokens for turn in self.turns)

    def ask(self, question: str, *, on_step: OnStep | None = None, on_sentence: OnSentence | None = None) -> Answer:
        """Answer a question in plain language, or a slash command that a tool answers.

        Never raises for what a question or a model says; UsageError for a slash command that is none. KeyboardInterrupt goes
        through, and what was looked up before it has been told to `on_step`.
        """
        question = question.strip()[:_LONGEST_QUESTION]
        tell = on_step or (lambda step: None)
        self._spent = 0
        if self.backend is not None:
            from chathpc.llm.guard import new_answer

            new_answer(self.backend)
        if question.startswith("/"):
            typed = slash.parse(question, self.session.asker.commands)
            if not typed.command.tool:
                raise UsageError(
                    f"/{typed.command.name} asks nothing of the profile.", hint=self.session.asker.commands
                )
            answer = self._answer(question, [self._look_up(typed.command.tool, typed.arguments, tell)])
        elif self.backend is not None and self._may_call(self.backend) and self.used < self.budget:
            answer = self._by_agent(question, self.backend, tell, on_sentence)
        else:
            answer = self._by_intent(question, self.backend, tell, on_sentence)
        self.turns.append(answer)
        return answer

    def _look_up(self, tool: str, arguments: Mapping[str, object] | str, tell: OnStep) -> Step:
        result = call(self.session, tool, arguments)
        step = Step(tool, arguments if isinstance(arguments, Mapping) else _parsed(arguments), result)
        self._tell([step], tell)
        return step

    def _tell(self, steps: Sequence[Step], tell: OnStep) -> None:
        """Tell what was looked up as people read it."""
        for each in steps:
            tell(replace(each, result=self._worded(each.result)))

    def _worded(self, result: Result) -> Result:
        """What a tool said with the name that people give the time; a model is given ids, which tools take."""
        if several := _SEVERAL.search(result.text):
            result = replace(result, text=result.text[: several.end()] + _SEVERAL.sub("", result.text[several.end() :]))
        time = self.session.measured.metrics.get(TIME)
        if time is None or time.title == TIME:
            return result
        columns = (replace(each, title=_ID.sub(time.title, each.title)) for each in result.columns)
        first = re.sub(rf"(^|\. ){_ID.pattern}", rf"\g<1>{time.title[0].upper()}{time.title[1:]}", result.text)
        return replace(result, text=_ID.sub(time.title, first), columns=tuple(columns))

    def _clock(self, question: str) -> str:
        """That the time is by another clock than the one asked for, as a sentence."""
        metrics = self.session.measured.metrics.values()
        if not _CPU_TIME.search(question) or any(each.clock == Clock.CPU for each in metrics):
            return ""
        by_wall = any(each.clock == Clock.WALL for each in metrics)
        return "CPU time was not measured: this is wall-clock time, waiting included." if by_wall else ""

    # -- by code -------------------------------------------------------------------------------------------

    def _by_intent(
        self,
        question: str,
        backend: Backend | None,
        tell: OnStep,
        on_sentence: OnSentence | None,
        note: str = "",
        lack: Lack | None = None,
    ) -> Answer:
        """Code picks the tool; a model, if there is one, words the facts."""
        if parts := self._by_parts(question, tell):
            return self._answer(question, parts, note=note, lack=lack)
        last = self.last
        asked, unit = split_unit(question)
        if unit and not asked.strip():
            return self._again_in(question, unit, tell, note, lack)
        intent = match(asked, self.session, last) if unit else Intent("")
        if not intent.tool:
            unit, intent = "", match(question, self.session, last)
        others = [] if last is None else [row for row in last.rows if row != last.subject]
        if last is not None and last.tool in _LEADS_ON and others:
            again = (intent.tool, dict(intent.arguments)) == (last.tool, dict(last.arguments))
            if again and last.subject.strip("`") not in question:  # `and who calls it?`: the first that was answered
                intent = match(question, self.session, replace(last, subject=others[0]))
        if not intent.tool:
            return self._answer(question, [], suggestions=askable(self.session), note=note, lack=lack)
        step = Step(intent.tool, intent.arguments, call(self.session, intent.tool, intent.arguments))
        if unit and (told := in_unit(step.result, unit, most=1)):
            step = replace(step, result=replace(step.result, text=f"{told} {step.result.text}"))
        steps = self._before(question, step) or (step,)
        self._tell(steps, tell)
        note = " ".join(filter(None, (intent.note, self._clock(question), note)))
        if backend is None or not step.result.facts or step.result.complete or len(steps) > 1:
            return self._answer(question, steps, note=note, lack=lack)
        try:
            self._check_budget()
            found = word(
                question,
                step.result,
                self.session.diagnosis,
                backend,
                deadline=self.deadline,
                count=self._count,
                about_all=intent.tool in ("findings", "summary") and not {"number", "words"} & set(intent.arguments),
                on_sentence=on_sentence,
            )
        except _MODEL_ERRORS as error:
            return self._answer(question, [step], note=f"{note} {error}".strip(), lack=_lack(error))
        return self._answer(question, [step], found=found, note=note)

    def _by_parts(self, question: str, tell: OnStep) -> Sequence[Step]:
        """The answers to a question that is several, `how long did it run and which function is the hottest`; none unless all are understood."""
        parts, last, steps = _AND.split(question), self.last, list[Step]()
        if len(parts) < 2 or not all(_VERB.search(part) and len(part.split()) >= _A_QUESTION for part in parts):
            return ()
        for part in parts:
            intent = match(part, self.session, last)
            result = call(self.session, intent.tool, intent.arguments)
            if result.error or any((intent.tool, intent.arguments) == (each.tool, each.arguments) for each in steps):
                return ()
            steps.append(Step(intent.tool, intent.arguments, result))
            last = last_of(StepRecord.of(intent.tool, _simple(intent.arguments), result), self.session)
        self._tell(steps, tell)
        return steps

    def _again_in(self, question: str, unit: str, tell: OnStep, note: str, lack: Lack | None) -> Answer:
        """The last answer's values in another unit."""
        said = next((step for turn in reversed(self.turns) for step in reversed(turn.steps) if not step.error), None)
        result = Result() if said is None else call(self.session, said.tool, said.arguments)
        if said is None:
            return self._answer(question, [], suggestions=askable(self.session), note=note, lack=lack)
        text = in_unit(result, unit) or f"The last answer has nothing in {unit}."
        step = Step(said.tool, said.arguments, Result(text, facts=result.facts, complete=True))
        self._tell([step], tell)
        return self._answer(question, [step], note=note, lack=lack)

    def _before(self, question: str, step: Step) -> Sequence[Step]:
        """The same of the run that was loaded for comparison, and of this one, where a question is about that one or both; else nothing."""
        others = self.session.others
        if len(others) != 1 or step.tool in _OF_BOTH or step.result.error or not _OTHER_RUN.search(question):
            return ()
        found = call(self.session.before(next(iter(others))), step.tool, step.arguments)
        text = f"Before: {found.error or found.text}"
        # Ids are of this profile.
        facts = [replace(one, id="F0", subject=f"{one.subject} before") for one in found.facts]
        earlier = Step(step.tool, step.arguments, replace(found, text=text, error="", hint="", facts=tuple(facts)))
        return (earlier, replace(step, result=replace(step.result, text=f"After: {step.result.text}")))

    @property
    def last(self) -> Last | None:
        """What the last answer was about, for questions that go on from there."""
        steps = [step for turn in self.turns for step in turn.steps if not step.error]
        return last_of(steps[-1], self.session) if steps else None

    def _count(self, tokens: int) -> None:
        self._spent += tokens

    def _check_budget(self) -> None:
        if self.used >= self.budget:
            raise BudgetSpentError(f"The budget of {self.budget:,} tokens is spent.", hint=self.session.asker.tokens)

    def _may_call(self, backend: Backend) -> bool:
        """Whether the model picks tools; small ones on servers that offer them do not, and cost a minute each time to find out."""
        return bool(getattr(backend, "calls_tools", False)) and backend is not self._calls_none

    # -- by a model that calls tools -----------------------------------------------------------------------

    def _by_agent(self, question: str, backend: Backend, tell: OnStep, on_sentence: OnSentence | None) -> Answer:
        """The model picks tools and words what they say."""
        steps: list[Step] = []

        def look_up(tool: str, arguments: str) -> Result:
            steps.append(self._look_up(tool, arguments, tell))
            return steps[-1].result

        try:
            found = converse(
                question,
                self.turns,
                look_up,
                self.session,
                backend,
                deadline=self.deadline,
                tokens=self.budget - self.used,
                count=self._count,
                on_sentence=on_sentence,
            )
        except _MODEL_ERRORS as error:
            if steps:
                return self._answer(question, steps, note=str(error), lack=_lack(error))
            if isinstance(error, TokensLackError):
                return self._by_intent(question, None, tell, None, f"The model was not asked. {error}", _lack(error))
            if isinstance(error, BudgetSpentError):  # it did not even read what tools there are
                self._calls_none = backend
            note, lack = f"The model did not answer: {error}", _lack(error)
        else:
            if steps or found.holds:
                return self._answer(question, steps, found=found)
            self._calls_none = backend
            note, lack = "The model looked nothing up, and none of its statements could be verified.", "unsupported"
        return self._by_intent(question, None, tell, None, note, lack)

    # -- records -------------------------------------------------------------------------------------------

    def _answer(
        self,
        question: str,
        steps: Sequence[Step],
        *,
        found: Worded | None = None,
        note: str = "",
        lack: Lack | None = None,
        suggestions: Sequence[str] = (),
    ) -> Answer:
        said = " ".join(filter(None, (step.result.error or self._worded(step.result).text for step in steps)))
        facts = [fact for step in steps for fact in step.result.facts]
        model = None if found is None or self.backend is None else self.backend.label
        if found is not None and not found.holds:
            note = f"{note} No statement by {model} can be printed.".strip()
            lack = "unsupported"
        return Answer(
            question=quote(question, longest=_LONGEST_QUESTION),
            matched=bool(steps) or (found is not None and found.holds),
            text=said,
            steps=[StepRecord.of(step.tool, _simple(step.arguments), self._worded(step.result)) for step in steps],
            facts=[EvidenceRecord.model_validate(fact) for fact in numbered(facts)],
            statements=[] if found is None else list(found.statements),
            model=model,
            note=quote(note, longest=600),
            lack=lack,
            suggestions=list(suggestions),
            tokens=self._spent,
        )

    def record(self, compared: Mapping[str, Sequence[str]] | None = None) -> Chat:
        """The conversation as it is saved."""
        return Chat(
            paths=[str(path) for path in self.session.paths],
            compared={name: list(paths) for name, paths in (compared or {}).items()},
            contexts=len(self.session.measured.tree),
            budget=self.budget,
            turns=self.turns,
        )


def _lack(error: ChathpcError) -> Lack:
    return "budget" if isinstance(error, BudgetSpentError) else "unavailable"


def _parsed(arguments: str) -> Mapping[str, object]:
    """What a model wrote as arguments, for the record; what is no object stands there as it was written."""
    try:
        parsed = json.loads(arguments or "{}") if len(arguments) < _LONGEST_QUESTION else None
    except (ValueError, RecursionError):
        parsed = None
    return parsed if isinstance(parsed, dict) else {"": arguments[:200]}


def _simple(arguments: Mapping[str, object]) -> dict[str, str | int | float | bool]:
    """Arguments as they are recorded: escaped, and nothing nested."""
    return {
        quote(str(name)): value
        if isinstance(value, (bool, int)) or (isinstance(value, float) and isfinite(value))
        else quote(str(value), longest=2_000)
        for name, value in list(arguments.items())[:20]
    }


#: Arguments that say what a question was about, and how a question names that.
_SUBJECTS = {
    "place": "`{}`",
    "name": "`{}`",
    "who": "{}",
    "number": "finding {}",
    "id": "{}",
    "words": "{}",
    "file": "{}",
}
#: Tools whose rows are about something of their own, and how a question names that: `#` of a finding.
_ROWS = {
    "findings": "finding {}", "evidence": "{}", "top": "`{}`", "tree": "`{}`", "callers": "`{}`", "callees": "`{}`", "source": "`{}`",
    "locations": "{}", "loops": "`{}`", "files": "{}", "why": "`{}`", "activities": "`{}`", "catalogue": "{}",
}  # fmt: skip


#: Tools whose first row is what the same question asks about next.
_LEADS_ON = frozenset({"callers", "callees"})
#: Longer names (in characters) are none to type.
_LONGEST = 80


def last_of(step: StepRecord, session: Session) -> Last:
    """An answer as the next question sees it: `it` is what was asked about, else what stands in the first row."""
    rows = [_ROWS[step.tool].format(str(row[0]).strip()) for row in step.rows if step.tool in _ROWS]
    if step.tool == "top" and step.arguments.get("by") in ("line", "loop"):
        rows = [f"`{row[1] or row[0]}`" for row in step.rows]  # the name of these is their function's
    absent = ABSENT in step.text  # a problem that there is not is nothing to fix
    named = [
        form.format(step.arguments[name]) for name, form in _SUBJECTS.items() if step.arguments.get(name) and not absent
    ]
    subject = " on ".join(named[:2]) if {"place", "who"} <= set(step.arguments) else next(iter([*named, *rows]), "")
    known = bool(named) or step.tool == "locations"
    return Last(step.tool, step.arguments, subject, rows, named=known, inside=_inside(session, subject.strip("`")))


def _inside(session: Session, place: str) -> str:
    """The function with most time at a line, or that of a finding; empty for anything else."""
    if place.startswith("finding "):
        where = session.diagnosis.findings[int(place.removeprefix("finding ")) - 1].where
        return f"`{where.function}`" if where.function in session.index.names else ""
    file, line = split_place(place)
    if not line or not session.has_line(file, line):
        return ""
    try:
        nodes, values = session.find(place).nodes, session.inclusive(session.metric())
    except UsageError:
        return ""
    return f"`{session.measured.tree.function_name(int(nodes[values[nodes].argmax()]))}`"


def askable(session: Session) -> Sequence[str]:
    """Three questions that this profile answers."""
    found = [one.where.function for one in session.diagnosis.findings if one.where.function in session.index.names]
    named = next(iter([*filter(None, found), *session.index.names]), "")  # rather than what the system does
    hot = short_name(named) if named in session.index.find(short_name(named)) else named
    hot = hot if len(hot) <= _LONGEST else ""
    several = session.measured.counts
    kind = "rank" if several.ranks > 1 else "thread" if several.threads > 1 else ""
    asked = [
        "why is it slow?",
        f"who calls {hot}?" if hot else "",
        f"which {kind} is the slowest?" if kind else "",
        "what was not measured?",
    ]
    return [one for one in asked if one][:3]
