"""Every error that chathpc expects, each with the exit code of the command line.

    ChathpcError                1  anything that has no code of its own
    ├── MeasurementError        1  a program ran, and no profile came of it
    ├── UsageError              2  the command line or the configuration is wrong
    ├── AdapterError            3  a profile cannot be read
    ├── ModelUnavailableError   4  the language model that was asked for is not there
    ├── BudgetSpentError        5  a limit on tokens, money or time was reached
    ├── FixRejectedError        6  a proposed change did not pass its gates
    └── RegressionError         7  a program has become slower than is allowed

Each says in one sentence what is wrong and where, and in a second one (`hint`) what to do.
"""

from __future__ import annotations

from pathlib import Path


class Terminated(KeyboardInterrupt):
    """SIGTERM asks to end. Ctrl-C at a terminal reaches what was started as well; this came to chathpc alone."""


class ChathpcError(Exception):
    """Base of every error that a user of chathpc may see; `str()` is the message and, on a second line, the hint."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class MeasurementError(ChathpcError):
    """A program was run to be profiled, and no profile came of it. With the `code` of a program that failed the command line ends."""

    def __init__(self, message: str, *, hint: str = "", code: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.exit_code = (code if code >= 0 else 128 - code) or self.exit_code


class UsageError(ChathpcError):
    """The command line, an argument of the API or the configuration is wrong."""

    exit_code = 2


class AdapterError(ChathpcError):
    """A profile is damaged, foreign, empty or not readable.

    `path` is the file; `offset` the byte in it where the trouble starts, where there is one.
    """

    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        offset: int | None = None,
        hint: str = "",
    ) -> None:
        where = "" if path is None else str(path)
        if offset is not None:
            where += f" at byte {offset}"
        super().__init__(f"{where}: {message}" if where else message, hint=hint)
        self.path = None if path is None else Path(path)
        self.offset = offset


class ModelUnavailableError(ChathpcError):
    """The language model that was asked for cannot be used: no engine, no weights, no answer."""

    exit_code = 4


class BudgetSpentError(ChathpcError):
    """A limit on tokens, money or time was reached before the work was done."""

    exit_code = 5


class FixRejectedError(ChathpcError):
    """A proposed change did not build, was not correct, or did not help."""

    exit_code = 6


class RegressionError(ChathpcError):
    """A comparison found that a program has become slower than is allowed, beyond noise."""

    exit_code = 7
