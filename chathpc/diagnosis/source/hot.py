"""The hot lines of a profile whose source is there, the time of lines, and what the source says as evidence, marked as not measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.draft import fact
from chathpc.diagnosis.fact import Fact, Kind
from chathpc.diagnosis.facts import Facts, plain_name
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.source.languages import grammar_of, is_python
from chathpc.diagnosis.source.model import Function
from chathpc.diagnosis.source.python import Script, script_of
from chathpc.diagnosis.source.sign import DERIVED, Sign
from chathpc.diagnosis.source.text import SourceFile, read_file
from chathpc.profile.activity import Activity
from chathpc.profile.run import LAST_CACHE, PEAK_MEMORY, positive
from chathpc.profile.tree import BoolArray, Int64Array, IntArray, NodeKind, is_one_of

#: So many hot lines are looked at; each has at least this part of the time.
MOST_PLACES = 40
LEAST = 0.01
#: What a miss of all caches takes at least: 80 ns, some 200 cycles (U. Drepper, What every programmer should know about memory, 2007,
#: 3.3.2, and the catalogue's memory-latency).
_MISSES, _MISS_SECONDS, _MISS_CYCLES = "cpu.cache.misses", 80e-9, 200.0
_CYCLES, _INSTRUCTIONS = "cpu.cycles", "cpu.instructions"
#: A wait for memory that is less than this part of the time explains nothing.
_MISSED = 0.1
#: How readers name the place of a thread that ran in the kernel, behind the last sample before.
KERNEL = "<kernel>"
#: So many files are parsed.
_MOST_FILES = 8


@dataclass(frozen=True, slots=True)
class HotLine:
    """A line of the program's own code with its time, library calls included."""

    file: int  #: number of the file in the tree
    line: int
    time: float
    node: int  #: the context in which it is hottest


