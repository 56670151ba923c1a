"""Laws of growth against series whose law is known: `python -m tests.bench.scale [--seeds 0-4] [--hard] [--held-out]`.

Each series is drawn from a law with random coefficients: 5 to 7 points, 1 to 5 repetitions, noise of 1 to 20 %. As in the generator of
synthetic inputs that comes with Extra-P, coefficients are 10^u with u uniform from −2 to 3, and noise of n % is uniform in ± n %;
the term that leads when the parameter grows holds at least a tenth of the cost at the largest point, else no run shows it and the
series is drawn anew. `--hard`: the leading term holds 20 to 90 % there, and the noise is normal with a standard deviation of n %.
`--held-out`: laws that are not among the candidates. A law is
right if it has the power of the leading term within 1/4 (as Ritter et al., IPDPS'20 and '21, judge models); a constant only if it is
found to be constant, and what is not constant only if it is not. Errors are those of the noiseless cost at 8 times the largest point.
`published` is the search of Extra-P on the same series: 42 pairs of exponents, least squares, leave-one-out cross-validation by
SMAPE, constant unless beaten; for series that fall, the option with negative exponents is on. Better and worse `beyond noise`: by
more than the noise of one measurement.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from chathpc.scale.laws import NORMAL_FORM, Fitted, Law, Measurement, fit
from chathpc.scale.outlook import Candidate, advise, costs_most, keeps

NOISES = (0.01, 0.02, 0.05, 0.1, 0.2)
Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Series:
    kind: str
    points: np.ndarray  # points × parameters
    truth: Callable[[np.ndarray], np.ndarray]
    values: list[np.ndarray]
    powers: tuple[float, ...]
    noise: float
    repetitions: int

    @property
    def target(self) -> np.ndarray:
        return self.points.max(axis=0) * 8

    @property
    def names(self) -> tuple[str, ...]:
        return tuple("pnm"[: self.points.shape[1]])

    @property
    def measurements(self) -> list[Measurement]:
        return [
            Measurement(dict(zip(self.names, point.tolist(), strict=True)), tuple(values.tolist()))
            for point, values in zip(self.points, self.values, strict=True)
        ]


def leading(law: Law) -> dict[str, tuple[float, float]]:
    """By parameter: the largest power of it in any term, and the power of its logarithm there."""
    orders = ([factor.order for factor in column] for column in zip(*law.terms, strict=True))
    return {name: max(each) for name, each in zip(law.parameters, orders, strict=True)}


def cost(law: Law, parameters: Mapping[str, float]) -> float:
    """What a law says of a point."""
    point = [np.array(parameters[name]) for name in law.parameters]
    terms = (np.prod([factor.at(each) for factor, each in zip(term, point, strict=True)]) for term in law.terms)
    return float(sum(each * term for each, term in zip(law.coefficients, terms, strict=True)))


def pmnf(power: float, logarithm: float) -> Function:
    return lambda p: p**power * np.log2(p) ** logarithm


def weights_of(rng: np.random.Generator, values: np.ndarray, hard: bool) -> np.ndarray:
    """Coefficients of terms from their values at the largest point, the leading one last."""
    if len(values) == 1:
        return 10 ** rng.uniform(-2, 3, 1)
    if hard:
        lead = rng.uniform(0.2, 0.9)
        return 10 ** rng.uniform(-2, 3) * np.append(rng.dirichlet(np.ones(len(values) - 1)) * (1 - lead), lead) / values
    while True:
        found = 10 ** rng.uniform(-2, 3, len(values))
        if found[-1] * values[-1] >= 0.1 * (found @ values):
            return found


def axis(rng: np.random.Generator, size: bool = False) -> np.ndarray:
    count = int(rng.integers(5, 8))
    ways = [2.0 ** (np.arange(count) + rng.integers(1, 4)), np.arange(1.0, count + 1) * rng.choice([4, 8, 10, 12])]
    ways += [np.round(4 * 1.6 ** np.arange(count)), (np.arange(count) + 2.0) ** 3]
    return ways[int(rng.integers(len(ways)))] * (125.0 if size else 1.0)


def law(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, list[Function], float, np.ndarray | None]:
    """Points, terms (the leading one last), the leading power, and coefficients where they are not free."""
    one: Function = np.ones_like
    points = axis(rng)
    match kind:
        case "constant":
            return points, [one], 0.0, None
        case "one term":
            order = NORMAL_FORM[int(rng.integers(len(NORMAL_FORM)))]
            return axis(rng, rng.random() < 0.3), [one, pmnf(*order)], order[0], None
        case "two terms":
            low, high = sorted(NORMAL_FORM[each] for each in rng.choice(len(NORMAL_FORM), 2, replace=False))
            return points, [one, pmnf(*low), pmnf(*high)], high[0], None
        case "latency and bandwidth":
            points = 2.0 ** (6 + np.arange(len(points)) * rng.integers(1, 4))
            return points, [one, lambda n: n], 1.0, None
        case "tree":
            return points, [one, lambda p: np.ceil(np.log2(p) - 1e-9)], 0.0, None
        case "ring":
            return points, [one, lambda p: (p - 1) / p, lambda p: p - 1], 1.0, None
        case "halo":
            faces = rng.choice([1 / 2, 1 / 3])
            return points, [one, lambda p: 1 - p**-faces], 0.0, None
        case "strong scaling":
            other = int(rng.integers(4))
            lead = (0.0, 1.0, 0.0, -2 / 3)[other]
            share = 10 ** rng.uniform(-2.5, -0.7)
            parts: list[Function] = [lambda p: 1 / p, one, lambda p: np.log2(p)]
            if other == 1:
                parts[2] = lambda p: p
            elif other == 2:
                parts = parts[:2]
            elif other == 3:  # the surface of a part beside its volume
                parts = [parts[0], lambda p: p ** (-2 / 3)]
            at = [np.array([part(points[place])]) for part, place in zip(parts, (0, 0, -1), strict=False)]
            weights = np.array([1.0, share, 10 ** rng.uniform(-3, -1)])[: len(parts)] / np.ravel(at)
            held = weights * [part(points[-1]) for part in parts]
            return (points, parts, lead, weights) if held[-1] >= 0.1 * held.sum() else law(kind, rng)
        case "any power":
            power = rng.uniform(0.2, 2.8)
            return points, [one, lambda p: p**power], power, None
        case "tree of parts":
            return points, [one, lambda p: (p - 1) / p, lambda p: np.ceil(np.log2(p) - 1e-9)], 0.0, None
        case "divided and contended":
            held = np.array([1.0, 10 ** rng.uniform(-2, -0.5)]) * [points[0], points[-1] ** -0.5]
            return points, [lambda p: 1 / p, lambda p: p**0.5], 0.5, held
        case "three terms":
            return points, [one, lambda p: p**0.4, lambda p: p**0.9 * np.log2(p), lambda p: p**1.6], 1.6, None
    raise ValueError(kind)


KINDS = ("constant", "one term", "one term", "one term", "two terms", "two terms", "latency and bandwidth", "tree", "ring", "halo",
         "strong scaling", "strong scaling")  # fmt: skip
HELD_OUT = ("any power", "tree of parts", "divided and contended", "three terms")


def noisy(rng: np.random.Generator, exact: np.ndarray, noise: float, repetitions: int, hard: bool) -> list[np.ndarray]:
    draw = rng.standard_normal if hard else lambda count: rng.uniform(-1, 1, count)
    return [each * np.maximum(1 + noise * draw(repetitions), 0.05) for each in exact]


def one_parameter(kind: str, noise: float, rng: np.random.Generator, hard: bool) -> Series:
    points, terms, power, weights = law(kind, rng)
    if weights is None:
        weights = weights_of(rng, np.array([term(points[-1:])[0] for term in terms]), hard)

    def truth(x: np.ndarray) -> np.ndarray:
        return sum(weight * term(x[..., 0]) for weight, term in zip(weights, terms, strict=True))

    repetitions = int(rng.integers(1, 6))
    at = points[:, None]
    return Series(kind, at, truth, noisy(rng, truth(at), noise, repetitions, hard), (power,), noise, repetitions)


def published(points: np.ndarray, means: np.ndarray, falling: bool = False) -> tuple[tuple[float, float], Function]:
    """Leading exponents and function of the model that Extra-P's search finds for one parameter."""
    orders = list(NORMAL_FORM)
    if falling and (points > 1).all():
        orders += [(-i, -j) for i, j in NORMAL_FORM]
        orders += [(-i, 0.0) for i in sorted({i for i, _ in NORMAL_FORM}) if i and (i, 0.0) not in NORMAL_FORM]
    constant = means.mean()
    best = float(np.mean(2 * abs(means - constant) / (abs(means) + abs(constant))))
    found: tuple[tuple[float, float], Function] = (0.0, 0.0), lambda p: constant + 0 * p
    if best == 0:
        return found
    for order in orders:
        design = np.column_stack([np.ones_like(points), pmnf(*order)(points)])
        smape = 0.0
        for left in range(len(points)):
            kept = np.arange(len(points)) != left
            solved = np.linalg.lstsq(design[kept], means[kept], rcond=None)[0]
            predicted = float(design[left] @ solved)
            smape += 2 * abs(predicted - means[left]) / (abs(predicted) + abs(means[left])) / len(points)
        solved = np.linalg.lstsq(design, means, rcond=None)[0]
        if np.max(np.abs(solved[1] * design[:, 1] / means)) >= 0.0005 and smape < best:
            best = smape
            found = order, lambda p, c=solved, o=order: c[0] + c[1] * pmnf(*o)(p)
    return found


