"""The explanation in words, and what is suspected: by the first of the models asked that can, else in the catalogue's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from chathpc.diagnosis.records import Diagnosis, Verdict
from chathpc.errors import BudgetSpentError, ModelUnavailableError
from chathpc.profile.profile import Profile
from chathpc.reading.asking import guard, keeps_source, reading_question, reading_request, request, shown_to
from chathpc.reading.narrative import narrate
from chathpc.reading.retelling import CATALOGUE, Told, retelling, statement
from chathpc.report import ExplanationRecord, HypothesisRecord, StatementRecord, UsageRecord

if TYPE_CHECKING:
    from chathpc.llm.asking import Answer
    from chathpc.llm.backend import Request
    from chathpc.llm.purse import Notice
    from chathpc.llm.settings import Settings
    from chathpc.llm.spec import Choice
    from chathpc.prompts.loader import Audience
    from chathpc.pruners.prune import PruningResult
    from chathpc.reading.question import Question

Explained = tuple[ExplanationRecord, tuple[HypothesisRecord, ...]]


#: What is told where a model saw less than the diagnosis, because nobody named the source to it.
_UNSEEN = "{} was not shown the source that was found below this folder; --source FOLDER shows it."


def explain_in_words(
    profile: Profile,
    diagnosis: Diagnosis,
    pruning: PruningResult,
    *,
    llm: str,
    settings: Settings,
    notice: Notice | None = None,
) -> Explained:
    """The explanation of `diagnosis`, and what is suspected, by the first of the models that `llm` names which can.

    Where none can be had, answers in time or says something that holds, the catalogue's words stand alone; `note` and `lack` say why. `notice`
    is told what a question to a model on another machine needs. UsageError if `llm` names no model at all.
    """
    facts = narrate(diagnosis, settings.audience)
    last = from_catalogue(facts, settings.audience)
    if llm.strip() == "none":
        return last, ()
    from chathpc.llm.spec import choices

    notes: list[str] = []
    read: tuple[HypothesisRecord, ...] = ()
    for choice in choices(llm, settings):
        if choice.backend is None:
            last = last.model_copy(update={"note": choice.note or None, "lack": choice.lack})
        elif diagnosis.verdict == Verdict.INSUFFICIENT:
            last = last.model_copy(update={"note": "There is too little data for a model to word."})
        else:
            last = from_catalogue(facts, settings.audience, note=choice.note or None)
            try:
                last, read = _asked(profile, diagnosis, facts, pruning, choice, settings, last, notice)
            except (ModelUnavailableError, BudgetSpentError) as error:
                lack = "unavailable" if isinstance(error, ModelUnavailableError) else "budget"
                last = last.model_copy(update={"note": str(error), "lack": lack})
        if last.note:
            notes.append(last.note.replace("\n", " "))
        if last.model is not None or (choice.backend is not None and diagnosis.verdict == Verdict.INSUFFICIENT):
            break
    return last.model_copy(update={"note": " ".join(notes) or None}), read


def from_catalogue(
    facts: Sequence[Told], audience: Audience = "expert", *, note: str | None = None
) -> ExplanationRecord:
    """The explanation without a model."""
    told = [statement(fact.text, fact.cites, CATALOGUE) for fact in facts]
    return _with(ExplanationRecord(text="", model=None, audience=audience, note=note), told)


def _with(told: ExplanationRecord, statements: list[StatementRecord]) -> ExplanationRecord:
    """The explanation of these statements; its text is the facts in them."""
    kept = [each.text for each in statements if each.kind == "retold" and each.dropped_because is None]
    return told.model_copy(update={"text": " ".join(kept), "statements": statements})


def _asked(
    profile: Profile,
    diagnosis: Diagnosis,
    facts: Sequence[Told],
    pruning: PruningResult,
    choice: Choice,
    settings: Settings,
    told: ExplanationRecord,
    notice: Notice | None,
) -> Explained:
    """What the model of `choice` makes of it: one that reads says what it suspects, a small one retells the facts."""
    seen, shown = shown_to(choice, profile, diagnosis)
    backend = guard(seen, shown, choice, settings, notice)
    asked = replace(choice, backend=backend)
    if keeps_source(choice, profile):
        told = _noted(told, _UNSEEN.format(_label(asked)))
    if backend.form == "structured":
        question = reading_question(seen, shown, pruning, backend, settings, choice.prompt_tokens)
        return _by_reader(seen, asked, question, settings, told)
    visible = {fact.text for fact in narrate(shown, settings.audience)}
    facts = [fact if fact.text in visible else replace(fact, offered=False) for fact in facts]
    sent = request(seen, shown, pruning, backend, settings, choice.prompt_tokens)
    return _by_reteller(facts, asked, sent, settings, told), ()


def _by_reader(
    profile: Profile, choice: Choice, question: Question, settings: Settings, told: ExplanationRecord
) -> Explained:
    """The catalogue's words, and beside them what a model that reads said under its name."""
    from chathpc.diagnosis.facts import Facts
    from chathpc.llm.asking import ask
    from chathpc.reading.answer import problem, read
    from chathpc.reading.look import CALLS, Looking

    label = _label(choice)
    looking = Looking(question, Facts(profile))
    answer = ask(choice, reading_request(question, settings), problem=problem, look_up=looking, most_calls=CALLS)
    found = read(answer.text, looking.question, label)
    told = _with(told, [*told.statements, *found.statements])
    wrong = problem(answer.text)
    if not wrong:
        return told.model_copy(update={"model": label, "usage": _usage(answer, settings)}), found.hypotheses
    said = f"{label} gave no usable answer{_late(answer, settings)}: {wrong}."
    return _failed(told, said, answer, settings), found.hypotheses


def _by_reteller(
    facts: Sequence[Told], choice: Choice, sent: Request, settings: Settings, told: ExplanationRecord
) -> ExplanationRecord:
    """Each fact in the model's sentence where that tells it, else in the catalogue's."""
    from chathpc.llm.asking import ask

    label = _label(choice)
    answer = ask(choice, sent)
    said = retelling(answer.text, facts, label)
    if any(each.by == label and each.dropped_because is None for each in said):
        return _with(told, said).model_copy(update={"model": label, "usage": _usage(answer, settings)})
    dropped = [each for each in said if each.dropped_because is not None]
    told = _with(told, [*told.statements, *dropped])
    return _failed(
        told,
        f"Nothing that {label} said{_late(answer, settings)} retells a fact; the words are the catalogue's.",
        answer,
        settings,
    )


def _failed(told: ExplanationRecord, note: str, answer: Answer, settings: Settings) -> ExplanationRecord:
    lack = "budget" if answer.finish == "deadline" else "unsupported"
    return _noted(told, note).model_copy(update={"lack": lack, "usage": _usage(answer, settings)})


def _noted(told: ExplanationRecord, note: str) -> ExplanationRecord:
    return told.model_copy(update={"note": " ".join(filter(None, (told.note, note)))})


def _late(answer: Answer, settings: Settings) -> str:
    return f" within {settings.deadline:g} s" if answer.finish == "deadline" else ""


def _label(choice: Choice) -> str:
    if choice.backend is None:
        raise ValueError("there is no back end to ask")
    return choice.backend.label


def _usage(answer: Answer, settings: Settings) -> UsageRecord:
    return UsageRecord(
        tries=answer.tries,
        calls=answer.calls,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        cost=answer.cost,
        currency=None if answer.cost is None else settings.currency,
    )
