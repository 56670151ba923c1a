"""Growth of a fungal colony on a hexagonal agar lattice.

Tips extend into free neighbouring sites, branch with a probability that
depends on the local nutrient level, and deplete the medium as they go.
At the end the box-counting dimension and the radial profile are reported.
"""
import argparse
import math
import random

import numpy as np

HEX = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))


class Medium:
    """Nutrient field, relaxed by explicit diffusion."""

    def __init__(self, half_width, diffusivity=0.12):
        self.half = half_width
        n = 2 * half_width + 1
        self.field = np.ones((n, n))
        self.diffusivity = diffusivity

    def inside(self, site):
        return abs(site[0]) < self.half - 1 and abs(site[1]) < self.half - 1

    def level(self, site):
        return self.field[site[0] + self.half, site[1] + self.half]

    def feed(self, site, amount):
        q, r = site[0] + self.half, site[1] + self.half
        taken = min(amount, self.field[q, r])
        self.field[q, r] -= taken
        return taken

    def relax(self):
        f = self.field
        lap = (f[2:, 1:-1] + f[:-2, 1:-1] + f[1:-1, 2:] + f[1:-1, :-2]
               + f[2:, :-2] + f[:-2, 2:] - 6.0 * f[1:-1, 1:-1])
        f[1:-1, 1:-1] += self.diffusivity * lap


class Thallus:
    """The sites taken by hyphae."""

    def __init__(self, origin):
        self.sites = [origin]
        self.biomass = 0.0

    def settle(self, site, gain):
        self.sites.append(site)
        self.biomass += gain

    def is_free(self, site):
        return site not in self.sites

    def __len__(self):
        return len(self.sites)

    def coordinates(self):
        q, r = np.array(sorted(self.sites), dtype=float).T
        return q + 0.5 * r, r * math.sqrt(3.0) / 2.0


class Tip:
    __slots__ = ("site", "heading", "vigour")

    def __init__(self, site, heading, vigour):
        self.site = site
        self.heading = heading
        self.vigour = vigour

    def ahead(self, turn):
        dq, dr = HEX[(self.heading + turn) % 6]
        return self.site[0] + dq, self.site[1] + dr


def advance(tip, thallus, medium, rng):
    """Move one tip; return the tips that replace it."""
    turns = [0, 1, -1]
    if rng.random() < 0.35:
        rng.shuffle(turns)
    for turn in turns:
        target = tip.ahead(turn)
        if medium.inside(target) and thallus.is_free(target):
            gain = medium.feed(target, 0.4)
            thallus.settle(target, gain)
            tip.vigour = 0.9 * tip.vigour + gain
            heading = (tip.heading + turn) % 6
            children = [Tip(target, heading, tip.vigour)]
            if rng.random() < 0.30 * medium.level(target):
                side = rng.choice((1, -1))
                children.append(Tip(target, (heading + side) % 6, tip.vigour * 0.5))
            return children
    return []


def grow(steps, half_width, seed):
    rng = random.Random(seed)
    medium = Medium(half_width)
    thallus = Thallus((0, 0))
    tips = [Tip((0, 0), h, 1.0) for h in range(6)]
    history = []
    for step in range(steps):
        survivors = []
        for tip in tips:
            survivors.extend(advance(tip, thallus, medium, rng))
        tips = [t for t in survivors if t.vigour > 0.05]
        for _ in range(2):
            medium.relax()
        history.append((step, len(tips), len(thallus)))
        if not tips:
            break
    return thallus, medium, history


def box_dimension(x, y):
    sizes, counts = [], []
    size = 2.0
    while size <= 32.0:
        boxes = set(zip(np.floor(x / size).astype(int).tolist(),
                        np.floor(y / size).astype(int).tolist()))
        sizes.append(math.log(1.0 / size))
        counts.append(math.log(len(boxes)))
        size *= 2.0
    return np.polyfit(sizes, counts, 1)[0]


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--steps", type=int, default=120)
    ap.add_argument("--half-width", type=int, default=170)
    ap.add_argument("--seed", type=int, default=4)
    opt = ap.parse_args()

    thallus, medium, history = grow(opt.steps, opt.half_width, opt.seed)
    x, y = thallus.coordinates()
    radius = np.hypot(x, y)
    for step, tips, size in history[::20]:
        print(f"step {step:4d}  tips {tips:5d}  sites {size:6d}")
    print(f"sites {len(thallus)}  biomass {thallus.biomass:.4f}")
    print(f"nutrient left {medium.field.mean():.6f}")
    print(f"radius of gyration {math.sqrt((radius ** 2).mean()):.4f}")
    print(f"box dimension {box_dimension(x, y):.4f}")
    profile, _ = np.histogram(radius, bins=8)
    print("profile", " ".join(map(str, profile)))


if __name__ == "__main__":
    main()
