"""Hourly discharge of a karst spring: matrix store, conduit store, siphon.

Forced by synthetic rain and evaporation; reports recessions and extremes.
"""
from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass
from itertools import chain

import numpy as np

HOURS = 8766


@dataclass(frozen=True)
class Aquifer:
    soil_capacity: float = 60.0      # mm
    split: float = 0.35              # fast fraction of recharge
    matrix_rate: float = 1.5e-4      # 1/h
    conduit_rate: float = 1.0e-3     # 1/(h mm)
    siphon_on: float = 9.0          # mm
    siphon_off: float = 3.5         # mm
    siphon_flow: float = 0.4         # mm/h
    exchange: float = 2.0e-4         # 1/h


def forcing(years: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rain and potential evaporation, mm/h."""
    rng = np.random.default_rng(seed)
    n = years * HOURS
    season = np.sin(2 * np.pi * np.arange(n) / HOURS)
    wet = rng.random(n) < 0.06 + 0.03 * season
    rain = np.where(wet, rng.gamma(0.7, 2.2, n), 0.0)
    day = np.maximum(0.0, np.sin(2 * np.pi * np.arange(n) / 24.0))
    evaporation = day * (0.16 - 0.11 * season)
    return rain, evaporation


def hourly(*series: np.ndarray):
    """Tuples of plain floats, one an hour, a year at a time."""
    blocks = range(0, len(series[0]), HOURS)
    return chain.from_iterable(
        zip(*(s[i:i + HOURS].tolist() for s in series)) for i in blocks)


def simulate(aq: Aquifer, rain: np.ndarray, evaporation: np.ndarray):
    capacity, split = aq.soil_capacity, aq.split
    k_matrix, k_conduit, k_exchange = aq.matrix_rate, aq.conduit_rate, aq.exchange
    on, off, siphon_flow = aq.siphon_on, aq.siphon_off, aq.siphon_flow

    soil, matrix, conduit = 0.5 * capacity, 400.0, 5.0
    running = False
    flow = array("d")
    starts = []
    note = flow.append
    for hour, (p, e) in enumerate(hourly(rain, evaporation)):
        soil += p - e * soil / capacity
        recharge = 0.0
        if soil > capacity:
            recharge = soil - capacity
            soil = capacity
        swap = k_exchange * (0.05 * matrix - conduit)
        slow = k_matrix * matrix
        matrix += (1.0 - split) * recharge - slow - swap
        fast = k_conduit * conduit * conduit
        conduit += split * recharge + swap - fast
        if conduit < 0.0:
            conduit = 0.0
        if running:
            if conduit < off:
                running = False
            else:
                conduit -= siphon_flow
                fast += siphon_flow
        elif conduit > on:
            running = True
            starts.append(hour)
        note(slow + fast)
    return np.frombuffer(flow), starts, (soil, matrix, conduit)


def recession_events(flow: np.ndarray, length: int):
    """Start and slope of the uninterrupted recessions."""
    falling = np.diff(flow) < 0
    edges = np.flatnonzero(np.diff(np.concatenate(([0], falling.view(np.int8), [0]))))
    begin, end = edges[::2], edges[1::2]
    keep = end - begin >= length
    begin, end = begin[keep], end[keep]
    return begin, np.log(flow[begin] / flow[end]) / (end - begin)


def duration_curve(flow: np.ndarray, shares):
    return np.quantile(flow, [1.0 - s for s in shares])


def main() -> None:
    years = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    rain, evaporation = forcing(years, seed=14)
    flow, starts, final = simulate(Aquifer(), rain, evaporation)
    begin, slope = recession_events(flow, 48)
    print(f"{years} years, rain {rain.sum() / years:.2f} mm/a, spring {flow.sum() / years:.2f} mm/a")
    print(f"siphon starts {len(starts)}, first at hours {starts[:5]}")
    print(f"recessions {begin.size}, median coefficient {np.median(slope):.6e} 1/h")
    shares = (0.01, 0.05, 0.1, 0.5, 0.9)
    for share, q in zip(shares, duration_curve(flow, shares)):
        print(f"exceeded {share:5.2f} of the time: {q:.5f} mm/h")
    annual = flow.reshape(years, -1).max(axis=1)
    print(f"mean annual maximum {annual.mean():.4f}, record {annual.max():.4f}")
    print("stores", " ".join(f"{v:.4f}" for v in final))


if __name__ == "__main__":
    main()
