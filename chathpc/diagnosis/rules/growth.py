"""Growth with the size of the problem, which runs at other sizes measured: it proves a quadratic algorithm without a look at the source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.draft import UNEXPLAINED, Draft
from chathpc.diagnosis.fact import Fact, Form, Kind, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Place
from chathpc.profile import numbers
from chathpc.profile.remark import GrownPlace

_CAUSE = "quadratic-algorithm"
#: What helps where only the growth is known, not what is done for all pairs.
_ADVICE = (
    "Find out what is done for each pair of items, and do it for those alone that matter: neighbours through a cell list or k-d tree, equal items "
    "through a hash table or by sorting once; a list whose items are moved one by one needs an index of its first item instead.",
)


def with_growth(facts: Facts, drafts: Sequence[Draft]) -> list[Draft]:
    """`drafts`, where a function grows faster than the problem: one of that cause there is measured, another made where there is none.

    What only says that its code is hot gives way.
    """
    kept, tree = list(drafts), facts.profile.tree
    for grown in facts.profile.grown if facts.has_host_time else ():
        nodes = np.flatnonzero(tree.named(grown.function)).astype(np.int32)
        if not len(nodes) or grown.exponent[1] <= cause(_CAUSE).threshold("min_growth") * grown.data:
            continue
        inside = tree.inside(nodes)
        cost = float(facts.time[inside].sum())
        share = cost / facts.total if facts.total else 0.0
        limit = cause(_CAUSE).threshold("min_share")
        if not facts.above(share, limit):
            continue
        fact = _fact(grown)
        same = next(
            (draft for draft in kept if draft.cause == _CAUSE and draft.where.node >= 0 and inside[draft.where.node]),
            None,
        )
        kept = [
            draft
            for draft in kept
            if not (draft.cause in UNEXPLAINED and draft.where.node >= 0 and inside[draft.where.node])
        ]
        if same is not None:
            measured = replace(
                same,
                evidence=(*same.evidence, fact),
                derived=False,
                signs=same.signs + 1,
                against=(*same.against, *_against(grown)),
            )
            kept = [measured if draft is same else draft for draft in kept]
            continue
        place = facts.place(int(nodes[np.argmax(facts.inclusive[nodes])]))
        where = place if grown.file is None else replace(place, file=grown.file, line=grown.line)
        of = f"{grown.function} has " if grown.name not in ("", grown.function) else ""
        kept.append(
            Draft(
                cause=_CAUSE, where=where, summary=f"{grown.name or grown.function} {_words(grown)}: {of}{numbers.percent(share)} of {facts.whole}.",
                cost=cost, share=share, threshold=limit, evidence=(_time(facts, where, cost, share), fact), removable=0.0, against=_against(grown),
                advice=_ADVICE, own_advice=True,
            )
        )  # fmt: skip
    return kept


def _against(grown: GrownPlace) -> tuple[str, ...]:
    """What grows like the rest of the program may only have more data: n² points of a grid with n on a side."""
    if grown.rest is not None and grown.rest <= cause(_CAUSE).threshold("min_growth"):
        return ()
    p = grown.parameter
    alike = (
        "Nearly all of the program grows"
        if grown.rest is None
        else f"The rest of the program grows as {p}^{grown.rest:.1f}"
    )
    return (f"{alike}: {p} may be the side of a grid or matrix.",)


def _words(grown: GrownPlace) -> str:
    value, low, high = grown.exponent
    return f"grows as {grown.parameter}^{value:.1f} ({low:.1f} to {high:.1f})"


def _time(facts: Facts, where: Place, cost: float, share: float) -> Fact:
    unit = facts.profile.metrics[facts.metric].unit.value
    return Fact(
        "", Kind.AMOUNT, f"{where.function} with what it calls", cost, unit, facts.metric, Quantity(facts.total, unit), form=Form.NAME,
        metric=facts.metric, where=where, error=facts.error(share) * facts.total,
    )  # fmt: skip


def _fact(grown: GrownPlace) -> Fact:
    costs = ", ".join(
        f"{numbers.quantity(cost, grown.unit)} at {grown.parameter} = {f'{size:,.0f}' if size.is_integer() else numbers.number(size)}"
        for size, cost in zip(grown.sizes, grown.costs, strict=True)
    )
    said = f"Other runs show: {grown.name or grown.function} {_words(grown)}: {costs}."
    return Fact(
        id="", kind=Kind.REMARK, subject=grown.function, form=Form.NAME, value=grown.exponent[0], unit="", text=said,
        source="chathpc scale: a law fitted to runs at several sizes", metric=None,
    )  # fmt: skip
