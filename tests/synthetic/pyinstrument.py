"""Writers of pyinstrument's JSON: the renderer's of version 3, and the session's with identifiers of versions 4.4 and later."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame with its own milliseconds and those that it called."""

    name: str
    own: int
    children: tuple[Frame, ...] = ()
    file: str = "/opt/heat.py"
    line: int = 10

    @property
    def total(self) -> int:
        """Milliseconds with all below."""
        return self.own + sum(child.total for child in self.children)


HEAT = Frame(
    "<module>", 2, (
        Frame("<module>", 60, (Frame("compile", 20, file="<built-in>", line=0),), file="/lib/numpy/__init__.py", line=1),
        Frame("solve", 300, (Frame("exp", 80, file="<built-in>", line=0), Frame("solve", 40, (Frame("norm", 9),)))),
        Frame("wait", 0, (Frame("sleep", 150, file="<built-in>", line=0),)),
    ),
)  # fmt: skip


def _old(frame: Frame) -> dict[str, Any]:
    return {
        "function": frame.name, "file_path_short": frame.file[-10:], "file_path": frame.file, "line_no": frame.line,
        "time": frame.total / 1000, "is_application_code": True, "children": [_old(child) for child in frame.children],
    }  # fmt: skip


def _new(frame: Frame) -> dict[str, Any]:
    children = [_new(child) for child in frame.children]
    if children and frame.own:
        children.append({"identifier": "[self]\0\x000", "time": frame.own / 1000, "attributes": {}, "children": []})
    identifier = f"{frame.name}\0{frame.file}\0{frame.line}"
    return {"identifier": identifier, "time": frame.total / 1000, "attributes": {"l12": 0.1}, "children": children}


def renderer(root: Frame, samples: int = 500) -> str:
    """What `-r json` writes."""
    facts = {
        "start_time": 1.5e9, "duration": root.total / 1000, "sample_count": samples, "program": "heat.py --password secret",
        "cpu_time": 0.5, "root_frame": _old(root),
    }  # fmt: skip
    return json.dumps(facts, indent=2)


def session(root: Frame, samples: int = 500) -> str:
    """A session with its tree, as newer versions save it."""
    facts = {
        "start_time": 1.5e9, "duration": root.total / 1000, "sample_count": samples, "cpu_time": 0.5,
        "start_call_stack": [], "target_description": "Program: heat.py --password secret", "sys_path": ["/home/secret"],
    }  # fmt: skip
    return json.dumps({"session": facts, "frame_tree": _new(root)})
