"""Which metrics a few words name, by their id, their description or their name in the source: `bytes written`, `registers per thread`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

from chathpc.chat.session import Session
from chathpc.diagnosis.catalogue.search import root
from chathpc.profile.metric import Metric, Unit

_WORD = re.compile(r"[a-z]+\d*[a-z]*|\d+[a-z]*")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
#: What stands between words of a name and is none of it; nor does it tell one metric from another.
_BETWEEN = frozenset(
    _WORD.findall(
        "a an the of is are was were be been being do does did per in into on to from at by for and or with that it its there this each every "
        "go goes went reason reasons"
    )
)
#: Roots of words that say where or how something is measured, not what: alone they name no metric, beside others they count so much.
_COMMON = frozenset(
    root(word)
    for word in _WORD.findall(
        "time count number total cpu gpu host device io i o mpi kernel run rank thread function process sample second value mean memory limit core"
    )
)
_LITTLE = 0.3
#: What people call a quantity, and how metrics are called.
_CALLED = {
    "data": "bytes", "transferred": "copied", "transfers": "copies", "transfer": "copy", "written": "writes", "wrote": "writes", "sent": "sends",
    "metadata": "meta", "allocation": "allocated", "allocations": "allocated", "average": "mean", "avg": "mean", "throughput": "bandwidth",
    "pinned": "pageable",
}  # fmt: skip
_PHRASES = {
    "i/o": "io", "many times": "count",
    "bytes per second": "bandwidth", "dram-rate": "dram bandwidth", "over pcie": "copied", "block size": "threads per block",
    "fp64": "double precision", "fp32": "single precision",
}  # fmt: skip
#: How near (0..1) words must be to one of a metric's names; where each word names one of its own; and for further metrics, as a part of
#: the nearest one's.
_LEAST, _HALF, _ALSO = 0.3, 0.5, 0.6
#: Of two such roots a metric has the one that a question says, or is not meant by it.
_OPPOSITES = {"read": "writ", "writ": "read", "send": "receiv", "receiv": "send", "load": "stor", "stor": "load"}
#: Words of the longest name in a question.
_LONGEST = 6


@dataclass(frozen=True)
class Names:
    """The names of a metric, each as the roots of its words."""

    metric: Metric
    names: tuple[frozenset[str], ...]

    @cached_property
    def all(self) -> frozenset[str]:
        """The words of all of its names."""
        return frozenset().union(*self.names)


def named(session: Session, words: str) -> list[Metric]:
    """The metrics with values that have all of the `words` in their names, the nearest first.

    Where none has all, the nearest of each word (files opened: files, and opens); none where a word is in no name or but a little of one, or
    all could be in any.
    """
    wanted = list(dict.fromkeys(_roots(words)))
    for words_of in (frozenset(wanted), frozenset(wanted) - _COMMON):
        if found := _with(session, words_of):
            return found
    each = [_with(session, frozenset({word}), _HALF)[:1] for word in wanted if word not in _COMMON]
    return list({one.id: one for found in each for one in found}.values()) if all(each) else []


def spans(session: Session, said: Sequence[str]) -> list[tuple[int, int, str]]:
    """Where in the words of a question the name of a metric stands (begin, end), and that name: the longest one, and without common
    words at its ends.
    """
    best: dict[bool, tuple[float, int, int, str]] = {}
    for begin in range(len(said)):
        for end in range(begin + 1, min(begin + _LONGEST, len(said)) + 1):
            part = said[begin:end]
            if any(word[0] == "@" for word in part):
                break
            if part[0] in _BETWEEN or part[-1] in _BETWEEN:
                continue
            text = " ".join(word for word in part if word not in _BETWEEN)
            wanted = frozenset(_roots(text))
            score = _weight(wanted)
            if not wanted or not (found := named(session, text)):
                continue
            if _opposes(session, found[0], said):
                continue  # a longer name may say which
            bare = _COMMON.isdisjoint(_roots(f"{part[0]} {part[-1]}"))
            for kind in (False, True) if bare else (False,):
                if kind not in best or score > best[kind][0]:
                    best[kind] = (score, begin, end, text)
    return list(dict.fromkeys(each[1:] for each in best.values()))


def opposite(words: str, asked: str) -> str:
    """The `words` for a metric with what is `asked` in the place of its opposite: bytes written, of what was read; empty where it is none."""
    for word in _WORD.findall(asked.casefold()):
        against = _OPPOSITES.get(root(_CALLED.get(word, word)))
        said = [word if root(_CALLED.get(each, each)) == against else each for each in words.split()]
        if " ".join(said) != words:
            return " ".join(said)
    return ""


def _opposes(session: Session, metric: Metric, said: Sequence[str]) -> bool:
    """Whether a question asks for the opposite of a metric: for what was read, of what was written."""
    mine = next(one.all for one in _known(session) if one.metric is metric)
    asked = frozenset(_roots(" ".join(said)))
    return any(_OPPOSITES.get(one) in mine - asked and one not in mine for one in asked)


def _with(session: Session, wanted: frozenset[str], lowest: float = _LEAST) -> list[Metric]:
    """The metrics with all of these words in their names, the nearest first, without those that are much farther; those that a profiler
    hides only where no other one is meant.
    """
    if wanted <= _COMMON:
        return []
    found = [(_near(wanted, one), one.metric) for one in _known(session) if wanted <= one.all]
    found = [each for each in found if not each[1].hidden] or found
    least = max(lowest, _ALSO * max((near for near, _ in found), default=0.0))
    # Of memory one asks how many bytes, not how often or how long.
    found.sort(key=lambda pair: (root("memory") in wanted and pair[1].unit != Unit.BYTES, -pair[0]))
    return [metric for near, metric in found if near >= least]


def _known(session: Session) -> Sequence[Names]:
    def make() -> list[Names]:
        metrics = (*session.measured.metrics.values(), *(one.metric for one in session.ratios.values()))
        return [_names(one) for one in metrics if one.has_values]

    return session.once("names of metrics", make)


def _names(metric: Metric) -> Names:
    described, _, beside = metric.description.partition(" (")
    others = beside.partition(")")[0].split(", ")  # (NCCL, NVSHMEM)
    texts = (metric.id, metric.source_name, described, *described.split(": "), *filter(None, others))
    return Names(metric, tuple(frozenset(_roots(text)) for text in texts))


def _roots(text: str) -> Iterator[str]:
    plain = _CAMEL.sub(" ", text).casefold()
    for phrase, meant in _PHRASES.items():
        plain = plain.replace(phrase, meant)
    yield from (root(_CALLED.get(word, word)) for word in _WORD.findall(plain) if word not in _BETWEEN)


def _near(wanted: frozenset[str], one: Names) -> float:
    """How much of a name and of `wanted` is the same (Jaccard), of the name that is nearest."""
    return max(_weight(wanted & name) / _weight(wanted | name) for name in one.names if name)


def _weight(words: frozenset[str]) -> float:
    return fsum(_LITTLE if word in _COMMON else 1.0 for word in words)  # the same whatever the order
