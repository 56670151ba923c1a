"""Profiles that say that time was spent, and not where: samples without names, and those of Python's interpreter."""

from __future__ import annotations

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.facts import Facts
from chathpc.profile import numbers
from chathpc.profile.activity import base_name
from chathpc.profile.tree import NodeKind

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
    known = np.isin(tree.kind, _FRAMES) & named
    known |= np.isin(tree.kind, (*_FRAMES, NodeKind.INSTRUCTION)) & (tree.module >= 0)
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
    if not loop.any() or any(path.endswith(".py") for path in tree.files):
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
    frames = np.concatenate([[0], np.cumsum(np.isin(tree.kind, _FRAMES))])
    return np.asarray(frames[tree.end] - frames[np.arange(len(tree)) + 1] > 0)
