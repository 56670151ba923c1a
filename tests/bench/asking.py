"""Two ways of asking a model that reads, beside the usual one: `python -m tests.bench.asking WAY FOLDER SET`.

`own`: the model's own knowledge, in steps; the catalogue gives the names of causes and nothing else, and the rules' findings are left out. `catalogue`:
each cause with all that the catalogue says of it. `usual`: as reports ask. The first run writes FOLDER/NNN.question.txt and .json for each
labelled profile of SET and the schema with it; the next one reads FOLDER/NNN.answer.txt and prints a line of figures.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import chathpc
from chathpc.bench.case import Case, Label
from chathpc.bench.folders import find_cases
from chathpc.bench.score import rank_of, read_answers
from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.facts import Facts
from chathpc.pipeline import pruned
from chathpc.profile.profile import Profile
from chathpc.profile.text import estimate_tokens
from chathpc.pruners.outline import render_outline
from chathpc.reading.answer import read
from chathpc.reading.question import Question, question

STEPS = """
  Work in steps, from what you know yourself. In `steps` write down first what each of the hot places does and how often, then what of it is not
  needed, or could be done less often, in a better order or by more threads, then what each of these costs by the facts. Only then answer.
"""


def usual(profile: Profile) -> Question:
    """The question as a report asks it."""
    facts = Facts(profile)
    diagnosis = diagnose(profile, facts)
    pruning = pruned(profile, facts, diagnosis)
    tree = "" if pruning.metric is None else render_outline(pruning.pruned, pruning.metric)
    return question(profile, facts, diagnosis, tree)


def asked(asking: Question, way: str) -> Question:
    """The question put in another way."""
    if way == "own":
        user = re.sub(r"<<what the rules found (\w+)>>\n.*?<<end \1>>\n\n", "", asking.user, flags=re.DOTALL)
        user = _causes(user, {each: cause(each).title for each in asking.causes})
        properties = {"steps": {"type": "array", "items": {"type": "string"}}, **asking.schema["properties"]}  # type: ignore[dict-item]
        schema = {**asking.schema, "properties": properties, "required": ["steps", "hypotheses", "statements"]}
        return replace(asking, system=asking.system + STEPS, user=user, schema=schema)
    if way == "catalogue":
        return replace(asking, user=_causes(asking.user, {each: _entry(each) for each in asking.causes}))
    return asking


def _causes(user: str, told: Mapping[str, str]) -> str:
    lines = "\n".join(f"{name}: {text}" for name, text in told.items())
    return re.sub(
        r"(<<causes (\w+)>>\n).*?(\n<<end \2>>)", lambda found: found[1] + lines + found[3], user, flags=re.DOTALL
    )


def _entry(name: str) -> str:
    entry = cause(name)
    told = [entry.what, entry.why, "Signs:", *entry.evidence, "Against it:", *entry.speaks_against, "What helps:"]
    return " ".join(" ".join(str(each).split()) for each in (*told, *(advice.do for advice in entry.advice)))


def cases(folder: Path) -> Iterator[tuple[Case, Question]]:
    """The labelled profiles of a set with their questions, twins left out."""
    for case in find_cases([folder]).cases:
        if case.label != Label.TWIN:
            yield case, usual(chathpc.load(*case.paths))


def main(way: str, folder: Path, labelled: Path) -> None:
    """Write the questions; where answers are, print what they are worth."""
    folder.mkdir(parents=True, exist_ok=True)
    faults = right = printed = dropped = blamed = tokens = answers = 0
    for number, (case, plain) in enumerate(cases(labelled), 1):
        put = asked(plain, way)
        stem = folder / f"{number:03}"
        form = {"json_schema": {"name": "answer", "schema": put.schema}}
        stem.with_suffix(".question.json").write_text(json.dumps({"response_format": form}), "utf-8")
        stem.with_suffix(".question.txt").write_text(
            f"=== system\n{put.system}\n\n=== user\n{put.user}\n\n=== answer as JSON of this schema\n{json.dumps(put.schema)}\n",
            "utf-8",
        )
        answer = stem.with_suffix(".answer.txt")
        if not answer.exists():
            continue
        text = answer.read_text("utf-8")
        found = read(text, put, way)
        answers += 1
        tokens += estimate_tokens(put.system + put.user) + estimate_tokens(text)
        shown = [each for each in found.hypotheses if each.is_shown]
        first = rank_of(read_answers(each.cause for each in shown), case.right)
        faults += case.has_fault
        right += case.has_fault and first == 1
        blamed += case.healthy and bool(shown)
        dropped += sum(each.dropped_because is not None for each in found.statements)
        printed += sum(each.dropped_because is None for each in found.statements) + len(shown)
    if answers:
        sys.stdout.write(
            f"{way}: cause first {right} of {faults}; healthy blamed {blamed}; printed {printed / answers:.1f} and dropped "
            f"{dropped / answers:.1f} an answer; {tokens / answers:.0f} tokens of question and answer ({answers} answers)\n"
        )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
