"""The catalogue's suggestions, carried out by a model without tools: each one for itself, so that it can be told which of them helped.

It is told the finding with its evidence, and the source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from chathpc.diagnosis.facts import plain_name, readable_function
from chathpc.diagnosis.phrasing import gain_sentence
from chathpc.diagnosis.records import Finding
from chathpc.fix.models import functions
from chathpc.fix.models.answers import INSTRUCTIONS, Edits, edited
from chathpc.fix.models.asker import Asker, Question
from chathpc.fix.records import Attempt, Candidate, Problem, identity
from chathpc.llm.backend import Form
from chathpc.profile.text import clean, estimate_tokens
from chathpc.prompts.loader import template
from chathpc.prompts.untrusted import block, marker_of, quote

#: The strategy, as candidates name it.
PROPOSER = "advice"
#: Tokens that marks and the task take.
_FRAME = 600
_LONGEST_STATEMENT = 300
#: Tokens of source for a small model, which prefills some 100 a second on two cores.
_SMALL = 900
#: Tokens that a small model may write for a function: so many, and so many times those of the function as it is.
_BESIDE, _LONGER = 200, 2
#: The prompt, and that for small models: asked for less at once they change more.
_FORM, _FUNCTION_FORM = "fix_advice", "fix_function"
#: Findings that are worth a proposal of their own, by cost × headroom.
FINDINGS = 3

EDITS: Mapping[Form, Edits] = {"prose": "functions", "structured": "blocks"}


def worthwhile(problem: Problem) -> list[Finding]:
    """The findings that a change of an editable source could mend, the costliest first."""
    return [
        finding
        for finding in problem.diagnosis.findings
        if finding.weight > 0 and place_of(problem, finding) is not None
    ][:FINDINGS]


def place_of(problem: Problem, finding: Finding) -> str | None:
    """The editable source that a finding lies in: by its file's name, else by the name of its function; None if there is none."""
    if finding.where.file:
        base = finding.where.file.rsplit("/", 1)[-1]
        fitting = [path for path in problem.sources if path.rsplit("/", 1)[-1] == base]
        if len(fitting) == 1:
            return fitting[0]
    if finding.where.function:
        for path, text in problem.sources.items():
            if _definition(path, text, finding.where.function) is not None:
                return path
    return next(iter(problem.sources)) if len(problem.sources) == 1 else None


def question(problem: Problem, finding: Finding, *, model: Form, advice: str) -> Question:
    """The question to carry out the suggestion `advice` for `finding`. A small model is shown the function of the finding alone and asked
    for it in the words of `fix_function`.
    """
    path = place_of(problem, finding)
    function = _small_function(problem, finding, path) if model == "prose" else None
    prompt = template(_FORM if function is None else _FUNCTION_FORM)
    lines = _facts(problem, finding)
    parts = [("finding", lines), ("suggestion", [quote(advice, longest=1000)])]
    if function is not None:
        parts.insert(0, (f"source of {path}", function[1].splitlines()))
    elif path is not None:
        told = estimate_tokens(prompt.system) + sum(map(estimate_tokens, lines))
        room = prompt.max_prompt_tokens - told - _FRAME
        most = min(room, _SMALL) if model == "prose" else room
        parts.append((f"source of {path}", _source(path, problem.sources[path], finding, most)))
    marker = marker_of(line for _, part in parts for line in part)
    task, most_written = prompt.task, prompt.max_output_tokens
    if function is not None:
        task = task.replace("{function}", quote(function[0]))
        # A small model that does not find the end repeats itself: a changed function is seldom twice as long.
        most_written = min(most_written, _BESIDE + _LONGER * estimate_tokens(function[1]))
    user = "\n\n".join([*(block(name, part, marker) for name, part in parts), task])
    system = prompt.system.replace("{edits}", INSTRUCTIONS[EDITS[model]])
    return Question(system, user, most_written)


def candidate(files: Mapping[str, str], finding: Finding, recipe: str) -> Candidate:
    """The candidate of a model's edits; its title is ours, as what the model calls it proves nothing."""
    where = finding.where.function or finding.where.short or "the program"
    title = f"{finding.title}: {where} in {', '.join(sorted(files))}, changed by a model"
    return Candidate(identity(files), PROPOSER, title, dict(files), None, finding, recipe)


