"""What a model is asked about launches, with the source of their programs, and about machines with one roofline that are drawn at random. No
question holds what was measured.

Bandwidths, peaks and intensities are drawn as in G. Bolet et al., Can Large Language Models Predict Parallel Code Performance?, AI4Sys at
HPDC 2025 (arXiv 2505.03988): from the slowest to the fastest GPU of a list of that time.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chathpc.bench.predict.counted import count_lines
from chathpc.bench.predict.labels import LABELS_DEVICE, Label
from chathpc.errors import UsageError
from chathpc.llm.backend import Request
from chathpc.predict.counts import Counts
from chathpc.predict.devices import Device, device
from chathpc.profile.text import clean
from chathpc.prompts.loader import template
from chathpc.prompts.untrusted import block, marker_of, quote

SUFFIXES = frozenset({".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".inl"})
#: 8,000 tokens, the longest program of the paper, at 3.75 characters a token of C++.
MOST_CHARACTERS = 30_000
#: A file beyond that is data.
_LARGEST = 4_000_000
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_MAIN = re.compile(r"\bmain\s*\(")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a program; `cut` is the number of lines that are left out at its end."""

    name: str
    text: str
    cut: int = 0

    def lines(self, *, numbered: bool = False) -> list[str]:
        """Its lines below its name, as written, or with their numbers."""
        told = f", without its last {self.cut} lines" if self.cut else ""
        body = self.text.splitlines()
        if numbered:
            body = [f"{number}: {line}" for number, line in enumerate(body, 1)]
        return [f"// file: {self.name}{told}", *body]


def read_source(folder: Path, function: str, most: int = MOST_CHARACTERS) -> tuple[SourceFile, ...]:
    """The program in `folder`: the file with `function` first, then that with main, then the others, at most `most` characters together.

    Headers that it includes and has not itself are taken from the CUDA program of the same name beside it. Links out of the folder are
    not followed. UsageError where it has no source.
    """
    found = {path.relative_to(folder).as_posix(): _text(path) for path in _files(folder)}
    if not found:
        raise UsageError(
            f"{clean(str(folder))} has no C, C++ or CUDA source.", hint="--sources DIR holds one folder a program."
        )
    twin = folder.with_name(f"{folder.name.rpartition('-')[0]}-cuda")
    if twin != folder:
        headers = {path.relative_to(twin).as_posix(): path for path in _files(twin)}
        have = {Path(name).name for name in found}
        included = {name for text in found.values() for name in _INCLUDE.findall(text)}
        for name in sorted(included & set(headers)):
            if Path(name).name not in have:
                found[f"../{twin.name}/{name}"] = _text(headers[name])
    named = re.compile(rf"\b{re.escape(function)}\b")
    order = sorted(
        found,
        key=lambda name: (not named.search(found[name]), not _MAIN.search(found[name]), name.startswith("../"), name),
    )
    return tuple(_fitting([(name, found[name]) for name in order], most))


def _files(folder: Path) -> list[Path]:
    inside = folder.resolve()
    paths = sorted(folder.rglob("*")) if folder.is_dir() else []
    return [
        path
        for path in paths
        if path.suffix.lower() in SUFFIXES
        and path.resolve().is_relative_to(inside)
        and path.is_file()
        and path.stat().st_size <= _LARGEST
    ]


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace")


def _fitting(files: Sequence[tuple[str, str]], most: int) -> list[SourceFile]:
    kept: list[SourceFile] = []
    for name, text in files:
        if most <= 0:
            break
        if len(text) <= most:
            kept.append(SourceFile(name, text))
        else:
            whole = text[:most].rpartition("\n")[0]
            kept.append(SourceFile(name, whole, len(text.splitlines()) - len(whole.splitlines())))
        most -= len(text)
    return kept


