"""Ranks and threads that behave alike, and those that stand out: by what each costs at the places where they differ most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from chathpc.diagnosis.statistics import FEWEST, far
from chathpc.profile.tree import FloatArray, IntArray
from chathpc.scale.record import GroupRecord, OddRecord

#: Groups at most, locations that are grouped at once (of more, evenly chosen ones), and rounds.
_GROUPS, _GROUPED, _ROUNDS = 6, 4096, 50
#: A group has at least this part of all locations, and two; how often what has fewer is left aside.
_FEW, _ASIDE = 0.01, 8
#: Groups are told apart if their centres are this many of their standard deviations from each other: halves of a normal distribution have
#: 2.7, of an even one 3.5; and if they differ by this part of their mean.
_APART, _DIFFERENT = 4.0, 0.05
#: A location stands out if it is this many times as far from its group's centre as the median one, and this part of it. That is 5.4 standard
#: deviations of a normal distribution, more than for repetitions: of 100,000 locations 47 are beyond 3.5 by chance.
_FAR, _MUCH = 8.0, 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Ranks and threads at the places where they differ most: their values (locations × places), the places' names, what a location is
    called, and its compute node (−1 for all where there is one alone).
    """

    vectors: FloatArray
    places: Sequence[str]
    label: Callable[[int], str]
    node: IntArray


def groups_of(locations: Members) -> tuple[IntArray, list[GroupRecord]]:
    """The group of each location, and the groups, the largest first: as many as are clearly apart."""
    vectors, node = locations.vectors, locations.node
    chosen = np.unique(np.linspace(0, len(vectors) - 1, min(len(vectors), _GROUPED)).astype(np.int64))
    tried = (_centres(vectors[chosen], count) for count in range(min(_GROUPS, len(chosen) // 2), 1, -1))
    centres = next((found for found in tried if found is not None), vectors.mean(axis=0, keepdims=True))
    distance = _distances(vectors, centres)
    member = distance.argmin(axis=1).astype(np.int32)
    groups = []
    for number in np.unique(member).tolist():
        inside, others, centre = np.flatnonzero(member == number), member != number, centres[number]
        rest = vectors[others].mean(axis=0) if others.any() else centre
        most = int(np.argmax(np.abs(centre - rest)))
        own_nodes = np.unique(node[inside][node[inside] >= 0])
        groups.append(
            GroupRecord(
                members=len(inside), representative=locations.label(int(inside[distance[inside, number].argmin()])),
                nodes=[] if np.isin(node[others], own_nodes).any() else own_nodes.tolist(),
                mean=float(vectors[inside].sum(axis=1).mean()),
                place=locations.places[most], here=float(centre[most]), elsewhere=float(rest[most]),
            )
        )  # fmt: skip
    return member, sorted(groups, key=lambda each: -each.members)


def _centres(vectors: FloatArray, count: int) -> FloatArray | None:
    """Centres of `count` groups; None if they are not apart. What is too few for a group stands out, and is left aside."""
    least = max(2, len(vectors) * _FEW)
    for _ in range(_ASIDE):
        found, member = _means(vectors, count)
        few = np.bincount(member, minlength=count) < least
        if not few.any():
            return found if _are_apart(vectors, found, member) else None
        vectors = vectors[~few[member]]
        if len(vectors) < 2 * count:
            break
    return None


def _means(vectors: FloatArray, count: int) -> tuple[FloatArray, IntArray]:
    """Lloyd's k-means from the point farthest from the mean, then always that farthest from all chosen: no chance is in it."""
    first = _distances(vectors, vectors.mean(axis=0, keepdims=True)).argmax()
    centres = vectors[[first]]
    while len(centres) < count:
        centres = np.vstack([centres, vectors[_distances(vectors, centres).min(axis=1).argmax()]])
    member = np.full(len(vectors), -1, dtype=np.int32)
    for _ in range(_ROUNDS):
        before, member = member, _distances(vectors, centres).argmin(axis=1).astype(np.int32)
        if np.array_equal(before, member):
            break
        for each in np.unique(member):
            centres[each] = vectors[member == each].mean(axis=0)
    return centres, member


def _are_apart(vectors: FloatArray, centres: FloatArray, member: IntArray) -> bool:
    variances = [np.square(vectors[member == each] - centre).mean(axis=0).sum() for each, centre in enumerate(centres)]
    spread, size = np.sqrt(variances), np.linalg.norm(vectors.mean(axis=0))
    first, second = np.triu_indices(len(centres), 1)
    between = np.sqrt(_distances(centres, centres))[first, second]
    return bool((between > np.maximum(_APART * np.maximum(spread[first], spread[second]), _DIFFERENT * size)).all())


def _distances(vectors: FloatArray, centres: FloatArray) -> FloatArray:
    """Squared distances (vectors × centres)."""
    return np.stack([np.square(vectors - centre).sum(axis=1) for centre in centres], axis=1)


def odd_ones(locations: Members, member: IntArray) -> list[OddRecord]:
    """Locations far from the middle of their group, the farthest first."""
    found: list[tuple[float, OddRecord]] = []
    for inside in (np.flatnonzero(member == number) for number in np.unique(member)):
        if len(inside) < FEWEST:
            continue
        vectors = locations.vectors[inside]
        middle = np.median(vectors, axis=0)
        distance = np.sqrt(np.square(vectors - middle).sum(axis=1))
        for at in far(distance, times=_FAR, least=_MUCH * float(np.linalg.norm(middle))).tolist():
            own, node = vectors[at], int(locations.node[inside[at]])
            most = int(np.argmax(np.abs(own - middle)))
            odd = OddRecord(
                label=locations.label(int(inside[at])), node=node if node >= 0 else None, time=float(own.sum()),
                usual_time=float(middle.sum()), place=locations.places[most], here=float(own[most]), usual=float(middle[most]),
            )  # fmt: skip
            found.append((float(distance[at]), odd))
    return [odd for _, odd in sorted(found, key=lambda pair: -pair[0])]
