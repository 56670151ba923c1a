"""Mosaic statistics from a tiled sky survey.

Tiles come compressed from the archive (here a stand-in that answers with
the latency of the real service); several threads fetch and reduce them.

usage: main.py TILES THREADS
"""
import sys
import threading
import time
import zlib
from queue import Empty, Queue

import numpy as np

SIZE = 128
LATENCY = 0.04      # seconds per request, as measured on the archive


class Archive:
    """Answers requests from memory after the usual latency."""

    def __init__(self, n):
        rng = np.random.default_rng(21)
        self.store = []
        for k in range(8):
            img = rng.poisson(40 + 5 * k, (SIZE, SIZE)).astype(np.int16)
            self.store.append(zlib.compress(img.tobytes(), 1))
        self.n = n

    def fetch(self, k):
        time.sleep(LATENCY)
        return self.store[k % len(self.store)]


def reduce_tile(blob):
    img = np.frombuffer(zlib.decompress(blob), dtype=np.int16)
    img = img.reshape(SIZE, SIZE).astype(float)
    background = np.median(img)
    clipped = img[np.abs(img - background) < 3 * img.std()]
    return background, clipped.mean(), int((img > background + 25).sum())


class Mosaic:
    def __init__(self, archive):
        self.archive = archive
        self.lock = threading.Lock()
        self.todo = Queue()
        self.background = np.zeros(archive.n)
        self.flux = 0.0
        self.sources = 0
        for k in range(archive.n):
            self.todo.put(k)

    def work(self):
        while True:
            try:
                k = self.todo.get_nowait()
            except Empty:
                return
            blob = self.archive.fetch(k)
            bg, mean, nsrc = reduce_tile(blob)
            with self.lock:
                self.background[k] = bg
                self.flux += mean - bg
                self.sources += nsrc

    def run(self, nthreads):
        team = [threading.Thread(target=self.work) for _ in range(nthreads)]
        for t in team:
            t.start()
        for t in team:
            t.join()


def main():
    n, nthreads = int(sys.argv[1]), int(sys.argv[2])
    m = Mosaic(Archive(n))
    m.run(nthreads)
    print("tiles %d  background %.4f  excess %.6f  sources %d"
          % (n, m.background.mean(), m.flux, m.sources))


if __name__ == "__main__":
    main()
