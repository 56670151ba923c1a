"""How a run is spread over its locations: against numpy on the whole, and the same from every engine."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from chathpc.adapters.load import load
from chathpc.errors import UsageError
from chathpc.profile.classification import classify
from chathpc.profile.location import Locations
from chathpc.profile.profile import Profile
from chathpc.profile.tree import FloatArray, IntArray
from chathpc.reports import ranks_renderers
from chathpc.reports.style import Style
from chathpc.scale import spread as module
from chathpc.scale.engines import engine
from chathpc.scale.spread import Members, groups_of, spread, spread_of
from tests.adapters.samples.caliper import MAIN
from tests.bench.locations import points
from tests.diagnosis.parts import function, main, mpi
from tests.profile.build import build, call, entry, line
from tests.synthetic.caliper import Record, across, write_cali
from tests.synthetic.chrome_trace import training
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
    call = classify(profile.tree).call
    for node in np.flatnonzero((call >= 0) & (call != np.arange(len(call)))):
        dense[:, call[node]] += dense[:, node]  # no library of these calls the program
        dense[:, node] = 0
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
        values.argmax(0),
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


def test_few_ranks_are_shown_with_their_median_alone(tmp_path: Path) -> None:
    for rank in range(3):
        (tmp_path / f"rank{rank}").write_text(collapsed([(("main", "work"), 10 + rank)]))
    found = spread([tmp_path / f"rank{rank}" for rank in range(3)])
    assert [each.nodes for each in found.groups] == [[]]
    text = ranks_renderers()["text"](found, Style())
    assert "3 are too few to tell groups, or who stands out." in text
    assert ["mean", "least", "median", "most", "by"] in [line.split() for line in text.splitlines()]
    assert "\n| work | 11 | 10 | 11 | 12 | rank2 |" in ranks_renderers()["markdown"](found, Style())


def test_one_rank_is_too_few_and_told_so_in_the_singular(tmp_path: Path) -> None:
    (tmp_path / "rank0").write_text(collapsed([(("main", "work"), 10)]))
    text = ranks_renderers()["text"](spread([tmp_path / "rank0"]), Style())
    assert "1 rank or thread" in text
    assert ["work", "10", "10", "10", "10"] in [line.split() for line in text.splitlines()]
    assert "(per rank or thread, itself, samples)" in text
    assert "1 is too few to tell groups, or who stands out." in text


def test_time_of_devices_alone_has_no_table(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="of devices"):
        spread([training().write(tmp_path / "trace.json")], metric="gpu.time")


def test_a_sum_over_ranks_is_no_rank(tmp_path: Path) -> None:
    file = write_cali(tmp_path / "a.cali", [Record(MAIN, across((10.0, 12.0)))], facts={"jobsize": "2"})
    with pytest.raises(UsageError, match="as a sum over ranks"):
        spread([file])


def test_files_with_their_ranks_added_up_are_no_ranks(tmp_path: Path) -> None:
    files = [
        write_cali(tmp_path / f"{count}.cali", [Record(MAIN, across((10.0,) * count))], facts={"jobsize": str(count)})
        for count in (27, 64)
    ]
    with pytest.raises(UsageError, match="as a sum over ranks"):
        spread(files)


def test_threads_that_have_none_of_the_time_are_left_out_of_the_mean() -> None:
    where = Locations.of(4, rank=np.zeros(4), thread=np.arange(4))
    found = spread_of(build(main(function("f", time=(9.0, 0.0, 3.0, 0.0))), locations=where), "cpu.time")
    (place,) = (each for each in found.places if each.name == "f")
    assert (found.locations, place.mean, place.least, place.busiest) == (2, 6.0, 3.0, "rank 0 thread 0")


def test_uneven_amounts_are_not_called_alike() -> None:
    def told(values: np.ndarray) -> str:
        where = Locations.of(len(values), rank=np.zeros(len(values)), thread=np.arange(len(values)))
        profile = build(main(function("f", time=tuple(values.tolist()))), locations=where)
        return ranks_renderers()["text"](spread_of(profile, "cpu.time"), Style())

    # An even spread over 1..10 has a standard deviation of half its mean, over 9.9..10.1 of a hundredth.
    assert "The 32 differ without clear groups, and none stands out." in told(np.linspace(1, 10, 32))
    assert "All 32 behave alike" in told(np.linspace(9.9, 10.1, 32))


def test_calls_keep_their_names_and_callers_where_a_table_is_narrow() -> None:
    where = Locations.of(2, rank=np.arange(2), thread=np.zeros(2))
    ways = (
        function(way, function("sendReceiveParallelBoundary", mpi("MPI_Sendrecv", time=time)))
        for way, time in (("first", (1.0, 2.0)), ("second", (5.0, 4.0)))
    )
    text = ranks_renderers()["text"](spread_of(build(main(*ways), locations=where), "cpu.time"), Style())
    rows = [line.split() for line in text.splitlines() if line]
    calls = [at for at, row in enumerate(rows) if row[:2] == ["PMPI_Sendrecv", "in"]]
    assert [(rows[at][-3], *rows[at + 1]) for at in calls] == [("0", "from", "second"), ("1", "from", "first")]


def test_what_all_ranks_share_is_no_rank() -> None:
    where = Locations.of(3, rank=np.array([-1, 0, 1]), thread=np.array([-1, 0, 0]))
    assert where.is_shared.tolist() == [True, False, False]
    assert not Locations.single().is_shared.any()
    shared = build(entry("<program root>", call("main", time=(5.0, 1.0, 2.0))), locations=where)
    assert spread_of(shared, "cpu.time").locations == 2


def test_what_a_library_does_is_told_as_its_call() -> None:
    mpi = "/lib/libmpi.so.40"
    ways = (
        call(way, call("poll", module=mpi, time=time), module=mpi)
        for way, time in (("spin", (1.0, 2.0)), ("sleep", (3.0, 4.0)))
    )
    below = call("MPI_Allreduce", *ways, module=mpi)
    profile = build(entry("main", call("solve", below, at="a.c:1", time=(5.0, 5.0))))
    found = spread_of(profile, "cpu.time")
    assert [(each.name, each.least, each.most) for each in found.places] == [
        ("solve", 5.0, 5.0),
        ("MPI_Allreduce in solve", 4.0, 6.0),
    ]


def test_a_function_is_one_place_on_the_path_of_a_started_thread_too() -> None:
    many, none = tuple([0.0] + [4.0] * 7), tuple([4.0] + [0.0] * 7)
    started = call("clone3", call("work", call("sin", time=many)), time=tuple([0.0] + [1.0] * 7))
    own = call("main", call("work", call("sin", time=none)), call("sum", time=tuple([2.0] + [0.0] * 7)))
    found = spread_of(build(entry("<program root>", own, started)), "cpu.time")
    (odd,) = found.odd
    assert (odd.place, odd.here, odd.usual) == ("sum", 2.0, 0.0)


def test_a_line_is_one_row_for_the_thread_that_started_the_others() -> None:
    def work(*times: float) -> object:
        return call("work", line("a.c:5", time=times), at="a.c:1")

    started = call("clone3", work(0.0, 3.0, 5.0, 4.0))
    found = spread_of(build(entry("<program root>", call("main", work(2.0, 0.0, 0.0, 0.0)), started)), "cpu.time")
    (place,) = found.places
    assert (place.name, place.least, place.mean, place.most, place.locations) == ("a.c:5 in work", 2.0, 3.5, 5.0, 4)


def test_ways_that_one_thread_goes_both_are_two_rows() -> None:
    ways = (
        call(way, call("work", line("a.c:5", time=time), at="a.c:1"))
        for way, time in (("first", (1.0, 2.0)), ("second", (3.0, 0.0)))
    )
    found = spread_of(build(entry("main", *ways)), "cpu.time")
    assert [(each.total, each.path[0]) for each in found.places] == [(3.0, "main"), (3.0, "main")]


def test_of_a_deep_recursion_few_nodes_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A place of as many nodes as the recursion is deep, compared in pairs, would take minutes."""
    below = call("walk", time=(1.0, 1.0))
    for _ in range(3000):
        below = call("walk", below, time=(1.0, 1.0))
    looked: list[int] = []
    ways = module._ways
    monkeypatch.setattr(module, "_ways", lambda vectors, nodes: looked.append(len(nodes)) or ways(vectors, nodes))
    found = spread_of(build(entry("main", below)), "cpu.time")
    assert len(found.places) == module._LISTED
    assert {each.total for each in found.places} == {2.0}
    assert 1 < max(looked) <= 100