def _facts(problem: Problem, finding: Finding) -> list[str]:
    by_id = {item.id: item for item in problem.diagnosis.evidence}
    place = f"{quote(finding.where.function or 'the program')} {quote(finding.where.short)}".strip()
    facts = [f"{finding.title} in {place}", quote(finding.summary, longest=_LONGEST_STATEMENT)]
    facts += [quote(by_id[one].statement, longest=_LONGEST_STATEMENT) for one in finding.evidence[:4] if one in by_id]
    won = gain_sentence(finding)
    return facts if won is None else [*facts, won]


def _source(path: str, text: str, finding: Finding, most: int) -> list[str]:
    """The file if it fits into `most` tokens, else the function of the finding, else the beginning."""
    if estimate_tokens(text) <= most:
        return text.splitlines()
    around = _function_of(path, text, finding)
    shown = text if around is None else around[1]
    lines: list[str] = []
    for line in shown.splitlines():
        most -= estimate_tokens(line)
        if most < 0:
            break
        lines.append(line)
    return lines


def _function_of(path: str, text: str, finding: Finding) -> tuple[str, str] | None:
    """Name and text of the function that a finding lies in."""
    around = None if finding.where.line is None else functions.enclosing(path, text, finding.where.line)
    if around is None and finding.where.function:
        around = _definition(path, text, finding.where.function)
    return around


def _definition(path: str, text: str, function: str) -> tuple[str, str] | None:
    """Name and text of the function that a profile calls so: of several the one with its scopes, else the first."""
    name = readable_function(function).lower()
    found = [one for one in functions.definitions(path, text) if plain_name(one[0]).lower() == plain_name(name)]
    return min(found, key=lambda one: not name.endswith(one[0].lower()), default=None)


def _small_function(problem: Problem, finding: Finding, path: str | None) -> tuple[str, str] | None:
    """The function of a finding if a small model can be asked to write it once more."""
    around = None if path is None else _function_of(path, problem.sources[path], finding)
    return None if around is None or estimate_tokens(around[1]) > _SMALL else around


#: Suggestions of one finding that are tried.
_MOST = 3
#: What a model answers to a suggestion that does not fit.
_NONE = "NONE"
#: Reasons for useless answers that are told.
_REASONS = 3


class Advice:
    """One candidate for each suggestion of each finding, in the catalogue's order."""

    name = PROPOSER
    learns = True

    def __init__(self, ask: Asker) -> None:
        self._ask = ask
        self.check = getattr(ask, "check", None)
        self._asked: set[str] = set()
        #: Answers that could not be used, by the reason.
        self._useless: Counter[str] = Counter()

    def propose(self, problem: Problem, history: Sequence[Attempt]) -> Iterator[Candidate]:
        """The suggestions that were not tried yet, each as the model carries it out."""
        known = {attempt.candidate.id for attempt in history}
        tried = {attempt.candidate.recipe for attempt in history if attempt.candidate.proposer == self.name}
        for finding in worthwhile(problem):
            for number, advice in enumerate(finding.advice[:_MOST], 1):
                recipe = f"{finding.cause}/{number}"
                about = f"{recipe} {finding.where.function}"
                if recipe in tried or about in self._asked:
                    continue
                self._asked.add(about)
                answer = self._ask(question(problem, finding, model=self._ask.form, advice=advice), problem)
                if answer is None:
                    return
                if answer.strip().strip(".`") == _NONE:
                    continue
                change = edited(answer, problem.sources, place_of(problem, finding))
                if change.problem:
                    self._useless[change.problem] += 1
                    continue
                made = candidate(change.files, finding, recipe)
                if made.id not in known:
                    known.add(made.id)
                    yield made

    @property
    def tokens(self) -> int:
        """Tokens of all questions and answers, as far as the model counts them."""
        return int(getattr(self._ask, "tokens", 0))

    @property
    def notes(self) -> list[str]:
        """Why there was no answer, each reason once, and how many answers could not be used."""
        notes = list(getattr(self._ask, "notes", ()))
        if self._useless:
            reasons = "; ".join(
                f"{clean(why).rstrip('.')} ({times})" for why, times in self._useless.most_common(_REASONS)
            )
            count = self._useless.total()
            notes.append(
                f"{self.name}: {count} {'answer' if count == 1 else 'answers'} of the model could not be used. {reasons}."
            )
        return notes
