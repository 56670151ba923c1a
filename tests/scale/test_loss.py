"""Losses and efficiencies of series that are worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chathpc.comparison.run import Run as Measured
from chathpc.profile.location import Locations
from chathpc.profile.profile import Profile
from chathpc.scale.efficiency import efficiencies_of
from chathpc.scale.loss import Costs, Loss, costs_of, losses_of, name_of
from chathpc.scale.series import Kind, Point, Run, Series
from tests.profile.build import build, call


def ranks(count: int) -> Locations:
    return Locations.of(count, rank=np.arange(count))


def strong(count: int, *, setup: float = 1.0) -> Profile:
    """8 s of work are divided among ranks, `setup` seconds are done by the first one alone while the others wait for it."""
    alone = (setup, *[0.0] * (count - 1))
    waiting = tuple(setup - each for each in alone)
    return build(
        call(
            "main",
            call("work", time=(8.0 / count,) * count),
            call("setup", time=alone),
            call("MPI_Barrier", time=waiting),
        ),
        locations=ranks(count),
    )


def series(profiles: dict[float, Profile], kind: Kind, parameter: str = "ranks") -> Series:
    runs = tuple(
        Run(Path(f"p{value:g}"), Measured(profile, profile.metrics["cpu.time"]), {parameter: value})
        for value, profile in profiles.items()
    )
    points = tuple(Point(value, (at,)) for at, value in enumerate(profiles))
    return Series(parameter, kind, "", "", points, runs, {})


def costs(profiles: dict[float, Profile], kind: Kind = Kind.STRONG) -> tuple[Series, Costs]:
    made = series(profiles, kind)
    return made, costs_of(made)


def test_the_parts_of_a_worker_add_up_to_the_time_of_the_run() -> None:
    _, found = costs({1.0: strong(1), 4.0: strong(4)})
    assert found.elapsed == pytest.approx([9.0, 3.0])
    assert found.computing.sum(axis=1) == pytest.approx([9.0, 2.25])  # 8/4 + 1/4
    assert found.uneven.sum(axis=1) == pytest.approx([0.0, 0.75])
    assert found.waiting.sum(axis=1) == pytest.approx([0.0, 0.0])  # the busiest waits for nobody


def test_what_one_rank_does_alone_is_lost_and_found_there() -> None:
    made, found = costs({1.0: strong(1), 4.0: strong(4)})
    losses = losses_of(made, found)
    assert losses.total == pytest.approx(0.25)  # (3 - 9/4) of 3 s
    (cause,) = losses.causes
    assert (cause.loss, name_of(found, cause.node), cause.alone) == (Loss.UNEVEN, "setup", True)
    assert cause.share == pytest.approx(0.25)
    assert [name_of(found, node) for node in losses.hot_path][-1] == "setup"


def test_efficiencies_are_those_of_pop() -> None:
    made, found = costs({1.0: strong(1), 4.0: strong(4)})
    last = efficiencies_of(made, found)[-1]
    assert last.speedup == pytest.approx(3.0)
    assert last.balance == pytest.approx(2.25 / 3)
    assert last.communication == pytest.approx(1.0)
    assert last.computation == pytest.approx(1.0)
    assert last.overall == pytest.approx(last.speedup / 4)


def test_a_program_that_is_divided_evenly_loses_nothing() -> None:
    made, found = costs({1.0: strong(1, setup=0.0), 2.0: strong(2, setup=0.0), 8.0: strong(8, setup=0.0)})
    losses = losses_of(made, found)
    assert losses.total == pytest.approx(0.0, abs=1e-12)
    assert losses.causes == ()


def test_communication_that_grows_under_weak_scaling_is_waiting() -> None:
    def weak(count: int, exchange: float) -> Profile:
        return build(
            call("main", call("work", time=(4.0,) * count), call("MPI_Allreduce", time=(exchange,) * count)),
            locations=ranks(count),
        )

    made, found = costs({2.0: weak(2, 0.5), 8.0: weak(8, 2.0)}, Kind.WEAK)
    losses = losses_of(made, found)
    assert losses.total == pytest.approx(1.5 / 6.0)  # (C_q - C_p) / T_q
    (cause,) = losses.causes
    assert cause.loss == Loss.WAITING
    assert "MPI_Allreduce" in name_of(found, cause.node)
    last = efficiencies_of(made, found)[-1]
    assert last.communication == pytest.approx(4.0 / 6.0)
    assert last.computation == pytest.approx(1.0)


def test_a_loss_by_place_is_inclusive() -> None:
    made, found = costs({1.0: strong(1), 4.0: strong(4)})
    losses = losses_of(made, found)
    tree = found.joint.tree
    own = losses.by_place.copy()
    for node in range(1, len(tree)):
        own[tree.parent[node]] -= losses.by_place[node]
    assert tree.inclusive(own) == pytest.approx(losses.by_place)
    assert np.argmax(own) == next(n for n in range(len(tree)) if name_of(found, n) == "setup")
