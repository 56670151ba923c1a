"""rocpd databases of rocprofv3 (schema 3): read from the tables themselves, never through the views of the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from chathpc.adapters.content import object_in
from chathpc.adapters.rocprof.intake import Intake, facts_of
from chathpc.adapters.sqlite import Database, open_database, quoted
from chathpc.adapters.traced.recording import integer
from chathpc.profile.profile import Profile
from chathpc.profile.remark import Device
from chathpc.profile.text import clean

#: What stands behind the name of a table: the identifier of the run, with or without lines between its parts.
_RUN = re.compile(r"(?:_?[0-9a-f]{8}[0-9a-f_]{0,40})?")
#: Runs that were merged into one file.
_MOST_RUNS = 4096


def read(path: Path) -> Profile:
    """Read the database at `path`: one run, or several that were merged into one file."""
    intake = Intake(path)
    devices: dict[int, Device] = {}
    version = ""
    with open_database(path) as database:
        for run in _runs(database):
            reader = _Run(database, run, intake, devices)
            reader.take()
            version = version or reader.version
    return intake.profile(format="rocpd", tool="rocprofv3", version=version, devices=devices)


def _runs(database: Database) -> list[str]:
    """What the names of the tables of each run end with."""
    bases = ("rocpd_kernel_dispatch", "rocpd_region", "rocpd_memory_copy")
    found = {
        name[len(base) :]
        for name in database.tables
        for base in bases
        if name.startswith(base) and _RUN.fullmatch(name[len(base) :])
    }
    return sorted(found)[:_MOST_RUNS]


class _Run:
    """The tables of one run."""

    def __init__(self, database: Database, run: str, intake: Intake, devices: dict[int, Device]) -> None:
        self.database = database
        self.run = run
        self.intake = intake
        self.strings = self._texts("rocpd_string", "string")
        rows = self._rows("rocpd_metadata", ("tag", "value"))
        version = next((value for tag, value in rows if tag == "schema_version"), None)
        self.version = clean(str(version))[:80] if isinstance(version, (str, int)) else ""
        self.processes = self._identified("rocpd_info_process", "pid")
        self.nodes = self._identified("rocpd_info_process", "nid")
        self.threads = self._identified("rocpd_info_thread", "tid")
        self.ordinal: dict[int, int] = {}
        self._read_agents(devices)

    def take(self) -> None:
        """Put calls, kernels, copies, counters and allocations into the intake."""
        self._regions()
        events = self._kernels()
        self._copies()
        self._counters(events)
        self._allocations()

    # -- tables --------------------------------------------------------------------------------------------

    def _rows(self, base: str, needed: tuple[str, ...], wanted: tuple[str, ...] = ()) -> Iterator[tuple[object, ...]]:
        return self.database.select(base + self.run, needed, wanted)

    def _with_event(self, base: str, needed: tuple[str, ...], wanted: tuple[str, ...]) -> Iterator[tuple[object, ...]]:
        """Rows as `_rows` gives them, then number, category and stack of their event."""
        table, events = base + self.run, "rocpd_event" + self.run
        if not self.database.has(table, *needed):
            return
        if not self.database.has(table, "event_id") or not self.database.has(events, "id", "stack_id", "category_id"):
            for row in self._rows(base, needed, wanted):
                yield (*row, None, None, None)
            return
        present = set(self.database.columns(table))
        columns = [f"t.{quoted(n)}" for n in needed] + [f"t.{quoted(n)}" if n in present else "NULL" for n in wanted]
        yield from self.database.each(
            f"SELECT {', '.join(columns)}, e.id, e.category_id, e.stack_id FROM {quoted(table)} t "  # noqa: S608  quoted
            f"LEFT JOIN {quoted(events)} e ON e.id = t.event_id"
        )

    def _texts(self, base: str, *columns: str) -> dict[int, str]:
        """For each id of a table the first of some columns that has a text."""
        return {
            number: text
            for key, *texts in self._rows(base, ("id",), columns)
            if (number := integer(key)) is not None
            and (text := next((one for one in texts if isinstance(one, str) and one), None)) is not None
        }

    def _identified(self, base: str, column: str) -> dict[int, int]:
        found = {}
        for key, value in self._rows(base, ("id", column)):
            number, what = integer(key), integer(value)
            if number is not None and what is not None:
                found[number] = what
        return found

    def _read_agents(self, devices: dict[int, Device]) -> None:
        order = 0
        for key, kind, index, product, name in self._rows(
            "rocpd_info_agent", ("id", "type"), ("type_index", "product_name", "name")
        ):
            number, ordinal = integer(key), integer(index)
            if number is None or kind != "GPU":
                continue
            if ordinal is None or not 0 <= ordinal < 1 << 20:
                ordinal = order
            order += 1
            self.ordinal[number] = ordinal
            words = product if isinstance(product, str) and product else name
            architecture = clean(name[:40]) if isinstance(name, str) and name.startswith("gfx") else ""
            devices.setdefault(
                ordinal, Device(clean(words[:200]) if isinstance(words, str) else "GPU", capability=architecture)
            )

    # -- what happened -------------------------------------------------------------------------------------

    def _process(self, key: object) -> str:
        number = integer(key)
        pid = self.processes.get(number or 0, number or 0)
        several = len(set(self.nodes.values())) > 1
        return f"{pid} on node {self.nodes.get(number or 0, 0)}" if several else str(pid)

    def _regions(self) -> None:
        for pid, tid, start, end, name_id, extra, _event, category, stack in self._with_event(
            "rocpd_region", ("pid", "tid", "start", "end", "name_id"), ("extdata",)
        ):
            domain = self.strings.get(integer(category) or 0, "")
            name = self.strings.get(integer(name_id) or 0, "[unnamed]")
            if "MARKER" in domain.upper():
                name = _message(extra) or name
            thread = self.threads.get(integer(tid) or 0, integer(tid) or 0)
            self.intake.call(self._process(pid), thread, name, integer(start), integer(end), integer(stack), domain)

    def _kernels(self) -> dict[int, int]:
        """Kernels; the operation of each event."""
        symbols = self._texts("rocpd_info_kernel_symbol", "display_name", "kernel_name")
        registers = {
            integer(key): [integer(vector), integer(matrix)]
            for key, vector, matrix in self._rows(
                "rocpd_info_kernel_symbol", ("id",), ("arch_vgpr_count", "accum_vgpr_count")
            )
        }
        of_event: dict[int, int] = {}
        sizes = [f"{what}_size_{axis}" for what in ("grid", "workgroup") for axis in "xyz"]
        for row in self._with_event(
            "rocpd_kernel_dispatch", ("pid", "agent_id", "kernel_id", "start", "end"),
            ("queue_id", "stream_id", "dispatch_id", "group_segment_size", *sizes),
        ):  # fmt: skip
            pid, agent, kernel, start, end, queue, stream, dispatch, shared = (integer(value) for value in row[:9])
            event, _category, stack = (integer(value) for value in row[15:18])
            extent = [integer(value) for value in row[9:15]]
            number = self.intake.kernel(
                self._process(pid), self.ordinal.get(agent or 0), stream if stream is not None else queue,
                symbols.get(kernel or 0) or f"kernel {kernel}", start, end, correlation=stack, dispatch=dispatch,
                facts=facts_of(extent[:3], extent[3:], registers.get(kernel, []), shared),
            )  # fmt: skip
            if number is not None and event is not None:
                of_event[event] = number
        return of_event

    def _copies(self) -> None:
        for row in self._with_event(
            "rocpd_memory_copy", ("pid", "start", "end", "name_id"),
            ("dst_agent_id", "src_agent_id", "size", "queue_id", "stream_id"),
        ):  # fmt: skip
            pid, start, end, name, target, source, size, queue, stream, _event, _category, stack = (
                integer(value) for value in row
            )
            on_device = target if (target or 0) in self.ordinal else source
            self.intake.copy(
                self._process(pid), self.ordinal.get(on_device or 0), stream if stream is not None else queue,
                self.strings.get(name or 0, "copy"), start, end, correlation=stack, size=size,
            )  # fmt: skip

    def _counters(self, events: dict[int, int]) -> None:
        names = self._texts("rocpd_info_pmc", "symbol", "name")
        for event, counter, value in self._rows("rocpd_pmc_event", ("event_id", "pmc_id", "value")):
            operation = events.get(integer(event) or 0)
            if operation is not None and isinstance(value, (int, float)) and abs(value) < 1e300:
                name = names.get(integer(counter) or 0, f"counter {counter}")
                self.intake.recording.counter(name[:200], operation, float(value))

    def _allocations(self) -> None:
        for row in self._with_event("rocpd_memory_allocate", ("pid", "size"), ("type",)):
            if row[2] in (None, "ALLOC", "REALLOC"):
                self.intake.allocation(self._process(row[0]), integer(row[5]), integer(row[1]))


def _message(extra: object) -> str:
    """The text of a marker, which stands in its additional data."""
    message = object_in(extra).get("message")
    return message if isinstance(message, str) else ""
