"""Renderers: a report or a comparison in, text out. Each is one module with a function `render(report, style)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chathpc.reports.style import Style

    #: A picture is rendered as bytes, all else as text.
    Renderer = Callable[[Any, Style], Any]

#: What is rendered → the module of each format.
_MODULES: Mapping[str, Mapping[str, str]] = {
    "report": {
        "screen": "first_screen", "text": "terminal", "markdown": "markdown", "json": "json", "html": "html",
        "sarif": "sarif", "github": "github", "gitlab": "gitlab",
    },
    "diff": {"text": "diff_terminal", "markdown": "diff_markdown", "json": "json", "html": "html"},
    "fix": {"text": "fix_terminal", "markdown": "fix_markdown", "json": "json", "html": "html"},
    "prediction": {
        "text": "predicted_terminal", "markdown": "predicted_markdown", "json": "json", "svg": "predicted_roofline",
        "png": "predicted_png", "html": "predicted_page",
    },
    "ranking": {"text": "ranked_terminal", "markdown": "ranked_markdown", "json": "json"},
    "scale": {"text": "scale_terminal", "markdown": "scale_markdown", "json": "json", "html": "scale_page"},
    "ranks": {"text": "ranks_terminal", "json": "json"},
}  # fmt: skip


def renderers(kind: str = "report") -> Mapping[str, Renderer]:
    """Every renderer of a kind of record by the name of its format."""
    return {name: import_module(f"{__name__}.{module}").render for name, module in _MODULES[kind].items()}


diff_renderers, fix_renderers, scale_renderers = (partial(renderers, kind) for kind in ("diff", "fix", "scale"))
ranks_renderers, prediction_renderers = partial(renderers, "ranks"), partial(renderers, "prediction")
ranking_renderers = partial(renderers, "ranking")

#: What `--format` accepts.
FORMATS, RANKING_FORMATS = tuple(_MODULES["diff"]), tuple(_MODULES["ranking"])
SCALE_FORMATS, RANKS_FORMATS = tuple(_MODULES["scale"]), tuple(_MODULES["ranks"])
PREDICTION_FORMATS = tuple(_MODULES["prediction"])
#: Formats of a report alone: its findings as remarks on lines of source, for continuous integration.
REMARK_FORMATS = ("sarif", "github", "gitlab")
REPORT_FORMATS = (*FORMATS, *REMARK_FORMATS)
