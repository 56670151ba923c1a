"""The next run of a series: the one that tells most about a decision for its price, and when to stop.

A decision is what follows from the costs at the target scale: which place costs most, or whether a limit is kept. What is still open
are the draws of the fitted laws. A run tells the mutual information between its outcome and the decision (Lindley, 1956, "On a measure
of the information provided by an experiment"), estimated by pretending that each draw in turn is the truth. Where nothing can be
extrapolated nothing can be decided either: then the next run is the cheapest one after which it probably can, estimated likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log2, sqrt
from typing import Literal

import numpy as np

from chathpc.profile.metric import Unit
from chathpc.scale.job import job
from chathpc.scale.laws import Array, Fitted, fit, gathered
from chathpc.scale.loss import Costs, name_of
from chathpc.scale.outlook import ideal_time, measurements, unseen
from chathpc.scale.record import NextRunRecord
from chathpc.scale.series import Series, is_workers
from chathpc.scale.thresholds import threshold

#: A decision: from the draws of each cost at the target, the answer for each draw.
Decision = Callable[[Mapping[str, Array]], Sequence[str]]

#: Runs end when the decision is as certain as this, or no run is expected to tell more bits.
CERTAIN, _BITS = 0.98, 0.005
#: A run is advised if it tells this part of what the best one tells: else the cheapest ones always win, and settle nothing.
_WORTH = 0.1
#: Half an 80 % interval of a normal distribution in standard deviations.
_HALF = 1.2816
#: Costs that are weighed: with more of them a few draws would stand for all.
_WEIGHED = 3
#: Half the 80 % interval that a time is wanted to have, and the fewest and most repetitions that give it.
_WANTED, _LEAST, _MOST = 0.05, 3, 10
_SECONDS = 3600.0
#: Runs between the largest and the target are offered in steps of this factor or a power of it, at most so many.
_STEP, _OFFERED = 2.0, 6
#: A run makes an extrapolation possible if it does so for this part of so many outcomes.
_PROBABLY, _OUTCOMES = 0.5, 12


@dataclass(frozen=True, slots=True)
class Candidate:
    """A run that could be made: its parameters, its price and how often it is repeated."""

    parameters: Mapping[str, float]
    core_hours: float
    repetitions: int = 1


@dataclass(frozen=True, slots=True)
class Advice:
    """The run to make, or None if none is worth its price.

    `decision` is what the runs until now say, `certainty` its probability, `information` what the run tells about it in bits.
    """

    run: Candidate | None
    decision: str
    certainty: float
    information: float = 0.0


def costs_most(samples: Mapping[str, Array]) -> list[str]:
    """The decision which of the places costs most."""
    names = list(samples)
    return [names[place] for place in np.argmax(np.stack(list(samples.values())), axis=0).tolist()]


def keeps(limit: float) -> Decision:
    """The decision whether the sum of all costs keeps a limit: yes or no."""
    return lambda samples: np.where(np.sum(list(samples.values()), axis=0) <= limit, "yes", "no").tolist()


def advise(
    fits: Mapping[str, Fitted],
    target: Mapping[str, float],
    candidates: Sequence[Candidate],
    decision: Decision = costs_most,
) -> Advice:
    """The candidate with the most expected information about a decision at `target` for a core-hour."""
    samples = {name: fitted.samples(target) for name, fitted in fits.items()}
    labels, numbers = np.unique(np.asarray(decision(samples)), return_inverse=True)
    chosen = np.eye(len(labels))[numbers.ravel()]
    shares = chosen.mean(axis=0)
    best = int(shares.argmax())
    known = Advice(None, str(labels[best]), float(shares[best]))
    if known.certainty >= CERTAIN or not candidates:
        return known
    weighed = sorted(fits, key=lambda name: -float(np.median(samples[name])))[:_WEIGHED]
    told = [_information([fits[name] for name in weighed], each, chosen) for each in candidates]
    rates = [
        bits / max(each.core_hours, 1e-12) if bits >= _WORTH * max(told) else 0.0
        for bits, each in zip(told, candidates, strict=True)
    ]
    place = int(np.argmax(rates))
    if told[place] < _BITS:
        return known
    return Advice(candidates[place], known.decision, known.certainty, told[place])


def _information(fits: Sequence[Fitted], run: Candidate, chosen: Array) -> float:
    """Bits that a run is expected to tell about the decision; `chosen` is draws × answers."""
    rng = np.random.default_rng(0)
    likelihood = np.zeros((len(chosen), len(chosen)))
    for fitted in fits:
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


# -- of a series -----------------------------------------------------------------------------------------------


def next_run(
    series: Series, costs: Costs, whole: Fitted | None, laws: Mapping[int, Fitted], target: float
) -> NextRunRecord | None:
    """The run to make before one believes what is said of `target`: that which tells most for a core-hour of what costs most there, or, if
    that is settled, of whether the efficiency is enough; where the target cannot be extrapolated, the cheapest after which it probably
    can. `laws` are those of places; None where nothing was measured.
    """
    if whole is None:
        return None
    at = {series.parameter: target}
    offered = _offered(series, costs, whole, target)
    purpose: Literal["decide", "extrapolate", "approach"] = "decide"
    question, advice = "", Advice(None, "", 1.0)
    if unseen(series, costs) or whole.refusal(at):
        run, reached = _enabling(series, costs, whole, target, offered)
        purpose = "extrapolate" if reached == target else "approach"
        question = "" if unseen(series, costs) else "whether it can be extrapolated"
        advice = Advice(run, "no", 1.0)
    else:
        for asked, fits, decision in _questions(series, costs, whole, laws, target):
            question, advice = asked, advise(fits, at, offered, decision)
            if advice.run is not None:
                break
    run, timed = advice.run, series.runs[0].measured.metric.unit == Unit.SECONDS
    seconds = whole.predict(run.parameters).high if run is not None and timed else 0.0
    value = None if run is None else run.parameters[series.parameter]
    return NextRunRecord(
        purpose=purpose,
        question=question,
        answer=advice.decision,
        certainty=advice.certainty,
        at=value,
        repetitions=0 if run is None else run.repetitions,
        core_hours=run.core_hours if run is not None and timed else 0.0,
        seconds=seconds,
        bits=advice.information,
        job="" if run is None or value is None else job(series, value, run.repetitions, seconds, target),
    )


def _enabling(
    series: Series, costs: Costs, whole: Fitted, target: float, offered: Sequence[Candidate]
) -> tuple[Candidate | None, float]:
    """The cheapest run after which the target can probably be extrapolated, or, if none is enough, what lies half the way to it, and so on;
    and what that is.
    """
    last = series.values[-1]
    itself = _candidate(series, costs, whole, target)
    # Where there are as many runs already, more would tell the same again.
    known = {point.value for point in series.points if len(point.runs) >= itself.repetitions}
    new = (each for each in (*offered, itself) if each.parameters[series.parameter] not in known)
    ordered = sorted(new, key=lambda each: each.core_hours) if not unseen(series, costs) else []
    while True:
        found = (run for run in ordered if _enables(series, costs, whole, run, {series.parameter: target}))
        if (run := next(found, None)) is not None or target <= _STEP * last:
            return run, target
        target = sqrt(target * last)


def _enables(series: Series, costs: Costs, whole: Fitted, run: Candidate, target: Mapping[str, float]) -> bool:
    """True if the target can be extrapolated after most outcomes of the run: those of laws spread evenly over what is believed of the target."""
    order = np.argsort(whole.samples(target))
    outcomes = whole.samples(run.parameters)[order[np.linspace(0, len(order) - 1, _OUTCOMES).astype(np.int64)]]
    measured = [(each.parameters, each.values) for each in measurements(series, costs.elapsed)]
    noise = whole.noise * np.random.default_rng(0).standard_normal((_OUTCOMES, run.repetitions))
    seen = np.maximum(outcomes[:, None] * (1 + noise), 0.0).tolist()
    possible = sum(not fit(gathered([*measured, (run.parameters, each)])).refusal(target) for each in seen)
    return possible >= _PROBABLY * _OUTCOMES


def _questions(
    series: Series, costs: Costs, whole: Fitted, laws: Mapping[int, Fitted], target: float
) -> list[tuple[str, Mapping[str, Fitted], Decision]]:
    fits = {name_of(costs, node): law for node, law in laws.items()}
    asked: list[tuple[str, Mapping[str, Fitted], Decision]] = []
    if len(fits) > 1:
        asked.append(("what costs most", fits, costs_most))
    ideal = ideal_time(series, costs, target)
    if ideal is not None:
        least = threshold("scales_well")
        asked.append((f"whether the efficiency is {least * 100:.0f} %", {"time": whole}, keeps(ideal / least)))
    return asked


def _offered(series: Series, costs: Costs, whole: Fitted, target: float) -> list[Candidate]:
    """Runs at the scales that were measured, and at larger ones up to the target."""
    last = series.values[-1]
    doublings = max(ceil(log2(max(target / last, 1.0)) / log2(_STEP) / _OFFERED), 1)
    further = (last * _STEP ** (doublings * step) for step in range(1, _OFFERED + 1))
    values = (*series.values, *(each for each in further if each <= target))
    return [_candidate(series, costs, whole, value) for value in values]


def _candidate(series: Series, costs: Costs, whole: Fitted, value: float) -> Candidate:
    at = {series.parameter: value}
    count = min(max(needed(series, costs), _LEAST), _MOST)
    # As many cores as workers, which grow with a parameter that counts them.
    grown = value / series.values[-1] if is_workers(series.parameter) else 1.0
    cores = max(float(series.mean(costs.workers, -1)) * grown, 1.0)
    return Candidate(at, whole.predict(at).value / _SECONDS * cores * count, count)


def needed(series: Series, costs: Costs) -> int:
    """Runs at a scale that give its time an 80 % interval of ± 5 %, by how repetitions have differed until now; 0 where there are none."""
    every = [costs.elapsed[list(point.runs)] for point in series.points]
    spread = [
        (times.var(ddof=1) / times.mean() ** 2, len(times) - 1)
        for times in every
        if len(times) > 1 and times.mean() > 0
    ]
    if not spread:
        return 0
    noise = sqrt(sum(each * weight for each, weight in spread) / sum(weight for _, weight in spread))
    return repetitions(noise, _WANTED)


def repetitions(noise: float, half: float) -> int:
    """How many runs at a point give its mean an 80 % interval of ± `half`, both relative to the mean."""
    return max(1, ceil((_HALF * noise / half) ** 2 - 1e-9))
