"""Input and output as a log of all ranks tells it (Darshan): how much of the run, in what pieces, by which ranks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.draft import Draft, Spread, fact
from chathpc.diagnosis.fact import Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Place
from chathpc.profile import numbers
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums of a log over all ranks and files: seconds, bytes, counts; `window` is processes × run time in seconds."""

    window: float
    time: float
    read: float
    write: float
    meta: float
    bytes: float
    requests: float
    small: float
    large: float
    meta_calls: float
    files: float

    @property
    def share(self) -> float:
        """Part of the process time that is input and output, at most 1."""
        return min(self.time / self.window, 1.0) if self.window else 0.0

    @property
    def possible(self) -> bool:
        """False if the times cannot all be true."""
        return self.time <= cause("io-bound").threshold("max_possible") * self.window


def totals(profile: Profile) -> Totals:
    """The sums of a log; 0 for what it does not have."""

    def total(*names: str) -> float:
        return sum(
            profile.total(name) for name in names if name in profile.metrics and profile.metrics[name].has_values
        )

    return Totals(
        window=total("run.time"),
        time=total("io.time"),
        read=total("io.read.time"),
        write=total("io.write.time"),
        meta=total("io.meta.time"),
        bytes=total("io.read.bytes", "io.write.bytes"),
        requests=total("io.read.count", "io.write.count"),
        small=total("io.small.count"),
        large=total("io.large.count"),
        meta_calls=total("io.meta.count"),
        files=total("io.files"),
    )


def processes_of(profile: Profile) -> int:
    """Number of processes of a logged run, at least 1."""
    text = profile.run.get("processes", "1")
    return max(int(text), 1) if text.isdecimal() and text.isascii() and len(text) < 12 else 1


def is_log(facts: Facts) -> bool:
    """True if the profile has the log of a run's input and output."""
    metrics = facts.profile.metrics
    return all(name in metrics and metrics[name].has_values for name in ("io.time", "run.time"))


def too_little_io(facts: Facts) -> str:
    """Why a log supports no conclusion, as a sentence; empty where it does."""
    entry = cause("io-bound")
    sums = totals(facts.profile)
    moved, spent = numbers.size(sums.bytes), numbers.seconds(sums.read + sums.write)
    if not sums.possible:
        if sums.read + sums.write >= entry.threshold("min_share") * sums.window:
            return ""
        return (
            f"The log's metadata time of {numbers.seconds(sums.meta)} is more than the {numbers.seconds(sums.window)} of all "
            f"processes, so no share can be given; reads and writes take {spent} for {moved}, and "
            f"{numbers.count(sums.meta_calls)} opens and stats of {numbers.count(sums.files)} files (metadata) are what to look at."
        )
    if sums.bytes < entry.threshold("min_bytes") and sums.time < entry.threshold("min_seconds"):
        return (
            f"Only {moved} were moved in {numbers.seconds(sums.time)} of {numbers.seconds(sums.window)} process time: too little "
            "for a conclusion about input and output."
        )
    return ""


def bound(facts: Facts) -> Iterable[Draft]:
    """Input and output take a part of the process time; what could be won depends on the size of the requests."""
    entry = cause("io-bound")
    profile, sums = facts.profile, totals(facts.profile)
    if sums.share < entry.threshold("min_share") or sums.read + sums.write < sums.meta:
        return
    wall = sums.window / processes_of(profile)
    place = _place(facts, "io.time")
    small = sums.small / sums.requests if sums.requests else 0.0
    large = sums.large / sums.requests if sums.requests else 0.0
    evidence = [
        _spent(facts, sums),
        fact(
            facts,
            Kind.RATE,
            sums.bytes / wall,
            subject="the rate of input and output",
            unit="bytes/s",
            parts=(Part("", sums.bytes, "bytes"), Part("", wall, "s")),
            metric=_volume(profile),
            how="bytes read and written / run time",
        ),
        fact(
            facts,
            Kind.SHARE,
            large,
            subject="requests of 1 MB or more",
            form=Form.MANY,
            unit="ratio",
            whole=Quantity(sums.requests, "requests"),
            parts=(Part("less than 10 kB", small, "ratio"),),
            metric="io.large.count",
            how="histogram of request sizes",
        ),
    ]
    against: tuple[str, ...] = ()
    headroom = None
    chosen = entry
    if small >= cause("io-small-requests").threshold("min_small_share"):
        chosen = cause("io-small-requests")
    elif large >= entry.threshold("large_share"):
        # Large requests run at the rate of the file system: only less data, or writing beside computing, helps.
        headroom = entry.threshold("headroom_of_large")
        against = ("Requests are large already, so the file system's rate is the limit.",)
    verb = "writes" if sums.write > sums.read else "reads"
    yield Draft(
        cause=chosen.id,
        where=place,
        summary=f"The processes spend {numbers.percent(sums.share)} of their time in input and output, mostly {verb}.",
        cost=sums.time,
        share=sums.share,
        threshold=entry.threshold("min_share"),
        headroom=headroom,
        evidence=tuple(evidence),
        signs=2,
        against=against,
        samples=0,
    )


