"""Land surface temperature from two thermal bands (split-window), with
emissivity from NDVI and a simple cloud screen.

usage: main.py ROWS COLS SCENES
"""
import sys
import math
import numpy as np

# Planck constants of the two thermal bands (Landsat-like)
K1_10, K2_10 = 774.8853, 1321.0789
K1_11, K2_11 = 480.8883, 1201.1442

# split-window coefficients (dry mid-latitude atmosphere)
C = (-0.268, 1.378, 0.183, 54.300, -2.238, -129.200, 16.400)
WATER_VAPOUR = 1.6          # g/cm2
NDVI_SOIL, NDVI_VEG = 0.2, 0.5


def make_scene(rows, cols, seed):
    """Synthetic scene: red and near infrared reflectance, two radiances."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:rows, 0:cols]
    veg = 0.5 + 0.5 * np.sin(6.0 * x / cols) * np.cos(9.0 * y / rows)
    red = 0.25 - 0.18 * veg + 0.02 * rng.random((rows, cols))
    nir = 0.28 + 0.25 * veg + 0.02 * rng.random((rows, cols))
    # a few bright clouds
    cloud = rng.random((rows, cols)) > 0.96
    red[cloud] += 0.5
    nir[cloud] += 0.3
    t = 305.0 - 12.0 * veg + rng.normal(0.0, 0.5, (rows, cols))
    l10 = K1_10 / (np.exp(K2_10 / t) - 1.0)
    l11 = K1_11 / (np.exp(K2_11 / (t - 1.2)) - 1.0)
    return red, nir, l10, l11


def retrieve(red, nir, l10, l11):
    """Surface temperature in kelvin; clouds are NaN."""
    rows, cols = red.shape
    lst = np.full((rows, cols), np.nan)
    dv = NDVI_VEG - NDVI_SOIL
    for i in range(rows):
        for j in range(cols):
            if red[i, j] > 0.4:
                continue
            ndvi = (nir[i, j] - red[i, j]) / (nir[i, j] + red[i, j])
            frac = min(max((ndvi - NDVI_SOIL) / dv, 0.0), 1.0) ** 2
            e10 = 0.971 * (1.0 - frac) + 0.987 * frac
            e11 = 0.977 * (1.0 - frac) + 0.989 * frac
            t10 = K2_10 / math.log(K1_10 / l10[i, j] + 1.0)
            t11 = K2_11 / math.log(K1_11 / l11[i, j] + 1.0)
            d = t10 - t11
            em, de = 0.5 * (e10 + e11), e10 - e11
            lst[i, j] = (t10 + C[1] * d + C[2] * d * d + C[0]
                         + (C[3] + C[4] * WATER_VAPOUR) * (1.0 - em)
                         + (C[5] + C[6] * WATER_VAPOUR) * de)
    return lst


def main():
    rows, cols, scenes = (int(a) for a in sys.argv[1:4])
    total, valid = 0.0, 0
    hottest = 0.0
    for s in range(scenes):
        lst = retrieve(*make_scene(rows, cols, 100 + s))
        ok = np.isfinite(lst)
        total += lst[ok].sum()
        valid += int(ok.sum())
        hottest = max(hottest, float(np.nanmax(lst)))
    print("valid pixels %d  mean LST %.6f K  max %.6f K"
          % (valid, total / valid, hottest))


if __name__ == "__main__":
    main()
