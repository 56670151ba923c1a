"""--source: where a program's source lies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])


def source_option(function: Function) -> Function:
    """Decorator: adds `--source`, which the command gets as a tuple of folders."""
    return click.option(
        "--source",
        metavar="DIR",
        multiple=True,
        type=click.Path(path_type=Path),
        help="Folder with the program's source, where the profile has none; repeatable.",
    )(function)
