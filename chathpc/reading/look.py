"""What a model that reads may look up before it answers: more source, who calls what, text in the source, an entry of the catalogue.

It only reads, and what it shows is counted: source lines that were looked up are shown lines from then on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from chathpc.diagnosis.catalogue import causes
from chathpc.diagnosis.facts import Facts
from chathpc.llm.backend import ToolCall
from chathpc.profile import numbers
from chathpc.prompts.untrusted import block, marker_of, quote
from chathpc.pruners.source import Files, Shown, labels_of
from chathpc.reading.question import Question, as_written

#: Calls that a model may make before it has to answer, and lines of source that one call shows. Our choice: a reader of an unknown program
#: seldom opens more than a handful of places.
CALLS, LINES = 6, 150
_HITS, _CALLERS = 30, 12
_RANGE = re.compile(r"(?P<file>[^:\s]+):(?P<first>\d{1,7})(?:[-–](?P<last>\d{1,7}))?")


def _tool(name: str, description: str, argument: str) -> dict[str, object]:
    parameters = {
        "type": "object",
        "properties": {argument: {"type": "string"}},
        "required": [argument],
        "additionalProperties": False,
    }
    return {"name": name, "description": description, "parameters": parameters}


TOOLS: tuple[Mapping[str, object], ...] = (
    _tool("source", "Source of a function by its name, or of lines: heat.c:10-60.", "what"),
    _tool("callers", "Who calls a function, with the share of the run below each call.", "function"),
    _tool("search", "Lines of the program's source that contain a text.", "text"),
    _tool("cause", "What the catalogue says about a cause, by its id.", "id"),
)


class Looking:
    """Answers calls; `question` grows by the source that they show."""

    def __init__(self, question: Question, facts: Facts) -> None:
        self.question, self._facts = question, facts
        self._files = Files(facts.profile.read_source)

    def __call__(self, call: ToolCall) -> str:
        """What a call asked for, between marks; in a sentence why there is nothing."""
        lines = self._lines(call)
        return block(f"result of {quote(call.name, longest=20)}", lines, marker_of(lines))

    def _lines(self, call: ToolCall) -> list[str]:
        answers = {"source": self._source, "callers": self._callers, "search": self._search, "cause": self._cause}
        try:
            given = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError):
            given = None
        wanted = next((str(value) for value in given.values()), "").strip() if isinstance(given, dict) else ""
        if call.name not in answers or not wanted:
            return ["There is no such tool, or it was asked for nothing."]
        return answers[call.name](wanted[:200]) or ["Nothing has that name."]

    def _names(self) -> list[str]:
        """Recorded names of files that may be read, those that were shown first."""
        tree = self._facts.profile.tree
        return [
            *dict.fromkeys(
                (*self.question.shown.files, *(tree.files[at] for at in np.unique(tree.file[tree.file >= 0])))
            )
        ]

    def _source(self, wanted: str) -> list[str]:
        at = _RANGE.fullmatch(wanted)
        if at is not None:
            known = self._names()
            name = self.question.shown.file_called(at["file"]) or next(
                (each for each in known if each.endswith("/" + at["file"]) or each == at["file"]), ""
            )
            first, last = int(at["first"]), int(at["last"] or at["first"])
            return self._show(name, range(first, min(last, first + LINES - 1) + 1)) if name else []
        plain = re.split(r"[(<]|::", wanted)[-1 if "(" not in wanted else 0].strip() or wanted
        self._files.open(self._names())
        found = self._files.defining({wanted: None, plain: None})
        return [line for name, _, part in found[:3] for line in self._show(name, sorted(part.lines)[:LINES])]

    def _search(self, wanted: str) -> list[str]:
        self._files.open(self._names())
        hits: list[str] = []
        for name, text in self._files.all():
            lines = [at for at, line in enumerate(text.lines, 1) if wanted in line][: _HITS - len(hits)]
            hits += self._show(name, lines) if lines else []
        return hits

    def _show(self, name: str, lines: Iterable[int]) -> list[str]:
        """Lines of a file as they are shown; they count as shown afterwards."""
        text = self._files.of(name)
        new = frozenset(at for at in lines if text is not None and 0 < at <= len(text.lines))
        if text is None or not new:
            return []
        shown = self.question.shown
        files, kept = {**shown.files, name: text}, {**shown.lines, name: shown.lines.get(name, frozenset()) | new}
        view = Shown(files, kept, {**labels_of(kept), **shown.labels})
        self.question = replace(self.question, shown=view)
        rows = Shown({name: text}, {name: new}, {name: view.labels[name]}).block()
        return [as_written(row) for row in rows]

    def _callers(self, wanted: str) -> list[str]:
        facts = self._facts
        if not facts.has_host_time:
            return []
        tree = facts.profile.tree
        labels, texts = tree.function_labels
        plain = wanted.split("(")[0]
        named = [
            at for at, text in enumerate(texts) if wanted in (text, text.split("(")[0].split("::")[-1]) or text == plain
        ]
        heads = np.flatnonzero((tree.function == np.arange(len(tree))) & np.isin(labels, named) & (tree.parent >= 0))
        shares: dict[str, float] = {}
        for node in heads.tolist():
            parent = int(tree.parent[node])
            place = facts.place(parent)
            told = (
                f"{quote(place.function or 'the program')} ({quote(place.short)})"
                if place.short
                else quote(place.function or "")
            )
            shares[told] = shares.get(told, 0.0) + float(facts.inclusive[node]) / facts.total
        ranked = sorted(shares.items(), key=lambda each: -each[1])[:_CALLERS]
        return [f"{told}: {numbers.percent(share)} of the run below it" for told, share in ranked]

    def _cause(self, wanted: str) -> list[str]:
        entry = next((each for each in causes() if each.id == wanted), None)
        if entry is None:
            return []
        told: list[Any] = [
            entry.title,
            entry.what,
            entry.why,
            *entry.speaks_against,
            *(each.do for each in entry.advice),
        ]
        return [" ".join(str(each).split()) for each in told]
