"""Renderers: a report or a comparison in, text out. Each is a function of a record and a style, `render` of its module unless the table says.

What is made of blocks has one function, `build`, for terminal, Markdown and notebook (see `blocks`).
"""

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
        "screen": "first_screen", "text": "explained.build", "markdown": "explained.build", "json": "json", "html": "html",
        "sarif": "remarks.sarif", "github": "remarks.github", "gitlab": "remarks.gitlab",
    },
    "diff": {"text": "compared.build", "markdown": "compared.build", "json": "json", "html": "html"},
    "fix": {"text": "fixed.build", "markdown": "fixed.build", "json": "json", "html": "html"},
    "prediction": {
        "text": "predicted.build", "markdown": "predicted.build", "json": "json", "svg": "predicted_roofline.svg",
        "png": "predicted_roofline.png", "html": "predicted_roofline.page",
    },
    "ranking": {"text": "ranked.build", "markdown": "ranked.build", "json": "json"},
    "scale": {"text": "scaled.build", "markdown": "scaled.build", "json": "json", "html": "scale_page"},
    "ranks": {"text": "spread.build", "markdown": "spread.build", "json": "json"},
}  # fmt: skip

#: By format the blocks that something is built of.
_BLOCKS = {"text": ("page", "Page"), "markdown": ("markdown", "Markdown"), "fragment": ("fragments", "Fragment")}


def renderers(kind: str = "report") -> Mapping[str, Renderer]:
    """Every renderer of a kind of record by the name of its format."""
    return {name: _renderer(name, *place.split(".")) for name, place in _MODULES[kind].items()}


def fragment(kind: str, record: Any) -> str:
    """What is made of blocks as a part of a notebook."""
    from chathpc.reports.style import Style

    text: str = _renderer("fragment", *_MODULES[kind]["text"].split("."))(record, Style())
    return text


def _renderer(form: str, module: str, function: str = "render") -> Renderer:
    found = getattr(import_module(f"{__name__}.{module}"), function)
    return partial(written, found, form) if function == "build" else found


def written(build: Callable[[Any, Any], None], form: str, record: Any, style: Style) -> str:
    """What `build` makes of a record, in the blocks of a format: text, markdown or fragment (of a notebook)."""
    module, blocks = _BLOCKS[form]
    page = getattr(import_module(f"{__name__}.{module}"), blocks)(style)
    build(page, record)
    text: str = page.text()
    return text


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
