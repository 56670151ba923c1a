"""Seriation of excavated graves by simulated annealing.

Graves are described by the proportions of a few pottery types.  We look for
the one-dimensional order in which neighbouring graves resemble each other,
and compare it with the (known) synthetic chronology.
"""
import math
import random
import sys


def pottery_profile(age, widths=(0.12, 0.20, 0.15, 0.25), peaks=(0.1, 0.4, 0.7, 0.9)):
    raw = [math.exp(-((age - p) / w) ** 2) + 0.01 for p, w in zip(peaks, widths)]
    total = sum(raw)
    return tuple(r / total for r in raw)


def excavate(count, noise, rng):
    """Return (age, profile) for every grave, in order of discovery."""
    graves = []
    for _ in range(count):
        age = rng.random()
        shaken = [max(0.0, v + rng.gauss(0.0, noise)) for v in pottery_profile(age)]
        total = sum(shaken) or 1.0
        graves.append((age, tuple(v / total for v in shaken)))
    return graves


def unlikeness(p, q):
    a = p[0] - q[0]
    b = p[1] - q[1]
    c = p[2] - q[2]
    d = p[3] - q[3]
    return math.sqrt(a * a + b * b + c * c + d * d)


class Chain:
    """A linear order of graves with its total path length."""

    def __init__(self, profiles, order):
        self.profiles = profiles
        self.order = order
        self.length = sum(unlikeness(profiles[a], profiles[b])
                          for a, b in zip(order, order[1:]))

    def around(self, order, k):
        """Length of the two links at position k."""
        here = self.profiles[order[k]]
        total = 0.0
        if k > 0:
            total += unlikeness(self.profiles[order[k - 1]], here)
        if k + 1 < len(order):
            total += unlikeness(here, self.profiles[order[k + 1]])
        return total

    def exchange(self, i, j):
        """Order with graves i and j exchanged, and the change of the length."""
        trial = list(self.order)
        before = self.around(trial, i) + self.around(trial, j)
        trial[i], trial[j] = trial[j], trial[i]
        after = self.around(trial, i) + self.around(trial, j)
        return trial, after - before

    def step(self, i, j, temperature, rng):
        trial, delta = self.exchange(i, j)
        if delta <= 0.0 or rng.random() < math.exp(-delta / temperature):
            self.order = trial
            self.length += delta
            return True
        return False


def anneal(chain, moves, hot, cold, rng, stages=20):
    count = len(chain.order)
    log = []
    for stage in range(stages):
        temperature = hot * (cold / hot) ** (stage / (stages - 1))
        reach = max(2, int(count * (1.0 - stage / stages)))
        accepted = 0
        for _ in range(moves // stages):
            i = int(rng.random() * count)
            j = i + 1 + int(rng.random() * reach)
            if j < count:
                accepted += chain.step(i, j, temperature, rng)
        log.append((temperature, chain.length, accepted))
    return log


def rank_correlation(order, ages):
    n = len(order)
    true_rank = {g: r for r, g in enumerate(sorted(order, key=lambda g: ages[g]))}
    d2 = sum((r - true_rank[g]) ** 2 for r, g in enumerate(order))
    return 1.0 - 6.0 * d2 / (n * (n * n - 1.0))


def rough_order(graves, rng):
    """First guess: by the dominant type, shuffled inside each group."""
    groups = {}
    for k, (_, profile) in enumerate(graves):
        groups.setdefault(profile.index(max(profile)), []).append(k)
    order = []
    for kind in sorted(groups):
        rng.shuffle(groups[kind])
        order.extend(groups[kind])
    return order


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    moves = int(sys.argv[2]) if len(sys.argv) > 2 else 400_000
    rng = random.Random(1907)
    graves = excavate(count, 0.02, rng)
    ages = [age for age, _ in graves]
    chain = Chain([profile for _, profile in graves], rough_order(graves, rng))
    print(f"{count} graves, initial length {chain.length:.5f}, "
          f"rho {rank_correlation(chain.order, ages):.5f}")
    for temperature, length, accepted in anneal(chain, moves, 0.05, 0.002, rng):
        print(f"T {temperature:.5f}  length {length:.5f}  accepted {accepted}")
    print(f"final rho {abs(rank_correlation(chain.order, ages)):.5f}")
    print("first graves:", *chain.order[:8])


if __name__ == "__main__":
    main()
