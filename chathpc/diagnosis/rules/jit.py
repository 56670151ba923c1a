"""Programs that compile code while they run, seen in the time of the host (beside an idle device: gpu_gaps)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.draft import Draft, calling_function, fact, of_total, share_here
from chathpc.diagnosis.facts import Facts
from chathpc.profile.activity import Activity, base_name

#: An interpreter runs the program; it does not compile it.
_INTERPRETER = ("PyEval", "_PyEval")


def just_in_time(facts: Facts) -> Iterable[Draft]:
    """Time in a compiler that the program calls."""
    entry = cause("jit-compilation")
    weight = facts.of(Activity.JIT)
    if facts.total == 0 or not weight.any():
        return
    tree, call = facts.profile.tree, facts.activities.call
    interprets = np.array([base_name(name).startswith(_INTERPRETER) for name in tree.names] + [False])
    weight = np.where((call >= 0) & interprets[tree.name[np.maximum(call, 0)]], 0.0, weight)
    cost = float(weight.sum())
    if cost / facts.total < entry.threshold("min_share"):
        return
    hot = facts.hot_place(weight)
    if hot is None:
        return
    place = hot.place
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"{place.function} compiles code while the program runs: {share_here(facts, hot.weight, cost)}.",
        cost=cost,
        share=cost / facts.total,
        threshold=entry.threshold("min_share"),
        evidence=(
            fact(
                facts,
                f"Compilers that the program calls take {of_total(facts, cost)}.",
                cost,
                subject="compilation",
                how="time in compilers' functions and libraries",
            ),
            calling_function(facts, hot, how="time in compilers by calling function"),
        ),
        signs=1,
        against=("It may be paid once: a longer run, or a cache of compiled code, would have less of it.",),
    )


RULES = (just_in_time,)
