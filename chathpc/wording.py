"""The explanation in words: a model's, as far as the evidence supports it, else the catalogue's."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from chathpc.diagnosis.records import Diagnosis, Verdict
from chathpc.errors import BudgetSpentError, ModelUnavailableError
from chathpc.narrative import narrate
from chathpc.profile.profile import Profile
from chathpc.profile_queries import ProfileQueries
from chathpc.report import ClaimRecord, ClaimStatistics, ExplanationRecord, SentenceRecord

if TYPE_CHECKING:
    from chathpc.grounding.check import GroundedText
    from chathpc.grounding.judgement import Sentence
    from chathpc.llm.backend import Backend
    from chathpc.prompts.build import Prompt
    from chathpc.pruners.prune import PruningResult

#: Places whose source goes into a structured prompt, and lines around each.
_EXCERPTS = 3
_EXCERPT_CONTEXT = 4


def explain_in_words(
    profile: Profile, diagnosis: Diagnosis, pruning: PruningResult, *, llm: str, base_url: str | None = None
) -> ExplanationRecord:
    """The explanation of `diagnosis` by the model that `llm` names, checked against the evidence.

    Without a model, or where it cannot be used or says too little that holds, the catalogue's words take its place and
    `note` says why. UsageError if `llm` names no model at all.
    """
    if llm.strip() == "none":
        return from_catalogue(diagnosis)
    from chathpc.llm.settings import load_settings
    from chathpc.llm.spec import resolve

    settings = load_settings({"base_url": base_url})
    try:
        choice = resolve(llm, settings)
        if choice.backend is None:
            return from_catalogue(diagnosis, note=choice.note or None)
        if diagnosis.verdict == Verdict.INSUFFICIENT:
            return from_catalogue(diagnosis, note="There is too little data for a model to word.")
        return _by_model(profile, diagnosis, pruning, choice.backend, settings.deadline)
    except (ModelUnavailableError, BudgetSpentError) as error:
        return from_catalogue(diagnosis, note=str(error).replace("\n", " "))


def _by_model(
    profile: Profile, diagnosis: Diagnosis, pruning: PruningResult, backend: Backend, deadline: float
) -> ExplanationRecord:
    from chathpc.grounding.check import check
    from chathpc.llm.backend import Request

    prompt = _prompt(profile, diagnosis, pruning, backend)
    completion = backend.complete(
        Request(
            system=prompt.system,
            user=prompt.user,
            max_tokens=prompt.max_tokens,
            json_schema=prompt.json_schema,
            deadline=deadline,
        )
    )
    grounded = check(completion.text, diagnosis, form=backend.form, queries=ProfileQueries(profile))
    if not grounded.sufficient:
        struck = grounded.statistics.struck
        note = f"{backend.label} said too little that the evidence supports ({struck} claims struck); the words are the catalogue's."
        return from_catalogue(diagnosis, note=note, statistics=_statistics(grounded))
    kept = [sentence for sentence in grounded.sentences if sentence.status != "struck"]
    return ExplanationRecord(
        text=" ".join(sentence.text for sentence in kept),
        sentences=[_sentence(sentence) for sentence in grounded.sentences],
        model=backend.label,
        claims=_statistics(grounded),
    )


def _sentence(sentence: Sentence) -> SentenceRecord:
    return SentenceRecord(
        text=sentence.text,
        evidence=list(sentence.evidence),
        status=sentence.status,
        reason=sentence.reason or None,
        claims=[
            ClaimRecord(
                kind=claim.kind,
                text=claim.text,
                status=claim.status,
                evidence=list(claim.evidence),
                query=claim.query or None,
            )
            for claim in sentence.details
        ],
    )


def _prompt(profile: Profile, diagnosis: Diagnosis, pruning: PruningResult, backend: Backend) -> Prompt:
    from chathpc.prompts.build import build_prose, build_structured

    marker = secrets.token_hex(4)
    if backend.form == "prose":
        return build_prose(diagnosis, marker=marker)
    from chathpc.pruners.outline import render_outline

    tree = "" if pruning.metric is None else render_outline(pruning.pruned, pruning.metric)
    excerpts = [
        excerpt
        for finding in diagnosis.findings[:_EXCERPTS]
        if finding.where.node >= 0
        and (excerpt := profile.source(finding.where.node, context=_EXCERPT_CONTEXT)) is not None
    ]
    return build_structured(diagnosis, outline=tree, excerpts=excerpts, marker=marker)


def from_catalogue(
    diagnosis: Diagnosis, *, note: str | None = None, statistics: ClaimStatistics | None = None
) -> ExplanationRecord:
    """The explanation put together from the catalogue; `note` says why there is no model's."""
    sentences = narrate(diagnosis)
    return ExplanationRecord(
        text=" ".join(sentence.text for sentence in sentences),
        sentences=[
            SentenceRecord(text=sentence.text, evidence=list(sentence.evidence), status="catalogue")
            for sentence in sentences
        ],
        model=None,
        claims=statistics or ClaimStatistics(),
        note=note,
    )


def _statistics(grounded: GroundedText) -> ClaimStatistics:
    found = grounded.statistics
    return ClaimStatistics(
        checked=found.checked, supported=found.supported, repaired=found.repaired, struck=found.struck
    )
