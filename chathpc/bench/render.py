"""Renderers of a run of the benchmark by the name of their format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from chathpc.bench.result import Result
from chathpc.reports.style import Style

Renderer = Callable[[Result, Style, str], str]

_MODULES = {"text": "chathpc.bench.text", "markdown": "chathpc.bench.markdown", "json": "chathpc.bench.data"}


def renderers() -> Mapping[str, Renderer]:
    """Every renderer; its arguments are the result, the style and which cases to list (`--show`)."""
    return {name: import_module(module).render for name, module in _MODULES.items()}
