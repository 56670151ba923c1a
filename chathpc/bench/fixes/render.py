"""Renderers of a run of the benchmark of changes by the name of their format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from chathpc.bench.fixes.result import Result
from chathpc.reports.style import Style

_MODULES = {
    "text": "chathpc.bench.fixes.text",
    "markdown": "chathpc.bench.fixes.markdown",
    "json": "chathpc.bench.fixes.data",
}


def renderers() -> Mapping[str, Callable[[Result, Style], str]]:
    """Every renderer; its arguments are the result and the style."""
    return {name: import_module(module).render for name, module in _MODULES.items()}
