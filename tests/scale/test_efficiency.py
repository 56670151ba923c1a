"""POP's efficiencies by their definitions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from chathpc.comparison.run import Run as Measured
from chathpc.errors import UsageError
from chathpc.profile.location import Locations
from chathpc.profile.profile import Profile
from chathpc.scale.efficiency import efficiencies_of
from chathpc.scale.loss import costs_of
from chathpc.scale.scaling import scaling_of
from chathpc.scale.series import Kind, Run, Series, read_series, series_of
from chathpc.scale.spread import spread
from tests.diagnosis.parts import function, main
from tests.profile.build import build, call, gpu_op, kernel
from tests.scale.made import alone, each, even, series, strong
from tests.synthetic.nsight_systems import H2D, Export


def test_they_are_ratios_of_times_and_multiply() -> None:
    found = strong({"solve": even(8.0), "setup": alone(1.0), "again": each(0.5)}, each(0.25))
    at = efficiencies_of(costs_of(found))[2]
    useful_mean, useful_most, elapsed = 8 / 4 + 1 / 4 + 0.5, 8 / 4 + 1 + 0.5, 8 / 4 + 1 + 0.5 + 0.25
    assert at.value == 4
    assert at.balance == pytest.approx(useful_mean / useful_most)
    assert at.communication == pytest.approx(useful_most / elapsed)
    assert at.parallel == pytest.approx(useful_mean / elapsed)
    assert at.computation == pytest.approx(9.5 / (4 * useful_mean))
    assert at.overall == pytest.approx(9.5 / (4 * elapsed))
    assert at.speedup == pytest.approx(9.75 / elapsed)
    assert (at.serialisation, at.instructions) == (None, None)


def test_under_weak_scaling_each_worker_counts() -> None:
    found = strong({"solve": each(8.0), "merge": lambda count: (0.25 * count,) * count})
    assert efficiencies_of(costs_of(found))[-1].computation == pytest.approx(8.25 / 12)


def test_one_worker_has_no_efficiencies_to_tell() -> None:
    found = strong({"solve": even(8.0)}, counts=(2, 4))
    assert all(at.balance == pytest.approx(1.0) for at in efficiencies_of(costs_of(found)))


def test_calls_that_await_devices_are_a_factor_of_their_own() -> None:
    def run(count: int) -> Profile:
        wait = call(
            "cudaDeviceSynchronize [libcudart.so.12]",
            module="/usr/lib/libcudart.so.12",
            time=each(1.0)(count) if count > 1 else 1.0,
        )
        return build(main(function("solve", wait, time=even(8.0)(count) if count > 1 else 8.0)), timed=True)

    found = series("threads", {count: run(count) for count in (1, 2, 4)})
    at = efficiencies_of(costs_of(found))[-1]
    assert (at.communication, at.offload) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert (at.mpi, at.threads) == (1, 1)


def _on_gpus(folder: Path, kernels: Sequence[int], copy: int, idle: int = 0) -> Path:
    """A trace of one GPU for each of the kernels, with its nanoseconds; each copies at first, then waits `idle`. All wait for the longest."""
    export = Export()
    export.process(7, "app")
    begin, end = 500_000, 500_000 + max(kernels) + copy + idle
    for gpu, took in enumerate(kernels):
        export.gpu(gpu, "GPU")
        copied = export.call(1000 * gpu, 1000 * gpu + 500, "cudaMemcpyAsync")
        export.copy(begin, begin + copy, H2D, 4096, copied, device=gpu)
        launch = export.call(5000 + 1000 * gpu, 5000 + 1000 * gpu + 500, "cudaLaunchKernel")
        export.kernel(begin + copy + idle, begin + copy + idle + took, "solve(float*)", launch, device=gpu)
    export.call(10_000, end, "cudaDeviceSynchronize")
    return export.write(folder / f"gpus{len(kernels)}.sqlite")


@pytest.fixture
def traces(tmp_path: Path) -> Series:
    """Kernels of 80 ms on one GPU, of 20 and 10 ms on four; 4 ms of copies and as much of idle time on each."""
    for kernels in ((80_000_000,), (40_000_000, 20_000_000), (20_000_000, 10_000_000, 10_000_000, 10_000_000)):
        _on_gpus(tmp_path, kernels, 4_000_000, 4_000_000)
    return read_series([tmp_path])


def test_p_is_called_what_it_counts(traces: Series) -> None:
    """So that names of a job's runs, which have the full word, go with it."""
    for run, name in zip(traces.runs, ("p1", "p2", "gpus=4"), strict=True):
        (run.path.parent / name).mkdir()
        run.path.rename(run.path.parent / name / "trace.sqlite")
    found = read_series([traces.runs[0].path.parent])
    assert (found.parameter, found.values) == ("GPUs", [1, 2, 4])


