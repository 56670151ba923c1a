# Line search in an echelle spectrum cube: for each trial velocity the
# template is shifted and correlated with a window of the cube.
#
# usage: main.py TRIALS [NSPEC] [NPIX]
import multiprocessing as mp
import sys

import numpy as np

C_KMS = 299792.458
WINDOW = 400


def make_cube(nspec, npix):
    rng = np.random.default_rng(17)
    lam = np.linspace(6500.0, 6600.0, npix)
    flux = rng.standard_normal((nspec, npix)) * 0.02 + 1.0
    for line, depth in ((6516.1, 0.2), (6548.05, 0.3), (6562.8, 0.6)):
        centre = line * (1.0 + 23.5 / C_KMS)
        flux -= depth * np.exp(-0.5 * ((lam - centre) / 0.25) ** 2)
    return lam, flux


def template(lam):
    t = np.zeros_like(lam)
    for line, depth in ((6516.1, 0.2), (6548.05, 0.3), (6562.8, 0.6)):
        t -= depth * np.exp(-0.5 * ((lam - line) / 0.25) ** 2)
    return t


def correlate(task):
    """Correlation around H-alpha at one trial velocity."""
    lam, flux, velocity = task
    centre = np.searchsorted(lam, 6562.8)
    lo = max(0, centre - WINDOW)
    hi = min(len(lam), centre + WINDOW)
    t = template(lam[lo:hi] / (1.0 + velocity / C_KMS))
    t = t - t.mean()
    window = flux[:, lo:hi]
    return float((window @ t).sum() / np.sqrt((t * t).sum()))


def main():
    trials = int(sys.argv[1])
    nspec = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    npix = int(sys.argv[3]) if len(sys.argv) > 3 else 20000
    lam, flux = make_cube(nspec, npix)
    velocities = np.linspace(-100.0, 100.0, trials)
    with mp.get_context("fork").Pool(2) as pool:
        tasks = ((lam, flux, v) for v in velocities)
        ccf = np.array(list(pool.imap(correlate, tasks)))
    best = int(ccf.argmax())
    # parabola through the three points around the peak
    a, b, c = ccf[best - 1:best + 2]
    dv = velocities[1] - velocities[0]
    peak = velocities[best] + 0.5 * dv * (a - c) / (a - 2 * b + c)
    print("peak at %.4f km/s, height %.5f, ccf sum %.5f"
          % (peak, ccf[best], ccf.sum()))


if __name__ == "__main__":
    main()
