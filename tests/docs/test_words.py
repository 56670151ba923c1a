"""Words that we do not use in what users read, and what to say instead: texts are short, idiomatic, and in the field's words."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]

#: What we do not write, and what we write instead.
INSTEAD = {
    r"(?:is|are|was|were|be|been) told\b": "is reported, shown, listed, known",
    r"\btold (?:by|from|apart|once|first|whole)\b": "distinguished from, reported once",
    r"\bnothing tells\b": "is unknown",
    r"\bthat (?:is|are) there\b": "available, existing",
    r"\bgives? away\b": "reveals, gives up",
    r"\bsa(?:y|ys|id) no\b": "rejects, fails",
    r"\banother one\b": "another, a different one",
    r"\bidlest\b": "least busy",
    r"\bworks most\b": "the busiest",
    r"\bdeal (?:\w+ )?out\b|\bout in turn\b": "distribute round-robin",
    r"\banswer is another\b": "the output differs",
    r"\bprogram as it is\b": "the unmodified program",
    r"\b(?:left|leaves?|leaving) out\b": "excluded, omitted, skipped",
    r"\bmend(?:s|ed|ing)?\b": "fix, repair",
    r"\bcounters of the processor\b": "hardware counters",
    r"\bclock (?:does not see|stands still)\b": "the clock stops while a thread waits",
    r"\btook no time\b": "were eliminated",
    r"\bin all places\b": "program-wide",
    r"\bsteps? to neighbours\b": "accesses contiguous elements (unit stride)",
    r"\bone place computes\b": "hot spot",
    r"\bshared unevenly\b": "load imbalance",
    r"\bqueue at\b": "contend for",
    r"\basks? for memory\b": "allocates",
    r"\bgives? (?:it )?back\b": "frees",
    r"\blow end of\b": "conservative estimate",
    r"\bforces data\b": "flushes data",
    r"\bstart anew\b": "start over",
    r"\ba run a side\b|\bone run a side\b|\bruns a side\b": "runs per side",
}
_WORDS = {re.compile(word, re.IGNORECASE): better for word, better in INSTEAD.items()}

#: Texts that still have such words, and how many: what is in prompts changes when the recorded answers are renewed. Numbers may only
#: become smaller; a file without any has no place here.
STILL: dict[str, int] = {
    "chathpc/profile/helper_threads.py": 1,
}

#: Pages that are made from texts which are checked where they stand, or that quote reports.
_MADE = {"catalogue.md", "recipes.md", "samples.md"}

_PRINTED = re.compile(r"^```text\n.*?^```$", re.MULTILINE | re.DOTALL)


def _literals(file: Path) -> Iterator[str]:
    """The strings of a module that may be printed: no docstrings, those of commands but (their help is in docs/cli.md)."""
    module = ast.parse(file.read_text("utf-8"))
    silent = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    inner: set[int] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.JoinedStr):
            inner |= {id(part) for part in node.values}
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent | inner:
            yield node.value


def _values(data: object) -> Iterator[str]:
    """The texts of a YAML file without its keys and its examples of code."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, list):
        for item in data:
            yield from _values(item)
    elif isinstance(data, dict):
        for key, value in data.items():
            if key not in {"example", "keywords", "command"}:
                yield from _values(value)


def _texts() -> Iterator[tuple[str, str]]:
    """Every text for users, by its file."""
    for folder in ("chathpc", "adapters", "pruners"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield from ((file.relative_to(ROOT).as_posix(), text) for text in _literals(file))
    for file in (
        *sorted((ROOT / "chathpc/diagnosis/catalogue").glob("*.yaml")),
        *sorted((ROOT / "chathpc").glob("*/thresholds.yaml")),
    ):
        yield from (
            (file.relative_to(ROOT).as_posix(), text) for text in _values(yaml.safe_load(file.read_text("utf-8")))
        )
    for file in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        if file.name not in _MADE:
            # What a block of text shows was printed, and is checked where it is made.
            yield file.relative_to(ROOT).as_posix(), _PRINTED.sub("", file.read_text("utf-8"))


_ANY = re.compile("|".join(f"(?:{word.pattern})" for word in _WORDS), re.IGNORECASE)


def _found() -> Iterator[tuple[str, str, str]]:
    for file, text in _texts():
        flat = " ".join(text.split())
        if not _ANY.search(flat):
            continue
        for word, better in _WORDS.items():
            for hit in word.finditer(flat):
                around = flat[max(0, hit.start() - 40) : hit.end() + 40]
                yield file, around, f"{file}: “…{around}…”: instead of “{hit[0]}” say: {better}"


def test_users_read_no_words_that_we_do_not_use() -> None:
    found = list(_found())
    counts = Counter(file for file, _, _ in found)
    over = {file for file, many in counts.items() if many > STILL.get(file, 0)}
    assert not over, "\n".join(said for file, _, said in found if file in over)
    gone = sorted(set(STILL) - set(counts))
    assert not gone, f"take out of STILL: {gone}"


@pytest.mark.parametrize(
    "text",
    [
        "It is told by hand.",
        "The profiler that is there.",
        "The check says no.",
        "Deal blocks out in turn.",
        "another one",
    ],
)
def test_the_words_are_found(text: str) -> None:
    assert any(word.search(text) for word in _WORDS)


@pytest.mark.parametrize("text", ["a foretold end", "Ask another oneself.", "The fix is recommended.", "there is one"])
def test_other_words_are_not(text: str) -> None:
    assert not any(word.search(text) for word in _WORDS)