def several_parameters(count: int, noise: float, rng: np.random.Generator, hard: bool) -> Series:
    """A grid of five values of each of two or three parameters; the law is a product, a sum, or a product and the last one's term."""
    axes = [2.0 ** (np.arange(5) + rng.integers(1, 3)), np.arange(1, 6) * 10.0, np.round(4 * 1.6 ** np.arange(5))][
        :count
    ]
    at = np.array(list(product(*axes)))
    while True:
        orders = [NORMAL_FORM[int(rng.integers(len(NORMAL_FORM)))] for _ in range(count)]
        groups = [[tuple(range(count))], [(each,) for each in range(count)], [tuple(range(count - 1)), (count - 1,)]][
            int(rng.integers(3))
        ]
        weights = 10 ** rng.uniform(-2, 3, len(groups) + 1)

        def truth(x: np.ndarray, o=orders, g=groups, w=weights) -> np.ndarray:
            return w[0] + sum(
                weight * np.prod([pmnf(*o[each])(x[..., each]) for each in group], axis=0)
                for weight, group in zip(w[1:], g, strict=True)
            )

        largest = at.max(axis=0)
        corners = [np.where(np.arange(count) == each, at.min(axis=0), largest) for each in range(count)]
        if all(truth(corner) <= 0.9 * truth(largest) for corner in corners):
            break
    repetitions = int(rng.integers(1, 6))
    values = noisy(rng, truth(at), noise, repetitions, hard)
    return Series(f"{count} parameters", at, truth, values, tuple(order[0] for order in orders), noise, repetitions)


