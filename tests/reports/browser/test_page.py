"""The page in a real browser: what a reader can do, that nothing goes wrong, and that no name is more than a name."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest

from tests.reports.browser import pages
from tests.reports.browser.conftest import Show

EXPECTED = Path(__file__).parent / "expected"
SIZES = [(1280, 800), (390, 844)]
#: Mean difference of the shrunk pictures in grey levels of 255: fonts and versions of the browser differ by less, a part that is
#: missing or out of place by more.
ALIKE = 6.0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_page_looks_as_it_did(show: Show, threads_report: Any, width: int, height: int, scheme: str) -> None:
    shown = show(threads_report, width, height, scheme)
    assert _difference(shown.tab, f"threads-{width}x{height}-{scheme}") < ALIKE


def _difference(tab: Any, name: str, *, full: bool = False) -> float:
    """How much the page differs from its picture, in grey levels."""
    np, image = pytest.importorskip("numpy"), pytest.importorskip("PIL.Image")
    taken = tab.screenshot(full_page=full)
    file = EXPECTED / f"{name}.png"
    if os.environ.get("CHATHPC_UPDATE_GOLDEN") == "1":
        image.open(io.BytesIO(taken)).quantize(32).save(file, optimize=True)
    pictures = [image.open(source).convert("L") for source in (io.BytesIO(taken), file)]
    size = tuple(side // 10 for side in pictures[1].size)
    small = [np.asarray(each.resize(size), dtype=float) for each in pictures]
    return float(np.abs(small[0] - small[1]).mean())


@pytest.mark.parametrize(("width", "height", "scheme"), [(1280, 800, "light"), (390, 844, "dark")])
def test_the_page_of_a_series_looks_as_it_did(show: Show, width: int, height: int, scheme: str) -> None:
    assert (
        _difference(show(pages.scaled(), width, height, scheme).tab, f"scaled-{width}x{height}-{scheme}", full=True)
        < ALIKE
    )


@pytest.mark.parametrize(("width", "height"), [*SIZES, (320, 640)])
def test_nothing_is_wider_than_the_window(show: Show, threads_report: Any, width: int, height: int) -> None:
    shown = show(threads_report, width, height)
    assert shown.tab.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(show: Show, threads_report: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    shown = show(threads_report, scheme=scheme)
    shown.tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    found = axe.Axe().run(shown.tab)
    assert [
        (one["id"], node["target"], node.get("failureSummary", ""))
        for one in found.response["violations"]
        for node in one["nodes"]
    ] == []


@pytest.mark.parametrize("name", ["compared", "tried", "kernels", "scaled"])
@pytest.mark.parametrize(("width", "height", "scheme"), [(1280, 800, "light"), (390, 844, "dark")])
def test_every_kind_of_page_is_accessible_and_fits(show: Show, name: str, width: int, height: int, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    tab = show(getattr(pages, name)(), width, height, scheme).tab
    tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(tab)
    assert [(one["id"], node["target"]) for one in found.response["violations"] for node in one["nodes"]] == []


def test_a_search_tells_what_the_places_have_together(show: Show, threads_report: Any) -> None:
    tab = show(threads_report).tab
    tab.fill("#tree input[type=search]", "triangular_work")
    assert "place" in tab.text_content("#tree [role=status]")
    tab.fill("#tree input[type=search]", "no such function")
    assert tab.text_content("#tree [role=status]") == "No match"


def test_the_tree_is_walked_and_zoomed_by_keys(show: Show, threads_report: Any) -> None:
    tab = show(threads_report).tab
    tab.focus("#tree .stage")
    tab.keyboard.press("ArrowDown")
    below = tab.text_content("#frame")
    assert not below.startswith("the whole run")
    tab.keyboard.press("Enter")
    assert tab.text_content("#tree .trail [aria-current]") in below
    tab.keyboard.press("Escape")
    assert tab.locator("#tree .trail").text_content() == ""


def test_a_click_zooms_into_the_tree(show: Show, threads_report: Any) -> None:
    tab = show(threads_report).tab
    tab.locator("#tree canvas").click(position={"x": 60, "y": 27})
    assert tab.locator("#tree .trail button").count() >= 1
    tab.click("#tree button:has-text('Reset')")
    assert tab.locator("#tree .trail button").count() == 0


def test_the_tree_from_the_leaves_up_has_the_same_sum(show: Show, threads_report: Any) -> None:
    tab = show(threads_report).tab
    whole = tab.text_content("#frame span")
    tab.click("#tree button:has-text('Bottom-up')")
    assert tab.text_content("#frame span").split(",")[0] == whole.split(",")[0]


def test_a_heading_sorts_its_table(show: Show, threads_report: Any) -> None:
    tab = show(threads_report).tab
    names = "Array.from(document.querySelectorAll('#functions tbody tr th'), (cell) => cell.textContent)"
    tab.click("#functions thead button:has-text('Function')")
    rows = tab.evaluate(names)
    assert rows == sorted(rows, key=str.casefold) or len(rows) > 1
    assert tab.get_attribute("#functions thead th:first-child", "aria-sort") == "ascending"
    tab.click("#functions thead button:has-text('Function')")
    assert tab.get_attribute("#functions thead th:first-child", "aria-sort") == "descending"
    assert tab.evaluate(names)[0] != rows[0]


def test_a_fact_tells_where_it_comes_from_on_a_click(show: Show, threads_report: Any) -> None:
    tab = show(threads_report).tab
    first = tab.locator("#findings .fact").first
    assert not first.locator("dl").is_visible()
    first.locator("summary").click()
    assert "sum over waiting and runtime frames" in first.locator("dl").text_content()


def test_the_place_of_a_finding_leads_to_the_tree(show: Show, threads_report: Any) -> None:
    tab = show(threads_report).tab
    tab.locator("#findings button.link").first.click()
    assert tab.locator("#tree .trail button").count() >= 1


def test_a_place_in_a_table_leads_to_its_source(show: Show, threads_report: Any) -> None:
    tab = show(threads_report).tab
    link = tab.locator("#functions td a").first
    target = link.get_attribute("href")
    link.click()
    tab.wait_for_function("document.activeElement.id.startsWith('L')")
    assert f"#{tab.evaluate('document.activeElement.id')}" == target


def test_the_timeline_zooms_and_moves_by_keys(show: Show, threads_report: Any) -> None:
    tab = show(threads_report).tab
    tab.focus("#timeline .stage")
    whole = tab.text_content("#span")
    tab.keyboard.press("+")
    assert tab.text_content("#span") != whole
    tab.keyboard.press("0")
    assert tab.text_content("#span") == whole


def test_the_threads_of_another_place_can_be_chosen(show: Show, threads_report: Any) -> None:
    tab = show(threads_report).tab
    before = tab.text_content("#threads dl.figures")
    tab.select_option("#threads select", "0")
    assert tab.text_content("#threads dl.figures") != before
    assert "Heat map" in tab.get_attribute("#threads canvas >> nth=0", "aria-label")


def test_what_is_printed_is_light_and_open(show: Show, threads_report: Any) -> None:
    tab = show(threads_report, scheme="dark").tab
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate("document.documentElement.dataset.theme") == "light"
    assert tab.locator("details.finding:not([open])").count() == 0
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_hostile_names_are_text_and_nothing_else(show: Show, width: int, height: int) -> None:
    shown = show(pages.hostile(), width, height)
    tab = shown.tab
    assert tab.locator("script").count() == 2
    assert tab.locator("img, iframe, object, embed, form, link:not([rel=icon])").count() == 0
    assert (
        tab.evaluate(
            "Array.from(document.querySelectorAll('*')).flatMap((one) => one.getAttributeNames()).filter((name) => name.startsWith('on'))"
        )
        == []
    )
    assert pages.HOSTILE[1] in tab.text_content("body")
    tab.fill("#tree input[type=search]", "<img")
    tab.click("#tree button:has-text('Bottom-up')")
    tab.mouse.move(200, 300)


def test_the_policy_stops_a_script_that_is_put_in(chromium: Any, tmp_path: Path) -> None:
    from chathpc.reports.html import render
    from chathpc.reports.style import Style

    text = render(pages.example("omp-triangle"), Style())
    worse = text.replace(
        "</main>", "</main><script>window.hacked = true</script><img src=x onerror='window.hacked = true'>"
    )
    (tmp_path / "page.html").write_text(worse, encoding="utf-8")
    tab = chromium.new_page()
    tab.goto((tmp_path / "page.html").as_uri())
    tab.wait_for_selector("html[data-ready]")
    assert tab.evaluate("window.hacked") is None
    tab.close()


def test_without_scripts_the_report_is_there_as_text(chromium: Any, tmp_path: Path) -> None:
    from chathpc.reports.html import render
    from chathpc.reports.style import Style

    (tmp_path / "page.html").write_text(render(pages.example("omp-triangle"), Style()), encoding="utf-8")
    context = chromium.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto((tmp_path / "page.html").as_uri())
    assert "BOTTLENECK" in tab.inner_text("main pre")
    context.close()
