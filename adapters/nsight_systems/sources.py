"""What host threads did, as an export tells it: calls of CUDA, MPI and the operating system, named ranges, samples."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from chathpc.adapters.nsight_systems import strings
from chathpc.adapters.nsight_systems.assembly import Assembly
from chathpc.adapters.nsight_systems.chains import Chains, read_chains
from chathpc.adapters.nsight_systems.columns import Int32Array, Int64Array, Rows, encode, rows, usable
from chathpc.adapters.nsight_systems.paths import LONGEST_NAME
from chathpc.adapters.sqlite import Database
from chathpc.profile.timeline import LaneKind
from chathpc.profile.tree import NodeKind

DAMAGED_TIMES = "{} events end before they begin, or have impossible times; they are excluded."
OPEN_RANGES = "{} named ranges were still open at the end of the capture; they are assumed to end there."
NUMBERED = "There are {} different range names; ranges whose names differ only in numbers are merged."

#: Process of a global thread id: the lowest 24 bits are the thread.
PROCESS_BITS = ~0xFFFFFF
#: `eventClass` of the second row that exports of 2021 and 2022 hold for a call: it carries the call stack.
SECOND_ROW = 67
PUSH_POP, START_END, THREAD_NAME, DOMAIN = 59, 60, 39, 75
#: With more different names than this the names of ranges hold numbers (of steps, of requests).
MANY_NAMES = 2_000
_NUMBER = re.compile(r"\d+")
_MPI_DOMAIN = "MPI"


@dataclass(slots=True, eq=False)
class Events:
    """Calls or ranges of one source. `leaf` is the innermost frame of each call's stack in `chains` (−1: none)."""

    lane: LaneKind
    kind: NodeKind
    start: Int64Array
    end: Int64Array
    tids: Int64Array  #: ids of the threads, ascending
    thread: Int32Array  #: the number of each event's thread among these
    name: Int32Array
    leaf: Int32Array | None = None
    chains: Chains | None = None
    correlation: Int64Array | None = None
    size: Int64Array | None = None

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples of running threads: where each stood, as the innermost frame of its stack in `chains` (−1: none).

    `cut`: inside that frame the profiler worked.
    """

    time: Int64Array
    tids: Int64Array
    thread: Int32Array
    leaf: Int32Array
    cut: np.ndarray[tuple[int], np.dtype[np.bool_]]
    chains: Chains | None


def calls_of_cuda(database: Database, assembly: Assembly) -> Events | None:
    """Calls of the CUDA runtime and driver; the two rows that old exports hold for one call count once."""
    table = "CUPTI_ACTIVITY_KIND_RUNTIME"
    found = rows(
        database, table, ("start", "end", "globalTid", "nameId"), ("correlationId", "eventClass", "callchainId")
    )
    if found is None:
        return None
    found, chain_ids = _once(found)
    events = _events(database, assembly, found, LaneKind.API, strings.call_name)
    if events is not None and chain_ids is not None:
        _with_stacks(database, assembly, events, chain_ids, "CUDA_CALLCHAINS", "cuda")
    return events


def _once(found: Rows) -> tuple[Rows, Int64Array | None]:
    """The calls without their second rows, and the ids of their stacks, which the second rows may hold."""
    found, _ = usable(found)
    chain = found.take("callchainId") if "callchainId" in found else None
    kind = found.take("eventClass")
    if "correlationId" not in found or not (second := kind == SECOND_ROW).any():
        return found, chain
    identity = np.stack([found["globalTid"] & PROCESS_BITS, found["correlationId"]])
    _, call = np.unique(identity, axis=1, return_inverse=True)
    call = call.reshape(-1)
    has_first = np.zeros(int(call.max()) + 1, dtype=bool)
    has_first[call[~second]] = True
    double = second & has_first[call]
    if chain is not None:
        of_call = np.full(len(has_first), -1, dtype=np.int64)
        of_call[call[double]] = chain[double]
        chain = np.where(chain >= 0, chain, of_call[call])[~double]
    return found.where(~double), chain


def _events(
    database: Database,
    assembly: Assembly,
    found: Rows,
    lane: LaneKind,
    short: Callable[[str], str] = str,
    *,
    name: str = "nameId",
) -> Events | None:
    if found.count == 0:
        return None
    names = strings.numbered(database, found.take(name), assembly.paths.names, missing="<unnamed call>", short=short)
    correlation = found.take("correlationId") if "correlationId" in found else None
    size = found.take("size") if "size" in found else None
    return Events(
        lane, NodeKind.FUNCTION, found.take("start"), found.take("end"), *encode(found.take("globalTid")), names,
        correlation=correlation, size=size,
    )  # fmt: skip


def _with_stacks(
    database: Database, assembly: Assembly, events: Events, ids: Int64Array, table: str, below: str
) -> None:
    if not (ids >= 0).any():
        return
    chains = read_chains(database, table, assembly.paths, below=below)
    if chains is not None:
        if below == "cuda":
            ids = chains.shifted(ids, events.name)
        events.chains, events.leaf = chains, chains.find(ids)[0]
        assembly.seen.add(table)


#: Tables of calls besides those of CUDA, and their lanes.
_CALLS = (
    ("MPI_P2P_EVENTS", LaneKind.MPI),
    ("MPI_COLLECTIVES_EVENTS", LaneKind.MPI),
    ("MPI_START_WAIT_EVENTS", LaneKind.MPI),
    ("MPI_OTHER_EVENTS", LaneKind.MPI),
    ("CUBLAS_EVENTS", LaneKind.RANGE),
    ("CUDNN_EVENTS", LaneKind.RANGE),
    ("CUPTI_ACTIVITY_KIND_OPENACC_DATA", LaneKind.RANGE),
    ("CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH", LaneKind.RANGE),
    ("CUPTI_ACTIVITY_KIND_OPENACC_OTHER", LaneKind.RANGE),
    ("OSRT_API", LaneKind.OS),
    ("SYSCALL", LaneKind.OS),
)


def other_calls(database: Database, assembly: Assembly) -> tuple[list[Events], list[Events]]:
    """Calls of MPI and of libraries, and those of the operating system."""
    result: tuple[list[Events], list[Events]] = [], []
    for table, lane in _CALLS:
        name = next((column for column in ("nameId", "textId") if database.has(table, column)), None)
        if name is None:
            continue
        wanted = ("callchainId", "size") if lane in (LaneKind.OS, LaneKind.MPI) else ()
        found = rows(database, table, ("start", "end", "globalTid", name), wanted)
        if found is None:
            continue
        found, bad = usable(found)
        assembly.note(DAMAGED_TIMES, bad)
        chain = found.take("callchainId") if "callchainId" in found else None
        events = _events(database, assembly, found, lane, name=name)
        if events is None:
            continue
        if chain is not None and lane == LaneKind.OS:
            _with_stacks(database, assembly, events, chain, "OSRT_CALLCHAINS", "os")
        result[lane == LaneKind.OS].append(events)
    return result


def ranges(
    database: Database, assembly: Assembly, session_end: Callable[[], int]
) -> tuple[list[Events], dict[int, int]]:
    """Named ranges (NVTX): those of push and pop, those of start and end; and the rank that a process says it is.

    Ranges of the domain MPI, which exports up to 2022 hold, are calls of MPI.
    """
    found = rows(database, "NVTX_EVENTS", ("start", "end", "eventType", "globalTid"), ("textId", "domainId"))
    if found is None or found.count == 0:
        return [], {}
    kind, domain = found["eventType"], found.get("domainId", 0)
    pid = found["globalTid"] & PROCESS_BITS
    is_range = (kind == PUSH_POP) | (kind == START_END)
    names, text_of = _range_names(database, assembly, found)
    ranks = _ranks(kind, pid, text_of)
    domains = _domains(kind, domain, pid, text_of)
    open_end = is_range & (found["end"] == -1)
    if open_end.any():
        assembly.note(OPEN_RANGES, int(open_end.sum()))
        found["end"][open_end] = np.maximum(session_end(), found["start"][open_end])
    good = is_range & (found["end"] >= found["start"]) & (found["start"] > -(2**61)) & (found["end"] < 2**61)
    assembly.note(DAMAGED_TIMES, int(is_range.sum() - good.sum()))
    mpi = _of_domain(domains, domain, pid, _MPI_DOMAIN) & (kind == PUSH_POP)
    names = _with_domain(assembly, names, domain, pid, domains, good & ~mpi)
    result = []
    for chosen, lane, node in (
        (good & ~mpi & (kind == PUSH_POP), LaneKind.RANGE, NodeKind.REGION),
        (good & mpi, LaneKind.MPI, NodeKind.FUNCTION),
        (good & (kind == START_END), LaneKind.RANGE, NodeKind.REGION),
    ):
        if chosen.any():
            start, end, tid = (found[column][chosen] for column in ("start", "end", "globalTid"))
            result.append(Events(lane, node, start, end, *encode(tid), names[chosen]))
    return result, ranks


def _range_names(database: Database, assembly: Assembly, found: Rows) -> tuple[Int32Array, Callable[[int], str]]:
    """The number of each row's name, from its own text or the registered one; and what finds the text of a row."""
    n = found.count
    own: dict[str, int] = {}
    number = np.full(n, -1, dtype=np.int64)
    if database.has("NVTX_EVENTS", "text"):
        statement = f"SELECT substr(text, 1, {LONGEST_NAME}) FROM NVTX_EVENTS NOT INDEXED"  # noqa: S608
        for row, (text,) in enumerate(database.each(statement)):
            if isinstance(text, str) and row < n:
                number[row] = own.setdefault(strings.range_name(text), len(own))
    texts = list(own)
    missing = number < 0
    if missing.any() and "textId" in found:
        ids, index = encode(found["textId"][missing])
        known = strings.texts(database, ids)
        table = [own.setdefault(strings.range_name(known.get(key, "")), len(own)) for key in ids.tolist()]
        number[missing] = np.array(table, dtype=np.int64)[index]
        texts = list(own)
    if len(texts) > MANY_NAMES:
        assembly.note(NUMBERED, len(texts))
        texts = [_NUMBER.sub("#", text) for text in texts]
    table32 = np.array(
        [assembly.paths.names.number(text or "<unnamed range>") for text in texts] or [-1], dtype=np.int32
    )
    if (number < 0).any():
        nameless = assembly.paths.names.number("<unnamed range>")
        names = np.where(number >= 0, table32[np.maximum(number, 0)], nameless).astype(np.int32)
    else:
        names = table32[number]

    def text_of(row: int) -> str:
        at = int(number[row])
        return texts[at] if at >= 0 else ""

    return names, text_of