def published_several(points: np.ndarray, means: np.ndarray) -> tuple[list[tuple[float, float]], Function]:
    """What Extra-P's search finds for several parameters on a full grid."""
    orders = []
    for place in range(points.shape[1]):
        values = np.unique(points[:, place])
        orders.append(published(values, np.array([means[points[:, place] == each].mean() for each in values]))[0])
    kept = [place for place, order in enumerate(orders) if order != (0.0, 0.0)]
    if not kept:
        return orders, lambda x: means.mean() + 0 * x[..., 0]
    whole, single = tuple(kept), [(each,) for each in kept]
    structures = [[whole], single]
    if len(kept) == 2:
        structures += [[single[0], whole], [single[1], whole]]
    if len(kept) == 3:
        a, b, c = kept
        x, y, z, xy, yz, xz = (a,), (b,), (c,), (a, b), (b, c), (a, c)
        structures += [[whole, each] for each in (x, y, z, xy, yz, xz)] + [
            [whole, xy, z],
            [whole, yz, x],
            [whole, xz, y],
        ]
        structures += [[whole, x, y], [whole, x, z], [whole, y, z]]
        structures += [
            [xy, z],
            [xy, z, y],
            [xy, z, x],
            [xz, y],
            [xz, y, x],
            [xz, y, z],
            [yz, x],
            [yz, x, y],
            [yz, x, z],
        ]
    best, found = np.inf, None
    for structure in structures:

        def columns(x: np.ndarray, s=structure) -> np.ndarray:
            return np.stack(
                [
                    np.ones(x.shape[:-1]),
                    *(np.prod([pmnf(*orders[each])(x[..., each]) for each in group], axis=0) for group in s),
                ],
                axis=-1,
            )

        solved = np.linalg.lstsq(columns(points), means, rcond=None)[0]
        predicted = columns(points) @ solved
        smape = float(np.mean(2 * abs(predicted - means) / (abs(predicted) + abs(means))))
        if smape < best:
            best, found = smape, lambda x, c=columns, w=solved: c(x) @ w
    return orders, found


