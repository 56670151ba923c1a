"""The next run, repetitions that are needed, runs that were disturbed, several parameters: against arithmetic."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chathpc.comparison.run import Run as Measured
from chathpc.errors import UsageError
from chathpc.reports.scaled import outlook_sentences
from chathpc.scale.laws import Fitted, Measurement, fit
from chathpc.scale.loss import costs_of
from chathpc.scale.outlook import Candidate, advise, costs_most, keeps, needed
from chathpc.scale.record import CrossingRecord, PointRecord
from chathpc.scale.scaling import scaling_of
from chathpc.scale.series import Kind, Run, Series, series_of
from chathpc.scale.words import mostly
from tests.scale.made import alone, even, profile, repeated, series, strong
from tests.scale.made import each as each_of


def timed(times: dict[float, list[float]]) -> Series:
    """Runs of one function that takes these seconds."""
    return repeated("n", {n: [profile(1, {"solve": even(each)}) for each in every] for n, every in times.items()})


def test_what_is_settled_needs_no_run() -> None:
    found = strong({"solve": even(8.0), "setup": alone(4.0)})
    record = scaling_of(found, [{found.parameter: 64.0}])
    assert record.next_run is not None
    assert (record.next_run.at, record.next_run.job, record.next_run.certainty) == (
        None,
        "",
        pytest.approx(1.0, abs=0.02),
    )


def test_what_is_open_is_asked_of_a_run_within_reach() -> None:
    rng = np.random.default_rng(3)

    def noisy(seconds: float) -> float:
        return float(seconds * (1 + 0.05 * rng.standard_normal()))

    sizes = (1000, 2000, 4000, 8000)
    # At n = 64,000 fill takes 64 s and pairs 0.0156 n² / 10⁶ = 64 s.
    found = series(
        "n", {n: profile(1, {"fill": even(noisy(n / 1e3)), "pairs": even(noisy((n / 1e3) ** 2 / 64))}) for n in sizes}
    )
    record = scaling_of(found, [{found.parameter: 64000.0}])
    assert record.next_run is not None
    assert record.next_run.question == "what costs most"
    assert record.next_run.at is not None
    assert 1000 <= record.next_run.at <= 64000
    assert record.next_run.bits > 0
    assert "chathpc measure" in record.next_run.job


def grown(power: int, *sizes: int, noise: float = 0.02) -> Series:
    """Runs that take (n/1000)^power s, and as much more or less as the noise is."""
    return timed({float(n): [(n / 1e3) ** power * each for each in (1, 1 + noise, 1 - noise)] for n in sizes})


@pytest.mark.parametrize(
    ("sizes", "target", "least", "most"),
    [
        ((1000, 2000), 100e3, 4000.0, 64e3),  # two values tell no law
        ((1000, 2000, 4000), 1e6, 1e6 / 64, 512e3),  # 250 times the largest
        ((1000, 2000), 1500.0, 1500.0, 1500.0),  # between them there is nothing cheaper
    ],
)
def test_where_nothing_can_be_extrapolated_a_run_makes_it_possible(
    sizes: tuple[int, ...], target: float, least: float, most: float
) -> None:
    record = scaling_of(grown(2, *sizes), [{"n": target}])
    found = record.next_run
    assert record.predictions[0].refusal
    assert found is not None
    assert found.purpose == "extrapolate"
    assert found.at is not None
    assert least <= found.at <= most
    assert "chathpc measure" in found.job
    after = scaling_of(grown(2, *sizes, int(found.at)), [{"n": target}]).predictions[0]
    assert after.elapsed is not None
    assert after.elapsed.value == pytest.approx((target / 1e3) ** 2, rel=0.15)


def test_where_one_run_is_not_enough_the_first_of_several_is_named() -> None:
    found = scaling_of(grown(1, 1000, 2000, noise=0.2), [{"n": 10e6}]).next_run
    assert found is not None
    assert found.purpose == "approach"
    assert found.at is not None
    assert 2000 < found.at < 1e6


def test_runs_that_are_there_already_are_not_advised_again() -> None:
    # Three runs at each scale, as many as give ± 5 % there: more of them would be the cheapest, and change nothing.
    times = {1: (0.406, 0.406, 0.472), 2: (0.275, 0.276, 0.292), 4: (0.165, 0.173, 0.168)}
    profiles = {n: [profile(n, {"solve": even(time * n)}) for time in every] for n, every in times.items()}
    found = repeated("ranks", profiles, Kind.STRONG)
    assert needed(costs_of(found)) <= 3
    record = scaling_of(found, [{"ranks": 256.0}])
    assert "ms there" in record.predictions[0].refusal
    assert record.next_run is not None
    assert record.next_run.at is not None
    assert record.next_run.at > 4


def test_what_was_measured_is_told_instead_of_a_prediction() -> None:
    found = series("ranks", {count: profile(count, {"solve": even(8.0)}, each_of(0.25)) for count in (1, 2, 4, 8)})
    (sentence,) = (told for told in outlook_sentences(scaling_of(found, [{"ranks": 4.0}])) if "overtake" not in told)
    # 2 s of computing and 0.25 s of messages.
    assert sentence == "At 4 ranks: 2.25 s, global efficiency 88.9 %, from these runs."


def test_nothing_is_said_of_waiting_that_may_overtake_computing_or_not() -> None:
    found = series("ranks", {count: profile(count, {"solve": even(8.0)}, each_of(0.25)) for count in (1, 2, 4, 8)})
    scaling = scaling_of(found, [{"ranks": 4.0}])
    for low, said in ((None, True), (2.4, False)):
        none = scaling.model_copy(update={"crossing": CrossingRecord(value=None, low=low, high=None, refusal="")})
        assert any("does not overtake" in told for told in outlook_sentences(none)) is said


def test_what_the_places_named_do_not_hold_is_told() -> None:
    sizes = (1000, 2000, 4000, 8000, 16000)
    # One function has a third of the time, many others the rest.
    many = {n: {"third": even(n / 1e3), **{f"f{at}": even(n / 25e3) for at in range(50)}} for n in sizes}
    found = series("n", {n: profile(1, functions) for n, functions in many.items()})
    (told, *_) = outlook_sentences(scaling_of(found, [{"n": 32000.0}]))
    assert "Largest places: third 32.0 s" in told  # a third is not most of it
    assert "elsewhere 64.0 s" in told


def test_a_loss_at_no_single_place_is_told_with_the_factor_that_is_small() -> None:
    # Uneven in two of three runs: 1.3 ± 0.7 s is no finding.
    four = [
        profile(4, {"work": lambda _, each=each: each})
        for each in ((4.0, *(2 / 3,) * 3), (1.5,) * 4, (3.0, *(1.0,) * 3))
    ]
    record = scaling_of(repeated("ranks", {1: [profile(1, {"work": even(6.0)})] * 3, 4: four}, Kind.STRONG))
    assert record.verdict == "loses"
    assert record.findings == []
    assert "mostly by load balance (62.5 %), at no single place" in record.headline  # (1.5/4 + 1 + 1.5/3) / 3


@pytest.mark.parametrize(
    ("balance", "communication", "said"),
    [
        ((0.804, 0.757), (0.976, 0.819), ", mostly by communication (81.9 %)"),  # x 0.94 and x 0.84
        ((0.8, 0.76), (0.8, 0.76), ""),  # none is most of it
        ((0.8, 0.8), (1.0, 1.0), ""),
    ],
)
def test_a_loss_is_due_to_the_factor_that_has_fallen_most(
    balance: tuple[float, float], communication: tuple[float, float], said: str
) -> None:
    first, last = (
        PointRecord(
            value=1, repetitions=1, workers=1, elapsed=1, spread=0, speedup=1, balance=each, communication=other
        )
        for each, other in zip(balance, communication, strict=True)
    )
    assert mostly(first, last) == said


def test_a_place_that_loses_more_than_all_is_told_with_those_that_cost_less() -> None:
    # One thread's second makes 0.5 of 4.6 s uneven; the rest takes 3.6 s instead of 4, with its data in two caches.
    work = {"pack": alone(1.0), "solve": lambda count: (8.0,) if count == 1 else (3.6, 3.6)}
    record = scaling_of(series("threads", {n: profile(n, work) for n in (1, 2)}, Kind.STRONG))
    assert record.verdict == "scales"
    assert record.headline == (
        "From 1 thread to 2 threads 2.17 % of the time is lost: 10.9 % in pack, while other places cost less; global efficiency 98 %."
    )


def test_no_run_shows_workers_that_the_profiler_does_not() -> None:
    found = series("ranks", {count: profile(1, {"solve": even(8.0 / count)}) for count in (1, 2, 4, 8)})
    record = scaling_of(found, [{"ranks": 16.0}])
    assert "measure with a profiler that does" in record.predictions[0].refusal
    assert record.next_run is not None
    assert (record.next_run.at, record.next_run.job) == (None, "")


@pytest.mark.parametrize(("noise", "count"), [(0.01, 1), (0.05, 2), (0.1, 7), (0.2, 27)])
def test_repetitions_that_are_needed_follow_from_the_spread(noise: float, count: int) -> None:
    # (1.2816 · noise / 0.05)², rounded up: 0.07, 1.64, 6.57, 26.3
    found = timed({n: [n / 1000 * each for each in (1, 1 + noise, 1 - noise)] for n in (1000, 2000)})
    assert needed(costs_of(found)) == count
    assert needed(costs_of(timed({1000: [1.0], 2000: [2.0]}))) == 0


def test_several_parameters_are_predicted_by_one_law() -> None:
    runs = []
    for ranks in (2, 4, 8, 16):
        for n in (1000, 2000, 4000):
            made = profile(ranks, {"solve": even(n / 100)})
            runs.append(
                Run(
                    Path(f"ranks={ranks},n={n}"),
                    Measured(made, made.metric("cpu.time")),
                    {"ranks": float(ranks), "n": float(n)},
                )
            )
    found = scaling_of(series_of(runs, "as given", parameter="ranks"), [{"ranks": 64.0, "n": 16000.0}])
    (target,) = found.predictions
    assert target.at == {"n": 16000.0, "ranks": 64.0}
    assert target.elapsed is not None
    assert target.elapsed.low <= 16000 / 100 / 64 * 1.05
    assert target.elapsed.value == pytest.approx(16000 / 100 / 64, rel=0.1)


# -- decisions -------------------------------------------------------------------------------------------------


def fitted(law: object, points: tuple[float, ...], noise: float = 0.1, seed: int = 0) -> Fitted:
    rng = np.random.default_rng(seed)
    assert callable(law)
    return fit([Measurement({"p": p}, (float(law(p)) * (1 + noise * rng.standard_normal()),)) for p in points])


def test_a_decision_that_is_certain_needs_no_run() -> None:
    points = (2.0, 4.0, 8.0, 16.0, 32.0)
    fits = {"work": fitted(lambda p: 100.0, points, 0.01), "exchange": fitted(lambda p: 0.1, points, 0.01)}
    advice = advise(fits, {"p": 64.0}, [Candidate({"p": 64.0}, 1.0)])
    assert advice.run is None
    assert advice.decision == "work"
    assert advice.certainty == 1


def test_the_run_that_decides_is_taken_unless_it_costs_too_much() -> None:
    points = (2.0, 3.0, 4.0, 6.0, 8.0)
    fits = {"work": fitted(lambda p: 10.0, points), "exchange": fitted(lambda p: 2 + 0.15 * p, points, seed=3)}
    same, far = Candidate({"p": 2.0}, 1.0), Candidate({"p": 64.0}, 1.0)
    advice = advise(fits, {"p": 64.0}, [same, far])
    assert advice.run == far
    assert 0 < advice.information <= 1
    dear = Candidate({"p": 64.0}, 1e6)
    middle = Candidate({"p": 32.0}, 1.0)
    assert advise(fits, {"p": 64.0}, [dear, middle]).run == middle


def test_without_candidates_there_is_the_decision_alone() -> None:
    points = (2.0, 3.0, 4.0, 6.0, 8.0)
    fits = {"work": fitted(lambda p: 10.0, points), "exchange": fitted(lambda p: 2 + 0.15 * p, points, seed=3)}
    advice = advise(fits, {"p": 64.0}, [])
    assert advice.run is None
    assert advice.certainty < 0.95


def test_decisions() -> None:
    samples = {"a": np.array([1.0, 5.0]), "b": np.array([2.0, 1.0])}
    assert costs_most(samples) == ["b", "a"]
    assert keeps(4.0)(samples) == ["yes", "no"]


def test_no_time_is_told_of_a_part_of_a_rank() -> None:
    found = series("ranks", {count: profile(count, {"solve": even(8.0)}) for count in (1, 2, 4)})
    with pytest.raises(UsageError, match="whole numbers"):
        scaling_of(found, [{"ranks": 2.5}])
    sizes = timed({n: [n] for n in (1.0, 1.5, 2.0)})
    assert scaling_of(sizes, [{"n": 2.5}]).predictions[0].elapsed is not None


def test_what_is_known_of_the_efficiency_is_read_at_once() -> None:
    # 8 s of divided work and 1 s of one thread's: at 64 threads 9 / 64 of 1.125 s.
    found = scaling_of(strong({"solve": even(8.0), "setup": alone(1.0)}), [{"threads": 64.0}])
    assert "It is known what the efficiency is at 64 threads: below 80 %, 100 % certain." in " ".join(
        outlook_sentences(found)
    )
