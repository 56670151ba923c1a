"""What came of a task with one strategy, and its form in the file by which a run goes on after it was ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from chathpc.fix.records import Speedup


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate: who proposed it, what it did, its verdict, and the sentence of the gate that ended it."""

    title: str
    verdict: str
    statement: str
    recipe: str = ""
    predicted: float | None = None
    speedup: Speedup | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the loop ended on a task.

    `ended` is `improved`, `improved-if` (the change gives up durability), `nothing-passed`, `unfinished` (a limit was reached), the
    verdict of the diagnosis where nothing was tried (`healthy`, `insufficient-data`), `skipped` or `failed` (both with a reason).
    `speedup` is that of all accepted changes together. `tokens` are those of a model, `seconds` of the whole task.
    """

    ended: str
    reason: str = ""
    diagnosis: str = ""
    causes: tuple[str, ...] = ()
    speedup: Speedup | None = None
    tried: tuple[Tried, ...] = ()
    rounds: int = 0
    tokens: int = 0
    seconds: float = 0.0
    original_seconds: float | None = None
    remarks: tuple[str, ...] = ()
    sandbox: str = ""
    flags_alone: bool = field(default=False)

    @property
    def improved(self) -> bool:
        """A change was accepted."""
        return self.ended == "improved"

    @property
    def counted(self) -> bool:
        """The task was tried to its end, or as far as its limits let it."""
        return self.ended != "skipped"


_ADAPTER: TypeAdapter[Outcome] = TypeAdapter(Outcome)


def to_data(outcome: Outcome) -> dict[str, Any]:
    """The outcome as JSON can hold it."""
    content: dict[str, Any] = _ADAPTER.dump_python(outcome, mode="json")
    return content


def from_data(content: Mapping[str, Any]) -> Outcome | None:
    """The outcome again; None if it is of another version or damaged."""
    try:
        return _ADAPTER.validate_python(content)
    except ValidationError:
        return None
