from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from chathpc.profile.values import MemoryValues, group_sums
from tests.profile.build import build, call, tree_of
from tests.profile.strategies import profiles

TWO_THREADS = build(call("main", call("a", time=(1.0, 2.0)), call("b", time=(4.0, None)), time=(0.5, 0.25)))


@given(profiles(locations=None))
def test_locations_add_up_to_the_column_of_every_metric(profile):
    every = np.arange(len(profile.tree), dtype=np.int32)
    for metric in profile.metrics:
        own = profile.values.per_location(metric, every, inclusive=False)
        assert own.sum(axis=0).tolist() == profile.exclusive(metric).dense(len(every)).tolist()
        below = profile.values.per_location(metric, every)
        assert below.sum(axis=0).tolist() == profile.inclusive(metric).dense(len(every)).tolist()
        assert np.nansum(profile.location_totals(metric)) == profile.total(metric)


def test_values_per_location_are_of_the_chosen_nodes():
    nodes = np.array([2, 0], dtype=np.int32)
    assert TWO_THREADS.values.per_location("cpu.time", nodes).tolist() == [[4.0, 5.5], [0.0, 2.25]]
    assert TWO_THREADS.values.per_location("cpu.time", nodes, inclusive=False).tolist() == [[4.0, 0.5], [0.0, 0.25]]
    none = TWO_THREADS.values.per_location("cpu.time", np.empty(0, np.int32))
    assert none.shape == (2, 0)


def test_grouped_values_are_own_values_added_up_and_minus_one_is_no_group():
    group = np.array([-1, 1, 1], dtype=np.int32)
    assert TWO_THREADS.values.grouped("cpu.time", group, 3).tolist() == [[0.0, 5.0, 0.0], [0.0, 2.0, 0.0]]


def test_a_location_without_any_value_has_no_total():
    profile = build(call("main", time=(1.0, None)))
    assert profile.location_totals("cpu.time").tolist()[0] == 1.0
    assert np.isnan(profile.location_totals("cpu.time")[1])


def test_a_metric_without_values_is_empty_everywhere():
    values = MemoryValues(tree_of(call("main")), {}, {}, location_count=2)
    assert len(values.exclusive("gpu.time")) == len(values.inclusive("gpu.time")) == 0
    assert np.isnan(values.location_totals("gpu.time")).all()
    assert values.per_location("gpu.time", np.zeros(1, np.int32)).tolist() == [[0.0], [0.0]]


def test_the_one_location_of_a_plain_source_has_all_values():
    profile = build(call("main", call("a", time=1.0)))
    assert profile.values.per_location("cpu.time", np.array([0, 1], np.int32)).tolist() == [[1.0, 1.0]]


@given(st.integers(0, 3), st.integers(0, 4), st.data())
def test_group_sums_keep_their_shape(locations, nodes, data):
    group = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=nodes, max_size=nodes)), dtype=np.int32)
    sums = group_sums(np.ones((locations, nodes)), group, 3)
    assert sums.shape == (locations, 3)
    assert sums.sum() == locations * int((group >= 0).sum())
