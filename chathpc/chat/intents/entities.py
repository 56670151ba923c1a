"""What a question names: functions, files and lines of the profile, metrics, numbers, factors, evidence."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import pairwise

from chathpc.chat.index import short_name
from chathpc.chat.intents.rules import Words, words
from chathpc.chat.intents.spelling import complete
from chathpc.chat.session import PATH_SEPARATOR, Session

#: Longer questions are no questions; only their beginning is read.
LONGEST_QUESTION = 1_000
#: How alike (0..1) a name and a slip of the pen are; below it, the name stands among the suggestions only.
_ALIKE = 0.8
#: The same for a word that could be one of English, where a name can stand.
_VERY_ALIKE, _LONG_ENOUGH = 0.87, 6
#: So many times as fast stands for "no time at all".
NO_TIME = 1e9

_TOKEN = re.compile(r"`[^`]+`|\"[^\"]+\"|<[^<>\s][^<>]*>|\S+")
_PLACE = re.compile(r"([\w./+-]+\.\w+):(\d{1,7})\b")
_LINE_OF = re.compile(r"\blines? (\d{1,7}) (?:of|in|from) (?:file )?(\S+)", re.IGNORECASE)
_OF_LINE = re.compile(
    r"(\S+?),? (?:(?:(?:at|on|in) )?(?:lines?|ln?\.?)|around|near|about|at)(?: lines?)? (\d{1,7})\b", re.IGNORECASE
)
_EVIDENCE = re.compile(r"\[?\b(E\d{1,5})\b\]?", re.IGNORECASE)
_NUMBERED = re.compile(
    r"#\s?(\d{1,3})\b|\b(?:finding|problem|issue|bottleneck|fix|number|no\.?) (?:number |no\.? )?#?(\d{1,3})\b"
)
_TIMES = re.compile(r"(\d+(?:\.\d+)?) ?(?:x\b|times\b|-?fold\b)")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?) ?(?:%|percent)")
_COUNT = re.compile(
    r"\b(?:top|first|largest|biggest|hottest) (\d{1,3})\b"
    r"|\b(\d{1,3}) (?:of (?:them|these|those)|most|hottest|largest|biggest|slowest|functions|lines|loops|kernels|ranks|threads|modules)"
)
_CODE = re.compile(r"[A-Za-z]_|_[A-Za-z]|::|\w\(|[a-z][A-Z]|\.\w|^[~<]|\w\d")
_BEFORE_NAMES = ("calls", "callers", "callees", "calling", "launches", "invokes", "of", "below", "under", "inside")
#: Names that are no words of English: with underscores, scopes, brackets of a call, or the ending of a source file.
_SURELY_CODE = re.compile(
    r"[\w.~:]*(?:\w_\w|\w::\w|\w\(\)$|\w\.(?:c|cc|cpp|cxx|cu|f|f90|h|hpp|hip|py)$)[\w.~:]*(?:\(\))?", re.IGNORECASE
)
_VERBS = ("calls", "invokes", "launches")
_EDGES = "?!,;:'\"`"


@dataclass(slots=True)
class Named:
    """What was found, and the question in small letters with @ in the place of functions, files and lines."""

    text: str
    functions: list[str] = field(default_factory=list)
    file: str = ""
    line: int = 0
    metric: str = ""
    evidence: str = ""
    number: int = 0
    factor: float | None = None
    limit: int | None = None
    corrected: str = ""  #: what the question had instead of the name that was taken

    @property
    def place(self) -> str:
        """The place that was named: a line, a function, a call path or a file; empty without any."""
        if self.file and self.line:
            return f"{self.file}:{self.line}"
        return self.functions[0] if self.functions else self.file


def read(question: str, session: Session) -> Named:
    """Find what `question` names; names of the profile in any case and without their scopes and parameters."""
    known = words()
    text = " ".join(question[:LONGEST_QUESTION].split())
    found = Named(text)
    _places(found, session)
    _names(found, session, known)
    text = " ".join(
        known.aliases.get(word.strip(_EDGES), word) for word in found.text.casefold().replace("’", "'").split()
    )
    text = " ".join(word for word in text.split() if word.strip(_EDGES) not in known.fillers)
    found.text = text = complete(text, known.spelled)
    if evidence := _EVIDENCE.search(text):
        found.evidence = evidence[1].upper()
    _figures(found, text, known)
    return found


def _places(found: Named, session: Session) -> None:
    """Files and lines."""

    def file_of(text: str) -> str:
        base = text.strip(_EDGES).rsplit("/", 1)[-1]
        return base if base.casefold() in session.files else ""

    for match in _PLACE.finditer(found.text):
        if name := file_of(match[1]):
            found.file, found.line = name, int(match[2])
            found.text = found.text.replace(match[0], "@", 1)
            return
    for pattern, file, line in ((_LINE_OF, 2, 1), (_OF_LINE, 1, 2)):
        for match in pattern.finditer(found.text):
            if name := file_of(match[file]):
                found.file, found.line = name, int(match[line])
                found.text = found.text.replace(match[0], "@", 1)
                return
    for token in found.text.split():
        if name := file_of(token):
            found.file = name
            found.text = found.text.replace(token, "@", 1)
            return


def _names(found: Named, session: Session, known: Words) -> None:
    out: list[str] = []
    tokens = _TOKEN.findall(found.text)
    for at, token in enumerate(tokens):
        quoted = token[0] in '`"' and len(token) > 2  # something between quotes
        bare = token.strip(_EDGES).rstrip(".") if not token.startswith("<") else token
        subject = not at and len(tokens) > 1 and tokens[1].casefold() in _VERBS  # `main calls what?`
        name = _name(bare, out, session, known, quoted=quoted or (subject and bool(session.index.find(bare))))
        if name:
            found.functions.append(name)
            if short_name(name).casefold() != short_name(bare).casefold():
                found.corrected = bare
            out.append("@")
        elif not found.metric and (metric := _metric(bare, session)):
            found.metric = metric
            out.append("metric")
        elif bare.casefold() in session.modules:
            out.append("module")
        else:
            out.append(token)
    if not found.functions and not found.file:
        _unknown(found, out)
    found.text = " ".join(out)
    if len(found.functions) > 1 and f" {PATH_SEPARATOR.strip()} " in found.text:
        found.functions = [PATH_SEPARATOR.join(found.functions)]


def _unknown(found: Named, out: list[str]) -> None:
    """A word that can only be a name, and that the profile does not have: whoever looks it up says so, with the nearest ones."""
    for at, token in enumerate(out):
        bare = token.strip(_EDGES).rstrip(".")
        if _SURELY_CODE.fullmatch(bare):
            found.functions.append(bare)
            out[at] = "@"
            return


def _name(bare: str, before: list[str], session: Session, known: Words, *, quoted: bool) -> str:
    """The function that a word stands for, or nothing."""
    if not bare or bare.isdigit() or bare == "@":
        return ""
    code = quoted or bool(_CODE.search(bare))
    exact = session.index.find(bare)
    folded = bare.casefold()
    if exact:
        previous = before[-1].casefold().strip(_EDGES) if before else ""
        if code or folded not in known.plain or previous in known.slots:
            return exact[0]
        return ""
    behind = before[-1].casefold() if before else ""
    if not code:  # part of a name, where nothing but a name can stand
        parts = session.index.containing(bare, 1) if behind in _BEFORE_NAMES and len(bare) > 4 else []
        if parts and folded not in known.plain:
            return parts[0]
        slip = behind in known.slots and len(bare) >= _LONG_ENOUGH and folded not in (*known.plain, *known.spelled)
        return _slip_of(folded, session, _VERY_ALIKE) if slip else ""
    if wrapped := session.index.find(f"p{bare}"):  # MPI's profiling interface: MPI_Bcast is PMPI_Bcast
        return wrapped[0]
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


def _metric(bare: str, session: Session) -> str:
    """The metric that a word names by its id, the tool's name or the beginning of its id."""
    folded = bare.casefold()
    if "." not in folded and ":" not in folded and "_" not in folded:
        return ""
    for metric in session.measured.metrics.values():
        if folded in (metric.id.casefold(), metric.source_name.casefold()):
            return metric.id
    return next((one for one in session.additive if one.casefold().startswith(f"{folded}.")), "")


