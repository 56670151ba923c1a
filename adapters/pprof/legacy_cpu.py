"""CPU profiles of gperftools: machine words, then the memory map of the process as text.

Layout (gperftools, "CPU Profiler: Format of the profile data"): a header of 0, 3, version, sampling period in microseconds, 0;
records of a count, a depth and that many addresses, the innermost first; a trailer of 0, 1, 0; text.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from chathpc.adapters.content import DAMAGED
from chathpc.adapters.pprof.addresses import Addresses
from chathpc.adapters.pprof.assemble import assembled, stacks_for
from chathpc.adapters.pprof.vocabulary import metrics_of
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile

#: Microseconds between samples that are believed: up to an hour.
_LONGEST_PERIOD = 3_600_000_000


def layout(data: bytes) -> str | None:
    """The type of the file's words (`<u8`, `<u4`, `>u8`, `>u4`) if its header is one of a CPU profile, else None."""
    for words in ("<u8", "<u4", ">u8", ">u4"):
        size = 8 if words.endswith("8") else 4
        if len(data) < 8 * size:
            continue
        zero, length, version, period, padding = np.frombuffer(data, dtype=words, count=5).tolist()
        if zero == 0 and length == 3 and version in (0, 1) and 0 < period <= _LONGEST_PERIOD and padding == 0:
            return words
    return None


def profile_of(data: bytes, path: Path) -> Profile:
    """The profile in the bytes of such a file; AdapterError where a record goes beyond the end."""
    words = layout(data) or "<u8"
    size = 8 if words.endswith("8") else 4
    numbers: list[int] = np.frombuffer(data, dtype=words, count=len(data) // size).tolist()
    period, at = numbers[3], 5
    records: list[tuple[int, int, int]] = []
    ended = False
    while at + 2 < len(numbers) + 0:
        count, depth = numbers[at], numbers[at + 1]
        if count == 0 and depth == 1 and numbers[at + 2] == 0:
            at, ended = at + 3, True
            break
        if depth == 0 or depth > len(numbers) - at - 2:
            raise AdapterError(
                f"a record claims {depth:,} frames, more than the file has", path=path, offset=at * size, hint=DAMAGED
            )
        records.append((count, at + 2, depth))
        at += 2 + depth
    caveats = [] if ended else ["The end of the file is missing; the samples before it were read."]
    addresses = Addresses(data[at * size :].decode("utf-8", "replace").splitlines() if ended else [])
    stacks = stacks_for(len(data))
    metrics = metrics_of([("samples", "count"), ("cpu", "microseconds")])
    total = 0
    for count, first, depth in records:
        chain = numbers[first : first + depth]
        # The address of the interrupted instruction comes from the signal and often from unwinding as well.
        if depth > 1 and chain[0] == chain[1]:
            del chain[1]
        node = -1
        for address in reversed(chain):
            node = stacks.walk(addresses.frames(stacks, address), node)
        if count:
            stacks.add("cpu.samples", node, float(count))
            stacks.add("cpu.time", node, count * period * 1e-6)
            total += count
    return assembled(stacks, metrics, path, "gperftools CPU", sample_count=float(total), caveats=caveats)
