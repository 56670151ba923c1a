"""Hot loops and functions, and what compilers say of them: joined by file, line and name."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.facts import Facts, readable_function
from chathpc.diagnosis.records import Place
from chathpc.profile.activity import Activity
from chathpc.profile.compiler import Build, CompiledUnit, CompilerRecord, FileIndex, KernelResources, Outcome
from chathpc.profile.kernel_names import base_key, kernel_key
from chathpc.profile.tree import FUNCTION_KINDS, BoolArray, NodeKind, is_one_of

#: The hottest lines are looked up; one with less than this part of the time never decides anything.
MOST_LINES, LEAST_SHARE = 300, 1e-3
#: The option of nvcc that leaves device code without optimisation; it says nothing of host code.
DEVICE_DEBUG = "-G"
COMPUTING = (Activity.COMPUTE, Activity.MATH, Activity.LIBRARY)


@dataclass(slots=True)
class HotLoop:
    """A loop of the records with the time of its lines. `exact` is False where only the lines' order says that it holds them."""

    file: str
    line: int
    records: tuple[CompilerRecord, ...]
    place: Place
    exact: bool
    cost: float = 0.0
    at_place: float = 0.0
    lines: set[tuple[str, int]] = field(default_factory=set)  #: files and lines with time

    @property
    def missed(self) -> tuple[CompilerRecord, ...]:
        """What says that it was not vectorised."""
        return tuple(record for record in self.records if record.outcome == Outcome.NOT_VECTORISED)

    @property
    def vectorised(self) -> tuple[CompilerRecord, ...]:
        """What says that it was."""
        return tuple(record for record in self.records if record.outcome == Outcome.VECTORISED)

    @property
    def short(self) -> str:
        """`heat.c:12`."""
        return f"{self.file.rsplit('/', 1)[-1]}:{self.line}"


