"""Paths of profiles on the command line."""

from __future__ import annotations

import os
from pathlib import Path

import click


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


PROFILE = ProfilePath()
