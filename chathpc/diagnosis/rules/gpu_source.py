"""What the source of hot GPU kernels says: further signs of what was measured, and findings of their own where only the time of a
kernel, or the lines at which its warps stall, are known. A kernel with counters is theirs: the source never contradicts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.device import Kernel, device_time, kernel_place, kernels, samples_metric
from chathpc.diagnosis.draft import Draft, kernel_time, share_fact
from chathpc.diagnosis.fact import Fact
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.kernel_counters import counted_names
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.source.hot import Hot, shortened, source_evidence
from chathpc.diagnosis.source.kernels import KernelSource, in_file, signs, small_launch
from chathpc.diagnosis.source.languages import grammar_of
from chathpc.diagnosis.source.sign import Sign
from chathpc.diagnosis.stall_samples import drawn, hot_part
from chathpc.diagnosis.statistics import is_above
from chathpc.profile import numbers
from chathpc.profile.kernel_names import kernel_key
from chathpc.profile.tree import IntArray

#: Kernels that are looked at, the longest first, and files that the profile names for each.
_MOST_KERNELS, _MOST_FILES = 8, 8
#: Findings of their own about one kernel that are told: what the second would win the first may have won.
_MOST_FINDINGS = 2
#: Stalls of threads that wait for memory.
_MEMORY = ("gpu.stall.memory", "gpu.stall.any-memory", "gpu.stall.memory-throttle", "gpu.stall.texture")
#: cause → stalls that there must be at its lines; none for any samples.
_STALLS: dict[str, tuple[str, ...]] = {
    "gpu-uncoalesced-access": _MEMORY,
    "gpu-atomics-contention": _MEMORY,
    "gpu-register-spill": _MEMORY,
    "gpu-shared-bank-conflicts": (
        "gpu.stall.short-scoreboard",
        "gpu.stall.dependency",
        "gpu.stall.pipe-busy",
        "gpu.stall.memory-throttle",
    ),
    "gpu-fp64-bound": ("gpu.stall.pipe-busy", "gpu.stall.dependency"),
    "gpu-barrier-stall": ("gpu.stall.barrier",),
}
#: Facts about a launch, which are measured where a tool tells them.
_LAUNCHES = {"gpu-small-grid": "gpu.kernel.blocks", "gpu-low-occupancy": "gpu.kernel.occupancy"}
_WHOLE = "Only the time of the whole kernel is measured: only samples of its instructions or counters would show whether these lines take it."


def with_kernel_source(facts: Facts, drafts: Sequence[Draft], computing: float = 1.0) -> list[Draft]:
    """`drafts` with what the source says of the hot kernels that they are about, and findings that only the source shows.

    A finding of its own needs a kernel without counters and `min_kernel_share` of the device's time; where there are samples of
    its instructions, also stalls of the fitting kind at the lines of the sign. `computing` is the part of the run (0..1) in which
    kernels compute.
    """
    profile = facts.profile
    every = kernels(profile)
    device = device_time(profile) or sum(kernel.seconds for kernel in every)
    base = samples_metric(profile)
    files = Hot(facts)
    counted = counted_names(profile)
    result = list(drafts)
    for kernel in every[:_MOST_KERNELS]:
        samples = float(profile.dense(base)[kernel.nodes].sum()) if base is not None else 0.0
        part = hot_part(profile, kernel, device, samples)
        if part is None:
            continue
        found = _source_of(facts, files, kernel)
        if found is None:
            continue
        one = _Kernel(facts, kernel, part, samples, found, kernel.name in counted, computing)
        # Launches that stand in another file are not looked for.
        launch = small_launch(found.source, kernel.name, int(cause("gpu-small-grid").threshold("few_blocks")))
        result = one.told(result, [*signs(found), *([launch] if launch is not None else ())])
    return result


def _source_of(facts: Facts, files: Hot, kernel: Kernel) -> KernelSource | None:
    """Where the source of a kernel stands: in the file that the profile names for it, else in any of its files."""
    tree = facts.profile.tree
    lines = np.unique(tree.line[kernel.nodes][tree.line[kernel.nodes] > 0])[:200].tolist()
    named = [
        number
        for number in dict.fromkeys([int(tree.file[kernel.top]), *tree.file[kernel.nodes].tolist()])
        if number >= 0
    ]
    others = [number for number, name in enumerate(tree.files) if number not in named and grammar_of(name) is not None]
    for number in (*named[:_MOST_FILES], *others[: 4 * _MOST_FILES]):
        source = files.source(number)
        found = None if source is None else in_file(source, number, kernel.name, lines if number in named else ())
        if found is not None:
            return found
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _Kernel:
    """A hot kernel with its source. `part` is its part of the device's time (0..1)."""

    facts: Facts
    kernel: Kernel
    part: float
    samples: float
    source: KernelSource
    is_counted: bool
    computing: float

    def told(self, drafts: list[Draft], found: Sequence[Sign]) -> list[Draft]:
        """`drafts` with what the source says of this kernel."""
        result, own = drafts, []
        for sign in found:
            same = [n for n, draft in enumerate(result) if draft.cause == sign.cause and self._is_mine(draft)]
            for n in same:
                result[n] = result[n].backed(self._evidence(sign))
            draft = None if same or self.is_counted or not sign.alone or self._is_measured(sign) else self._draft(sign)
            if draft is not None:
                own.append(draft)
        if not own:
            return result
        most = common()["behind"].value * cause(own[0].cause).headroom
        told = own[:_MOST_FINDINGS]
        won = [
            min(cause(draft.cause).headroom, most) if n else cause(draft.cause).headroom for n, draft in enumerate(told)
        ]
        kept = [draft for draft in result if draft.cause != "gpu-kernel-bound" or not self._is_mine(draft)]
        return [*kept, *(replace(draft, headroom=one * self.computing) for draft, one in zip(told, won, strict=True))]

    def _is_mine(self, draft: Draft) -> bool:
        return draft.where.kernel is not None and kernel_key(draft.where.kernel) == kernel_key(self.kernel.name)

    def _is_measured(self, sign: Sign) -> bool:
        """True where the profile tells what the sign is about, so that the rules of what is measured have judged it."""
        metric = _LAUNCHES.get(sign.cause)
        profile = self.facts.profile
        return metric is not None and profile.has(metric) and profile.exclusive(metric).at(self.kernel.top) is not None

    def _place(self, line: int, node: int = -1) -> Place:
        place = kernel_place(self.facts.profile, self.kernel)
        name = self.facts.profile.tree.files[self.source.file]
        return replace(place, file=name, line=line, node=node if node >= 0 else place.node)

    def _evidence(self, sign: Sign) -> Fact:
        return source_evidence(self.facts, self._place(sign.line), sign, metric=self._metric)

    @property
    def _metric(self) -> str:
        return (
            "gpu.kernel.time"
            if self.facts.profile.has("gpu.kernel.time")
            else samples_metric(self.facts.profile) or "gpu.time"
        )

    def _nodes(self, sign: Sign) -> IntArray:
        """Contexts of the kernel at the lines of a sign."""
        tree, nodes = self.facts.profile.tree, self.kernel.nodes
        lines = tree.line[nodes]
        here = np.flatnonzero((tree.file[nodes] == self.source.file) & (lines >= sign.first) & (lines <= sign.last))
        chosen: IntArray = nodes[here]
        return chosen

    def _draft(self, sign: Sign) -> Draft | None:
        if self.samples and sign.cause not in _LAUNCHES:
            return self._sampled(sign)
        return self._timed(sign)

    def _runs(self) -> tuple[Fact, ...]:
        seconds, where = self.kernel.seconds, self._place(self.source.function.first)
        whole = seconds / self.part
        return (kernel_time(self.facts, self.kernel.short, seconds, whole, where=where),) if seconds else ()

    def _timed(self, sign: Sign) -> Draft | None:
        """A finding about a kernel of which only the time is known."""
        if not self.kernel.seconds:
            return None
        place = self._place(sign.line)
        whole = () if sign.cause in _LAUNCHES else (_WHOLE,)
        return Draft(
            cause=sign.cause,
            where=place,
            summary=f"{self.kernel.short} {shortened(sign.summary, 150)}, as its source shows: {numbers.percent(self.part)} of the device's busy time.",
            cost=self.kernel.seconds,
            share=self.part,
            threshold=common()["min_kernel_share"].value,
            evidence=(*self._runs(), self._evidence(sign)),
            against=(*sign.against, *whole),
            samples=0,
            derived=True,
        )

    def _sampled(self, sign: Sign) -> Draft | None:
        """A finding about the lines of a kernel at which its warps stall in the way that the source makes one expect."""
        profile, nodes = self.facts.profile, self._nodes(sign)
        base = samples_metric(profile)
        if base is None or not len(nodes):
            return None
        metrics = [name for name in _STALLS.get(sign.cause, (base,)) if profile.has(name)]
        weight = sum((profile.dense(name) for name in metrics), np.zeros(len(profile.tree)))
        stalled = float(weight[nodes].sum())
        share = stalled / self.samples
        kind = sign.cause if sign.cause == "gpu-barrier-stall" else "gpu-memory-latency"
        limit = cause(kind).threshold("min_stall_share")
        taken = drawn(profile, base, self.samples)
        if not is_above(share, limit, taken, common()["sigma"].value):
            return None
        place = self._place(sign.line, int(nodes[int(np.argmax(weight[nodes]))]))
        lines = f"line {sign.first}" if sign.first == sign.last else f"lines {sign.first} to {sign.last}"
        what = "wait there" if metrics != [base] else "are there"
        return Draft(
            cause=sign.cause,
            where=place,
            summary=f"{self.kernel.short} {shortened(sign.summary, 150)}, as its source shows: {numbers.percent(share)} of its warp samples {what}.",
            cost=self.kernel.seconds * share,
            share=self.part * share,
            threshold=limit * self.part,
            evidence=(
                share_fact(
                    self.facts,
                    share,
                    f"waiting at {lines}" if metrics != [base] else f"the code at {lines}",
                    f"the warp samples of {self.kernel.short}",
                    f"{' + '.join(metrics)} of the lines / {base} over the kernel",
                    metric=metrics[0],
                    where=place,
                ),
                *self._runs(),
                self._evidence(sign),
            ),
            signs=2 if metrics != [base] else 1,
            derived=metrics == [base],
            against=sign.against,
            samples=taken,
        )
