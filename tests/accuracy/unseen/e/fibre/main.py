"""Event picking on a strain-rate record of a telecom fibre (DAS).

The interrogator delivers one row per time sample with all the channels of
the cable side by side.  Each channel is conditioned and picked with STA/LTA.
"""
from typing import NamedTuple

import argparse

import numpy as np


class Pick(NamedTuple):
    channel: int
    sample: int
    ratio: float


class Interrogator:
    def __init__(self, channels, rate, spacing, seed):
        self.channels = channels
        self.rate = rate
        self.spacing = spacing
        self.rng = np.random.default_rng(seed)

    def record(self, samples, velocity=2400.0):
        """Noise with drift, common-mode steps and one moving wave front."""
        data = self.rng.standard_normal((samples, self.channels), dtype=np.float32)
        drift = np.linspace(0.0, 3.0, samples, dtype=np.float32)
        data += drift[:, None]
        source = 0.35 * self.channels * self.spacing
        position = np.arange(self.channels) * self.spacing
        travel = np.hypot(position - source, 900.0) / velocity
        onset = (0.4 * samples + travel * self.rate).astype(int)
        wavelet = 9.0 * np.exp(-np.arange(150) / 60.0) * np.sin(np.arange(150) / 4.0)
        reach = np.arange(150)
        rows = np.minimum(onset[None, :] + reach[:, None], samples - 1)
        data[rows, np.arange(self.channels)[None, :]] += wavelet[:, None].astype(np.float32)
        return data


class Conditioner:
    """Per-channel conditioning, done in place."""

    def __init__(self, samples, clip=12.0):
        ramp = np.linspace(-1.0, 1.0, samples, dtype=np.float32)
        self.ramp = ramp
        self.ramp_power = float(ramp @ ramp)
        edge = min(500, samples // 10)
        self.window = np.ones(samples, dtype=np.float32)
        self.window[:edge] = np.sin(np.linspace(0, np.pi / 2, edge)) ** 2
        self.window[-edge:] = self.window[:edge][::-1]
        self.clip = clip

    def __call__(self, trace):
        trace -= trace.mean()
        slope = float((trace * self.ramp).sum()) / self.ramp_power
        trace -= slope * self.ramp
        trace *= self.window
        scale = np.abs(trace).mean()
        trace /= scale
        np.clip(trace, -self.clip, self.clip, out=trace)
        return scale


def sta_lta(trace, short, long):
    energy = np.cumsum(trace * trace, dtype=np.float64)
    sta = (energy[long:] - energy[long - short:-short]) / short
    lta = (energy[long:] - energy[:-long]) / long
    ratio = sta / (lta + 1e-3)
    best = int(ratio.argmax())
    return best + long, float(ratio[best])


def pick_cable(data, threshold, short=60, long=1500):
    samples, channels = data.shape
    condition = Conditioner(samples)
    scales = np.empty(channels)
    picks = []
    for channel in range(channels):
        trace = data[:, channel]
        scales[channel] = condition(trace)
        sample, ratio = sta_lta(trace, short, long)
        if ratio > threshold:
            picks.append(Pick(channel, sample, ratio))
    return scales, picks


def apparent_velocity(picks, rate, spacing):
    far = [p for p in picks if p.channel > picks[len(picks) // 2].channel]
    x = np.array([p.channel for p in far]) * spacing
    t = np.array([p.sample for p in far]) / rate
    slope, _ = np.polyfit(x, t, 1)
    return 1.0 / slope


def main():
    cli = argparse.ArgumentParser()
    cli.add_argument("--channels", type=int, default=1600)
    cli.add_argument("--samples", type=int, default=16000)
    cli.add_argument("--threshold", type=float, default=4.0)
    a = cli.parse_args()

    device = Interrogator(a.channels, rate=500.0, spacing=8.0, seed=5)
    data = device.record(a.samples)
    scales, picks = pick_cable(data, a.threshold)
    print(f"channels {a.channels}  picks {len(picks)}")
    print(f"scale mean {scales.mean():.4f}  min {scales.min():.4f}  max {scales.max():.4f}")
    for p in picks[:: max(1, len(picks) // 10)]:
        print(f"channel {p.channel:5d}  sample {p.sample:6d}  ratio {p.ratio:7.3f}")
    print(f"apparent velocity {apparent_velocity(picks, device.rate, device.spacing):.1f}")


if __name__ == "__main__":
    main()
