"""A real Chromium, started once a module; without one these tests are skipped (and fail under CHATHPC_REQUIRE_ALL=1)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from chathpc.reports.html import render
from chathpc.reports.style import Style
from tests.reports.browser import pages

NAMES = ("chromium", "chromium-browser", "google-chrome")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker has the browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser for the tests of a module: no later, for others look for processes that were left behind."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    # Its own sandbox needs what containers forbid; nothing but our own files is opened.
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=[*flags, "--font-render-hinting=none"])
        yield browser
        browser.close()


@dataclass
class Shown:
    """A page in the browser, and what went wrong in it: errors and warnings of the console, requests."""

    tab: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


Show = Callable[..., Shown]


@pytest.fixture
def show(chromium: Any, tmp_path: Path) -> Iterator[Show]:
    """Show a report (or the HTML of one) at a size, in light or dark; afterwards nothing may have gone wrong."""
    opened: list[Shown] = []

    def open_page(report: Any, width: int = 1280, height: int = 800, scheme: str = "light") -> Shown:
        text = report if isinstance(report, str) else render(report, Style())
        file = tmp_path / f"page{len(opened)}.html"
        file.write_text(text, encoding="utf-8")
        tab = chromium.new_page(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
        )
        shown = Shown(tab)
        opened.append(shown)
        tab.on("console", lambda said: shown.errors.append(said.text) if said.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: shown.errors.append(str(error)))
        tab.on("request", lambda request: shown.requests.append(request.url))
        tab.on("dialog", lambda dialog: shown.errors.append(f"dialog: {dialog.message}"))
        tab.set_default_timeout(60_000)
        tab.goto(file.as_uri())
        tab.wait_for_selector("html[data-ready]")
        return shown

    yield open_page
    for shown in opened:
        shown.tab.close()
        assert shown.errors == []
        assert [url for url in shown.requests if not url.startswith(("file:", "data:"))] == []


@pytest.fixture(scope="session")
def threads_report() -> Any:
    """An example that is in the repository: OpenMP threads, a trace, source."""
    return pages.example("omp-triangle")
