"""What a finding proposes to measure next, and how its result is read: which outcome means what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chathpc.diagnosis.records import Finding
from chathpc.grounding.language.quantities import Keys
from chathpc.grounding.language.tokens import Token, normal_code, tokenize
from chathpc.grounding.language.vocabulary import Vocabulary, stem


@dataclass(frozen=True, slots=True)
class Reading:
    """One outcome of a measurement and what it means, as words and numbers with their side: `many`, `miss`, `<1`."""

    outcome: frozenset[str]
    meaning: frozenset[str]


@dataclass(frozen=True, slots=True)
class Measurement:
    """A proposed measurement: `commands` word by word, `names` of the place that it is for, `told` all its words."""

    commands: tuple[tuple[str, ...], ...]
    readings: tuple[Reading, ...]
    told: frozenset[str]
    denied: frozenset[str]  #: words that stand only behind a negation
    levels: frozenset[tuple[str, str]]  #: how much, and of what: (many, miss)
    names: Keys
    evidence: tuple[str, ...]

    @property
    def programs(self) -> frozenset[str]:
        """The programs of the commands."""
        return frozenset(next((w for w in one if "=" not in w), "") for one in self.commands)


_PARTS = re.compile(r"(?P<command>.*?)\s\((?P<tells>.*)\)\.?\Z", re.DOTALL)
#: Between one outcome and the next: a semicolon, a full stop, `(partition) or different ones`, and a comma before `long ones`.
_OUTCOMES = re.compile(r";\s|\.\s|(?<=\)) or |,\s(?=[a-z]+ (?:ones|messages)\b)|,\s(?=long )")
_MEANS = re.compile(
    r"\b(?:means?|points? to|asks? for|is|are|comes? from|confirms?|does)\b|\bones\b(?= (?:to|for|from)\b)|\((?=[a-z ]+\))"
)
_POINTS_TO = re.compile(r"\((?=[a-z ]+\))")
#: A measurement that answers a question has no meaning of one answer: `Which rank delays each collective and what it is doing`.
_ASKS = re.compile(r"(?:which|how|what|who|whether)\b", re.IGNORECASE)
_IF = re.compile(r"(?P<outcome>(?:if|whether)\b[^,]*),\s(?P<meaning>.*)", re.IGNORECASE | re.DOTALL)
_BELOW = frozenset(map(stem, ("below", "under", "fewer", "less")))
_ABOVE = frozenset(map(stem, ("above", "over", "more", "exceeding")))
#: Words from a number to what says on which side of it.
_NEAR = 2
#: Words from `many` to what there is much of: `many cache misses`.
LEVEL_REACH = 2


_RUN = frozenset({"run", "execute", "invoke"})
_CALL = re.compile(r"[A-Za-z_][\w:]*\([^()\n]{1,80}\)")


def calls(advice: Iterable[str]) -> tuple[str, ...]:
    """The calls of functions with their arguments in texts of advice: `setvbuf(file, NULL, _IOFBF, 1 << 20)`."""
    return tuple(call for text in advice for call in _CALL.findall(text[:2_000]))


def without_commands(sentence: str, proposed: Sequence[Measurement], called: Sequence[str]) -> str:
    """A sentence without the commands, or beginnings of commands, that findings propose, and without the calls that they advise."""
    for call in called:
        sentence = sentence.replace(call, "")
    words = sentence.split()
    left: list[str] = []
    position = 0
    while position < len(words):
        length = max((_length(words[position:], command) for m in proposed for command in m.commands), default=0)
        if not length:
            left.append(words[position])
        elif left and left[-1].lower() in _RUN:
            left.pop()
        position += length or 1
    return " ".join(left)


def _length(words: Sequence[str], command: Sequence[str]) -> int:
    """How many words are a program with its subcommand and some of its options, in the command's order."""
    said = [word.strip("`'\"(),;:").removesuffix(".") for word in words[: len(command)]]
    start = next((p for p, word in enumerate(command) if "=" not in word), len(command))
    if start == len(command) or said[:1] != [command[start]]:
        return 0
    length, position = 0, start
    for word in said:
        found = next((p for p in range(position, len(command)) if command[p] == word), None)
        if found is None:
            break
        length, position = length + 1, found + 1
    return length


