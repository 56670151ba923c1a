"""Pieces of programs for the tests of the diagnosis: functions, library calls, threads, ranks, source text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.draft import belief
from chathpc.diagnosis.fact import Fact
from chathpc.diagnosis.records import Diagnosis, Finding
from chathpc.profile import numbers
from chathpc.profile.location import Locations
from chathpc.profile.metric import Clock
from chathpc.profile.profile import Profile
from chathpc.profile.source_text import SourceExcerpt, SourceReader
from tests.profile.build import Node, call, entry, line, loop, placeholder

APP = "/opt/app"


def function(name: str, *children: Node, at: str = "app.c:1", **facts: object) -> Node:
    """A function of the program, with source."""
    return call(name, *children, at=at, module=APP, **facts)


def main(*children: Node, at: str = "app.c:1", **facts: object) -> Node:
    """The main thread: entry point, then `main`."""
    return entry("<program root>", function("main", *children, at=at, **facts))


def thread(*children: Node) -> Node:
    """A thread that the program or a library started."""
    return entry("<thread root>", *children)


def libc(name: str, *children: Node, **facts: object) -> Node:
    return call(f"{name} [libc.so.6]", *children, module="/lib/libc.so.6", **facts)


def libm(name: str, *children: Node, **facts: object) -> Node:
    return call(f"{name} [libm.so.6]", *children, module="/lib/libm.so.6", **facts)


def mpi(name: str, *children: Node, **facts: object) -> Node:
    return call(f"P{name} [libmpi.so.40.30.4]", *children, module="/usr/lib/libmpi.so.40.30.4", **facts)


def gomp(name: str, *children: Node, **facts: object) -> Node:
    return call(f"{name} [libgomp.so.1.0.0]", *children, module="/usr/lib/libgomp.so.1.0.0", **facts)


def barrier(**facts: object) -> Node:
    return placeholder("<omp barrier wait>", **facts)


def hot_loop(time: object, at: str = "app.c:10", *children: Node) -> Node:
    """A loop with all its time on the line below its header."""
    file, number = at.split(":")
    return loop(at, line(f"{file}:{int(number) + 1}", *children, time=time))


def ranks(count: int, threads: int = 1) -> Locations:
    """`count` ranks with `threads` threads each, rank by rank."""
    index = np.arange(count * threads)
    return Locations.of(len(index), rank=index // threads, thread=index % threads)


def wall(profile: Profile) -> Profile:
    """The same profile with its time taken from a wall clock."""
    metrics = dict(profile.metrics)
    metrics["cpu.time"] = replace(metrics["cpu.time"], clock=Clock.WALL)
    return replace(profile, metrics=metrics)


def source(files: Mapping[str, str]) -> SourceReader:
    """Reads the texts of `files`; the first line has number 1."""
    texts = {name: text.splitlines() for name, text in files.items()}

    def read(file: str, number: int, context: int) -> SourceExcerpt | None:
        lines = texts.get(file)
        if lines is None or not 1 <= number <= len(lines):
            return None
        first = max(1, number - context)
        return SourceExcerpt(file, first, tuple(lines[first - 1 : number + context]))

    return read


def diagnosed(profile: Profile) -> Diagnosis:
    """The diagnosis, after checking what must hold for any."""
    diagnosis = diagnose(profile)
    check(diagnosis)
    return diagnosis


def causes(profile: Profile) -> list[str]:
    """Causes of the findings, the most worthwhile first."""
    return [finding.cause for finding in diagnosed(profile).findings]


def finding(diagnosis: Diagnosis, cause: str) -> Finding:
    """The one finding with that cause."""
    (found,) = (item for item in diagnosis.findings if item.cause == cause)
    return found


def sure(signs: int, against: int = 0) -> float:
    """The confidence of a finding with so many signs, and things against it, whose share is beyond doubt."""
    return round(belief(signs, against), 2)


def statements(diagnosis: Diagnosis, cause: str) -> list[str]:
    """What the evidence of that finding says."""
    known = {item.id: item.statement for item in diagnosis.evidence}
    return [known[identifier] for identifier in finding(diagnosis, cause).evidence]


def check(diagnosis: Diagnosis) -> None:
    """Raise AssertionError unless evidence is numbered and used, shares are parts, and statements hold their values."""
    ids = [item.id for item in diagnosis.evidence]
    assert ids == [f"E{number}" for number in range(1, len(ids) + 1)]
    used = [identifier for item in diagnosis.findings for identifier in item.evidence]
    assert set(used) <= set(ids)  # what is told in any case (POP's efficiencies) may belong to no finding
    for item in diagnosis.findings:
        assert len(set(item.evidence)) == len(item.evidence) > 0
        assert 0 <= item.share <= 1 + 1e-12
        assert 0 <= item.confidence <= 1
        assert item.speedup_bound is None or item.speedup_bound >= 1
        assert item.advice
        assert item.next_measurement
    weights = [item.weight for item in diagnosis.findings]
    assert weights == sorted(weights, reverse=True)
    texts = [item.statement for item in diagnosis.evidence] + [item.summary for item in diagnosis.findings]
    for text in (*texts, diagnosis.headline, *diagnosis.notes):
        assert not re.search(r"\b(nan|inf|None)\b", text), text
        assert all(float(part) <= 100 for part in re.findall(r"([\d.]+) %", text.replace(",", ""))), text
    for item in diagnosis.evidence:
        assert any(words in item.statement for words in spellings(item)), (item.statement, item.value, item.unit)


def spellings(item: Fact) -> list[str]:
    """The ways in which the value of an item of evidence may be written."""
    value, unit = item.value, item.unit
    rate = [f"{numbers.size(value)} a second"] if unit == "bytes/s" else []
    ratio = [numbers.percent(value)] if unit == "ratio" else []
    place = [f":{value:.0f} "] if unit == "line" else []
    return [*rate, *ratio, *place, numbers.quantity(value, unit), numbers.number(value), numbers.count(round(value))]
