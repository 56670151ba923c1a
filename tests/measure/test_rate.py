"""Sampling rates, and the facts of the machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.measure import machine
from chathpc.measure.profiler import HIGHEST, HIGHEST_WAITING, LOWEST, USUAL, kernel_limit, sampling_rate


@pytest.mark.parametrize(
    ("cpu_seconds", "rate"),
    [(10.0, 1001), (20.0, 501), (100.0, 101), (0.001, HIGHEST - 1), (1e6, LOWEST), (0.0, HIGHEST - 1)],
)
def test_ten_thousand_samples_within_bounds(cpu_seconds: float, rate: int) -> None:
    assert sampling_rate(cpu_seconds) == rate


def test_a_program_that_hardly_computes_is_looked_at_more_often() -> None:
    assert sampling_rate(0.02, 0.03) == HIGHEST - 1
    assert sampling_rate(0.02, 1.0) == HIGHEST_WAITING - 1
    assert sampling_rate(2.0, 100.0) == 5001
    assert sampling_rate(2.0, 5.9) == HIGHEST - 1


def test_what_neither_computes_nor_leaves_a_core_idle_lacks_one(tmp_path: Path) -> None:
    tick = len(os.sched_getaffinity(0)) / os.sysconf("SC_CLK_TCK")
    assert machine.without_core(3.0, 1.0, 50.0, 50.0) == pytest.approx(2.0 - tick)
    assert machine.without_core(3.0, 1.0, 50.0, 50.5) == pytest.approx(1.5 - tick)
    assert machine.without_core(3.0, 0.0, 50.0, 53.0) == 0.0  # asleep
    assert machine.without_core(3.0, 6.0, 50.0, 50.0) == 0.0  # two threads
    assert machine.without_core(3.0, 1.0, None, None) == 0.0
    assert machine.without_core(3.0, 0.0, 50.0, 50.0, 0.1) == 0.1  # asleep while others compute
    assert machine.without_core(3.0, 1.0, 50.0, 50.5, 4.0) == pytest.approx(1.5 - tick)
    lacked = machine.without_core(4.0, 0.6, 50.0, 50.2)
    assert sampling_rate(0.6, 4.0) > HIGHEST
    assert sampling_rate(0.6, 4.0 - lacked) == HIGHEST - 1
    lines = [f"cpu{core} 9 9 9 {100 * (core + 1)} 50 9 9" for core in range(max(os.sched_getaffinity(0)) + 2)]
    (tmp_path / "stat").write_text("cpu 9 9 9 9999 9 9\n" + "\n".join(lines) + "\nintr 1\n")
    expected = sum(100 * (core + 1) + 50 for core in os.sched_getaffinity(0)) / os.sysconf("SC_CLK_TCK")
    assert machine.idle_seconds(tmp_path / "stat") == expected
    assert machine.idle_seconds(tmp_path / "none") is None


def test_without_a_time_the_usual_rate() -> None:
    assert sampling_rate(None) == USUAL


@given(st.floats(0, 1e9))
def test_rates_are_odd_so_that_they_do_not_fall_into_step(cpu_seconds: float) -> None:
    rate = sampling_rate(cpu_seconds)
    assert rate % 2 == 1
    assert LOWEST <= rate < HIGHEST


def test_the_kernels_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "limit").write_text("250\n")
    assert kernel_limit(tmp_path / "limit") == 250
    assert kernel_limit(tmp_path / "absent") == HIGHEST


def test_facts_are_those_of_proc_and_name_nobody(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: Synthetic 9000\n")
    (tmp_path / "meminfo").write_text("MemTotal:       2048 kB\n")
    (tmp_path / "governor").write_text("powersave\n")
    for number, (level, size) in enumerate([("1", "32K"), ("2", "512K"), ("3", "32M")]):
        (tmp_path / f"index{number}").mkdir()
        (tmp_path / f"index{number}" / "level").write_text(f"{level}\n")
        (tmp_path / f"index{number}" / "size").write_text(f"{size}\n")
    facts = machine.facts(tmp_path / "cpuinfo", tmp_path / "meminfo", tmp_path / "governor", tmp_path)
    assert facts["cache"] == str(32 << 20)
    assert (facts["processor"], facts["memory"], facts["governor"]) == ("Synthetic 9000", "2097152", "powersave")
    assert set(facts) <= {
        "processor",
        "architecture",
        "cores",
        "memory",
        "cache",
        "system",
        "governor",
        "load",
        "counters",
    }


@pytest.mark.parametrize(
    ("units", "told"),
    [
        (["software", "msr"], "none"),
        (["software", "cpu"], None),
        (["cpu_atom", "cpu_core"], None),
        (["armv8_pmuv3_0"], None),
        ([], None),
    ],
)
def test_a_machine_without_hardware_counters_says_so(tmp_path: Path, units: list[str], told: str | None) -> None:
    for unit in units:
        (tmp_path / unit).mkdir()
    assert machine.facts(counters=tmp_path).get("counters") == told


def test_what_is_not_known_is_left_out(tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    assert not {"memory", "governor", "cache"} & set(machine.facts(absent, absent, absent, absent))
