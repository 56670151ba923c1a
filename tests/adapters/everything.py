"""Read a profile and then everything of it that is read late, as a person who asks for all of it would."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile

#: So many nodes are asked for their source text, their label and their values per location.
NODES = 40


def read_everything(path: Path) -> Profile:
    """Load `path` and touch everything; an AdapterError that comes only after loading bears the note "late"."""
    import chathpc
    from chathpc.errors import AdapterError

    profile = chathpc.load(path)
    try:
        touch_everything(profile)
    except AdapterError as error:
        error.add_note("late")
        raise
    return profile


def touch_everything(profile: Profile) -> None:
    """Ask for every table, column, location, lane and source; ValueError for what does not hold together."""
    profile.tree.check()
    nodes = np.unique(np.linspace(0, max(len(profile.tree) - 1, 0), NODES).astype(np.int32))[: len(profile.tree)]
    for node in nodes.tolist():
        profile.tree.label(node).encode()
        profile.tree.path(node)
        profile.source(node)
    for text in (*profile.tree.names, *profile.tree.files, *profile.tree.modules, *profile.caveats, profile.title):
        text.encode()
    groups = np.zeros(len(profile.tree), dtype=np.int32)
    for name, metric in profile.metrics.items():
        name.encode()
        metric.description.encode()
        profile.total(name)
        profile.total(metric.source_name)
        profile.exclusive(name).sum()
        profile.location_totals(name)
        for inclusive in (True, False):
            profile.values.per_location(name, nodes, inclusive=inclusive)
        profile.values.grouped(name, groups, 1)
    summed = [name for name, metric in profile.metrics.items() if metric.aggregation == "sum"]
    for name in summed[:8]:
        for by in ("function", "line", "loop", "module"):
            profile.table(by, name)
    len(profile.kernels)
    len(profile.locations)
    for number in range(min(len(profile.where), NODES)):
        profile.where.label(number)
    profile.where.shape()
    timeline = profile.timeline
    if timeline is not None:
        for lane in timeline.lanes:
            known = lane.node[lane.node >= 0]
            if len(known) and int(known.max()) >= len(profile.tree):
                raise ValueError("a lane of the timeline names a node that is not in the tree")
            if not 0 <= lane.location < len(profile.where):
                raise ValueError("a lane of the timeline names a location that does not exist")


def warm_up() -> None:
    """Import what reading imports, so that it is not counted as a case's time and memory."""
    from tests.synthetic import programs
    from tests.synthetic.hpctoolkit_v4 import write

    for program in (programs.small, programs.gpu):
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder) / "db", program())
            try:
                read_everything(Path(folder) / "db")
            except Exception as error:  # noqa: BLE001  a broken reader shall fail in its cases
                _ = error
