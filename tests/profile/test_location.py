from __future__ import annotations

import numpy as np

from chathpc.profile.location import Locations


def columns(**parts):
    count = len(next(iter(parts.values())))
    return Locations.of(count, **{name: np.array(values) for name, values in parts.items()})


def test_a_label_names_the_parts_that_apply():
    where = columns(node=[5, 5], rank=[3, -1], thread=[1, 0])
    assert [where.label(i) for i in (0, 1)] == ["rank 3 thread 1", "thread 0"]


def test_the_compute_node_is_named_only_where_there_are_several():
    assert columns(node=[1, 2], rank=[0, 1]).label(1) == "node 2 rank 1"
    assert columns(node=[1, 1], rank=[0, 1]).label(1) == "rank 1"


def test_a_gpu_stream_is_labelled_by_context_and_stream():
    where = columns(gpu_context=[0, -1], stream=[7, -1], thread=[-1, 2])
    assert where.label(0) == "GPU context 0 stream 7"
    assert where.is_gpu.tolist() == [True, False]


def test_a_location_without_parts_has_a_number():
    assert Locations.single().label(0) == "location 0"
    assert len(Locations.single()) == 1


def test_the_shape_counts_nodes_ranks_and_the_threads_of_the_largest_rank():
    where = columns(node=[1, 1, 1, 2, 2], rank=[0, 0, 0, 1, 1], thread=[0, 1, 2, 0, 1])
    assert where.counts().words() == "2 ranks × 3 threads on 2 nodes"


def test_ranks_of_one_number_on_two_nodes_are_two():
    where = columns(node=[1, 2], rank=[0, 0], thread=[0, 0])
    assert where.counts().words() == "2 ranks on 2 nodes"


def test_gpu_streams_are_counted_apart_from_threads():
    where = columns(node=[1, 1, 1], thread=[0, -1, -1], gpu_context=[-1, 0, 0], stream=[-1, 0, 1])
    assert where.counts().words() == "1 thread × 2 GPU streams"
    assert where.counts().words(gpus=2) == "1 thread × 2 GPUs"
    of_ranks = columns(rank=[0, 1, 0, 1], thread=[0, 0, -1, -1], gpu_context=[-1, -1, 0, 1], stream=[-1, -1, 0, 0])
    assert of_ranks.counts().words(gpus=2) == "2 ranks with 2 GPUs"  # one each
    only_gpu = columns(gpu_context=[0], stream=[0])
    assert only_gpu.counts().words() == "1 GPU stream"
