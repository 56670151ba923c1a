"""JSON of rocprofv3: agents, names of kernels, and records of calls, kernels, copies and counters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from chathpc.adapters.content import read_text
from chathpc.adapters.rocprof.intake import Intake, facts_of
from chathpc.adapters.traced.json_text import JsonText
from chathpc.adapters.traced.recording import Facts, integer
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile
from chathpc.profile.remark import Device
from chathpc.profile.text import clean
from chathpc.profile.tree import NodeKind

_CALLS = ("hip_api", "hsa_api", "marker_api", "rccl_api", "rocdecode_api", "rocjpeg_api", "ompt")
_GPU = 2
_ORIGINS = ("callback_records", "buffer_records")
#: What is kept of the results of a process, and of a kernel's symbol, the best of its names first.
_NEEDED = ("metadata", "agents", "counters", "strings")
_NAMES = ("formatted_kernel_name", "demangled_kernel_name", "kernel_name")
_SYMBOL = (*_NAMES, "arch_vgpr_count", "accum_vgpr_count")


def read(path: Path) -> Profile:
    """Read the JSON file at `path`, compressed or not. Memory: its text, and about 100 bytes for each record."""
    text = JsonText(read_text(path), path)
    intake = Intake(path)
    devices: dict[int, Device] = {}
    processes: list[_Process] = []
    for key in text.members() if text.begins("{") else ():
        if key == "rocprofiler-sdk-tool" and text.begins("["):
            for _ in text.elements():
                if text.begins("{"):
                    processes.append(_Process(text, intake, devices))
                    processes[-1].read()
                else:
                    text.value()
    if not processes:
        raise AdapterError(
            "contains no results of rocprofv3", path=path, hint="Write it again: rocprofv3 --output-format json."
        )
    dropped = sum(one.dropped for one in processes)
    caveats = [f"{dropped:,} records are damaged and were skipped."] if dropped else []
    return intake.profile(format="rocprofv3 JSON", tool="rocprofv3", devices=devices, caveats=caveats)


class _Process:
    """The results of one process: names first, then the records, wherever they stand in the file."""

    def __init__(self, text: JsonText, intake: Intake, devices: dict[int, Device]) -> None:
        self.text = text
        self.intake = intake
        self.devices = devices
        self.tool: dict[str, Any] = {}
        self.process = 0
        self.kernels: dict[int, dict[str, Any]] = {}
        self.ordinal: dict[int, int] = {}
        self.names: dict[str, dict[int, tuple[str, list[str]]]] = {}
        self.messages: dict[int, str] = {}
        self.counters: dict[int, str] = {}
        self.dropped = 0

    def read(self) -> None:
        """Read the object that is next in the text."""
        text = self.text
        records: list[tuple[str, int]] = []
        passed: set[str] = set()
        for key in text.members():
            if key in _ORIGINS and text.begins("{"):
                if passed.issuperset((*_NEEDED, "kernel_symbols")):
                    self._prepare()
                    self._read_records(key)
                else:
                    records.append((key, text.at))
                    self._read_records(None)
            elif key == "kernel_symbols" and text.begins("["):
                for symbol in self._objects():
                    if (number := integer(symbol.get("kernel_id"))) is not None:
                        self.kernels[number] = {key: symbol[key] for key in _SYMBOL if key in symbol}
            elif key in _NEEDED:
                self.tool[key] = text.value()
            passed.add(key)
        end = text.at
        self._prepare()
        for origin, text.at in records:
            self._read_records(origin)
        text.at = end

    def _objects(self) -> Iterator[dict[str, Any]]:
        """The objects in the array that is next in the text."""
        for _ in self.text.elements():
            value = self.text.value()
            if isinstance(value, dict):
                yield value

    def _read_records(self, origin: str | None) -> None:
        """Take the records of an origin in; without one they are only passed by."""
        for group in self.text.members():
            if self.text.begins("["):
                take = None if origin is None else self._taker(group, origin)
                for record in self._objects():
                    if take is not None:
                        take(record)

    def _taker(self, group: str, origin: str) -> Callable[[dict[str, Any]], object] | None:
        """What takes the records of a group in."""
        if group in _CALLS:
            return lambda record: self._call(record, origin, marker=group == "marker_api")
        if group == "memory_copy":
            return lambda record: self._copy(record, origin)
        return {
            "kernel_dispatch": self._kernel, "counter_collection": self._counters, "memory_allocation": self._allocation,
            "pc_sample_host_trap": self._sample, "pc_sample_stochastic": self._sample,
        }.get(group)  # fmt: skip

    def _prepare(self) -> None:
        """Take the names that records refer to from what was read."""
        self.process = integer(_at(self.tool, "metadata", "pid")) or 0
        self._read_agents()
        strings = _member(self.tool, "strings")
        self.names = {origin: _operations(strings, origin) for origin in _ORIGINS}
        for entry in _records(strings, "marker_api"):
            if (key := integer(entry.get("key"))) is not None and isinstance(value := entry.get("value"), str):
                self.messages[key] = value
        for entry in _records(self.tool, "counters"):
            if (key := integer(_at(entry, "id", "handle"))) is not None and isinstance(name := entry.get("name"), str):
                self.counters[key] = name[:200]

    def _read_agents(self) -> None:
        for agent in _records(self.tool, "agents"):
            handle = integer(_at(agent, "id", "handle"))
            if handle is None or integer(agent.get("type")) != _GPU:
                continue
            ordinal = integer(agent.get("logical_node_type_id"))
            if ordinal is None or not 0 <= ordinal < 4096:
                ordinal = len(self.ordinal)
            self.ordinal[handle] = ordinal
            clock, units = integer(agent.get("max_engine_clk_fcompute")), integer(agent.get("cu_count"))
            name, architecture = agent.get("product_name") or agent.get("name"), agent.get("name")
            self.devices.setdefault(
                ordinal,
                Device(
                    clean(name[:200]) if isinstance(name, str) else "GPU",
                    multiprocessors=units if units and units > 0 else None,
                    clock=clock * 1e6 if clock and clock > 0 else None,
                    capability=clean(architecture[:40]) if isinstance(architecture, str) else "",
                ),
            )

    # -- records -------------------------------------------------------------------------------------------

    def _call(self, record: dict[str, Any], origin: str, *, marker: bool) -> None:
        times = _times(record)
        kind, operation = integer(record.get("kind")), integer(record.get("operation"))
        if times is None or kind is None or operation is None:
            self.dropped += 1
            return
        domain, names = self.names[origin].get(kind, ("", []))
        name = names[operation] if 0 <= operation < len(names) else f"{domain or 'operation'} {operation}"
        correlation = integer(_at(record, "correlation_id", "internal"))
        if marker:
            domain, name = "MARKER", self.messages.get(correlation or -1, name)
        thread = integer(record.get("thread_id")) or 0
        self.intake.call(self.process, thread, name, *times, correlation, domain or "API")

    def _kernel(self, record: dict[str, Any]) -> int | None:
        info = _member(record, "dispatch_info")
        times, kernel = _times(record), integer(info.get("kernel_id"))
        if times is None or kernel is None:
            self.dropped += 1
            return None
        stream = integer(_at(record, "stream_id", "handle"))
        if stream is None:
            stream = integer(_at(info, "queue_id", "handle"))
        return self.intake.kernel(
            self.process, self._device(info), stream, self._name(kernel), *times,
            correlation=integer(_at(record, "correlation_id", "internal")), dispatch=integer(info.get("dispatch_id")),
            facts=self._facts(info, kernel),
        )  # fmt: skip

    def _name(self, kernel: int) -> str:
        symbol = self.kernels.get(kernel, {})
        names = (symbol.get(key) for key in _NAMES)
        return next((name for name in names if isinstance(name, str) and len(name) > 1), f"kernel {kernel}")

    def _facts(self, info: dict[str, Any], kernel: int) -> Facts:
        symbol = self.kernels.get(kernel, {})
        grid, group = _member(info, "grid_size"), _member(info, "workgroup_size")
        return facts_of(
            [integer(grid.get(axis)) for axis in "xyz"], [integer(group.get(axis)) for axis in "xyz"],
            [integer(symbol.get("arch_vgpr_count")), integer(symbol.get("accum_vgpr_count"))],
            integer(info.get("group_segment_size")),
        )  # fmt: skip

    def _device(self, holder: dict[str, Any], key: str = "agent_id") -> int | None:
        handle = integer(_at(holder, key, "handle"))
        return None if handle is None else self.ordinal.get(handle)

    def _copy(self, record: dict[str, Any], origin: str) -> None:
        times, operation = _times(record), integer(record.get("operation"))
        if times is None or operation is None:
            self.dropped += 1
            return
        _, names = self.names[origin].get(integer(record.get("kind")) or -1, ("", []))
        name = names[operation] if 0 <= operation < len(names) else "MEMORY_COPY"
        target = self._device(record, "dst_agent_id")
        self.intake.copy(
            self.process, self._device(record, "src_agent_id") if target is None else target,
            integer(_at(record, "stream_id", "handle")), name, *times,
            correlation=integer(_at(record, "correlation_id", "internal")), size=integer(record.get("bytes")),
        )  # fmt: skip

    def _counters(self, record: dict[str, Any]) -> None:
        dispatch_data = _member(record, "dispatch_data")
        info = _member(dispatch_data, "dispatch_info")
        dispatch, kernel = integer(info.get("dispatch_id")), integer(info.get("kernel_id"))
        if dispatch is None or kernel is None:
            self.dropped += 1
            return
        known = self.intake.dispatches.get((self.process, dispatch))
        if known is None and _times(dispatch_data) is not None:
            known = self._kernel(dispatch_data)
        if known is None:
            facts = self._facts(info, kernel)
            known = self.intake.counted(self.process, self._device(info), self._name(kernel), dispatch, facts)
        for entry in _records(record, "records"):
            counter, value = integer(_at(entry, "counter_id", "handle")), entry.get("value")
            if (
                counter is not None
                and isinstance(value, int | float)
                and not isinstance(value, bool)
                and abs(value) < 1e300
            ):
                name = self.counters.get(counter, f"counter {counter}")
                self.intake.recording.counter(name, known, float(value))

    def _allocation(self, record: dict[str, Any]) -> None:
        correlation = integer(_at(record, "correlation_id", "internal"))
        self.intake.allocation(self.process, correlation, integer(record.get("allocation_size")))

    def _sample(self, entry: dict[str, Any]) -> None:
        texts = _at(self.tool, "strings", "pc_sample_instructions")
        dispatch, at = integer(_at(entry, "record", "dispatch_id")), integer(entry.get("inst_index"))
        if dispatch is None:
            self.dropped += 1
            return
        known = isinstance(texts, list) and at is not None and 0 <= at < len(texts) and isinstance(texts[at], str)
        text = texts[at] if known else "[unknown instruction]"
        kernel = self.intake.counted(self.process, None, f"kernel of dispatch {dispatch}", dispatch)
        self.intake.recording.sample(kernel, self.intake.recording.frame_of(NodeKind.INSTRUCTION, text))


def _operations(strings: dict[str, Any], origin: str) -> dict[int, tuple[str, list[str]]]:
    """Names of the kinds of records and of their operations, by number."""
    found = {}
    kinds = strings.get(origin)
    for number, entry in enumerate(kinds if isinstance(kinds, list) else []):
        if isinstance(entry, dict) and isinstance(entry.get("kind"), str):
            operations = entry.get("operations")
            names = [str(name)[:400] for name in operations] if isinstance(operations, list) else []
            found[number] = (entry["kind"][:200], names)
    return found


def _records(holder: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    """The objects of a list."""
    records = holder.get(key)
    return (record for record in (records if isinstance(records, list) else ()) if isinstance(record, dict))


def _member(holder: dict[str, Any], key: str) -> dict[str, Any]:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}


def _at(holder: dict[str, Any], *keys: str) -> Any:
    """A value inside of objects inside of objects, None where a step is missing."""
    value: Any = holder
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _times(record: dict[str, Any]) -> tuple[int, int] | None:
    start, end = integer(record.get("start_timestamp")), integer(record.get("end_timestamp"))
    return None if start is None or end is None else (start, end)
