"""Pictures show what was measured: widths and heights compared with sums, and refused where there is nothing to show."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chathpc
from chathpc.errors import UsageError
from chathpc.export import TARGETS, exporter, pictures
from chathpc.profile.remark import Device
from chathpc.view import pictures as drawing
from chathpc.view.pictures import Mark, Roof
from tests.export.test_export import SMALL
from tests.reports.browser.pages import EXAMPLES, kernels

pytest.importorskip("matplotlib")
PICTURES = [name for name, target in TARGETS.items() if target.is_binary]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are drawn."""
    figures: list[Any] = []
    whole = drawing.png

    def kept(figure: Any) -> bytes:
        figures.append(figure)
        return whole(figure)

    monkeypatch.setattr(drawing, "png", kept)
    return figures


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 10)), min_size=1, max_size=30))
def test_parts_of_an_icicle_lie_within_what_is_above_them_and_add_up(nodes: list[tuple[int, float]]) -> None:
    above: list[int] = []
    open_: list[int] = []
    for at, (up, _) in enumerate(nodes):
        del open_[max(len(open_) - up, 0) :]
        above.append(open_[-1] if open_ else -1)
        open_.append(at)
    values = [value for _, value in nodes]
    depth, left, width = pictures.icicle(above, values)
    assert width[0] == pytest.approx(sum(values))
    for at, outer in enumerate(above, start=1):
        inside = outer + 1
        assert depth[at] == depth[inside] + 1
        assert left[at] >= left[inside] - 1e-9
        assert left[at] + width[at] <= left[inside] + width[inside] + 1e-9
    rows = sorted((depth[at], left[at], width[at]) for at in range(len(width)))
    assert all(a[0] < b[0] or a[1] + a[2] <= b[1] + 1e-9 for a, b in pairwise(rows) if a[2] and b[2])


def test_a_flame_graph_has_the_whole_run_and_its_places(drawn: list[Any]) -> None:
    profile = chathpc.load(EXAMPLES / "omp-triangle" / "database")
    assert exporter("flame-png")(profile, None)[:8] == b"\x89PNG\r\n\x1a\n"
    (axes,) = drawn[0].axes
    assert max(bar.get_width() for bar in axes.patches) == 1
    assert {"the whole run", "application thread", "work_item"} <= {text.get_text() for text in axes.texts}
    assert "9.01 s" in axes.get_title(loc="left")


def test_bars_are_the_times_of_the_threads(drawn: list[Any]) -> None:
    profile = chathpc.load(EXAMPLES / "omp-triangle" / "database")
    exporter("imbalance-png")(profile, None)
    (axes,) = drawn[0].axes
    tree, time = profile.tree, profile.time
    assert time is not None
    body = [node for node in range(len(tree)) if tree.label(node) == "triangular_work._omp_fn.0"]
    inside = tree.inside(body).astype("int32")  # independent of the view: summed over threads by the values themselves
    sums = profile.values.grouped(time.id, inside, 2)[:, 1]
    assert sorted(bar.get_height() for bar in axes.patches) == pytest.approx(sorted(sums[profile.threads]), rel=1e-3)


def test_kernels_stand_where_their_counters_say(drawn: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    view = kernels().view
    assert view is not None
    monkeypatch.setattr(pictures, "_view", lambda profile: view)
    exporter("roofline-png")(SMALL, None)
    (axes,) = drawn[0].axes
    points = {tuple(each.get_offsets()[0]) for each in axes.collections}
    assert points == {(each.intensity, each.rate) for each in view.roofline}


def test_no_label_of_a_roofline_is_upon_another_and_the_memory_has_one(drawn: list[Any]) -> None:
    marks = [Mark(f"kernel_{at}<{'float, ' * 20}{at}>", 1 + at / 1000, 1e11 + at * 1e8, "red") for at in range(6)]
    drawing.roofline("$a$", [Roof("fp32", 2e13, 1.5e12), Roof("fp64", 1e13, 1.5e12)], marks)
    (axes,) = drawn[0].axes
    assert {"device memory 1.50 TB/s", "fp32 20.0 T op/s", "fp64 10.0 T op/s"} <= {
        each.get_text() for each in axes.texts
    }
    assert len({each.get_text() for each in axes.texts}) == len(axes.texts) > 6
    boxes = [each.get_window_extent() for each in axes.texts]
    assert not any(box.overlaps(other) for at, box in enumerate(boxes) for other in boxes[:at])


@pytest.mark.parametrize(
    ("target", "words"), [("imbalance-png", "several threads or ranks"), ("roofline-png", "counters")]
)
def test_what_cannot_be_drawn_is_refused(target: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        exporter(target)(SMALL, None)


def test_the_balance_of_another_metric_is_refused_for_that_reason() -> None:
    with pytest.raises(UsageError, match="is that of the time"):
        exporter("imbalance-png")(chathpc.load(EXAMPLES / "omp-triangle" / "database"), "gpu.bytes")


def test_counters_of_a_gpu_are_advised_where_there_is_one_by_its_makers_tool() -> None:
    hints = []
    for devices in ({}, {0: Device("AMD Instinct MI250X")}):
        with pytest.raises(UsageError) as refused:
            exporter("roofline-png")(replace(SMALL, devices=devices), None)
        hints.append(refused.value.hint)
    assert hints[0] == ""
    assert hints[1].startswith("Collect them: rocprof-compute profile")


def test_an_unknown_metric_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(UsageError, match=r"No call tree of gpu\.bytes"):
        exporter("flame-png")(chathpc.load(EXAMPLES / "omp-triangle" / "database"), "gpu.bytes")


@pytest.mark.parametrize("target", PICTURES)
def test_without_matplotlib_it_is_said_how_to_get_it(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    view = kernels().view
    monkeypatch.setattr(pictures, "_view", lambda profile: view)
    with pytest.raises(UsageError, match="Pictures need matplotlib"):
        exporter(target)(chathpc.load(EXAMPLES / "omp-triangle" / "database"), None)