def measurements(findings: Iterable[tuple[Finding, Keys]], words: Vocabulary) -> tuple[Measurement, ...]:
    """The measurements that findings propose, each with the names of the places of all findings that propose it."""
    by_text: dict[str, list[tuple[Finding, Keys]]] = {}
    for finding, names in findings:
        if finding.next_measurement:
            by_text.setdefault(finding.next_measurement, []).append((finding, names))
    return tuple(
        _measurement(
            text,
            frozenset().union(*(names for _, names in proposed)),
            tuple(dict.fromkeys(id for finding, _ in proposed for id in finding.evidence[:1])),
            words,
        )
        for text, proposed in by_text.items()
    )


def _measurement(text: str, names: Keys, evidence: tuple[str, ...], words: Vocabulary) -> Measurement:
    found = _PARTS.match(text)
    command, tells = (found["command"], found["tells"]) if found else (text, "")
    commands = tuple(tuple(part.split()) for part in re.split(r"[;|]\s", command) if part.split())
    tokens = tokenize(tells, words)
    behind = {p for p in range(len(tokens)) if words.negations & {t.stem for t in tokens[max(0, p - _NEAR) : p]}}
    free = {t.stem for p, t in enumerate(tokens) if p not in behind}
    return Measurement(
        commands,
        tuple(_reading(part, words) for part in _in_full([p for p in _OUTCOMES.split(tells) if p.strip()])),
        terms(tokens, words) | terms(tokenize(command, words), words) | _names_in(text, words),
        frozenset(tokens[p].stem for p in behind) - free - words.plain,
        frozenset(
            (one.stem, other.stem)
            for p, one in enumerate(tokens)
            if one.stem in words.levels
            for other in tokens[p + 1 : p + 1 + LEVEL_REACH]
            if other.stem
        ),
        names,
        evidence,
    )


def _in_full(parts: Sequence[str]) -> Iterable[str]:
    """The outcomes with the noun that `ones` stands for: `different ones to an event` behind `equal lengths point to a sleep`."""
    noun = ""
    for part in parts:
        yield re.sub(r"\bones\b(?= (?:to|for|from)\b)", f"{noun} (as)", part) if noun else part
        link = _MEANS.search(part)
        before = part[: link.start()].split() if link else []
        noun = before[-1] if before else noun


def _reading(text: str, words: Vocabulary) -> Reading:
    condition = _IF.match(text)
    if condition:
        outcome, meaning = condition["outcome"], condition["meaning"]
    else:
        link = (_POINTS_TO if _ASKS.match(text) else _MEANS).search(text)
        outcome, meaning = (text[: link.start()], text[link.start() :]) if link else (text, "")
    return Reading(terms(tokenize(outcome, words), words), terms(tokenize(meaning, words), words))


def _names_in(text: str, words: Vocabulary) -> frozenset[str]:
    return frozenset(t.text for t in tokenize(text, words) if t.kind in ("code", "file")) | {
        normal_code(w) for w in text.split()
    }


def terms(tokens: Sequence[Token], words: Vocabulary) -> frozenset[str]:
    """The stems of the words, and the numbers with their side."""
    return frozenset(t for position in range(len(tokens)) if (t := term(tokens, position, words)))


def term(tokens: Sequence[Token], position: int, words: Vocabulary) -> str:
    """The stem of a word, or a number with its side: `<1`, `>80`, `=4`; a word for a number only where it has a side."""
    token = tokens[position]
    if token.kind in ("code", "file"):
        return token.text
    value = token.value if token.kind == "number" else words.number_words.get(token.stem)
    if value is None or token.kind == "punctuation":
        return token.stem
    beside = [t.stem for t in tokens[max(0, position - _NEAR) : position]]
    after = [t.stem for t in tokens[position + 1 : position + 1 + _NEAR]]
    if _BELOW & set(beside):
        return f"<{value:g}"
    if _ABOVE & set(beside) or (after[:1] in (["or"], ["and"]) and _ABOVE & set(after[1:])):
        return f">{value:g}"
    return f"={value:g}" if token.kind == "number" else ""


def side_words(tokens: Sequence[Token], words: Vocabulary) -> frozenset[int]:
    """The positions of words that only say on which side of a number something is."""
    sides = _BELOW | _ABOVE
    near = {p for p in range(len(tokens)) if term(tokens, p, words)[:1] in ("<", ">")}
    return frozenset(p for p, t in enumerate(tokens) if t.stem in sides and any(0 < abs(p - q) <= _NEAR for q in near))
