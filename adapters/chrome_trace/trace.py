"""A Chrome trace as a Profile: what Kineto writes by its categories, everything else by time."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chathpc.adapters.content import read_text
from chathpc.adapters.traced.assemble import Assembled
from chathpc.adapters.traced.json_text import JsonText
from chathpc.adapters.traced.operations import copy_lane, kernel_lane
from chathpc.adapters.traced.recording import Facts, Recording, Role, integer, nanoseconds
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile, Source, no_timeline
from chathpc.profile.remark import Device
from chathpc.profile.text import clean
from chathpc.profile.timeline import PYTHON_STACKS, LaneKind
from chathpc.profile.tree import NodeKind

#: Categories of Kineto by what they hold; older ones on the right of each. HIP traces use the names of CUDA.
_KERNEL, _COPY, _SET = ("kernel",), ("gpu_memcpy", "memcpy"), ("gpu_memset", "memset")
_DEVICE = (*_KERNEL, *_COPY, *_SET)
_API = re.compile(r"(?:\w+_)?(?:runtime|driver)$")
_RANGES = ("user_annotation",)
_OPERATORS = ("cpu_op", "operator")
_FLOWS = ("ac2g", "async_gpu", "async_cpu_to_gpu")
#: Not taken in: copies of what other events say (annotations and waits drawn on the device's tracks), and the profiler.
_LEFT_OUT = ("gpu_user_annotation", "cuda_sync", "trace", "overhead", "mtia_ccp_events", "collective_comm")
_COUNTED = "cuda_profiler_range"
_PYTHON = re.compile(r"(?P<file>.{1,4000}?)\((?P<line>\d{1,9})\): (?P<name>.+)", re.S)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_STEP = re.compile(r"(ProfilerStep)[#*]?\d+$")
#: Members of one event that are looked at when the end of a nested range looks for its beginning.
_OPEN = 64
GPU_ACTIVITY = "torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])"


class Events:
    """Takes events one by one and keeps them in columns; `finish` closes what is open and joins kernels to launches."""

    def __init__(self, path: Path) -> None:
        self.recording = Recording(path)
        self.kineto = False
        self.dropped: Counter[str] = Counter()
        self.process_names: dict[object, str] = {}
        self.process_labels: dict[object, str] = {}
        self.thread_names: dict[tuple[object, object], str] = {}
        self.python = False
        self._known: dict[tuple[object, object], int] = {}
        self._pids: list[object] = []
        self._tids: list[tuple[object, object]] = []
        self._calls: list[tuple[int, int]] = []
        self._operators: list[tuple[int, int]] = []
        self._correlated: list[tuple[int, int]] = []
        self._external: list[tuple[int, int]] = []
        self._tracks: list[tuple[tuple[object, object, int], int]] = []
        self._flow_begins: list[tuple[int, int, int]] = []
        self._flow_ends: dict[tuple[object, object, int], int] = {}
        self._open: dict[int, tuple[array[int], array[int], array[int]]] = {}

    def add(self, event: dict[str, Any]) -> None:
        """Take one event in; what cannot be used is counted in `dropped`."""
        phase = event.get("ph")
        if phase == "X":
            self._complete(event)
        elif phase in ("B", "E"):
            self._nested(event, begins=phase == "B")
        elif phase == "M":
            self._describe(event)
        elif phase in ("s", "f"):
            if event.get("cat") in _FLOWS:
                self._flow(event, begins=phase == "s")
        elif not isinstance(phase, str):
            self.dropped["without a phase"] += 1

    # -- events of one kind --------------------------------------------------------------------------------

    def _complete(self, event: dict[str, Any]) -> None:
        start, duration = to_nanoseconds(event.get("ts")), to_nanoseconds(event.get("dur", 0))
        if start is None or duration is None or duration < 0 or not nanoseconds(start, start + duration):
            self.dropped["with impossible times"] += 1
            return
        category, arguments = _text(event.get("cat")).lower(), event.get("args")
        arguments = arguments if isinstance(arguments, dict) else {}
        name = _text(event.get("name"))
        if category in _DEVICE and ("stream" in arguments or "device" in arguments):
            self.kineto = True
            self._device(category, name, start, start + duration, event, arguments)
        elif category == _COUNTED:
            self.kineto = True
            self._counters(name, start, arguments)
        elif category in _LEFT_OUT or (name.startswith("Total ") and "avg ms" in arguments):
            return
        else:
            self._host(category, name, start, start + duration, event, arguments)

    def _host(
        self, category: str, name: str, start: int, end: int, event: dict[str, Any], arguments: dict[str, Any]
    ) -> None:
        recording, role, kind = self.recording, Role.CODE, NodeKind.FUNCTION
        file, line = "", 0
        if category == "python_function":
            self.kineto = self.python = True
            name = _ADDRESS.sub("", name)
            if (place := _PYTHON.fullmatch(name)) is not None:
                file, line, name = place["file"], int(place["line"]), place["name"]
        elif category in _RANGES:
            role, kind, name = Role.RANGE, NodeKind.REGION, _STEP.sub(r"\1", name)
        elif category in _OPERATORS:
            role = Role.RANGE
        elif _API.fullmatch(category):
            role = Role.API
        number = recording.slice(self._thread(event), start, end, recording.frame_of(kind, name, file, line), role)
        if role == Role.API:
            self.kineto = True
            if (key := integer(arguments.get("correlation"))) is not None:
                self._calls.append((key, number))
        elif category in _OPERATORS:
            self.kineto = True
            if (key := integer(arguments.get("External id", arguments.get("external id")))) is not None:
                self._operators.append((key, number))

    def _device(
        self, category: str, name: str, start: int, end: int, event: dict[str, Any], arguments: dict[str, Any]
    ) -> None:
        recording = self.recording
        device = integer(arguments.get("device", event.get("pid")))
        stream = recording.stream_of(device, integer(arguments.get("stream", event.get("tid"))))
        if category in _KERNEL:
            number = recording.kernel(stream, start, end, name, kernel_lane(name), _launch_facts(arguments))
        elif category in _COPY:
            lane = copy_lane(name, _text(arguments.get("kind")))
            pageable = 1 if "pageable" in name.lower() else 0 if "->" in name and "Host" not in name else -1
            size = integer(arguments.get("bytes"))
            number = recording.transfer(stream, start, end, name or "copy", lane, size, pageable)
        else:
            number = recording.transfer(stream, start, end, name, LaneKind.MEMSET)
        key = integer(arguments.get("correlation"))
        if key is not None:
            self._correlated.append((key, number))
        key = integer(arguments.get("External id", arguments.get("external id")))
        if key is not None:
            self._external.append((key, number))
        self._tracks.append(((_key(event.get("pid")), _key(event.get("tid")), start), number))

    def _counters(self, name: str, start: int, arguments: dict[str, Any]) -> None:
        """A kernel that was replayed to read counters: its times are no kernel's times."""
        number = self.recording.kernel(self.recording.stream_of(None, None), start, start, name, None)
        for counter, value in arguments.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool) and -1e300 < value < 1e300:
                self.recording.counter(str(counter)[:200], number, float(value))

    def _nested(self, event: dict[str, Any], *, begins: bool) -> None:
        moment = to_nanoseconds(event.get("ts"))
        if moment is None:
            self.dropped["with impossible times"] += 1
            return
        name = event.get("name")
        frame = self.recording.frame_of(NodeKind.FUNCTION, name) if isinstance(name, str) and name else -1
        if frame < 0 and begins:
            frame = self.recording.frame_of(NodeKind.FUNCTION, "")
        times, frames, signs = self._open.setdefault(self._thread(event), (array("q"), array("i"), array("b")))
        times.append(moment)
        frames.append(frame)
        signs.append(begins)

    def _describe(self, event: dict[str, Any]) -> None:
        arguments = event.get("args")
        if not isinstance(arguments, dict):
            return
        pid, tid, what = _key(event.get("pid")), _key(event.get("tid")), event.get("name")
        if what == "process_name":
            self.process_names[pid] = _text(arguments.get("name"))
        elif what == "process_labels":
            self.process_labels[pid] = _text(arguments.get("labels"))
        elif what == "thread_name":
            self.thread_names[pid, tid] = _text(arguments.get("name"))

    def _flow(self, event: dict[str, Any], *, begins: bool) -> None:
        moment, key = to_nanoseconds(event.get("ts")), integer(event.get("id"))
        if moment is None or key is None:
            return
        if begins:
            self._flow_begins.append((key, self._thread(event), moment))
        else:
            self._flow_ends[_key(event.get("pid")), _key(event.get("tid")), moment] = key

    def _thread(self, event: dict[str, Any]) -> int:
        try:
            return self._known[event["pid"], event["tid"]]
        except (KeyError, TypeError):  # seen for the first time, or no number and no name
            pid, tid = _key(event.get("pid")), _key(event.get("tid"))
            self._known[pid, tid] = self._new_thread(pid, tid)
            return self._known[pid, tid]

    def _new_thread(self, pid: object, tid: object) -> int:
        recording = self.recording
        process = recording.process_of(pid, "")
        if process == len(self._pids):
            self._pids.append(pid)
        thread = recording.thread_of(tid, process, "")
        if thread == len(self._tids):
            self._tids.append((pid, tid))
        return thread

    # -- the end -------------------------------------------------------------------------------------------

    def finish(self) -> Recording:
        """The recording, complete."""
        for thread, columns in self._open.items():
            self._close(thread, *columns)
        recording = self.recording
        recording.join(self._calls, self._correlated)
        self._join_flows()
        recording.join(self._operators, self._external)
        self._name_places()
        return recording

    def _close(self, thread: int, times: array[int], frames: array[int], signs: array[int]) -> None:
        """Make slices of the beginnings and ends of one thread, in the order of time."""
        order = sorted(range(len(times)), key=times.__getitem__)
        open_slices: list[int] = []
        recording = self.recording
        last = times[order[-1]]
        for i in order:
            if signs[i]:
                open_slices.append(recording.slice(thread, times[i], last, frames[i]))
                continue
            for depth in range(1, min(_OPEN, len(open_slices)) + 1):
                if frames[i] < 0 or recording.frame[open_slices[-depth]] == frames[i]:
                    recording.end[open_slices.pop(-depth)] = times[i]
                    break
            else:
                self.dropped["without a matching begin"] += 1
        if open_slices:
            self.dropped["that never end (taken to last until the end of the trace)"] += len(open_slices)

    def _join_flows(self) -> None:
        """Arrows from calls to kernels, for kernels that carry no number of their call."""
        lacking = [(track, number) for track, number in self._tracks if self.recording.launch[number] < 0]
        if not lacking or not self._flow_ends:
            return
        recording = self.recording
        wanted = {key for track, _ in lacking if (key := self._flow_ends.get(track)) is not None}
        # An arrow begins at the beginning of its call.
        begun = {(thread, moment): key for key, thread, moment in self._flow_begins if key in wanted}
        calls = []
        for number in range(len(recording.start)):
            if recording.role[number] == Role.API:
                found = begun.get((recording.thread[number], recording.start[number]))
                if found is not None:
                    calls.append((found, number))
        ended = [(self._flow_ends[track], number) for track, number in lacking if track in self._flow_ends]
        recording.join(calls, ended)

    def _name_places(self) -> None:
        """Give processes and threads the names that the trace has for them."""
        recording = self.recording
        for number, pid in enumerate(self._pids):
            recording.processes[number] = (self.process_names.get(pid, "").strip() or f"process {pid}")[:100]
        for number, (pid, tid) in enumerate(self._tids):
            label = self.thread_names.get((pid, tid), "").strip() or f"thread {tid}"
            recording.threads[number] = recording.threads[number]._replace(label=label[:100])
        self._adopt()

    def _adopt(self) -> None:
        """Python frames of threads that the profiler could not name stand at process 0, where the first GPU is drawn:
        they belong to the process that was profiled."""
        recording = self.recording
        if not self.kineto or len(self._pids) < 2 or 0 not in self._pids:
            return
        zero = self._pids.index(0)
        if not self.process_labels.get(0, "").startswith("GPU"):
            return
        main = max((p for p in range(len(self._pids)) if p != zero), key=lambda p: self._slices_of(p))
        number = 1 + max(thread.number for thread in recording.threads if thread.process == main)
        for at, thread in enumerate(recording.threads):
            if thread.process == zero:
                recording.threads[at] = thread._replace(process=main, number=number)
                number += 1

    def _slices_of(self, process: int) -> int:
        mine = {at for at, thread in enumerate(self.recording.threads) if thread.process == process}
        return sum(thread in mine for thread in self.recording.thread)


