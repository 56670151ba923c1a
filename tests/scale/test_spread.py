"""How a run is spread over its locations: against numpy on the whole, and the same from every engine."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from chathpc.adapters.load import load
from chathpc.errors import AdapterError, UsageError
from chathpc.scale import spread as module
from chathpc.scale.spread import WorkerLostError, engine, spread
from tests.bench.locations import points
from tests.synthetic.collapsed import write as collapsed
from tests.synthetic.hpctoolkit_v4 import Database, Options, _write
from tests.synthetic.v4_random import random_contexts
from tests.synthetic.v4_values import Location

RANKS, CONTEXTS = 90, 300


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ninety ranks of three kinds, of which the last one takes twice as long."""
    path = tmp_path_factory.mktemp("ranks") / "db"
    tree = random_contexts(CONTEXTS, np.random.default_rng(7))
    ranks = [Location(thread=0, rank=rank, node=rank // 16) for rank in range(RANKS)]
    values = {rank: points(tree, rank) * (2 if rank == RANKS - 1 else 1) for rank in range(RANKS)}
    _write(path, tree, Database((), ranks), lambda rank: values[rank], {}, Options())
    return path


def test_the_statistics_are_those_of_numpy(database: Path) -> None:
    found = spread([database])
    profile = load(database)
    dense = profile.values.per_location(found.metric, np.arange(len(profile.tree), dtype=np.int32), inclusive=False)
    order = np.argsort(-dense.sum(axis=0), kind="stable")
    assert found.values == np.count_nonzero(dense)
    for place, at in zip(found.places, order, strict=False):
        column = dense[:, at]
        assert place.total == pytest.approx(column.sum())
        assert (place.least, place.most) == (column.min(), column.max())
        assert place.deviation == pytest.approx(column.std())
        assert place.quantiles == pytest.approx(np.quantile(column, module.QUANTILES))
        assert place.locations == np.count_nonzero(column)


@pytest.mark.parametrize("count", [1, 2, 7, 100])
@pytest.mark.parametrize("zeros", [0.0, 0.3, 0.95, 1.0])
def test_zeros_and_negative_values_have_their_place(count: int, zeros: float) -> None:
    random = np.random.default_rng([count, int(zeros * 100)])
    values = np.where(random.random((count, 5)) < zeros, 0.0, random.normal(0, 1, (count, 5)))
    truth = [
        (values != 0).sum(0),
        values.sum(0),
        values.std(0),
        values.min(0),
        values.max(0),
        *np.quantile(values, module.QUANTILES, axis=0),
    ]
    assert module._statistics(values) == pytest.approx(np.array(truth).T, abs=1e-12)


def test_groups_and_the_one_that_stands_out_are_found(database: Path) -> None:
    found = spread([database])
    assert sorted(each.members for each in found.groups) == [RANKS // 3] * 3
    numbers = {int(each.representative.removeprefix("rank ")) % 3 for each in found.groups}
    assert numbers == {0, 1, 2}
    (odd,) = found.odd
    assert (odd.label, odd.node) == (f"rank {RANKS - 1}", (RANKS - 1) // 16)
    assert odd.time == pytest.approx(2 * odd.usual_time, rel=0.1)


def test_ranks_that_are_alike_are_one_group() -> None:
    even = np.random.default_rng(1).normal(10, 0.5, (500, 8))
    _, groups = module._groups(module._Locations(even, [str(each) for each in range(8)], str, np.zeros(500)))
    assert [each.members for each in groups] == [500]
    uniform = np.random.default_rng(2).uniform(5, 10, (500, 1))
    assert len(module._groups(module._Locations(uniform, ["a"], str, np.zeros(500)))[1]) == 1


def test_a_group_that_fills_nodes_names_them() -> None:
    times = np.repeat([[1.0, 9.0], [2.0, 5.0], [1.0, 9.0]], 8, axis=0) + np.random.default_rng(3).normal(
        0, 0.01, (24, 2)
    )
    member, groups = module._groups(module._Locations(times, ["a", "b"], str, np.repeat([0, 1, 2], 8)))
    assert [(each.members, each.nodes, each.place) for each in groups] == [(16, [0, 2], "b"), (8, [1], "b")]
    assert 8 <= int(groups[1].representative) < 16
    assert (member[:8] == member[16:]).all()


def test_every_engine_finds_the_same(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", RANKS * 16)
    alone = spread([database]).model_dump_json()
    assert spread([database], engine("processes", 2)).model_dump_json() == alone
    assert spread([database], lambda: ThreadPoolExecutor(2)).model_dump_json() == alone


def test_files_of_single_ranks_are_one_run(tmp_path: Path) -> None:
    for rank in range(8):
        (tmp_path / f"rank{rank}").write_text(collapsed([(("main", "work"), 10 + rank), (("main", "wait"), 8 - rank)]))
    found = spread([tmp_path / f"rank{rank}" for rank in range(8)])
    (work,) = (each for each in found.places if each.name == "work")
    assert (work.path, work.total, work.least, work.most) == (["main", "work"], 8 * 10 + 28, 10, 17)
    assert work.quantiles == pytest.approx(np.quantile(np.arange(10, 18), module.QUANTILES))
    assert found.locations == 8


def kill_once(marker: str, number: int) -> int:
    """End the process that computes the first block, if `marker` is not there yet; else its number."""
    if number == 0 and not Path(marker).exists():
        Path(marker).touch()
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def kill_always(number: int) -> int:
    """End the process."""
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_what_a_killed_process_had_is_computed_again(tmp_path: Path) -> None:
    tasks = [(str(tmp_path / "marker"), number) for number in range(6)]
    found = module._all(kill_once, tasks, engine("processes", 2), lambda stage: None)
    assert list(found) == list(range(6))


def test_a_process_that_is_always_killed_ends_with_a_sentence() -> None:
    with pytest.raises(WorkerLostError, match="killed, twice"):
        list(module._all(kill_always, [(1,), (2,)], engine("processes", 2), lambda stage: None))


def test_a_process_that_is_killed_while_tasks_are_given_out_is_replaced() -> None:
    started: list[ThreadPoolExecutor] = []

    class Killed(ThreadPoolExecutor):
        def submit(self, *task: object, **named: object) -> Future[int]:  # type: ignore[override]
            if len(started) == 1 and task[1] == 3:
                raise BrokenExecutor
            return super().submit(*task, **named)  # type: ignore[arg-type]

    def make() -> ThreadPoolExecutor:
        started.append(Killed(2))
        return started[-1]

    assert list(module._all(abs, [(number,) for number in range(6)], make, lambda stage: None)) == list(range(6))
    assert len(started) == 2


def no_answer(number: int) -> int:
    """Fail as a profile that cannot be read does."""
    raise AdapterError("cut off", path="rank7", hint="Copy it again.")


def test_what_fails_in_a_process_is_told_as_it_is_here() -> None:
    with pytest.raises(AdapterError, match="rank7: cut off"):
        list(module._all(no_answer, [(1,), (2,)], engine("processes", 2), lambda stage: None))


def test_other_engines_are_refused() -> None:
    with pytest.raises(UsageError, match="no engine"):
        engine("spark", 2)
