"""The explanation in words, and what is suspected: by the first of the models asked that can, else in the catalogue's words;
what a model is asked, and what of it leaves the machine.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chathpc.diagnosis.records import Diagnosis, Verdict
from chathpc.diagnosis.source.sign import DERIVED
from chathpc.errors import BudgetSpentError, ModelUnavailableError, UsageError
from chathpc.profile.profile import Profile
from chathpc.profile.source_text import Provenance
from chathpc.reading.retelling import CATALOGUE, Told, narrate, retelling, statement
from chathpc.report import ExplanationRecord, HypothesisRecord, StatementRecord, UsageRecord

if TYPE_CHECKING:
    from chathpc.llm.asking import Answer
    from chathpc.llm.backend import Request
    from chathpc.llm.guard import GuardedBackend
    from chathpc.llm.price import Notice
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
    is told what a question to a model at a server needs. UsageError if `llm` names no model at all.
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
    if answer.finish == "length":
        wrong = "it is longer than it may be, and was cut off"
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
    lack = "budget" if answer.finish in ("deadline", "length") else "unsupported"
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


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What a model would be sent: the bytes, the model's label, and what is replaced in them (none, default, all)."""

    body: bytes
    label: str
    confidential: str


def outgoing(
    profile: Profile, diagnosis: Diagnosis, pruning: PruningResult, *, llm: str, settings: Settings
) -> Outgoing:
    """What `explain_in_words` would send first, byte for byte; no model is called, no key is needed, nothing is logged.

    Raises UsageError where nothing would be sent.
    """
    from chathpc.llm.keys import ENVIRONMENT_KEY
    from chathpc.llm.spec import choices

    environ = {**os.environ, ENVIRONMENT_KEY: os.environ.get(ENVIRONMENT_KEY) or "none"}
    found = list(choices(llm, settings, environ))
    choice = next((one for one in found if one.backend is not None), found[0])
    if choice.backend is None:
        why = choice.note.splitlines()[0].rstrip(".") if choice.note else "--llm none"
        raise UsageError(f"There is no prompt: {why}.", hint="Name a model: --llm openai:MODEL --show-prompt.")
    if diagnosis.verdict == Verdict.INSUFFICIENT:
        raise UsageError("There is no prompt: there is too little data for a model to word.")
    profile, diagnosis = shown_to(choice, profile, diagnosis)
    backend = guard(profile, diagnosis, choice, settings)
    sent = request(profile, diagnosis, pruning, backend, settings, choice.prompt_tokens)
    return Outgoing(backend.outgoing(sent), backend.label, backend.mode)


def guard(
    profile: Profile,
    diagnosis: Diagnosis,
    choice: Choice,
    settings: Settings,
    notice: Notice | None = None,
) -> GuardedBackend:
    """The back end of `choice`, which there must be, behind what keeps names, keys and too much money from leaving, and the log.

    `notice` is told what a request to a server needs.
    """
    from chathpc.llm.guard import guarded
    from chathpc.privacy.names import placeholders_for

    return guarded(choice, settings, lambda mode: placeholders_for(profile, diagnosis, mode), notice)


def request(
    profile: Profile,
    diagnosis: Diagnosis,
    pruning: PruningResult,
    backend: GuardedBackend,
    settings: Settings,
    most_tokens: int | None,
) -> Request:
    """The question in the form that fits the model, for the audience that is set; `most_tokens` bounds the prompt if given."""
    if backend.form == "structured":
        return reading_request(reading_question(profile, diagnosis, pruning, backend, settings, most_tokens), settings)
    from chathpc.prompts.build import build_prose

    offered = [fact.text for fact in narrate(diagnosis, settings.audience) if fact.offered]
    prompt = build_prose(offered, audience=settings.audience, most_tokens=most_tokens)
    return replace(prompt, deadline=settings.deadline)


def reading_question(
    profile: Profile,
    diagnosis: Diagnosis,
    pruning: PruningResult,
    backend: GuardedBackend,
    settings: Settings,
    most_tokens: int | None,
) -> Question:
    """What a model that reads is asked; source as far as it may leave."""
    from chathpc.diagnosis.facts import Facts
    from chathpc.pruners.outline import render_outline
    from chathpc.reading.question import question

    tree = "" if pruning.metric is None else render_outline(pruning.pruned, pruning.metric)
    source = backend.mode != "all"  # source text is the user's as a whole
    return question(
        profile, Facts(profile), diagnosis, tree, audience=settings.audience, source=source, most_tokens=most_tokens
    )


def reading_request(asked: Question, settings: Settings) -> Request:
    """The question as a request, with the tools that a model which calls any is offered."""
    from chathpc.llm.backend import Request
    from chathpc.reading.look import TOOLS

    return Request(
        system=asked.system,
        user=asked.user,
        max_tokens=asked.max_tokens,
        json_schema=asked.schema,
        deadline=settings.deadline,
        tools=TOOLS,
    )


def shown_to(choice: Choice, profile: Profile, diagnosis: Diagnosis) -> tuple[Profile, Diagnosis]:
    """What the model of `choice` may be shown; behind a server nothing of source that was only found, nor what rests on it."""
    if not choice.serves:
        return profile, diagnosis
    if not keeps_source(choice, profile):
        return profile.only_shown(), diagnosis
    origin = profile.sources_found
    hidden = {
        item.id
        for item in diagnosis.evidence
        if item.source.endswith(DERIVED)
        and (item.where is None or origin.get(item.where.file or "", Provenance.FOUND) == Provenance.FOUND)
    }
    left = tuple(finding for finding in diagnosis.findings if not hidden & set(finding.evidence))
    told = next((finding for finding in diagnosis.findings if finding.summary in diagnosis.headline), None)
    unseen = told is not None and told not in left
    return profile.only_shown(), replace(
        diagnosis,
        headline=f"What {told.where.short} costs depends on source that is not shown."
        if told and unseen
        else diagnosis.headline,
        findings=left,
        evidence=tuple(item for item in diagnosis.evidence if item.id not in hidden),
    )


def keeps_source(choice: Choice, profile: Profile) -> bool:
    """True if source that was read for the diagnosis is not shown to the model of `choice`, as it was only found."""
    return choice.serves and Provenance.FOUND in profile.sources_found.values()
