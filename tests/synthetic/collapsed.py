"""A writer of collapsed stacks."""

from __future__ import annotations

from collections.abc import Iterable

Stack = tuple[tuple[str, ...], float]

HEAT: tuple[Stack, ...] = (
    (("main", "solve"), 300),
    (("main", "solve", "exp"), 100),
    (("main", "clear_page_erms_[k]"), 20),
    (("main", "init"), 80),
    (("main", "square_[i]"), 4),
)


def write(stacks: Iterable[Stack], *, end: str = "\n") -> str:
    """The text of the stacks."""
    return "".join(f"{';'.join(frames)} {count:g}{end}" for frames, count in stacks)
