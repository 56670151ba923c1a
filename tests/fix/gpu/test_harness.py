"""The harness judges kernels on a device of numpy: honest ones pass, and each kind of wrong one is found by what it does wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from chathpc.errors import ChathpcError
from chathpc.fix.gpu import device as device_module
from chathpc.fix.gpu.arrays import GUARD, POISONS, Arrays, drawn
from chathpc.fix.gpu.child import job, work
from chathpc.fix.gpu.device import Device, driver
from chathpc.fix.gpu.examine import DRAWS, REPEATS, Bench, Code
from chathpc.fix.gpu.plan import Argument, Plan
from tests.fix.gpu.stand_in import Api, Launch

N = 1000
PLAN = Plan(
    "scale", "scale.cu", (4, 1, 1), (256, 1, 1), 0,
    (
        Argument("a", "float64", elements=N, role="in"),
        Argument("out", "float64", elements=N, role="out"),
        Argument("f", "float64", value=3.0),
        Argument("n", "int32", value=N),
    ),
    1e-9, 0.0,
)  # fmt: skip


def honest(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
    count = min(int(n), launch.threads)
    launch.at(out, "float64", 0, count)[:] = launch.at(a, "float64", 0, count) * f


def nothing(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
    pass


def half(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
    launch.at(out, "float64", 0, n // 2)[:] = launch.at(a, "float64", 0, n // 2) * f


def behind(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
    honest(launch, a, out, f, n)
    launch.at(out, "float64", n, n + 1)[:] = 0.0


def before(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
    honest(launch, a, out, f, n)
    launch.at(a, "float64", -2, -1)[:] = 0.0


def single(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
    values = launch.at(a, "float64", 0, n).astype(np.float32) * np.float32(f)
    launch.at(out, "float64", 0, n)[:] = values


def adds(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
    launch.at(out, "float64", 0, n)[:] += launch.at(a, "float64", 0, n) * f


def constant(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
    launch.at(out, "float64", 0, n)[:] = 1.5


def changes_input(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
    honest(launch, a, out, f, n)
    launch.at(a, "float64", 3, 4)[:] = 0.0


def not_a_number(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
    honest(launch, a, out, f, n)
    launch.at(out, "uint64", 5, 6)[:] = 0x7FF8000000000001


def faults(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
    launch.fault()


def now_and_then(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
    honest(launch, a, out, f, n)
    if launch.number % 3 == 0:
        launch.at(out, "float64", 7, 8)[:] *= 2


def keeps(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
    kept = launch.state.setdefault("answer", launch.at(a, "float64", 0, int(n)) * f)
    launch.at(out, "float64", 0, int(n))[:] = kept


def bench(
    changed: Callable[..., None], plan: Plan = PLAN, original: Callable[..., None] = honest, cost: Any = None
) -> Bench:
    api = Api({"k0": original, "k1": changed}, cost or (lambda symbol: 50.0))
    return Bench(Device(api), Code(b"", "k0", plan), Code(b"", "k1", plan), np.random.default_rng(5))


def test_an_honest_kernel_agrees() -> None:
    found = bench(honest).answers()
    assert found.status == "same"
    # Each draw: the original with both poisons, once more the first time; the change with both, repeated.
    assert found.runs == DRAWS * len(POISONS) * (1 + REPEATS) + 1


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        (nothing, f"leaves {N:,} of {N:,} elements of out unwritten, the first at 0"),
        (half, f"leaves {N - N // 2:,} of {N:,} elements of out unwritten, the first at {N // 2}"),
        (behind, "writes behind the end of out"),
        (before, "writes before the start of a"),
        (single, "elements of out another value"),
        (constant, "elements of out another value"),
        (changes_input, "changes the read-only a"),
        (not_a_number, "gives 1 of 1,000 elements of out another value, the first at 5: nan for"),
        (faults, "fails: cuCtxSynchronize failed: an illegal memory access"),
        (now_and_then, "gives 1 of 1,000 elements of out another value, the first at 7"),
        (adds, "elements of out"),
    ],
)
def test_a_wrong_kernel_is_found_by_what_it_does(kernel: Callable[..., None], said: str) -> None:
    found = bench(kernel).answers()
    assert found.status == "wrong"
    assert said in found.statement


def test_the_zones_tell_how_far_away_a_write_is() -> None:
    assert "(8 bytes, the nearest 0 bytes away)" in bench(behind).answers().statement
    # Elements −2: it ends 8 bytes before the first; its bytes may equal the zone's by chance, seed 5 does not.
    assert "the nearest 9 bytes away" in bench(before).answers().statement


def test_another_order_of_operations_is_within_the_tolerance() -> None:
    def reordered(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
        values = launch.at(a, "float64", 0, int(n))
        launch.at(out, "float64", 0, int(n))[:] = values / (1.0 / f)

    assert bench(reordered).answers().status == "same"
    assert bench(reordered, replace(PLAN, relative=0.0)).answers().status == "wrong"


@pytest.mark.parametrize(
    ("original", "said"),
    [
        (behind, "the original itself writes behind the end of out"),
        (adds, "depends on its previous contents: declare role: inout for it"),
        (faults, "the original fails"),
    ],
)
def test_nothing_is_told_where_the_original_is_no_measure(original: Callable[..., None], said: str) -> None:
    found = bench(honest, original=original).answers()
    assert found.status == "refused"
    assert said in found.statement


def test_an_original_that_says_something_else_each_time_is_no_measure() -> None:
    def drifts(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
        honest(launch, a, out, f, n)
        launch.at(out, "float64", 7, 8)[:] += launch.number

    plan = replace(
        PLAN, arguments=tuple(replace(one, role="inout") if one.name == "out" else one for one in PLAN.arguments)
    )
    found = bench(honest, plan, original=drifts).answers()
    assert found.status == "refused"
    assert "two runs of the original disagree" in found.statement


def test_what_is_read_and_written_starts_with_the_same_contents_each_time() -> None:
    plan = replace(
        PLAN, arguments=tuple(replace(one, role="inout") if one.name == "out" else one for one in PLAN.arguments)
    )
    assert bench(adds, plan, original=adds).answers().status == "same"
    timed = bench(adds, plan, original=adds).timed(60.0)
    assert timed.status == "same"


def test_a_plain_write_to_the_copy_that_launches_are_restored_from_is_found() -> None:
    plan = replace(
        PLAN, arguments=tuple(replace(one, role="inout") if one.name == "out" else one for one in PLAN.arguments)
    )
    made = bench(adds, plan, original=adds)
    arrays = made._arrays["changed"]
    arrays.fill(drawn(plan, np.random.default_rng(1)), POISONS[0])
    (_, source, _), *_ = arrays.restores()
    assert arrays.pristine_faults() == []
    made.device.fill(source, 0, 8)
    assert arrays.pristine_faults() == ["writes to memory that is not its own (the copy of out)"]


def test_a_kernel_twice_as_fast_by_events_is_told_so() -> None:
    random = np.random.default_rng(8)
    found = bench(honest, cost=lambda symbol: (100.0 if symbol == "k0" else 50.0) * random.normal(1, 0.01)).timed(60.0)
    assert found.timing is not None
    assert found.timing.outcome == "faster"
    assert found.timing.low < 2.0 < found.timing.high or found.timing.ratio == pytest.approx(2.0, rel=0.01)
    # 20 ms is the least that is judged: at 100 µs that is 200 launches and a quarter more.
    assert found.runs / (2 * found.timing.pairs) == pytest.approx(250, rel=0.05)


def test_a_device_that_was_idle_is_slow_at_first() -> None:
    """Clocks rise after some milliseconds: what the first launches take says too little of how many are needed."""
    slow = iter([500.0] * 40)
    found = bench(honest, cost=lambda symbol: next(slow, 100.0)).timed(60.0)
    assert found.timing is not None
    assert found.timing.outcome == "inconclusive"
    assert found.runs / (2 * found.timing.pairs) == pytest.approx(250, rel=0.05)


def test_the_same_kernel_is_not_faster() -> None:
    random = np.random.default_rng(9)
    found = bench(honest, cost=lambda symbol: 80.0 * random.normal(1, 0.02)).timed(60.0)
    assert found.timing is not None
    assert found.timing.outcome in ("inconclusive", "slower")


def test_a_slower_kernel_is_slower() -> None:
    found = bench(honest, cost=lambda symbol: 100.0 if symbol == "k0" else 130.0).timed(60.0)
    assert found.timing is not None
    assert found.timing.outcome == "slower"


def test_a_kernel_too_short_to_be_timed_is_invalid() -> None:
    found = bench(honest, cost=lambda symbol: 1.0).timed(60.0)
    assert found.timing is not None
    assert found.timing.outcome == "invalid"  # 4,000 launches of 1 µs are 4 ms


def test_answers_of_timed_runs_are_compared() -> None:
    # Right while it is looked at, wrong when the same module is launched again: it keeps its first answer.
    assert bench(keeps).answers().status == "same"
    found = bench(keeps).timed(60.0)
    assert found.status == "wrong"
    assert "while it is timed" in found.statement


def test_the_second_level_cache_is_emptied_before_each_timed_launch() -> None:
    made = bench(honest)
    made.timed(60.0)
    api = made.device.api
    assert api.flushed.count(2 * 4096) == len(api.launches)


def test_poison_is_no_number_in_floating_point() -> None:
    for kind in (np.float32, np.float64):
        assert np.isnan(np.full(np.dtype(kind).itemsize, 0xFF, np.uint8).view(kind)).all()
        assert np.isfinite(np.full(np.dtype(kind).itemsize, 0x3F, np.uint8).view(kind)).all()


def test_arrays_lie_between_zones_of_their_own() -> None:
    arrays = Arrays(Device(Api({})), PLAN, np.random.default_rng(0))
    arrays.fill(drawn(PLAN, np.random.default_rng(0)), 0xFF)
    a, out = arrays.address("a"), arrays.address("out")
    assert out - a >= 8 * N + 2 * GUARD
    assert a % 256 == 0
    assert arrays.result().faults == ()
    assert np.isnan(arrays.result().arrays["out"]).all()


def test_inputs_lie_within_their_bounds_and_differ_by_seed() -> None:
    plan = replace(PLAN, arguments=(Argument("i", "int16", elements=5000, role="in", low=-3, high=4),))
    one, other = (drawn(plan, np.random.default_rng(seed))["i"] for seed in (1, 2))
    assert set(np.unique(one)) == set(range(-3, 5))
    assert not np.array_equal(one, other)


def test_a_job_goes_through_json_and_is_answered() -> None:
    import json

    api = Api({"k0": honest, "k1": half})
    asked = json.loads(json.dumps(job(Code(b"\x7fELF", "k0", PLAN), Code(b"", "k1", PLAN), 3, 0.0)))
    device = Device(api)
    found = json.loads(json.dumps(work(asked, device)))
    device.close()
    assert found["status"] == "wrong"
    assert api.contexts == 0


def test_a_job_with_timing_has_the_judgement() -> None:
    api = Api({"k0": honest, "k1": honest}, lambda symbol: 100.0 if symbol == "k0" else 70.0)
    found = work(job(Code(b"", "k0", PLAN), Code(b"", "k1", PLAN), 3, 30.0), Device(api))
    assert found["status"] == "same"
    assert found["timing"]["outcome"] == "faster"


def test_a_launch_has_the_declared_shape() -> None:
    plan = replace(PLAN, grid=(2, 3, 1), block=(32, 4, 1), shared=2048)
    made = bench(nothing, plan, original=nothing)
    made.answers()
    assert set(made.device.api.launches) == {("k0", (2, 3, 1), (32, 4, 1), 2048), ("k1", (2, 3, 1), (32, 4, 1), 2048)}


def test_without_pycuda_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError("No module named 'pycuda'", name="pycuda")

    monkeypatch.setattr(device_module, "import_module", missing)
    with pytest.raises(ChathpcError) as caught:
        driver()
    assert caught.value.message == "Kernels cannot be run here: pycuda is not installed."
    assert "chathpc[gpu]" in caught.value.hint


def test_without_a_driver_or_a_device_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    api = Api({})
    monkeypatch.setattr(device_module, "import_module", lambda name: api)
    assert driver() is api
    monkeypatch.setattr(api.Device, "count", staticmethod(lambda: 0))
    with pytest.raises(ChathpcError, match="there is no device"):
        driver()

    def fails(flags: int = 0) -> None:
        raise api.Error("cuInit failed: no CUDA-capable device is detected")

    monkeypatch.setattr(api, "init", fails)
    with pytest.raises(ChathpcError, match="no CUDA-capable device is detected"):
        driver()
