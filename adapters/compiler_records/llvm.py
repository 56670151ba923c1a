"""LLVM's remarks (clang, flang, AMD's, Intel's, NVIDIA's nvc++ on LLVM): the text of -Rpass…, and the YAML of -fsave-optimization-record.

A loop that was not vectorised has remarks of the analysis that say why, at lines of statements, and then one that it was missed,
at its own line. The YAML is a stream of documents (LLVM: Remarks, "YAML remarks"):

    --- !Missed
    Pass:            inline
    Name:            NoDefinition
    DebugLoc:        { File: heat.c, Line: 32, Column: 16 }
    Function:        relax
    Args:
      - Callee:          flux
      - String:          ' will not be inlined into '
    ...
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chathpc.adapters.compiler_records.collect import Collection, call_obstacle, loop_obstacle
from chathpc.adapters.compiler_records.commands import is_source
from chathpc.adapters.content import DAMAGED
from chathpc.adapters.lines import texts
from chathpc.errors import AdapterError
from chathpc.profile.compiler import CompiledUnit, Obstacle, Outcome

NAME = "LLVM"
#: Characters that a document may have: a remark has some hundred, that of a block's instructions some thousand.
LONGEST = 1 << 20
#: Passes that run without optimisation as well.
_ALWAYS = frozenset({"prologepilog", "asm-printer", "always-inline", "annotation-remarks", "size-info", "kernel-resource-usage",
                     "kernel-info", "sdagisel", "gisel-irtranslator", "stack-frame-layout"})  # fmt: skip
_INLINED = re.compile(r"^'?(?P<callee>[^'\s]{1,500}(?: [^']{0,300})?)'? inlined into ")
_REFUSED = re.compile(
    r"^'?(?P<callee>[^'\s]{1,500}(?: [^']{0,300}?)?)'? (?:will not be|is not|not) inlined into '?(?P<caller>[^'\n]{1,500}?)'?"
    r"(?: because |: )(?P<why>.{1,300})"
)
#: A loop's analysis may name several reasons; the first is the one to act on.
_PENDING = 8


@dataclass(slots=True)
class _Said:
    """A remark of the analysis of a loop that is not known yet."""

    file: str
    line: int
    function: str
    text: str


class LlvmRemarks:
    """Takes in remarks one after the other; `finish()` when there are no more."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._said: list[_Said] = []
        self.count = 0
        self.optimised = False

    def take(self, kind: str, work: str, file: str, line: int, function: str, text: str) -> None:
        """A remark: `kind` is passed, missed or analysis, `work` the pass."""
        self.count += 1
        if not self.optimised and work not in _ALWAYS and not (work == "inline" and "always" in text):
            self.optimised = True
        if work == "loop-vectorize":
            self._loop(kind, file, line, function, text)
        elif work == "inline":
            self._call(file, line, function, text)

    def finish(self) -> None:
        """Reasons without a loop are of loops whose own remark was not asked for."""
        for said in self._said:
            self._write(said.file, said.line, said.function, [said])
        self._said.clear()

    def _loop(self, kind: str, file: str, line: int, function: str, text: str) -> None:
        if kind == "passed":
            self.finish()
            if text.startswith(("vectorized", "Vectorized")):
                self._collection.record(Outcome.VECTORISED, NAME, file, line, function=function, text=text)
        elif kind == "analysis":
            if self._said and self._said[0].function != function:
                self.finish()
            if loop_obstacle(text) is not None and len(self._said) < _PENDING:
                self._said.append(_Said(file, line, function, text))
        elif text.startswith("loop not vectorized"):
            mine = [said for said in self._said if said.function == function]
            self._said = [said for said in self._said if said.function != function]
            self.finish()
            self._write(file, line, function, mine or [_Said(file, line, function, text)])

    def _write(self, file: str, line: int, function: str, said: list[_Said]) -> None:
        reason = said[0]
        self._collection.record(
            Outcome.NOT_VECTORISED, NAME, file, line, function=function,
            obstacle=loop_obstacle(reason.text) or Obstacle.UNSTATED,
            text=reason.text.removeprefix("loop not vectorized: "),
            at=reason.line if reason.file == file else 0,
        )  # fmt: skip

    def _call(self, file: str, line: int, function: str, text: str) -> None:
        if (refused := _REFUSED.match(text)) is not None:
            why = refused["why"]
            self._collection.record(
                Outcome.NOT_INLINED, NAME, file, line, function=function or refused["caller"], obstacle=call_obstacle(why),
                text=why, callee=refused["callee"],
            )  # fmt: skip
        elif (inlined := _INLINED.match(text)) is not None:
            self._collection.record(Outcome.INLINED, NAME, file, line, function=function, callee=inlined["callee"])


