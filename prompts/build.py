"""Fills the templates with the facts of a diagnosis, within their limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.phrasing import GAIN, TEMPLATE, as_clause, gain_sentence, placed, placed_meaning
from chathpc.diagnosis.records import Diagnosis, Evidence, Finding, Place, Verdict
from chathpc.profile import numbers
from chathpc.profile.profile import SourceExcerpt
from chathpc.prompts.loader import Template, template
from chathpc.prompts.untrusted import block, datamarked, marker_of, quote, sentence

#: Characters per token of English text with names and numbers, a cautious figure.
CHARACTERS_PER_TOKEN = 3.5
#: A statement is a sentence of ours around names of theirs.
_LONGEST_STATEMENT = 300
#: A question is a sentence or two.
_LONGEST_QUESTION = 1_000
#: Findings beyond the first that a small model is told of.
_ALSO = 1

#: Characters of all facts for a small model: an answer of 220 tokens holds them with room to spare.
_LONGEST_FACTS = 580

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
#: What a summary ends with: `: 44.7 % of the time (77.8 % with other places).` The measurements say it of the right part.
_AMOUNT = re.compile(r": \d[^:]*\.$")
#: A part of the time, and what says it in seconds: `take 1.62 s of 3.15 s (51.3 %)`.
_SHARE = re.compile(r"(?P<share>\d+(?:\.\d+)?) % of the time")
_TAKES = re.compile(r"\btakes? (?P<amount>[\d.]+ \w+ of [\d.]+ \w+ \((?P<share>[\d.]+) %\))")
_COMPUTES = re.compile(r"\bcomputes for [\d.]+ \w+ of [\d.]+ \w+ \((?P<share>[\d.]+) %\)")
#: A statement that needs the one before: `sweep calls usleep for 2.49 s of it.`
_LEANS = re.compile(r"\bof (?:it|them|these|those)\b")

#: What costs time is said with how much.
_AMOUNTS = re.compile(r"\d (?:%|s|ms|µs|[KMGT]?B)(?!\w)")
#: How the lines begin that are no description.
_TO_ACT = (GAIN, "What to do first", "Beside that")
#: What the program's own text says convinces most.
_SOURCE = "The source at "

_SHARES = re.compile(r" *[\d.]{1,5}% (?:\(self [\d.]{1,5}%\) )?")

CountTokens = Callable[[str], int]
#: Who reads the explanation.
Audience = Literal["expert", "newcomer", "manager"]
AUDIENCES: tuple[Audience, ...] = ("expert", "newcomer", "manager")


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
    told = reading_lines(diagnosis) if audience == "expert" else key_lines(diagnosis, audience)
    lines = [f"{number}. {line}" for number, line in enumerate(told[: form.key_lines], 1)]
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
    headline = sentence(diagnosis.headline, names, longest=_LONGEST_STATEMENT)
    parts = [
        ("findings", [f"Verdict: {diagnosis.verdict.value}. {headline}", *findings]),
        ("evidence", [_evidence_line(item, names) for item in diagnosis.evidence]),
        (
            "not collected",
            [
                quote(f"{what}: {command}", longest=_LONGEST_STATEMENT)
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
    lines = [quote(fact, longest=_LONGEST_STATEMENT) for fact in facts[: form.key_lines]]
    asked = [quote(question, longest=_LONGEST_QUESTION)]
    return _fit(form, [("question", asked), ("facts", lines)], marker, count_tokens)


def _names(diagnosis: Diagnosis) -> frozenset[str]:
    """Names and texts of the program that may stand in sentences of ours."""
    places = [finding.where for finding in diagnosis.findings]
    places += [item.where for item in diagnosis.evidence if item.where is not None]
    named = {name for place in places for name in (place.function, place.kernel, place.file, *place.path) if name}
    return frozenset(named)


def key_lines(diagnosis: Diagnosis, audience: Audience = "expert") -> list[str]:
    """The facts that matter most, each a whole sentence: what it is, what that means, measurements, the gain, what to do, what else.

    A small model repeats its facts: it says little that is wrong where each stands by itself, with its subject, and needs no other.
    Its answer is about as long as they are, so what matters least is left out of a text that would be cut off.
    """
    by_id = {item.id: item for item in diagnosis.evidence}
    if not diagnosis.findings:
        return [_told(diagnosis.headline)]
    first = diagnosis.findings[0]
    healthy = diagnosis.verdict == Verdict.HEALTHY
    statements = [by_id[one].statement for one in first.evidence if one in by_id]
    whole = [text for text in statements if not _LEANS.search(text) and not TEMPLATE.search(text)]
    summary = diagnosis.headline
    if not healthy:
        summary, whole = _measured(_AMOUNT.sub(".", first.summary) if whole else first.summary, whole)
        summary = summary if audience == "manager" else placed(summary, first.where)
        summary = _with_kind(summary, first.where)
    what = _told(summary)
    said = set(_NUMBER.findall(what))
    whole = [text for text in whole if not set(_NUMBER.findall(text)) <= said and not _repeats(text, what, first.where)]
    shown = [text for text in whole if text.startswith(_SOURCE)][:1]
    costs = [text for text in whole if text not in shown][:1] if healthy or not _AMOUNTS.search(what) else []
    measured = [_told(_with_kind(text, first.where)) for text in (*costs, *shown)]
    meaning = [] if audience == "manager" else [_told(cause(first.cause).meaning)]
    gain = [] if first.speedup_bound is None or healthy else [gain_sentence(first.speedup_bound)]
    advice = [f"What to {'try' if healthy else 'do'} first: {_told(as_clause(one))}" for one in first.advice[:1]]
    others = [one.summary for one in diagnosis.findings[1:] if one.weight > 0][:_ALSO]
    also = [f"Beside that: {_told(as_clause(one))}" for one in others]
    amount = [] if healthy else measured[: len(costs)]
    by_rank = [what, *advice, *gain, *amount, *meaning, *(one for one in measured if one not in amount), *also]
    kept: list[str] = []
    length = 0
    for line in by_rank:
        length += len(line)
        if kept and length > _LONGEST_FACTS:
            break
        kept.append(line)
    return [line for line in (what, *measured, *meaning, *gain, *advice, *also) if line in kept]


def reading_lines(diagnosis: Diagnosis) -> list[str]:
    """What an expert is told below the findings of a report: what they mean for the place, the gain, what to do, what else.

    The findings above say place, cost and evidence; whoever reads the whole report is annoyed by reading them again.
    """
    if diagnosis.verdict != Verdict.BOTTLENECK or not diagnosis.findings:
        return key_lines(diagnosis)
    return [
        _told(placed_meaning(diagnosis.findings[0])),
        *(line for line in key_lines(diagnosis) if line.startswith(_TO_ACT)),
    ]


def _repeats(statement: str, told: str, where: Place) -> bool:
    """True for the part of the time of a function that is told already: in seconds it reads like another amount."""
    share, name = _TAKES.search(statement) or _COMPUTES.search(statement), where.function or ""
    return bool(share and name and name in statement and name in told and f"{share['share']} %" in told)


def _measured(summary: str, statements: list[str]) -> tuple[str, list[str]]:
    """A summary that says its part of the time in seconds as well, where a statement knows them, and the statements that are left.

    Two statements of one amount read like two amounts: those of the same part, and of a part that differs by other places, are left out.
    """
    share = _SHARE.search(summary)
    amounts = {text: found for text in statements if (found := _TAKES.search(text))}
    if share is None or not amounts:
        return summary, statements
    same = next((found for found in amounts.values() if found["share"] == share["share"]), None)
    if same is not None:
        summary = summary.replace(share[0], same["amount"], 1)
    return summary, [text for text in statements if text not in amounts]


def _with_kind(text: str, where: Place) -> str:
    """A sentence with the name of a function as its subject says that it is one: `accumulate steps through a` reads as a verb."""
    for kind, name in (("kernel", where.kernel), ("function", where.function)):
        if name and text.startswith(f"{name} "):
            return f"The {kind} {text}"
    return text


def _told(text: str) -> str:
    return quote(text, longest=_LONGEST_STATEMENT)


def _finding_lines(number: int, finding: Finding, names: frozenset[str], *, meaning: bool) -> list[str]:
    def told(text: str) -> str:
        return sentence(text, names, longest=_LONGEST_STATEMENT)

    where = f"{datamarked(finding.where.function or 'the program')} {datamarked(finding.where.short)}"
    lines = [
        f"{number}. {finding.title} ({finding.cause}) in {where}",
        f"   {told(finding.summary)} Evidence: {', '.join(finding.evidence)}.",
    ]
    if meaning:
        lines.append(f"   Meaning: {quote(cause(finding.cause).meaning, longest=_LONGEST_STATEMENT)}")
    if finding.speedup_bound is not None:
        lines.append(f"   Gain: at most {numbers.speedup(finding.speedup_bound)} on the run.")
    lines += [f"   Against: {told(one)}" for one in finding.against]
    lines += [f"   Do: {told(one)}" for one in finding.advice[:3]]
    return lines


def _evidence_line(item: Evidence, names: frozenset[str]) -> str:
    value = numbers.quantity(item.value, item.unit)
    told = sentence(item.statement, names, longest=_LONGEST_STATEMENT)
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
