"""From a question in plain language to a tool and its arguments: as the most similar example asks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache

import numpy as np

from chathpc.chat.intents.entities import Named, can_be_name, read, words
from chathpc.chat.intents.nearest import Nearest, words_of
from chathpc.chat.quantities import named as metrics_named
from chathpc.chat.quantities import opposite, spans
from chathpc.chat.session import Session
from chathpc.chat.tools import TOOLS, Tool, tools_of
from chathpc.chat.tools.catalogue import is_problem, topics
from chathpc.chat.tools.record import MOST_ROWS
from chathpc.packaged import table
from chathpc.profile.metric import Unit
from chathpc.profile.tree import FloatArray, IntArray
from chathpc.prompts.untrusted import quote

#: Cosine (0..1) below which a question is like no example; by leave-one-out over the examples (python -m tests.chat.questions).
LEAST = 0.35
#: What the nearest examples together must say for it (0..1).
SURE = 0.3
#: The same for a term of the glossary or the catalogue, at first and if nothing else fits; and the most words of one.
_TERMS, _LONGEST_TERM = (0.7, 0.5), 4
_ARTICLES = frozenset({"a", "an", "the"})
#: Letters from which on a slip of the pen is told from another word; shorter ones must be the same.
_SHORTEST_SLIP, _SAME = 8, 0.99
#: How alike (0..1) a word and a slip of the pen for it are.
_SLIP = 0.8
#: The same where the question cannot be understood as it stands.
_TYPED = 0.75
#: Cosine (0..1) from which on a question that reads so only if a strange word is a name is one about it; by the labelled questions.
_NAMES = 0.7
#: By how much (0..1) the question must be more like one about a name where the word is one that questions are made of.
_RATHER = 0.15
#: Shorter words (in letters) may be units.
_SHORTEST_NAME = 3
#: What can be a word or a name.
_LETTERS = re.compile(r"(?<![\w@./'])[A-Za-z]\w+(?![\w./(']|\s+[@=])")
#: How alike (0..1) a word and another form of it are.
_FORM = 0.7
#: Cosine (0..1) below which a question that has a term asks something else than what the term means; by the labelled questions.
_DEFINES = 0.7
#: What is left of the likeness where a term is taken for the topic that could be words like others.
_MEANT = 0.97
#: What a word of the examples counts as a topic beside other words.
_PLAIN = 0.8
#: What is left of the likeness where a question names something that the example says nothing of.
_UNSAID = 0.7
#: The same where it asks for loops and the example for functions.
_OTHER_THING = 0.8
_THINGS = frozenset({"worker", "function", "line", "loop", "library", "kernel", "gpu"})
#: Words that ask for a time.
_TIMES = frozenset({"time", "long", "seconds", "duration"})
#: What an answer to the last question is preferred by.
_GOES_ON = 0.04
#: Scores that differ by less are equal: what comes first is meant.
_EQUAL = 1e-6
_MARK = re.compile(r"@\w+")
#: Marks without which an example that has them cannot be meant, and that it should have if the question does.
_PLACES = frozenset({"@function", "@line", "@file"})
_NAMING = _PLACES | {"@rank", "@finding", "@evidence", "@problem", "@term", "@metric"}
#: Words that stand for what the last answer was about.
_PRONOUN = re.compile(
    r"\b(?:(?:this|that) (?:one|function|routine|loop|line|rank|thread|kernel|place|finding|problem)|it|its|this|that|them|there)\b(?!')",
    re.IGNORECASE,
)
#: Which of the rows that were just listed is meant.
_ORDINALS = {"last": -1} | {
    word: row
    for row, alike in enumerate(("first 1st top", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th"))
    for word in alike.split()
}
_ORDINAL = re.compile(
    rf"\b(?:(?:{'|'.join(_ORDINALS)})(?= (?:one|row)\b)|(?<=the )(?:{'|'.join(_ORDINALS)})(?=(?: \w+est)?[ ?.!]*$))(?: \w+)?",
    re.IGNORECASE,
)
#: Words of a question that says nothing of what it is about.
_ELLIPSIS = 4
#: The tool of examples that ask for the last one again, for something else; and of those that nothing answers.
_AGAIN, _NOTHING = "again", "nothing"


@dataclass(frozen=True, slots=True)
class Intent:
    """What a question asks for. `tool` is empty where nothing fits.

    `note` says what was understood otherwise than it was written.
    """

    tool: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Last:
    """The last answer: its tool and arguments, what `it` means after it (a place, a rank, `finding 2`), and what its rows are about.

    Where its subject is not `named`, but the first of a list, `it` rather means the program. A line is `inside` a function.
    """

    tool: str
    arguments: Mapping[str, object]
    subject: str = ""
    rows: Sequence[str] = ()
    named: bool = True
    inside: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """A question with marks for names, the tool that answers it, and the arguments that it fixes."""

    ask: str
    tool: str
    arguments: Mapping[str, object]

    @property
    def marks(self) -> frozenset[str]:
        """What it names."""
        return frozenset(_MARK.findall(self.ask))


@cache
def examples() -> tuple[Example, ...]:
    """The labelled questions of examples.yaml."""
    return tuple(
        Example(text, group["tool"], group.get("arguments", {}))
        for group in table("chathpc.chat.intents", "examples.yaml")
        for ask in group["ask"]
        for text in ([ask.replace("@topic", mark) for mark in ("@problem", "@term")] if "@topic" in ask else [ask])
    )


@cache
def _groups() -> tuple[tuple[Example, frozenset[str], frozenset[str], IntArray], ...]:
    """Examples of the same tool that name and are about the same: one of them, what they name, their things, and their numbers."""
    rows: dict[object, list[int]] = {}
    for at, one in enumerate(examples()):
        rows.setdefault((one.tool, one.marks & _NAMING, _thing(one.ask), frozenset(one.arguments)), []).append(at)
    firsts = [(examples()[found[0]], np.array(found, dtype=np.int32)) for found in rows.values()]
    return tuple((first, first.marks & _NAMING, _thing(first.ask), found) for first, found in firsts)


def _thing(text: str) -> frozenset[str]:
    """Which of lines, loops, ranks, … a question is about by its words."""
    return frozenset(words().alike.get(word, "") for word in words_of(text)) & _THINGS


@cache
def _index() -> Nearest:
    return Nearest([example.ask for example in examples()], words().alike)


@cache
def _wishes() -> IntArray:
    """What each example asks for, tool and arguments, as a number."""
    known: dict[object, int] = {}
    asked = [(each.tool, repr(sorted(each.arguments.items()))) for each in examples()]
    return np.array([known.setdefault(each, len(known)) for each in asked], dtype=np.int32)


@cache
def _plain() -> frozenset[str]:
    """Words of the examples, which are no slips of the pen for names."""
    return frozenset(word for example in examples() for word in words_of(example.ask))


@cache
def _telling() -> frozenset[str]:
    """Words of the examples that ask something."""
    return frozenset(word for example in examples() if example.tool != _NOTHING for word in words_of(example.ask))


def match(question: str, session: Session, last: Last | None = None) -> Intent:
    """The tool that answers `question`, which may go on from the `last` answer."""
    if question.lstrip()[:1] == "[":  # a query as it stands
        return Intent("query", {"query": question.strip()})
    repeated = Intent("")
    for alike in _TERMS:  # words that are only near to a term are taken for it where nothing else is meant
        best, intent = 0.0, Intent("")
        for text, bonus in _readings(question, session, last):
            named = read(text, session, _plain())
            for what, marked, term in (
                *((one, one.text, "") for one in _with_metric(named, session)),  # what was measured comes first
                *((named, *each) for each in _with_topic(named.text, session, alike)),
                *_as_words(text, named, session),
                *_as_names(named, session),
            ):
                scores = _index().likeness(marked) * fitting(what, marked, last) * (_MEANT if term else 1.0)
                rather = _RATHER if what.common else _EQUAL
                least = max(LEAST, best - bonus + rather, _NAMES if what.otherwise else 0.0)
                at, sure = nearest(scores) if scores.max() >= least else (0, 0.0)
                if scores[at] < least or sure < SURE or (term and _other(marked, float(scores[at]), examples()[at])):
                    continue
                meant = _intent(examples()[at], what, term, last, tools_of(session))
                if bonus and last is not None and (meant.tool, meant.arguments) == (last.tool, last.arguments):
                    repeated = meant if _PRONOUN.search(question) else repeated
                    continue  # nobody asks for the answer that was just given, unless it can be nothing else: `show its source`
                best, intent = float(scores[at]) + bonus, meant
        if intent.tool:
            return intent
    spelt = question if repeated.tool else _without_slips(question, session)
    if spelt == question:
        return repeated
    intent = match(spelt, session, last)
    return replace(intent, note=f"Understood as: {quote(spelt)} {intent.note}".rstrip())


def _without_slips(question: str, session: Session) -> str:
    """A question with the nearest words of the examples in the place of those that nothing knows."""

    def known(found: re.Match[str]) -> str:
        word = found[0].casefold()
        if word in _plain() or session.index.find(word):
            return found[0]
        return next(iter(get_close_matches(word, _telling(), n=1, cutoff=_TYPED)), found[0])

    return re.sub(r"(?<![\w@./:'])[A-Za-z]{3,}(?![\w./:('])", known, question)


def _as_words(text: str, named: Named, session: Session) -> Iterator[tuple[Named, str, str]]:
    """A question in which a word behind `is` names a function, as it reads if that is but a word: `which file is read most`."""
    if named.functions and (other := read(text, session, _plain(), participles=True)).text != named.text:
        yield other, other.text, ""


def nearest(scores: FloatArray) -> tuple[int, float]:
    """Of the examples like a question by these scores (0..1) the most similar one that asks what most of them speak for, and how much."""
    if not scores.any():
        return 0, 0.0
    wishes = _index().weighed(scores, _wishes())
    wish = int(np.argmax(wishes))
    return int(np.argmax(np.where(_wishes() == wish, scores, 0.0))), float(wishes[wish])


def _other(marked: str, likeness: float, example: Example) -> bool:
    """Whether a question with a term asks something else than the example that asks what a term is, or has nothing but the term."""
    if example.tool != "catalogue":
        return False
    said = [word for word in words_of(marked) if word[0] != "@"]
    if said and _MARK.fullmatch(example.ask):
        return True
    return "@term" in marked and likeness < _DEFINES and all(words().alike.get(word) != "means" for word in said)


def _intent(example: Example, named: Named, term: str, last: Last | None, known: Mapping[str, Tool]) -> Intent:
    """What an example asks for with the names of a question."""
    if example.tool == _NOTHING:
        return Intent("")
    note = f"'{named.corrected}' was taken for {named.functions[0]}." if named.corrected and named.functions else ""
    tool, fixed = example.tool, example.arguments
    if tool == _AGAIN and last is not None:
        tool, fixed = last.tool, last.arguments
    manner = {name: value for name, value in named.manner.items() if name in known[tool].arguments.model_fields}
    return Intent(tool, {**manner, **fixed, **_arguments(known[tool], named, term)}, note)


def _readings(question: str, session: Session, last: Last | None) -> Iterator[tuple[str, float]]:
    """The question as it stands, and after the last answer, which is preferred by so much."""
    ordinal = _ORDINAL.search(question)
    row = _ORDINALS[ordinal[0].split()[0].casefold()] if ordinal else 0
    if ordinal and last is not None and row < len(last.rows):  # of what was just listed
        yield f"{question[: ordinal.start()]}{last.rows[row]}{question[ordinal.end() :]}", 0.0
        return
    yield question, 0.0
    measured = str(last.arguments["metric"]) if last is not None and last.tool == "measured" else ""
    short = len(question.split()) <= _ELLIPSIS
    if short and (other := opposite(measured, question)):  # `and read?` after what was written
        yield f"how many {other}", _GOES_ON
    if last is None or not last.subject:
        return
    found = None
    for found in _PRONOUN.finditer(question):
        for subject in filter(None, (last.subject, last.inside)):
            yield f"{question[: found.start()]}{subject}{question[found.end() :]}", _GOES_ON if last.named else 0.0
    short = found is None and len(question.split()) <= _ELLIPSIS and not _telling().isdisjoint(words_of(question))
    if short and "words" not in last.arguments and not read(question, session, _plain()).names_something:
        yield f"{question.strip(' ?.!')} of {last.subject}", _GOES_ON
        yield f"{question.strip(' ?.!')} {last.subject}", _GOES_ON


def _as_names(named: Named, session: Session) -> Iterator[tuple[Named, str, str]]:
    """A question as it reads if a word is a name that the profile does not have: a word that nobody has said and that is no slip of one,
    or where names stand one that functions are called by as well (`solve`, `fsync`).
    """
    if named.functions or named.file:
        return
    for found in _LETTERS.finditer(named.text):
        word, before = found[0], "".join(named.text[: found.start()].split()[-1:])
        if word in words().small:
            continue
        strange = _is_strange(word, session)
        common = not strange or len(word) < _SHORTEST_NAME
        if common and not (before in words().slots and (strange or can_be_name(word, before))):
            continue
        text = f"{named.text[: found.start()]}@function{named.text[found.end() :]}"
        yield replace(named, text=text, functions=[f"{word}()"], common=common, otherwise=True), text, ""


def _is_strange(word: str, session: Session) -> bool:
    """Whether neither the examples nor the topics have a word like this one."""
    known = session.once("words", lambda: _plain() | {word for topic in topics(session) for word in words_of(topic)})
    return session.once(("strange", word), lambda: not get_close_matches(word, known, n=1, cutoff=_SLIP))


def _with_topic(text: str, session: Session, alike: float) -> Iterator[tuple[str, str]]:
    """A question as it is, and with a mark for the term of the catalogue or the glossary that it has; and that term."""
    yield text, ""
    said = words_of(text)
    best, span, term = 0.0, (0, 0), ""
    known = session.once("topics", lambda: Nearest(topics(session)))
    lengths = session.once("lengths of topics", lambda: np.array([len(words_of(one)) for one in known.texts]))
    for begin in range(len(said)):
        for end in range(begin + 1, min(begin + _LONGEST_TERM, len(said)) + 1):
            if any(word[0] == "@" for word in said[begin:end]):
                break
            if said[begin] in _ARTICLES:
                continue
            least = alike if sum(map(len, said[begin:end])) >= _SHORTEST_SLIP else _SAME
            likeness = known.likeness(" ".join(said[begin:end])) * (lengths == end - begin)
            at = int(np.argmax(likeness))
            if not _slip(said[begin:end], known.texts[at]):
                continue
            score = float(likeness[at]) ** 2 * (end - begin) ** 0.5  # of two terms that are as near the longer one
            if end - begin == 1 and said[begin] in _plain():
                score *= _PLAIN
            if likeness[at] >= least and score > best:
                best, span, term = score, (begin, end), known.texts[at]
    if term:
        # One word that questions are made of anyway (`files`) is a topic only where its meaning is asked for.
        plain = span[1] - span[0] == 1 and term in _plain()
        mark = "@problem" if is_problem(session, term) and not plain else "@term"
        yield " ".join([*said[: span[0]], mark, *said[span[1] :]]), term


def _slip(said: Sequence[str], term: str) -> bool:
    """Whether each of the words that no example has is one of the term's in another form, or nearly: `iterrows` is not `grows`."""
    return all(get_close_matches(word, words_of(term), n=1, cutoff=_FORM) for word in said)


