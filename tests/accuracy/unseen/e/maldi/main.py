"""Unmixing of a MALDI imaging data set by non-negative matrix factorisation.

Pixels x mass bins are factorised into a few tissue components with
multiplicative updates; components are matched with the simulated ones.
"""
import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np


def tissue_maps(side, components, rng):
    """Smooth abundance maps, one column per component."""
    y, x = np.mgrid[0:side, 0:side] / side
    maps = []
    for _ in range(components):
        cx, cy, w = rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.9), rng.uniform(0.08, 0.3)
        maps.append(np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / w ** 2).ravel())
    return np.column_stack(maps)


def spectra(components, bins, rng):
    """Peak lists on a common mass axis, one row per component."""
    axis = np.arange(bins)
    rows = []
    for _ in range(components):
        row = np.zeros(bins)
        for centre in rng.choice(bins, size=25, replace=False):
            row += rng.exponential(1.0) * np.exp(-0.5 * ((axis - centre) / 2.0) ** 2)
        rows.append(row / row.max())
    return np.array(rows)


class Unmixer:
    def __init__(self, data, rank, seed, eps=1e-9):
        self.data = data
        self.eps = eps
        rng = np.random.default_rng(seed)
        pixels, bins = data.shape
        level = np.sqrt(data.mean() / rank)
        self.w = level * rng.uniform(0.5, 1.5, (pixels, rank))
        self.h = level * rng.uniform(0.5, 1.5, (rank, bins))
        self.energy = float(np.vdot(data, data))
        self.trace = []

    def update_spectra(self):
        numerator = self.w.T @ self.data
        gram = self.w.T @ self.w
        denominator = gram @ self.h
        denominator += self.eps
        numerator /= denominator
        self.h *= numerator

    def update_maps(self):
        numerator = self.data @ self.h.T
        gram = self.h @ self.h.T
        cross = float(np.vdot(self.w, numerator))
        fitted = float(np.vdot(self.w.T @ self.w, gram))
        denominator = self.w @ gram
        denominator += self.eps
        numerator /= denominator
        self.w *= numerator
        return self.energy - 2.0 * cross + fitted

    def balance(self):
        """Unit peak height for each spectrum."""
        height = self.h.max(axis=1)
        self.h /= height[:, None]
        self.w *= height

    def run(self, sweeps, tolerance):
        for sweep in range(sweeps):
            self.update_spectra()
            loss = self.update_maps()
            self.trace.append(loss / self.energy)
            if sweep % 25 == 24:
                self.balance()
                if self.trace[-25] - self.trace[-1] < tolerance:
                    break
        self.balance()
        return len(self.trace)


def match(found, truth):
    """Greedy one-to-one pairing by cosine similarity."""
    f = found / np.linalg.norm(found, axis=1, keepdims=True)
    t = truth / np.linalg.norm(truth, axis=1, keepdims=True)
    similarity = f @ t.T
    pairs = []
    for _ in range(len(truth)):
        i, j = np.unravel_index(similarity.argmax(), similarity.shape)
        pairs.append((int(j), int(i), float(similarity[i, j])))
        similarity[i, :] = -1.0
        similarity[:, j] = -1.0
    return sorted(pairs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--side", type=int, default=64)
    parser.add_argument("--bins", type=int, default=1500)
    parser.add_argument("--components", type=int, default=8)
    parser.add_argument("--sweeps", type=int, default=250)
    args = parser.parse_args()

    rng = np.random.default_rng(8)
    abundance = tissue_maps(args.side, args.components, rng)
    pure = spectra(args.components, args.bins, rng)
    data = abundance @ pure
    data += 0.01 * rng.random(data.shape)

    model = Unmixer(data.copy(), args.components, seed=3)
    sweeps = model.run(args.sweeps, tolerance=1e-9)
    print(f"{data.shape[0]} pixels, {data.shape[1]} bins, {sweeps} sweeps")
    print(f"relative residual {model.trace[-1]:.4e}")
    for component, partner, similarity in match(model.h, pure):
        share = model.w[:, partner].sum() / model.w.sum()
        print(f"component {component}  similarity {similarity:.3f}  share {share:.3f}")


if __name__ == "__main__":
    main()
