"""Sensitivity of a two-tissue compartment model (dynamic PET) to its rate
constants: for every candidate set the time-activity curve is integrated with
RK4 for a few plasma input shapes and compared with a reference curve.

usage: main.py [candidates] [steps]
"""
import sys

import numpy as np
from numba import njit

FRAME_END = 90.0      # minutes
SHAPES = ((0.9, 4.1), (1.3, 3.2), (0.6, 5.0))


@njit
def plasma(t, alpha, beta):
    """Plasma activity after a bolus, arbitrary units."""
    return t * np.exp(-alpha * t) * 40.0 + 0.8 * np.exp(-0.01 * beta * t)


@njit
def rates(t, c1, c2, alpha, beta, K1, k2, k3, k4):
    cp = plasma(t, alpha, beta)
    d1 = K1 * cp - (k2 + k3) * c1 + k4 * c2
    d2 = k3 * c1 - k4 * c2
    return d1, d2


@njit
def integrate(K1, k2, k3, k4, alpha, beta, tend, nsteps, every):
    h = tend / nsteps
    curve = np.empty(nsteps // every)
    c1 = 0.0
    c2 = 0.0
    for n in range(nsteps):
        t = n * h
        a1, a2 = rates(t, c1, c2, alpha, beta, K1, k2, k3, k4)
        b1, b2 = rates(t + 0.5 * h, c1 + 0.5 * h * a1, c2 + 0.5 * h * a2, alpha, beta, K1, k2, k3, k4)
        e1, e2 = rates(t + 0.5 * h, c1 + 0.5 * h * b1, c2 + 0.5 * h * b2, alpha, beta, K1, k2, k3, k4)
        f1, f2 = rates(t + h, c1 + h * e1, c2 + h * e2, alpha, beta, K1, k2, k3, k4)
        c1 += h / 6.0 * (a1 + 2.0 * b1 + 2.0 * e1 + f1)
        c2 += h / 6.0 * (a2 + 2.0 * b2 + 2.0 * e2 + f2)
        if (n + 1) % every == 0:
            curve[n // every] = c1 + c2
    return curve


def candidate_sets(n):
    rng = np.random.default_rng(42)
    base = np.array([0.10, 0.13, 0.06, 0.007])
    return base * np.exp(0.25 * rng.standard_normal((n, 4)))


def curves_for(params, nsteps):
    K1, k2, k3, k4 = (float(p) for p in params)
    every = nsteps // 90
    return [integrate(K1, k2, k3, k4, a, b, FRAME_END, nsteps, every) for a, b in SHAPES]


def misfit(curves, reference):
    return sum(float(np.mean((c - r) ** 2)) for c, r in zip(curves, reference))


def main():
    ncand = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    nsteps = int(sys.argv[2]) if len(sys.argv) > 2 else 90_000

    reference = curves_for((0.10, 0.13, 0.06, 0.007), nsteps)
    scores = []
    for params in candidate_sets(ncand):
        curves = curves_for(params, nsteps)
        scores.append((misfit(curves, reference), params))

    scores.sort(key=lambda s: s[0])
    for score, (K1, k2, k3, k4) in scores[:5]:
        vt = K1 / k2 * (1.0 + k3 / k4)
        print(f"{score:12.6f}  K1={K1:.4f} k2={k2:.4f} k3={k3:.4f} k4={k4:.5f}  VT={vt:.3f}")


if __name__ == "__main__":
    main()
