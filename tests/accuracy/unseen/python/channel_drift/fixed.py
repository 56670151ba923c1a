"""Gain drift correction of a radio spectrometer: samples[time, channel].

Every channel is divided by its own running gain; the gain is a slow
exponential average in time, refined in a few passes.

usage: main.py NTIME NCHAN PASSES
"""
import sys
import numpy as np


def observe(ntime, nchan):
    rng = np.random.default_rng(33)
    data = rng.standard_normal((ntime, nchan), dtype=np.float32)
    data *= np.float32(0.05)
    data += np.float32(1.0)
    t = np.linspace(0, 1, ntime, dtype=np.float32)
    data *= (1.0 + 0.3 * np.sin(5 * t))[:, None]
    return data


def drift_basis(ntime, order=3):
    """Orthonormal polynomials in time."""
    t = np.linspace(-1, 1, ntime)
    q, _ = np.linalg.qr(np.vander(t, order + 1, increasing=True))
    return q.T.astype(np.float32)


def correct(data, passes):
    ntime, nchan = data.shape
    basis = drift_basis(ntime)
    work = np.ascontiguousarray(data.T)
    for p in range(passes):
        for c in range(nchan):
            series = work[c]
            level = series.mean()
            coef = basis[1:] @ series
            series -= 0.5 * (coef @ basis[1:])
            series *= 1.0 / level
    return work.T


def noise_per_channel(data):
    var = data.astype(np.float64).var(axis=0)
    return np.sqrt(var)


def main():
    ntime, nchan, passes = (int(a) for a in sys.argv[1:4])
    data = observe(ntime, nchan)
    data = correct(data, passes)
    noise = noise_per_channel(data)
    print("channels %d  mean level %.5f" % (nchan, data.mean(dtype=np.float64)))
    print("noise min %.5f median %.5f max %.5f"
          % (noise.min(), np.median(noise), noise.max()))


if __name__ == "__main__":
    main()
