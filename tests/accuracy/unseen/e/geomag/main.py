"""Epoch-by-epoch inversion of observatory data for the main magnetic field."""
from __future__ import annotations

import math
import os
import sys
from dataclasses import dataclass, field

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

A_EARTH = 6371.2


@dataclass
class Network:
    """Positions of the observatories."""
    colat: np.ndarray
    lon: np.ndarray
    radius: np.ndarray
    names: list = field(default_factory=list)

    @classmethod
    def scattered(cls, count: int, rng: np.random.Generator) -> "Network":
        colat = np.arccos(rng.uniform(-0.98, 0.98, count))
        lon = rng.uniform(-math.pi, math.pi, count)
        radius = A_EARTH + rng.uniform(0.0, 3.0, count)
        return cls(colat, lon, radius, [f"OB{i:03d}" for i in range(count)])

    def __len__(self) -> int:
        return len(self.colat)


def schmidt(colat: np.ndarray, nmax: int) -> dict[tuple[int, int], np.ndarray]:
    """Schmidt quasi-normalised associated Legendre functions."""
    c, s = np.cos(colat), np.sin(colat)
    p = {(0, 0): np.ones_like(c)}
    for n in range(1, nmax + 1):
        factor = 1.0 if n == 1 else math.sqrt((2 * n - 1) / (2.0 * n))
        p[n, n] = factor * s * p[n - 1, n - 1]
        for m in range(n):
            value = (2 * n - 1) * c * p[n - 1, m]
            if n - 2 >= m:
                value = value - math.sqrt((n - 1) ** 2 - m * m) * p[n - 2, m]
            p[n, m] = value / math.sqrt(n * n - m * m)
    return p


def radial_basis(net: Network, nmax: int) -> np.ndarray:
    """Matrix that maps Gauss coefficients to the radial field."""
    p = schmidt(net.colat, nmax)
    columns = []
    for n in range(1, nmax + 1):
        scale = (n + 1) * (A_EARTH / net.radius) ** (n + 2)
        for m in range(n + 1):
            base = scale * p[n, m]
            columns.append(base * np.cos(m * net.lon))
            if m:
                columns.append(base * np.sin(m * net.lon))
    return np.column_stack(columns)


class FieldModel:
    def __init__(self, net: Network, nmax: int, damping: float):
        self.net = net
        self.nmax = nmax
        degrees = [n for n in range(1, nmax + 1) for _ in range(2 * n + 1)]
        self.penalty = damping * np.array(degrees, dtype=float) ** 3
        self.degrees = np.array(degrees)

    def predict(self, gauss: np.ndarray) -> np.ndarray:
        return radial_basis(self.net, self.nmax) @ gauss

    def invert(self, b_r: np.ndarray, sigma: np.ndarray) -> np.ndarray:
        """Damped weighted least squares for one epoch."""
        g = radial_basis(self.net, self.nmax)
        weighted = g / (sigma ** 2)[:, None]
        normal = weighted.T @ g
        normal[np.diag_indices_from(normal)] += self.penalty
        return np.linalg.solve(normal, weighted.T @ b_r)

    def spectrum(self, gauss: np.ndarray) -> np.ndarray:
        energy = (self.degrees + 1) * gauss ** 2
        return np.bincount(self.degrees, weights=energy)[1:]


class Archive:
    """Synthetic annual means with gaps and changing instrument quality."""

    def __init__(self, model: FieldModel, seed: int):
        self.rng = np.random.default_rng(seed)
        self.count = len(model.net)
        size = model.degrees.size
        decay = 30000.0 * 0.35 ** model.degrees
        start = self.rng.standard_normal(size) * decay
        drift = self.rng.standard_normal(size) * decay * 0.004
        self.start = model.predict(start)
        self.drift = model.predict(drift)

    def epoch(self, year: float) -> tuple[np.ndarray, np.ndarray]:
        sigma = self.rng.uniform(5.0, 20.0, self.count)
        sigma[self.rng.random(self.count) < 0.1] = 1.0e4
        truth = self.start + year * self.drift
        return truth + sigma * self.rng.standard_normal(self.count), sigma


def secular_variation(model: FieldModel, archive: Archive, epochs: int):
    previous = None
    spectra, change = [], []
    for k in range(epochs):
        b_r, sigma = archive.epoch(k / 12.0)
        gauss = model.invert(b_r, sigma)
        spectra.append(model.spectrum(gauss))
        if previous is not None:
            change.append(np.abs(gauss - previous).max())
        previous = gauss
    return np.array(spectra), np.array(change), previous


def main(argv: list[str]) -> None:
    epochs = int(argv[1]) if len(argv) > 1 else 900
    nmax = int(argv[2]) if len(argv) > 2 else 10
    net = Network.scattered(420, np.random.default_rng(11))
    model = FieldModel(net, nmax, damping=1e-4)
    archive = Archive(model, seed=12)
    spectra, change, last = secular_variation(model, archive, epochs)
    for n, (mean, spread) in enumerate(zip(spectra.mean(0), spectra.std(0)), 1):
        print(f"n={n:2d}  power {mean:14.5e}  spread {spread:12.4e}")
    print(f"largest monthly change {change.max():.4f}  median {np.median(change):.4f}")
    print("dipole", " ".join(f"{v:.3f}" for v in last[:3]))


if __name__ == "__main__":
    main(sys.argv)
