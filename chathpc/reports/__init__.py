"""Renderers: a report or a comparison in, text out. Each is a function of a record and a style, `render` of its module unless the table says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chathpc.reports.style import Style

    #: A picture is rendered as bytes, all else as text.
    Renderer = Callable[[Any, Style], Any]

#: What is rendered → by format the module, and its function where that is not `render`.
_MODULES: Mapping[str, Mapping[str, str]] = {
    "report": {
        "screen": "first_screen", "text": "terminal", "markdown": "markdown", "json": "json", "html": "html",
        "sarif": "remarks.sarif", "github": "remarks.github", "gitlab": "remarks.gitlab",
    },
    "diff": {"text": "diff_terminal", "markdown": "diff_markdown", "json": "json", "html": "html"},
    "fix": {"text": "fix_terminal", "markdown": "fix_markdown", "json": "json", "html": "html"},
    "prediction": {
        "text": "predicted.text", "markdown": "predicted.markdown", "json": "json", "svg": "predicted_roofline.svg",
        "png": "predicted_roofline.png", "html": "predicted_roofline.page",
    },
    "ranking": {"text": "ranked.text", "markdown": "ranked.markdown", "json": "json"},
    "scale": {"text": "scale_terminal", "markdown": "scale_markdown", "json": "json", "html": "scale_page"},
    "ranks": {"text": "ranks_terminal", "json": "json"},
}  # fmt: skip


def renderers(kind: str = "report") -> Mapping[str, Renderer]:
    """Every renderer of a kind of record by the name of its format."""
    return {name: _renderer(*place.split(".")) for name, place in _MODULES[kind].items()}


def _renderer(module: str, function: str = "render") -> Renderer:
    return getattr(import_module(f"{__name__}.{module}"), function)  # type: ignore[no-any-return]


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
