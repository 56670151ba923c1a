"""Options and types of arguments that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])


class ProfilePath(click.Path):
    """The path of a profile. Whether it can be read says whoever reads it, with the exit code for that; nothing is not the current folder."""

    def __init__(self) -> None:
        super().__init__(readable=False, path_type=Path)

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """The path, unless it is empty."""
        if value == "":
            self.fail("The path is empty.", param, ctx)
        return super().convert(value, param, ctx)


class Share(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.2
    """A percentage on the command line, `1%` or `1`; 0..1 inside."""

    name = "percentage"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The share as a part of the whole."""
        if isinstance(value, float):
            return value
        try:
            share = float(str(value).rstrip("% ")) / 100
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            self.fail(f"'{value}' is not a percentage between 0% and 100%.", param, ctx)
        return share


PROFILE, PLACE = ProfilePath(), click.Path(path_type=Path)

metric_option = click.option(
    "--metric", metavar="M", help="Id or the tool's own name (see 'chathpc metrics'). Default: the time."
)
all_threads_option = click.option(
    "--all-threads",
    is_flag=True,
    help="Also count helper threads of libraries (MPI progress, GPU monitors), and waits for threads to end.",
)
base_url_option = click.option("--base-url", metavar="URL", help="Server of openai:MODEL, if it is not OpenAI's.")
patterns_option = click.option("--patterns", metavar="DIR", type=PLACE, help="Folder with patterns of your own.")
source_option = click.option(
    "--source", metavar="DIR", multiple=True, type=PLACE,
    help="Folder with the program's source, where the profile has none; repeatable.",
)  # fmt: skip
view_option = click.option(
    "--view", is_flag=True, help="With JSON: add what 'chathpc view' draws (trees, threads, timeline, source)."
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")


def confidential_option(meaning: str) -> Callable[[Function], Function]:
    """--confidential; `meaning` says what is replaced in which mode."""
    return click.option(
        "--confidential",
        type=click.Choice(["none", "default", "all"]),
        help=f"What is replaced by placeholders for a hosted model{meaning}",
    )
