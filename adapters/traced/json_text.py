"""JSON walked through in its text, so that a file with millions of records is never in memory as objects all at once."""

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


class JsonText:
    """A JSON text and the offset `at` up to which it was read; what stands there is a value, or the end.

    Memory: the text, 1 to 4 bytes for each character. AdapterError, with the offset, for damage.
    """

    def __init__(self, text: str, path: Path) -> None:
        self.text = text
        self.path = path
        self.at = 0
        self._skip()

    def _skip(self, characters: int = 0) -> None:
        """Pass by some characters, and the white space behind them."""
        found = _space(self.text, self.at + characters)
        self.at = found.end() if found is not None else self.at + characters

    def begins(self, mark: str) -> bool:
        """True if `mark` stands here: a brace for an object, a bracket for an array."""
        return self.text.startswith(mark, self.at)

    def value(self) -> Any:
        """The value that stands here as an object of Python; what follows it is next."""
        try:
            value, self.at = _decode(self.text, self.at)
        except json.JSONDecodeError as error:
            raise self.damaged(error.msg, error.pos) from None
        except RecursionError:
            raise AdapterError("the JSON is nested too deeply", path=self.path, hint="This is not a profile.") from None
        except ValueError as error:  # a number with thousands of digits
            raise self.damaged(str(error), self.at) from None
        return value

    def members(self) -> Iterator[str]:
        """The names in the object that stands here. The value of each is next, and passed by if nobody reads it."""
        self._skip(1)
        while not self.begins("}"):
            key = self.value()
            self._skip()
            if not isinstance(key, str) or not self.begins(":"):
                raise self.damaged("a member of the object has no name", self.at)
            self._skip(1)
            before = self.at
            yield key
            if self.at == before:
                self.value()
            self._skip()
            if self.begins(","):
                self._skip(1)
            elif not self.begins("}"):
                raise self.damaged("a comma or the end of the object is missing", self.at)
        self._skip(1)

    def elements(self, *, open_end: bool = False) -> Iterator[None]:
        """Each element of the array that stands here in turn, which whoever asks for it reads.

        With `open_end` the text may end where the array goes on.
        """
        begins, end = self.text.startswith, len(self.text) if open_end else -1
        self._skip(1)
        while not begins("]", self.at) and self.at != end:
            yield
            if not begins(",", self.at):
                self._skip()
            if begins(",", self.at):
                self._skip(1)
            elif not begins("]", self.at) and self.at != end:
                raise self.damaged("a comma or the end of the array is missing", self.at)
        self._skip(1)

    def damaged(self, words: str, at: int) -> AdapterError:
        """The error for damage at an offset."""
        end = " (the file ends too early)" if at >= len(self.text.rstrip()) else ""
        return AdapterError(f"damaged JSON: {words}{end}", path=self.path, offset=at, hint=DAMAGED)
