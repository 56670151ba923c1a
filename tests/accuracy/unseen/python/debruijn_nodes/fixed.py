#!/usr/bin/env python
# Build a small de Bruijn graph from simulated shotgun reads and report
# the unitig statistics.
#
#   main.py GENOME_LENGTH COVERAGE [K]

import random
import sys

READ_LEN = 100


def simulate_reads(length, coverage, rng):
    genome = "".join(rng.choice("ACGT") for _ in range(length))
    n = length * coverage // READ_LEN
    reads = []
    for _ in range(n):
        p = rng.randrange(length - READ_LEN + 1)
        reads.append(genome[p:p + READ_LEN])
    return reads


class Graph:
    """Nodes are (k-1)-mers numbered in order of appearance."""

    def __init__(self, k):
        self.k = k
        self.names = []
        self.number = {}
        self.succ = []      # set of successor numbers of each node
        self.indeg = []

    def node(self, name):
        v = self.number.get(name)
        if v is not None:
            return v
        self.number[name] = len(self.names)
        self.names.append(name)
        self.succ.append(set())
        self.indeg.append(0)
        return len(self.names) - 1

    def add_read(self, read):
        k = self.k
        a = self.node(read[:k - 1])
        for i in range(1, len(read) - k + 2):
            b = self.node(read[i:i + k - 1])
            if b not in self.succ[a]:
                self.succ[a].add(b)
                self.indeg[b] += 1
            a = b

    def unitigs(self):
        """Lengths (in bases) of the maximal non-branching paths."""
        lengths = []
        for v, out in enumerate(self.succ):
            if self.indeg[v] == 1 and len(out) == 1:
                continue
            for w in out:
                n = self.k
                while self.indeg[w] == 1 and len(self.succ[w]) == 1:
                    w = next(iter(self.succ[w]))
                    n += 1
                lengths.append(n)
        return sorted(lengths, reverse=True)


def n50(lengths):
    half, acc = sum(lengths) / 2, 0
    for n in lengths:
        acc += n
        if acc >= half:
            return n
    return 0


def main():
    length, coverage = int(sys.argv[1]), int(sys.argv[2])
    k = int(sys.argv[3]) if len(sys.argv) > 3 else 21
    rng = random.Random(11)
    g = Graph(k)
    for read in simulate_reads(length, coverage, rng):
        g.add_read(read)
    u = g.unitigs()
    edges = sum(len(s) for s in g.succ)
    print(f"nodes={len(g.names)} edges={edges} unitigs={len(u)} "
          f"N50={n50(u)} total={sum(u)}")


if __name__ == "__main__":
    main()
