"""Renderers: a report or a comparison in, text out. Each is one module with a function `render(report, style)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chathpc.comparison.record import Diff
    from chathpc.fix.report import FixReport
    from chathpc.predict.ranking import RankingRecord
    from chathpc.predict.record import PredictionRecord
    from chathpc.report import Report
    from chathpc.reports.style import Style
    from chathpc.scale.record import Scaling, SpreadRecord

    Renderer = Callable[[Report, Style], str]
    DiffRenderer = Callable[[Diff, Style], str]
    FixRenderer = Callable[[FixReport, Style], str]
    ScaleRenderer = Callable[[Scaling, Style], str]
    RanksRenderer = Callable[[SpreadRecord, Style], str]
    PredictionRenderer = Callable[[PredictionRecord, Style], str | bytes]
    RankingRenderer = Callable[[RankingRecord, Style], str]

_MODULES = {
    "screen": "chathpc.reports.first_screen",
    "text": "chathpc.reports.terminal",
    "markdown": "chathpc.reports.markdown",
    "json": "chathpc.reports.json",
    "html": "chathpc.reports.html",
}
_DIFF_MODULES = {
    "text": "chathpc.reports.diff_terminal",
    "markdown": "chathpc.reports.diff_markdown",
    "json": "chathpc.reports.json",
    "html": "chathpc.reports.html",
}
_FIX_MODULES = {
    "text": "chathpc.reports.fix_terminal",
    "markdown": "chathpc.reports.fix_markdown",
    "json": "chathpc.reports.json",
    "html": "chathpc.reports.html",
}
_PREDICTION_MODULES = {
    "text": "chathpc.reports.predicted_terminal",
    "markdown": "chathpc.reports.predicted_markdown",
    "json": "chathpc.reports.json",
    "svg": "chathpc.reports.predicted_roofline",
    "png": "chathpc.reports.predicted_png",
    "html": "chathpc.reports.predicted_page",
}
_RANKING_MODULES = {
    "text": "chathpc.reports.ranked_terminal",
    "markdown": "chathpc.reports.ranked_markdown",
    "json": "chathpc.reports.json",
}
_SCALE_MODULES = {
    "text": "chathpc.reports.scale_terminal",
    "markdown": "chathpc.reports.scale_markdown",
    "json": "chathpc.reports.json",
    "html": "chathpc.reports.scale_page",
}
_RANKS_MODULES = {"text": "chathpc.reports.ranks_terminal", "json": "chathpc.reports.json"}
RANKING_FORMATS = tuple(_RANKING_MODULES)
SCALE_FORMATS = tuple(_SCALE_MODULES)
RANKS_FORMATS = tuple(_RANKS_MODULES)
PREDICTION_FORMATS = tuple(_PREDICTION_MODULES)
#: What `--format` accepts.
FORMATS = tuple(name for name in _MODULES if name != "screen")
#: Formats of a report alone: its findings as remarks on lines of source, for continuous integration.
_REMARK_MODULES = {name: f"chathpc.reports.{name}" for name in ("sarif", "github", "gitlab")}
REMARK_FORMATS = tuple(_REMARK_MODULES)
REPORT_FORMATS = (*FORMATS, *REMARK_FORMATS)


def renderers() -> Mapping[str, Renderer]:
    """Every renderer of a report by the name of its format."""
    return {name: import_module(module).render for name, module in (_MODULES | _REMARK_MODULES).items()}


def diff_renderers() -> Mapping[str, DiffRenderer]:
    """Every renderer of a comparison by the name of its format: the same formats."""
    return {name: import_module(module).render for name, module in _DIFF_MODULES.items()}


def fix_renderers() -> Mapping[str, FixRenderer]:
    """Every renderer of what was tried and found by the name of its format: the same formats."""
    return {name: import_module(module).render for name, module in _FIX_MODULES.items()}


def ranks_renderers() -> Mapping[str, RanksRenderer]:
    """Every renderer of how a run is spread over its ranks, by the name of its format."""
    return {name: import_module(module).render for name, module in _RANKS_MODULES.items()}


def prediction_renderers() -> Mapping[str, PredictionRenderer]:
    """Every renderer of a prediction by the name of its format."""
    return {name: import_module(module).render for name, module in _PREDICTION_MODULES.items()}


def ranking_renderers() -> Mapping[str, RankingRenderer]:
    """Every renderer of ranked devices by the name of its format."""
    return {name: import_module(module).render for name, module in _RANKING_MODULES.items()}


def scale_renderers() -> Mapping[str, ScaleRenderer]:
    """Every renderer of a series by the name of its format."""
    return {name: import_module(module).render for name, module in _SCALE_MODULES.items()}
