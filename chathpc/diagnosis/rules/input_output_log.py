"""Input and output as a log of all ranks tells it (Darshan): how much of the run, in what pieces, by which ranks, on which targets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.coverage import not_collected
from chathpc.diagnosis.draft import Draft, Spread, fact
from chathpc.diagnosis.fact import Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Place
from chathpc.profile import numbers
from chathpc.profile.profile import PROCESSES, Profile
from chathpc.profile.tree import FloatArray, IntArray, NodeKind

#: Values of locations × places that are looked at: of huge logs the files with the most time.
_MOST_CELLS = 4_000_000
#: What helps where most requests begin or end within a block, which two ranks then write, or which is read before it is written.
_ALIGN = (
    "Let requests begin and end at blocks or stripes of the file system: H5Pset_alignment in HDF5, the hint striping_unit of MPI-IO, records padded "
    "to whole blocks.",
)


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums of a log over all ranks and files: seconds, bytes, counts; `window` is processes × run time in seconds. Of `system` seconds
    requests to the file system take, below the libraries.
    """

    window: float
    time: float
    read: float
    write: float
    meta: float
    system: float
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
        return sum(profile.total(name) for name in names if profile.has(name))

    return Totals(
        window=total("run.time"),
        time=total("io.time"),
        read=total("io.read.time"),
        write=total("io.write.time"),
        meta=total("io.meta.time"),
        system=total("io.system.time"),
        bytes=total("io.read.bytes", "io.write.bytes"),
        requests=total("io.sized.count"),
        small=total("io.small.count"),
        large=total("io.large.count"),
        meta_calls=total("io.meta.count"),
        files=total("io.files"),
    )


@dataclass(frozen=True, slots=True)
class Slowest:
    """The rank with the most time in input and output: its seconds, the mean of all ranks, and its seconds at the `nodes` that have
    the most; `rank` is −1 where the log does not tell which one it is. `share` is its part of the run, at most 1.

    Of a file that all ranks share a log tells the sum, the slowest and the fastest rank: the others are taken to be equal.
    """

    rank: int
    seconds: float
    mean: float
    share: float
    nodes: IntArray
    weights: FloatArray

    @property
    def node(self) -> int:
        """Where it has the most time; −1 for nowhere."""
        return int(self.nodes[int(np.argmax(self.weights))]) if len(self.nodes) else -1

    def of(self, part: FloatArray) -> float:
        """The part (0..1) of its time that has a property; `part` says how much of that of each node."""
        whole = float(self.weights.sum())
        return float(self.weights @ part[self.nodes]) / whole if whole else 0.0


