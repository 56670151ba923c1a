#!/usr/bin/env python
"""2-D Ising model, checkerboard Metropolis, with a temperature ramp.

Energy and magnetisation of every sweep go to a history file which is
evaluated at the end.

usage: main.py L SWEEPS
"""
import csv
import os
import sys

import numpy as np


class Ising:
    def __init__(self, L, seed):
        self.L = L
        self.rng = np.random.default_rng(seed)
        self.s = np.where(self.rng.random((L, L)) < 0.5, -1, 1)
        i, j = np.indices((L, L))
        self.black = (i + j) % 2 == 0

    def neighbours(self):
        s = self.s
        return (np.roll(s, 1, 0) + np.roll(s, -1, 0)
                + np.roll(s, 1, 1) + np.roll(s, -1, 1))

    def sweep(self, beta):
        for mask in (self.black, ~self.black):
            dE = 2 * self.s * self.neighbours()
            flip = mask & (self.rng.random(dE.shape) < np.exp(-beta * dE))
            self.s[flip] *= -1

    def energy(self):
        return -0.5 * float((self.s * self.neighbours()).sum())

    def magnetisation(self):
        return float(self.s.sum())


class History:
    """One line per sweep: sweep, T, E, M."""

    def __init__(self, path):
        self.f = open(path, "w")

    def add(self, k, T, E, M):
        self.f.write("%d,%.6f,%.1f,%.1f\n" % (k, T, E, M))

    def close(self):
        self.f.close()


def evaluate(path, n, nbins=8):
    with open(path, newline="") as f:
        rows = np.array([[float(x) for x in r] for r in csv.reader(f)])
    out = []
    for part in np.array_split(rows, nbins):
        T, E, M = part[:, 1], part[:, 2], part[:, 3]
        out.append((T.mean(), E.mean() / n, np.abs(M).mean() / n,
                    E.var() / n / T.mean() ** 2))
    return out


def main():
    L, sweeps = int(sys.argv[1]), int(sys.argv[2])
    path = "history_%d.csv" % os.getpid()
    model = Ising(L, seed=42)
    hist = History(path)
    for k in range(sweeps):
        T = 3.2 - 1.6 * k / sweeps
        model.sweep(1.0 / T)
        hist.add(k, T, model.energy(), model.magnetisation())
    hist.close()
    for T, e, m, c in evaluate(path, L * L):
        print("T=%.4f  e=%.6f  |m|=%.6f  c=%.5f" % (T, e, m, c))
    os.remove(path)


if __name__ == "__main__":
    main()
