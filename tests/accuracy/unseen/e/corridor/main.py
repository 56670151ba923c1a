"""Least-cost corridors for lynx between forest patches on a resistance raster."""
import argparse
import heapq
import math
import random

STEP = ((-1, 0, 1.0), (1, 0, 1.0), (0, -1, 1.0), (0, 1, 1.0),
        (-1, -1, math.sqrt(2)), (-1, 1, math.sqrt(2)),
        (1, -1, math.sqrt(2)), (1, 1, math.sqrt(2)))


class Raster:
    """Resistance with a closed border, stored as one flat list."""

    def __init__(self, rows, cols, rng):
        self.rows, self.cols = rows + 2, cols + 2
        self.cost = [math.inf] * (self.rows * self.cols)
        hills = [(rng.uniform(0, rows), rng.uniform(0, cols), rng.uniform(10, 50))
                 for _ in range(6)]
        for r in range(1, rows + 1):
            for c in range(1, cols + 1):
                height = 0.0
                for hr, hc, w in hills:
                    height += math.exp(-((r - hr) ** 2 + (c - hc) ** 2) / (w * w))
                self.cost[r * self.cols + c] = 1.0 + 12.0 * height + rng.random()
        for _ in range(5):
            self._motorway(rng)

    def _motorway(self, rng):
        row = rng.randrange(10, self.rows - 10)
        for c in range(1, self.cols - 1):
            if c % 37:
                self.cost[row * self.cols + c] = 120.0
            row = min(self.rows - 3, max(2, row + rng.choice((-1, 0, 0, 1))))

    def moves(self):
        return [(dr * self.cols + dc, 0.5 * length) for dr, dc, length in STEP]

    def index(self, r, c):
        return r * self.cols + c


def spread(raster, sources, targets):
    """Dijkstra from a set of cells until all the targets are settled."""
    cost = raster.cost
    moves = raster.moves()
    best = {s: 0.0 for s in sources}
    parent = {}
    settled = set()
    waiting = set(targets)
    queue = [(0.0, s) for s in sources]
    heapq.heapify(queue)
    push, pop = heapq.heappush, heapq.heappop
    inf = math.inf
    while queue and waiting:
        dist, cell = pop(queue)
        if cell in settled:
            continue
        settled.add(cell)
        waiting.discard(cell)
        here = cost[cell]
        for offset, half in moves:
            other = cell + offset
            if other in settled:
                continue
            there = cost[other]
            if there == inf:
                continue
            trial = dist + half * (here + there)
            if trial < best.get(other, inf):
                best[other] = trial
                parent[other] = cell
                push(queue, (trial, other))
    return best, parent, len(settled)


def trace(parent, cell):
    path = [cell]
    while cell in parent:
        cell = parent[cell]
        path.append(cell)
    path.reverse()
    return path


def patches(raster, count, rng):
    found = []
    while len(found) < count:
        r, c = rng.randrange(4, raster.rows - 4), rng.randrange(4, raster.cols - 4)
        found.append([raster.index(r + dr, c + dc)
                      for dr in (-1, 0, 1) for dc in (-1, 0, 1)])
    return found


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--size", type=int, default=220)
    ap.add_argument("--patches", type=int, default=12)
    ap.add_argument("--seed", type=int, default=21)
    args = ap.parse_args()
    rng = random.Random(args.seed)
    raster = Raster(args.size, args.size, rng)
    habitat = patches(raster, args.patches, rng)
    centres = [p[4] for p in habitat]
    usage = {}
    links = []
    for k, source in enumerate(habitat):
        goals = [c for i, c in enumerate(centres) if i > k]
        if not goals:
            continue
        best, parent, settled = spread(raster, source, goals)
        for goal in goals:
            path = trace(parent, goal)
            links.append((best[goal], k, centres.index(goal), len(path)))
            for cell in path:
                usage[cell] = usage.get(cell, 0) + 1
        print(f"patch {k:2d}  settled {settled:6d}  nearest {min(best[g] for g in goals):.4f}")
    for dist, a, b, length in sorted(links)[:8]:
        print(f"link {a:2d}-{b:2d}  cost {dist:10.4f}  cells {length}")
    top = sorted(usage.items(), key=lambda kv: (-kv[1], kv[0]))[:5]
    print("most used", " ".join(f"{c // raster.cols},{c % raster.cols}:{n}" for c, n in top))


if __name__ == "__main__":
    main()
