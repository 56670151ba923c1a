"""Prompts from a diagnosis, within their token limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from chathpc.diagnosis.records import Diagnosis, Evidence, Finding
from chathpc.errors import BudgetSpentError
from chathpc.profile import numbers
from chathpc.prompts.keylines import key_lines, level
from chathpc.prompts.loader import Template, template
from chathpc.prompts.untrusted import block, clean_lines, quote, sentence

Tokenizer = Callable[[str], int]
#: English with numbers and names has about this many characters a token in the vocabularies of 32,000 to 150,000 tokens.
CHARACTERS_PER_TOKEN = 3.5
#: What a chat template adds around two messages.
TEMPLATE_TOKENS = 24


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a backend sends. `json_schema` holds the answer's schema in the structured form; `tokens` counts system and user text."""

    system: str
    user: str
    max_tokens: int
    tokens: int
    json_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of source: `first` is the number of the first one."""

    file: str
    first: int
    text: str


def estimate(text: str) -> int:
    """Tokens of a text without its tokenizer: characters / 3.5, and one for each character beyond ASCII, rounded up."""
    beyond = sum(not c.isascii() for c in text)
    return ceil((len(text) - beyond) / CHARACTERS_PER_TOKEN) + beyond


def build_prose(
    diagnosis: Diagnosis, *, marker: str, tokenizer: Tokenizer = estimate, limit: int | None = None
) -> Prompt:
    """The prompt for small models: constant text, then three to six key lines.

    `marker`: random letters and digits, new for each request. `limit`: tokens of the prompt, at most the template's. Lines that do not fit are
    dropped, the last ones first; BudgetSpentError if not even the first fits.
    """
    form = template("prose")
    lines = key_lines(diagnosis)

    def fill(kept: Sequence[str]) -> str:
        return form.fill(facts=block("FACTS", "\n".join(kept), marker))

    return _fitted(form, [(1.0 - index / 100, line) for index, line in enumerate(lines)], fill, tokenizer, limit)


def build_structured(
    diagnosis: Diagnosis,
    outline: Sequence[str] = (),
    excerpts: Sequence[Excerpt] = (),
    *,
    marker: str,
    tokenizer: Tokenizer = estimate,
    limit: int | None = None,
) -> Prompt:
    """The prompt for capable models: findings, evidence, the pruned tree (`outline`: a text row a context), source, what is not collected.

    Dropped first where the limit asks for it: source, then the outline from its end, what is not collected, evidence that no finding cites, later findings.
    Raises BudgetSpentError if not even the verdict fits.
    """
    form = template("structured")
    cited = {id for finding in diagnosis.findings for id in finding.evidence}
    rows: list[tuple[float, str]] = [(100.0, f"D{_verdict(diagnosis)}")]
    rows += [(90.0 - index / 100, "D" + _finding(finding)) for index, finding in enumerate(diagnosis.findings)]
    rows += [
        ((80.0 if item.id in cited else 40.0) - index / 1000, "E" + _evidence(item)) for index, item in enumerate(diagnosis.evidence)
    ]
    rows += [(50.0, "D" + f"Note: {sentence(note)}") for note in diagnosis.notes]
    rows += [
        (35.0, "M" + f"{quote(what)}: would need {quote(command)}") for what, command in sorted(diagnosis.not_collected.items())
    ]
    rows += [(30.0 - index / 1000, "O" + _row(row)) for index, row in enumerate(outline)]
    rows += [(10.0 - index / 100, "S" + _excerpt(excerpt)) for index, excerpt in enumerate(excerpts)]

    def fill(kept: Sequence[str]) -> str:
        parts = {kind: "\n".join(row[1:] for row in kept if row[0] == kind) or "(none)" for kind in "DEOSM"}
        return form.fill(
            diagnosis=block("DIAGNOSIS", parts["D"], marker),
            evidence=block("EVIDENCE", parts["E"], marker),
            outline=block("CALL TREE, PRUNED", parts["O"], marker),
            source=block("SOURCE", parts["S"], marker),
            missing=block("NOT COLLECTED", parts["M"], marker),
        )

    return _fitted(form, rows, fill, tokenizer, limit)


def _fitted(
    form: Template,
    rows: Sequence[tuple[float, str]],
    fill: Callable[[Sequence[str]], str],
    tokenizer: Tokenizer,
    limit: int | None,
) -> Prompt:
    """The prompt with as many rows, by importance, as the limit allows; rows keep their order."""
    most = form.prompt_tokens if limit is None else min(limit, form.prompt_tokens)
    order = sorted(range(len(rows)), key=lambda index: (-rows[index][0], index))

    def made(count: int) -> tuple[str, int]:
        kept = set(order[:count])
        user = fill([text for index, (_, text) in enumerate(rows) if index in kept])
        return user, tokenizer(form.system) + tokenizer(user) + TEMPLATE_TOKENS

    fits, beyond = 0, len(rows) + 1
    while beyond - fits > 1:  # the number of rows that fit, by bisection: a tokenizer may be slow
        middle = (fits + beyond) // 2
        if made(middle)[1] <= most:
            fits = middle
        else:
            beyond = middle
    if not fits:
        raise BudgetSpentError(
            f"The prompt has no room for a single fact: {most} tokens.", hint="Give the model a larger context, or use --llm none."
        )
    user, tokens = made(fits)
    return Prompt(form.system, user, form.output_tokens, tokens, form.json_schema)


def _verdict(diagnosis: Diagnosis) -> str:
    return f"Verdict: {diagnosis.verdict.value}. {sentence(diagnosis.headline)}"


def _finding(finding: Finding) -> str:
    seconds = f"{numbers.seconds(finding.seconds)}, " if finding.seconds is not None else ""
    bound = f", at most {numbers.speedup(finding.speedup_bound)} faster without it" if finding.speedup_bound else ""
    where = " ".join(quote(p) for p in (finding.where.function or "", finding.where.kernel or "", finding.where.short) if p)
    lines = [
        f"Finding {finding.cause}: {quote(finding.title)} in {where or 'the program'}",
        f"  cost is {level(finding.share)}: {seconds}{numbers.percent(finding.share)} of the time{bound}; evidence {', '.join(finding.evidence)}",
        f"  {sentence(finding.summary)}",
        *(f"  against: {sentence(text)}" for text in finding.against),
        *(f"  advice: {sentence(text)}" for text in finding.advice),
    ]
    if finding.next_measurement:
        lines.append(f"  if unsure: {sentence(finding.next_measurement)}")
    return "\n".join(lines)


def _evidence(item: Evidence) -> str:
    return f"{item.id} ({quote(item.subject)}): {sentence(item.statement)}"


def _row(row: str) -> str:
    indent = len(row) - len(row.lstrip(" "))
    return " " * min(indent, 80) + quote(row)


def _excerpt(excerpt: Excerpt) -> str:
    lines = clean_lines(excerpt.text).split("\n")
    numbered = (f"{number:5} {line}" for number, line in enumerate(lines, excerpt.first))
    return "\n".join([f"{quote(excerpt.file)}:", *numbered])