def _with_metric(found: Named, session: Session) -> Iterator[Named]:
    """A question with a mark for the words in it that name a metric of the profile, and that metric."""
    if found.metric:
        return
    if found.title_word:  # `achieved occupancy` is a quantity, `occupancy` alone the finding
        found = replace(found, text=found.text.replace("@finding", found.title_word), number=0)
    said = words_of(found.text)
    for begin, end, quantity in spans(session, said):
        if quantity == found.title_word:
            continue
        if begin and said[begin - 1][0] != "@" and said[begin - 1] not in _plain():
            continue  # calls of a kind that no metric counts
        metrics = metrics_named(session, quantity)
        # How long calls take is not how many they are.
        timed = not _TIMES.isdisjoint(said)
        metric = next((each for each in metrics if not timed or each.unit == Unit.SECONDS), None)
        if metric is None:
            continue
        yield replace(
            found, text=" ".join([*said[:begin], "@metric", *said[end:]]), metric=metric.id, quantity=quantity
        )


def fitting(named: Named, marked: str, last: Last | None) -> FloatArray:
    """For each example 0 if it names what the question does not, less than 1 if the question names more, or is about other things."""
    marks = frozenset(_MARK.findall(marked)) & _NAMING
    things = _thing(marked)
    found = np.zeros(len(examples()))
    for first, theirs, about, rows in _groups():
        if theirs - marks or (first.tool == _AGAIN and not _again(named, last)) or _lacks(first, named, marks):
            continue
        part = 1.0 if things == about else _OTHER_THING
        if (marks - theirs) and not (marks & _PLACES and theirs & _PLACES and not marks - theirs - _PLACES):
            part *= _UNSAID
        found[rows] = part
    return found


