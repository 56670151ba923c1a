"""`chathpc predict --on`: kernels of a profile on other GPUs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from chathpc.predict.compilers import ToolkitMissingError, find_toolkit
from chathpc.predict.devices import device
from tests.adapters.nsight_compute.runs import DEVICE, DRAM, DURATION, DYNAMIC
from tests.commands.conftest import Result
from tests.synthetic.gpu_program import Program, write_nsys
from tests.synthetic.nsight_compute import Run as Launched
from tests.synthetic.nsight_compute import raw_page

Run = Callable[..., Result]
SCHEMA = Path(__file__).parents[2] / "docs" / "devices-schema.json"
PROGRAMS = Path(__file__).parents[1] / "predict" / "programs"
ACTIVE = ".avg.pct_of_peak_sustained_active"
A100 = DEVICE | {"device__attribute_display_name": ("NVIDIA A100-SXM4-40GB", "")}


def counted(seconds: float, **metrics: tuple[float, str]) -> dict[str, tuple[float | str | None, str]]:
    return {**A100, DURATION: (seconds * 1e9, "ns"), DYNAMIC: (2048.0, "byte/block"), **metrics}


@pytest.fixture
def counters(tmp_path: Path) -> Path:
    """3 ms of a copy that fills the memory of an A100 (1555 GB/s), 1 ms of double precision at 95 % of its pipe."""
    copy = counted(3e-3, **{DRAM: (98.0, "%"), "dram__bytes.sum.per_second": (1524e9, "byte/s")})
    double = counted(1e-3, **{"sm__pipe_fp64_cycles_active" + ACTIVE: (95.0, "%")})
    runs = [
        Launched(name, values, grid=(54_000, 1, 1), block=(256, 1, 1))
        for name, values in (("copy(int)", copy), ("solve<double>(int)", double))
    ]
    path = tmp_path / "run.csv"
    path.write_text(raw_page(runs))
    return path


def ranked(run: Run, *words: object) -> dict[str, Any]:
    result = run("predict", *map(str, words), "--format", "json", "-q")
    assert (result.code, result.err) == (0, "")
    data: dict[str, Any] = json.loads(result.out)
    jsonschema.validate(data, json.loads(SCHEMA.read_text()))
    return data


def test_devices_are_ranked_by_what_counters_say(run: Run, counters: Path) -> None:
    data = ranked(run, "--profile", counters, "--on", "rtx3090", "--on", "a100-sxm-80")
    # The card that was measured is there as well; double precision of an RTX 3090 is a seventeenth of an A100's.
    assert [each["device"]["key"] for each in data["devices"]] == ["a100-sxm-80", "a100-sxm-40", "rtx3090"]
    assert data["seconds"] == pytest.approx(4e-3)
    copy, double = data["kernels"]
    assert (copy["kernel"], copy["basis"], copy["blocks"], copy["threads"]) == ("copy(int)", "counters", 54_000, 256)
    assert copy["bytes"] == pytest.approx(1524e9 * 3e-3, rel=0.01)
    assert copy["on"]["a100-sxm-40"]["seconds"]["value"] == pytest.approx(3e-3)
    assert copy["on"]["a100-sxm-80"]["seconds"]["value"] == pytest.approx(3e-3 * 1555 / 2039, rel=0.03)
    slower = device("a100-sxm-40").rate("fp64") / device("rtx3090").rate("fp64")
    assert double["on"]["rtx3090"]["seconds"]["value"] == pytest.approx(1e-3 * slower, rel=0.15)
    assert [each["on"]["rtx3090"]["limiter"] for each in (copy, double)] == ["memory", "fp64"]
    for each in data["devices"]:
        times = [kernel["on"][each["device"]["key"]]["seconds"]["value"] for kernel in data["kernels"]]
        assert each["seconds"]["value"] == pytest.approx(sum(times))
        assert each["speedup"]["value"] == pytest.approx(4e-3 / sum(times))


def test_the_text_is_a_screen_and_markdown_shows_names_as_they_are(run: Run, counters: Path) -> None:
    text = run("predict", "--profile", str(counters), "--on", "all", "-q").out
    assert len(text.splitlines()) <= 40
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "FASTEST" in text
    assert "a100-sxm-40 *" in text
    markdown = run("predict", "--profile", str(counters), "--on", "h100", "--format", "markdown", "-q").out
    assert "| `solve<double>` |" in markdown


def test_a_device_that_no_catalogue_has_is_what_its_driver_tells(run: Run, tmp_path: Path) -> None:
    program = Program()
    for _ in range(2):
        program.launch("copy(int)", 900.0)
        program.sync()
        program.work(1000.0)
    path = write_nsys(tmp_path / "run.sqlite", program)
    data = ranked(run, "--profile", path, "--on", "a100-sxm-40")
    own = data["measured_on"]
    assert (own["units"], own["clock"], own["architecture"]) == (108, 1.41e9, "sm_80")
    (copy,) = data["kernels"]
    assert (copy["basis"], copy["on"]["a100-sxm-40"]["limiter"]) == ("nothing", "")
    # The host's part of the run between the two stays.
    assert data["seconds"] == pytest.approx(1.8e-3)
    assert data["other"] == pytest.approx(1e-3, rel=0.05)
    assert data["devices"][0]["seconds"]["value"] == pytest.approx(data["seconds"] + data["other"], rel=0.1)
    assert any("No counters and no source" in each for each in data["notes"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "There is nothing to predict."),
        (("--on", "h100"), "There is nothing to predict."),
        (("a.cu", "--on", "h100"), "--on needs --profile"),
        (("--profile", "run.csv", "--on", "all", "--format", "svg"), "not svg"),
        (("--profile", "run.csv", "--on", "epyc-7742"), "Kernels do not move to processors"),
        (("--profile", "run.csv", "--on", "all", "--kernel", "other"), "has no times of other"),
    ],
)
def test_wrong_usage_says_what_to_do(run: Run, counters: Path, words: tuple[str, ...], said: str) -> None:
    result = run("predict", *words, "-q")
    assert (result.code, result.out) == (2, "")
    assert said in result.err


def test_a_profile_of_an_unknown_device_asks_for_its_name(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text(raw_page([Launched("copy(int)", {DURATION: (1e6, "ns")})]))
    result = run("predict", "--profile", str(path), "--on", "h100", "-q")
    assert result.code == 2
    assert "--device a100" in result.err
    assert run("predict", "--profile", str(path), "--on", "h100", "--device", "a100", "-q").code == 0


@pytest.mark.proprietary
def test_the_source_tells_what_a_timeline_does_not(run: Run, tmp_path: Path) -> None:
    try:
        find_toolkit()
    except ToolkitMissingError:
        pytest.skip("NVIDIA's compiler is not there")
    program = Program()
    # 4,194,304 numbers, 12 bytes each, at 90 % of 1555 GB/s.
    program.launch("saxpy(int, float, const float*, float*)", 12 * 2048**2 / 1555e9 / 0.9 * 1e6, grid=2048**2 // 256)
    program.sync()
    path = write_nsys(tmp_path / "run.sqlite", program)
    words = (PROGRAMS / "three.cu", "--args", "2048 1", "--kernel", "saxpy", "--profile", path, "--on", "rtx3080")
    (saxpy,) = ranked(run, *words)["kernels"]
    assert (saxpy["basis"], saxpy["on"]["rtx3080"]["limiter"]) == ("source", "memory")
    assert saxpy["operations"]["fp32"] == 2 * 2048**2
    assert saxpy["bytes"] == pytest.approx(12 * 2048**2, rel=0.3)
    assert saxpy["on"]["rtx3080"]["seconds"]["value"] == pytest.approx(saxpy["seconds"] * 1555 / 760, rel=0.2)


def test_a_device_that_is_only_alike_is_said_to_be_and_what_has_no_time_is_left_out_aloud(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "run.csv"
    named = {"device__attribute_display_name": ("NVIDIA GeForce RTX 5070", "")}
    attributes = {"device__attribute_compute_capability_major": (12.0, "")}
    runs = [
        Launched("copy(int)", {**named, **attributes, DURATION: (1e6, "ns")}),
        Launched("flash(int)", {**named, **attributes, DURATION: (math.nan, "ns")}),
    ]
    path.write_text(raw_page(runs))
    refused = run("predict", "--profile", str(path), "--on", "h100", "-q")
    assert (refused.code, "--device rtx5060ti or rtx5080 or rtx5090" in refused.err, "a100" in refused.err) == (
        2,
        True,
        False,
    )
    text = " ".join(run("predict", "--profile", str(path), "--on", "rtx5090", "--device", "rtx5080", "-q").out.split())
    assert "measured on NVIDIA GeForce RTX 5070, taken to be like NVIDIA GeForce RTX 5080 (*)" in text
    assert "no times for them: flash." in text


def test_a_device_that_may_be_slower_as_well_is_not_called_the_fastest(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    busy = {DRAM: (98.0, "%")}
    path.write_text(raw_page([Launched("copy(int)", counted(3e-3, **busy), grid=(54_000, 1, 1), block=(256, 1, 1))]))
    # The memory of an A100-SXM4-80GB is 1.31 times as fast, that of an H200 3.1 times.
    near, far = (run("predict", "--profile", str(path), "--on", name, "-q").out for name in ("a100-sxm-80", "h200"))
    assert ("UNSURE" in near, "FASTEST" in near) == (True, False)
    assert "FASTEST  NVIDIA H200" in far


def test_times_are_asked_for_before_the_device(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text(raw_page([Launched("flash(int)", {DURATION: (math.nan, "ns")})]))
    assert "has no times of kernels" in run("predict", "--profile", str(path), "--on", "h100", "-q").err
