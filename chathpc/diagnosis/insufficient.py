"""Host profiles from which nothing can be concluded: too short, without names, or of a program that waits for what was not measured."""

from __future__ import annotations

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.rules.mpi import public_name
from chathpc.diagnosis.statistics import largest_first
from chathpc.profile import numbers
from chathpc.profile.activity import BLOCKED, Activity, base_name
from chathpc.profile.classification import python_waits
from chathpc.profile.tree import FloatArray, NodeKind, is_one_of

_LISTED = 3


def too_brief(facts: Facts) -> str:
    """That a run took less than a millisecond, as a sentence; empty for longer ones and for sampled profiles."""
    if not facts.profile.timed or not facts.in_seconds or facts.total <= 0:
        return ""
    duration = facts.total / max(facts.thread_count, 1)
    if duration >= common()["shortest_run_seconds"].value:
        return ""
    return (
        f"The run takes {numbers.seconds(duration)}: too short to conclude from, as measuring it costs a microsecond per "
        "region. Measure a larger case, or many repetitions."
    )


def only_start_up(facts: Facts) -> str:
    """That a run shorter than a second mostly started and ended MPI, as a sentence; empty where it did more. While a rank waits for the
    others to start it has no core: that time tells nothing of how much the rest is.
    """
    if not facts.in_seconds or facts.total <= 0:
        return ""
    duration = facts.total / max(facts.thread_count, 1)
    if duration >= common()["short_run_seconds"].value:
        return ""
    tree, spent, share = facts.profile.tree, facts.of(Activity.MPI_SETUP), facts.share(Activity.MPI_SETUP)
    waited = float(spent[tree.named(BLOCKED)].sum())
    running = facts.total - waited
    if running <= 0 or float(spent.sum()) - waited < common()["start_up_share"].value * running:
        return ""
    nodes = np.flatnonzero(spent > 0)
    names = (public_name(tree.function_name(node)) for node in nodes.tolist())
    largest = largest_first(names, spent[nodes].tolist())[:_LISTED]
    listed = ", ".join(f"{name} {numbers.percent(time / facts.total)}" for name, time in largest)
    whose = f" in each of {facts.thread_count} threads or ranks" if facts.thread_count > 1 else ""
    return (
        f"The run takes {numbers.seconds(duration)}{whose}, and {numbers.percent(share)} of that is MPI start-up and shutdown "
        f"({listed}): too little of the program's own work to conclude from. Measure a longer run."
    )


#: What readers call a frame without a symbol.
NAMELESS = ("[unknown]", "<unknown procedure>", "<unknown function>", "??")
_FRAMES = (NodeKind.FUNCTION, NodeKind.INLINED, NodeKind.GPU_KERNEL, NodeKind.PLACEHOLDER)
#: The interpreter's loop, and how its functions' names begin.
_LOOP, _INTERPRETER = "PyEval_Eval", ("Py", "_Py")


def nameless(facts: Facts) -> str:
    """That nearly all time is in frames without function, load module and source line, as a sentence; empty otherwise.

    Frames that call it count as well: a nameless frame below a known function is time of that function. Threshold: `max_nameless`
    of the common ones.
    """
    tree = facts.profile.tree
    if not len(tree) or facts.total <= 0:
        return ""
    named = tree.where_name(lambda name: not name.startswith(NAMELESS))
    known = is_one_of(tree.kind, _FRAMES) & named
    known |= is_one_of(tree.kind, (*_FRAMES, NodeKind.INSTRUCTION)) & (tree.module >= 0)
    known |= (tree.file >= 0) & (tree.line > 0)
    known |= (tree.kind == NodeKind.REGION) & (tree.parent >= 0)
    lost = float(facts.time[tree.nearest(known) < 0].sum()) / facts.total
    regions = bool(np.any((tree.kind == NodeKind.REGION) & (tree.parent < 0) & ~_holds_frames(facts)))
    if regions or lost <= common()["max_nameless"].value:
        return ""
    return (
        f"{numbers.percent(lost)} of the time is in frames without a name, a load module or a source line: that time was spent is "
        "known, but not where. Record where the program's files are readable, with symbols (-g, not stripped)."
    )


def interpreted(facts: Facts, hottest: str | None) -> str:
    """That most of the time Python interprets, and which of its functions is not told, as a sentence; empty otherwise, and where the
    hottest function is neither the interpreter's nor an installed package's.

    Python's functions are frames of their own to its own profilers only; to others they are calls of the interpreter's loop.
    Threshold: `most` of the common ones.
    """
    tree = facts.profile.tree
    loop = tree.where_name(lambda name: _LOOP in name)
    if not loop.any() or any(path.endswith(".py") for path in tree.files) or not (facts.has_host_time and facts.total):
        return ""
    share = float(facts.time[tree.nearest(loop) >= 0].sum()) / facts.total
    if share <= common()["most"].value or not (hottest is None or base_name(hottest).startswith(_INTERPRETER)):
        return ""
    return (
        f"{numbers.percent(share)} of the time is spent in Python's interpreter, and which functions of the program it runs is not recorded. "
        "Measure with chathpc measure -- ./app where py-spy is installed (pip install py-spy)."
    )


def _holds_frames(facts: Facts) -> np.ndarray:
    """True for nodes with a frame below: a process or thread that was sampled, not a region that the program marked."""
    tree = facts.profile.tree
    frames = np.concatenate([[0], np.cumsum(is_one_of(tree.kind, _FRAMES))])
    return np.asarray(frames[tree.end] - frames[np.arange(len(tree)) + 1] > 0)


#: With what the stack of a thread or process that Python started begins.
_STARTED = "_bootstrap"


def unseen_work(facts: Facts) -> FloatArray:
    """Time of each node that waits, in functions of Python's library, for others of which the profile has none."""
    tree, where = facts.profile.tree, facts.profile.where
    waits = is_one_of(python_waits(tree), (Activity.JOIN, Activity.BLOCKED))
    started = any(name.rpartition(".")[2] == _STARTED for name in tree.names)
    if not waits.any() or started or int((~where.is_gpu).sum()) > 1:
        return np.zeros(len(tree))
    return np.where(tree.nearest(waits) >= 0, facts.time, 0.0)


def elsewhere(facts: Facts) -> str:
    """That most of the time the program waits for such others, as a sentence; empty where it does not."""
    if facts.total <= 0:
        return ""
    weight = unseen_work(facts)
    share, hot = float(weight.sum()) / facts.total, facts.hot_place(weight)
    if hot is None or not facts.above(share, common()["most"].value):
        return ""
    return (
        f"For {numbers.percent(share)} of the time the program waits, most in {hot.place.function}, for other threads or processes, which this profile "
        "does not have. What these do must be measured."
    )
