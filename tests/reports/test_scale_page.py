"""The page of a series: it says what the record says, in safe HTML, with curves where a law is."""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser
from math import log10

import pytest

from chathpc.reports import scale_renderers
from chathpc.reports.style import Style
from chathpc.scale.record import Scaling
from chathpc.scale.scaling import scaling_of
from tests.scale.made import alone, each, even, profile, series, strong

HOSTILE = '<img src=x onerror=alert(1)>"&\x1b[31m'


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]


def page(record: Scaling) -> str:
    return scale_renderers()["html"](record, Style())


def record_of_series() -> Scaling:
    """A program of one serial function and one that waits."""
    found = strong({"solve": even(8.0), "setup": alone(1.0)}, each(0.25))
    return scaling_of(found, [{found.parameter: 64.0}])


@pytest.fixture(scope="module")
def record() -> Scaling:
    return record_of_series()


def test_the_page_has_verdict_matrix_curves_tree_and_outlook(record: Scaling) -> None:
    text = page(record)
    for said in (
        record.headline,
        "global efficiency",
        "setup",
        "At 64 threads",
        "The loss in the call tree",
        "Next run",
    ):
        assert escape(said) in text
    for point in record.points:
        assert point.overall is not None
        assert f"{point.overall * 100:.0f} %" in text
    assert text.count('class="p"') == len(record.points) * (1 + len(record.findings))
    assert '<polygon class="b"' in text


def test_markdown_has_every_place_of_a_prediction_as_code(record: Scaling) -> None:
    (told,) = (line for line in scale_renderers()["markdown"](record, Style()).splitlines() if "At 64 threads" in line)
    assert all(f"`{each.name}`" in told for each in record.predictions[0].ranked[:1])
    assert told.count("`") == 2 * sum(f"{each.name} " in told.replace("`", "") for each in record.predictions[0].ranked)


def test_the_page_loads_and_runs_nothing(record: Scaling) -> None:
    tags = _Tags()
    tags.feed(page(record))
    assert not {"script", "link", "img", "iframe", "object"} & set(tags.tags)
    assert not any(name.startswith("on") or name in ("src", "href") for name in tags.attributes)


def test_names_are_text_whatever_they_hold() -> None:
    found = strong({HOSTILE: even(8.0), f"setup {HOSTILE}": alone(1.0)})
    text = page(scaling_of(found, [{found.parameter: 64.0}]))
    assert "<img" not in text
    assert "\x1b" not in text
    tags = _Tags()
    tags.feed(text)
    assert not any(name.startswith("on") for name in tags.attributes)


def test_boxes_of_the_tree_are_as_wide_as_their_time(record: Scaling) -> None:
    widths = {
        re.sub(r":.*", "", title): float(width)
        for title, width in re.findall(
            r"<title>([^<]*)</title><rect x=\"[\d.]+\" y=\"\d+\" width=\"([\d.]+)\"", page(record)
        )
    }
    # 16 threads: solve takes 0.5 s, setup 1 s, exchange 0.25 s of 1.75 s.
    assert widths["setup"] == pytest.approx(920 / 1.75, abs=2)
    assert widths["solve"] == pytest.approx(920 * 0.5 / 1.75, abs=2)


def test_ideal_scaling_is_straight_down_to_where_it_leaves_the_plot(record: Scaling) -> None:
    text = page(record)
    (ends,) = re.findall(r'<polyline class="i" points="([\d.]+),([\d.]+) ([\d.]+),([\d.]+)"', text)
    left, top, right, bottom = map(float, ends)
    points = [(float(x), float(y)) for x, y in re.findall(r'<circle class="p" cx="([\d.]+)" cy="([\d.]+)"', text)]
    first, last = record.points[0], record.points[-1]
    decade = (points[len(record.points) - 1][0] - points[0][0]) / log10(last.value / first.value)
    tenth = (points[len(record.points) - 1][1] - points[0][1]) / log10(first.elapsed / last.elapsed)
    assert (left, top) == points[0]
    # Ten times as many threads take a tenth of the time.
    assert (bottom - top) / tenth == pytest.approx((right - left) / decade, rel=0.01)


def test_few_scales_have_points_and_no_curve() -> None:
    found = series("n", {n: profile(1, {"fill": even(n / 1e3)}) for n in (1000, 2000)})
    text = page(scaling_of(found, [{found.parameter: 8000.0}]))
    assert "no law can be extrapolated" in text
    assert '<polyline class="l"' not in text


def test_sizes_have_times_and_what_is_said_of_a_scale_stands_apart_from_its_number() -> None:
    found = series("n", {n: profile(1, {"fill": even(n / 1e3)}) for n in (1000, 2000, 4000)})
    text = page(scaling_of(found, [{found.parameter: 8000.0}]))
    assert "<h2>Times</h2>" in text
    assert "<b>At n = 8,000:</b> " in text


def test_a_record_of_another_hand_is_shown_safely(record: Scaling) -> None:
    tree = [node.model_copy(update={"parent": 10**6, "name": "a\u202eb"}) for node in record.tree]
    text = page(record.model_copy(update={"tree": tree, "title": "x\u2028\x1b[31m", "headline": HOSTILE}))
    assert not re.search("[\x1b\u2028\u202e]", text)
    assert "<img" not in text


def test_the_tree_is_a_table_too(record: Scaling) -> None:
    # Of 1.75 s at 16 threads setup has 1 s, of which ideal would be 1 / 16.
    assert re.search(rf"setup</th><td>{100 / 1.75:.1f} %</td><td>{(1 - 1 / 16) / 1.75 * 100:.1f} %</td>", page(record))
