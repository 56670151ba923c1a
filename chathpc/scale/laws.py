"""Laws of growth: which functions of the parameters explain measured costs, and what they say about other points.

Candidates are those of the performance-model normal form with its published set of exponents (Calotoiu et al., SC'13, "Using
automated performance modeling to find scalability bugs in complex codes"), sums of two such terms, their falling counterparts for
strong scaling, and laws of communication: tree, ring and halo. Each is fitted by least squares of relative residuals. What a law is
worth is the marginal likelihood of the measurements: noise of unknown size, coefficients that are not negative, the shares of the
terms at the largest point equally likely. So a term is only believed if it explains more than chance would, and laws that explain
about as much are all kept: predictions are drawn from all of them in proportion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations, product
from math import inf, lgamma, log, log2, nan
from zlib import crc32

import numpy as np
import numpy.typing as npt

from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.text import clean
from chathpc.scale.record import CurveRecord, LawRecord, PredictionRecord, RangeRecord, RankedRecord

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

#: Powers and powers of the logarithm of the published search.
NORMAL_FORM = tuple(
    (float(Fraction(power)), float(logarithm))
    for powers, logarithms in (
        ("0", (1, 2)),
        ("1/4 1/3 1/2 2/3 3/4 1 3/2 2 5/2", (0, 1, 2)),
        ("5/4 4/3 3", (0, 1)),
        ("4/5 5/3 7/4 9/4 7/3 8/3 11/4", (0,)),
    )
    for power in powers.split()
    for logarithm in logarithms
)
#: Exponents that algorithms have most often; they are thought three times as likely as the others.
_USUAL = ((0.0, 1.0), (0.5, 0.0), (1.0, 0.0), (1.0, 1.0), (1.5, 0.0), (2.0, 0.0), (3.0, 0.0))
#: Terms of which sums of two are tried.
_SUMMED = tuple(
    order
    for order in NORMAL_FORM
    if order[0] in (0, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 4, 1, 5 / 4, 4 / 3, 3 / 2, 5 / 3, 7 / 4, 2, 9 / 4, 5 / 2, 3)
    and order[1] <= (2 if order[0] in (0, 1) else 1)
)
#: Powers of work that is divided among processors, or of its surface in two and three dimensions.
_DIVIDED = (-1.0, -2 / 3, -1 / 2, -1 / 3)
_STEEPER = (-1 / 4, -3 / 4, -5 / 4, -4 / 3, -3 / 2, -2.0, -3.0)
#: What is tried beside divided work, as powers and powers of the logarithm.
_OVERHEAD = ((0.0, 1.0), (0.0, 2.0), (0.5, 0.0), (1.0, 0.0), (-2 / 3, 0.0), (-0.5, 0.0))
#: Laws of communication by their shapes.
_COMMUNICATION = (
    ("tree", ("steps",)), ("ring", ("others",)), ("ring", ("parts",)), ("ring", ("others", "parts")), ("halo", ("area",)), ("halo", ("volume",))
)  # fmt: skip
#: Prior belief in the kinds of laws, each shared among its members.
_BELIEFS = {
    "constant": 0.15,
    "normal form": 0.3,
    "sum": 0.2,
    "strong scaling": 0.15,
    "tree": 0.03,
    "ring": 0.04,
    "halo": 0.03,
}
#: A law with a constant is thought so many times as likely as one without.
_CONSTANT = 6.0
#: Overhead that grows by one of the usual terms is thought so many times as likely as another, beside divided work.
_OFTEN = 2.0
#: Noise that is assumed, with the weight of half a measurement.
_NOISE, _WEIGHT = 0.01, 0.5
#: Share of the evidence that counts: no law is quite true of a program, and tempered beliefs are wider (Grünwald, "The safe Bayesian", 2012).
_TRUST = 0.9
#: The same for several parameters, of whose many possible laws few are tried.
_TRUST_OF_SEVERAL = 0.6
DRAWS = 400
#: Points of a law's curve; places that are ranked at a scale.
_SAMPLES, _RANKED = 24, 6
#: Points by which it is estimated how likely several coefficients are not negative.
_POINTS = 64
#: Nothing is extrapolated from fewer values of a parameter, to more times the largest, if the interval's ends differ by a larger
#: factor, if points are predicted from the others with a larger error (symmetric, 0 to 2), or if the law misses one by a larger share.
FEWEST, _FARTHEST, _WIDEST, _WORST, _MISSED = 3, 64.0, 4.0, 0.5, 0.05
#: Standard errors of the repetitions at a point beyond which a law misses it.
_ERRORS = 3.0
#: Bounds of an 80 % interval.
_LOW, _HIGH = 0.1, 0.9


@dataclass(frozen=True, slots=True)
class Measurement:
    """The repetitions of one metric of one place at one point of the parameters."""

    parameters: Mapping[str, float]
    values: tuple[float, ...]


def gathered(values: Iterable[tuple[Mapping[str, float], Iterable[float]]]) -> tuple[Measurement, ...]:
    """Values with their points as measurements: those of one point are repetitions."""
    found: dict[tuple[tuple[str, float], ...], list[float]] = {}
    for point, each in values:
        found.setdefault(tuple(point.items()), []).extend(each)
    return tuple(Measurement(dict(point), tuple(each)) for point, each in found.items())


#: Shapes of communication: the powers of the parameter and its logarithm as it grows without bound, the function, and how it is written.
_SHAPES: Mapping[str, tuple[tuple[float, float], Callable[[Array], Array], str]] = {
    "steps": ((0.0, 1.0), lambda p: np.ceil(np.log2(np.maximum(p, 1.0)) - 1e-9), "⌈log2({})⌉"),
    "others": ((1.0, 0.0), lambda p: p - 1, "({} − 1)"),
    "parts": ((0.0, 0.0), lambda p: 1 - 1 / p, "(1 − 1/{})"),
    "area": ((0.0, 0.0), lambda p: 1 - p**-0.5, "(1 − {}^(−1/2))"),
    "volume": ((0.0, 0.0), lambda p: 1 - p ** (-1 / 3), "(1 − {}^(−1/3))"),
}


@dataclass(frozen=True, slots=True)
class Factor:
    """A function of one parameter: its power, that of its binary logarithm, or a shape of communication.

    Shapes: "steps" of a tree; "others", the messages, and "parts" of the data in a ring; "area" and "volume", the part of the faces of a
    grid's parts that have a neighbour.
    """

    power: float = 0.0
    logarithm: float = 0.0
    shape: str = ""

    @property
    def order(self) -> tuple[float, float]:
        """Powers of the parameter and its logarithm as it grows without bound."""
        return _SHAPES[self.shape][0] if self.shape else (self.power, self.logarithm)

    def at(self, value: Array) -> Array:
        """Its value at each of the values of the parameter."""
        if self.shape:
            return _SHAPES[self.shape][1](value)
        return value**self.power * (np.log2(value) ** self.logarithm if self.logarithm else 1.0)

    def text(self, name: str) -> str:
        """The function of the parameter `name` in words of arithmetic."""
        if self.shape:
            return _SHAPES[self.shape][2].format(name)
        parts = []
        if self.power:
            exponent = str(Fraction(self.power).limit_denominator(12)).replace("-", "−")
            parts.append(name if self.power == 1 else f"{name}^{exponent if exponent.isdigit() else f'({exponent})'}")
        if self.logarithm:
            parts.append(f"log2({name})" if self.logarithm == 1 else f"log2({name})^{self.logarithm:g}")
        return " · ".join(parts)


ONE = Factor()
#: A term: its factor for each of the parameters, in their order.
Term = tuple[Factor, ...]


@dataclass(frozen=True, slots=True)
class Law:
    """A sum of terms with their coefficients; `parameters` are their names, in the order of each term's factors."""

    kind: str
    parameters: tuple[str, ...]
    terms: tuple[Term, ...]
    coefficients: tuple[float, ...]

    def growth(self, parameter: str, point: Array) -> float:
        """The exponent with which the cost grows with a parameter up to a point, over a factor of two."""
        half = np.where(np.array(self.parameters) == parameter, point / 2, point)
        return log2(max(self.at(point), 1e-300) / max(self.at(half), 1e-300))

    def at(self, point: Array) -> float:
        """The cost at a point."""
        values = [[factor.at(point[place]) for place, factor in enumerate(term)] for term in self.terms]
        return float(np.dot(self.coefficients, np.prod(values, axis=1)))

    @property
    def text(self) -> str:
        """Such as `1.2 + 0.3 · p · log2(p)`."""
        found = []
        for term, coefficient in zip(self.terms, self.coefficients, strict=True):
            factors = [factor.text(name) for factor, name in zip(term, self.parameters, strict=True) if factor != ONE]
            found.append(" · ".join([f"{coefficient:.3g}", *factors]))
        return " + ".join(found) or "0"