def metadata(facts: Facts) -> Iterable[Draft]:
    """Opening, looking up and closing files takes longer than moving data."""
    entry = cause("io-metadata-bound")
    sums = totals(facts.profile)
    share = min(sums.meta / sums.window, 1.0) if sums.window else 0.0
    if share < entry.threshold("min_share") or sums.meta <= sums.read + sums.write or not sums.possible:
        return
    yield Draft(
        cause=entry.id,
        where=_place(facts, "io.meta.time"),
        summary=f"The processes spend {numbers.percent(share)} of their time in opening, looking up and closing files.",
        cost=sums.meta,
        share=share,
        threshold=entry.threshold("min_share"),
        evidence=(
            _spent(facts, sums),
            fact(
                facts,
                Kind.AMOUNT,
                sums.meta,
                subject="opening files and reading their attributes",
                unit="s",
                whole=Quantity(sums.time, "s", "input and output"),
                parts=(
                    Part("", sums.meta_calls, "calls"),
                    Part("", sums.files, "files"),
                    Part("reads and writes", sums.read + sums.write, "s"),
                ),
                metric="io.meta.time",
                how="metadata time of all files",
            ),
        ),
        signs=2,
        samples=0,
    )


def imbalance(facts: Facts) -> Iterable[Draft]:
    """The slowest rank on a shared file takes much longer than the mean: the others wait for it at the next collective call."""
    entry = cause("io-imbalance")
    profile, sums = facts.profile, totals(facts.profile)
    processes = processes_of(profile)
    if "io.rank.slowest" in profile.metrics and sums.possible and processes > 1:
        slowest_at = profile.exclusive("io.rank.slowest")
        node = int(slowest_at.nodes[int(np.argmax(slowest_at.values))])
        slowest = float(slowest_at.values.max())
        mean = (profile.inclusive("io.time").at(node) or 0.0) / processes
        fastest = profile.exclusive("io.rank.fastest").at(node) if "io.rank.fastest" in profile.metrics else None
    else:
        by_rank = profile.location_totals("io.time")[profile.where.rank >= 0]
        if len(by_rank) < 2 or not np.nansum(by_rank):
            return
        by_rank = np.nan_to_num(by_rank)
        slowest, mean, fastest = float(by_rank.max()), float(by_rank.sum()) / processes, float(by_rank.min())
        node = _heaviest(facts, "io.time")
    wall = sums.window / processes
    waiting = (slowest - mean) / wall if wall else 0.0
    if waiting < entry.threshold("min_share") or slowest < entry.threshold("min_ratio") * mean:
        return
    place = _file_place(facts, node)
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"Input and output take {numbers.percent(sums.share)} of the process time, and the slowest rank {numbers.seconds(slowest)} "
        f"where the mean is {numbers.seconds(mean)}.",
        cost=(slowest - mean) * processes,
        share=min(waiting, 1.0),
        threshold=entry.threshold("min_share"),
        evidence=(
            _spent(facts, sums),
            fact(
                facts,
                Kind.COMPARISON,
                slowest,
                subject=f"the slowest rank, on {place.function},",
                unit="s",
                whole=Quantity(mean, "s", "a rank on average"),
                parts=() if fastest is None else (Part("the fastest", fastest, "s"),),
                metric="io.rank.slowest" if "io.rank.slowest" in profile.metrics else "io.time",
                how="time of the slowest rank, and the time of all / ranks",
                where=place,
            ),
        ),
        against=("That the others wait for it is inferred: the log does not show what they do meanwhile.",),
        samples=0,
        spread=Spread(max(processes, 2), "ranks"),
    )


def _spent(facts: Facts, sums: Totals) -> Fact:
    return fact(
        facts,
        Kind.AMOUNT,
        sums.time,
        subject="input and output",
        form=Form.MANY,
        unit="s",
        whole=Quantity(sums.window, "s", "process time"),
        parts=(Part("writes", sums.write, "s"), Part("reads", sums.read, "s"), Part("opens and stats", sums.meta, "s")),
        metric="io.time",
        how="times of all files and ranks, of processes × run time",
    )


def _volume(profile: Profile) -> str:
    names = [name for name in ("io.write.bytes", "io.read.bytes") if name in profile.metrics]
    return max(names, key=profile.total, default="io.time")


def _heaviest(facts: Facts, metric: str) -> int:
    column = facts.profile.exclusive(metric)
    return int(column.nodes[int(np.argmax(column.values))]) if len(column) else -1


def _place(facts: Facts, metric: str) -> Place:
    return _file_place(facts, _heaviest(facts, metric))


def _file_place(facts: Facts, node: int) -> Place:
    """The data file of a node, as a place: files are no functions, but what a reader looks for."""
    tree = facts.profile.tree
    if node < 0:
        return Place()
    operation = tree.label(node) if tree.kind[node] == NodeKind.FUNCTION else ""
    file = int(tree.parent[node]) if operation else node
    name = f"{operation} of {tree.label(file)}" if operation else tree.label(file)
    return Place(function=name, path=tuple(tree.label(step) for step in tree.path(node)), node=node)


RULES = (bound, metadata, imbalance)
