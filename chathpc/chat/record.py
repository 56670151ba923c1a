"""What was asked and answered, as data: `chathpc ask --format json`, and saved conversations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, ValidationError

from chathpc import validation
from chathpc.errors import UsageError
from chathpc.report import Document, EvidenceRecord, Record, StatementRecord
from chathpc.reports.write import write_atomically

if TYPE_CHECKING:
    from chathpc.chat.tools.record import Result


class ColumnRecord(Record):
    """A column of a table."""

    title: str
    unit: str | None = Field(description="Of its numbers; share is 0..1. Null for text.")
    prose: bool = Field(default=False, description="Holds sentences.")


class StepRecord(Record):
    """A tool that was called, and what it said."""

    tool: str
    arguments: dict[str, str | int | float | bool]
    text: str = ""
    columns: list[ColumnRecord] = Field(default_factory=list)
    rows: list[list[str | int | float | None]] = Field(default_factory=list)
    omitted: int = Field(default=0, description="Rows that are not shown.")
    lines: list[str] = Field(default_factory=list, description="Text that keeps its form: source, commands, advice.")
    error: str = Field(default="", description="Why the tool could not answer; empty if it did.")
    hint: str = ""

    @classmethod
    def of(cls, tool: str, arguments: dict[str, str | int | float | bool], result: Result) -> StepRecord:
        """A call and its result."""
        said = result.as_dict()
        said.pop("facts", None)
        return cls.model_validate({"tool": tool, "arguments": arguments, **said})


class Answer(Document):
    """A question and its answer: what was looked up, and what a model says to it under its name."""

    schema_: Literal["chathpc-answer/1"] = Field(default="chathpc-answer/1", alias="schema")
    question: str
    matched: bool = Field(description="False if nothing that can be looked up answers the question.")
    text: str = Field(description="The answer in words, as code looked it up.")
    steps: list[StepRecord]
    facts: list[EvidenceRecord]
    statements: list[StatementRecord] = Field(
        default_factory=list, description="All that a model said to it, also what was dropped."
    )
    model: str | None = None
    note: str = ""
    lack: Literal["unavailable", "budget", "unsupported"] | None = Field(
        default=None, description="Why there are no words of a model, where one was asked; see note."
    )
    suggestions: list[str] = Field(
        default_factory=list, description="Questions that this profile answers, where nothing matched."
    )
    tokens: int = Field(default=0, description="Tokens that the model read and wrote.")

    @property
    def said(self) -> list[str]:
        """The model's statements that are printed."""
        return [each.text for each in self.statements if each.dropped_because is None]


class Chat(Document):
    """A saved conversation."""

    schema_: Literal["chathpc-chat/1"] = Field(default="chathpc-chat/1", alias="schema")
    paths: list[str]
    compared: dict[str, list[str]] = Field(
        default_factory=dict, description="Name → paths of the profiles compared with."
    )
    contexts: int = Field(description="Size of the profile, to detect that it was replaced.")
    budget: int
    turns: list[Answer]


#: A conversation of a thousand turns has some megabytes (bytes).
_LARGEST = 64 << 20


def save(path: Path, chat: Chat) -> None:
    """Write a conversation as JSON; the file then holds all of it, or what it held before."""
    if path.exists() and not _is_chat(path):
        raise UsageError(f"{path} is not a saved conversation.", hint="Name another file.")
    write_atomically(path, chat.model_dump_json(by_alias=True, indent=1) + "\n")


def _is_chat(path: Path) -> bool:
    try:
        restore(path)
    except UsageError:
        return False
    return True


def restore(path: Path) -> Chat:
    """The conversation in a file; UsageError, which names the field, if it is none."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {error.strerror}.", hint="Name a file that /save wrote.") from error
    if len(data) > _LARGEST:
        raise UsageError(f"{path} is too large for a conversation.", hint="Name a file that /save wrote.")
    try:
        return Chat.model_validate(json.loads(data))
    except (ValueError, RecursionError) as error:
        what = validation.words(error) if isinstance(error, ValidationError) else "not JSON"
        raise UsageError(f"{path} is not a saved conversation: {what}.", hint="Name a file that /save wrote.") from None