@dataclass(frozen=True)
class Outcome:
    series: Series
    right: bool
    error: float
    covered: bool
    width: float
    baseline_right: bool
    baseline_error: float


def right(series: Series, powers: Sequence[float], constant: bool) -> bool:
    return constant == (series.kind == "constant") and all(
        abs(found - true) <= 0.2501 for found, true in zip(powers, series.powers, strict=True)
    )


def judge(series: Series) -> Outcome:
    found = fit(series.measurements)
    target = dict(zip(series.names, series.target.tolist(), strict=True))
    truth = float(series.truth(series.target))
    predicted = found.predict(target)
    powers = [leading(found.law)[name][0] for name in series.names]
    means = np.array([each.mean() for each in series.values])
    if len(series.names) > 1:
        orders, function = published_several(series.points, means)
        other = float(function(series.target))
    else:
        order, function = published(series.points[:, 0], means, bool(means[-1] < means[0]))
        orders, other = [order], float(function(series.target)[0])
    theirs = [max(order, (0.0, 0.0))[0] for order in orders]
    return Outcome(
        series,
        right(series, powers, found.law.kind == "constant"),
        abs(predicted.value - truth) / truth,
        predicted.low * (1 - 1e-9) <= truth <= predicted.high * (1 + 1e-9),
        predicted.high / max(predicted.low, 1e-300),
        right(series, theirs, all(order == (0.0, 0.0) for order in orders)),
        abs(other - truth) / truth,
    )


def outcomes(seeds: Sequence[int], count: int, kinds: Sequence[str], hard: bool) -> list[Outcome]:
    found = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        for kind, noise in product(kinds, NOISES):
            for _ in range(count):
                several = int(kind[0]) if kind[0].isdigit() else 0
                series = (
                    several_parameters(several, noise, rng, hard) if several else one_parameter(kind, noise, rng, hard)
                )
                found.append(judge(series))
    return found


def table(title: str, groups: dict[str, list[Outcome]]) -> None:
    print(f"\n{title:24}     n  right  publ.   error   publ.  better  worse  cover  width  beyond noise: better  worse")
    for name, group in groups.items():
        mine, other = np.array([each.error for each in group]), np.array([each.baseline_error for each in group])
        better, worse = np.mean(mine < other - 1e-9), np.mean(mine > other + 1e-9)
        beyond = [each.series.noise for each in group]
        clearly = np.mean(mine < other - beyond), np.mean(mine > other + beyond)
        rights = [np.mean([getattr(each, which) for each in group]) for which in ("right", "baseline_right")]
        covered, width = np.mean([each.covered for each in group]), np.median([each.width for each in group])
        print(
            f"{name:24} {len(group):5} {rights[0]:6.1%} {rights[1]:6.1%} {np.median(mine):7.1%} {np.median(other):7.1%} "
            f"{better:7.1%} {worse:6.1%} {covered:6.1%} {width:6.2f} {clearly[0]:20.1%} {clearly[1]:6.1%}"
        )


