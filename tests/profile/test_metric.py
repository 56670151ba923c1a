from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.errors import UsageError
from chathpc.profile.metric import EMPTY_COLUMN, Clock, column_of
from tests.profile.build import build, call


@given(st.lists(st.tuples(st.booleans(), st.floats(-1e9, 1e9))))
def test_a_column_tells_zero_from_not_measured(cells):
    present = np.array([there for there, _ in cells], dtype=bool)
    values = np.array([value for _, value in cells], dtype=float)
    column = column_of(values, present)
    for node, (there, value) in enumerate(cells):
        assert column.at(node) == (value if there else None)
    assert column.at(len(cells)) is None
    assert column.mask(len(cells)).tolist() == present.tolist()
    assert column.dense(len(cells), missing=7.0).tolist() == [v if there else 7.0 for there, v in cells]
    assert len(column) == present.sum()


def test_without_a_mask_what_is_not_zero_counts_as_measured():
    column = column_of(np.array([0.0, 3.0, 0.0, -1.0]))
    assert (column.nodes.tolist(), column.values.tolist()) == ([1, 3], [3.0, -1.0])


def test_a_column_is_summed_in_extended_precision():
    assert column_of(np.array([1e16, 1.0, -1e16])).sum() == 1.0
    assert EMPTY_COLUMN.sum() == 0.0


def test_a_metric_is_found_by_its_id_and_by_the_name_its_tool_gave_it():
    profile = build(call("main", time=2.0))
    assert profile.metric("cpu.time") is profile.metric("CPU.TIME")
    assert profile.total("cpu.time") == profile.total("CPU.TIME") == 2.0
    with pytest.raises(UsageError, match=r"gpu\.time") as caught:
        profile.metric("gpu.time")
    assert "cpu.time" in caught.value.hint


def test_wall_clock_time_is_explained_before_cpu_time():
    profile = build(call("main", values={"cpu.time": 1.0, "cpu.time.wall": 2.0, "cpu.cycles": 3.0}))
    assert profile.time is profile.metrics["cpu.time.wall"]
    assert profile.metrics["cpu.time.wall"].clock == Clock.WALL
    assert profile.sees_waiting
    assert not build(call("main", time=1.0)).sees_waiting
    assert build(call("main", values={"io.read.bytes": 1.0})).time is None
