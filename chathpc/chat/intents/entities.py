"""What a question names: functions, files and lines of the profile, ranks and threads, metrics, numbers, factors, evidence.

In its text each of these is replaced by a mark (`@function`), so that one example serves every program.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from itertools import pairwise

from chathpc.chat.index import short_name
from chathpc.chat.session import PATH_SEPARATOR, Session, Target
from chathpc.chat.tools.locations import AGAINST
from chathpc.chat.tools.what_if import NO_TIME
from chathpc.packaged import table
from chathpc.profile.activity import activity_of_name

#: Longer questions are no questions; only their beginning is read.
LONGEST_QUESTION = 1_000
#: How alike (0..1) a name and a slip of the pen are; below it, the name stands among the suggestions only.
_ALIKE = 0.8
#: The same for a word that could be one of English, where a name can stand.
_VERY_ALIKE, _LONG_ENOUGH = 0.87, 6

_TOKEN = re.compile(r"`[^`]+`|\"[^\"]+\"|<[^<>\s][^<>]*>|\S+")
_PLACE = re.compile(r"([\w./+-]+\.\w+):(\d{1,7})\b")
_LINE_OF = re.compile(r"\blines? (\d{1,7}) (?:of|in|from) (?:file )?(\S+)", re.IGNORECASE)
_OF_LINE = re.compile(
    r"(\S+?),? (?:(?:(?:at|on|in) )?(?:lines?|ln?\.?)|around|near|about|at)(?: lines?)? (\d{1,7})\b", re.IGNORECASE
)
_EVIDENCE = re.compile(r"\[?\b(E\d{1,5})\b\]?", re.IGNORECASE)
_NUMBERED = re.compile(
    r"#\s?(\d{1,3})\b|\b(?:finding|problem|issue|bottleneck|fix|number|num|nr|no\.?) (?:number |no\.? )?#?(\d{1,3})\b"
)
_RANK = r"(?:mpi )?(?:rank|process|thread|task|node)s? ?#?(?:no\.? |number )?\d{1,7}"
_LOCATION = re.compile(rf"\b{_RANK}(?:,? \(?{_RANK}\)?)?", re.IGNORECASE)
_BARE_LINE = re.compile(r"\b(?:line|ln|l\.) ?(\d{1,7})\b", re.IGNORECASE)
_TIMES = re.compile(r"(\d+(?:\.\d+)?) ?(?:x\b|times\b|-?fold\b)")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?) ?(?:%|percent)")
_COUNT = re.compile(
    r"\b(?:top|first|largest|biggest|hottest) (\d{1,3})\b"
    r"|\b(\d{1,3}) (?:of (?:them|these|those)|(?:most|hottest|largest|biggest|slowest|heaviest|worst|functions|lines|loops|kernels|modules)\b)"
)
_NUMBER = re.compile(r"(?<![\w@.])\d+(?:\.\d+)?(?!\w)")
_CODE = re.compile(r"[A-Za-z]_|_[A-Za-z]|::|\w\(|[a-z][A-Z]|\.\w|^[~<]|\w\d")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BEFORE_NAMES = ("calls", "callers", "callees", "calling", "launches", "invokes", "of", "below", "under", "inside")
#: Names that are no words of English: with underscores, scopes, brackets of a call, or the ending of a source file.
_SURELY_CODE = re.compile(
    r"[\w.~:]*(?:\w_\w|\w::\w|\w\(\)$|\w\.(?:c|cc|cpp|cxx|cu|f|f90|h|hpp|hip|py)$)[\w.~:]*(?:\(\))?", re.IGNORECASE
)
_VERBS = frozenset({"calls", "invokes", "launches"})
#: Asks what part of one function another one is, which is below it.
_PART_OF = re.compile(
    r"\b(?:much|percentage|percent|share|part|fraction) of @function (?:is|goes|is spent)(?: in| into| to)? @function"
)
#: Slots behind which a word of English can also be a participle: a file that is read.
_PASSIVE = frozenset({"is", "was"})
_EDGES = "?!,;:'\"`"


@dataclass(frozen=True, slots=True)
class Words:
    """Word lists; see words.yaml."""

    ordinals: Mapping[str, int]
    numbers: Mapping[str, int]
    factors: Mapping[str, float]
    nothing: re.Pattern[str]
    slots: frozenset[str]
    plain: frozenset[str]
    small: frozenset[str]
    alike: Mapping[str, str]
    manner: Sequence[tuple[str, str, re.Pattern[str]]]  #: argument, its value, phrase


#: A scale: `64 ranks`, `n = 8000`, `n=10^6`.
_SCALE = re.compile(
    r"\b(?:(?P<name>[A-Za-z]\w*) ?= ?)?(?P<number>\d[\d,]*(?:\.\d+)?(?:e\d+)?)(?:\^(?P<power>\d+))?(?P<prefix>[kKmM]?)\b"
    r"(?(name)|\s+(?:mpi |openmp )?(?P<counted>ranks?|threads?|gpus?|nodes?|cores?|processes|procs|processors))"
)


@cache
def words() -> Words:
    """The word lists."""
    data = table("chathpc.chat.intents", "words.yaml")
    slots, plain, small = (frozenset(map(str, data[key])) for key in ("slots", "plain", "small"))
    nothing = re.compile(r"\b(?:" + "|".join(data["nothing"]) + ")")
    alike = {word: meaning for meaning, each in data["alike"].items() for word in map(str, each)}
    number = rf"(\d{{1,3}}|{'|'.join(data['numbers'])})"
    manner = [
        (argument, value, re.compile(rf"\b(?:{phrase.replace('{n}', number)})(?!\w)"))
        for argument, values in data["manner"].items()
        for value, phrases in values.items()
        for phrase in phrases
    ]
    return Words(
        data["ordinals"], data["numbers"], data["factors"], nothing, slots, plain | small, small, alike, manner
    )


@dataclass(slots=True)
class Named:
    """What was found, and the question in small letters with marks in the place of what it names."""

    text: str
    functions: list[str] = field(default_factory=list)
    file: str = ""
    line: int = 0
    metric: str = ""
    quantity: str = ""  #: the words of the question that name the metric
    evidence: str = ""
    number: int = 0
    title_word: str = ""  #: the word for which a finding was taken
    who: str = ""  #: a rank or thread: `rank 0 thread 2`
    factor: float | None = None
    parameter: str = ""  #: what a scale counts: ranks, threads, n
    scale: float | None = None
    limit: int | None = None
    manner: dict[str, str | int] = field(default_factory=dict)  #: arguments that say how, not what
    otherwise: bool = False  #: whether a word was taken for what it rather is not: behind `is` no name, or a name
    common: bool = False  #: whether the word that was taken for a name is one that questions are made of
    corrected: str = ""  #: what the question had instead of the name that was taken

    @property
    def place(self) -> str:
        """The place that was named: a line, a function, a call path or a file; empty without any."""
        if self.file and self.line:
            return f"{self.file}:{self.line}"
        return self.functions[0] if self.functions else self.file

    @property
    def names_something(self) -> bool:
        """Whether the question says by itself what it is about."""
        return bool(self.place or self.who or self.number or self.evidence)


def read(question: str, session: Session, plain: frozenset[str] = frozenset(), *, participles: bool = False) -> Named:
    """Find what `question` names; names of the profile in any case and without their scopes and parameters.

    Words that are `plain` are no slips of the pen for a name. With `participles` words of English are no names behind `is`.
    """
    known = replace(words(), slots=words().slots - _PASSIVE) if participles else words()
    found = Named(" ".join(question[:LONGEST_QUESTION].replace("’", "'").split()), otherwise=participles)
    if locations := [location[0].casefold() for location in _LOCATION.finditer(found.text)]:
        found.who = AGAINST.join(location.removeprefix("mpi ") for location in locations[:2])
        found.text = _LOCATION.sub("@rank", found.text)
    _places(found, session)
    _names(found, session, known, plain)
    found.text = found.text.casefold()
    if evidence := _EVIDENCE.search(found.text):
        found.evidence = evidence[1].upper()
        found.text = found.text.replace(evidence[0], "@evidence")
    _manner(found, known)
    if scale := _SCALE.search(found.text):
        found.parameter = scale["name"] or scale["counted"]
        found.scale = float(scale["number"].replace(",", "")) * 10 ** (
            3 * "-km".index((scale["prefix"] or "-").lower())
        )
        if scale["power"]:
            found.scale **= float(scale["power"])
        if scale["name"]:  # as the examples write it
            found.text = found.text.replace(scale[0], "@count ranks", 1)
    _figures(found, known)
    return found


def _manner(found: Named, known: Words) -> None:
    """How the answer is wanted: order, depth, lines around."""
    for argument, value, phrase in known.manner:
        said = phrase.search(found.text)
        if said is None or argument in found.manner:
            continue
        figure = next(filter(None, said.groups()), "")
        found.manner[argument] = (int(figure) if figure.isdigit() else known.numbers[figure]) if figure else value
        if figure:
            found.text = f"{found.text[: said.start()].rstrip(' ,')}{found.text[said.end() :]}"


def _places(found: Named, session: Session) -> None:
    """Files and lines."""

    def file_of(text: str) -> str:
        base = text.strip(_EDGES).rsplit("/", 1)[-1]
        return base if base.casefold() in session.files else ""

    for pattern, file, line in ((_PLACE, 1, 2), (_LINE_OF, 2, 1), (_OF_LINE, 1, 2)):
        for match in pattern.finditer(found.text):
            if name := file_of(match[file]):
                found.file, found.line = name, int(match[line])
                found.text = found.text.replace(match[0], "@line", 1)
                return
    if (bare := _BARE_LINE.search(found.text)) and (name := session.file_of_line(int(bare[1]))):
        found.file, found.line = name, int(bare[1])
        found.text = found.text.replace(bare[0], "@line", 1)
        return
    for token in found.text.split():
        if name := file_of(token):
            found.file = name
            found.text = found.text.replace(token, "@file", 1)
            return


def _names(found: Named, session: Session, known: Words, plain: frozenset[str]) -> None:
    out: list[str] = []
    tokens = _TOKEN.findall(found.text)
    for at, token in enumerate(tokens):
        quoted = token[0] in '`"' and len(token) > 2  # something between quotes
        bare = token.strip(_EDGES).rstrip(".") if not token.startswith("<") else token
        subject = not at and len(tokens) > 1 and tokens[1].casefold() in _VERBS  # `main calls what?`
        name = _name(bare, out, session, known, plain, quoted=quoted or (subject and bool(session.index.find(bare))))
        if name:
            found.functions.append(name)
            if short_name(name).casefold() != short_name(bare).casefold():
                found.corrected = bare
            out.append("@function")
        elif not found.metric and (metric := _metric(bare, session)):
            found.metric = metric
            out.append("@metric")
        elif bare.casefold() in session.modules:
            out.append("@module")
        else:
            out.append(token)
    if not found.functions and not found.file:
        _unknown(found, out)
    if not found.functions and not found.file:
        _of_finding(found, out, session, plain | known.plain)
    found.text = " ".join(out)
    path = f" {PATH_SEPARATOR.strip()} " in found.text or _PART_OF.search(found.text)
    if len(found.functions) > 1 and path:
        found.functions = [PATH_SEPARATOR.join(found.functions)]
    elif len(found.functions) > 1:  # a part rather than the whole: `halo exchange` in the program halo
        found.functions.sort(key=lambda name: _is_whole(name, session))


def _of_finding(found: Named, out: list[str], session: Session, plain: frozenset[str]) -> None:
    """A word that names nothing else, and that a finding's function or title has: `histogram` of `Histogram::fill`."""
    for at, token in enumerate(out):
        bare = token.strip(_EDGES).rstrip(".").casefold()
        if len(bare) < _LONG_ENOUGH or bare in plain or bare.startswith("@"):
            continue
        for number, one in enumerate(session.diagnosis.findings, 1):
            name = one.where.function or ""
            words_of = re.findall(r"[a-z]+", _CAMEL.sub(" ", name.partition("<")[0]).casefold())
            if name in session.index.names and get_close_matches(bare, words_of, n=1, cutoff=_VERY_ALIKE):
                found.functions.append(name)
                out[at] = "@function"
                return
            if bare in one.title.casefold().split():  # a slip is left to the terms of the catalogue
                found.number, found.title_word = number, bare
                out[at] = "@finding"
                return