def _figures(found: Named, text: str, known: Words) -> None:
    """Numbers of findings, of rows, and factors."""
    if numbered := _NUMBERED.search(text):
        found.number = int(numbered[1] or numbered[2])
    for word, value in known.ordinals.items():
        if re.search(rf"\b{word} (finding|problem|issue|cause|bottleneck|one)\b", text):
            found.number = value
    if counted := re.search(rf"\b(?:finding|problem|issue|number) ({'|'.join(known.numbers)})\b", text):
        found.number = known.numbers[counted[1]]
    tokens = [token.strip(_EDGES) for token in text.split()]
    if times := _TIMES.search(text):
        found.factor = float(times[1])
    elif percent := _PERCENT.search(text):
        part = float(percent[1]) / 100
        found.factor = 1 / (1 - part) if part < 1 else NO_TIME
    for token, after in pairwise([*tokens, ""]):
        if token in known.factors:
            found.factor = known.factors[token]
        elif token in known.numbers and after in ("times", "fold", "x"):
            found.factor = float(known.numbers[token])
        elif after in known.numbers and token.endswith("top"):
            found.limit = known.numbers[after]
        elif token in known.numbers and after not in ("", "of", "rank", "thread") and found.limit is None:
            found.limit = known.numbers[token] if known.numbers[token] > 1 else None
    if known.nothing.search(text):
        found.factor = NO_TIME
    if count := _COUNT.search(text):
        found.limit = int(count[1] or count[2])
