"""Rules for all tests: Hypothesis is not timed, and under CHATHPC_REQUIRE_ALL=1 a skipped test is a failed one.

That variable says that everything optional is installed. Excepted are tests/conformance, whose data lies outside the
repository, and tests marked `gpu`, `privileged`, `proprietary` or `unprivileged`.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

REQUIRE_ALL = os.environ.get("CHATHPC_REQUIRE_ALL") == "1"

settings.register_profile("chathpc", deadline=None, print_blob=True, max_examples=50, derandomize=REQUIRE_ALL)
settings.load_profile("chathpc")


def _may_be_skipped(item: pytest.Item | pytest.Collector) -> bool:
    marks = {mark.name for mark in item.iter_markers()}
    return (
        bool(marks & {"gpu", "privileged", "proprietary", "unprivileged"})
        or Path(__file__).parent / "conformance" in item.path.parents
    )


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport, item: pytest.Item | pytest.Collector) -> None:
    if REQUIRE_ALL and report.skipped and not hasattr(report, "wasxfail") and not _may_be_skipped(item):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"{reason}\nCHATHPC_REQUIRE_ALL is set: this test must run."


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse_skip(report, item)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report, collector)
    return report


@pytest.fixture(autouse=True)
def _own_log(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What tests say to models is not kept among what their user said."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
