"""The flat profile: where the time is, whatever the path to it; functions of the program by name, libraries by what they do."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from chathpc.diagnosis.coverage import HOST_TIME
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.statistics import largest_first
from chathpc.profile.activity import ACTIVITY_WORDS, KERNEL, Activity
from chathpc.profile.kernel_names import is_launcher, kernel_title, lambda_title
from chathpc.profile.names import in_words
from chathpc.profile.profile import Profile
from chathpc.profile.tree import CallTree, FloatArray, IntArray, is_one_of

#: Rows that are kept.
MOST = 12
#: A smaller part of the whole is not told (Amdahl: it cannot matter).
_SMALLEST = 0.005
#: What a library does for its caller; where threads wait says little of who makes them wait.
_BY_CALLER = (
    Activity.MATH,
    Activity.COPY,
    Activity.ALLOCATION,
    Activity.IO,
    Activity.MPI,
    Activity.SLEEP,
    Activity.LOCK,
    Activity.OMP_LOCK,
    Activity.PAGE_FAULT,
    Activity.LIBRARY,
)


@dataclass(frozen=True, slots=True)
class FlatRow:
    """One place: a function of the program or a kernel, or what libraries do; `share` of the whole (0..1) by itself."""

    name: str
    share: float
    is_own: bool


def flat_profile(profile: Profile, facts: Facts, metric: str | None) -> tuple[FlatRow, ...]:
    """The MOST largest rows by exclusive cost, largest first: of the host's time where there is any, else of `metric`."""
    labels, _ = profile.tree.function_labels
    if profile.time is not None and (metric is None or metric in HOST_TIME):
        values, kinds, mine = facts.time, facts.activities.kind, facts.caller_label
        values = np.where(kinds == Activity.PROFILER, 0.0, values)
        # Helper threads are no part of the time: what of libraries has no caller here is of threads of the program, without their stacks.
        kinds = np.where(kinds == Activity.HELPER, np.uint8(Activity.LIBRARY), kinds)
    elif metric is not None:
        values = np.maximum(profile.exclusive(metric).dense(len(profile.tree)), 0.0)
        kinds, mine = np.zeros(len(values), dtype=np.int8), labels
    else:
        return ()
    whole = float(values.sum())
    if whole <= 0:
        return ()
    spent: IntArray = np.asarray(kinds, dtype=np.int32)
    rows = [*_own(facts, values, spent, mine, labels), *_doing(facts, values, spent, mine)]
    rows = [(name, value / whole, own) for name, value, own in rows if value >= _SMALLEST * whole]
    rows = sorted(rows, key=lambda row: -row[1])[:MOST]
    # Kernels of one launcher are told apart by what they run.
    titles = [
        (lambda_title(name) or (kernel_title(name) if is_launcher(name) else name)) if own else name
        for name, _, own in rows
    ]
    return tuple(
        FlatRow(title if titles.count(title) == 1 else name, share, own)
        for title, (name, share, own) in zip(titles, rows, strict=True)
    )


def _own(
    facts: Facts, values: FloatArray, kinds: IntArray, mine: IntArray, labels: IntArray
) -> list[tuple[str, float, bool]]:
    """What functions of the program compute themselves, and kernels on a device."""
    names = facts.label_names
    label = np.where(kinds == Activity.GPU, labels, mine)
    counted = is_one_of(kinds, (Activity.COMPUTE, Activity.GPU)) & (label >= 0)
    sums = np.bincount(label[counted], weights=values[counted], minlength=len(names))
    numbers = np.flatnonzero(sums > 0)
    told = (in_words(facts.readable(names[number]) or names[number]) for number in numbers.tolist())
    return [(name, value, True) for name, value in largest_first(told, sums[numbers].tolist())]


#: A package of Python, and a library of the system without its version.
_PACKAGE, _SHARED = re.compile(r"(?:site|dist)-packages/(\w+)"), re.compile(r"([^/]+?)[-.\d]*\.so[.\d]*$")
#: The kernel as a load module, as in `[kernel.kallsyms]`.
_THE_KERNEL, _IN_KERNEL = "the kernel", re.compile(r"\[kernel\b|.*\bvmlinux")
_GOS_RUNTIME = "Go's runtime"


def _library(path: str) -> str:
    """What a library is called, by the path of its load module or source: `numpy`, `libopenblas`; libraries where that tells nothing."""
    if _IN_KERNEL.match(path):
        return _THE_KERNEL
    found = _PACKAGE.search(path) or _SHARED.search(path)
    return found[1] if found else ACTIVITY_WORDS[Activity.LIBRARY]


def _libraries(tree: CallTree, nodes: IntArray) -> tuple[IntArray, list[str]]:
    """The libraries of nodes as numbers from 1, by source or else by load module, 0 where neither tells; and what each number means."""
    names = {ACTIVITY_WORDS[Activity.LIBRARY]: 0}
    by_file, by_module = (
        np.array([*(names.setdefault(_library(path), len(names)) for path in paths), 0], dtype=np.int32)
        for paths in (tree.files, tree.modules)
    )
    found = by_file[tree.file[nodes]]
    found = np.where(found > 0, found, by_module[tree.module[nodes]])
    kernel, go = (names.setdefault(name, len(names)) for name in (_THE_KERNEL, _GOS_RUNTIME))
    found = np.where(
        tree.where_name(lambda name: name.startswith("runtime."))[np.maximum(tree.function[nodes], 0)], go, found
    )
    return np.where(tree.named(KERNEL)[nodes], kernel, found), list(names)


def _doing(facts: Facts, values: FloatArray, kinds: IntArray, mine: IntArray) -> list[tuple[str, float, bool]]:
    """What libraries do, by the function of the program that they do it for: `memory allocation in release`, `numpy in step`."""
    names, tree = facts.label_names, facts.profile.tree
    known = np.where(is_one_of(kinds, _BY_CALLER), mine, -1)
    counted = ~is_one_of(kinds, (Activity.COMPUTE, Activity.GPU)) & (values > 0)
    what = kinds[counted].astype(np.int64)
    library, libraries = _libraries(tree, np.flatnonzero(counted & (kinds == Activity.LIBRARY)).astype(np.int32))
    what[what == Activity.LIBRARY] = len(Activity) + library
    key = what * (len(names) + 1) + known[counted] + 1
    keys, row = np.unique(key, return_inverse=True)
    sums = np.bincount(row, weights=values[counted], minlength=len(keys))
    told = []
    for each in keys.tolist():
        kind, label = divmod(each, len(names) + 1)
        caller = f" in {facts.readable(names[label - 1]) or names[label - 1]}" if label else ""
        doing = ACTIVITY_WORDS[Activity(kind)] if kind < len(Activity) else libraries[kind - len(Activity)]
        told.append(f"{doing}{caller}")
    return [(name, value, False) for name, value in largest_first(told, sums.tolist())]
