"""What is true of a labelled profile, and to which half of the set it belongs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

SEEN, HELD_OUT = "seen", "held-out"
HEALTHY, INSUFFICIENT = "healthy", "insufficient-data"

#: Keys that every truth.json has.
REQUIRED = frozenset(
    {"cause", "acceptable", "where", "acceptable_functions", "healthy", "visible_in_profile", "share_of_time", "why"}
    | {"profiles", "format", "split", "family"}
)


def number_of(text: str) -> int:
    """A number from a text, the same everywhere and always."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def split_of(cause: str, name: str, number: int | None = None) -> str:
    """The half of a case, decided when it is made: by a hash of its name, or for the number-th case of a recipe (0, 1, 2, …) by
    turns, which half is first by a hash of cause and recipe.
    """
    start = number_of(f"{cause}/{name}")
    return (SEEN, HELD_OUT)[(start + (number or 0)) % 2]


def dump(truth: Mapping[str, Any]) -> str:
    """The text of truth.json."""
    missing = REQUIRED - set(truth)
    if missing:
        raise ValueError(f"truth lacks {sorted(missing)}")
    return json.dumps(truth, indent=1) + "\n"