@dataclass(frozen=True)
class Hypotheses:
    """Laws without their coefficients: `members[h]` are the numbers of a hypothesis' terms, −1 where it has fewer than others."""

    parameters: tuple[str, ...]
    terms: tuple[Term, ...]
    members: Indices
    kinds: tuple[str, ...]
    prior: Array

    def columns(self, points: Array) -> Array:
        """Each term's value at each point (points × parameters); an additional last column is 0."""
        found = np.zeros((len(points), len(self.terms) + 1))
        for number, term in enumerate(self.terms):
            factors = [factor.at(points[:, place]) for place, factor in enumerate(term) if factor != ONE]
            found[:, number] = np.prod(factors, axis=0)
        return found


@dataclass(frozen=True)
class Fitted:
    """The law that was found, laws that explain about as much, and what is believed of all of them.

    `error`: symmetric mean absolute percentage error of the law when each point is predicted from the others, from 0 to 2.
    `others`: the next best laws.
    `missed`: by what share of it the law misses a point at most, beyond what repetitions differ by.
    `noise`: relative standard deviation of one measurement. `points`: those that were measured, a column a parameter.
    `parts`: the laws of what the whole consists of, or the largest parts of it. Beyond the points they tell it where they need more: a part
    that grows is small at the points, so that the law of the whole does not see it yet.
    """

    law: Law
    error: float
    others: tuple[Law, ...]
    missed: float
    noise: float
    points: Array
    hypotheses: Hypotheses
    posterior: Posterior
    seed: int
    parts: tuple[Fitted, ...] = ()

    @cached_property
    def draws(self) -> tuple[Indices, Array]:
        """Terms and coefficients of laws, drawn in proportion to the belief in them; no coefficient is negative."""
        rng, held = np.random.default_rng(self.seed), self.posterior
        cumulated = np.cumsum(held.shares) / held.shares.sum()
        places = np.minimum(np.searchsorted(cumulated, (np.arange(DRAWS) + 0.5) / DRAWS), len(cumulated) - 1)
        picked = rng.permutation(places)
        terms = self.hypotheses.members[held.numbers[picked]]
        variance = held.squares[picked] / rng.chisquare(held.freedom[picked])
        root = _root(held.spread)[picked] * np.sqrt(variance)[:, None, None]
        tried = held.coefficients[picked] + (root @ rng.standard_normal((12, DRAWS, terms.shape[1], 1)))[..., 0]
        good = ((tried >= 0) | (terms < 0)).all(axis=2)
        # Another draw stands for one without such coefficients: cut off at 0 they would be no fit.
        place = np.arange(DRAWS)
        if (some := np.flatnonzero(good.any(axis=0))).size:
            place = np.where(good.any(axis=0), place, some[place % some.size])
        return terms[place], np.maximum(tried[good.argmax(axis=0)[place], place], 0.0) * (terms[place] >= 0)

    def samples(self, parameters: Mapping[str, float]) -> Array:
        """Costs at a point, as likely as each other: what the measurements leave open, without the noise of a new run."""
        point = np.array([[float(parameters[name]) for name in self.hypotheses.parameters]])
        columns = self.hypotheses.columns(point)[0]
        members, coefficients = self.draws
        found: Array = (coefficients * columns[members]).sum(axis=1)
        if self.parts and (point > self.points.max(axis=0)).any():
            together: Array = np.sum([part.samples(parameters) for part in self.parts], axis=0)
            # Of each quantile the larger: the whole is nowhere less than its parts. Draws keep their order.
            order = np.argsort(max(found, together, key=np.median))
            found[order] = np.maximum(np.sort(found), np.sort(together))
        return found

    def predict(self, parameters: Mapping[str, float]) -> RangeRecord:
        """The cost at a point with its 80 % interval: the median of all laws that remain possible, which need not be that of `law`."""
        return _range(self.samples(parameters))

    def growth(self, parameter: str, parameters: Mapping[str, float] | None = None) -> RangeRecord:
        """The exponent with which costs grow with a parameter at a point, by default the largest that was measured, over a factor of two."""
        largest = dict(zip(self.hypotheses.parameters, self.points.max(axis=0).tolist(), strict=True))
        here = {**largest, **(parameters or {})}
        before = self.samples({**here, parameter: here[parameter] / 2})
        after = self.samples(here)
        with np.errstate(divide="ignore", invalid="ignore"):
            return _range(np.where((before > 0) & (after > 0), np.log2(after / before), 0.0))

    def refusal(self, parameters: Mapping[str, float], unit: str = "") -> str:
        """Why the cost (in `unit`) at a point cannot be extrapolated from these runs, as the end of a sentence; empty if it can."""
        largest = self.points.max(axis=0)
        for name, column, most in zip(self.hypotheses.parameters, self.points.T, largest.tolist(), strict=True):
            different, asked = len(set(column.tolist())), parameters[name]
            if different < FEWEST and asked not in column:
                return f"{name} had {different} value{'s' * (different > 1)}; a law needs {FEWEST}, better 5"
            if asked > _FARTHEST * most:
                return f"{name} = {asked:,.12g} is more than {_FARTHEST:g} times the largest measured, {most:,.12g}"
        found = self.predict(parameters)
        if found.high > _WIDEST * max(found.low, 0.0):
            low, high = (numbers.quantity(each, unit) for each in (found.low, found.high))
            return f"laws that fit these runs about equally well give from {low} to {high} there"
        if self.error > _WORST:
            return (
                f"no law describes these runs: a point is predicted from the others with an error of {self.error:.0%}"
            )
        if self.missed > _MISSED:
            return f"even the law that fits best misses a point by {self.missed * 100:.0f} %"
        return ""

    def record(self, parameter: str, targets: Iterable[float], fixed: Mapping[str, float] | None = None) -> LawRecord:
        """The law along a parameter, the others at `fixed`, with its curve up to the farthest target, as far as it can be extrapolated."""
        measured = self.points[:, self.hypotheses.parameters.index(parameter)]
        count = _SAMPLES if len(np.unique(measured)) >= FEWEST else 0
        scales = np.geomspace(measured.min(), max([measured.max(), *targets]), count).tolist()
        points = [{**(fixed or {}), parameter: scale} for scale in scales]
        growth, every = self.growth(parameter), (self.law, *self.others)
        # Of the laws the best one that agrees with the growth of all as it is shown, and gives about their cost at the largest point: no
        # reader should find two exponents, nor another cost than was measured.
        low, high, end = round(growth.low, 1), round(growth.high, 1), self.points.max(axis=0)
        agreeing = [each for each in every if low <= round(each.growth(parameter, end), 1) <= high] or [self.law]
        cost = float(np.median(self.samples({**(fixed or {}), parameter: float(measured.max())}))) or 1.0
        law = min(agreeing, key=lambda each: max(abs(each.at(end) / cost - 1), _MISSED))
        return LawRecord(
            text=law.text, kind=law.kind, error=self.error, growth=growth, others=[other.text for other in every if other != law],
            curve=[CurveRecord(at=each[parameter], cost=self.predict(each)) for each in points if not self.refusal(each)],
        )  # fmt: skip

    def prediction(
        self, at: Mapping[str, float], unit: str, ranked: Iterable[tuple[str, RangeRecord]] = ()
    ) -> PredictionRecord:
        """The cost (in `unit`) at a point, and of places there, of which the largest are kept; or why it cannot be extrapolated."""
        if refusal := self.refusal(at, unit):
            return PredictionRecord.refused(at, refusal)
        largest = sorted(ranked, key=lambda each: -each[1].value)[:_RANKED]
        places = [RankedRecord(name=clean(name), cost=cost) for name, cost in largest]
        return PredictionRecord(at=dict(at), elapsed=self.predict(at), efficiency=None, ranked=places, refusal="")


