"""`chathpc models test`: a model explains a few invented profiles, with the prompts and the checks of real reports."""

from __future__ import annotations

import secrets
from functools import cache
from importlib import resources
from time import monotonic
from typing import Any

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.fact import Fact, Kind, Part, Quantity
from chathpc.diagnosis.fact import Form as Grammar
from chathpc.diagnosis.records import Diagnosis, Finding, Place, Verdict
from chathpc.errors import BudgetSpentError
from chathpc.grounding import structured
from chathpc.grounding.check import check
from chathpc.llm.backend import Backend, Completion, Form, Request
from chathpc.llm.fitness import Fitness, Trial
from chathpc.prompts.build import Prompt, build_prose, build_structured, estimate_tokens
from chathpc.prompts.untrusted import MARK

#: Seconds for the whole test; what has not been asked by then is left out.
LIMIT = 120.0


def examine(backend: Backend, *, deadline: float, limit: float = LIMIT) -> Fitness:
    """What `backend` can: each packet is asked for as prose and in JSON, until all are or `limit` seconds are over.

    `deadline` is that of a real report, in seconds; an answer that is not there by then counts as one that failed. Raises
    ModelUnavailableError if the model cannot be asked at all.
    """
    started = monotonic()
    # The first request loads the weights, which belongs to no answer.
    ready = Request("Answer with one word.", "Answer with the word ready.", max_tokens=4, deadline=limit)
    model = _answered(backend, ready, [])
    trials: dict[Form, list[Trial]] = {"prose": [], "structured": []}
    speeds: list[float] = []
    waits: list[float] = []
    reads: list[float] = []
    for diagnosis in packets():
        for form, done in trials.items():
            remaining = limit - (monotonic() - started)
            if remaining <= 0:
                break
            request = _request(_prompt(diagnosis, form), min(deadline, remaining))
            times: list[float] = []
            asked = monotonic()
            completion = _answered(backend, request, times)
            model = model or completion
            done.append(_judged(completion, diagnosis, form))
            if times:
                waits.append(times[0] - asked)
                # The constant text is read once and kept; what is read anew is the rest.
                reads.append(estimate_tokens(request.user) / max(waits[-1], 1e-3))
            if completion is not None and len(times) > 1 and times[-1] > times[0]:
                speeds.append(((completion.completion_tokens or len(times)) - 1) / (times[-1] - times[0]))
    return Fitness(
        model=backend.name if model is None else model.model,
        tokens_per_second=_median(speeds),
        first_token=_median(waits),
        read_speed=_median(reads),
        seconds=monotonic() - started,
        prose=_sum(trials["prose"]),
        structured=_sum(trials["structured"]),
    )


def _prompt(diagnosis: Diagnosis, form: Form) -> Prompt:
    marker = secrets.token_hex(4)
    if form == "prose":
        return build_prose(diagnosis, marker=marker)
    return build_structured(diagnosis, outline="", excerpts=[], marker=marker)


def _request(prompt: Prompt, deadline: float) -> Request:
    return Request(
        system=prompt.system,
        user=prompt.user,
        max_tokens=prompt.max_tokens,
        json_schema=prompt.json_schema,
        deadline=deadline,
    )


def _answered(backend: Backend, request: Request, times: list[float]) -> Completion | None:
    """The answer, with the times at which its pieces came; None if there was none within the deadline."""
    try:
        return backend.complete(request, on_token=lambda _piece: times.append(monotonic()))
    except BudgetSpentError:
        return None


def _judged(completion: Completion | None, diagnosis: Diagnosis, form: Form) -> Trial:
    """One answer: whether it had the right form and came in time, how many sentences it has, and how many hold."""
    if completion is None:
        return Trial(answers=1)
    grounded = check(completion.text, diagnosis, form=form)
    whole = completion.finish_reason == "stop" if form == "structured" else completion.finish_reason != "deadline"
    # Who repeats the question, marks and all, has not answered it.
    wrong = structured.problem(completion.text) if form == "structured" else MARK in completion.text
    right = whole and not wrong
    return Trial(
        answers=1,
        formed=int(right),
        sufficient=int(grounded.sufficient),
        sentences=len(grounded.sentences),
        kept=sum(sentence.status != "struck" for sentence in grounded.sentences),
    )


def _sum(trials: list[Trial]) -> Trial:
    return Trial(
        answers=sum(one.answers for one in trials),
        formed=sum(one.formed for one in trials),
        sufficient=sum(one.sufficient for one in trials),
        sentences=sum(one.sentences for one in trials),
        kept=sum(one.kept for one in trials),
    )


def _median(values: list[float]) -> float | None:
    return sorted(values)[len(values) // 2] if values else None


@cache
def packets() -> tuple[Diagnosis, ...]:
    """The invented diagnoses, from trial.yaml."""
    import yaml

    text = resources.files("chathpc").joinpath("trial.yaml").read_text(encoding="utf-8")
    return tuple(_diagnosis(packet) for packet in yaml.safe_load(text)["packets"])


def _fact(number: int, told: dict[str, Any], where: Place) -> Fact:
    whole = told.get("whole")
    return Fact(
        f"E{number}",
        Kind(told["kind"]),
        told["subject"],
        told["value"],
        told["unit"],
        "invented",
        whole=None if whole is None else Quantity(**whole),
        parts=tuple(Part(**part) for part in told.get("parts", ())),
        form=Grammar(told.get("form", Grammar.ONE)),
        where=where,
    )


def _diagnosis(packet: dict[str, Any]) -> Diagnosis:
    entry = cause(packet["cause"])
    place = Place(packet["function"], packet["file"], packet["line"])
    facts = tuple(_fact(number, one, place) for number, one in enumerate(packet["evidence"], 1))
    finding = Finding(
        cause=packet["cause"],
        title=entry.title,
        summary=packet["summary"],
        where=place,
        seconds=packet["seconds"],
        share=packet["share"],
        headroom=packet["headroom"],
        speedup_bound=1 / (1 - packet["share"] * packet["headroom"]),
        confidence=0.9,
        confidence_reason="invented",
        evidence=tuple(fact.id for fact in facts),
        advice=entry.advice_for()[:1],
    )
    return Diagnosis(Verdict.BOTTLENECK, packet["summary"], (finding,), facts)
