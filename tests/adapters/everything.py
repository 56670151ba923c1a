"""Read a profile and then everything of it that is read late, as a person who asks for all of it would."""

from __future__ import annotations

import importlib
import importlib.util
import os
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
    import chathpc
    from chathpc.diagnosis.sass.flow import program
    from chathpc.profile.intervals import length
    from chathpc.profile.timeline import DEVICE_LANES

    profile.tree.check()
    nodes = np.unique(np.linspace(0, max(len(profile.tree) - 1, 0), NODES).astype(np.int32))[: len(profile.tree)]
    for node in nodes.tolist():
        profile.tree.label(node).encode()
        profile.tree.path(node)
        profile.source(node)
    for text in (*profile.tree.names, *profile.tree.files, *profile.tree.modules, *profile.caveats, profile.title):
        text.encode()
    for code in profile.code[:NODES]:
        code.kernel.encode()
        program(code)
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
    profile.where.counts().words()
    timeline = profile.timeline
    if timeline is not None:
        for lane in timeline.lanes:
            known = lane.node[lane.node >= 0]
            if len(known) and int(known.max()) >= len(profile.tree):
                raise ValueError("a lane of the timeline names a node that is not in the tree")
            if not 0 <= lane.location < len(profile.where):
                raise ValueError("a lane of the timeline names a location that does not exist")
        for spans in timeline.intervals:
            if len(spans) and (int(spans.node.max()) >= len(profile.tree) or int((spans.end < spans.start).sum())):
                raise ValueError("an interval of the timeline ends before it begins, or names no node")
            if spans.location >= len(profile.where):
                raise ValueError("an interval of the timeline names a location that does not exist")
        for device in timeline.devices:
            idle = length(timeline.idle(device))
            if idle + length(timeline.busy(*DEVICE_LANES, device=device)) != timeline.end - timeline.begin:
                raise ValueError("busy and idle time of a device are not the whole recording")
    chathpc.explain(profile)


def warm_up() -> None:
    """Import what reading imports, so that it is not counted as a case's time and memory."""
    for package in ("caliperreader", "darshan", "hatchet", "otf2", "pandas", "pycubexr", "sqlite3", "subprocess"):
        if importlib.util.find_spec(package) is not None:
            importlib.import_module(package)
    from chathpc.adapters.registry import built_in
    from tests.adapters.contained import WARM
    from tests.synthetic import programs
    from tests.synthetic.hpctoolkit_v4 import write

    built_in()
    with tempfile.TemporaryDirectory() as folder:
        databases = []
        for number, program in enumerate((programs.small, programs.gpu)):
            databases.append(write(Path(folder) / str(number), program()).path)
        given = [Path(path) for path in os.environ.get(WARM, "").split(os.pathsep) if path]
        for path in (*databases, *given):
            try:
                read_everything(path)
            except Exception as error:  # noqa: BLE001  a broken reader shall fail in its cases
                _ = error
