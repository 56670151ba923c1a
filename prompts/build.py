"""Fills the templates with the facts of a diagnosis, within their limits."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.llm.backend import Request
from chathpc.profile.text import estimate_tokens as estimate_tokens
from chathpc.prompts.loader import Audience, Template, template
from chathpc.prompts.untrusted import block, marker_of, quote

#: A question is a sentence or two.
_LONGEST_QUESTION = 1_000
#: A statement is a sentence of ours around names of theirs.
LONGEST_STATEMENT = 300


def build_prose(facts: Sequence[str], *, audience: Audience = "expert", most_tokens: int | None = None) -> Request:
    """The prompt for a small model: a few numbered facts to tell in other words, the most important first.

    `most_tokens` bounds its length where the model takes less than the form allows.
    """
    form = template("prose", audience)
    lines = [f"{number}. {_told(line)}" for number, line in enumerate(facts[: form.key_lines], 1)]
    return _fit(form, [("facts", lines)], most_tokens)


def build_chat(question: str, facts: Sequence[str]) -> Request:
    """The prompt for a question whose answer was looked up: the facts, most important first, and the question."""
    form = template("chat")
    lines = [f"{number}. {_told(fact)}" for number, fact in enumerate(facts[: form.key_lines], 1)]
    asked = [quote(question, longest=_LONGEST_QUESTION)]
    return _fit(form, [("question", asked), ("facts", lines)])


def _told(text: str) -> str:
    return quote(text, longest=LONGEST_STATEMENT)


def _fit(form: Template, parts: list[tuple[str, list[str]]], most_tokens: int | None = None) -> Request:
    """The prompt within its limit: lines go from the end, where the least important ones stand."""
    most = form.max_prompt_tokens if most_tokens is None else min(most_tokens, form.max_prompt_tokens)
    kept = [(name, list(lines)) for name, lines in parts if any(lines)]
    marker = marker_of(line for _, lines in parts for line in lines)
    while True:
        user = "\n\n".join([*(block(name, lines, marker) for name, lines in kept), form.task])
        if estimate_tokens(form.system) + estimate_tokens(user) <= most or not kept:
            return Request(form.system, user, form.max_output_tokens, json_schema=form.schema)
        lines = kept[-1][1]
        # Many lines over the limit go at once: the share by which the text is too long, at least one.
        excess = estimate_tokens(form.system) + estimate_tokens(user) - most
        per_line = max(1, estimate_tokens("\n".join(lines)) // len(lines))
        del lines[max(0, len(lines) - max(1, excess // per_line)) :]
        if not lines:
            kept.pop()