def _again(named: Named, last: Last | None) -> bool:
    """Whether the last tool takes what the question names, or a topic, which is named by no entity."""
    if last is None:
        return False
    return not named.names_something or bool(_arguments(TOOLS[last.tool], named, ""))


def _lacks(example: Example, named: Named, marks: frozenset[str]) -> bool:
    """Whether the tool needs a place that nothing names."""
    if example.tool in (_AGAIN, _NOTHING):
        return False
    tool = TOOLS[example.tool]
    needs = {name for name, one in tool.arguments.model_fields.items() if one.is_required()}
    topic = "any" if marks & {"@problem", "@term"} else ""
    return not needs <= example.arguments.keys() | _arguments(tool, named, topic).keys()


def _arguments(tool: Tool, named: Named, topic: str) -> dict[str, object]:
    """The arguments that the question names, of those that the tool takes."""
    values: dict[str, object] = {
        "place": named.place,
        "name": named.functions[0] if named.functions else "",
        "file": named.file,
        "id": named.evidence,
        "number": named.number,
        "words": topic,
        "who": named.who,
        "metric": (named.quantity if tool.name == "measured" else "") or named.metric,
        "search": named.metric,
        "factor": named.factor,
        "parameter": named.parameter,
        "at": named.scale,
        "limit": None if named.limit is None else min(named.limit, MOST_ROWS),
    }
    taken = tool.arguments.model_fields
    return {name: value for name, value in values.items() if name in taken and value}