def test_a_place_is_read_once_though_it_is_both_large_and_uneven(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bytes] = []
    values = module.call_values

    def counted(profile: Profile, metric: str, nodes: IntArray) -> FloatArray:
        read.append(np.sort(nodes).tobytes())
        return values(profile, metric, nodes)

    monkeypatch.setattr(module, "call_values", counted)
    spread([database])
    assert len(read) == len(set(read)) > module._FEATURES


def test_runs_are_not_taken_for_the_ranks_of_one(database: Path, tmp_path: Path) -> None:
    other = shutil.copytree(database, tmp_path / "other")
    with pytest.raises(UsageError, match="several runs"):
        spread([database, other])
    for name in ("rep1", "rep2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(collapsed([(("main", "work"), 10)]))
        (tmp_path / name / "measure.json").write_text('{"profile": "a.txt"}')
    with pytest.raises(UsageError, match="several runs"):
        spread([tmp_path / "rep1", tmp_path / "rep2"])


def test_ranks_that_are_alike_are_one_group() -> None:
    even = np.random.default_rng(1).normal(10, 0.5, (500, 8))
    _, groups = groups_of(Members(even, [str(each) for each in range(8)], str, np.zeros(500)))
    assert [each.members for each in groups] == [500]
    uniform = np.random.default_rng(2).uniform(5, 10, (500, 1))
    assert len(groups_of(Members(uniform, ["a"], str, np.zeros(500)))[1]) == 1


def test_a_group_that_fills_nodes_names_them() -> None:
    times = np.repeat([[1.0, 9.0], [2.0, 5.0], [1.0, 9.0]], 8, axis=0) + np.random.default_rng(3).normal(
        0, 0.01, (24, 2)
    )
    member, groups = groups_of(Members(times, ["a", "b"], str, np.repeat([0, 1, 2], 8)))
    assert [(each.members, each.nodes, each.place) for each in groups] == [(16, [0, 2], "b"), (8, [1], "b")]
    assert 8 <= int(groups[1].representative) < 16
    assert (member[:8] == member[16:]).all()