def to_nanoseconds(value: object) -> int | None:
    """Microseconds as they stand in an event (a number, or text of one) in whole nanoseconds; None for what is no time."""
    if isinstance(value, str):
        try:
            value = float(value[:40])
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -1e15 * 2 < value < 1e15 * 2:
        return None
    return round(value * 1000)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _key(value: object) -> object:
    """A process or thread as a key: numbers and names as they are; whatever else stands there is one and the same."""
    return value if isinstance(value, (int, str)) else -1


def _launch_facts(arguments: dict[str, Any]) -> Facts:
    def product(value: object) -> float:
        if not isinstance(value, list) or not 1 <= len(value) <= 3:
            return -1
        result = 1
        for part in value:
            size = integer(part)
            if size is None or not 0 <= size < 1 << 32:
                return -1
            result *= size
        return float(result)

    def number(value: object) -> float:
        found = integer(value)
        return -1 if found is None else float(found)

    return Facts(
        product(arguments.get("grid")), product(arguments.get("block")),
        number(arguments.get("registers per thread")), number(arguments.get("shared memory")),
    )  # fmt: skip


def read(path: Path) -> Profile:
    """Read a trace, plain or compressed, of the PyTorch profiler or of anything else.

    Memory: two and a half times the unpacked size; measured: 162 MB with 860,000 events in 412 MiB and 10 s. AdapterError
    for what is no trace or damaged.
    """
    text, events = JsonText(read_text(path), path), Events(path)
    header: dict[str, Any] = {}
    cut = False
    if text.begins("["):
        cut = _take(text, events, open_end=True)
    elif text.begins("{"):
        for key in text.members():
            if key == "traceEvents" and text.begins("["):
                _take(text, events)
            else:
                header.setdefault(key, text.value())
    else:
        raise text.damaged("neither an object nor an array", text.at)
    return profile_of(events, header, cut=cut)


