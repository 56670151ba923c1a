"""Group located lightning strokes into flashes and count them by hour and cell.

Input is the text feed of the network, one stroke a line:
    2021-07-03T14:22:31.120394;46.5123;8.1034;-23.4;C
"""
import datetime as dt
import io
import math
import random
import sys
from collections import Counter, deque

EPOCH = dt.datetime(2021, 1, 1)
KM_PER_DEG = 111.2


def simulate_feed(strokes, seed):
    """Text feed with storms that wander over the Alps."""
    rng = random.Random(seed)
    clock = 180 * 86400.0
    out = io.StringIO()
    lat, lon = 46.5, 8.0
    for k in range(strokes):
        if k % 6 == 0:
            clock += rng.expovariate(1 / 2.5)
            lat += rng.gauss(0.0, 0.02)
            lon += rng.gauss(0.0, 0.02)
            if not (44.0 < lat < 49.0 and 5.0 < lon < 12.0):
                lat, lon = 46.5, 8.0
        clock += 0.01 + rng.random() * 0.05
        when = EPOCH + dt.timedelta(seconds=clock)
        kind = "C" if rng.random() < 0.2 else "G"
        out.write(f"{when.isoformat(timespec='microseconds')};{lat + rng.gauss(0, .01):.4f};"
                  f"{lon + rng.gauss(0, .01):.4f};{rng.gauss(-5, 18):.1f};{kind}\n")
    out.seek(0)
    return out


def seconds_of(text):
    stamp = dt.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%f")
    return (stamp - EPOCH).total_seconds()


def strokes(feed):
    for line in feed:
        when, lat, lon, current, kind = line.rstrip("\n").split(";")
        yield seconds_of(when), float(lat), float(lon), float(current), kind


class Flash:
    __slots__ = ("start", "last", "lat", "lon", "peak", "count", "cloud")

    def __init__(self, t, lat, lon, current, kind):
        self.start = self.last = t
        self.lat, self.lon = lat, lon
        self.peak = current
        self.count = 1
        self.cloud = kind == "C"

    def accepts(self, t, lat, lon):
        if t - self.last > 0.5 or t - self.start > 1.5:
            return False
        dy = (lat - self.lat) * KM_PER_DEG
        dx = (lon - self.lon) * KM_PER_DEG * 0.69
        return dx * dx + dy * dy < 100.0

    def add(self, t, current):
        self.last = t
        self.count += 1
        if abs(current) > abs(self.peak):
            self.peak = current


def group(events):
    """Yield the flashes as they end."""
    open_flashes = deque()
    for t, lat, lon, current, kind in events:
        while open_flashes and t - open_flashes[0].start > 1.5:
            yield open_flashes.popleft()
        for flash in open_flashes:
            if flash.accepts(t, lat, lon):
                flash.add(t, current)
                break
        else:
            open_flashes.append(Flash(t, lat, lon, current, kind))
    yield from open_flashes


def summarise(flashes):
    by_hour, by_cell, multiplicity = Counter(), Counter(), Counter()
    positive = total = 0
    log_peak = 0.0
    for f in flashes:
        total += 1
        by_hour[int(f.start // 3600) % 24] += 1
        by_cell[int(f.lat * 4), int(f.lon * 4)] += 1
        multiplicity[min(f.count, 8)] += 1
        positive += f.peak > 0
        log_peak += math.log(abs(f.peak) + 0.1)
    return total, positive, log_peak / total, by_hour, by_cell, multiplicity


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 240_000
    feed = simulate_feed(count, 99)
    total, positive, log_peak, hours, cells, mult = summarise(group(strokes(feed)))
    print(f"{count} strokes in {total} flashes, {positive} positive, log peak {log_peak:.5f}")
    print("hours", " ".join(f"{h:02d}:{hours[h]}" for h in sorted(hours)[:8]))
    for (i, j), n in sorted(cells.items(), key=lambda kv: (-kv[1], kv[0]))[:6]:
        print(f"cell {i / 4:.2f} {j / 4:.2f}  {n}")
    print("multiplicity", " ".join(f"{m}:{mult[m]}" for m in sorted(mult)))


if __name__ == "__main__":
    main()
