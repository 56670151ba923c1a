"""How long a browser needs for large pages. Of the family that is run alone: times are judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.reports.browser import pages

#: Most bytes of a page of a million contexts.
MOST_BYTES = 2_000_000


def first_paint(chromium: Any, file: Path) -> float:
    """Seconds from the beginning of the navigation to the first content on the screen: the best of five."""
    found = []
    for _ in range(5):
        tab = chromium.new_page(viewport={"width": 1280, "height": 800})
        tab.goto(file.as_uri())
        tab.wait_for_selector("html[data-ready]")
        tab.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
        found.append(tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1000)
        tab.close()
    return min(found)


@pytest.mark.parametrize(("nodes", "seconds"), [(10_000, 0.2), (1_000_000, 1.0)])
def test_the_first_paint_comes_soon_and_the_page_is_small(
    chromium: Any, tmp_path: Path, nodes: int, seconds: float
) -> None:
    file = tmp_path / "page.html"
    file.write_text(pages.page(pages.wide(nodes)), encoding="utf-8")
    assert file.stat().st_size <= MOST_BYTES
    assert first_paint(chromium, file) <= seconds