def fit(measurements: Sequence[Measurement]) -> Fitted:
    """The law of some measurements. UsageError without any, or if they do not have the same parameters."""
    measurements = [each for each in measurements if each.values]
    if not measurements:
        raise UsageError("A law needs measurements.")
    names = tuple(measurements[0].parameters)
    if any(set(each.parameters) != set(names) for each in measurements):
        raise UsageError("Measurements have different parameters.", hint="Give each of them the same ones.")
    points = np.array([[float(each.parameters[name]) for name in names] for each in measurements])
    if not np.isfinite(points).all() or (points <= 0).any():
        raise UsageError("Parameters must be positive numbers.")
    most = max(len(each.values) for each in measurements)
    values = np.array([[*each.values, *[nan] * (most - len(each.values))] for each in measurements])
    if len(names) == 1:
        return _fit(_library(names[0], bool((points < 1).any())), points, values)
    return _fit(_several(names, points, np.nanmean(values, axis=1)), points, values)


class _Candidates:
    """Laws that are tried for parameters of these names, each with its kind and how likely it is thought beside others of that kind."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.one: Term = (ONE,) * len(names)
        self.laws: dict[tuple[Term, ...], tuple[str, float]] = {(self.one,): ("constant", 1.0)}

    def add(self, kind: str, weight: float, *terms: Term, constant: bool = True) -> None:
        """A sum of terms, and the same with a constant."""
        if constant:
            self.laws.setdefault((self.one, *terms), (kind, weight * _CONSTANT))
        self.laws.setdefault(terms, (kind, weight))

    def hypotheses(self) -> Hypotheses:
        """All of them; the belief in a kind is shared among its members."""
        terms = tuple(dict.fromkeys(term for law in self.laws for term in law))
        number = {term: place for place, term in enumerate(terms)}
        members = np.full((len(self.laws), max(map(len, self.laws))), -1)
        for place, law in enumerate(self.laws):
            members[place, : len(law)] = [number[term] for term in law]
        kinds = tuple(kind for kind, _ in self.laws.values())
        totals = dict.fromkeys(kinds, 0.0)
        for kind, weight in self.laws.values():
            totals[kind] += weight
        prior = np.array([_BELIEFS[kind] * weight / totals[kind] for kind, weight in self.laws.values()])
        return Hypotheses(self.names, terms, members, kinds, prior / prior.sum())


@lru_cache
def _library(name: str, below_one: bool) -> Hypotheses:
    """The candidates for one parameter; without logarithms if it is below 1 somewhere."""
    found = _Candidates(name)
    for order in NORMAL_FORM:
        found.add("normal form", 3.0 if order in _USUAL else 1.0, (Factor(*order),))
    for one, other in combinations(_SUMMED, 2):
        weight = 3.0 if one in _USUAL and other in _USUAL else 1.0
        found.add("sum", weight, (Factor(*one),), (Factor(*other),))
    for power in _DIVIDED + _STEEPER:
        found.add("strong scaling", 6.0 if power == -1 else 1.0, (Factor(power),))
    for power, other in product((-1.0, -2 / 3, -0.5), _OVERHEAD):
        if (power, 0.0) != other and power <= other[0]:
            weight = (4.0 if power == -1 else 1.0) * (_OFTEN if other in _USUAL else 1.0)
            found.add("strong scaling", weight, (Factor(power),), (Factor(*other),))
    for kind, shapes in _COMMUNICATION:
        found.add(kind, 1.0, *((Factor(shape=shape),) for shape in shapes), constant=shapes != ("others",))
    if below_one:
        logarithmic = [law for law in found.laws if any(factor.logarithm or factor.shape for (factor,) in law)]
        for law in logarithmic:
            del found.laws[law]
    return found.hypotheses()


def _several(names: tuple[str, ...], points: Array, means: Array) -> Hypotheses:
    """The candidates for several parameters: sums and products of the functions of each that explain it best with the others held.

    As Calotoiu et al., CLUSTER'16, "Fast multi-parameter performance modeling"; of each parameter several functions are kept.
    """
    found = _Candidates(*names)
    likely = [_likely(points, place, means) for place in range(len(names))]
    for factors in product(*([ONE, *each] for each in likely)):
        alone = {
            place: (*found.one[:place], factor, *found.one[place + 1 :])
            for place, factor in enumerate(factors)
            if factor != ONE
        }
        usual = float(np.prod([2.0 if (factor.power, factor.logarithm) in _USUAL else 1.0 for factor in factors]))
        if alone:
            found.add("normal form", usual, factors)
        if len(alone) < 2:
            continue
        found.add("sum", usual, *alone.values())
        for place, term in alone.items():
            rest = (*factors[:place], ONE, *factors[place + 1 :])
            if len(alone) > 2:
                found.add("sum", usual, rest, term)
                found.add("sum", usual / 2, rest, factors)
            found.add("sum", usual, term, factors)
            for other in likely[place]:
                if other != factors[place]:
                    found.add("sum", usual / 4, factors, (*found.one[:place], other, *found.one[place + 1 :]))
    return found.hypotheses()


def _likely(points: Array, place: int, means: Array) -> list[Factor]:
    """The functions of one parameter that explain the most where all others are the same: four that grow and two that fall."""
    column, others = points[:, place], np.delete(points, place, axis=1)
    group = np.unique(others, axis=0, return_inverse=True)[1].ravel()
    rising = [Factor(*order) for order in NORMAL_FORM if not order[1] or (column >= 1).all()]
    falling = [Factor(power) for power in _DIVIDED]
    weights = 1 / np.maximum(means, means[means > 0].min(initial=1.0))
    left = dict.fromkeys(rising + falling, 0.0)
    for here in (group == each for each in range(group.max() + 1)):
        if here.sum() < 3:
            continue
        weight, side = weights[here], means[here] * weights[here]
        for factor in left:
            design = np.column_stack([np.ones(here.sum()), factor.at(column[here])]) * weight[:, None]
            solved = np.linalg.lstsq(design, side, rcond=None)[0]
            if solved[1] < 0:
                solved = np.array([(weight**2 @ means[here]) / (weight @ weight), 0.0])
            left[factor] += float(((design @ solved - side) ** 2).sum())
    return sorted(rising, key=left.__getitem__)[:4] + sorted(falling, key=left.__getitem__)[:2]


@dataclass(frozen=True)
class Posterior:
    """By hypothesis: its number, its probability, its coefficients with the factor of their covariance, degrees of freedom and squares of
    the residuals.
    """

    numbers: Indices
    shares: Array
    coefficients: Array
    spread: Array
    freedom: Array
    squares: Array


def _range(samples: Array) -> RangeRecord:
    low, value, high = np.quantile(samples, (_LOW, 0.5, _HIGH)).tolist()
    return RangeRecord(value=value, low=low, high=high)


def _root(spread: Array) -> Array:
    """By hypothesis what turns independent normal numbers into some of that covariance."""
    values, vectors = np.linalg.eigh(spread)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0))[:, None, :])


def _fit(library: Hypotheses, points: Array, values: Array) -> Fitted:
    """The law of some values (points × repetitions, NaN where one has fewer than others)."""
    counts = np.isfinite(values).sum(axis=1).astype(float)
    means = np.nansum(values, axis=1) / counts
    scale = float(np.abs(means).max())
    means, values = means / (scale or 1.0), values / (scale or 1.0)
    floor = means[means > 0].min(initial=1.0)
    columns = library.columns(points)
    largest = np.abs(columns).max(axis=0)
    largest = np.where(largest > 0, largest, 1.0)
    columns = columns / largest
    expected = np.maximum(means, floor)
    for _ in range(2):
        found = _posterior(library, columns, means, values, counts, expected)
        expected = np.zeros_like(means)
        for members, coefficients in zip(library.members.T, found.coefficients.T, strict=True):
            total = np.zeros(columns.shape[1])
            np.add.at(total, members, found.shares * coefficients)
            expected = expected + total @ columns.T
        expected = np.maximum(expected, floor)
    kept = np.flatnonzero(found.shares > found.shares.max() * 1e-4)
    unit = scale / largest[library.members[kept]]
    posterior = Posterior(
        kept,
        found.shares[kept],
        found.coefficients[kept] * unit,
        found.spread[kept] * unit[:, :, None] * unit[:, None, :],
        found.freedom[kept],
        found.squares[kept],
    )
    chosen = _choose(library, posterior)
    error = _left_out(library, columns, means, counts / expected**2, int(kept[chosen]))
    away = np.abs(columns[:, library.members[kept[chosen]]] @ found.coefficients[kept[chosen]] - means) / expected
    free = counts.sum() - len(counts)
    between = float(np.nansum((values - means[:, None]) ** 2 / expected[:, None] ** 2)) / free if free else inf
    missed = float(away[away > _ERRORS * np.sqrt(between / counts)].max(initial=0.0))
    others = [each for each in np.argsort(-posterior.shares)[:4].tolist() if each != chosen]
    # What fits best with a negative coefficient is no law, with 0 in its place still less.
    told = (posterior.coefficients > 0) | (library.members[kept] < 0)
    others = [each for each in others if told[each].all()]
    law, *rest = (_law(library, posterior, each) for each in (chosen, *others))
    noise = float(np.sqrt(posterior.squares[chosen] / posterior.freedom[chosen]))
    return Fitted(law, error, tuple(rest[:3]), missed, noise, points, library, posterior, crc32(means.tobytes()))


def _law(library: Hypotheses, posterior: Posterior, place: int) -> Law:
    number = int(posterior.numbers[place])
    members = [each for each in library.members[number].tolist() if each >= 0]
    coefficients = np.maximum(posterior.coefficients[place, : len(members)], 0.0).tolist()
    return Law(
        library.kinds[number], library.parameters, tuple(library.terms[each] for each in members), tuple(coefficients)
    )


def _posterior(
    library: Hypotheses, columns: Array, means: Array, values: Array, counts: Array, expected: Array
) -> Posterior:
    """Of all hypotheses, where costs are about as `expected` at each point."""
    size_of_all = len(library.members)
    width = library.members.shape[1]
    trust = _TRUST if len(library.parameters) == 1 else _TRUST_OF_SEVERAL
    weights, total = counts / expected**2 * trust, float(counts.sum()) * trust
    within = float(np.nansum((values - means[:, None]) ** 2 / expected[:, None] ** 2)) * trust
    weight = np.full(size_of_all, -inf)
    coefficients = np.zeros((size_of_all, width))
    spread = np.zeros((size_of_all, width, width))
    freedom, squares = np.ones(size_of_all), np.ones(size_of_all)
    sizes = (library.members >= 0).sum(axis=1)
    for size in range(1, width + 1):
        chosen = np.flatnonzero(sizes == size)
        if not len(chosen):
            continue
        design = columns[:, library.members[chosen, :size]]  # points × hypotheses × terms
        outer = (design[..., :, None] * design[..., None, :]).reshape(len(columns), -1)
        gram = (weights @ outer).reshape(len(chosen), size, size)
        side = ((weights * means) @ design.reshape(len(columns), -1)).reshape(len(chosen), size)
        length = np.sqrt(np.maximum(np.einsum("htt->ht", gram), 1e-300))
        scaled = gram / (length[..., :, None] * length[..., None, :])
        determinant = np.linalg.det(scaled)
        usable = determinant > 1e-10
        inverse = np.linalg.inv(np.where(usable[..., None, None], scaled, np.eye(size)))
        inverse = inverse / (length[..., :, None] * length[..., None, :])
        solved = np.einsum("hab,hb->ha", inverse, side)
        fits = np.einsum("pht,ht->hp", design, solved)
        square = np.einsum("p,hp->h", weights, (means - fits) ** 2) + within + _WEIGHT * _NOISE**2
        free = max(total - size + _WEIGHT, 0.5)
        error = np.sqrt(np.maximum(np.einsum("haa->ha", inverse), 0) * (square / free)[:, None])
        inside = _inside(solved, inverse, square / free, _normal(solved / np.maximum(error, 1e-300)))
        sum_at_largest = np.maximum(np.maximum(solved, 0).sum(axis=1), 1e-300)
        held = (
            np.log(library.prior[chosen])
            + lgamma(size)
            - size * np.log(sum_at_largest)
            - 0.5 * np.log(np.maximum(determinant, 1e-300))
            - np.log(length).sum(axis=1)
            + size / 2 * log(2 * np.pi)
            + lgamma(free / 2)
            - free / 2 * np.log(square / 2)
            + np.log(np.maximum(inside, 1e-12))
        )
        if counts.sum() > size - 1:
            weight[chosen] = np.where(usable, held, -inf)
        coefficients[chosen, :size] = solved
        spread[np.ix_(chosen, np.arange(size), np.arange(size))] = inverse
        freedom[chosen], squares[chosen] = free, square
    if not means.any():
        weight = np.where(np.array(library.kinds) == "constant", 0.0, -inf)
    shares = np.exp(weight - weight.max())
    return Posterior(np.arange(size_of_all), shares / shares.sum(), coefficients, spread, freedom, squares)


def _inside(solved: Array, inverse: Array, variance: Array, each: Array) -> Array:
    """How likely no coefficient of a hypothesis is negative. `each` is that of every one by itself: terms that are much alike hardly ever
    are both, which those alone do not tell, but points drawn from the joint distribution.
    """
    alone: Array = each.prod(axis=1)
    if solved.shape[1] == 1:
        return alone
    root = _root(inverse * variance[:, None, None]).transpose(0, 2, 1)
    drawn = solved[:, None, :] + np.random.default_rng(0).standard_normal((_POINTS, solved.shape[1])) @ root
    share = (drawn >= 0).all(axis=2).mean(axis=1)
    return np.where(share > 0, share, np.minimum(alone, 0.5 / _POINTS))


def _normal(value: Array) -> Array:
    """The normal distribution function, to 1e-3 (logistic approximation of Page, 1977)."""
    bounded = np.clip(value, -8, 8)
    return np.asarray(1 / (1 + np.exp(-1.5976 * bounded - 0.07056 * bounded**3)))


def _left_out(library: Hypotheses, columns: Array, means: Array, weights: Array, number: int) -> float:
    """Symmetric mean absolute percentage error when each point is predicted from the others."""
    design = columns[:, library.members[number][library.members[number] >= 0]] * np.sqrt(weights)[:, None]
    hat = design @ np.linalg.pinv(design)
    side = means * np.sqrt(weights)
    left = np.minimum(np.diag(hat), 1 - 1e-9)
    predicted = (side - (side - hat @ side) / (1 - left)) / np.sqrt(weights)
    both = np.abs(predicted) + np.abs(means)
    return float(np.mean(np.where(both > 0, 2 * np.abs(predicted - means) / np.where(both > 0, both, 1), 0.0)))


def _choose(library: Hypotheses, posterior: Posterior) -> int:
    """The place of the most likely hypothesis among those whose leading powers most of the belief agrees with.

    A constant agrees only with what neither grows nor falls.
    """
    members = library.members[posterior.numbers]
    orders = np.array([[factor.order[0] for factor in term] for term in library.terms])
    # The largest power of each parameter in any term.
    powers = np.where((members >= 0)[..., None], orders[members], -inf).max(axis=1)
    flat = np.array([library.kinds[each] == "constant" for each in posterior.numbers.tolist()])
    near = (np.abs(powers[:, None] - powers[None]) <= 0.251).all(axis=2) & (flat[:, None] == flat[None, :])
    mass = near @ posterior.shares
    # What fits best with a negative coefficient is no law; without that term it is another one.
    shares = np.where((posterior.coefficients >= 0).all(axis=1), posterior.shares, 0.0)
    shares = shares if shares.any() else posterior.shares
    return int(np.argmax(np.where(mass >= mass[shares > 0].max() - 0.02, shares, -1.0)))
