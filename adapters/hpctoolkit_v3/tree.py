"""From the elements of experiment.xml to the calling context tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.hpctoolkit_v3.experiment import Experiment, Tag
from chathpc.profile.tree import BoolArray, CallTree, NodeKind, Relation

#: Procedures that hpcrun puts above the first function of a thread, or above call paths that it could not unwind to it.
ENTRIES = ("<program root>", "<thread root>", "<partial call paths>")
#: States of the measurement itself: nothing of the program runs there.
IDLE = ("<no activity>", "<no thread>")
#: Placeholders of GPU operations, and those that have the kernel itself below them.
GPU_PREFIXES = ("<gpu ", "<omp tgt ")
LAUNCHES = ("<gpu kernel>", "<omp tgt kernel>")

_KIND = {
    Tag.PF: NodeKind.FUNCTION,
    Tag.PR: NodeKind.FUNCTION,
    Tag.L: NodeKind.LOOP,
    Tag.C: NodeKind.LINE,
    Tag.S: NodeKind.LINE,
}


def call_tree(experiment: Experiment) -> CallTree:
    """One node per element: frames are functions, call sites and statements are lines.

    Placeholders (`<gpu copyin>`) stand in a file of the measurement library; that place is left out.
    """
    tag, parent = experiment.tag, experiment.parent
    kind = np.array([_KIND[one] for one in Tag], dtype=np.uint8)[tag]
    relation = np.full(len(tag), Relation.LEXICAL, dtype=np.uint8)
    relation[tag == Tag.PF] = Relation.CALL
    alien = (tag == Tag.PR) & (experiment.alien != 0)
    kind[alien] = NodeKind.INLINED
    relation[alien] = Relation.INLINED_CALL

    names = experiment.names
    frame = tag == Tag.PF
    kind[frame & _named(experiment, [name in ENTRIES for name in names])] = NodeKind.ENTRY
    state = frame & _named(experiment, [name in IDLE or name.startswith("<omp ") for name in names])
    kind[state] = NodeKind.PLACEHOLDER
    kind[frame & _named(experiment, [name.startswith(GPU_PREFIXES) for name in names])] = NodeKind.GPU_OP
    launch = (kind == NodeKind.GPU_OP) & _named(experiment, [name in LAUNCHES for name in names])
    # A kernel hangs below the call site in the launch.
    below = _child_of(parent, launch)
    in_launch = below | _child_of(parent, below & (tag == Tag.C))
    kind[in_launch & (kind == NodeKind.FUNCTION)] = NodeKind.GPU_KERNEL

    own = np.isin(kind, (NodeKind.ENTRY, NodeKind.PLACEHOLDER, NodeKind.GPU_OP))
    artificial = own | (_child_of(parent, own) & (kind == NodeKind.LINE))
    unknown = np.int32(-1)
    return CallTree(
        parent=parent,
        end=experiment.end,
        kind=kind,
        relation=relation,
        name=experiment.name,
        file=np.where(artificial, unknown, experiment.file),
        line=np.where(artificial, np.int32(0), experiment.line),
        module=np.where(artificial, unknown, experiment.module),
        names=experiment.names,
        files=experiment.files,
        modules=experiment.modules,
        source_id=experiment.id,
    )


def _named(experiment: Experiment, wanted: list[bool]) -> BoolArray:
    """True for each node whose procedure is `wanted`; the last entry stands for nodes without one (−1)."""
    return np.array([*wanted, False], dtype=bool)[experiment.name]


def _child_of(parent: NDArray[np.int32], chosen: BoolArray) -> BoolArray:
    """True for each node whose parent is `chosen`."""
    return np.append(chosen, False)[parent]
