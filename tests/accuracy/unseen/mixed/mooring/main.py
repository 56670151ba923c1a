"""Harmonic analysis of sea-level anomaly at mooring positions.

The gridded product is kept as one HDF5 file, a map per time step. For every
mooring the annual and the semi-annual cycle are fitted and the residual
variance is reported.
"""
import os
import sys

import h5py
import numpy as np

FILE = "sla.h5"
DEG = 0.5


def write_product(path, nt, ny, nx):
    """Synthetic product: cycles, westward planetary waves, a trend, noise."""
    rng = np.random.default_rng(3)
    lat = -45.0 + DEG * np.arange(ny)
    lon = DEG * np.arange(nx)
    amp = (0.06 + 0.04 * np.cos(np.deg2rad(lat)))[:, None]
    phase = np.deg2rad(lon)[None, :]
    with h5py.File(path, "w") as f:
        d = f.create_dataset("sla", (nt, ny, nx), dtype="i2",
                             chunks=(1, ny, nx), compression="gzip", compression_opts=1)
        d.attrs["scale_factor"] = 1e-3
        f["lat"] = lat
        f["lon"] = lon
        noise = rng.normal(0.0, 0.01, (ny, nx))
        for t in range(nt):
            year = t / 73.0
            m = amp * np.cos(2 * np.pi * year + phase) + 0.02 * np.cos(4 * np.pi * year)
            m = m + 0.05 * np.sin(6 * phase + 5.0 * year) + 0.003 * year + np.roll(noise, t, axis=1)
            d[t] = np.round(m * 1000.0).astype("i2")


def mooring_positions(n, ny, nx):
    rng = np.random.default_rng(11)
    j = rng.integers(2, ny - 2, n)
    i = rng.integers(2, nx - 2, n)
    return np.stack([j, i], axis=1)


def load_series(dset, positions):
    """Time series, one column per mooring, metres."""
    out = np.empty((dset.shape[0], len(positions)))
    for n, (j, i) in enumerate(positions):
        out[:, n] = dset[:, j, i]
    return out * dset.attrs["scale_factor"]


def design(nt):
    t = np.arange(nt) / 73.0
    w = 2 * np.pi * t
    return np.stack([np.ones(nt), t, np.cos(w), np.sin(w), np.cos(2 * w), np.sin(2 * w)], axis=1)


def analyse(series):
    G = design(series.shape[0])
    coef, *_ = np.linalg.lstsq(G, series, rcond=None)
    resid = series - G @ coef
    annual = np.hypot(coef[2], coef[3])
    semi = np.hypot(coef[4], coef[5])
    return coef[1], annual, semi, resid.var(axis=0)


def main():
    nmoor = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    nt, ny, nx = 365, 180, 360
    write_product(FILE, nt, ny, nx)
    with h5py.File(FILE, "r") as f:
        pos = mooring_positions(nmoor, ny, nx)
        series = load_series(f["sla"], pos)
        lat, lon = f["lat"][:], f["lon"][:]
    trend, annual, semi, var = analyse(series)
    for n in range(0, nmoor, max(1, nmoor // 6)):
        j, i = pos[n]
        print(f"{lat[j]:7.2f} {lon[i]:7.2f}  trend {1e3 * trend[n]:7.3f} mm/a  "
              f"annual {annual[n]:.4f}  semi {semi[n]:.4f}  var {var[n]:.3e}")
    print(f"mean annual amplitude {annual.mean():.6f} m")
    os.remove(FILE)


if __name__ == "__main__":
    main()
