"""What was read, handed on: a profile as a file that other tools open. Each format is one module with `export(profile, …)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile

    #: (profile, metric id or None) → the text of the file, or its bytes.
    Exporter = Callable[[Profile, str | None], str | bytes]


@dataclass(frozen=True, slots=True)
class Target:
    """A format to export to: its module, who opens it, and the function that writes it."""

    module: str
    opened_by: str
    function: str = "export"
    is_binary: bool = False


TARGETS: Mapping[str, Target] = {
    "hatchet-json": Target("chathpc.export.hatchet_json", "hatchet.GraphFrame.from_json, Thicket"),
    "speedscope": Target("chathpc.export.stacks", "speedscope.app", "speedscope"),
    "folded": Target("chathpc.export.stacks", "flame graph tools (flamegraph.pl, inferno, speedscope)", "folded"),
    "perfetto": Target("chathpc.export.perfetto", "ui.perfetto.dev, chrome://tracing"),
    "csv": Target("chathpc.export.table", "spreadsheets, pandas", "tree_table"),
    "timeline-csv": Target("chathpc.export.table", "spreadsheets, pandas: one row per interval", "timeline_table"),
    "flame-png": Target("chathpc.export.pictures", "slides: the call tree (needs matplotlib)", "flame", is_binary=True),
    "imbalance-png": Target(
        "chathpc.export.pictures", "slides: time of each thread or rank", "imbalance", is_binary=True
    ),
    "roofline-png": Target("chathpc.export.pictures", "slides: kernels under their roofs", "roofline", is_binary=True),
}


def exporter(target: str) -> Exporter:
    """The function that writes the format of that name; KeyError for any other."""
    function: Exporter = getattr(import_module(TARGETS[target].module), TARGETS[target].function)
    return function