def slowest(facts: Facts, layer: str = "io") -> Slowest:
    """The slowest rank at the outermost layers (`io`), or in requests to the file system (`io.system`), where these were logged."""
    profile, processes = facts.profile, processes_of(facts.profile)
    layer = layer if f"{layer}.time" in profile.metrics else "io"
    time, tree, values = f"{layer}.time", profile.tree, profile.values
    totals_of = np.nan_to_num(profile.location_totals(time))
    alone = profile.where.rank >= 0
    most = max(_MOST_CELLS // max(len(alone), 1), 1)
    ends = profile.dense(f"{layer}.rank.slowest")
    shared = np.argsort(-ends, kind="stable")[: min(most, np.count_nonzero(ends))].astype(np.int32)
    slow, fast = (values.per_location(f"{layer}.rank.{end}", shared, inclusive=False) for end in ("slowest", "fastest"))
    most_of, least_of = slow.max(axis=0), fast.max(axis=0)
    whole = tree.inclusive(profile.dense(time))[shared]
    rest = np.clip((whole - most_of - least_of) / max(processes - 2, 1), least_of, most_of)
    by_rank = np.where(slow > 0, slow, np.where(fast > 0, fast, rest))
    evenly = (float(totals_of[~alone].sum()) - float(whole.sum())) / processes
    seconds = np.where(alone, totals_of, 0.0) + evenly + by_rank.sum(axis=1)
    at = int(np.argmax(seconds))
    spent = profile.dense(time)
    nodes = np.argsort(-spent, kind="stable")[: min(most, np.count_nonzero(spent))].astype(np.int32)
    factor = np.full(len(tree), 1 / processes)
    for node, amount, of in zip(shared.tolist(), by_rank[at].tolist(), whole.tolist(), strict=True):
        factor[node : tree.end[node]] = amount / of if of else 0.0
    here = values.per_location(time, nodes, inclusive=False)
    weights = here[~alone].sum(axis=0) * factor[nodes] + (here[at] if alone[at] else 0.0)
    wall = totals(profile).window / processes
    share = min(float(seconds[at]) / wall, 1.0) if wall else 0.0
    mean = float(totals_of.sum()) / processes
    return Slowest(int(profile.where.rank[at]), float(seconds[at]), mean, share, nodes, weights)


def processes_of(profile: Profile) -> int:
    """Number of processes of a logged run, at least 1."""
    return max(profile.told(PROCESSES), 1)


def is_log(facts: Facts) -> bool:
    """True if the profile has the log of a run's input and output."""
    return facts.profile.has("io.time", "run.time")


def _counted(profile: Profile, what: str) -> float:
    """How many operations of a kind a log has; 0 where it counts none."""
    return float(profile.dense(f"io.{what}.count").sum())


def is_done(facts: Facts, advice: str) -> bool:
    """True for an advice that a log shows to be followed already: no flush was made, or all calls on shared files are collective."""
    if not is_log(facts):
        return False
    if "fsync" in advice and not _counted(facts.profile, "sync"):
        return True
    if "collective" not in advice:
        return False
    alone, calls = (float(counts.sum()) for counts in _apart(facts.profile))
    return calls > 0 and calls - alone >= common()["nearly_all"].value * calls


def little_io(facts: Facts) -> str:
    """That input and output take little of the run, as a sentence; empty where they take more, or the log cannot tell."""
    if not is_log(facts) or "partial" in facts.profile.run or not (sums := totals(facts.profile)).possible:
        return ""
    most = slowest(facts)
    if most.share >= cause("io-bound").threshold("min_share"):
        return ""
    return (
        f"Input and output take {numbers.percent(most.share)} of the run on the slowest rank, {numbers.percent(sums.share)} on average; "
        "the log does not show what else the program does."
    )


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
            f"{numbers.count(sums.meta_calls)} opens and stats of {numbers.count(sums.files)} files (metadata) deserve a look."
        )
    if sums.bytes < entry.threshold("min_bytes") and sums.time < entry.threshold("min_seconds"):
        return (
            f"Only {moved} were moved in {numbers.seconds(sums.time)} of {numbers.seconds(sums.window)} process time: too little "
            "for a conclusion about input and output."
        )
    return ""


def bound(facts: Facts) -> Iterable[Draft]:
    """Input and output take a part of the run; what could be won depends on how the requests are made, and on their size."""
    entry = cause("io-bound")
    profile, sums, most = facts.profile, totals(facts.profile), slowest(facts)
    if most.share < entry.threshold("min_share") or 2 * most.of(_is(profile, "io.meta.time")) > 1:
        return
    wall = sums.window / processes_of(profile)
    small, large = (most.of(_of_size(profile, size)) for size in ("small", "large"))
    apart = most.of(_part(profile, *_apart(profile)))
    unaligned = _counted(profile, "unaligned") / sums.requests if sums.requests else 0.0
    evidence = [
        *_spent(facts, sums, most),
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
    ]
    if sums.requests:
        evidence.append(
            fact(
                facts,
                Kind.SHARE,
                sums.large / sums.requests,
                subject="requests of 1 MB or more",
                form=Form.MANY,
                unit="ratio",
                whole=Quantity(sums.requests, "requests"),
                parts=(
                    Part("less than 10 kB", sums.small / sums.requests, "ratio"),
                    *([Part("not aligned to the file system's blocks", unaligned, "ratio")] if unaligned else []),
                ),
                metric="io.large.count",
                how="histogram of request sizes",
            )
        )
    against: tuple[str, ...] = ()
    headroom = None
    chosen = entry
    uneven = most.seconds >= cause("io-imbalance").threshold("min_ratio") * most.mean
    if large >= entry.threshold("large_share"):
        # Large requests run at the rate of the file system: only less data, or writing beside computing, helps.
        headroom = entry.threshold("headroom_of_large")
        against = ("Requests are large already, so the file system's rate is the limit.",)
        if uneven and not list(imbalance(facts)):  # others do as much in less time
            headroom, against = 1 - most.mean / most.seconds, ()
    elif apart >= cause("io-independent").threshold("min_part"):
        chosen = cause("io-independent")
        evidence.append(_independent(facts))
    elif small >= cause("io-small-requests").threshold("min_small_share"):
        chosen = cause("io-small-requests")
    elif uneven:
        headroom = entry.headroom * most.mean / most.seconds  # what the slowest rank takes longer is told as imbalance
    verb = "writes" if most.of(_is(profile, "io.write.time")) > most.of(_is(profile, "io.read.time")) else "reads"
    draft = _draft(facts, chosen.id, most, f"mostly {verb}", evidence, headroom=headroom, against=against)
    yield replace(draft, advice=_ALIGN if unaligned > common()["most"].value else ())


