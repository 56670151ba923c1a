from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chathpc.errors import ModelUnavailableError
from chathpc.llm import engine
from chathpc.llm.engine import EngineOptions, free_cores


def two_readings(busy: list[int], ticks: int = 100) -> Callable[[], dict[int, tuple[int, int]]]:
    """A clock of cores that were busy for `busy` of `ticks` ticks between two readings."""
    readings = iter([dict.fromkeys(range(len(busy)), (0, 0)), {core: (b, ticks) for core, b in enumerate(busy)}])
    return lambda: next(readings)


@pytest.mark.parametrize(
    ("busy", "allowed", "free"),
    [
        ([0, 0, 0, 0], {0, 1, 2, 3}, 4),
        ([100, 100, 0, 5], {0, 1, 2, 3}, 2),
        ([100, 100, 0, 0], {2, 3}, 2),  # what others do on cores that are not ours does not matter
        ([30, 30, 0, 0], {0, 1, 2, 3}, 3),
        ([100, 100, 100, 100], {0, 1, 2, 3}, 1),  # one is always taken
        ([0] * 64, set(range(64)), engine.MOST_THREADS),
    ],
)
def test_threads_are_the_cores_that_nobody_else_uses(
    busy: list[int], allowed: set[int], free: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(engine, "_quota", lambda: engine.MOST_THREADS)
    assert free_cores(allowed=allowed, busy_jiffies=two_readings(busy), sample=0) == free


def test_omp_num_threads_bounds_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_quota", lambda: engine.MOST_THREADS)
    monkeypatch.setenv("OMP_NUM_THREADS", "2,4")
    assert free_cores(allowed=range(8), busy_jiffies=two_readings([0] * 8), sample=0) == 2


def test_on_this_machine_there_is_a_core() -> None:
    assert free_cores(sample=0.02) >= 1


@pytest.mark.parametrize(
    ("text", "cores"),
    [("max 100000", engine.MOST_THREADS), ("150000 100000", 2), ("5000 100000", 1), ("x", engine.MOST_THREADS)],
)
def test_a_quota_of_the_control_group_counts_in_whole_cores(text: str, cores: int, tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text(text)
    assert engine._quota(tmp_path) == cores


def test_ticks_are_read_as_proc_documents_them(tmp_path: Path) -> None:
    path = tmp_path / "stat"
    path.write_text("cpu  9 9 9 9 9 9 9 9 0 0\ncpu3 10 1 5 100 20 2 3 4 0 0\nintr 7\n")
    assert engine._jiffies(path) == {3: (25, 145)}  # busy: user nice system irq softirq steal
    assert engine._jiffies(tmp_path / "missing") == {}


def test_an_engine_that_does_not_load_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_name: str) -> None:
        raise OSError("libgomp.so.1: cannot open shared object file")

    monkeypatch.setattr(engine, "import_module", broken)
    with pytest.raises(ModelUnavailableError, match=r"xllamacpp cannot be loaded: libgomp") as caught:
        engine.load("xllamacpp", EngineOptions(Path("m.gguf"), 512, 1))
    assert "local-wheel" in caught.value.hint


def test_the_version_of_an_engine_that_is_not_there_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(engine.ENGINES, "nothing", "no-such-distribution")
    assert engine.engine_version("nothing") == "unknown"
