"""GCC's messages (also those of gfortran and g++): the same in the text of -fopt-info and in optimisation records.

A loop is `couldn't vectorize loop` at its own line, followed by the reason at that of a statement. The reason is that of the
vector size that was tried last; where it says nothing (`no vectype for stmt`), what an earlier attempt said is better. In records
a scope `analyze_loop_nest` begins each loop, and all reasons stand before `couldn't vectorize loop`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chathpc.adapters.compiler_records.collect import Collection, call_obstacle, is_math_call, is_outer, loop_obstacle
from chathpc.adapters.compiler_records.commands import is_source
from chathpc.adapters.traced.json_text import JsonText
from chathpc.profile.compiler import CompiledUnit, Obstacle, Outcome

NAME = "GCC"
_VECTORISED = re.compile(r"^\s*(?:outer-)?loop vectorized\b")
_NOT = re.compile(r"^\s*couldn't vectorize loop")
_REFUSED = re.compile(
    r"^\s*(?:not inlinable|will not (?:early )?inline|not inlining):? (?P<caller>.{1,400}?)(?:/\d+)? ?-> ?(?P<callee>.{1,400}?)/\d+,"
    r" (?P<why>[^\n]{1,300})"
)
_INLINED = re.compile(
    r"^\s*(?:Inlining (?P<early>.{1,400}?)(?:/\d+)? into|Inlined (?P<late>.{1,400}?)(?:/\d+)? into) .{1,400}"
)
#: Passes of which a build without optimisation has no message.
_OPTIMISED = re.compile(
    r"vectorize|clobbers memory|loop (?:with|turned|unrolled|distributed)|evolution of|not inline|not inlinable|will not early inline"
)
#: Lines that a loop may have: a statement further down belongs to another.
_BODY = 400
#: Reasons that are kept of one loop.
_CANDIDATES = 8
#: Of several reasons the one with the smallest number is told; None is an outer loop.
_RANK: dict[Obstacle | None, int] = {None: -1, Obstacle.MATH_CALL: 0, Obstacle.LEVEL: 2, Obstacle.ALIASING: 2}


@dataclass(slots=True)
class _Loop:
    file: str
    line: int
    function: str


class GccMessages:
    """Takes in messages one after the other; `finish()` when there are no more."""

    def __init__(self, collection: Collection, *, reason_follows: bool = True) -> None:
        self._collection = collection
        self._follows = reason_follows
        self._loop: _Loop | None = None
        self._before: list[tuple[Obstacle | None, str, str, int]] = []
        self.count = 0
        self.optimised = False

    def take(self, kind: str, file: str, line: int, function: str, text: str) -> None:
        """A message: `kind` as -fopt-info has it (optimized, missed, note)."""
        self.count += 1
        if not self.optimised and _OPTIMISED.search(text):
            self.optimised = True
        if _VECTORISED.match(text):
            self._close()
            self._before.clear()
            self._collection.record(
                Outcome.VECTORISED, NAME, file, line, function=function, text=text.partition("\n")[0]
            )
        elif _NOT.match(text):
            self._close()
            self._loop = _Loop(file, line, function)
            if not self._follows:
                self._close()
        elif kind == "note":
            if "analyze_loop_nest" in text or "slp_analyze_bb" in text:
                self._close()
                self._before.clear()
        elif (refused := _REFUSED.match(text)) is not None:
            self._collection.record(
                Outcome.NOT_INLINED, NAME, file, line, function=function or refused["caller"].strip(),
                obstacle=call_obstacle(refused["why"]), text=refused["why"], callee=refused["callee"].strip(),
            )  # fmt: skip
        elif (inlined := _INLINED.match(text)) is not None:
            callee = (inlined["early"] or inlined["late"]).strip()
            self._collection.record(Outcome.INLINED, NAME, file, line, function=function, callee=callee)
        elif text.strip():
            self._reason(file, line, text)

    def finish(self) -> None:
        """The last loop has no reason to come."""
        self._close()
        self._before.clear()

    def _reason(self, file: str, line: int, text: str) -> None:
        obstacle = loop_obstacle(text)
        if obstacle == Obstacle.MATH_CALL and is_math_call(text):
            self._collection.math_call(file, line)
        if self._loop is None:
            if is_outer(text):
                self._before = [(None, text, file, line)]
            elif obstacle is not None and len(self._before) < _CANDIDATES:
                self._before.append((obstacle, text, file, line))
            return
        if is_outer(text):
            self._drop()  # its inner loops have records of their own
        elif obstacle is not None and file == self._loop.file and (self._inside(line) or "clobbers memory" in text):
            self._write(obstacle, text, line)
        elif "not vectorized" in text or "no vectype" in text:
            self._close(text)

    def _inside(self, line: int) -> bool:
        """True if a statement at a line may belong to the open loop; what was inlined has lines of its own."""
        return self._loop is not None and 0 <= line - self._loop.line <= _BODY

    def _close(self, text: str = "") -> None:
        """The open loop ends without a reason of its own: what an earlier attempt said, else none."""
        if self._loop is None:
            return
        file = self._loop.file
        mine = [
            item for item in self._before if item[2] == file and (self._inside(item[3]) or "clobbers memory" in item[1])
        ]
        if mine:
            # A call says more by its name; a need for run-time checks stops a loop only if nothing else does.
            obstacle, words, _, line = min(mine, key=lambda item: _RANK.get(item[0], 1))
            if obstacle is None:
                self._drop()
            else:
                self._write(obstacle, words, line)
        else:
            self._write(Obstacle.UNSTATED, text, 0)

    def _drop(self) -> None:
        self._loop = None
        self._before.clear()

    def _write(self, obstacle: Obstacle, text: str, at: int) -> None:
        loop = self._loop
        if loop is not None:
            self._collection.record(
                Outcome.NOT_VECTORISED, NAME, loop.file, loop.line, function=loop.function, obstacle=obstacle, text=text, at=at
            )  # fmt: skip
        self._drop()


_KINDS = {"success": "optimized", "failure": "missed", "note": "note", "scope": "note"}


def read_records(text: str, path: Path, collection: Collection) -> None:
    """Records of -fsave-optimization-record: a JSON array of generator, passes and records, which are decoded one by one."""
    records = JsonText(text, path)
    messages = GccMessages(collection, reason_follows=False)
    generator: dict[str, Any] = {}
    files: dict[str, None] = {}
    number = 0
    if not records.begins("["):
        raise records.damaged("an array was expected", records.at)
    for number, _ in enumerate(records.elements(), start=1):
        at = records.at
        if number == 1:
            value = records.value()
            if not isinstance(value, dict) or not isinstance(value.get("generator"), dict):
                raise records.damaged("the first member does not name the generator", at)
            generator = value["generator"]
            continue
        if not records.begins("["):
            raise records.damaged("an array of passes and one of records were expected", at)
        for _ in records.elements():
            record = records.value()
            for kind, file, line, function, words in _flat(record) if number > 2 else ():
                messages.take(kind, file, line, function, words)
                if file and len(files) < 1000:
                    files.setdefault(file)
    if records.at < len(text) or number < 3:
        raise records.damaged("three members were expected", min(records.at, len(text)))
    messages.finish()
    version = generator.get("version")
    compiler = f"{NAME} {version}" if isinstance(version, str) and version else NAME
    # The unit is called by its path; a unit without optimisation has no record with a place.
    unit = next((file for file in files if is_source(file)), path.name.split(".opt-record")[0])
    collection.unit(CompiledUnit(unit, compiler[:40], messages.optimised, told_by="its records"))


def _flat(record: object) -> Iterator[tuple[str, str, int, str, str]]:
    """A record and those inside it, in their order: kind, file, line, function, message."""
    waiting = [record]
    while waiting:
        item = waiting.pop()
        if not isinstance(item, dict):
            continue
        place = item.get("location")
        file, line = (place.get("file"), place.get("line")) if isinstance(place, dict) else (None, None)
        function = item.get("function")
        yield (
            _KINDS.get(str(item.get("kind")), "note"),
            file if isinstance(file, str) else "",
            line if isinstance(line, int) and not isinstance(line, bool) else 0,
            function if isinstance(function, str) else "",
            _message(item.get("message")),
        )
        inside = item.get("children")
        if isinstance(inside, list):
            waiting.extend(reversed(inside))


def _message(parts: object) -> str:
    if not isinstance(parts, list):
        return ""
    words = []
    for part in parts[:40]:
        if isinstance(part, str):
            words.append(part)
        elif isinstance(part, dict):
            words.append(
                next(
                    (value for key in ("expr", "stmt", "symtab_node") if isinstance(value := part.get(key), str)),
                    "",
                )
            )
    return "".join(words)[:2000]
