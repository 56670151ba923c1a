"""
Daily means from a year of minute data of meteorological stations.

The logger writes one line per sample:
    station  minute  T(C)  RH(%)  p(hPa)  wind(m/s)  dir(deg)

usage: python main.py DAYS STATIONS
"""
import os
import sys
import tempfile
import numpy as np

SAMPLES = 1440


def write_log(path, days, stations, seed=3):
    """Stand-in for the logger: the same weather week over and over."""
    rng = np.random.default_rng(seed)
    day = []
    for m in range(SAMPLES):
        phase = 2 * np.pi * m / SAMPLES
        t = 11.0 - 5.0 * np.cos(phase) + rng.normal(0, 0.3)
        rh = 70.0 + 15.0 * np.cos(phase) + rng.normal(0, 1.0)
        p = 1013.0 + rng.normal(0, 0.2)
        w = abs(rng.normal(4.0, 1.5))
        d = rng.uniform(0, 360)
        day.append("%d %.3f %.2f %.2f %.2f %.1f\n" % (m, t, rh, p, w, d))
    with open(path, "w") as f:
        for s in range(stations):
            block = "".join("%d %s" % (s, line) for line in day)
            for _ in range(days):
                f.write(block)


def read_log(path):
    with open(path) as f:
        return np.fromstring(f.read(), sep=" ").reshape(-1, 7)


def daily_means(data, days, stations):
    cube = data.reshape(stations, days, SAMPLES, 7)
    scalar = cube[:, :, :, 2:5].mean(axis=2)
    # mean wind as a vector
    ang = np.deg2rad(cube[..., 6])
    u = (-cube[..., 5] * np.sin(ang)).mean(axis=2)
    v = (-cube[..., 5] * np.cos(ang)).mean(axis=2)
    return scalar, np.hypot(u, v)


def main():
    days, stations = int(sys.argv[1]), int(sys.argv[2])
    fd, path = tempfile.mkstemp(suffix=".log", dir=".")
    os.close(fd)
    try:
        write_log(path, days, stations)
        data = read_log(path)
    finally:
        os.remove(path)
    scalar, wind = daily_means(data, days, stations)
    print("%d samples" % len(data))
    print("T %.5f  RH %.5f  p %.5f  wind %.5f"
          % (*scalar.mean(axis=(0, 1)), wind.mean()))


if __name__ == "__main__":
    main()
