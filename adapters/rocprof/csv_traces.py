"""The CSV files of rocprofv3: one alone, or all of a folder as one run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from chathpc.adapters.glance import Glance
from chathpc.adapters.rocprof import Table, columns_of, rows_of, table_of
from chathpc.adapters.rocprof.intake import Intake, facts_of
from chathpc.adapters.rocprof.statistics import read as read_statistics
from chathpc.adapters.traced.recording import Facts, integer
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile
from chathpc.profile.remark import Device
from chathpc.profile.text import clean
from chathpc.profile.tree import NodeKind

#: Files of one folder that are read.
_FILES = 2_000
_ORDER = (
    Table.AGENTS, Table.CALLS, Table.KERNELS, Table.COPIES, Table.COUNTERS, Table.ALLOCATIONS, Table.SAMPLES,
)  # fmt: skip
_AGENT = re.compile(r"(?:\w+ )?(\d{1,9})")
_PLACE = re.compile(r"(.{1,4000}):(\d{1,9})")
_PREFIX = re.compile(
    r"(.*?)_?(?:kernel|hip|hsa|marker|memory|rccl|counter|scratch|pc_sampling|agent|domain|ompt|rocdecode)_?.*"
)


#: Folders of the passes of one program that was run again for more counters: dispatches of one number are the same kernel.
_PASS = re.compile(r"(?:^|/)pmc_\d+(?:/|$)")


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    table: Table
    run: str  #: what the names of the files of one process begin with


def read(path: Path) -> Profile:
    """Read one file or a folder. Files of statistics alone give a profile without a timeline. Memory: the text of the
    largest file and about 100 bytes for each row of all."""
    files = _files(path)
    if not files:
        raise AdapterError("it contains no file of rocprofv3", path=path, hint="Give the output folder of rocprofv3.")
    if all(file.table in (Table.STATISTICS, Table.AGENTS) for file in files):
        return read_statistics(path, [file.path for file in files if file.table is Table.STATISTICS])
    reader = _Reader(path)
    for file in sorted(files, key=lambda file: (_ORDER.index(file.table) if file.table in _ORDER else 99, file.path)):
        reader.read(file)
    return reader.intake.profile(
        format="rocprofv3 CSV", tool="rocprofv3", devices=reader.devices, caveats=reader.caveats()
    )


def _files(path: Path) -> list[_File]:
    """The tables at a path: a file, or those of a folder and of folders up to two levels below."""
    if path.is_file():
        folder, candidates = path.parent, iter((path,))
    else:
        folder, patterns = path, ("*.csv", "*/*.csv", "*/*/*.csv")
        candidates = (found for pattern in patterns for found in sorted(islice(path.glob(pattern), _FILES)))
    files = []
    for candidate in islice(candidates, _FILES):
        table = table_of(columns_of(Glance(candidate).text))
        if table is not None:
            match = _PREFIX.fullmatch(candidate.stem)
            run = candidate.parent / (match[1] if match else candidate.stem)
            files.append(_File(candidate, table, str(run.relative_to(folder))))
    return files


class _Reader:
    """Puts rows into an intake."""

    def __init__(self, path: Path) -> None:
        self.intake = Intake(path)
        self.devices: dict[int, Device] = {}
        self._ordinal: dict[int, int] = {}
        self._process_of_run: dict[str, str] = {}
        self.unread = 0
        self.scratch = 0
        self.samples = 0

    def read(self, file: _File) -> None:
        """Take in all rows of a file."""
        take = {
            Table.AGENTS: self._agent, Table.CALLS: self._call, Table.KERNELS: self._kernel, Table.COPIES: self._copy,
            Table.COUNTERS: self._counter, Table.ALLOCATIONS: self._allocation, Table.SAMPLES: self._sample,
        }.get(file.table)  # fmt: skip
        if file.table is Table.SCRATCH:
            self.scratch += sum("FREE" not in row.get("operation", "") for row in rows_of(file.path))
        if take is None:
            return
        for row in rows_of(file.path):
            if not take(row, file.run):
                self.unread += 1

    def caveats(self) -> list[str]:
        """What was left out, in sentences."""
        found = []
        if self.unread:
            found.append(f"{self.unread:,} rows are damaged and were skipped.")
        if self.scratch:
            found.append(f"Scratch memory was allocated {self.scratch:,} times.")
        if self.samples:
            found.append(f"{self.samples:,} samples of instructions were taken.")
        return found

    # -- one row of each table -----------------------------------------------------------------------------

    def _agent(self, row: dict[str, str], run: str) -> bool:
        number = integer(row.get("logical_node_id"))
        if number is None:
            return False
        if row.get("agent_type", "").upper() == "GPU" and number not in self._ordinal:
            ordinal = self._ordinal[number] = len(self._ordinal)
            clock = integer(row.get("max_engine_clk_fcompute"))
            self.devices[ordinal] = Device(
                clean((row.get("product_name") or row.get("name") or "GPU")[:200]),
                multiprocessors=integer(row.get("cu_count")),
                clock=clock * 1e6 if clock else None,
                capability=clean(row.get("name", "")[:40]),
            )
        return True

    def _call(self, row: dict[str, str], run: str) -> bool:
        times, name = _times(row), row.get("function", "")
        if times is None or not name:
            return False
        process, domain = self._process(row, run), row.get("domain", "") or "API"
        self.intake.call(process, row.get("thread_id", ""), name, *times, integer(row.get("correlation_id")), domain)
        return True

    def _kernel(self, row: dict[str, str], run: str) -> bool:
        times, name = _times(row), row.get("kernel_name") or row.get("kernelname") or ""
        if times is None or not name:
            return False
        queue = integer(row.get("stream_id") or row.get("queue_id") or row.get("queue-id"))
        self.intake.kernel(
            self._process(row, run), self._device(row.get("agent_id") or row.get("gpu-id")), queue, name, *times,
            correlation=integer(row.get("correlation_id")), dispatch=integer(row.get("dispatch_id", row.get("index"))),
            facts=_facts(row),
        )  # fmt: skip
        return True

    def _copy(self, row: dict[str, str], run: str) -> bool:
        times, name = _times(row), row.get("direction", "")
        if times is None or not name:
            return False
        host = "HOST_TO" in name or "HtoD" in name
        device = self._device(row.get("destination_agent_id" if host else "source_agent_id"))
        self.intake.copy(
            self._process(row, run), device, integer(row.get("stream_id")), name, *times,
            correlation=integer(row.get("correlation_id")), size=integer(row.get("size") or row.get("bytes")),
        )  # fmt: skip
        return True

    def _counter(self, row: dict[str, str], run: str) -> bool:
        dispatch, value = integer(row.get("dispatch_id")), number(row.get("counter_value"))
        name, counter = row.get("kernel_name", ""), row.get("counter_name", "")
        if dispatch is None or value is None or not name or not counter:
            return False
        process, device = self._process(row, run), self._device(row.get("agent_id"))
        known = self.intake.dispatches.get((process, dispatch))
        if known is None:
            times = _times(row)
            if times is not None:
                known = self.intake.kernel(
                    process, device, integer(row.get("queue_id")), name, *times,
                    correlation=integer(row.get("correlation_id")), dispatch=dispatch, facts=_facts(row),
                )  # fmt: skip
            if known is None:
                known = self.intake.counted(process, device, name, dispatch, _facts(row))
        self.intake.recording.counter(counter[:200], known, value)
        return True

    def _allocation(self, row: dict[str, str], run: str) -> bool:
        times, size = _times(row), integer(row.get("allocation_size"))
        if times is None or size is None:
            return False
        if "FREE" in row.get("operation", "") or size <= 0:
            return True
        process, correlation = self._process(row, run), integer(row.get("correlation_id"))
        if not self.intake.allocation(process, correlation, size):
            call = self.intake.call(process, "allocations", row.get("operation", "allocation"), *times, None)
            if call is not None:
                self.intake.recording.allocate(call, size)
        return True

    def _sample(self, row: dict[str, str], run: str) -> bool:
        dispatch, instruction = integer(row.get("dispatch_id")), row.get("instruction", "")
        if dispatch is None:
            return False
        place = _PLACE.fullmatch(row.get("instruction_comment", ""))
        recording = self.intake.recording
        file, line = (place[1], int(place[2])) if place else ("", 0)
        frame = recording.frame_of(NodeKind.INSTRUCTION, instruction or "[unknown instruction]", file, line)
        kernel = self.intake.counted(self._process(row, run), 0, f"kernel of dispatch {dispatch}", dispatch)
        recording.sample(kernel, frame)
        self.samples += 1
        return True

    # -- places --------------------------------------------------------------------------------------------

    def _process(self, row: dict[str, str], run: str) -> str:
        """The process of a row; tables that do not name it belong to the one process whose calls bear the name of the run."""
        if _PASS.search(run):
            return "passes"
        named = row.get("process_id") or row.get("pid")
        if named:
            self._process_of_run.setdefault(run, named)
            return named
        found = self._process_of_run.get(run)
        if found is None and len(self._process_of_run) == 1:
            found = next(iter(self._process_of_run.values()))
        return run if found is None else found

    def _device(self, agent: str | None) -> int:
        """The GPU's ordinal from the table of agents, else the number that the agent goes by."""
        match = _AGENT.fullmatch((agent or "").strip().strip('"'))
        found = int(match[1]) if match else 0
        if agent is not None and agent.strip().upper().startswith("GPU"):
            return found
        return self._ordinal.get(found, found)


def _times(row: dict[str, str]) -> tuple[int, int] | None:
    start = integer(row.get("start_timestamp", row.get("beginns")))
    end = integer(row.get("end_timestamp", row.get("endns")))
    return None if start is None or end is None else (start, end)


def _facts(row: dict[str, str]) -> Facts:
    registers = [
        integer(row.get("vgpr_count", row.get("arch_vgpr"))),
        integer(row.get("accum_vgpr_count", row.get("accum_vgpr"))),
    ]
    shared = integer(row.get("lds_block_size", row.get("lds")))
    if "workgroup_size_x" in row:
        grid = [integer(row.get(f"grid_size_{axis}")) for axis in "xyz"]
        group = [integer(row.get(f"workgroup_size_{axis}")) for axis in "xyz"]
    else:
        grid, group = (
            [integer(row.get("grid_size", row.get("grd")))],
            [integer(row.get("workgroup_size", row.get("wgr")))],
        )
    return facts_of(grid, group, registers, shared)


def number(text: str | None) -> float | None:
    """A number as text; None for what is none, or not finite."""
    try:
        value = float((text or "")[:60])
    except ValueError:
        return None
    return value if -1e300 < value < 1e300 else None
