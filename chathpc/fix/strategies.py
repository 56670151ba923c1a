"""The strategies that `--strategy` chooses from: name → where its proposer is made."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from chathpc.errors import UsageError
from chathpc.fix.records import Proposer

#: `module:object` without arguments; imported when it is asked for.
STRATEGIES = {"recipes": "chathpc.fix.recipes:Recipes"}


def proposers(names: Sequence[str]) -> tuple[Proposer, ...]:
    """The proposers of these strategies, in this order. UsageError for a name that there is not."""
    found = []
    for name in names:
        if name not in STRATEGIES:
            raise UsageError(f"There is no strategy '{name}'.", hint=f"Strategies are {', '.join(STRATEGIES)}.")
        module, _, made = STRATEGIES[name].partition(":")
        found.append(getattr(import_module(module), made)())
    return tuple(found)
