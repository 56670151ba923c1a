"""Which run is worth paying for: the one that tells most about a decision for a core-hour, and when to stop.

A decision is what follows from the costs at the target scale, such as which cause costs most or whether a limit is kept. What is
still open are the draws of the fitted laws. A run tells the mutual information between its outcome and the decision (Lindley, 1956, "On
a measure of the information provided by an experiment"), estimated by pretending that each draw in turn is the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from chathpc.scale.laws import Array, Fitted

#: A decision: from the draws of each cause's cost at the target, the answer for each draw.
Decision = Callable[[Mapping[str, Array]], Sequence[str]]

#: Runs end when the decision is as certain as this, or no run is expected to tell more bits.
CERTAIN, _BITS = 0.98, 0.005
#: A run is advised if it tells this part of what the best one tells: else the cheapest ones always win, and settle nothing.
_WORTH = 0.1
#: Half an 80 % interval of a normal distribution in standard deviations.
_HALF = 1.2816
#: Costs that are weighed: with more of them a few draws would stand for all.
_WEIGHED = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A run that could be made: its parameters, its price and how often it is repeated."""

    parameters: Mapping[str, float]
    core_hours: float
    repetitions: int = 1


@dataclass(frozen=True, slots=True)
class Advice:
    """The next run, or None if nothing more is worth its price; `reason` says why, for a person.

    `decision` is what the runs until now say, `certainty` its probability, `information` what the run tells about it in bits.
    """

    run: Candidate | None
    decision: str
    certainty: float
    information: float
    reason: str


def costs_most(samples: Mapping[str, Array]) -> list[str]:
    """The decision which of the causes costs most."""
    names = list(samples)
    return [names[place] for place in np.argmax(np.stack([samples[name] for name in names]), axis=0).tolist()]


def keeps(limit: float) -> Decision:
    """The decision whether the sum of all costs keeps a limit: yes or no."""
    return lambda samples: np.where(np.sum(list(samples.values()), axis=0) <= limit, "yes", "no").tolist()


def next_run(
    fits: Mapping[str, Fitted],
    target: Mapping[str, float],
    candidates: Sequence[Candidate],
    decision: Decision = costs_most,
) -> Advice:
    """The candidate with the most expected information about a decision at `target` for a core-hour."""
    samples = {name: fitted.samples(target) for name, fitted in fits.items()}
    answers = decision(samples)
    labels, numbers = np.unique(np.asarray(answers), return_inverse=True)
    chosen = np.eye(len(labels))[numbers.ravel()]
    shares = chosen.mean(axis=0)
    best = int(shares.argmax())
    said, certainty = str(labels[best]), float(shares[best])
    if certainty >= CERTAIN:
        return Advice(
            None, said, certainty, 0.0, f"The decision is {certainty:.0%} certain; further runs would not change it."
        )
    weighed = sorted(fits, key=lambda name: -float(np.median(samples[name])))[:_WEIGHED]
    told = [_information({name: fits[name] for name in weighed}, each, chosen) for each in candidates]
    least = _WORTH * max(told, default=0.0)
    rates = [
        bits / max(each.core_hours, 1e-12) if bits >= least else 0.0
        for bits, each in zip(told, candidates, strict=True)
    ]
    place = int(np.argmax(rates)) if rates else -1
    if place < 0 or told[place] < _BITS:
        return Advice(None, said, certainty, 0.0, "No run on offer is expected to tell more about the decision.")
    run = candidates[place]
    point = ", ".join(f"{name} = {value:g}" for name, value in run.parameters.items())
    return Advice(run, said, certainty, told[place],
                  f"{point}: {told[place]:.2g} bits for {run.core_hours:.3g} core-hours, the most for the price of {len(candidates)} runs.")  # fmt: skip


def _information(fits: Mapping[str, Fitted], run: Candidate, chosen: Array) -> float:
    """Bits that a run is expected to tell about the decision; `chosen` is draws × answers."""
    rng = np.random.default_rng(0)
    likelihood = np.zeros((len(chosen), len(chosen)))
    for fitted in fits.values():
        cost = np.log(np.maximum(fitted.samples(run.parameters), 1e-300))
        noise = max(fitted.noise, 1e-3) / run.repetitions**0.5
        seen = cost + noise * rng.standard_normal(len(cost))
        likelihood -= (seen[:, None] - cost[None, :]) ** 2 / (2 * noise**2)
    likelihood[np.diag_indices(len(chosen))] = -np.inf  # the truth itself is not among what is believed
    weights = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    believed = (weights / weights.sum(axis=1, keepdims=True)) @ chosen
    return max(_entropy(chosen.mean(axis=0)) - float(np.mean([_entropy(each) for each in believed])), 0.0)


def _entropy(shares: Array) -> float:
    held = shares[shares > 0]
    return float(-(held * np.log2(held)).sum())


def repetitions(noise: float, half: float) -> int:
    """How many runs at a point give its mean an 80 % interval of ± `half`, both relative to the mean."""
    return max(1, ceil((_HALF * noise / half) ** 2 - 1e-9))
