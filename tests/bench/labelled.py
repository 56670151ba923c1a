"""Labelled profiles for tests: folders with a label and a profile of collapsed stacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.synthetic.collapsed import Stack, write

#: Half of the samples in malloc below `parse`.
CHURN: tuple[Stack, ...] = (
    (("main", "parse", "malloc"), 500),
    (("main", "parse"), 300),
    (("main", "report"), 200),
)
#: Nothing but computing.
PLAIN: tuple[Stack, ...] = ((("main", "solve"), 700), (("main", "setup"), 300))
#: Too few samples for anything.
FEW: tuple[Stack, ...] = ((("main", "solve"), 7), (("main", "setup"), 3))


def case(folder: Path, stacks: tuple[Stack, ...] = CHURN, **truth: Any) -> Path:
    """A folder with a profile and a label; the keys of the label are those given."""
    folder.mkdir(parents=True)
    label = {"cause": "allocation-churn", "profiles": ["stacks.folded"], **truth}
    (folder / "truth.json").write_text(json.dumps(label))
    (folder / "stacks.folded").write_text(write(stacks))
    return folder


def three(folder: Path) -> Path:
    """A fault, a healthy program and one of which too little was recorded; all are answered rightly."""
    case(folder / "churn", where={"function": "parse"}, split="seen", family="made")
    case(folder / "plain", PLAIN, cause="healthy", acceptable=["hot-compute"], split="held-out")
    case(folder / "few", FEW, cause="insufficient-data", split="held-out")
    return folder