def _take(text: JsonText, events: Events, *, open_end: bool = False) -> bool:
    """Take the events of an array in, without what is no object; True if it ends within one, which the form allows."""
    for _ in text.elements(open_end=open_end):
        try:
            event = text.value()
        except AdapterError:
            if open_end and "}" not in text.text[text.at :]:
                return True
            raise
        if isinstance(event, dict):
            events.add(event)
    return False


def profile_of(
    events: Events, header: Mapping[str, Any], *, cut: bool, tool: str = "", caveats: Sequence[str] = ()
) -> Profile:
    """The profile of all events, which `tool` wrote if it is not one of those that write JSON."""
    recording = events.finish()
    path = recording.path
    distributed = header.get("distributedInfo")
    rank, size = (
        _small(distributed.get(key)) if isinstance(distributed, dict) else None for key in ("rank", "world_size")
    )
    parts = Assembled(recording, {} if rank is None else {0: rank})
    parts.put_counters()
    kineto = not tool and (events.kineto or "deviceProperties" in header)
    nothing = not len(recording.start) and not len(recording.op_start)
    return Profile(
        format=tool or ("PyTorch profiler (Kineto)" if kineto else "Chrome trace"),
        title=_title(events, kineto=kineto),
        tree=parts.tree,
        metrics=parts.metrics,
        values=parts.values,
        where=parts.where,
        sources=(Source(path, tool or ("PyTorch profiler" if kineto else "Chrome trace")),),
        caveats=(*_caveats(events, parts, kineto=kineto, cut=cut), *caveats),
        not_collected=_not_collected(parts, kineto=kineto),
        # Nothing else of the metadata is taken in, which may hold names of users and hosts.
        run={} if rank is None else {"rank": str(rank) if size is None else f"{rank} of {size}"},
        timed=True,
        insufficient="The trace contains no event with a duration." if nothing else "",
        devices=parts.used(_devices(header)),
        read_timeline=no_timeline if recording.counters else lambda: parts.timeline,
    )


