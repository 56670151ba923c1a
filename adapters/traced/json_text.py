"""JSON walked through in its text, so that a file with millions of records is never in memory as objects all at once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chathpc.adapters.content import DAMAGED
from chathpc.errors import AdapterError

_space = re.compile(r"[ \t\r\n]*").match
_decode = json.JSONDecoder().raw_decode


class JsonText:
    """A JSON text and the steps through it. Every method takes an offset and gives the one behind what it read.

    Memory: the text, 1 to 4 bytes for each character. AdapterError, with the offset, for damage.
    """

    def __init__(self, text: str, path: Path) -> None:
        self.text = text
        self.path = path

    def skip(self, at: int) -> int:
        """The offset of what follows white space."""
        found = _space(self.text, at)
        return at if found is None else found.end()

    def value(self, at: int) -> tuple[Any, int]:
        """The value at `at` as an object of Python."""
        try:
            return _decode(self.text, at)
        except json.JSONDecodeError as error:
            raise self.damaged(error.msg, error.pos) from None
        except RecursionError:
            raise AdapterError("the JSON is nested too deeply", path=self.path, hint="This is not a profile.") from None
        except ValueError as error:  # a number with thousands of digits
            raise self.damaged(str(error), at) from None

    def members(self, at: int, take: Callable[[str, int], int]) -> int:
        """Go through the object at `at`: `take` gets each name with the offset of its value, and gives the offset behind."""
        at = self.skip(at + 1)
        if self.text.startswith("}", at):
            return at + 1
        while True:
            key, at = self.value(at)
            at = self.skip(at)
            if not isinstance(key, str) or not self.text.startswith(":", at):
                raise self.damaged("a member of the object has no name", at)
            at = self.skip(take(key, self.skip(at + 1)))
            if self.text.startswith("}", at):
                return at + 1
            if not self.text.startswith(",", at):
                raise self.damaged("a comma or the end of the object is missing", at)
            at = self.skip(at + 1)

    def elements(self, at: int, take: Callable[[int], int]) -> int:
        """Go through the array at `at`: `take` gets the offset of each element, and gives the offset behind."""
        at = self.skip(at + 1)
        if self.text.startswith("]", at):
            return at + 1
        while True:
            at = self.skip(take(at))
            if self.text.startswith("]", at):
                return at + 1
            if not self.text.startswith(",", at):
                raise self.damaged("a comma or the end of the array is missing", at)
            at = self.skip(at + 1)

    def damaged(self, words: str, at: int) -> AdapterError:
        """The error for damage at an offset."""
        end = " (the file ends too early)" if at >= len(self.text.rstrip()) else ""
        return AdapterError(f"damaged JSON: {words}{end}", path=self.path, offset=at, hint=DAMAGED)
