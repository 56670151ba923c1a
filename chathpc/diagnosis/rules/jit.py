"""Programs that compile code while they run, seen in the time of the host (beside an idle device: gpu_gaps)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chathpc.diagnosis.called import called_draft, called_time
from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.facts import Facts
from chathpc.profile.activity import Activity, base_name

#: An interpreter runs the program; it does not compile it.
_INTERPRETER = ("PyEval", "_PyEval")


def just_in_time(facts: Facts) -> Iterable[Draft]:
    """Time in a compiler that the program calls."""
    entry = cause("jit-compilation")
    weight = facts.of(Activity.JIT)
    if not weight.any():
        return
    tree, call = facts.profile.tree, facts.activities.call
    interprets = tree.where_name(lambda name: base_name(name).startswith(_INTERPRETER))
    weight = np.where((call >= 0) & interprets[np.maximum(call, 0)], 0.0, weight)
    time = called_time(facts, entry, weight)
    if time is not None:
        yield called_draft(
            facts,
            time,
            f"{time.caller} compiles code while the program runs",
            subject="compilation at run time",
            how="time in compilers' functions and libraries",
            by="time in compilers by calling function",
            signs=1,
            against=("It may be paid once: a longer run, or a cache of compiled code, would reduce it.",),
        )


RULES = (just_in_time,)
