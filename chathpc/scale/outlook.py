"""What comes at other scales: time, growth of places, when waiting overtakes computing, and the next run to make.

A decision is what follows from the costs at the target scale: which place costs most, or whether a limit is kept. What is still open
are the draws of the fitted laws. A run tells the mutual information between its outcome and the decision (Lindley, 1956, "On a measure
of the information provided by an experiment"), estimated by pretending that each draw in turn is the truth. Where nothing can be
extrapolated nothing can be decided either: then the next run is the cheapest one after which it probably can, estimated likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, log2, sqrt
from typing import Literal

import numpy as np

from chathpc.profile.metric import Unit
from chathpc.profile.tree import FloatArray
from chathpc.scale.job import job
from chathpc.scale.laws import FEWEST, Array, Fitted, Measurement, fit, gathered
from chathpc.scale.loss import Cause, Costs, name_of, standing
from chathpc.scale.record import CrossingRecord, NextRunRecord, PredictionRecord, RangeRecord
from chathpc.scale.series import Kind, is_workers
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
#: At most so many places, beside the causes, have laws.
_PLACES = 6
#: A crossing is looked for up to so many times the largest scale, in steps of a factor.
_FURTHEST, _CROSSING = 1024.0, 2**0.25


# -- laws of a series ------------------------------------------------------------------------------------------


def law_of(costs: Costs, cost: FloatArray) -> Fitted | None:
    """The law of a cost (one number a run) along the series' parameter; None where it is nothing everywhere."""
    return fit(measurements(costs, cost)) if np.any(cost > 0) else None


def measurements(costs: Costs, cost: FloatArray) -> list[Measurement]:
    """A cost (one number a run) at the points of the series."""
    return [
        Measurement({costs.series.parameter: point.value}, tuple(np.maximum(cost[list(point.runs)], 0.0).tolist()))
        for point in costs.series.points
    ]


def laws_of_places(costs: Costs, causes: Sequence[Cause]) -> dict[int, Fitted]:
    """The laws of what the largest places cost, those of the causes first; a place inside another is not counted in that one too."""
    tree, own = costs.joint.tree, costs.mean(costs.whole)
    chosen = [cause.node for cause in causes if cause.node]
    rest = np.where(tree.inside(np.array(sorted(set(chosen)), dtype=np.int32)), 0.0, own)
    large = [node for node in np.argsort(-rest)[:_PLACES].tolist() if rest[node] > threshold("min_loss") * own.sum()]
    places = list(dict.fromkeys([*chosen, *(standing(costs, node) for node in large)]))
    nearest = np.zeros(len(tree), dtype=np.int32)
    for node in sorted(places):
        nearest[node : tree.end[node]] = node
    laws = ((node, law_of(costs, costs.whole[:, nearest == node].sum(axis=1))) for node in places)
    return {node: law for node, law in laws if law is not None}


def crossing(costs: Costs) -> CrossingRecord | None:
    """Where waiting (for others, for messages, at locks) overtakes computing; None with the problem's size, of too few scales, or where
    nobody waits.
    """
    series = costs.series
    if series.kind == Kind.PROBLEM_SIZE or not costs.is_told or costs.workers.max() < 2 or len(series.points) < FEWEST:
        return None
    waits, works = (law_of(costs, each.sum(axis=1)) for each in (costs.uneven + costs.waiting, costs.computing))
    if waits is None or works is None:
        return None
    value = low = high = None
    scale = series.values[0]
    while scale <= _FURTHEST * series.values[-1]:
        lost, useful = waits.predict({series.parameter: scale}), works.predict({series.parameter: scale})
        value = scale if value is None and lost.value > useful.value else value
        low = scale if low is None and lost.high > useful.low else low
        high = scale if high is None and lost.low > useful.high else high
        scale *= _CROSSING
    at = {series.parameter: value or 0.0}
    return CrossingRecord(
        value=value, low=low, high=high, refusal="" if value is None else waits.refusal(at) or works.refusal(at)
    )


def needed(costs: Costs) -> int:
    """Runs at a scale that give its time an 80 % interval of ± 5 %, by how repetitions have differed until now; 0 where there are none."""
    every = [costs.elapsed[list(point.runs)] for point in costs.series.points]
    spread = [
        (times.var(ddof=1) / times.mean() ** 2, len(times) - 1)
        for times in every
        if len(times) > 1 and times.mean() > 0
    ]
    if not spread:
        return 0
    noise = sqrt(sum(each * weight for each, weight in spread) / sum(weight for _, weight in spread))
    return max(1, ceil((_HALF * noise / _WANTED) ** 2 - 1e-9))


# -- decisions -------------------------------------------------------------------------------------------------


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


def keeps(limit: float, yes: str = "yes", no: str = "no") -> Decision:
    """The decision whether the sum of all costs keeps a limit, with the answers to it."""
    return lambda samples: np.where(np.sum(list(samples.values()), axis=0) <= limit, yes, no).tolist()


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
    return replace(known, run=candidates[place], information=told[place])


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