#: GB/s and GFLOP/s between which machines are drawn, and how far intensities keep from the balance point, as shares of it.
BANDWIDTHS = (50.0, 893.8)
PEAKS = (2535.8, 7068.9)
BELOW, ABOVE = 0.95, (1.05, 10.0)
#: Programs reach at most this share of what the roofline allows them.
_REACHED = 0.95


@dataclass(frozen=True, slots=True)
class Point:
    """A program on a machine with one roofline: GB/s, GFLOP/s, operations a byte and GFLOP/s reached, all of two decimals."""

    bandwidth: float
    peak: float
    intensity: float
    reached: float

    @property
    def balance(self) -> float:
        """Operations a byte where both limits meet."""
        return self.peak / self.bandwidth

    @property
    def compute_bound(self) -> bool:
        """On which side of the balance point the program lies."""
        return self.intensity > self.balance


@dataclass(frozen=True, slots=True)
class Trial:
    """A question about `asked`, after the answered `examples`, as many of each class."""

    number: int
    examples: tuple[Point, ...]
    asked: Point


def trials(rooflines: int = 40, examples: tuple[int, ...] = (2, 4, 8), seed: int = 0) -> tuple[Trial, ...]:
    """For each of `rooflines` machines and each number of examples two questions, one of each class.

    Examples are of machines of their own. The same seed gives the same trials.
    """
    source = random.Random(seed)  # noqa: S311 - a sample, no secret
    found: list[Trial] = []
    for number in range(rooflines):
        bandwidth, peak = _machine(source)
        asked = [_point(bandwidth, peak, bound, source) for bound in (False, True)]
        for count in examples:
            shown = tuple(_point(*_machine(source), bool(index % 2), source) for index in range(count))
            found += [Trial(number, shown, point) for point in asked]
    return tuple(found)


def _machine(source: random.Random) -> tuple[float, float]:
    return round(source.uniform(*BANDWIDTHS), 2), round(source.uniform(*PEAKS), 2)


def _point(bandwidth: float, peak: float, compute_bound: bool, source: random.Random) -> Point:
    balance = peak / bandwidth
    if compute_bound:
        intensity, most = source.uniform(ABOVE[0] * balance, ABOVE[1] * balance), peak
    else:
        intensity = source.uniform(0.0, BELOW * balance)
        most = intensity * bandwidth
    return Point(bandwidth, peak, round(intensity, 2), round(source.uniform(0.0, _REACHED * most), 2))


#: Kinds of questions: rooflines drawn at random; source alone; source after two answered ones; source beside what chathpc counted.
Kind = Literal["generated", "source", "examples", "counts"]
KINDS: tuple[Kind, ...] = ("generated", "source", "examples", "counts")
LANGUAGES = {"CUDA": "CUDA", "OMP": "OpenMP offload"}
#: Seconds for an answer: models that reason first take minutes for a program of 8,000 tokens.
DEADLINE = 600.0


