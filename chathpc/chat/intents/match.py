"""From a question in plain language to a tool and its arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from chathpc.chat.intents.entities import Named, read
from chathpc.chat.intents.rules import Words, rules, words
from chathpc.chat.intents.spelling import put_right
from chathpc.chat.session import Session
from chathpc.chat.tools import TOOLS
from chathpc.chat.tools.amounts import MOST_ROWS
from chathpc.diagnosis.catalogue.about import WORD, covers, entry_words

#: Commands that are offered to a question that nothing matches.
_OFFERED = 3


@dataclass(frozen=True, slots=True)
class Intent:
    """What a question asks for. `tool` is empty where nothing fits; then `suggestions` are the nearest commands.

    `note` says what was understood otherwise than it was written.
    """

    tool: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    note: str = ""
    suggestions: tuple[str, ...] = ()


def match(question: str, session: Session) -> Intent:
    """The tool that answers `question`; rules and words are in rules.yaml."""
    named = read(question, session)
    found = _fitting(named, session)
    if found is None:
        named.text = put_right(named.text, _vocabulary(session))
        found = _fitting(named, session)
    return found or Intent("", suggestions=_nearest(named.text))


def _fitting(named: Named, session: Session) -> Intent | None:
    """What the first rule that fits asks for."""
    topic = _topic(named.text, session, words())
    flags = _flags(named, topic)
    for rule in rules():
        if rule.fits(named.text, flags):
            arguments = {**rule.arguments, **_arguments(rule.tool, named, topic)}
            if rule.tool == "top" and re.search(
                r"\bincl(usive|uding|\.)?\b|\bwith (all )?(their |its )?(callees|children|they call)\b", named.text
            ):
                arguments["order"] = "inclusive"
            return Intent(rule.tool, arguments, _note(named))
    return None


def _flags(named: Named, topic: str) -> frozenset[str]:
    flags = {
        "place": named.place,
        "function": named.functions,
        "file": named.file,
        "file-line": named.file and named.line,
        "evidence": named.evidence,
        "number": named.number,
        "topic": topic,
        "only-topic": topic and topic.split() == WORD.findall(named.text),
    }
    return frozenset(name for name, value in flags.items() if value)


def _arguments(tool: str, named: Named, topic: str) -> dict[str, object]:
    """The arguments that the question names, of those that the tool takes."""
    values: dict[str, object] = {
        "place": named.place,
        "name": named.functions[0] if named.functions else "",
        "file": named.file,
        "id": named.evidence,
        "number": named.number,
        "words": topic,
        "metric": named.metric,
        "factor": named.factor,
        "limit": None if named.limit is None else min(named.limit, MOST_ROWS),
    }
    taken = TOOLS[tool].arguments.model_fields
    return {name: value for name, value in values.items() if name in taken and value}


def _note(named: Named) -> str:
    return f"'{named.corrected}' was taken for {named.functions[0]}." if named.corrected and named.functions else ""


def _topic(text: str, session: Session, known: Words) -> str:
    """The performance problem that a question is about, as words that the catalogue has; empty for none."""
    words_ = WORD.findall(text.replace("@", " "))
    found = [word for word in words_ if word not in known.before and word not in known.after]
    if not found or len(found) > 5 or all(word in known.generic for word in found):  # no longer a name
        return ""
    return " ".join(found) if any(covers(entry, found) for entry in _entries(session)) else ""


def _entries(session: Session) -> list[frozenset[str]]:
    """The words of each entry of the catalogue's title, id and keywords."""
    from chathpc.diagnosis.catalogue import causes, extended

    with extended(session.patterns):
        return [entry_words(one) for one in causes()]


def _vocabulary(session: Session) -> frozenset[str]:
    """Words that a question may mean."""
    known = words()
    lists = (
        known.spelled,
        known.generic,
        known.before,
        known.after,
        known.slots,
        known.plain,
        known.numbers,
        known.factors,
    )
    return frozenset().union(*lists, *_entries(session))


def _nearest(text: str) -> tuple[str, ...]:
    """Tools whose name or description has words of the question, else the ones to begin with."""
    found = [word for word in WORD.findall(text) if len(word) > 3]  # shorter words say nothing
    scores = {}
    for name, tool in TOOLS.items():
        vocabulary = WORD.findall(f"{name.replace('_', ' ')} {tool.description}".casefold())
        scores[name] = sum(bool(get_close_matches(word, vocabulary, n=1, cutoff=0.85)) for word in found)
    best = [name for name in sorted(scores, key=lambda one: -scores[one]) if scores[name]]
    return tuple((best or ["findings", "top", "tree"])[:_OFFERED])
