"""Activation and growth of aerosol droplets in a rising air parcel.

Each size class is integrated with its own step length, limited by the
relaxation time of the droplet. Prescribed supersaturation, Koehler term with
a constant hygroscopicity.
"""
import argparse

import numba
import numpy as np
from numba import njit, prange

G_COND = 1.1e-10     # m2/s, growth coefficient
KELVIN_A = 1.2e-9    # m
KAPPA = 0.55


@njit
def supersaturation(t):
    """Parcel passes the cloud base after 30 s."""
    x = (t - 30.0) / 25.0
    return 0.006 * (1.0 - x * x) if x * x < 1.0 else -0.0005


@njit
def growth_rate(r, rdry, t):
    r3 = r * r * r
    d3 = rdry * rdry * rdry
    s_eq = KELVIN_A / r - KAPPA * d3 / (r3 - 0.99 * d3)
    return G_COND / r * (supersaturation(t) - s_eq)


@njit
def step_length(rdry):
    """Fraction of the relaxation time of the wet particle."""
    tau = rdry * rdry / G_COND
    return min(0.05, 4.0 * tau)


@njit(parallel=True)
def grow(rdry, tend, r_end, r_max):
    for i in prange(rdry.size):
        rd = rdry[i]
        steps = int(np.ceil(tend / step_length(rd)))
        h = tend / steps
        r = 1.8 * rd
        biggest = r
        for n in range(steps):
            t = n * h
            k1 = growth_rate(r, rd, t)
            k2 = growth_rate(max(r + 0.5 * h * k1, 1.01 * rd), rd, t + 0.5 * h)
            r = max(r + h * k2, 1.01 * rd)
            if r > biggest:
                biggest = r
        r_end[i] = r
        r_max[i] = biggest


def dry_spectrum(n, largest, smallest):
    """Class radii from the coarse to the Aitken mode, with log-normal weights."""
    radii = np.geomspace(largest, smallest, n)
    def mode(number, median, width):
        return number * np.exp(-0.5 * (np.log(radii / median) / np.log(width)) ** 2)
    weight = mode(1.0, 0.04e-6, 1.6) + mode(0.4, 0.15e-6, 1.5) + mode(0.004, 1.0e-6, 1.9)
    return radii, weight / weight.sum()


def parcel_run(radii, tend):
    r_end = np.empty_like(radii)
    r_max = np.empty_like(radii)
    grow(radii, tend, r_end, r_max)
    return r_end, r_max


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("classes", type=int, nargs="?", default=3000)
    ap.add_argument("--tend", type=float, default=60.0)
    ap.add_argument("--smallest", type=float, default=0.02e-6)
    ap.add_argument("--threads", type=int, default=2)
    opt = ap.parse_args()
    numba.set_num_threads(opt.threads)

    radii, weight = dry_spectrum(opt.classes, 5e-6, opt.smallest)
    r_end, r_max = parcel_run(radii, opt.tend)

    activated = r_max > np.maximum(1.0e-6, 5.0 * radii)
    water = weight * (r_end ** 3 - radii ** 3)
    reff = (weight * r_end ** 3).sum() / (weight * r_end ** 2).sum()
    print(f"activated fraction {(weight * activated).sum():.6f}")
    print(f"smallest activated {radii[activated].min() * 1e9 if activated.any() else 0:.3f} nm")
    print(f"effective radius   {reff * 1e6:.6f} um")
    print(f"condensed volume   {water.sum() * 1e18:.6e} um3 per particle")
    for i in range(0, opt.classes, opt.classes // 6):
        print(f"  dry {radii[i] * 1e9:9.2f} nm -> wet {r_end[i] * 1e9:10.3f} nm, max {r_max[i] * 1e9:10.3f} nm")


if __name__ == "__main__":
    main()
