"""How often the verdict on pairs of runs is wrong: simulated programs with noise of several shapes.

python -m tests.fix.simulate [TRIALS]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import exp

import numpy as np

from chathpc.fix.speed import bootstrap_interval, judge, measure_pairs

Noise = Callable[[np.random.Generator], float]

#: Factors by which one run is longer than it should be.
NOISES: dict[str, Noise] = {
    "normal, 3 %": lambda random: exp(0.03 * random.standard_normal()),
    "Student's t, 2 degrees of freedom, 3 %": lambda random: exp(0.03 * float(np.clip(random.standard_t(2), -40, 40))),
    "Pareto, tail 1.5": lambda random: 1 + 0.02 * (random.pareto(1.5)),
    "bursts: one run in five takes 1.5 to 3 times as long": lambda random: (
        exp(0.02 * random.standard_normal()) * (random.uniform(1.5, 3) if random.random() < 0.2 else 1.0)
    ),
}


@dataclass(frozen=True)
class Rates:
    """Of `trials`: intervals that hold the true ratio (and those of the bootstrap alone), and verdicts."""

    trials: int
    covered: float
    bootstrap_covered: float
    faster: float
    slower: float
    pairs: float


def rates(noise: Noise, true: float, trials: int, seed: int) -> Rates:
    """Judge `trials` simulated comparisons of programs whose ratio is `true`."""
    covered = alone = faster = slower = pairs = 0
    for trial in range(trials):
        original, changed = _pairs(noise, true, np.random.default_rng((seed, trial)))
        timing = judge(original, changed)
        covered += timing.low <= true <= timing.high
        low, high = bootstrap_interval(np.log(np.array(original) / np.array(changed)), 0.95)
        alone += exp(low) <= true <= exp(high)
        faster += timing.outcome == "faster"
        slower += timing.outcome == "slower"
        pairs += timing.pairs
    return Rates(trials, covered / trials, alone / trials, faster / trials, slower / trials, pairs / trials)


def _pairs(noise: Noise, true: float, random: np.random.Generator) -> tuple[list[float], list[float]]:
    return measure_pairs(
        lambda side: noise(random) * (true if side == "original" else 1.0),
        seconds=1e9,
        random=random,
        clock=lambda: 0.0,
    )


def main() -> None:
    """Print the table."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    sys.stdout.write(
        "| noise | true ratio | covered | bootstrap alone | faster | slower | pairs |\n|---|---|---|---|---|---|---|\n"
    )
    for name, noise in NOISES.items():
        for true in (1.0, 1.1, 2.0):
            each = rates(noise, true, trials, seed=1)
            sys.stdout.write(
                f"| {name} | {true} | {each.covered:.1%} | {each.bootstrap_covered:.1%} | {each.faster:.2%} | {each.slower:.2%} | {each.pairs:.1f} |\n"
            )


if __name__ == "__main__":
    main()