def _ranks(kind: Int64Array, pid: Int64Array, text_of: Callable[[int], str]) -> dict[int, int]:
    """Rank by process, as the name of a thread says it (`MPI Rank 3`)."""
    found = {}
    for row in np.flatnonzero(kind == THREAD_NAME)[:100_000].tolist():
        match = re.fullmatch(r"MPI Rank (\d{1,9})", text_of(row))
        if match:
            found[int(pid[row])] = int(match[1])
    return found


def _domains(
    kind: Int64Array, domain: Int64Array, pid: Int64Array, text_of: Callable[[int], str]
) -> dict[tuple[int, int], str]:
    """Name by process and domain."""
    return {
        (int(pid[row]), int(domain[row])): text_of(row) for row in np.flatnonzero(kind == DOMAIN)[:100_000].tolist()
    }


def _of_domain(
    domains: dict[tuple[int, int], str], domain: Int64Array, pid: Int64Array, name: str
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    result = np.zeros(len(domain), dtype=bool)
    for (process, number), text in domains.items():
        if text == name:
            result |= (pid == process) & (domain == number)
    return result


def _with_domain(
    assembly: Assembly,
    names: Int32Array,
    domain: Int64Array,
    pid: Int64Array,
    domains: dict[tuple[int, int], str],
    chosen: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> Int32Array:
    """The names with that of their domain in front, where the ranges are of several domains."""
    used = np.unique(domain[chosen])
    if len(used) < 2:
        return names
    table = assembly.paths.names
    names = names.copy()
    for process, number in [key for key in domains if key[1] in set(used.tolist()) and domains[key]]:
        mine = chosen & (domain == number) & (pid == process)
        old, index = encode(names[mine].astype(np.int64))
        new = [table.number(f"{domains[process, number]}: {table.texts[key]}") for key in old.tolist()]
        names[mine] = np.array(new, dtype=np.int32)[index] if new else names[mine]
    return names


def samples(database: Database, assembly: Assembly) -> Samples | None:
    """Samples of running threads with their stacks."""
    found = rows(database, "COMPOSITE_EVENTS", ("id", "start", "globalTid"))
    if found is None or found.count == 0:
        return None
    chains = read_chains(database, "SAMPLING_CALLCHAINS", assembly.paths)
    if chains is None:
        leaf, cut = np.full(found.count, -1, dtype=np.int32), np.zeros(found.count, dtype=bool)
    else:
        leaf, cut = chains.find(found["id"])
    return Samples(found["start"], *encode(found["globalTid"]), leaf, cut, chains)
