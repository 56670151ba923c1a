"""Fills the templates with the facts of a diagnosis, within their limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.fact import Fact
from chathpc.diagnosis.phrasing import gain_sentence
from chathpc.diagnosis.records import Diagnosis, Finding
from chathpc.profile import numbers
from chathpc.profile.source_text import SourceExcerpt
from chathpc.prompts.loader import Audience, Template, template
from chathpc.prompts.untrusted import block, datamarked, marker_of, quote, sentence
from chathpc.prompts.whole_facts import LONGEST_STATEMENT, key_lines

#: Characters per token of English text with names and numbers, a cautious figure.
CHARACTERS_PER_TOKEN = 3.5
#: A question is a sentence or two.
_LONGEST_QUESTION = 1_000
_SHARES = re.compile(r" *[\d.]{1,5}% (?:\(self [\d.]{1,5}%\) )?")

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent: constant `system` text, then `user` with the facts; `json_schema` where the answer must fit one."""

    system: str
    user: str
    max_tokens: int
    json_schema: Mapping[str, object] | None = None


def estimate_tokens(text: str) -> int:
    """Tokens of `text`, estimated from its length."""
    return int(len(text) / CHARACTERS_PER_TOKEN) + 1


def build_prose(
    diagnosis: Diagnosis,
    *,
    marker: str = "",
    audience: Audience = "expert",
    count_tokens: CountTokens = estimate_tokens,
    most_tokens: int | None = None,
) -> Prompt:
    """The prompt for a small model: a few numbered facts, the most important first.

    `most_tokens` bounds its length where the model takes less than the form allows.
    """
    form = template("prose", audience)
    lines = [f"{number}. {line}" for number, line in enumerate(key_lines(diagnosis, audience)[: form.key_lines], 1)]
    return _fit(form, [("facts", lines)], marker, count_tokens, most_tokens)


def build_structured(
    diagnosis: Diagnosis,
    *,
    outline: str,
    excerpts: Sequence[SourceExcerpt],
    marker: str = "",
    audience: Audience = "expert",
    count_tokens: CountTokens = estimate_tokens,
    most_tokens: int | None = None,
) -> Prompt:
    """The prompt for a capable model: findings, evidence, tree, source and what is missing, in `most_tokens` if given."""
    form = template("structured", audience)
    names = _names(diagnosis)
    findings = [
        line
        for number, finding in enumerate(diagnosis.findings, 1)
        for line in _finding_lines(number, finding, names, meaning=audience == "newcomer")
    ]
    headline = sentence(diagnosis.headline, names, longest=LONGEST_STATEMENT)
    parts = [
        ("findings", [f"Verdict: {diagnosis.verdict.value}. {headline}", *findings]),
        ("evidence", [_evidence_line(item, names) for item in diagnosis.evidence]),
        (
            "not collected",
            [
                quote(f"{what}: {command}", longest=LONGEST_STATEMENT)
                for what, command in diagnosis.not_collected.items()
            ],
        ),
        ("source", [line for excerpt in excerpts for line in _excerpt_lines(excerpt)]),
        ("call tree", [_tree_line(line) for line in outline.split("\n")]),
    ]
    return _fit(form, parts, marker, count_tokens, most_tokens)


def build_chat(
    question: str, facts: Sequence[str], *, marker: str, count_tokens: CountTokens = estimate_tokens
) -> Prompt:
    """The prompt for a question whose answer was looked up: the facts, most important first, and the question."""
    form = template("chat")
    lines = [quote(fact, longest=LONGEST_STATEMENT) for fact in facts[: form.key_lines]]
    asked = [quote(question, longest=_LONGEST_QUESTION)]
    return _fit(form, [("question", asked), ("facts", lines)], marker, count_tokens)


def _names(diagnosis: Diagnosis) -> frozenset[str]:
    """Names and texts of the program that may stand in sentences of ours."""
    places = [finding.where for finding in diagnosis.findings]
    places += [item.where for item in diagnosis.evidence if item.where is not None]
    named = {name for place in places for name in (place.function, place.kernel, place.file, *place.path) if name}
    return frozenset(named)


def _finding_lines(number: int, finding: Finding, names: frozenset[str], *, meaning: bool) -> list[str]:
    def told(text: str) -> str:
        return sentence(text, names, longest=LONGEST_STATEMENT)

    where = f"{datamarked(finding.where.function or 'the program')} {datamarked(finding.where.short)}"
    lines = [
        f"{number}. {finding.title} ({finding.cause}) in {where}",
        f"   {told(finding.summary)} Evidence: {', '.join(finding.evidence)}.",
    ]
    if meaning:
        lines.append(f"   Meaning: {quote(cause(finding.cause).meaning, longest=LONGEST_STATEMENT)}")
    won = gain_sentence(finding)
    if won is not None:
        lines.append(f"   Gain: {won}")
    lines += [f"   Against: {told(one)}" for one in finding.against]
    lines += [f"   Do: {told(one)}" for one in finding.advice[:3]]
    return lines


def _evidence_line(item: Fact, names: frozenset[str]) -> str:
    value = numbers.quantity(item.value, item.unit)
    told = sentence(item.statement, names, longest=LONGEST_STATEMENT)
    return f"{item.id}: {told} {{{item.id}}} stands for {value}."


def _excerpt_lines(excerpt: SourceExcerpt) -> list[str]:
    lines = [f"{datamarked(excerpt.file.rsplit('/', 1)[-1])}:"]
    return lines + [f"{excerpt.first + offset:5d} {_indented(line)}" for offset, line in enumerate(excerpt.lines)]


def _tree_line(line: str) -> str:
    """A line of an outline: the shares are ours, the label and the place behind them are data."""
    shares = _SHARES.match(line)
    return _indented(line) if shares is None else shares[0] + datamarked(line[shares.end() :])


def _indented(line: str) -> str:
    """A line of data that keeps its indentation."""
    return line[: len(line) - len(line.lstrip(" "))] + datamarked(line)


def _fit(
    form: Template,
    parts: list[tuple[str, list[str]]],
    marker: str,
    count_tokens: CountTokens,
    most_tokens: int | None = None,
) -> Prompt:
    """The prompt within its limit: lines go from the end, where the least important ones stand. Without a marker the lines give one."""
    most = form.max_prompt_tokens if most_tokens is None else min(most_tokens, form.max_prompt_tokens)
    kept = [(name, list(lines)) for name, lines in parts if any(lines)]
    marker = marker or marker_of(line for _, lines in parts for line in lines)
    while True:
        user = "\n\n".join([*(block(name, lines, marker) for name, lines in kept), form.task])
        if count_tokens(form.system) + count_tokens(user) <= most or not kept:
            return Prompt(form.system, user, form.max_output_tokens, form.schema)
        lines = kept[-1][1]
        # Many lines over the limit go at once: the share by which the text is too long, at least one.
        excess = count_tokens(form.system) + count_tokens(user) - most
        per_line = max(1, count_tokens("\n".join(lines)) // len(lines))
        del lines[max(0, len(lines) - max(1, excess // per_line)) :]
        if not lines:
            kept.pop()
