"""Recordings with more switches than are read: times by arithmetic on a schedule that repeats itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.adapters.linux_perf import switches
from chathpc.adapters.linux_perf.script import read
from tests.adapters.linux_perf.test_wall_clock import MAIN, WORK, Recording, spent

#: Microseconds: a thread computes alone for a second, then two take turns of 70 and 30 for four more.
SERIAL, END, TURN, BUSY = 1_000_000, 5_000_000, 100, 70


def recording(path: Path) -> Path:
    """Its text; thread 7 is sampled each 997 microseconds."""
    made = Recording().back(0, tid=8).sample(10, MAIN, WORK, tid=8).out(50, tid=8).back(60)
    for at in range(100, END, 997):
        made.sample(at, MAIN, WORK)
    for at in range(SERIAL, END, TURN):
        made.out(at + BUSY).back(at + BUSY, tid=8).out(at + TURN - 1, tid=8).back(at + TURN)
    path.write_text(made.text)
    return path


def test_switches_in_parts_of_the_run_stand_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, threads = recording(tmp_path / "perf.txt"), 2
    monkeypatch.setattr(switches, "MOST", 16_000)
    profile = read(path)
    assert sum(spent(profile).values()) == pytest.approx(threads * END, rel=0.03)
    blocked = sum(value for name, value in spent(profile).items() if name.endswith("<blocked>"))
    # Thread 7 waits for 30 of 100, thread 8 for 71 of them and before.
    assert blocked == pytest.approx((END - SERIAL) * (0.30 + 0.71) + SERIAL, rel=0.03)
    assert profile.caveats[0] == (
        "The threads switched 160,003 times: of each 100 ms the switches in 10 ms were read, and stand for the others."
    )


def test_a_text_that_was_bounded_says_the_same_and_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = recording(tmp_path / "perf.txt")
    monkeypatch.setattr(switches, "MOST", 16_000)
    before, size = read(path), path.stat().st_size
    switches.bound(path)
    assert path.stat().st_size < size / 4
    bounded = path.read_bytes()
    switches.bound(path)
    assert path.read_bytes() == bounded
    after = read(path)
    assert spent(after) == spent(before)
    assert after.caveats == before.caveats


def test_few_switches_are_all_read(tmp_path: Path) -> None:
    path = recording(tmp_path / "perf.txt")
    whole = path.read_bytes()
    switches.bound(path)
    assert path.read_bytes() == whole
    assert not any("switched" in caveat for caveat in read(path).caveats)
