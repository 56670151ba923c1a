"""JSON of rocprofv3: agents, names of kernels, and records of calls, kernels, copies and counters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from chathpc.adapters.content import read_text
from chathpc.adapters.rocprof.intake import Intake, facts_of, integer
from chathpc.adapters.rocprof.outcome import profile_of
from chathpc.adapters.traced.json_text import JsonText
from chathpc.adapters.traced.recording import Facts
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile
from chathpc.profile.remark import Device
from chathpc.profile.text import clean
from chathpc.profile.tree import NodeKind

_CALLS = ("hip_api", "hsa_api", "marker_api", "rccl_api", "rocdecode_api", "rocjpeg_api", "ompt")
_GPU = 2
_ORIGINS = ("callback_records", "buffer_records")
#: What is kept of the results of a process, and of a kernel's symbol.
_NEEDED = ("metadata", "agents", "counters", "strings")
_SYMBOL = ("formatted_kernel_name", "demangled_kernel_name", "kernel_name", "arch_vgpr_count", "accum_vgpr_count")


def read(path: Path) -> Profile:
    """Read the JSON file at `path`, compressed or not. Memory: its text, and about 100 bytes for each record."""
    text = JsonText(read_text(path), path)
    intake = Intake(path)
    devices: dict[int, Device] = {}
    processes: list[_Process] = []

    def process(at: int) -> int:
        if not text.text.startswith("{", at):
            return text.value(at)[1]
        processes.append(_Process(text, intake, devices))
        return processes[-1].read(at)

    def member(key: str, at: int) -> int:
        if key == "rocprofiler-sdk-tool" and text.text.startswith("[", at):
            return text.elements(at, process)
        return text.value(at)[1]

    begin = text.skip(0)
    if text.text.startswith("{", begin):
        text.members(begin, member)
    if not processes:
        raise AdapterError(
            "contains no results of rocprofv3", path=path, hint="Write it again: rocprofv3 --output-format json."
        )
    dropped = sum(one.dropped for one in processes)
    caveats = [f"{dropped:,} records are damaged and were skipped."] if dropped else []
    return profile_of(path, intake, format="rocprofv3 JSON", tool="rocprofv3", devices=devices, caveats=caveats)


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
        self.gpus: set[int] = set()
        self.names: dict[str, dict[int, tuple[str, list[str]]]] = {}
        self.messages: dict[int, str] = {}
        self.dropped = 0
        self._counter_names: dict[int, str] | None = None

    def read(self, at: int) -> int:
        """Read the object at `at`; the offset behind it."""
        records: list[tuple[str, int]] = []

        def member(key: str, value_at: int) -> int:
            if key in _ORIGINS and self.text.text.startswith("{", value_at):
                records.append((key, value_at))
                return self._records_at(value_at, None)
            if key == "kernel_symbols" and self.text.text.startswith("[", value_at):
                return self.text.elements(value_at, self._symbol)
            value, end = self.text.value(value_at)
            if key in _NEEDED:
                self.tool[key] = value
            return end

        end = self.text.members(at, member)
        self._prepare()
        for key, value_at in records:
            self._records_at(value_at, key)
        return end

    def _records_at(self, at: int, origin: str | None) -> int:
        """Go through the records of an origin; without one they are only passed by."""

        def group(key: str, value_at: int) -> int:
            if not self.text.text.startswith("[", value_at):
                return self.text.value(value_at)[1]
            take = None if origin is None else self._taker(key, origin)

            def element(element_at: int) -> int:
                value, end = self.text.value(element_at)
                if take is not None and isinstance(value, dict):
                    take(value)
                return end

            return self.text.elements(value_at, element)

        return self.text.members(at, group)

    def _taker(self, group: str, origin: str) -> Callable[[dict[str, Any]], object] | None:
        """What takes the records of a group in."""
        if group in _CALLS:
            return lambda record: self._call(record, origin, marker=group == "marker_api")
        if group == "memory_copy":
            return lambda record: self._copy(record, origin)
        if group in ("pc_sample_host_trap", "pc_sample_stochastic"):
            return self._sample
        return {
            "kernel_dispatch": self._kernel, "counter_collection": self._counters, "memory_allocation": self._allocation,
        }.get(group)  # fmt: skip

    def _symbol(self, at: int) -> int:
        symbol, end = self.text.value(at)
        if isinstance(symbol, dict) and (number := integer(symbol.get("kernel_id"))) is not None:
            self.kernels[number] = {key: symbol[key] for key in _SYMBOL if key in symbol}
        return end

    def _prepare(self) -> None:
        """Take the names that records refer to from what was read."""
        self.process = integer(_at(self.tool, "metadata", "pid")) or 0
        self._read_agents(self.devices)
        strings = _member(self.tool, "strings")
        self.names = {origin: _operations(strings, origin) for origin in _ORIGINS}
        self.messages = {
            key: value
            for entry in _records(strings, "marker_api")
            if (key := integer(entry.get("key"))) is not None and isinstance(value := entry.get("value"), str)
        }

    def _read_agents(self, devices: dict[int, Device]) -> None:
        for agent in _records(self.tool, "agents"):
            handle = integer(_at(agent, "id", "handle"))
            if handle is None or integer(agent.get("type")) != _GPU:
                continue
            ordinal = integer(agent.get("logical_node_type_id"))
            if ordinal is None or not 0 <= ordinal < 4096:
                ordinal = len(self.gpus)
            self.ordinal[handle] = ordinal
            self.gpus.add(handle)
            clock, units = integer(agent.get("max_engine_clk_fcompute")), integer(agent.get("cu_count"))
            name = agent.get("product_name") or agent.get("name")
            devices.setdefault(
                ordinal,
                Device(
                    clean(name[:200]) if isinstance(name, str) else "GPU",
                    multiprocessors=units if units and units > 0 else None,
                    clock=clock * 1e6 if clock and clock > 0 else None,
                    capability=clean(str(agent.get("name"))[:40]) if isinstance(agent.get("name"), str) else "",
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
        if marker:
            domain = "MARKER"
            message = self.messages.get(integer(_at(record, "correlation_id", "internal")) or -1)
            name = message if message is not None else name
        correlation = integer(_at(record, "correlation_id", "internal"))
        self.intake.call(
            self.process, integer(record.get("thread_id")) or 0, name, *times, correlation, domain or "API"
        )

    def _kernel(self, record: dict[str, Any]) -> int | None:
        info = _member(record, "dispatch_info")
        times, kernel = _times(record), integer(info.get("kernel_id"))
        if times is None or kernel is None:
            self.dropped += 1
            return None
        stream = integer(_at(record, "stream_id", "handle"))
        if stream is None:
            stream = integer(_at(info, "queue_id", "handle"))
        dispatch = integer(info.get("dispatch_id"))
        return self.intake.kernel(
            self.process, self._device(info), -1 if stream is None else stream, self._name(kernel), *times,
            correlation=integer(_at(record, "correlation_id", "internal")), dispatch=dispatch,
            facts=self._facts(info, kernel),
        )  # fmt: skip

    def _name(self, kernel: int) -> str:
        symbol = self.kernels.get(kernel, {})
        for key in ("formatted_kernel_name", "demangled_kernel_name", "kernel_name"):
            name = symbol.get(key)
            if isinstance(name, str) and len(name) > 1:
                return name
        return f"kernel {kernel}"

    def _facts(self, info: dict[str, Any], kernel: int) -> Facts:
        symbol = self.kernels.get(kernel, {})
        grid, group = _member(info, "grid_size"), _member(info, "workgroup_size")
        return facts_of(
            [integer(grid.get(axis)) for axis in "xyz"], [integer(group.get(axis)) for axis in "xyz"],
            [integer(symbol.get("arch_vgpr_count")), integer(symbol.get("accum_vgpr_count"))],
            integer(info.get("group_segment_size")),
        )  # fmt: skip

    def _device(self, info: dict[str, Any], key: str = "agent_id") -> int:
        handle = integer(_at(info, key, "handle"))
        return self.ordinal.get(-1 if handle is None else handle, 0)

    def _copy(self, record: dict[str, Any], origin: str) -> None:
        times, operation = _times(record), integer(record.get("operation"))
        if times is None or operation is None:
            self.dropped += 1
            return
        _, names = self.names[origin].get(integer(record.get("kind")) or -1, ("", []))
        name = names[operation] if 0 <= operation < len(names) else "MEMORY_COPY"
        source, target = (integer(_at(record, key, "handle")) for key in ("src_agent_id", "dst_agent_id"))
        on_device = target if target in self.gpus else source
        stream, size = integer(_at(record, "stream_id", "handle")), integer(record.get("bytes"))
        self.intake.copy(
            self.process, self.ordinal.get(-1 if on_device is None else on_device, 0), -1 if stream is None else stream,
            name, *times, correlation=integer(_at(record, "correlation_id", "internal")),
            size=-1 if size is None else size,
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
            known = self.intake.counted(
                self.process, self._device(info), self._name(kernel), dispatch, self._facts(info, kernel)
            )
        for entry in _records(record, "records"):
            counter, value = integer(_at(entry, "counter_id", "handle")), entry.get("value")
            if (
                counter is not None
                and isinstance(value, (int, float))
                and not isinstance(value, bool)
                and abs(value) < 1e300
            ):
                self.intake.recording.counter(self._counter_name(counter), known, float(value))

    def _counter_name(self, handle: int) -> str:
        if self._counter_names is None:
            self._counter_names = {
                number: entry["name"][:200]
                for entry in _records(self.tool, "counters")
                if isinstance(entry.get("name"), str) and (number := integer(_at(entry, "id", "handle"))) is not None
            }
        return self._counter_names.get(handle, f"counter {handle}")

    def _allocation(self, record: dict[str, Any]) -> None:
        size, correlation = integer(record.get("allocation_size")), integer(_at(record, "correlation_id", "internal"))
        if size is None or size <= 0 or correlation is None:
            return
        call = self.intake.slice_of((self.process, correlation))
        if call is not None:
            allocated = self.intake.recording.allocated
            allocated[call] = allocated.get(call, 0) + size

    def _sample(self, entry: dict[str, Any]) -> None:
        texts = _member(self.tool, "strings").get("pc_sample_instructions")
        texts = texts if isinstance(texts, list) else []
        dispatch, at = integer(_member(entry, "record").get("dispatch_id")), integer(entry.get("inst_index"))
        if dispatch is None:
            self.dropped += 1
            return
        text = (
            texts[at]
            if at is not None and 0 <= at < len(texts) and isinstance(texts[at], str)
            else "[unknown instruction]"
        )
        kernel = self.intake.counted(self.process, 0, f"kernel of dispatch {dispatch}", dispatch, None)
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
    if isinstance(records, list):
        for record in records:
            if isinstance(record, dict):
                yield record


def _member(holder: dict[str, Any], key: str) -> dict[str, Any]:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}


def _at(holder: dict[str, Any], *keys: str) -> Any:
    """A value inside of objects inside of objects, None where a step is missing."""
    value: Any = holder
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _times(record: dict[str, Any]) -> tuple[int, int] | None:
    start, end = integer(record.get("start_timestamp")), integer(record.get("end_timestamp"))
    return None if start is None or end is None else (start, end)
