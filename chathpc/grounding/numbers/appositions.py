"""Numbers of an apposition: the 2.45 s of `file operations take 2.50 s, mostly fdatasync (2.45 s)` are not those of the file operations."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.grounding.evidence.facts import Fact, World
from chathpc.grounding.language.quantities import Quantity


def is_of_named_part(quantity: Quantity, rival: Fact, fitting: Sequence[Fact]) -> bool:
    """True for `file operations take 2.45 s` where that is only of `mostly fdatasync (2.45 s)`, and the file operations have another number."""
    named = bool(quantity.names | quantity.inherited_names | rival.quantity.names) or rival.quantity.is_base
    about = frozenset(
        key for key in quantity.own if key.startswith(("in:io", "in:file", "in:mpi", "in:openmp", "word:", "what:"))
    )
    if named or not about or not rival.evidence or not about <= rival.quantity.own:
        return False
    return all(
        bool(f.quantity.names) and bool(f.bundles & rival.bundles) and not about <= f.quantity.own for f in fitting
    )


#: A part as large as this of a whole is easily told as the whole.
_NEARLY_ALL = 0.9


def is_of_nearly_all(quantity: Quantity, fitting: Sequence[Fact], world: World) -> bool:
    """True for `survey copies memory for 2.72 s` where all copying takes that, and survey's nearly as much: 2.71 s.

    A clause without a name tells of what the one before it names; a whole that is hardly larger is a slip there.
    """
    names = quantity.names or quantity.inherited_names
    if not names or quantity.is_base or quantity.dimension not in ("time", "share"):
        return False
    if any((fact.quantity.names or fact.names) & names for fact in fitting):
        return False
    return any(
        fact.quantity.names & names
        and fact.quantity.dimension == quantity.dimension
        and _NEARLY_ALL * quantity.value <= fact.quantity.value < quantity.interval[0]
        and any(fact.bundles & whole.bundles for whole in fitting)
        for fact in world.facts
    )