def metadata(facts: Facts) -> Iterable[Draft]:
    """Opening, looking up and closing files takes longer than moving data."""
    entry = cause("io-metadata-bound")
    sums, most = totals(facts.profile), slowest(facts)
    part = most.of(_is(facts.profile, "io.meta.time"))
    if part * most.share < entry.threshold("min_share") or 2 * part <= 1 or not sums.possible:
        return
    opening = fact(
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
    )
    yield _draft(
        facts, entry.id, most, "mostly in opening, looking up and closing files", (*_spent(facts, sums, most), opening), part=part
    )  # fmt: skip


def imbalance(facts: Facts) -> Iterable[Draft]:
    """The slowest rank takes much longer than the mean, on a shared file or in all: the others wait for it at the next collective call.

    Not where the slowest rank moved no more bytes than the fastest, nor in collective calls, in which all ranks wait: below these it is
    told where so few do all the requests that they cannot use a file system.
    """
    entry = cause("io-imbalance")
    profile, sums, processes = facts.profile, totals(facts.profile), processes_of(facts.profile)
    if not sums.possible or processes < 2:
        return
    most, below = slowest(facts), slowest(facts, "io.system")
    node, slow, mean, fastest, of = most.node, most.seconds, most.mean, None, "in all its files"
    shared = profile.dense("io.rank.slowest")
    means = profile.tree.inclusive(profile.dense("io.time")) / processes
    file = int(np.argmax(np.where(shared > 0, shared - means, -np.inf)))
    if shared[file] - means[file] >= common()["nearly_all"].value * (slow - mean):
        node, slow, mean, of = file, float(shared[file]), float(means[file]), ""
        fastest = float(profile.dense("io.rank.fastest")[file]) or None
    if _few_ranks(below, processes) and below.seconds - below.mean > slow - mean:
        node, slow, mean, fastest, of = below.node, below.seconds, below.mean, None, "in requests to the file system"
    elif not of and (_moved_alike(profile, file) or _joined_calls(profile, file)):
        return
    wall = sums.window / processes
    waiting = (slow - mean) / wall if wall else 0.0
    if waiting < entry.threshold("min_share") or slow < entry.threshold("min_ratio") * mean:
        return
    place = _file_place(facts, node)
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"Input and output take {numbers.percent(most.share)} of the run on the slowest rank, {numbers.seconds(slow)} "
        f"{f'{of} ' if of else ''}where the mean is {numbers.seconds(mean)}.",
        cost=slow - mean,
        share=min(waiting, 1.0),
        evidence=(
            *_spent(facts, sums, most),
            fact(
                facts,
                Kind.COMPARISON,
                slow,
                subject=f"the slowest rank, {of or f'on {place.function}'},",
                unit="s",
                whole=Quantity(mean, "s", "a rank on average"),
                parts=() if fastest is None else (Part("the fastest", fastest, "s"),),
                metric="io.time" if of else "io.rank.slowest",
                how="time of the slowest rank, and the time of all / ranks",
                where=place,
            ),
        ),
        against=("That the others wait for it is inferred: the log does not show what they do meanwhile.",),
        samples=0,
        spread=Spread(processes, "ranks"),
    )


