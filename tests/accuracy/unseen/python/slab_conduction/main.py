"""Transient heat conduction in a layered wall, finite elements in 1-D with
a radiating inner face; Crank-Nicolson in time.  Outside temperature follows
a daily cycle.

    python main.py NODES STEPS
"""
import argparse
import numpy as np


LAYERS = [  # thickness m, conductivity W/mK, density*heat capacity J/m3K
    (0.02, 0.80, 1.6e6),     # render
    (0.12, 0.04, 5.0e4),     # mineral wool
    (0.24, 0.60, 1.4e6),     # brick
    (0.015, 0.35, 1.0e6),    # plaster
]
H_OUT, H_IN = 25.0, 7.7
T_IN = 20.0


def properties(x):
    k = np.empty_like(x)
    c = np.empty_like(x)
    left = 0.0
    for d, cond, cap in LAYERS:
        sel = (x >= left) & (x <= left + d)
        k[sel] = cond
        c[sel] = cap
        left += d
    return k, c


def assemble(n):
    """Stiffness and consistent mass matrix, with the film coefficients."""
    total = sum(l[0] for l in LAYERS)
    x = np.linspace(0.0, total, n)
    h = x[1] - x[0]
    k, c = properties(0.5 * (x[1:] + x[:-1]))
    K = np.zeros((n, n))
    M = np.zeros((n, n))
    e = np.arange(n - 1)
    np.add.at(K, (e, e), k / h)
    np.add.at(K, (e + 1, e + 1), k / h)
    K[e, e + 1] = K[e + 1, e] = -k / h
    np.add.at(M, (e, e), c * h / 3)
    np.add.at(M, (e + 1, e + 1), c * h / 3)
    M[e, e + 1] = M[e + 1, e] = c * h / 6
    K[0, 0] += H_OUT
    K[-1, -1] += H_IN
    return K, M


def outside(t):
    return 4.0 + 6.0 * np.sin(2 * np.pi * t / 86400.0)


def load(n, t):
    f = np.zeros(n)
    f[0] = H_OUT * outside(t)
    f[-1] = H_IN * T_IN
    return f


def march(K, M, dt, steps):
    n = len(K)
    T = np.full(n, 12.0)
    heat = 0.0
    for s in range(steps):
        t = s * dt
        f = 0.5 * (load(n, t) + load(n, t + dt))
        A = M / dt + 0.5 * K
        B = M / dt - 0.5 * K
        T = np.linalg.solve(A, B @ T + f)
        heat += H_IN * (T_IN - T[-1]) * dt
    return T, heat


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("nodes", type=int)
    ap.add_argument("steps", type=int)
    ap.add_argument("--dt", type=float, default=120.0)
    a = ap.parse_args()
    K, M = assemble(a.nodes)
    T, heat = march(K, M, a.dt, a.steps)
    print(f"T_out face {T[0]:.6f}  T_in face {T[-1]:.6f}  "
          f"heat {heat / 3.6e6:.6f} kWh/m2")


if __name__ == "__main__":
    main()
