"""Rotational levels and partition function of an asymmetric-top molecule.

Run with two or more ranks; every rank treats some of the J blocks.
"""
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse

import numpy as np
from mpi4py import MPI

KB_CM = 0.695034800  # cm^-1 / K


class AsymmetricTop:
    """Rigid rotor with quartic centrifugal distortion, I^r representation."""

    def __init__(self, a, b, c, d_j=0.0, d_jk=0.0, d_k=0.0):
        self.a, self.b, self.c = a, b, c
        self.d_j, self.d_jk, self.d_k = d_j, d_jk, d_k

    def block(self, j):
        k = np.arange(-j, j + 1, dtype=float)
        jj = j * (j + 1.0)
        mean = 0.5 * (self.b + self.c)
        diagonal = (mean * jj + (self.a - mean) * k ** 2
                    - self.d_j * jj ** 2 - self.d_jk * jj * k ** 2 - self.d_k * k ** 4)
        h = np.diag(diagonal)
        if j > 0:
            low = k[:-2]
            off = 0.25 * (self.b - self.c) * np.sqrt(
                (jj - low * (low + 1)) * (jj - (low + 1) * (low + 2)))
            rows = np.arange(2 * j - 1)
            h[rows + 2, rows] = off
            h[rows, rows + 2] = off
        return h

    def levels(self, j):
        return np.linalg.eigvalsh(self.block(j))


def spin_weight(index, j):
    """Nuclear spin weights of the two ladders (ortho / para)."""
    return np.where((index + j) % 2 == 0, 1.0, 3.0)


class Tally:
    """Sums that the ranks collect and reduce at the end."""

    def __init__(self, temperatures, bins, top):
        self.temperatures = temperatures
        self.q = np.zeros(len(temperatures))
        self.energy = np.zeros(len(temperatures))
        self.density = np.zeros(bins)
        self.top = top

    def add(self, j, levels):
        weight = (2 * j + 1) * spin_weight(np.arange(levels.size), j)
        for i, t in enumerate(self.temperatures):
            boltzmann = weight * np.exp(-levels / (KB_CM * t))
            self.q[i] += boltzmann.sum()
            self.energy[i] += (boltzmann * levels).sum()
        counts, _ = np.histogram(levels, bins=self.density.size, range=(0.0, self.top))
        self.density += counts

    def reduce(self, comm):
        out = Tally(self.temperatures, self.density.size, self.top)
        comm.Reduce(self.q, out.q, op=MPI.SUM, root=0)
        comm.Reduce(self.energy, out.energy, op=MPI.SUM, root=0)
        comm.Reduce(self.density, out.density, op=MPI.SUM, root=0)
        return out


def share(j_max, rank, size):
    """The J values of one rank."""
    total = j_max + 1
    first = rank * total // size
    last = (rank + 1) * total // size
    return range(first, last)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jmax", type=int, default=360)
    args = parser.parse_args()
    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()

    molecule = AsymmetricTop(2.9, 0.41, 0.36, d_j=2e-7, d_jk=1e-6, d_k=4e-6)
    tally = Tally([50.0, 150.0, 296.0, 600.0, 1200.0], bins=12, top=47000.0)
    for j in share(args.jmax, rank, size):
        tally.add(j, molecule.levels(j))
    result = tally.reduce(comm)

    if rank == 0:
        print(f"J up to {args.jmax}")
        for t, q, e in zip(result.temperatures, result.q, result.energy):
            print(f"T {t:7.1f} K   Q {q:14.4f}   <E> {e / q:10.4f} cm-1")
        print("levels per bin", " ".join(str(int(n)) for n in result.density))


if __name__ == "__main__":
    main()