def targets(facts: Facts) -> Iterable[Draft]:
    """One of the file system's storage targets takes much longer than the others, or all ranks share few of them."""
    entry, profile, sums = cause("io-storage-targets"), facts.profile, totals(facts.profile)
    if "io.target.time" not in profile.metrics or not sums.possible:
        return
    most, processes, column = slowest(facts), processes_of(profile), profile.exclusive("io.target.time")
    times, moved = column.values, profile.dense("io.target.bytes")[column.nodes]
    hottest, mean = int(np.argmax(times)), float(times.mean())
    ratio = float(times[hottest]) / mean if mean else 0.0
    small = most.of(_of_size(profile, "small"))
    if most.share < entry.threshold("min_share") or 2 * most.of(_is(profile, "io.meta.time")) > 1:
        return
    if _few_ranks(slowest(facts, "io.system"), processes):
        return
    used, uneven = len(times) / ratio if ratio else 0.0, ratio >= entry.threshold("min_ratio")
    crowded = used <= entry.threshold("few_targets") and processes >= entry.threshold("crowd") * used
    if not uneven and (not crowded or small >= cause("io-small-requests").threshold("min_small_share")):
        return
    name, many = profile.tree.label(int(column.nodes[hottest])), f"{len(times)} storage targets"
    if not uneven:
        words = f"and {processes:,} ranks share {many if len(times) > 1 else 'one storage target'}"
    elif moved[hottest] >= entry.threshold("min_ratio") * moved.mean():
        words = f"and {name} holds {numbers.size(float(moved[hottest]))}, {numbers.number(moved[hottest] / moved.mean())} times the mean of {many}"
    else:
        words = f"and {name} takes {numbers.number(ratio)} times the mean of {many} for as many bytes"
    part = 1 - 1 / ratio if uneven else 1.0
    compared = fact(
        facts,
        Kind.COMPARISON,
        float(times[hottest]),
        subject=f"the files on {name}, all ranks together,",
        form=Form.MANY,
        unit="s",
        whole=Quantity(mean, "s", f"those on each of {many} on average"),
        parts=(Part("bytes there", float(moved[hottest]), "bytes"), Part("on average", float(moved.mean()), "bytes")),
        metric="io.target.time",
        how="times of the files, spread evenly over their stripes",
    )
    draft = _draft(facts, entry.id, most, words, (*_spent(facts, sums, most), compared), part=part)
    told_by_it = uneven and 2 * draft.cost >= most.seconds - most.mean
    yield replace(draft, replaces=("io-imbalance", "io-bound") if told_by_it else ())


def _moved_alike(profile: Profile, file: int) -> bool:
    """True if the slowest rank on a shared file is known to have moved about as many bytes as the fastest, or fewer."""
    slow, fast = (float(profile.dense(f"io.rank.{end}.bytes")[file]) for end in ("slowest", "fastest"))
    return 0 < slow < cause("io-imbalance").threshold("min_ratio") * fast


def _joined_calls(profile: Profile, file: int) -> bool:
    """True if nearly all calls of MPI-IO on a file were collective already."""
    joined, alone = (
        float(profile.tree.inclusive(profile.dense(f"io.{name}.count"))[file]) for name in ("collective", "independent")
    )
    return 0 < joined >= common()["nearly_all"].value * (joined + alone)


def _few_ranks(below: Slowest, processes: int) -> bool:
    """True if the requests to the file system are those of so few ranks that they cannot use it."""
    few = cause("io-imbalance").threshold("few_ranks")
    return processes > few and 0 < below.mean * processes <= few * below.seconds


def _draft(
    facts: Facts, id: str, most: Slowest, words: str, evidence: Iterable[Fact], *, part: float = 1.0,
    headroom: float | None = None, against: tuple[str, ...] = (),
) -> Draft:  # fmt: skip
    """What costs `part` of the slowest rank's time."""
    who = "slowest rank" if processes_of(facts.profile) > 1 else "program"
    command = not_collected(facts.profile).get("each request with its time and offset")
    return Draft(
        cause=id,
        where=_file_place(facts, most.node),
        summary=f"The {who} spends {numbers.percent(most.share)} of the run in input and output, {words}.",
        cost=part * most.seconds,
        share=part * most.share,
        headroom=headroom,
        evidence=tuple(evidence),
        signs=2,
        against=against,
        samples=0,
        next_measurement=f"{command} (Each request with its time and offset.)" if command else None,
    )


