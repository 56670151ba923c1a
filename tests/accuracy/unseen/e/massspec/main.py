"""Retention-time features from a centroided LC-MS run (own binary scan format).

scan header: uint32 number, float32 retention time, uint32 peak count
peak:        float64 m/z, float32 intensity          (little endian)
"""
import argparse
import os
import struct
import tempfile
from dataclasses import dataclass

import numpy as np

HEADER = struct.Struct("<IfI")
PEAK = struct.Struct("<df")
PROTON = 1.007276


@dataclass
class Feature:
    bin: int
    first: float
    last: float
    apex: float
    apex_time: float
    area: float
    scans: int = 1

    def extend(self, time: float, intensity: float) -> None:
        self.area += 0.5 * (time - self.last) * intensity
        self.last = time
        self.scans += 1
        if intensity > self.apex:
            self.apex, self.apex_time = intensity, time


def acquire(path: str, scans: int, peaks: int) -> None:
    """Write a synthetic run: compounds that elute as Gaussians, plus noise."""
    rng = np.random.default_rng(2024)
    compounds = 60
    mass = rng.uniform(200, 1400, compounds)
    centre = rng.uniform(0.1, 0.9, compounds) * scans * 0.5
    strength = rng.lognormal(11, 1, compounds)
    layout = np.dtype([("mz", "<f8"), ("intensity", "<f4")])
    with open(path, "wb") as out:
        for number in range(scans):
            time = 0.5 * number
            block = np.empty(peaks, dtype=layout)
            block["mz"] = rng.uniform(150, 1500, peaks)
            block["intensity"] = rng.exponential(300, peaks)
            block["mz"][:compounds] = mass + PROTON + rng.normal(0, 5e-4, compounds)
            block["intensity"][:compounds] = strength * np.exp(
                -0.5 * ((time - centre) / 6.0) ** 2)
            block.sort(order="mz")
            out.write(HEADER.pack(number, time, peaks))
            out.write(block.tobytes())


class ScanFile:
    def __init__(self, path: str):
        self._raw = open(path, "rb", buffering=0)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._raw.close()

    def _take(self, layout: struct.Struct) -> tuple:
        data = self._raw.read(layout.size)
        if len(data) < layout.size:
            raise EOFError
        return layout.unpack(data)

    def __iter__(self):
        while True:
            try:
                number, time, count = self._take(HEADER)
            except EOFError:
                return
            yield number, time, self._peaks(count)

    def _peaks(self, count: int):
        return [self._take(PEAK) for _ in range(count)]


def detect(scan_file, floor: float, width: float, gap: float):
    """Chain peaks of the same m/z bin over neighbouring scans."""
    active: dict[int, Feature] = {}
    done = []
    total = 0.0
    for number, time, peaks in scan_file:
        for mz, intensity in peaks:
            total += intensity
            if intensity < floor:
                continue
            key = int(mz / width)
            feature = active.get(key)
            if feature is None:
                active[key] = Feature(key, time, time, intensity, time, 0.0)
            elif time - feature.last > gap:
                done.append(feature)
                active[key] = Feature(key, time, time, intensity, time, 0.0)
            elif time > feature.last:
                feature.extend(time, intensity)
    done.extend(active.values())
    return [f for f in done if f.scans >= 8], total


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--scans", type=int, default=1500)
    parser.add_argument("--peaks", type=int, default=1000)
    parser.add_argument("--width", type=float, default=0.02)
    args = parser.parse_args()
    handle, path = tempfile.mkstemp(suffix=".scan")
    os.close(handle)
    try:
        acquire(path, args.scans, args.peaks)
        with ScanFile(path) as scan_file:
            features, total = detect(scan_file, 900.0, args.width, 1.6)
    finally:
        os.unlink(path)
    features.sort(key=lambda f: (-f.area, f.bin))
    print(f"{len(features)} features, total ion current {total:.6e}")
    for f in features[:12]:
        print(f"m/z {f.bin * args.width:9.3f}  rt {f.apex_time:7.1f}  "
              f"area {f.area:12.4e}  scans {f.scans}")


if __name__ == "__main__":
    main()
