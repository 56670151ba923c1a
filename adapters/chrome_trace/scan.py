"""The events of a trace one by one: the file is never in memory as objects of Python all at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chathpc.adapters.content import DAMAGED
from chathpc.errors import AdapterError

_space = re.compile(r"[ \t\r\n]*").match
_decode = json.JSONDecoder().raw_decode


class Scanner:
    """Walks through a JSON text that holds an array of events, on its own or in an object.

    Memory: the text (1 to 4 bytes for each character) and one event. `header` is filled with the other members of the
    object, `cut` becomes True for an array that ends within an event (the form allows an array without its end).
    """

    def __init__(self, text: str, path: Path) -> None:
        self.text = text
        self.path = path
        self.header: dict[str, Any] = {}
        self.cut = False

    def events(self) -> Iterator[dict[str, Any]]:
        """The events; members that are no objects are left out. AdapterError for what is no trace."""
        at = self._skip(0)
        if self.text.startswith("[", at):
            yield from self._array(at + 1, optional_end=True)
        elif self.text.startswith("{", at):
            yield from self._object(at + 1)
        else:
            raise self._damaged("neither an object nor an array", at)

    def _object(self, at: int) -> Iterator[dict[str, Any]]:
        at = self._skip(at)
        if self.text.startswith("}", at):
            return
        while True:
            key, at = self._value(at)
            at = self._skip(at)
            if not isinstance(key, str) or not self.text.startswith(":", at):
                raise self._damaged("a member of the object has no name", at)
            at = self._skip(at + 1)
            if key == "traceEvents" and self.text.startswith("[", at):
                yield from self._array(at + 1, optional_end=False)
                at = self._end
            else:
                value, at = self._value(at)
                self.header.setdefault(key, value)
            at = self._skip(at)
            if self.text.startswith("}", at):
                return
            if not self.text.startswith(",", at):
                raise self._damaged("a comma or the end of the object is missing", at)
            at = self._skip(at + 1)

    def _array(self, at: int, *, optional_end: bool) -> Iterator[dict[str, Any]]:
        text = self.text
        at = self._skip(at)
        while True:
            if text.startswith("]", at):
                self._end = at + 1
                return
            if at >= len(text) and optional_end:
                return
            try:
                value, at = self._value(at)
            except AdapterError:
                if optional_end and "}" not in text[at:]:
                    self.cut = True
                    return
                raise
            if isinstance(value, dict):
                yield value
            at = self._skip(at)
            if text.startswith(",", at):
                at = self._skip(at + 1)
            elif not text.startswith("]", at) and not (optional_end and at >= len(text)):
                raise self._damaged("a comma or the end of the array of events is missing", at)

    def _skip(self, at: int) -> int:
        found = _space(self.text, at)
        return at if found is None else found.end()

    def _value(self, at: int) -> tuple[Any, int]:
        try:
            return _decode(self.text, at)
        except json.JSONDecodeError as error:
            raise self._damaged(error.msg, error.pos) from None
        except RecursionError:
            raise AdapterError("the JSON is nested too deeply", path=self.path, hint="This is no trace.") from None
        except ValueError as error:  # a number with thousands of digits
            raise self._damaged(str(error), at) from None

    def _damaged(self, words: str, at: int) -> AdapterError:
        end = " (the file ends too early)" if at >= len(self.text.rstrip()) else ""
        return AdapterError(f"damaged JSON: {words}{end}", path=self.path, offset=at, hint=DAMAGED)