@dataclass(frozen=True, slots=False, eq=False)
class Hot:
    """The hot lines of a profile and their parsed files, read at the first use."""

    facts: Facts

    @cached_property
    def _files(self) -> dict[int, SourceFile | None]:
        return {}

    def source(self, file: int) -> SourceFile | None:
        """The parsed file; None without source or grammar, or where enough files have been read."""
        if file not in self._files:
            name = self.facts.profile.tree.files[file] if file >= 0 else ""
            enough = sum(each is not None for each in self._files.values()) >= _MOST_FILES
            self._files[file] = None if enough else read_file(self.facts.profile, name)
        return self._files[file]

    def at(self, file: int, line: int) -> tuple[SourceFile, Function] | None:
        """The parsed file and the function in it that holds the line; None without them."""
        source = self.source(file)
        function = None if source is None else source.function_at(line)
        return None if source is None or function is None else (source, function)

    @cached_property
    def _scripts(self) -> dict[int, Script | None]:
        return {}

    def script(self, file: int) -> Script | None:
        """The parsed file of Python; None for another language, and as for `source`."""
        if file not in self._scripts:
            enough = sum(each is not None for each in self._scripts.values()) >= _MOST_FILES
            name = self.facts.profile.tree.files[file] if file >= 0 else ""
            self._scripts[file] = None if enough else script_of(self.facts.profile, name)
        return self._scripts[file]

    def others(self, file: int) -> list[SourceFile]:
        """The parsed files in which other hot lines are, the hottest first."""
        listed = dict.fromkeys(one.file for one in self.lines if one.file != file)
        return [each for each in map(self.source, listed) if each is not None]

    @cached_property
    def _readable(self) -> np.ndarray:
        """True for nodes in files of a language that can be parsed."""
        return self.facts.profile.tree.where_file(lambda path: grammar_of(path) is not None or is_python(path))

    @cached_property
    def lines(self) -> list[HotLine]:
        """The hottest lines in files that can be parsed, the hottest first."""
        facts, tree = self.facts, self.facts.profile.tree
        site = facts.activities.site
        counted = np.flatnonzero((facts.time > 0) & (site >= 0))
        if not len(counted):
            return []
        by_site = np.bincount(site[counted], weights=facts.time[counted])
        sites = np.flatnonzero(by_site > 0)
        sites = sites[(tree.line[sites] > 0) & self._readable[sites]]
        keys = tree.file[sites].astype(np.int64) << 32 | tree.line[sites]
        known, inverse = np.unique(keys, return_inverse=True)
        sums = np.bincount(inverse, weights=by_site[sites], minlength=len(known))
        found = []
        for index in np.argsort(-sums, kind="stable")[:MOST_PLACES].tolist():
            if sums[index] < LEAST * facts.total:
                break
            mine = sites[inverse == index]
            node = int(mine[int(np.argmax(by_site[mine]))])
            found.append(HotLine(int(known[index] >> 32), int(known[index] & 0xFFFFFFFF), float(sums[index]), node))
        return found

    @cached_property
    def calls(self) -> IntArray:
        """Calls of the program's own functions, inlined or not, with a part of the time worth looking at, by node."""
        facts, tree = self.facts, self.facts.profile.tree
        share = facts.inclusive >= 5 * LEAST * facts.total
        own = is_one_of(tree.kind, (NodeKind.FUNCTION, NodeKind.INLINED)) & (facts.activities.call < 0)
        nodes = np.flatnonzero(share & own & (tree.parent >= 0))
        nodes = nodes[self._readable[tree.parent[nodes]] & (tree.line[tree.parent[nodes]] > 0)]
        return nodes[np.argsort(-facts.inclusive[nodes], kind="stable")][:MOST_PLACES].astype(np.int32)

    @cached_property
    def _by_file(self) -> dict[int, Int64Array]:
        return {}

    def _sites(self, file: int) -> Int64Array:
        """Nodes with time whose place in the program is in the file."""
        if file not in self._by_file:
            facts, tree = self.facts, self.facts.profile.tree
            site = np.maximum(facts.activities.site, 0)
            here = (tree.file[site] == file) & (facts.activities.site >= 0) & (facts.time > 0)
            self._by_file[file] = np.flatnonzero(here)
        return self._by_file[file]

    def own_time(self, file: int, first: int, last: int) -> float:
        """Time that the lines compute themselves or in small library functions; not waiting, allocation or libm."""
        facts, tree = self.facts, self.facts.profile.tree
        nodes = self._sites(file)
        line = tree.line[facts.activities.site[nodes]]
        inside = nodes[(line >= first) & (line <= last)]
        kinds = is_one_of(facts.activities.kind[inside], (Activity.COMPUTE, Activity.LIBRARY))
        return float(facts.time[inside[kinds]].sum())

    def interpreted_time(self, file: int, first: int, last: int) -> float:
        """Time of the lines' own steps, without any function that they call."""
        facts, nodes = self.facts, self._sites(file)
        line = self.facts.profile.tree.line[nodes]
        here = (facts.activities.site[nodes] == nodes) & (line >= first) & (line <= last)
        return float(facts.time[nodes[here]].sum())

    def has_few_misses(self, file: int, first: int, last: int) -> bool:
        """True if last-level cache misses were counted, and those of the lines could take no more than a tenth of their time even
        one after the other.
        """
        return self.few_misses(self.facts.profile.tree.inside(self.line_nodes(file, first, last)))

    def few_misses(self, nodes: BoolArray) -> bool:
        """The same of some nodes by themselves."""
        facts = self.facts
        each = _MISS_SECONDS if facts.in_seconds else _MISS_CYCLES if facts.metric == "cpu.cycles" else 0.0
        if not each or not facts.profile.has(_MISSES):
            return False
        misses = facts.profile.dense(_MISSES)
        return float(misses[nodes].sum()) * each < _MISSED * float(facts.time[nodes].sum()) and float(misses.sum()) > 0

    def computes(self, file: int, first: int, last: int) -> bool:
        """True if cycles and instructions were counted, and the lines, with what they call, execute so many in a cycle that they can
        hardly wait for memory.
        """
        return self.many_instructions(self.facts.profile.tree.inside(self.line_nodes(file, first, last)))

    def many_instructions(self, nodes: BoolArray) -> bool:
        """The same of some nodes by themselves."""
        if not self.facts.profile.has(_CYCLES, _INSTRUCTIONS):
            return False
        cycles, executed = (float(self.facts.profile.dense(name)[nodes].sum()) for name in (_CYCLES, _INSTRUCTIONS))
        return cycles > 0 and executed >= common()["computing_ipc"].value * cycles

    @cached_property
    def in_cache(self) -> float | None:
        """Bytes that all processes of the run together held at most, where the last cache before memory has room for them, as far as that
        was measured.
        """
        run = self.facts.profile.run
        held, cache = positive(run.get(PEAK_MEMORY, "")), positive(run.get(LAST_CACHE, ""))
        whole = None if held is None else held * max(self.facts.rank_count, 1)
        return whole if whole is not None and cache is not None and whole <= cache else None

    @cached_property
    def _kernel(self) -> Int64Array:
        """Contexts that stand for time in the kernel somewhere behind a sample, where the profile tells it."""
        tree = self.facts.profile.tree
        return np.flatnonzero(tree.named(KERNEL) & (tree.parent >= 0))

    @property
    def tells_kernel(self) -> bool:
        """True if the time in which threads ran in the kernel is told, though not where."""
        return bool(len(self._kernel))

    def kernel_time(self, file: int, first: int, last: int) -> float:
        """Time that threads ran in the kernel behind samples of the lines, and of what these call."""
        facts, tree = self.facts, self.facts.profile.tree
        site = facts.activities.site[tree.parent[self._kernel]]
        known = np.maximum(site, 0)
        inside = (site >= 0) & (tree.file[known] == file) & (tree.line[known] >= first) & (tree.line[known] <= last)
        return float(facts.inclusive[self._kernel[inside]].sum())

    @cached_property
    def _lines_by_file(self) -> dict[int, IntArray]:
        return {}

    def line_nodes(self, file: int, first: int, last: int) -> IntArray:
        """The outermost contexts of the lines; a frame of Python is at the line that it executes."""
        tree = self.facts.profile.tree
        if file not in self._lines_by_file:
            here = tree.file == file
            if not is_python(tree.files[file]):
                here &= is_one_of(tree.kind, (NodeKind.LINE, NodeKind.INSTRUCTION))
            self._lines_by_file[file] = np.flatnonzero(here & (self.facts.inclusive > 0)).astype(np.int32)
        nodes = self._lines_by_file[file]
        return tree.outermost(nodes[(tree.line[nodes] >= first) & (tree.line[nodes] <= last)])

    def time(self, file: int, first: int, last: int, *, without: str = "") -> float:
        """Time of the lines with all that they call; recursion counts once. A function called `without` is left out with what it calls."""
        facts, tree, lines = self.facts, self.facts.profile.tree, self.line_nodes(file, first, last)
        whole = float(facts.inclusive[lines].sum())
        if not without:
            return whole
        called = tree.inside(lines) & tree.where_name(lambda name: plain_name(name) == without)
        return whole - float(facts.inclusive[tree.outermost(np.flatnonzero(called).astype(np.int32))].sum())

    @property
    def any_source(self) -> bool:
        """True if a file of a hot line was there and parsed."""
        return any(each is not None for each in (*self._files.values(), *self._scripts.values()))

    def hottest(self, file: int, first: int, last: int, *, calls: bool = False) -> int:
        """The context of the lines with most time of its own or in libraries (with `calls` in anything); −1 without one."""
        facts, tree = self.facts, self.facts.profile.tree
        nodes = self._sites(file)
        site = facts.activities.site[nodes]
        inside = (tree.line[site] >= first) & (tree.line[site] <= last)
        if calls or not inside.any():
            lines = self.line_nodes(file, first, last)
            return int(lines[int(np.argmax(facts.inclusive[lines]))]) if len(lines) else -1
        sums = np.bincount(site[inside], weights=facts.time[nodes[inside]])
        return int(np.argmax(sums))


#: Longer words are names that no author wrote.
_LONGEST = 300


def source_evidence(facts: Facts, place: Place, sign: Sign, *, metric: str | None = None) -> Fact:
    """`The source at app.c:7 …`, at that place; `metric` is what was measured there, by default the time."""
    return fact(
        facts,
        Kind.SOURCE,
        float(place.line or sign.line),
        subject=place.short,
        unit="line",
        text=shortened(sign.says, _LONGEST),
        metric=metric,
        how=DERIVED,
        where=place,
    )


def shortened(text: str, most: int) -> str:
    """The text, cut where the program's names in it are longer than any author's."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