# -- other scales ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
    """What is said of other scales of a series: `whole` is the law of the elapsed time, `places` those of the largest places by their nodes."""

    costs: Costs
    whole: Fitted
    places: Mapping[int, Fitted]

    def predict(self, target: float) -> PredictionRecord:
        """Time and efficiency at a value of the parameter, and the places that have most of it there."""
        at = {self.costs.series.parameter: target}
        if self._unseen:
            return PredictionRecord.refused(at, self._unseen)
        ranked = ((name_of(self.costs, node), law.predict(at)) for node, law in self.places.items())
        found = self.whole.prediction(at, self._unit, ranked)
        ideal = self._ideal(target)
        if ideal is None or found.elapsed is None:
            return found
        value, low, high = (
            ideal / max(each, 1e-300) for each in (found.elapsed.value, found.elapsed.high, found.elapsed.low)
        )
        return found.model_copy(update={"efficiency": RangeRecord(value=value, low=low, high=high)})

    def next_run(self, target: float) -> NextRunRecord:
        """The run to make before one believes what is said of `target`: that which tells most for a core-hour of what costs most there, or,
        if that is settled, of whether the efficiency is enough; where the target cannot be extrapolated, the cheapest after which it
        probably can.
        """
        series = self.costs.series
        purpose: Literal["decide", "extrapolate", "approach"] = "decide"
        question, advice = "", Advice(None, "", 1.0)
        if self._unseen or self.whole.refusal({series.parameter: target}):
            run, reached = self._enabling(target)
            purpose = "extrapolate" if reached == target else "approach"
            question = "" if self._unseen else "whether it can be extrapolated"
            advice = Advice(run, "no", 1.0)
        else:
            for asked, fits, decision in self._questions(target):
                question = asked
                advice = advise(fits, {series.parameter: target}, self._offered(target), decision)
                if advice.run is not None:
                    break
        run, timed = advice.run, self._unit == Unit.SECONDS
        seconds = self.whole.predict(run.parameters).high if run is not None and timed else 0.0
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

    @property
    def _unseen(self) -> str:
        """Why no number of runs would do, if these profiles do not show who works; else empty."""
        if self.costs.series.kind == Kind.PROBLEM_SIZE or self.costs.is_told:
            return ""
        if self.costs.untold:
            return f"some profiles do not show all workers; measure these again, or leave them out: {self.costs.untold}"
        return "the profiles do not show all workers; measure with a profiler that does (chathpc measure)"

    @property
    def _unit(self) -> str:
        return self.costs.series.runs[0].measured.metric.unit.value

    def _ideal(self, target: float) -> float | None:
        """The time at a scale if none were lost against the smallest one; None where nothing says what it should be."""
        series, first = self.costs.series, float(self.costs.mean(self.costs.elapsed, 0))
        if series.kind == Kind.STRONG:
            return first * (series.values[0] / target)
        return first if series.kind == Kind.WEAK else None

    def _questions(self, target: float) -> Iterator[tuple[str, Mapping[str, Fitted], Decision]]:
        fits = {name_of(self.costs, node): law for node, law in self.places.items()}
        if len(fits) > 1:
            yield "what costs most", fits, costs_most
        ideal, least = self._ideal(target), threshold("scales_well")
        if ideal is not None:
            decision = keeps(ideal / least, f"at least {least * 100:.0f} %", f"below {least * 100:.0f} %")
            yield "what the efficiency is", {"time": self.whole}, decision

    def _offered(self, target: float) -> list[Candidate]:
        """Runs at the scales that were measured, and at larger ones up to the target."""
        values = self.costs.series.values
        doublings = max(ceil(log2(max(target / values[-1], 1.0)) / log2(_STEP) / _OFFERED), 1)
        further = (values[-1] * _STEP ** (doublings * step) for step in range(1, _OFFERED + 1))
        return [self._candidate(value) for value in (*values, *(each for each in further if each <= target))]

    def _candidate(self, value: float) -> Candidate:
        series, at = self.costs.series, {self.costs.series.parameter: value}
        count = min(max(needed(self.costs), _LEAST), _MOST)
        # As many cores as workers, which grow with a parameter that counts them.
        grown = value / series.values[-1] if is_workers(series.parameter) else 1.0
        cores = max(float(self.costs.mean(self.costs.workers)) * grown, 1.0)
        return Candidate(at, self.whole.predict(at).value / _SECONDS * cores * count, count)

    def _enabling(self, target: float) -> tuple[Candidate | None, float]:
        """The cheapest run after which the target can probably be extrapolated, or, if none is enough, what lies half the way to it, and so
        on; and what that is.
        """
        series, itself = self.costs.series, self._candidate(target)
        # Where there are as many runs already, more would tell the same again.
        known = {point.value for point in series.points if len(point.runs) >= itself.repetitions}
        offered = [] if self._unseen else [*self._offered(target), itself]
        new = [each for each in offered if each.parameters[series.parameter] not in known]
        ordered = sorted(new, key=lambda each: each.core_hours)
        while True:
            run = next((each for each in ordered if self._enables(each, target)), None)
            if run is not None or target <= _STEP * series.values[-1]:
                return run, target
            target = sqrt(target * series.values[-1])

    def _enables(self, run: Candidate, target: float) -> bool:
        """True if the target can be extrapolated after most outcomes of the run: those of laws spread evenly over what is believed of it."""
        at = {self.costs.series.parameter: target}
        order = np.argsort(self.whole.samples(at))
        outcomes = self.whole.samples(run.parameters)[order[np.linspace(0, len(order) - 1, _OUTCOMES).astype(np.int64)]]
        measured = [(each.parameters, each.values) for each in measurements(self.costs, self.costs.elapsed)]
        noise = self.whole.noise * np.random.default_rng(0).standard_normal((_OUTCOMES, run.repetitions))
        seen = np.maximum(outcomes[:, None] * (1 + noise), 0.0).tolist()
        possible = sum(not fit(gathered([*measured, (run.parameters, each)])).refusal(at) for each in seen)
        return possible >= _PROBABLY * _OUTCOMES