def simulated(rng: np.random.Generator, noise: float, limited: bool) -> tuple[bool, bool, bool, float]:
    """Advice against all runs: the same decision, both against the truth, and the part of the core-hours.

    A program with three causes on 2 to 64 ranks, three repetitions each. Which costs most on 512, or (`limited`) is the time below a
    limit, which is between a half and twice the truth? Advice begins with one run on each of the three smallest numbers of ranks.
    """
    kinds = [pmnf(0, 0), pmnf(0, 1), [pmnf(1, 0), pmnf(0.5, 0), pmnf(1, 1)][int(rng.integers(3))]]
    held = rng.dirichlet(np.ones(3))
    ranks, target = 2.0 ** np.arange(1, 7), {"p": 512.0}
    weights = [share / kind(np.array([64.0]))[0] for share, kind in zip(held, kinds, strict=True)]
    exact = np.array([weight * kind(ranks) for weight, kind in zip(weights, kinds, strict=True)])
    every = exact[:, :, None] * np.maximum(1 + noise * rng.uniform(-1, 1, (3, 6, 3)), 0.05)
    hours = ranks * exact.sum(axis=0)
    costs = {
        str(place): weight * kind(np.array([512.0]))
        for place, (weight, kind) in enumerate(zip(weights, kinds, strict=True))
    }
    decision = keeps(float(sum(costs.values())[0] * 2 ** rng.uniform(-1, 1))) if limited else costs_most
    truth = decision(costs)[0]

    def fits(done: list[int]) -> dict[str, Fitted]:
        measured = [place for place in range(6) if done[place]]
        return {
            str(cause): fit(
                [Measurement({"p": ranks[place]}, tuple(every[cause, place, : done[place]])) for place in measured]
            )
            for cause in range(3)
        }

    full = advise(fits([3] * 6), target, [], decision).decision
    done = [1, 1, 1, 0, 0, 0]
    while True:
        offered = [Candidate({"p": ranks[place]}, hours[place]) for place in range(6) if done[place] < 3]
        advice = advise(fits(done), target, offered, decision)
        if advice.run is None:
            break
        done[int(np.log2(advice.run.parameters["p"])) - 1] += 1
    return advice.decision == full, advice.decision == truth, full == truth, float(hours @ done / (3 * hours.sum()))


def simulate(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    for limited in (False, True):
        results = np.array([simulated(rng, float(rng.choice(NOISES)), limited) for _ in range(count)])
        same, advised, full, hours = results.T
        print(
            f"{'limit kept' if limited else 'costs most'}, {count} series: same as all runs {same.mean():.1%}; true {advised.mean():.1%}, of all runs "
            f"{full.mean():.1%}; core-hours {hours.mean():.1%} (median {np.median(hours):.1%})"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", default="0-1")
    parser.add_argument("--count", type=int, default=4)
    parser.add_argument("--hard", action="store_true")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--several", action="store_true")
    parser.add_argument("--advice", type=int, default=0, metavar="N", help="simulate so many series of runs by advice")
    options = parser.parse_args()
    if options.advice:
        simulate(int(options.seeds.partition("-")[0]), options.advice)
        return
    first, _, last = options.seeds.partition("-")
    kinds = HELD_OUT if options.held_out else ("2 parameters", "3 parameters") if options.several else KINDS
    found = outcomes(range(int(first), int(last or first) + 1), options.count, kinds, options.hard)
    table("all", {"all": found})
    table("noise", {f"{noise:.0%}": [each for each in found if each.series.noise == noise] for noise in NOISES})
    table("kind", {kind: [each for each in found if each.series.kind == kind] for kind in dict.fromkeys(kinds)})
    five = [each for each in found if each.series.noise == 0.05]
    table("kind at 5 %", {kind: [each for each in five if each.series.kind == kind] for kind in dict.fromkeys(kinds)})
    table("repetitions", {str(n): [each for each in found if each.series.repetitions == n] for n in range(1, 6)})


if __name__ == "__main__":
    main()
