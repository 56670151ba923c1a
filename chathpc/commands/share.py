"""Percentages on the command line."""

from __future__ import annotations

from typing import Any

import click


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
