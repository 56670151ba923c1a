"""Acoustic waves in a closed basin with an absorbing rim, leapfrog in time.

usage: main.py N STEPS
"""
import sys
import numpy as np

COURANT = 0.5


def sponge(n, width=20, strength=0.08):
    d = np.minimum(np.arange(n), np.arange(n)[::-1])
    edge = np.clip((width - d) / width, 0.0, 1.0) ** 2
    return 1.0 - strength * np.maximum(edge[:, None], edge[None, :])


def ricker(t, f=0.02):
    a = (np.pi * f * (t - 60.0)) ** 2
    return (1.0 - 2.0 * a) * np.exp(-a)


def simulate(n, steps):
    now = np.zeros((n, n))
    old = np.zeros((n, n))
    damp = sponge(n)
    inner_damp = damp[1:-1, 1:-1]
    lap = np.empty((n - 2, n - 2))
    c2 = COURANT ** 2
    src = (n // 3, n // 2)
    trace = np.empty(steps)
    for k in range(steps):
        # lap = sum of neighbours - 4 * centre, without temporaries
        np.add(now[2:, 1:-1], now[:-2, 1:-1], out=lap)
        lap += now[1:-1, 2:]
        lap += now[1:-1, :-2]
        lap *= c2
        core = now[1:-1, 1:-1]
        prev = old[1:-1, 1:-1]
        np.subtract(lap, prev, out=prev)
        np.multiply(core, 2.0 - 4.0 * c2, out=lap)
        prev += lap
        prev *= inner_damp
        now, old = old, now
        now[src] += ricker(float(k))
        trace[k] = now[2 * n // 3, n // 2]
    return now, trace


def main():
    n, steps = int(sys.argv[1]), int(sys.argv[2])
    field, trace = simulate(n, steps)
    print("energy-like norm %.10e" % float((field ** 2).sum()))
    print("trace max %.10e at step %d" % (trace.max(), trace.argmax()))


if __name__ == "__main__":
    main()
