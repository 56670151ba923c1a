"""Numbers of an apposition: the 2.45 s of `file operations take 2.50 s, mostly fdatasync (2.45 s)` are not those of the file operations."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.grounding.evidence.facts import Fact
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
