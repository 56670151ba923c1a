"""Roll-up of an elliptically loaded vortex sheet, regularised point vortices.

All mutual velocities are summed directly; the sheet is divided between
threads, the compiled sum gives up the interpreter lock.
"""
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

BLOCK = 1024

SIGNATURE = "void(f8[::1], f8[::1], f8[::1], f8, i8, i8, f8[::1], f8[::1])"


@njit(SIGNATURE, fastmath=True, nogil=True, error_model="numpy")
def induced(x, y, gamma, delta2, lo, hi, u, v):
    """Velocity at points lo..hi from every vortex, sources taken in blocks."""
    n = x.size
    for i in range(lo, hi):
        u[i] = 0.0
        v[i] = 0.0
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        for i in range(lo, hi):
            xi = x[i]
            yi = y[i]
            su = 0.0
            sv = 0.0
            for j in range(start, stop):
                dx = xi - x[j]
                dy = yi - y[j]
                w = gamma[j] / (dx * dx + dy * dy + delta2)
                su -= w * dy
                sv += w * dx
            u[i] += su
            v[i] += sv


class Sheet:
    def __init__(self, n, delta, nthreads):
        theta = (np.arange(n) + 0.5) * np.pi / n
        self.x = np.ascontiguousarray(-np.cos(theta))
        self.y = np.zeros(n)
        circulation = np.sin(np.pi * np.arange(n + 1) / n)
        self.gamma = np.diff(circulation) / (2.0 * np.pi)
        self.delta2 = delta * delta
        cuts = np.linspace(0, n, nthreads + 1).astype(np.int64)
        self.parts = list(zip(cuts[:-1], cuts[1:]))
        self.pool = ThreadPoolExecutor(nthreads)

    def velocity(self, x, y):
        u = np.empty_like(x)
        v = np.empty_like(y)
        jobs = [self.pool.submit(induced, x, y, self.gamma, self.delta2, lo, hi, u, v)
                for lo, hi in self.parts]
        for job in jobs:
            job.result()
        return u, v

    def advance(self, h):
        u1, v1 = self.velocity(self.x, self.y)
        u2, v2 = self.velocity(self.x + h * u1, self.y + h * v1)
        self.x += 0.5 * h * (u1 + u2)
        self.y += 0.5 * h * (v1 + v2)

    def moments(self):
        g = self.gamma
        return (g * self.x).sum(), (g * self.y).sum(), (np.abs(g) * (self.x ** 2 + self.y ** 2)).sum()


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 16384
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    nthreads = int(sys.argv[3]) if len(sys.argv) > 3 else 2

    sheet = Sheet(n, delta=0.05, nthreads=nthreads)
    start = sheet.moments()
    for _ in range(steps):
        sheet.advance(0.02)
    end = sheet.moments()

    for name, a, b in zip(("x moment", "y moment", "second moment"), start, end):
        print(f"{name:14s} {a:+.8f} -> {b:+.8f}")
    print(f"sheet depth {sheet.y.min():+.6f} .. {sheet.y.max():+.6f}")
    print(f"half span   {np.abs(sheet.x).max():.6f}")
    sheet.pool.shutdown()


if __name__ == "__main__":
    main()
