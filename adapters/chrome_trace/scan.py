"""The events of a trace one by one: the file is never in memory as objects of Python all at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chathpc.adapters.traced.json_text import JsonText
from chathpc.errors import AdapterError


class Scanner(JsonText):
    """Walks through a JSON text that holds an array of events, on its own or in an object.

    Memory: the text and one event. `header` is filled with the other members of the
    object, `cut` becomes True for an array that ends within an event (the form allows an array without its end).
    """

    def __init__(self, text: str, path: Path) -> None:
        super().__init__(text, path)
        self.header: dict[str, Any] = {}
        self.cut = False
        self._end = 0

    def events(self) -> Iterator[dict[str, Any]]:
        """The events; members that are no objects are left out. AdapterError for what is no trace."""
        at = self.skip(0)
        if self.text.startswith("[", at):
            yield from self._array(at + 1, optional_end=True)
        elif self.text.startswith("{", at):
            yield from self._object(at + 1)
        else:
            raise self.damaged("neither an object nor an array", at)

    def _object(self, at: int) -> Iterator[dict[str, Any]]:
        at = self.skip(at)
        if self.text.startswith("}", at):
            return
        while True:
            key, at = self.value(at)
            at = self.skip(at)
            if not isinstance(key, str) or not self.text.startswith(":", at):
                raise self.damaged("a member of the object has no name", at)
            at = self.skip(at + 1)
            if key == "traceEvents" and self.text.startswith("[", at):
                yield from self._array(at + 1, optional_end=False)
                at = self._end
            else:
                value, at = self.value(at)
                self.header.setdefault(key, value)
            at = self.skip(at)
            if self.text.startswith("}", at):
                return
            if not self.text.startswith(",", at):
                raise self.damaged("a comma or the end of the object is missing", at)
            at = self.skip(at + 1)

    def _array(self, at: int, *, optional_end: bool) -> Iterator[dict[str, Any]]:
        text = self.text
        at = self.skip(at)
        while True:
            if text.startswith("]", at):
                self._end = at + 1
                return
            if at >= len(text) and optional_end:
                return
            try:
                value, at = self.value(at)
            except AdapterError:
                if optional_end and "}" not in text[at:]:
                    self.cut = True
                    return
                raise
            if isinstance(value, dict):
                yield value
            if not text.startswith(",", at):
                at = self.skip(at)
            if text.startswith(",", at):
                at = self.skip(at + 1)
            elif not text.startswith("]", at) and not (optional_end and at >= len(text)):
                raise self.damaged("a comma or the end of the array of events is missing", at)
