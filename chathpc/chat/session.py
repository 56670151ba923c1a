"""What a conversation is about: the loaded profiles, the diagnosis, and the tables that tools look things up in, each made once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from chathpc.chat.asker import PROGRAM, Asker
from chathpc.chat.index import NameIndex, called, of_profiler, short_name
from chathpc.chat.ratios import Ratio, ratios
from chathpc.errors import ChathpcError, UsageError
from chathpc.profile import numbers
from chathpc.profile.metric import Aggregation, Metric, Unit
from chathpc.profile.profile import COMMAND, TIME_METRICS, Profile
from chathpc.profile.source_text import Provenance
from chathpc.profile.tables import TableRows, group_nodes, rows_of
from chathpc.profile.tree import BoolArray, FloatArray, IntArray, NodeKind
from chathpc.prompts.untrusted import quote

if TYPE_CHECKING:
    from chathpc.comparison.record import Diff
    from chathpc.diagnosis.facts import Facts
    from chathpc.diagnosis.records import Diagnosis
    from chathpc.report import Report
    from chathpc.reports.rows import Level
    from chathpc.scale.record import Scaling

#: Between the names of a call path, as the tools write and read it.
PATH_SEPARATOR = " > "

#: A function that has so much of the time with all that it calls is the program.
_WHOLE = 0.99
#: Longer names (in characters) are told by their short ones.
_READABLE = 80

Progress = Callable[[str], None]
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A place that was asked for: `title` names it, `nodes` are all nodes at which it begins (ascending)."""

    title: str
    nodes: IntArray