# -- documents ---------------------------------------------------------------------------------------------------

_SCALAR = r"""(?:'(?:[^']|'')*+'|"(?:[^"\\]|\\.)*+"|[^,'"{}\s][^,{}\n]*+)"""
_HEAD = re.compile(
    r"--- !(?P<tag>[A-Za-z]{1,40})\nPass: +(?P<work>[^\n]{1,200})\nName: +(?P<name>[^\n]{1,200})(?:\n|\Z)"
)
_PLACE = re.compile(
    rf"DebugLoc: *\{{ *File: *(?P<file>{_SCALAR}),\s*Line: *(?P<line>\d{{1,10}}),\s*Column: *\d{{1,10}} *\}}"
)
_FUNCTION = re.compile(r"Function: +(?P<name>[^\n]+)")
_ARGUMENT = re.compile(r"^  - (?P<key>[\w$.]{1,80}): *(?P<value>[^\n]*)", re.MULTILINE)
#: Passes whose documents are read; of the others the name is enough.
_READ = ("loop-vectorize", "inline")
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "0": ""}


def read_documents(path: Path, collection: Collection) -> None:
    """The YAML documents of a file, in one pass and with one document in memory; AdapterError for what is none."""
    remarks = LlvmRemarks(collection)
    files: dict[str, None] = {}
    for offset, document in _documents(path):
        head = _HEAD.match(document)
        if head is None:
            raise AdapterError(
                "is not an optimisation remark document (--- !Missed, Pass, Name)", path=path, offset=offset, hint=DAMAGED
            )  # fmt: skip
        work = head["work"].strip("'\" ")
        if work not in _READ:
            remarks.take("analysis", work, "", 0, "", "")
            if len(files) < 1 and (place := _PLACE.search(document, head.end(), head.end() + 2000)) is not None:
                _remember(files, _scalar(place["file"]))
            continue
        place = _PLACE.match(document, head.end())
        function = _FUNCTION.match(document, document.find("\n", place.end()) + 1 if place is not None else head.end())
        file = _scalar(place["file"]) if place is not None else ""
        _remember(files, file)
        tag = head["tag"].lower()
        remarks.take(
            "analysis" if tag.startswith("analysis") else tag,
            work,
            file,
            int(place["line"]) if place is not None else 0,
            _scalar(function["name"]) if function is not None else "",
            _text(document, head.end()),
        )
    if not remarks.count:
        raise AdapterError("contains no optimisation remark", path=path, hint=DAMAGED)
    remarks.finish()
    unit = next(iter(files), path.name.split(".opt.")[0])  # without a source file its name is all there is
    collection.unit(CompiledUnit(unit[:500], NAME, remarks.optimised, told_by="its remarks"))


def _remember(files: dict[str, None], file: str) -> None:
    """The first source file that is named is the unit's; headers come before it."""
    if not files and is_source(file):
        files[file] = None


def _documents(path: Path) -> Iterator[tuple[int, str]]:
    """The documents with their offsets (in characters)."""
    rest, offset = "", 0
    for text in texts(path):
        whole = (rest + text.replace("\r\n", "\n")).split("\n...\n")
        rest = whole.pop()
        if len(rest) > LONGEST:
            raise AdapterError(
                f"has a document of more than {LONGEST:,} characters", path=path, offset=offset, hint="These are not remarks."
            )  # fmt: skip
        for document in whole:
            yield offset, document
            offset += len(document) + 5
    rest = rest.strip("\n")
    if rest.endswith("\n..."):
        yield offset, rest[:-4]
    elif rest:
        raise AdapterError("ends within a document", path=path, offset=offset, hint=DAMAGED)


def _text(document: str, start: int) -> str:
    """The message: all values of its arguments in their order."""
    begin = document.find("\nArgs:", start)
    if begin < 0:
        return ""
    words = []
    for count, argument in enumerate(_ARGUMENT.finditer(document, begin)):
        words.append(_scalar(argument["value"]))
        if count == 40:
            break
    return "".join(words)[:2000]


def _scalar(text: str) -> str:
    """The value of a scalar in single quotes, double quotes or none."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), text[1:-1])
    return text
