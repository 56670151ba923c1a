"""Iterative retrieval of an absorption column from spectra: every batch is
fitted by a background worker, the regularisation of the next batch depends
on the residual of the one before.

    main.py BATCHES [PIXELS]
"""
import queue
import sys
import threading

import numpy as np

NCHAN = 64


def forward_model():
    nu = np.linspace(-3, 3, NCHAN)
    basis = [np.ones(NCHAN), nu, nu ** 2]
    for centre, width in ((-1.2, 0.3), (0.1, 0.5), (1.4, 0.25)):
        basis.append(np.exp(-((nu - centre) / width) ** 2))
    return np.array(basis).T


class Worker(threading.Thread):
    def __init__(self, K):
        super().__init__(daemon=True)
        self.K = K
        self.jobs = queue.Queue()
        self.results = queue.Queue()

    def run(self):
        while True:
            job = self.jobs.get()
            if job is None:
                return
            y, lam = job
            self.results.put(self.fit(y, lam))

    def fit(self, y, lam):
        K = self.K
        A = K.T @ K + lam * np.eye(K.shape[1])
        x = np.linalg.solve(A, K.T @ y)
        r = y - K @ x
        return x, float(np.sqrt(np.mean(r * r)))


def collect(worker):
    """Result of the batch that was handed over last."""
    return worker.results.get()


def spectra(K, npix, rng):
    truth = rng.uniform(0.5, 1.5, (K.shape[1], npix))
    return K @ truth + rng.normal(0, 0.05, (NCHAN, npix))


def main():
    batches = int(sys.argv[1])
    npix = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    rng = np.random.default_rng(8)
    K = forward_model()
    worker = Worker(K)
    worker.start()
    lam, column = 1e-2, 0.0
    for b in range(batches):
        worker.jobs.put((spectra(K, npix, rng), lam))
        x, rms = collect(worker)
        lam = 0.5 * lam + 0.5 * rms ** 2
        column += x[3:].sum(axis=0).mean()
    worker.jobs.put(None)
    worker.join()
    print("batches %d  mean column %.8f  lambda %.8e"
          % (batches, column / batches, lam))


if __name__ == "__main__":
    main()
