"""profile.db: nodes of context ids, blocks of values, identifier tuples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.adapters.hpctoolkit import read
from chathpc.adapters.hpctoolkit.binary import DatabaseFile
from chathpc.adapters.hpctoolkit.profiles import ContextNodes, ProfileDatabase
from chathpc.errors import AdapterError
from tests.adapters.hpctoolkit.bombs import File
from tests.synthetic import programs
from tests.synthetic.hpctoolkit_v4 import TIME, Database, Location, Options, entry, function, write
from tests.synthetic.v4_meta import ID_KINDS

LARGEST = (1 << 32) - 1


# -- context ids -------------------------------------------------------------------------------------------


@given(
    ids=st.lists(st.one_of(st.integers(0, 200), st.integers(0, LARGEST)), unique=True, max_size=60),
    asked=st.lists(st.one_of(st.integers(0, 220), st.integers(0, LARGEST)), max_size=40),
)
def test_an_id_gives_its_node_or_none(ids: list[int], asked: list[int]) -> None:
    nodes_of = ContextNodes(np.array(ids, dtype=np.int64))
    expected = [ids.index(one) if one in ids else -1 for one in (*ids, *asked)]
    if ids:
        assert nodes_of(np.array([*ids, *asked], dtype=np.uint32)).tolist() == expected


@pytest.mark.parametrize("ids", [[5, 5], [5, LARGEST, 5], [LARGEST, 1, LARGEST]])
def test_an_id_that_stands_twice_is_an_error(ids: list[int]) -> None:
    with pytest.raises(ValueError, match="twice"):
        ContextNodes(np.array(ids, dtype=np.int64))


def test_scattered_ids_do_not_make_a_large_table() -> None:
    nodes_of = ContextNodes(np.array([7, LARGEST], dtype=np.int64))
    assert len(nodes_of._table) == 2
    assert nodes_of(np.array([0, 7, 8, LARGEST - 1, LARGEST], dtype=np.uint32)).tolist() == [-1, 0, -1, -1, 1]


def test_a_database_with_scattered_ids_is_read_like_any_other(tmp_path: Path) -> None:
    written = write(tmp_path, programs.small())
    plain = read(tmp_path)
    worker = next(c for c in written.ids if c.name == "worker")
    old = written.ids[worker]
    with File(tmp_path / "meta.db") as meta:
        meta.put(written.places[old] + 0x10, "I", LARGEST)
    changed = []
    with File(tmp_path / "profile.db") as profiles:
        rows = profiles.u64(profiles.u64(0x18))
        for number in range(3):
            count, index = profiles.u64(rows + 0x30 * number + 0x10), profiles.u64(rows + 0x30 * number + 0x18)
            # The largest id has to stand last; the worker has the last one that has values, in preorder.
            if profiles.data[index + 12 * (count - 1)] == old:
                profiles.put(index + 12 * (count - 1), "I", LARGEST)
                changed.append(number)
    assert changed == [0, 2]  # the summary and the second thread
    again = read(tmp_path)
    assert again.total(TIME) == plain.total(TIME) == 20.875
    for ours, theirs in zip((again.inclusive, again.exclusive), (plain.inclusive, plain.exclusive), strict=True):
        assert (ours(TIME).nodes.tolist(), ours(TIME).values.tolist()) == (
            theirs(TIME).nodes.tolist(), theirs(TIME).values.tolist(),
        )  # fmt: skip


# -- blocks ------------------------------------------------------------------------------------------------


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return write(tmp_path, programs.small()).path


def opened(path: Path) -> ProfileDatabase:
    return ProfileDatabase(DatabaseFile(path / "profile.db"))


def test_values_of_a_context_are_found_and_those_of_others_are_none(database: Path) -> None:
    profiles = opened(database)
    assert profiles.summary == 0
    assert profiles.locations.tolist() == [1, 2]
    block = profiles.block(1)
    metrics, values = block.of_context(0)
    assert metrics.tolist() == [3, 7]  # execution of the time and of the page faults
    assert values.tolist() == [7.875, 3.0]
    for nowhere in (1 << 20, LARGEST):
        metrics, values = block.of_context(nowhere)
        assert len(metrics) == len(values) == 0


@pytest.mark.parametrize(
    ("place", "form", "value", "words"),
    [
        (12 * 2 + 4, "Q", 1 << 60, "index of a profile's values is not ascending"),
        (12 * 2 + 4, "Q", 0, "index of a profile's values is not ascending"),
        (4, "Q", 1, "first values of a profile belong to no context"),
        (12, "I", 0, "contexts of a profile are not ascending"),
        (12, "I", LARGEST, "contexts of a profile are not ascending"),
    ],
)
def test_a_block_that_contradicts_itself_is_refused(
    database: Path, place: int, form: str, value: int, words: str
) -> None:
    with File(database / "profile.db") as profiles:
        profiles.put(profiles.u64(profiles.u64(profiles.u64(0x18)) + 0x18) + place, form, value)
    with pytest.raises(AdapterError, match=words):
        read(database)


def test_values_without_any_context_are_ignored(database: Path) -> None:
    with File(database / "profile.db") as profiles:
        profiles.put(profiles.u64(profiles.u64(0x18)) + 0x30 + 0x10, "I", 0)
    block = opened(database).block(1)
    assert len(block.metric) == len(block.value) == len(block.context) == 0
    assert block.start.tolist() == [0]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_values_that_cannot_be_added_up_are_refused(database: Path, value: float) -> None:
    with File(database / "profile.db") as profiles:
        rows = profiles.u64(profiles.u64(0x18))
        for number in range(int.from_bytes(profiles.data[rows : rows + 8], "little")):
            profiles.put(profiles.u64(rows + 8) + 10 * number + 2, "d", value)
    with pytest.raises(AdapterError, match="not a number or too large"):
        read(database)


def test_a_database_without_profiles_has_no_summary(database: Path) -> None:
    with File(database / "profile.db") as profiles:
        profiles.put(profiles.u64(0x18) + 8, "I", 0)
    assert opened(database).summary is None
    profile = read(database)
    assert len(profile.where) == 0
    assert not any(metric.has_values for metric in profile.metrics.values())
    assert any(caveat.startswith("No metric has any value") for caveat in profile.caveats)


# -- identifier tuples -------------------------------------------------------------------------------------


def test_identifier_tuples_become_columns_and_nodes_are_numbered(tmp_path: Path) -> None:
    locations = [
        Location(thread=0, rank=1, core=9, node=5),
        Location(thread=0, rank=0, core=8, node=2),
        Location(thread=None, rank=0, node=2, gpu_context=1, gpu_stream=7),
        Location(thread=3, rank=None, node=2),
    ]
    main = function("main", samples={TIME: {0: 1.0, 1: 2.0, 3: 4.0}})
    where = read(write(tmp_path, Database([entry(main)], locations)).path).where
    assert where.node.tolist() == [1, 0, 0, 0]  # in the order of their host ids
    assert where.rank.tolist() == [1, 0, 0, -1]
    assert where.thread.tolist() == [0, 0, -1, 3]
    assert where.core.tolist() == [9, 8, -1, -1]
    assert where.gpu_context.tolist() == [-1, -1, 1, -1]
    assert where.stream.tolist() == [-1, -1, 7, -1]
    assert where.is_gpu.tolist() == [False, False, True, False]


def test_nodes_without_a_host_id_are_told_apart_by_their_number(tmp_path: Path) -> None:
    main = function("main", samples={TIME: {0: 1.0}})
    write(tmp_path, Database([entry(main)], [Location(node=7), Location(node=3), Location(node=7)]))
    with File(tmp_path / "profile.db") as profiles:
        rows = profiles.u64(profiles.u64(0x18))
        for number in range(1, 4):
            node = profiles.u64(rows + 0x30 * number + 0x20) + 8
            profiles.put(node + 2, "H", 0)  # not physical
            profiles.put(node + 8, "Q", 99)
    assert read(tmp_path).where.node.tolist() == [1, 0, 1]


def test_a_profile_without_a_tuple_or_with_unknown_kinds_is_a_location_all_the_same(tmp_path: Path) -> None:
    main = function("main", samples={TIME: {0: 1.0, 1: 2.0}})
    write(tmp_path, Database([entry(main)], [Location(thread=4), Location(thread=5, core=1)]))
    with File(tmp_path / "profile.db") as profiles:
        rows = profiles.u64(profiles.u64(0x18))
        second = profiles.u64(rows + 2 * 0x30 + 0x20)
        profiles.put(rows + 0x30 + 0x20, "Q", 0)
        profiles.put(second + 8, "B", 77)  # NODE
        core = second + 8 + 16
        assert profiles.data[core] == ID_KINDS.index("CORE")
        profiles.put(core + 2, "HIQ", 1, 1, 1 << 60)  # a physical id far too large for a core
    profile = read(tmp_path)
    assert profile.where.thread.tolist() == [-1, 5]
    assert profile.where.node.tolist() == [-1, -1]
    assert profile.where.core.tolist() == [-1, 1 << 31]
    assert profile.location_totals(TIME).tolist() == [1.0, 2.0]


def test_locations_without_values_stay_locations(tmp_path: Path) -> None:
    main = function("main", samples={TIME: {1: 2.0}})
    profile = read(write(tmp_path, Database([entry(main)], [Location(thread=k) for k in range(3)])).path)
    totals = profile.location_totals(TIME)
    assert np.isnan(totals).tolist() == [True, False, True]
    assert totals[1] == 2.0
    nodes = np.arange(len(profile.tree), dtype=np.int32)
    assert profile.values.per_location("cpu.time", nodes).tolist() == [[0, 0], [2, 2], [0, 0]]


def test_a_summary_that_does_not_stand_first_is_no_location_and_not_used(database: Path) -> None:
    with File(database / "profile.db") as profiles:
        rows = profiles.u64(profiles.u64(0x18))
        first, last = bytes(profiles.data[rows : rows + 0x30]), bytes(profiles.data[rows + 0x60 : rows + 0x90])
        profiles.data[rows : rows + 0x30], profiles.data[rows + 0x60 : rows + 0x90] = last, first
    profiles_read = opened(database)
    assert profiles_read.summary is None
    assert profiles_read.locations.tolist() == [0, 1]
    assert read(database).total(TIME) == 20.875  # added up from the locations


def test_options_of_the_writer_leave_the_summary_empty(tmp_path: Path) -> None:
    write(tmp_path, programs.small(), Options(summary=False))
    assert len(opened(tmp_path).block(0).value) == 0
