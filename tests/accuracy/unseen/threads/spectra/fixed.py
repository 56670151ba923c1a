"""Line fits for a spectral cube: amplitude, centre, width and continuum in each spaxel.

One Gaussian on a flat continuum per spectrum, by a few Gauss-Newton steps.
"""
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np

WAVE = np.linspace(6540.0, 6590.0, 40)


def make_cube(ny, nx, seed=5):
    """A rotating disc in H-alpha with noise."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:ny, 0:nx]
    u = (x - nx / 2) / (nx / 3)
    v = (y - ny / 2) / (ny / 3)
    r = np.hypot(u, v) + 1e-9
    centre = 6562.8 + 4.0 * u / r * np.tanh(3 * r)
    width = 1.5 + 1.2 * np.exp(-3 * r)
    amp = 40.0 * np.exp(-r)
    cube = amp[..., None] * np.exp(-0.5 * ((WAVE - centre[..., None]) / width[..., None]) ** 2)
    cube += 5.0 + rng.normal(0.0, 0.7, cube.shape)
    return cube.reshape(ny * nx, WAVE.size)


def first_guess(flux):
    base = 0.5 * (flux[:6].mean() + flux[-6:].mean())
    k = int(flux.argmax())
    return np.array([flux[k] - base, WAVE[k], 2.0, base])


def fit_line(flux, steps=2):
    p = first_guess(flux)
    jac = np.empty((WAVE.size, 4))
    jac[:, 3] = 1.0
    for _ in range(steps):
        d = (WAVE - p[1]) / p[2]
        g = np.exp(-0.5 * d * d)
        jac[:, 0] = g
        jac[:, 1] = p[0] * g * d / p[2]
        jac[:, 2] = jac[:, 1] * d
        res = flux - p[0] * g - p[3]
        h = jac.T @ jac
        h[np.diag_indices(4)] *= 1.01
        p = p + np.clip(np.linalg.solve(h, jac.T @ res), -5.0, 5.0)
        p[2] = min(max(abs(p[2]), 0.5), 8.0)
    return p


def main():
    ny, nx, workers = (int(a) for a in sys.argv[1:4])
    cube = make_cube(ny, nx)
    with ProcessPoolExecutor(workers) as pool:
        params = np.array(list(pool.map(fit_line, cube, chunksize=400)))

    velocity = (params[:, 1] / 6562.8 - 1) * 299792.458
    good = (params[:, 0] > 4.0) & (np.abs(velocity) < 400)
    print(f"spaxels {len(cube)}  fitted {good.sum()}")
    print(f"velocity {np.percentile(velocity[good], [5, 50, 95]).round(3)} km/s")
    print(f"width    {np.percentile(params[good, 2], [5, 50, 95]).round(4)} A")
    field = np.where(good, velocity, 0.0).reshape(ny, nx)
    print("major axis", field[ny // 2, :: max(1, nx // 8)].round(2))


if __name__ == "__main__":
    main()