@dataclass(frozen=True, slots=True)
class Program:
    """A launch and the source that a question about it shows."""

    label: Label
    source: tuple[SourceFile, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """The truth of a question (compute-bound?) and its answer; None for one that is neither word, which counts as the wrong word."""

    truth: bool
    answer: bool | None

    @property
    def said(self) -> bool:
        """The answer, or the wrong one where there is none."""
        return not self.truth if self.answer is None else self.answer


@dataclass(frozen=True, slots=True)
class Question:
    """A question, what it is about, the true answer (compute-bound?), which the request does not hold, and what was said; null where no answer
    was recorded.
    """

    kind: Kind
    program: str
    kernel: str
    request: Request
    truth: bool
    text: str | None = None

    @property
    def judged(self) -> Judged:
        """The answer beside the truth."""
        return Judged(self.truth, None if self.text is None else read_word(self.text))


def generated_question(trial: Trial) -> Question:
    """Examples of rooflines with their answers, and one without."""
    form = template("predict_roofline")
    told = [f"{_told(point)}\nAnswer: {word(point.compute_bound)}" for point in trial.examples]
    user = "\n\n".join([*told, _told(trial.asked), form.task])
    name = f"{len(trial.examples)} examples, roofline {trial.number}"
    return Question("generated", name, "", _request("predict_roofline", user), trial.asked.compute_bound)


def class_question(
    kind: Kind, program: Program, *, counts: Counts | None = None, examples: Sequence[Program] = ()
) -> Question:
    """The source of a launch: alone, beside what chathpc counted, or after other launches with their sources and answers."""
    form, machine = template("predict_class"), device(LABELS_DEVICE)
    parts: list[tuple[str, list[str], str]] = []
    for each in examples:
        parts.append(("launch of an example", launch_lines(each.label), ""))
        parts.append(("its source", source_lines(each.source), f"Answer: {word(each.label.compute_bound)}"))
    parts.append(("machine", _machine_lines(machine), ""))
    parts.append(("launch", launch_lines(program.label), ""))
    if counts is not None:
        note = "The counts are computed from the compiled program, not measured. Where something was not known they may be wrong; the source is the proof."
        parts.append(("what a tool counted for this launch", count_lines(counts, machine), note))
    parts.append(("source", source_lines(program.source), ""))
    marker = marker_of(line for _, lines, _ in parts for line in lines)
    texts = [text for name, lines, note in parts for text in (block(name, lines, marker), note)]
    request = _request("predict_class", "\n\n".join(text for text in (*texts, form.task) if text))
    return Question(kind, program.label.program, program.label.kernel, request, program.label.compute_bound)


def word(compute_bound: bool) -> str:
    """The word for a class."""
    return "Compute" if compute_bound else "Bandwidth"


def read_word(answer: str) -> bool | None:
    """Whether an answer says compute-bound; None if it says neither word, or both, in its last line that has one.

    Models that reason before they answer put the word last.
    """
    for line in reversed(answer.lower().splitlines()):
        compute, bandwidth = "compute" in line, "bandwidth" in line
        if compute or bandwidth:
            return None if compute and bandwidth else compute
    return None


def launch_lines(label: Label) -> list[str]:
    """The kernel, its launch and the command line, in words."""
    grid, block_ = (" x ".join(map(str, extent)) for extent in (label.grid, label.block))
    lines = [f"kernel: {quote(label.function)}", f"with its types: {quote(label.signature, longest=1000)}"]
    if label.line is not None:
        lines = [f"kernel: the target region at about line {label.line}, in the function {quote(label.function)}"]
    lines += [
        f"language: {LANGUAGES.get(label.language, quote(label.language))}",
        f"blocks of the grid: {grid}; threads of a block: {block_}",
        f"arguments of the program: {quote(label.arguments) or 'none'}",
    ]
    return lines


def source_lines(files: Sequence[SourceFile], *, numbered: bool = False) -> list[str]:
    """The lines of a program's files."""
    return [line for each in files for line in each.lines(numbered=numbered)]


def _machine_lines(machine: Device) -> list[str]:
    """A machine with its rooflines."""
    fp32, fp64, integer = (f"{machine.peak(kind) / 1e9:.2f}" for kind in ("fp32", "fp64", "integer"))
    return [
        machine.name,
        f"peak, single precision: {fp32} GFLOP/s; double precision: {fp64} GFLOP/s; integer: {integer} GINTOP/s",
        f"memory bandwidth: {machine.bandwidth / 1e9:.2f} GB/s",
    ]


def _request(form: str, user: str) -> Request:
    found = template(form)
    return Request(found.system, user, found.max_output_tokens, json_schema=found.schema, deadline=DEADLINE)


def _told(point: Point) -> str:
    return (
        f"A GPU has a memory bandwidth of {point.bandwidth:.2f} GB/s and a peak performance of {point.peak:.2f} GFLOP/s. A program on it has an "
        f"arithmetic intensity of {point.intensity:.2f} FLOP/byte and reaches {point.reached:.2f} GFLOP/s. "
        "Is it bound by computing or by bandwidth?"
    )
