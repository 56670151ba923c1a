"""What a profile answers to the claim check: the time of a function or kernel, looked up when it is first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from chathpc.errors import UsageError

if TYPE_CHECKING:
    from chathpc.grounding.queries import Measured
    from chathpc.profile.profile import Profile


class ProfileQueries:
    """Answers from a Profile; it only reads. Names that several functions share are not answered for."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    def time_of(self, name: str) -> Measured | None:
        """Exclusive and inclusive seconds of the function `name`, and the total; None if it is unknown or not unique."""
        return self._functions.get(name)

    @cached_property
    def _functions(self) -> dict[str, Measured]:
        from chathpc.grounding.queries import Measured
        from chathpc.grounding.tokens import normal_code

        try:
            table = self._profile.table("function")
        except UsageError:
            return {}
        total = float(table["exclusive"].sum())
        found: dict[str, Measured] = {}
        shared: set[str] = set()
        for name, own, with_callees in zip(table["name"], table["exclusive"], table["inclusive"], strict=True):
            key = normal_code(str(name))
            if key in found:
                shared.add(key)
            found[key] = Measured(float(own), float(with_callees), total)
        return {name: measured for name, measured in found.items() if name not in shared}
