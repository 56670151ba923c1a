"""Elastic scattering from a Woods-Saxon well: total cross section on a
logarithmic grid of energies, the energies divided over the ranks.

usage: mpirun -n P python main.py ENERGIES [RADIAL_POINTS]
"""
import sys

import numpy as np
from mpi4py import MPI

V0, R0, A0 = 50.0, 4.0, 0.6      # MeV, fm, fm
HB2M = 20.736                    # hbar^2 / 2m for a nucleon, MeV fm^2
RMAX = 14.0


def bessel_pair(lmax, z):
    """Riccati-Bessel functions by recursion (z well above lmax is fine)."""
    s, c = np.zeros(lmax + 2), np.zeros(lmax + 2)
    s[0], c[0] = np.sin(z), np.cos(z)
    s[1], c[1] = np.sin(z) / z - np.cos(z), np.cos(z) / z + np.sin(z)
    for l in range(1, lmax + 1):
        s[l + 1] = (2 * l + 1) / z * s[l] - s[l - 1]
        c[l + 1] = (2 * l + 1) / z * c[l] - c[l - 1]
    return s, c


def numerov(w, h):
    """Outward integration of u'' = w u; last two values."""
    u0, u1 = 0.0, 1e-6
    f = 1.0 - h * h * w / 12.0
    for i in range(1, len(w) - 1):
        u0, u1 = u1, ((12.0 - 10.0 * f[i]) * u1 - f[i - 1] * u0) / f[i + 1]
        if abs(u1) > 1e20:
            u0, u1 = u0 * 1e-20, u1 * 1e-20
    return u0, u1


def cross_section(e, points):
    k = np.sqrt(e / HB2M)
    lmax = int(k * 8.0)
    # resolve the shortest wave
    n = int(points * (1.0 + k * k))
    r = np.linspace(RMAX / n, RMAX, n)
    h = r[1] - r[0]
    v = -V0 / (1.0 + np.exp((r - R0) / A0))
    s1, c1 = bessel_pair(lmax, k * r[-2])
    s2, c2 = bessel_pair(lmax, k * r[-1])
    sigma = 0.0
    for l in range(lmax + 1):
        w = (v - e) / HB2M + l * (l + 1) / r ** 2
        a, b = numerov(w, h)
        t = (b * s1[l] - a * s2[l]) / (a * c2[l] - b * c1[l])
        sigma += (2 * l + 1) * t * t / (1.0 + t * t)
    return 4 * np.pi / k ** 2 * sigma


def my_energies(n, rank, size):
    """Numbers of the energies this rank computes."""
    per = (n + size - 1) // size
    return range(rank * per, min(n, (rank + 1) * per))


def main():
    n = int(sys.argv[1])
    points = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    comm = MPI.COMM_WORLD
    energies = np.geomspace(1.0, 160.0, n)
    sigma = np.zeros(n)
    for i in my_energies(n, comm.rank, comm.size):
        sigma[i] = cross_section(energies[i], points)
    total = np.zeros(n)
    comm.Allreduce(sigma, total)
    if comm.rank == 0:
        print("first %.6f last %.6f integral %.6f fm2 MeV"
              % (total[0], total[-1], np.trapezoid(total, energies)))


if __name__ == "__main__":
    main()
