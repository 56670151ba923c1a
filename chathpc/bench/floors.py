"""What can be said without any diagnosis: the floors that a diagnosis has to beat.

*The biggest node* looks at one profile: functions, kernels and kinds of copies by exclusive time, as every profiler lists them.
The cause is what the name of the biggest one suggests (`CAUSES`), its place the function of the program that it is called from.
Where a name suggests several causes, the one stands here that is met most often. It never calls a program healthy.

*The profile-blind prior* looks at no profile at all: it always names the most frequent causes of the other cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from chathpc.bench.case import HEALTHY, Case
from chathpc.bench.outcome import Answer
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Place
from chathpc.profile.activity import Activity
from chathpc.profile.metric import Unit

#: What a node of that activity suggests to somebody who looks at nothing else; what is not here is nobody's work.
CAUSES = {
    Activity.COMPUTE: "hot-compute",
    Activity.LIBRARY: "hot-compute",
    Activity.MATH: "expensive-math",
    Activity.COPY: "redundant-copies",
    Activity.ALLOCATION: "allocation-churn",
    Activity.IO: "io-bound",
    Activity.MPI: "mpi-communication-bound",
    Activity.MPI_SETUP: "mpi-communication-bound",
    Activity.OMP_WAIT: "omp-load-imbalance",
    Activity.OMP_LOCK: "omp-critical-contention",
    Activity.OMP_OVERHEAD: "omp-fine-grained-regions",
    Activity.LOCK: "lock-contention",
    Activity.SLEEP: "blocking-wait",
    Activity.BLOCKED: "blocking-wait",
    Activity.JOIN: "blocking-wait",
    Activity.GPU_LAUNCH: "gpu-launch-bound",
    Activity.GPU_SYNC: "gpu-sync-overuse",
    Activity.GPU_COPY: "gpu-h2d-copy-bound",
    Activity.GPU_API: "gpu-allocation-in-loop",
    Activity.JIT: "jit-compilation",
    Activity.GPU: "gpu-kernel-bound",
}
#: The same for sums of a device's operations, and of logs of input and output.
SUMS = {
    "gpu.copy.h2d.time": "gpu-h2d-copy-bound",
    "gpu.copy.d2h.time": "gpu-d2h-copy-bound",
    "gpu.copy.unified.time": "gpu-unified-memory",
    "gpu.collective.time": "nccl-bound",
    "io.time": "io-bound",
}
#: Copies in all, for tools that tell no time by direction; more than half of them go to the device.
COPY_TIME, COPY_CAUSE = "gpu.copy.time", "gpu-h2d-copy-bound"
KERNEL_TIME, KERNEL_CAUSE = "gpu.kernel.time", "gpu-kernel-bound"
#: So many answers are given, as many as are scored.
ANSWERS = 3


def biggest_nodes(facts: Facts) -> tuple[Answer, ...]:
    """The first ANSWERS different causes that the biggest nodes suggest, the biggest first."""
    host = [*_host(facts)]
    device = [*_device(facts)]
    if host and not facts.in_seconds and device:
        host = []  # samples and seconds cannot be compared; the device's are what was measured in time
    ranked = sorted((*host, *device), key=lambda pair: -pair[0])
    total = sum(weight for weight, _, _ in ranked) or 1.0
    answers: dict[str, Answer] = {}
    for weight, cause, place in ranked:
        answers.setdefault(cause, Answer.at(cause, place, weight / total))
    return tuple(answers.values())[:ANSWERS]


def _host(facts: Facts) -> Iterable[tuple[float, str, Place]]:
    """Functions by exclusive time: (time, cause, place)."""
    if not facts.has_host_time:
        return
    labels = facts.profile.tree.function_labels[0].astype(np.int64)
    key = labels * len(Activity) + facts.activities.kind
    used = np.flatnonzero(facts.time > 0)
    inverse = np.unique(key[used], return_inverse=True)[1]
    sums = np.bincount(inverse, weights=facts.time[used])
    # More functions than this are not needed: there are no more causes.
    for index in np.argsort(-sums, kind="stable")[: 8 * len(CAUSES)].tolist():
        members = used[inverse == index]
        node = int(members[np.argmax(facts.time[members])])
        cause = CAUSES.get(Activity(int(facts.activities.kind[node])))
        if cause is not None:
            caller, site = int(facts.activities.caller[node]), int(facts.activities.site[node])
            yield float(sums[index]), cause, facts.place(caller, line_node=site)


def _device(facts: Facts) -> Iterable[tuple[float, str, Place]]:
    """Kernels, and the other operations of devices by kind; input and output of logs, which have nothing else."""
    profile = facts.profile
    told = {name for name, metric in profile.metrics.items() if metric.has_values and metric.unit == Unit.SECONDS}
    sums = {name: cause for name, cause in SUMS.items() if name in told}
    if COPY_TIME in told and not any(name.startswith("gpu.copy.") for name in sums):
        sums[COPY_TIME] = COPY_CAUSE
    for name, cause in sums.items():
        if profile.total(name) > 0:
            yield profile.total(name), cause, Place()
    if KERNEL_TIME not in told:
        return
    values = np.nan_to_num(profile.exclusive(KERNEL_TIME).dense(len(profile.tree)))
    names = profile.tree.name
    used = np.flatnonzero((values > 0) & (names >= 0))
    if not len(used):
        return
    by_name = np.bincount(names[used], weights=values[used])
    best = int(np.argmax(by_name))
    members = used[names[used] == best]
    node = int(members[np.argmax(values[members])])
    caller = int(facts.activities.caller[node])
    place = facts.place(caller) if caller >= 0 else Place()
    yield float(by_name[best]), KERNEL_CAUSE, Place(place.function, place.file, place.line, profile.tree.label(node))


def prior(case: Case, cases: Sequence[Case]) -> tuple[str, ...]:
    """The first ANSWERS causes of the other cases by how often they are the truth; equally frequent ones by name."""
    counted = Counter(HEALTHY if each.healthy else each.cause for each in cases if each is not case)
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return tuple(cause for cause, _ in ranked[:ANSWERS])