class Session:
    """A profile to ask about, and others to compare it with (by name).

    Nothing of it changes the profile. `series` are the folders of a series of runs, of which `profile` is the largest. `patterns` is a folder
    with the user's own patterns, `asker` decides what hints say.
    Whatever is computed is kept; `prepare` computes at once what most questions need, so that a question after it takes no longer
    than its answer.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        paths: Sequence[Path] = (),
        others: Mapping[str, Profile] | None = None,
        series: Sequence[Path] = (),
        patterns: Path | None = None,
        asker: Asker = PROGRAM,
    ) -> None:
        self.measured = profile
        self.paths = tuple(paths)
        self.others = dict(others or {})
        self.series = tuple(series)
        self.patterns = patterns
        self.asker = asker
        self._made: dict[object, Any] = {}

    def prepare(self, progress: Progress | None = None) -> None:
        """Diagnose the profile, build the indexes, and compare with the other profile if there is one."""
        from chathpc.chat.tools.locations import computing_by_function

        tell = progress or (lambda stage: None)
        tell("diagnosing")
        _ = self.diagnosis
        tell("indexing")
        _ = self.index
        if self.measured.time is not None:
            self.level("function")
            self.rows("line", self.measured.time)
        if self.facts.has_host_time and self.facts.thread_count > 1:
            computing_by_function(self)
        if len(self.others) == 1:  # of several one is named first
            tell("comparing")
            with suppress(ChathpcError):  # told to who asks for it
                self.compared(next(iter(self.others)), "")

    def scaled(self, parameter: str = "", value: float = 0.0) -> Scaling:
        """What the series says, of a value of a parameter (empty: the one that the runs vary; 0: four times the largest)."""
        from chathpc.scale.scaling import scaling_of
        from chathpc.scale.series import Series, known_name, read_series, series_of

        read: Series = self.once("series", lambda: read_series(self.series))
        name = known_name(parameter) if parameter else read.parameter
        if name != read.parameter:
            read = self.once(
                f"series along {name}", lambda: series_of((*read.runs, *read.others), read.source, parameter=name)
            )
        return self.once(f"scaling {name} {value}", lambda: scaling_of(read, [{name: value}] if value else []))

    def leave_out_found(self) -> None:
        """Forget source that was only found by its name, the program's arguments, and what was said of them: a hosted model may be asked from now on."""
        read = Provenance.FOUND in self.measured.sources_found.values() or COMMAND in self.measured.run
        self.measured = self.measured.only_shown()
        self.others = {name: other.only_shown() for name, other in self.others.items()}
        if read:
            for name, value in vars(type(self)).items():
                if isinstance(value, cached_property):
                    vars(self).pop(name, None)
            self._made.clear()

    # -- the diagnosis -------------------------------------------------------------------------------------

    @cached_property
    def facts(self) -> Facts:
        """The profile as the rules see it."""
        from chathpc.diagnosis.facts import Facts

        return Facts(self.measured)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """Verdict, findings and evidence."""
        from chathpc.diagnosis.catalogue import extended
        from chathpc.diagnosis.diagnose import diagnose

        with extended(self.patterns):
            return diagnose(self.measured, self.facts)

    @cached_property
    def report(self) -> Report:
        """The report of `chathpc explain --llm none`, of the same diagnosis."""
        from chathpc.diagnosis.catalogue import extended
        from chathpc.fix.recipes.exact import exact_changes
        from chathpc.pipeline import report_of

        with extended(self.patterns):
            return report_of(self.measured, self.facts, self.diagnosis, propose=exact_changes)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What to bear in mind of the profile, as the report says it."""
        helpers = self.measured.helpers.sentence
        return (*([helpers] if helpers else []), *self.measured.caveats)

    @property
    def unseen(self) -> str:
        """What a thread did that the profile saw least of, and how much that is, as a sentence; empty where it saw all."""
        if not self.facts.has_host_time or not self.facts.unseen:
            return ""
        location, seen, passed = max(self.facts.unseen, key=lambda each: each[2] - each[1])
        label = self.measured.where.label(location)
        return f" Of {label}, samples show {numbers.seconds(seen)} of {numbers.seconds(passed)}: what it did in the rest is unknown."

    # -- metrics -------------------------------------------------------------------------------------------

    def metric(self, name: str = "") -> Metric:
        """The metric of that id or name, by default the host's time, else the GPU's, else the first with values.

        UsageError, with the nearest names, if there is none, or if its values do not add up.
        """
        found = self.any_metric(name)
        if found.aggregation == Aggregation.DERIVED or not found.has_values:
            why = "has no values" if not found.has_values else "does not add up over functions or contexts"
            raise UsageError(f"The metric '{found.id}' {why}.", hint=f"These do: {', '.join(self.additive[:8])}.")
        return found

    @cached_property
    def additive(self) -> list[str]:
        """Ids of the metrics that have values which can be added up."""
        return [
            quote(metric.id)
            for metric in self.measured.metrics.values()
            if metric.has_values and metric.aggregation != Aggregation.DERIVED and not metric.hidden
        ]

    @cached_property
    def of_devices(self) -> bool:
        """Whether nothing but work of GPUs was measured: what else the run did is not known."""
        return all(one.id.startswith("gpu.") for one in self.measured.metrics.values() if one.has_values)

    @cached_property
    def ratios(self) -> dict[str, Ratio]:
        """Rates and means that follow from the metrics, by id."""
        found = ratios(self.measured.metrics)
        return {id: one for id, one in found.items() if self.measured.total(one.below) > 0}

    def any_metric(self, name: str) -> Metric:
        """The same, whether its values add up or not."""
        known = self.measured.metrics
        if not name.strip():
            default = next((known[one] for one in ("gpu.kernel.time", *self.additive) if one in self.additive), None)
            chosen = self.measured.time or default
            if chosen is None:
                raise UsageError("This profile has no metric with values.")
            return chosen
        wanted = name.strip().casefold()
        for metric in known.values():
            if wanted in (metric.id.casefold(), metric.source_name.casefold()):
                return metric
        near = get_close_matches(wanted, known, n=3, cutoff=0.4)
        near += [one for one in known if wanted in one and one not in near]
        hint = f"Nearest: {', '.join(near[:3])}." if near else f"There are: {', '.join(self.additive[:8])}."
        raise UsageError(f"This profile has no metric '{quote(name)}'.", hint=hint)

    def metric_at(self, name: str, target: Target) -> Metric:
        """The metric of that id or name; by default the time in which a place has values of its own: of calls that were traced theirs, of
        kernels the GPU's, where none of them is in the host's time or that is but sampled.
        """
        chosen = self.metric(name)
        if name.strip() or (chosen.unit == Unit.SECONDS and self.value_at(target, chosen)[0] > 0):
            return chosen
        times = (self.measured.metrics[one] for one in TIME_METRICS if one in self.additive)
        return next((one for one in times if one.unit == Unit.SECONDS and self.value_at(target, one)[0] > 0), chosen)

    def total(self, metric: Metric) -> float:
        """Sum of a metric over the program's own threads, in its unit."""
        return self.measured.total(metric.id)

    # -- tables --------------------------------------------------------------------------------------------

    def rows(self, by: str, metric: Metric) -> TableRows:
        """The profile by function, line, loop, module or kernel."""
        grouping = self.once(("grouping", by), lambda: group_nodes(self.measured.tree, by))
        return self.once(("rows", by, metric.id), lambda: rows_of(self.measured, metric, grouping))

    def level(self, by: str) -> Level:
        """The tree of functions, of functions and loops, or of lines too."""
        from chathpc.reports.rows import level

        return self.once(("level", by), lambda: level(self.measured.tree, by))

    def compared(self, name: str, metric: str) -> Diff:
        """The comparison of the profile `name` (before) with this one (after)."""
        from chathpc.comparison.compare import diff

        return self.once(
            ("compared", name, metric), lambda: diff(self.others[name], self.measured, metric=metric or None)
        )

    def before(self, name: str) -> Session:
        """The profile `name` that was loaded for comparison, to ask about."""
        return self.once(("before", name), lambda: Session(self.others[name], patterns=self.patterns, asker=self.asker))

    def once(self, key: object, make: Callable[[], Made]) -> Made:
        """What `make` returns, made at the first time that `key` is asked for."""
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made

    # -- places --------------------------------------------------------------------------------------------

    @cached_property
    def index(self) -> NameIndex:
        """Names of functions, kernels and regions, those with most of the time first."""
        labels, texts = self.measured.tree.function_labels
        try:
            names = self.rows("function", self.metric()).name
        except UsageError:
            names = []
        present = np.unique(labels).tolist()
        return NameIndex([*names, *(texts[number] for number in present)])

    @property
    def has_kernels(self) -> bool:
        """Whether any work of GPUs is in the tree."""
        return bool((self.measured.tree.kind == NodeKind.GPU_KERNEL).any())

    @cached_property
    def files(self) -> dict[str, list[int]]:
        """Base name of each source file → numbers of the files of that name."""
        found: dict[str, list[int]] = {}
        for number, path in enumerate(self.measured.tree.files):
            if path and not path.startswith(("[", "<")):
                found.setdefault(path.rsplit("/", 1)[-1].casefold(), []).append(number)
        return found

    @cached_property
    def modules(self) -> frozenset[str]:
        """Base names of the load modules in small letters, whole and without their ending: libgomp.so.1.0.0, libgomp."""
        names = [path.rsplit("/", 1)[-1].casefold() for path in self.measured.tree.modules if path]
        return frozenset([*names, *(name.split(".", 1)[0] for name in names)]) - {""}

    @cached_property
    def is_head(self) -> BoolArray:
        """For each node whether a function or region begins at it."""
        tree = self.measured.tree
        return np.asarray(tree.function == np.arange(len(tree)))

    def nodes_named(self, names: Sequence[str]) -> IntArray:
        """Nodes of the functions with these names, ascending."""
        labels, texts = self.measured.tree.function_labels
        number = self._number_of_name
        wanted = [number[name] for name in names if name in number]
        chosen = np.zeros(len(texts), dtype=bool)
        chosen[wanted] = True
        return np.flatnonzero(self.is_head & chosen[labels]).astype(np.int32)

    @cached_property
    def _number_of_name(self) -> dict[str, int]:
        return {text: number for number, text in enumerate(self.measured.tree.function_labels[1])}

    def find(self, text: str) -> Target:
        """The function (`solve`), call path (`main > solve`), file or line (`heat.c`, `heat.c:12`) that `text` names.

        UsageError, with the nearest names, if there is none.
        """
        parts = [part.strip() for part in text.split(PATH_SEPARATOR) if part.strip()]
        if len(parts) > 1 and text.strip() not in self.index.names:
            return self._along(parts)
        names = self.index.find(text)
        if names:
            return Target(_title(names), self.nodes_named(names))
        file, line = split_place(text)
        numbers = self.files.get(file.rsplit("/", 1)[-1].casefold(), [])
        if numbers:
            return self._in_file(numbers, line, text)
        raise self.no_place(text)

    def has_line(self, file: str, line: int) -> bool:
        """True unless `file` is a file of the profile of which no such line was measured."""
        numbers = self.files.get(file.rsplit("/", 1)[-1].casefold())
        tree = self.measured.tree
        return not line or not numbers or bool(np.any(np.isin(tree.file, numbers) & (tree.line == line)))

    @cached_property
    def own_lines(self) -> tuple[IntArray, FloatArray]:
        """Lines of the program's own source (as nodes) and the host's time there, libraries included; the one with most first."""
        facts = self.facts
        return facts.by_line(facts.time if facts.has_host_time else np.zeros(len(self.measured.tree)))

    def file_of_line(self, line: int) -> str:
        """The base name of the file that a line without one means: the one with most time at it, else with most time; empty for none."""
        try:
            table = self.rows("line", self.metric())
        except UsageError:
            return ""
        tree = self.measured.tree
        bases = [path.rsplit("/", 1)[-1] for path in tree.files]
        known = [base if base.casefold() in self.files else "" for base in bases]
        own = self.own_lines[0]
        for node in own[tree.line[own] == line].tolist():  # with what libraries do for it, as the report counts
            if name := known[int(tree.file[node])]:
                return name
        of_file = tree.file[table.node]
        for rows in (np.flatnonzero((tree.line[table.node] == line) & (of_file >= 0)), np.flatnonzero(of_file >= 0)):
            for row in rows.tolist():  # those with most time first
                if name := known[int(of_file[row])]:
                    return name
        return ""

    def no_place(self, text: str) -> UsageError:
        """The error for a name that nothing has, with the nearest names."""
        file = split_place(text)[0]
        near = self.index.nearest(text) + get_close_matches(file.casefold(), self.files, n=2)
        hint = f"Nearest: {', '.join(map(quote, near))}." if near else self.asker.see("top", "names")
        return UsageError(f"The profile has no function or file '{quote(text)}'.", hint=hint)

    def _in_file(self, numbers: Sequence[int], line: int, text: str) -> Target:
        tree = self.measured.tree
        chosen = np.zeros(len(tree.files) + 1, dtype=bool)
        chosen[list(numbers)] = True
        nodes = chosen[tree.file]
        if line:
            nodes &= tree.line == line
        found = np.flatnonzero(nodes).astype(np.int32)
        base = tree.files[numbers[0]].rsplit("/", 1)[-1]
        if not len(found):
            lines = np.unique(tree.line[chosen[tree.file]])
            near = lines[np.argsort(np.abs(lines - line), kind="stable")[:3]]
            raise UsageError(
                f"No line {line} of {quote(base)} was measured.",
                hint=f"Nearest: {', '.join(map(str, sorted(near.tolist())))}.",
            )
        return Target(f"{quote(base)}:{line}" if line else quote(base), found)

    def _along(self, parts: Sequence[str]) -> Target:
        """The nodes of the last of `parts` that lie below nodes of the parts before it, in their order."""
        tree = self.measured.tree
        below: BoolArray | None = None
        titles = []
        nodes: IntArray = np.empty(0, dtype=np.int32)
        for part in parts:
            names = self.index.find(part)
            if not names:
                raise self.no_place(part)
            titles.append(_title(names))
            nodes = self.nodes_named(names)
            if below is not None:
                nodes = nodes[below[nodes]]
            if not len(nodes):
                raise UsageError(
                    f"There is no call path {quote(PATH_SEPARATOR.join(titles))}.", hint=self.asker.see("callers")
                )
            below = tree.inside(nodes)
            below[tree.outermost(nodes)] = False
        return Target(PATH_SEPARATOR.join(titles), nodes)

    # -- values at places ----------------------------------------------------------------------------------

    def inclusive(self, metric: Metric) -> FloatArray:
        """Inclusive values of all nodes."""
        return self.measured.inclusive(metric.id).dense(len(self.measured.tree))

    def value_at(self, target: Target, metric: Metric) -> tuple[float, float]:
        """Exclusive and inclusive value of a place: the functions' own lines and loops, and all below; recursion counted once."""
        tree = self.measured.tree
        own = self.measured.exclusive(metric.id)
        member, topmost = np.zeros((2, len(tree) + 1), dtype=bool)
        member[target.nodes] = True
        topmost[tree.outermost(target.nodes)] = True
        of_functions = bool(np.all(self.is_head[target.nodes]))  # else a file or line: what stands in it in the source
        mine = member[tree.function[own.nodes] if of_functions else own.nodes]
        values = self.measured.inclusive(metric.id)
        inclusive = float(values.values[topmost[values.nodes]].sum())
        itself = float(own.values[mine].sum())
        return itself, max(inclusive, itself)

    def is_whole(self, target: Target, metric: Metric) -> bool:
        """Whether a place is the program itself: all of the time lies below it, in what it calls."""
        own, inclusive = self.value_at(target, metric)
        return inclusive > _WHOLE * self.total(metric) and own < inclusive / 2


def split_place(text: str) -> tuple[str, int]:
    """`heat.c:12` as file and line; line 0 where there is none."""
    file, colon, line = text.strip().rpartition(":")
    if colon and line.isascii() and line.isdigit() and len(line) < 9:
        return file, int(line)
    return text.strip(), 0


def _title(names: Sequence[str]) -> str:
    if len(names) > 1 and any(map(of_profiler, names)):
        return quote(called(names[0]))
    title = quote(names[0] if len(names[0]) <= _READABLE else short_name(names[0]))
    return title if len(names) == 1 else f"{title} (and {len(names) - 1} of the same short name)"
