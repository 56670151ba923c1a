"""What was read, handed on: a profile as a file that other tools open. Each format is one module with `export(profile, …)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile

    #: (profile, metric id or None) → the text of the file.
    Exporter = Callable[[Profile, str | None], str]


@dataclass(frozen=True, slots=True)
class Target:
    """A format to export to: its module and who opens it."""

    module: str
    opened_by: str


TARGETS: Mapping[str, Target] = {
    "hatchet-json": Target("chathpc.export.hatchet_json", "hatchet.GraphFrame.from_json, Thicket"),
    "speedscope": Target("chathpc.export.speedscope", "speedscope.app"),
    "folded": Target("chathpc.export.folded", "flame graph tools (flamegraph.pl, inferno, speedscope)"),
    "perfetto": Target("chathpc.export.perfetto", "ui.perfetto.dev, chrome://tracing"),
    "csv": Target("chathpc.export.table", "spreadsheets, pandas"),
    "timeline-csv": Target("chathpc.export.timeline_table", "spreadsheets, pandas: one row an interval"),
}


def exporter(target: str) -> Exporter:
    """The function that writes the format of that name; KeyError for any other."""
    function: Exporter = import_module(TARGETS[target].module).export
    return function