@dataclass(frozen=True, slots=False, eq=False)
class Compiled:
    """The records of a profile, by place."""

    facts: Facts
    build: Build
    _loops: dict[int, tuple[int, int]] = field(default_factory=dict)

    @cached_property
    def _index(self) -> FileIndex:
        return FileIndex(record.file for record in self.build.records)

    @cached_property
    def _by_file(self) -> dict[str, dict[int, list[CompilerRecord]]]:
        """Records of loops by file and line."""
        found: dict[str, dict[int, list[CompilerRecord]]] = defaultdict(lambda: defaultdict(list))
        for record in self.build.records:
            if record.outcome in (Outcome.VECTORISED, Outcome.NOT_VECTORISED):
                found[record.file][record.line].append(record)
        return found

    def _at(self, file: str) -> dict[int, list[CompilerRecord]]:
        """Records of the loops of a file, as the profile calls it, by line."""
        names = self._index.find(file)
        if len(names) == 1:
            return self._by_file.get(names[0], {})
        found: dict[int, list[CompilerRecord]] = defaultdict(list)
        for name in names:
            for line, records in self._by_file.get(name, {}).items():
                found[line] += records
        return found

    @cached_property
    def hot_loops(self) -> tuple[HotLoop, ...]:
        """Loops of the records in which hot lines lie, the one with most time first.

        Lines of a function that was inlined into a loop count for that loop.
        """
        facts, tree = self.facts, self.facts.profile.tree
        if not self.build.records or facts.total == 0:
            return ()
        found: dict[tuple[str, int], HotLoop] = {}
        lines: dict[str, tuple[dict[int, list[CompilerRecord]], list[int]]] = {}
        for node, around, weight in self._hot_lines():
            file = str(tree.file_name(around if around >= 0 else node))
            if file not in lines:
                known = self._at(file)
                lines[file] = known, sorted(known)
            known, numbers = lines[file]
            chosen = self._loop_at(node, around, numbers)
            if chosen is None:
                continue
            number, exact = chosen
            loop = found.get((file, number))
            if loop is None:
                records = _of_function(known[number], tree.function_name(around if around >= 0 else node))
                loop = found[file, number] = HotLoop(file, number, records, Place(), exact)
            loop.cost += weight
            loop.exact &= exact
            loop.lines.add((str(tree.file_name(node)), int(tree.line[node])))
            if weight > loop.at_place:
                loop.at_place = weight
                loop.place = self._place(node, around)
        return tuple(sorted(found.values(), key=lambda loop: (-loop.cost, loop.file, loop.line)))

    def _place(self, node: int, around: int) -> Place:
        """A hot line as a place; the loop around it where the line was inlined from another function."""
        tree, caller = self.facts.profile.tree, int(self.facts.activities.caller[node])
        if around < 0 or tree.function[around] == tree.function[node]:
            return self.facts.place(caller, line_node=node)
        return self.facts.place(int(tree.function[around]), line_node=around)

    def _hot_lines(self) -> list[tuple[int, int, float]]:
        """Source lines of the program by the time that counts for them, the hottest first: (a node of the line, the loop of the
        profile around it or −1, time). A line that was inlined into several loops is several.
        """
        facts, tree = self.facts, self.facts.profile.tree
        weight = facts.of(*COMPUTING)
        counted, site = facts.with_lines(weight)
        if not len(counted):
            return []
        is_loop = (tree.kind == NodeKind.LOOP) & (tree.line > 0) & (tree.file >= 0)
        frame = is_one_of(tree.kind, FUNCTION_KINDS) & (tree.kind != NodeKind.INLINED)
        around = tree.nearest(is_loop | frame)[site]
        around = np.where((around >= 0) & is_loop[np.maximum(around, 0)], around, np.int32(-1))
        outer, own = np.where(around >= 0, tree.lines[around], -1), tree.lines[site]
        order = np.lexsort((-weight[counted], own, outer))
        changed = (own[order][1:] != own[order][:-1]) | (outer[order][1:] != outer[order][:-1])
        first = np.flatnonzero(np.append(True, changed))
        sums = np.add.reduceat(weight[counted][order], first)
        chosen = order[first]
        hottest = np.argsort(-sums, kind="stable")[:MOST_LINES]
        hottest = hottest[sums[hottest] >= LEAST_SHARE * facts.total]
        columns = site[chosen[hottest]], around[chosen[hottest]], sums[hottest]
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def _loop_at(self, node: int, around: int, numbers: Sequence[int]) -> tuple[int, bool] | None:
        """The line of the loop of the records that holds a hot line, and whether that is certain; `around` is the profile's loop."""
        tree = self.facts.profile.tree
        if not numbers:
            return None
        if around >= 0:
            begin, end = self._extent(around)
            # Debug information may give the loop the line of its first statement.
            inside = list(numbers[bisect_right(numbers, begin - 3) : bisect_right(numbers, end)])
            header = int(tree.line[around])
            return (min(inside, key=lambda number: (abs(number - header), number)), True) if inside else None
        line = int(tree.line[node])
        at = bisect_right(numbers, line) - 1
        if at < 0 or line - numbers[at] > cause("not-vectorised").threshold("nearest_loop"):
            return None
        function = tree.function[node]
        start = int(tree.line[function]) if function >= 0 and tree.file[function] == tree.file[node] else 0
        if 0 < start <= line and numbers[at] < start:
            return None
        return numbers[at], numbers[at] == line

    def _extent(self, loop: int) -> tuple[int, int]:
        """First and last line of a loop of the tree, without those of functions that were inlined into it."""
        if loop not in self._loops:
            tree = self.facts.profile.tree
            below = slice(loop, int(tree.end[loop]))
            mine = (
                (tree.file[below] == tree.file[loop])
                & (tree.line[below] > 0)
                & (tree.function[below] == tree.function[loop])
            )
            lines = tree.line[below][mine]
            self._loops[loop] = (int(lines.min()), int(lines.max()))
        return self._loops[loop]

    def loop_of(self, place: Place) -> HotLoop | None:
        """The hot loop that holds a place of a finding."""
        if place.file is None or place.line is None:
            return None
        return next((loop for loop in self.hot_loops if (place.file, place.line) in loop.lines), None)

    def loops_itself(self, node: int) -> bool:
        """True if a line of the program (as a node) lies in a loop of its own function, by the profile or by the records."""
        tree = self.facts.profile.tree
        file = tree.file_name(node)
        if self.facts.innermost_loop(node) >= 0:
            return True
        return file is not None and tree.line[node] > 0 and self._loop_at(node, -1, sorted(self._at(file))) is not None

    # -- calls -----------------------------------------------------------------------------------------------

    @cached_property
    def refused(self) -> dict[str, list[CompilerRecord]]:
        """Calls that were not inlined, by the callee's own name without scopes and template arguments."""
        found: dict[str, list[CompilerRecord]] = defaultdict(list)
        for record in self.build.records:
            if record.outcome == Outcome.NOT_INLINED and record.callee:
                found[base_key(record.callee)].append(record)
        return found

    def calls_of(self, function: str) -> tuple[CompilerRecord, ...]:
        """Calls of a function that were not inlined."""
        return tuple(
            record
            for record in self.refused.get(base_key(readable_function(function)), ())
            if _same(record.callee, function)
        )

    # -- files -----------------------------------------------------------------------------------------------

    @cached_property
    def units(self) -> dict[str, CompiledUnit]:
        """Files that were compiled, by name; the last word counts where a file was compiled twice.

        Of units without a name, the optimised ones count: they contradict any word about the whole program.
        """
        known = [unit for unit in self.build.units if unit.optimised is not None and unit.options != DEVICE_DEBUG]
        return {unit.file: unit for unit in sorted(known, key=lambda unit: bool(unit.optimised and not unit.file))}

    @property
    def optimised(self) -> bool:
        """True if any file was compiled with optimisation."""
        return any(unit.optimised for unit in self.units.values())

    def without_optimisation(self) -> tuple[BoolArray, tuple[CompiledUnit, ...]]:
        """Nodes that count for code compiled without optimisation, and what says so, the word about the hottest file first.

        A word about the whole program (no file named) holds only if none contradicts it.
        """
        facts, tree = self.facts, self.facts.profile.tree
        bad = [unit for unit in self.units.values() if unit.optimised is False]
        if not bad:
            return np.zeros(len(tree), dtype=bool), ()
        named = FileIndex(unit.file for unit in self.units.values() if unit.file)
        files = np.zeros(len(tree.files) + 1, dtype=bool)
        said: dict[CompiledUnit, None] = {}
        for number in np.argsort(-facts.computing_by_file, kind="stable").tolist():
            units = [self.units[name] for name in named.find(tree.files[number])]
            if units and all(unit.optimised is False for unit in units):
                files[number] = True
                said.update(dict.fromkeys(units))
        if not said and "" in self.units and all(unit.optimised is False for unit in self.units.values()):
            files[:-1] = True
            said[self.units[""]] = None
        return files[facts.site_file], tuple(said)


