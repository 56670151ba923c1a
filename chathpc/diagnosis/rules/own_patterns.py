"""A user's own patterns: functions that somebody knows to be a sign of trouble, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import partial

import numpy as np

from chathpc.diagnosis.catalogue import own_causes
from chathpc.diagnosis.catalogue.own import SHARE
from chathpc.diagnosis.draft import Draft, fact, share_here, total
from chathpc.diagnosis.fact import Form, Kind
from chathpc.diagnosis.facts import Facts, readable_function
from chathpc.profile.activity import base_name


def functions(facts: Facts) -> Iterable[Draft]:
    """Time in and below the functions that an entry of the user names."""
    if facts.total == 0:
        return
    tree = facts.profile.tree
    for entry in own_causes():
        if not entry.functions:
            continue
        named = tree.where_name(partial(_matches, entry.functions))
        nodes = np.flatnonzero(named).astype(np.int32)
        outermost = tree.outermost(nodes)
        cost = float(facts.inclusive[outermost].sum())
        if not facts.above(cost / facts.total, entry.threshold(SHARE)):
            continue
        inside = np.where(tree.inside(outermost), facts.time, 0.0)
        hot = facts.hot_place(inside)
        if hot is None:
            continue
        sums = np.bincount(tree.name[outermost], weights=facts.inclusive[outermost])
        most = readable_function(tree.names[int(np.argmax(sums))])
        yield Draft(
            cause=entry.id,
            where=hot.place,
            summary=f"{entry.title}: {most} takes {share_here(facts, float(sums.max()), cost)}.",
            cost=cost,
            share=cost / facts.total,
            threshold=entry.threshold(SHARE),
            evidence=(
                fact(
                    facts,
                    Kind.AMOUNT,
                    cost,
                    subject=f"functions like {most}",
                    form=Form.MANY,
                    whole=total(facts),
                    how=f"inclusive time of the outermost functions named like {', '.join(entry.functions)}",
                    where=hot.place,
                ),
            ),
        )


def _matches(patterns: tuple[str, ...], name: str) -> bool:
    return any(fnmatchcase(each, pattern) for pattern in patterns for each in {name, base_name(name)})


RULES = (functions,)