def _is(profile: Profile, metric: str) -> FloatArray:
    """1 for nodes that have some of a metric."""
    return (profile.dense(metric) > 0).astype(np.float64)


def _part(profile: Profile, part: FloatArray, whole: FloatArray) -> FloatArray:
    """For each node which part of a whole its file has, in which both are counted; 0 where the whole is not."""
    order = np.arange(len(profile.tree))
    file = np.maximum.accumulate(np.where(whole > 0, order, -1))
    inside = (file >= 0) & (order < profile.tree.end[file])
    return np.where(inside, part[file] / np.where(whole > 0, whole, 1.0)[file], 0.0)


def _of_size(profile: Profile, size: str) -> FloatArray:
    """For each node the part of its file's requests that is `small` or `large`."""
    return _part(profile, profile.dense(f"io.{size}.count"), profile.dense("io.sized.count"))


def _apart(profile: Profile) -> tuple[FloatArray, FloatArray]:
    """Calls of MPI-IO on shared files that were not joined with those of other ranks, and all, by file: independent calls, and
    collective ones where no fewer requests reach the file system.
    """
    independent, collective = (profile.dense(f"io.{name}.count") for name in ("independent", "collective"))
    requests = profile.dense("io.sized.count") * (profile.tree.inclusive(profile.dense("io.system.time")) > 0)
    fell_back = requests >= collective if processes_of(profile) > 1 else np.zeros(len(profile.tree), dtype=bool)
    return independent + np.where(fell_back, collective, 0.0), independent + collective


def _independent(facts: Facts) -> Fact:
    independent, asked = (float(facts.profile.dense(f"io.{name}.count").sum()) for name in ("independent", "asked"))
    alone, calls = (float(counts.sum()) for counts in _apart(facts.profile))
    return fact(
        facts,
        Kind.SHARE,
        alone / calls,
        subject="calls of MPI-IO that reach the file system one by one",
        form=Form.MANY,
        unit="ratio",
        whole=Quantity(calls, "calls"),
        parts=(
            Part("independent", independent, "calls"),
            Part("asked of a library above collectively", asked, "accesses"),
        ),
        metric="io.independent.count",
        how="independent calls, and collective ones on files with as many requests",
    )


def _spent(facts: Facts, sums: Totals, most: Slowest) -> Iterable[Fact]:
    parts = [Part("writes", sums.write, "s"), Part("reads", sums.read, "s"), Part("opens and stats", sums.meta, "s")]
    if 0 < sums.system < common()["nearly_all"].value * sums.time:
        parts.append(Part("of these in requests to the file system", sums.system, "s"))
    yield fact(
        facts,
        Kind.AMOUNT,
        sums.time,
        subject="input and output",
        form=Form.MANY,
        unit="s",
        whole=Quantity(sums.window, "s", "process time"),
        parts=parts,
        metric="io.time",
        how="times of all files and ranks, of processes × run time",
    )
    processes = processes_of(facts.profile)
    if processes > 1:
        yield fact(
            facts,
            Kind.AMOUNT,
            most.seconds,
            subject="the slowest rank" if most.rank < 0 else f"rank {most.rank}, the slowest,",
            unit="s",
            whole=Quantity(sums.window / processes, "s", "the run"),
            parts=(Part("a rank on average", most.mean, "s"),),
            metric="io.time",
            how="times of its files, and of shared files its own or, where unknown, the mean of the others",
        )


def _volume(profile: Profile) -> str:
    names = [name for name in ("io.write.bytes", "io.read.bytes") if name in profile.metrics]
    return max(names, key=profile.total, default="io.time")


def _file_place(facts: Facts, node: int) -> Place:
    """The data file of a node, as a place: files are no functions, but what a reader looks for."""
    tree = facts.profile.tree
    if node < 0:
        return Place()
    operation = tree.label(node) if tree.kind[node] == NodeKind.FUNCTION else ""
    file = int(tree.parent[node]) if operation else node
    name = f"{operation} of {tree.label(file)}" if operation else tree.label(file)
    return Place(function=name, path=tuple(tree.label(step) for step in tree.path(node)), node=node)


RULES = (bound, metadata, imbalance, targets)