def _title(events: Events, *, kineto: bool) -> str:
    recording = events.recording
    names = [recording.processes[number] for number in sorted({thread.process for thread in recording.threads})]
    names = [name for name in names if not name.startswith("process ")]
    return names[0] if len(names) == 1 else "PyTorch program" if kineto else "trace"


def _caveats(events: Events, parts: Assembled, *, kineto: bool, cut: bool) -> list[str]:
    found = parts.caveats()
    if kineto and not parts.has_device:
        found.append("Nothing ran on a GPU while this was recorded, or the GPU was not recorded.")
    if recording_counters := events.recording.counters:
        found.append(
            f"Kernels were repeated to read {len(recording_counters):,} counters: their times do not represent the program."
        )
    if events.python:
        found.append(PYTHON_STACKS)
    if cut:
        found.append("The trace ends in the middle of an event.")
    found += [f"{count:,} events {what} are excluded." for what, count in sorted(events.dropped.items())]
    return found


def _not_collected(parts: Assembled, *, kineto: bool) -> dict[str, str]:
    if not kineto:
        return {}
    if not parts.has_device:
        return {"GPU activity": GPU_ACTIVITY}
    if "gpu.time" not in parts.metrics:
        return {"times of kernels": GPU_ACTIVITY}
    return {"counters of kernels": "ncu --set full ./app (AMD: rocprof-compute profile)"}


def _small(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31 else None


def _devices(header: Mapping[str, Any]) -> dict[int, Device]:
    """The GPUs as the trace describes them."""
    described = header.get("deviceProperties")
    found: dict[int, Device] = {}
    for entry in described if isinstance(described, list) else []:
        if not isinstance(entry, dict):
            continue
        number, name = _small(entry.get("id")), entry.get("name")
        if number is None or not isinstance(name, str):
            continue
        major, minor = _small(entry.get("computeMajor")), _small(entry.get("computeMinor"))
        memory = entry.get("totalGlobalMem")
        found[number] = Device(
            clean(name[:200]),
            multiprocessors=_small(entry.get("numSms")),
            memory=memory if isinstance(memory, int) and 0 < memory < 1 << 60 else None,
            capability="" if major is None or minor is None else f"{major}.{minor}",
        )
    return found
