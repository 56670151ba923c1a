"""Input and output: how long, from where, and in how large pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.draft import (
    Draft,
    Spread,
    calling_function,
    fact,
    part_of,
    share_here,
    time_fact,
    time_unit,
)
from chathpc.diagnosis.fact import Form, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.statistics import largest_first
from chathpc.profile import numbers
from chathpc.profile.activity import Activity, activity_of_name, base_name
from chathpc.profile.tree import FloatArray

#: How the kernel and others begin their names of what a program asks for.
_INNER = re.compile(r"(libc_|hpcrun_|((x64_|ia32_|arm64_|do_|k)?sys|vfs)_)*")
#: What comes first where little of the time goes for fsync.
_BUFFER = (
    "Read and write in larger pieces: put records together in a buffer of some MiB (setvbuf, BufWriter in Rust, one call for a whole array in HDF5) "
    "and hand it on when it is full."
)
#: What turns numbers into text and back; the file is asked for nothing meanwhile.
_CONVERTING = re.compile(
    r"(IO_)?(vf?w?(printf|scanf)|f?(printf|scanf))(_chk|_internal|_positional)?$|printf_|std::num_(put|get)|std::(basic_)?[io]stream::_M_(insert|extract)"
)
_NOT_TEXT = (
    "Write and read numbers as they are in memory (fwrite and fread of whole arrays, stream access in Fortran, HDF5): text takes a conversion for "
    "each digit.",
    "Where it must be text, write fewer digits and fewer items, with std::to_chars and std::from_chars (C++17) instead of streams and printf.",
)
#: What goes to another place of a file: the C library reads a buffer anew there, however little is wanted of it.
_SEEKING = re.compile(r"(IO_)?(f|l)seek(o|off|pos)?(64)?$|rewind$|std::basic_filebuf<.*>::seek(off|pos)")
_AT_ONCE = (
    "Read the file, or the part of it that is used, into memory once and take each piece from there, or map it with mmap: each fseek and small read "
    "asks the system, and a buffer is filled for a few bytes of it.",
    "Where it is too large, sort the pieces by their place in the file, and read neighbours in one call.",
)
_SYNCING = re.compile(r"f(data)?sync|sync_file_range|sync$|msync|syncfs")


def input_output(facts: Facts) -> Iterable[Draft]:
    """Time in file operations; small requests where the bytes are known and the rate is far below that of a device."""
    bound, small = cause("io-bound"), cause("io-small-requests")
    cost = facts.spent(Activity.IO)
    by_rank = _by_rank(facts)
    share = float(by_rank.max())
    if not facts.above(share, bound.threshold("min_share")):
        return
    weight = facts.of(Activity.IO)
    hot = facts.hot_place(weight)
    if hot is None:
        return
    place, tree = hot.place, facts.profile.tree
    # The library's function that the program's request ends in, not what the kernel does for it.
    requests = tree.where_name(lambda name: activity_of_name(name) == Activity.IO)
    asked = tree.nearest(requests)
    innermost = np.array([base_name(name) for name in tree.names] + [""], dtype=object)[
        tree.name[np.where((asked >= 0) & (asked >= facts.activities.call), asked, tree.function)]
    ]
    spent = np.flatnonzero(weight > 0)
    ranked = largest_first(
        (_INNER.sub("", name, count=1) for name in innermost[spent].tolist()), weight[spent].tolist()
    )
    syncing = sum(time for name, time in ranked if _SYNCING.search(name))
    transferring = sum(time for name, time in ranked if re.match(r"p?(read|write)v?(64)?$", name))
    evidence = [
        time_fact(
            facts,
            cost,
            "file operations",
            "time in input and output functions of the C library and below",
            form=Form.MANY,
            parts=[Part(ranked[0][0], ranked[0][1], time_unit(facts))],
        ),
        calling_function(facts, hot, part_of(facts, cost, "file operations"), how="the same by calling function"),
    ]
    against = []
    wait_seen = facts.profile.sees_waiting
    if not wait_seen:
        against.append(
            "The time is CPU time: time spent waiting for the device is not included, so the true share may be larger."
        )
    volume = _bytes(facts, hot.label)
    several = len(by_rank) > 1
    much = (
        f"{numbers.percent(share)} of the run on the slowest rank" if several else share_here(facts, hot.weight, cost)
    )
    entry, summary = (
        bound,
        f"{place.function} spends {much} in file operations ({ranked[0][0]}).",
    )
    signs = 2
    title = ""
    advice: tuple[str, ...] = (_BUFFER,)
    converting = sum(time for name, time in ranked if _CONVERTING.match(name))
    if converts := converting >= common()["most"].value * cost:
        title, advice = "Conversion of numbers to text", _NOT_TEXT
        summary = f"{place.function} spends {much} converting numbers to text and back ({ranked[0][0]})."
    seeking = float(weight[tree.inside(np.flatnonzero(tree.where_name(_seeks)).astype(np.int32))].sum())
    if seeks := not converts and seeking >= common()["most"].value * cost:
        entry, advice = small, _AT_ONCE
        summary = f"{place.function} goes to another place of a file for each small piece: {much}."
        evidence.append(
            time_fact(
                facts,
                seeking,
                "going to another place (fseek)",
                "time in functions of the fseek family and below",
                of=part_of(facts, cost, "file operations"),
            )
        )
    syncs = syncing > bound.threshold("min_sync_part") * cost
    if syncs:
        sync = next(name for name, _ in ranked if _SYNCING.search(name))
        evidence.append(
            time_fact(
                facts,
                syncing,
                f"flushing data to the device ({sync})",
                "time in functions of the fsync family",
                of=part_of(facts, cost, "file operations"),
            )
        )
    if syncs and not seeks and not converts:
        summary = f"{place.function} repeatedly flushes data to the device: {sync} has {numbers.percent(syncing / facts.total)} of the time."
        signs = 3
    elif not seeks and volume and facts.in_seconds and transferring > small.threshold("min_transfer_part") * cost:
        rate = volume / hot.weight
        evidence.append(
            fact(
                facts,
                Kind.RATE,
                rate,
                subject=f"the throughput of file operations called from {place.function}",
                unit="bytes/s",
                parts=(Part("", volume, "bytes"), Part("", hot.weight, time_unit(facts))),
                metric="io.write.bytes" if "io.write.bytes" in facts.profile.metrics else "io.read.bytes",
                how="bytes read and written / time in file operations, by calling function",
                where=place,
            )
        )
        if rate < small.threshold("max_throughput"):
            entry, signs = small, 3
            summary = f"{place.function} moves data in small pieces: {numbers.size(rate)} per second, {much}."
        elif rate < small.threshold("max_cached_throughput"):
            entry = small
            summary = f"{place.function} makes many small requests, mostly {ranked[0][0]}: {much}."
    yield Draft(
        cause=entry.id,
        where=place,
        summary=summary,
        cost=share * facts.total,
        share=share,
        # What the slowest rank takes longer is told as imbalance.
        headroom=entry.headroom * float(by_rank.mean()) / share if _uneven(facts, by_rank) else None,
        evidence=tuple(evidence),
        signs=signs,
        against=tuple(against),
        title=title,
        advice=advice if seeks or (entry is bound and not syncs) else (),
        own_advice=converts or seeks,
    )


def _seeks(name: str) -> bool:
    return _SEEKING.match(_INNER.sub("", base_name(name), count=1)) is not None


def imbalance(facts: Facts) -> Iterable[Draft]:
    """One rank takes much longer in file operations than the mean: the others wait for it at their next collective call."""
    entry, by_rank = cause("io-imbalance"), _by_rank(facts)
    hot = facts.hot_place(facts.of(Activity.IO)) if _uneven(facts, by_rank) else None
    if hot is None:
        return
    slow, mean, most = float(by_rank.max()), float(by_rank.mean()), int(np.unique(facts.ranks)[by_rank.argmax()])
    longest = float(facts.matrix.sum(axis=1).max())
    others = facts.matrix[facts.ranks != most]
    waiting, lost = float(others[:, Activity.MPI].sum()), (slow - mean) * longest * len(by_rank)
    waits = 2 * waiting >= lost
    yield Draft(
        cause=entry.id,
        where=hot.place,
        summary=f"Rank {most} spends {numbers.percent(slow)} of the run in file operations, where the mean of {len(by_rank)} ranks is "
        f"{numbers.percent(mean)}.",
        cost=(slow - mean) * facts.total,
        share=slow - mean,
        evidence=(
            fact(
                facts,
                Kind.COMPARISON,
                slow * longest,
                subject=f"rank {most}, in file operations,",
                whole=Quantity(mean * longest, time_unit(facts), "a rank on average"),
                how="time in input and output functions of the C library and below, by rank; of threads the one with the most",
                where=hot.place,
            ),
        ),
        signs=2 if waits else 1,
        against=() if waits else ("Their time in MPI does not show that the others wait for it.",),
        replaces=("mpi-collective-wait", "mpi-late-sender") if waits and 2 * lost >= waiting else (),
        spread=Spread(len(by_rank), "ranks"),
    )


def _uneven(facts: Facts, by_rank: FloatArray) -> bool:
    """True if the slowest rank takes so much longer than the mean that it is worth telling."""
    entry, slow, mean = cause("io-imbalance"), float(by_rank.max()), float(by_rank.mean())
    return facts.above(slow - mean, entry.threshold("min_share")) and slow >= entry.threshold("min_ratio") * mean


def _by_rank(facts: Facts) -> FloatArray:
    """Part of the run (0..1) that each rank is in file operations: of threads the one that is longest there. Without ranks the mean of all
    threads.
    """
    if facts.rank_count < 2 or (facts.ranks < 0).any():
        return np.array([facts.share(Activity.IO)])
    ids, rank = np.unique(facts.ranks, return_inverse=True)
    most = np.zeros(len(ids))
    np.maximum.at(most, rank, facts.matrix[:, Activity.IO])
    return np.asarray(most / facts.matrix.sum(axis=1).max())


def _bytes(facts: Facts, label: int) -> float:
    """Bytes that calls from the function with that number read and wrote; 0 where they were not collected."""
    found = (facts.profile.dense(name) for name in ("io.read.bytes", "io.write.bytes") if facts.profile.has(name))
    return sum(float(facts.in_function(label, each).sum()) for each in found)


RULES = (input_output, imbalance)
