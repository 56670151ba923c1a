"""chathpc: profiles of HPC and GPU programs, explained.

    profile = chathpc.load("db/")
    report = chathpc.explain(profile, llm="none")

Everything here is imported when it is first used, so that `import chathpc` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from chathpc.adapters.load import load as load
    from chathpc.comparison.compare import diff as diff
    from chathpc.comparison.record import Diff as Diff
    from chathpc.errors import AdapterError as AdapterError
    from chathpc.errors import ChathpcError as ChathpcError
    from chathpc.pipeline import explain as explain
    from chathpc.profile.profile import Profile as Profile
    from chathpc.report import Report as Report

_HOMES = {
    "load": "chathpc.adapters.load",
    "explain": "chathpc.pipeline",
    "diff": "chathpc.comparison.compare",
    "Diff": "chathpc.comparison.record",
    "Profile": "chathpc.profile.profile",
    "Report": "chathpc.report",
    "ChathpcError": "chathpc.errors",
    "AdapterError": "chathpc.errors",
    "UsageError": "chathpc.errors",
    "ModelUnavailableError": "chathpc.errors",
    "BudgetSpentError": "chathpc.errors",
    "FixRejectedError": "chathpc.errors",
    "RegressionError": "chathpc.errors",
}
__all__ = [*sorted(_HOMES), "__version__"]


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext chathpc`: magics for notebooks, and reports, profiles and call trees that are shown as pages."""
    from chathpc.notebook.magics import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext chathpc`."""
    from chathpc.notebook.magics import unload

    unload(shell)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'chathpc' has no attribute '{name}'")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value