def units_of(build: Build | None, file: str) -> tuple[CompiledUnit, ...]:
    """How a file was compiled, as far as records tell."""
    units = () if build is None else build.units
    named = FileIndex(unit.file for unit in units if unit.file).find(file)
    return tuple(unit for unit in units if unit.file in named)


def resources_of(build: Build, kernel: str, capability: str) -> KernelResources | None:
    """What ptxas gave a kernel: on the device's architecture, else on the newest; None if it is not in the log."""
    key, base = kernel_key(kernel), base_key(kernel)
    every = [item for item in build.kernels if kernel_key(item.kernel) == key]
    if not every:
        same = [item for item in build.kernels if base_key(item.kernel) == base]
        if len({kernel_key(item.kernel) for item in same}) != 1 or "<" in key:
            return None
        every = same
    wanted = "sm_" + capability.replace(".", "")
    return next((item for item in every if item.architecture == wanted), max(every, key=_generation))


def _generation(item: KernelResources) -> tuple[int, str]:
    """Orders architectures: sm_100 is newer than sm_90a."""
    return int("".join(filter(str.isdigit, item.architecture)) or 0), item.architecture


def _of_function(records: Sequence[CompilerRecord], function: str) -> tuple[CompilerRecord, ...]:
    """Of records that contradict each other those of `function`, if they name it; a loop is compiled once for each copy."""
    if len({record.outcome for record in records}) > 1:
        mine = tuple(record for record in records if record.function and _same(record.function, function))
        if mine:
            return mine
    return tuple(records)


def _same(one: str, other: str) -> bool:
    """True for two spellings of a function's name: scopes may lack in one."""
    first, second = kernel_key(readable_function(one)), kernel_key(readable_function(other))
    return first == second or first.endswith(f"::{second}") or second.endswith(f"::{first}")