def _is_of_system(names: Sequence[str], session: Session) -> bool:
    """Whether functions are of the operating system's kernel."""
    tree = session.measured.tree
    modules = {tree.modules[number] for number in tree.module[session.nodes_named(names)].tolist() if number >= 0}
    return bool(modules) and all("[kernel" in name or "[guest.kernel" in name for name in modules)


def _is_whole(name: str, session: Session) -> bool:
    metric = session.measured.time
    return metric is not None and session.is_whole(Target(name, session.nodes_named([name])), metric)


def _unknown(found: Named, out: list[str]) -> None:
    """A word that can only be a name, and that the profile does not have: whoever looks it up says so, with the nearest ones."""
    for at, token in enumerate(out):
        bare = token.strip(_EDGES).rstrip(".")
        if _SURELY_CODE.fullmatch(bare):
            found.functions.append(bare)
            out[at] = "@function"
            return


def _name(bare: str, before: list[str], session: Session, known: Words, plain: frozenset[str], *, quoted: bool) -> str:
    """The function that a word stands for, or nothing."""
    if not bare or bare.isdigit() or bare.startswith("@"):
        return ""
    code = quoted or bool(_CODE.search(bare))
    exact = session.index.find(bare)
    folded = bare.casefold()
    if exact:
        previous = before[-1].casefold().strip(_EDGES) if before else ""
        plain_here = folded in known.plain and (folded != "kernel" or session.has_kernels)
        # `schedule` is rather OpenMP's, `barrier` rather a word than MPI's
        plain_here |= _is_of_system(exact, session) or short_name(exact[0]).casefold().endswith(f"mpi_{folded}")
        if code or not plain_here or previous in known.slots:
            short = exact[0] if len(exact) == 1 or bare in session.index.names else short_name(exact[0])
            # Variants of a library's function are found by its name alone.
            return short if session.index.find(short) == exact else bare
        return ""
    behind = before[-1].casefold() if before else ""
    if not code:  # part of a name, where nothing but a name can stand
        parts = session.index.containing(bare, 1) if behind in _BEFORE_NAMES and len(bare) > 4 else []
        if parts and folded not in known.plain:
            return parts[0]
        slip = behind in known.slots and len(bare) >= _LONG_ENOUGH and folded not in known.plain | plain
        return _slip_of(folded, session, _VERY_ALIKE) if slip else ""
    inside = session.index.containing(bare, 1) if len(bare) > 3 else []  # shorter parts are in anything
    if inside:
        return inside[0]
    return _slip_of(folded, session, _ALIKE)