def test_devices_have_their_own_factors(traces: Series) -> None:
    assert (traces.parameter, traces.values) == ("GPUs", [1, 2, 4])
    at = efficiencies_of(costs_of(traces))[-1]
    assert at.device_balance == pytest.approx(12.5 / 20)
    assert at.device_copies == pytest.approx(20 / 24)
    assert at.device_use == pytest.approx(24 / 28)
    assert at.devices == pytest.approx(12.5 / 28)


def test_where_only_devices_were_traced_they_are_the_workers(traces: Series) -> None:
    costs = costs_of(traces)
    found = scaling_of(traces, [{"GPUs": 16.0}])
    assert (found.kind, found.verdict) == ("strong", "loses")
    assert [point.workers for point in found.points] == [1, 2, 4]
    assert costs.elapsed == pytest.approx([0.088, 0.048, 0.028])
    at = found.points[-1]
    assert (at.balance, at.communication) == (pytest.approx(12.5 / 20), pytest.approx(20 / 28))
    assert (at.mpi, at.offload, at.threads) == (None, None, None)
    # Of 28 ms: 7.5 of kernels on one GPU alone; 3 each of copies and of idle time more than a quarter of what one GPU has.
    named = {each.name: (each.loss, each.share) for each in found.findings}
    assert named == {
        "solve": ("uneven", pytest.approx(7.5 / 28)),
        "copies to the device": ("waiting", pytest.approx(3 / 28)),
        "idle GPU": ("waiting", pytest.approx(3 / 28)),
    }


def test_devices_alone_have_no_spread_over_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    for count in (2, 4):
        times = (1.0 / count,) * count
        solve = kernel("solve", values={"gpu.time": times, "gpu.kernel.time": times})
        found = build(gpu_op("device", solve), locations=Locations.of(count, gpu_context=np.arange(count)))
        runs.append(Run(Path(f"gpus{count}"), Measured(found, found.metrics["gpu.time"]), {"GPUs": float(count)}))
    record = scaling_of(series_of(runs, "as given"))
    assert (record.spread, record.loss) == (None, pytest.approx(0.0))
    monkeypatch.setattr("chathpc.scale.spread._opened", lambda path: runs[0].profile)
    with pytest.raises(UsageError, match="no ranks or threads"):
        spread([Path("gpus2")], metric="gpu.time")


def hybrid(counts: Sequence[int]) -> Series:
    """Ranks of two threads that share 8 s; those of the first rank take half as long again. Instructions grow by a tenth each time."""
    runs = []
    for step, ranks in enumerate(counts):
        share = 8.0 / (2 * ranks)
        times = (1.5 * share, share) + (share, share) * (ranks - 1)
        values = {
            "cpu.time": times,
            "cpu.cycles": tuple(each * 2e9 for each in times),
            "cpu.instructions": tuple(each / sum(times) * 1e9 * 1.1**step for each in times),
        }
        where = {"rank": np.repeat(np.arange(ranks), 2), "thread": np.tile([0, 1], ranks)}
        found = build(main(call("solve", values=values)), locations=Locations.of(2 * ranks, **where), timed=True)
        runs.append(Run(Path(f"ranks{ranks}"), Measured(found, found.metric("cpu.time")), {"ranks": float(ranks)}))
    return series_of(runs, "as given", kind=Kind.STRONG)


def test_ranks_of_threads_have_the_balance_of_each() -> None:
    found = hybrid((2, 4))
    _, last = efficiencies_of(costs_of(found))
    assert last.workers == 8
    assert last.balance == pytest.approx((8.5 / 8) / 1.5)
    assert last.balance_ranks == pytest.approx((8.5 / 4) / 2.5)
    assert last.balance_threads == pytest.approx(2.5 / 2 / 1.5)
    assert (last.mpi, last.threads, last.offload) == (1.0, 1.0, None)


def test_counters_part_computation_scaling() -> None:
    found = hybrid((2, 4))
    _, last = efficiencies_of(costs_of(found))
    assert last.instructions == pytest.approx(1 / 1.1)
    assert last.frequency == pytest.approx(1.0)
    assert last.instructions * last.ipc * last.frequency == pytest.approx(last.computation)
