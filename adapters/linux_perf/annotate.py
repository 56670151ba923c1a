"""The machine code of hot functions with the samples at each instruction: the text of `perf annotate --stdio`.

Percent |	Source code & Disassembly of demo for cpu-clock:u (4256 samples, percent: local period)
         : 5    0000000000001240 <walk>:
   99.41 :   1254:   mov    (%rdi),%rdi // demo.c:12
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from chathpc.profile.machine_code import CodeLine, SampledCode

#: Functions with a tenth of the samples and more, as the program's files have them: perf asks objdump, and nothing on the network.
OPTIONS = ("annotate", "--stdio", "--print-line", "--no-source", "--skip-missing", "--percent-limit", "10")
#: How the text stands behind the samples of perf script: as its comments, which other readers pass over.
COMMENT = "#:"
#: Seconds and bytes that it may take, and instructions of all functions that are kept.
LIMIT, LARGEST, _MOST = 20, 4 << 20, 20_000
_HEAD = re.compile(
    r"\s*Percent\s*\|\s*Source code & Disassembly of (?P<module>\S.{0,400}?) for (?P<event>\S{1,200}) \((?P<samples>\d{1,12}) samples"
)
_NAME = re.compile(r"[\s:\d]{0,40}\b[0-9a-f]{8,16} <(?P<name>.{1,4000})>:\s*")
_INSTRUCTION = re.compile(
    r"\s*(?P<part>\d{1,3}\.\d{1,4})\s[\d\s.]{0,80}:\s*(?P<offset>[0-9a-f]{1,16}):\s+(?P<text>\S.{0,400})"
)
#: Where it tells a line: only that of instructions with samples.
_SOURCE = re.compile(r" // (?P<file>[^/]{1,300}):(?P<line>\d{1,9})$")


def comments(output: bytes) -> list[str]:
    """What perf annotate wrote as comments of perf script."""
    return [f"{COMMENT}{line}" for line in output[:LARGEST].decode("utf-8", "replace").splitlines()]


class _Section(NamedTuple):
    head: re.Match[str]
    name: list[str]
    lines: list[CodeLine]
    parts: list[float]


def annotated(text: Iterable[str]) -> tuple[tuple[str, SampledCode], ...]:
    """The event, and the code of a function with its samples, in the order of the text; whatever else stands there is passed over."""
    sections: list[_Section] = []
    count = 0
    for line in text:
        if (head := _HEAD.match(line)) is not None:
            sections.append(_Section(head, [], [], []))
        elif not sections:
            continue
        elif (row := _INSTRUCTION.fullmatch(line)) is not None:
            count += 1
            if count > _MOST:
                break
            source = _SOURCE.search(row["text"])
            file, number = (source["file"], int(source["line"])) if source else ("", 0)
            sections[-1].lines.append(CodeLine(int(row["offset"], 16), row["text"], file, number))
            sections[-1].parts.append(float(row["part"]) / 100)
        elif (name := _NAME.fullmatch(line)) is not None:
            sections[-1].name.append(name["name"])
    return tuple(
        (each.head["event"], SampledCode(
            each.name[0], each.head["module"], tuple(each.lines), tuple(each.parts), int(each.head["samples"])
        ))
        for each in sections
        if each.name and each.lines
    )  # fmt: skip
