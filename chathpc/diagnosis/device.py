"""What the rules about GPUs look at: kernels with all their launches, and the device's time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chathpc.diagnosis.records import Place
from chathpc.profile.kernel_names import LAUNCHED_FROM, kernel_title
from chathpc.profile.profile import Profile
from chathpc.profile.tree import BoolArray, FloatArray, IntArray, NodeKind

#: Kernels that rules look at one by one, the longest first: no report names more findings. What a kernel must have to matter is asked of
#: each of them as well.
MOST_KERNELS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """One kernel, all its launches together."""

    name: str
    nodes: IntArray  #: all nodes of the tree that belong to it
    top: int  #: the node that stands for it: where its time is
    seconds: float
    launches: float

    @property
    def short(self) -> str:
        """The name as it stands in a sentence."""
        return kernel_title(self.name)


def kernels(profile: Profile) -> list[Kernel]:
    """The kernels with time or samples, the longest first; launches of binaries without symbols go by their launch
    site.
    """
    tree = profile.tree
    # Without structure most samples hang below an <unknown function> beside the kernel: they belong to the launch.
    unnamed = tree.where_name(lambda name: name == "<unknown function>", nameless=True)
    is_kernel = (tree.kind == NodeKind.GPU_KERNEL) & ~unnamed
    is_launch = operations(profile, "<gpu kernel>", "<omp tgt kernel>")
    owner = tree.nearest(is_kernel | is_launch)
    time, count = profile.dense("gpu.kernel.time"), profile.dense("gpu.kernel.count")
    samples = profile.dense(samples_metric(profile) or "")
    relevant = np.flatnonzero((owner >= 0) & ((time > 0) | (count > 0) | (samples > 0)))
    groups: dict[str, list[int]] = {}
    for node in np.unique(owner[relevant]).tolist():
        name = tree.function_name(node)
        if is_launch[node]:
            caller = int(tree.parent[node])
            name = f"{LAUNCHED_FROM}{tree.function_name(caller)}" if caller >= 0 else name
        groups.setdefault(name, []).append(node)
    found = []
    for name, tops in groups.items():
        nodes = np.flatnonzero(np.isin(owner, tops)).astype(np.int32)
        top = max(tops, key=lambda node: (time[node], count[node]))
        found.append(Kernel(name, nodes, top, float(time[nodes].sum()), float(count[nodes].sum())))
    return sorted(found, key=lambda kernel: -kernel.seconds)


def operations(profile: Profile, *placeholders: str) -> BoolArray:
    """True for the nodes of a device's operations that HPCToolkit names by one of the placeholders."""
    tree = profile.tree
    return np.asarray(tree.where_name(placeholders.__contains__) & (tree.kind == NodeKind.GPU_OP))


def samples_metric(profile: Profile) -> str | None:
    """The metric that counts all warp samples: instructions (NVIDIA, Intel) or wavefront cycles (AMD)."""
    for name in ("gpu.cycles", "gpu.instructions"):
        if profile.has(name) and profile.has("gpu.stall.any"):
            return name
    return None


def device_time(profile: Profile) -> float:
    """Seconds in which the device worked on anything; 0 where it was not measured."""
    return profile.total("gpu.time") if profile.has("gpu.time") else 0.0


def kernel_place(profile: Profile, kernel: Kernel, weight: FloatArray | None = None) -> Place:
    """The kernel, at the line with most of `weight` where lines are known."""
    tree = profile.tree
    node = kernel.top
    line_node = node
    if weight is not None and weight[kernel.nodes].any():
        line_node = int(kernel.nodes[int(np.argmax(weight[kernel.nodes]))])
    file, line = tree.file_name(line_node), int(tree.line[line_node])
    if file is None or file.startswith(("[", "<")):
        file, line = None, 0
    path = tuple(
        tree.label(step) for step in tree.path(node) if tree.kind[step] not in (NodeKind.LINE, NodeKind.INSTRUCTION)
    )
    return Place(function=kernel.name, file=file, line=line or None, kernel=kernel.name, path=path, node=line_node)
