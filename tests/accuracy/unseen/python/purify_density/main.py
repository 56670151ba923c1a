"""Density matrix of a tight-binding chain with disorder by canonical
purification (McWeeny steps, no diagonalisation).

    python main.py SITES [SAMPLES]
"""
import sys
import numpy as np


def hamiltonian(n, rng, disorder=1.0):
    h = np.zeros((n, n))
    i = np.arange(n)
    # alternating bonds open a gap at half filling
    t = np.where(i[:-1] % 2 == 0, -1.4, -0.6)
    h[i[:-1], i[1:]] = t
    h[i[1:], i[:-1]] = t
    h[i, i] = disorder * 0.2 * rng.uniform(-1, 1, n)
    return h


def bounds(h):
    """Gershgorin limits of the spectrum."""
    radius = np.abs(h).sum(axis=1) - np.abs(np.diag(h))
    d = np.diag(h)
    return (d - radius).min(), (d + radius).max()


def purify(h, nocc, tol=1e-9, maxit=60):
    n = len(h)
    lo, hi = bounds(h)
    mu = np.trace(h) / n
    lam = min(nocc / (hi - mu), (n - nocc) / (mu - lo))
    p = (lam / n) * (mu * np.eye(n) - h) + (nocc / n) * np.eye(n)
    p2 = np.empty_like(p)
    p3 = np.empty_like(p)
    for it in range(maxit):
        np.matmul(p, p, out=p2)
        np.matmul(p, p2, out=p3)
        t1, t2, t3 = np.trace(p), np.trace(p2), np.trace(p3)
        if abs(t1 - t2) < tol * n:
            break
        c = (t2 - t3) / (t1 - t2)
        if c >= 0.5:
            p = ((1 + c) * p2 - p3) / c
        else:
            p = ((1 - 2 * c) * p + (1 + c) * p2 - p3) / (1 - c)
    return p, it


def main():
    n = int(sys.argv[1])
    samples = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    rng = np.random.default_rng(4)
    for s in range(samples):
        h = hamiltonian(n, rng)
        p, it = purify(h, n // 2)
        energy = 2.0 * np.einsum("ij,ij->", p, h)
        print("sample %d  E = %.6f  electrons = %.4f  iterations = %d"
              % (s, energy, 2.0 * np.trace(p), it))


if __name__ == "__main__":
    main()