def _slip_of(folded: str, session: Session, alike: float) -> str:
    """The name that a word is a slip of the pen for; empty for none that is so much alike."""
    for near in session.index.nearest(folded):
        if get_close_matches(folded, [short_name(near).casefold()], n=1, cutoff=alike):
            return near
    return ""


def can_be_name(word: str, before: str) -> bool:
    """Whether a word of English, behind another, is a function's as well: one of a library that means nothing else, or any that is called."""
    known = words()
    means = known.alike.get(word)
    return (
        word in known.plain
        or (means is None and activity_of_name(word) is not None)
        or (means != word and before in _VERBS)
    )


def _metric(bare: str, session: Session) -> str:
    """The metric that a word names by its id, the tool's name or the beginning of its id."""
    folded = bare.casefold()
    if "." not in folded and ":" not in folded and "_" not in folded:
        return ""
    for metric in session.measured.metrics.values():
        if folded in (metric.id.casefold(), metric.source_name.casefold()):
            return metric.id
    return next((one for one in session.additive if one.casefold().startswith(f"{folded}.")), "")


def _figures(found: Named, known: Words) -> None:
    """Numbers of findings, of rows, and factors."""

    def mark(pattern: str, name: str) -> None:
        found.text = re.sub(pattern, name, found.text, count=1)

    if numbered := _NUMBERED.search(found.text):
        found.number = int(numbered[1] or numbered[2])
        mark(re.escape(numbered[0]), "@finding")
    for word, value in known.ordinals.items():
        if re.search(pattern := rf"\b{word} (finding|problem|issue|cause|bottleneck|one)\b", found.text):
            found.number = value
            mark(pattern, "@finding")
    pattern = rf"\b(?:finding|problem|issue|number) ({'|'.join(known.numbers)})\b"
    if counted := re.search(pattern, found.text):
        found.number = known.numbers[counted[1]]
        mark(pattern, "@finding")
    tokens = [token.strip(_EDGES) for token in found.text.split()]
    if times := _TIMES.search(found.text):
        found.factor = float(times[1])
        mark(re.escape(times[0]), "@factor")
    elif percent := _PERCENT.search(found.text):
        part = float(percent[1]) / 100
        found.factor = 1 / (1 - part) if part < 1 else NO_TIME
        mark(re.escape(percent[0]), "@factor")
    for token, after in pairwise([*tokens, ""]):
        if token in known.factors:
            found.factor = known.factors[token]
        elif token in known.numbers and after in ("times", "fold", "x"):
            found.factor = float(known.numbers[token])
            mark(rf"\b{token} {after}\b", "@factor")
        elif after in known.numbers and token.endswith("top"):
            found.limit = known.numbers[after]
            mark(rf"\b{after}\b", "@count")
        elif token in known.numbers and after not in ("", "of", "rank", "thread") and found.limit is None:
            found.limit = known.numbers[token] if known.numbers[token] > 1 else None
            if found.limit:
                mark(rf"\b{token}\b", "@count")
    if known.nothing.search(found.text):
        found.factor = NO_TIME
    if count := _COUNT.search(found.text):
        found.limit = int(count[1] or count[2])
    found.text = _NUMBER.sub("@count", found.text)
