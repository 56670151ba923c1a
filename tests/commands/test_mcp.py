"""`chathpc mcp` before it serves: what is missing or wrong is one sentence, and stdout stays empty."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.conftest import Result
from tests.mcp.questions import TRIANGLE

Run = Callable[..., Result]


@pytest.fixture
def without_mcp(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that lacks the package mcp."""
    for name in [name for name in sys.modules if name.split(".")[0] in ("mcp", "mcp_types")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "chathpc.mcp.server", raising=False)
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "mcp_types", None)


def test_without_the_package_the_command_to_install_it_is_told(run: Run, without_mcp: None) -> None:
    result = run("mcp", str(TRIANGLE))
    assert (result.code, result.out) == (1, "")
    assert (
        result.err == "chathpc: chathpc mcp needs the package mcp, version 2.3 or newer.\npip install 'chathpc[mcp]'\n"
    )


def test_the_tools_need_no_package(without_mcp: None) -> None:
    from chathpc.mcp import offers
    from chathpc.mcp.opened import OpenProfiles

    assert "stencil_omp" in offers.answer(OpenProfiles([TRIANGLE]), "summary", {}).text


def test_a_mistake_of_ours_is_not_taken_for_a_missing_package(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "chathpc.mcp.server", raising=False)
    monkeypatch.setitem(sys.modules, "chathpc.mcp.offers", None)
    monkeypatch.delattr("chathpc.mcp.offers", raising=False)
    result = run("mcp", str(TRIANGLE))
    assert result.code == 70
    assert "internal error" in result.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "No profile was given"),
        (("--compare", str(TRIANGLE)), 2, "No profile was given"),
        (("nowhere",), 3, "no such file or folder"),
        ((str(TRIANGLE), "--compare", "nowhere"), 3, "no such file or folder"),
        ((str(TRIANGLE), str(TRIANGLE)), 2, "given twice"),
        (("--root", "nowhere"), 2, "is not a folder"),
        ((str(TRIANGLE), "--patterns", "nowhere"), 2, "nowhere"),
    ],
)
def test_what_is_wrong_on_the_command_line_ends_the_command(
    run: Run,
    arguments: tuple[str, ...],
    code: int,
    words: str,
) -> None:
    pytest.importorskip("mcp", reason="needs the package mcp: pip install 'chathpc[mcp]'")
    result = run("mcp", *arguments)
    assert (result.code, result.out) == (code, "")
    assert words in result.err


def test_a_damaged_profile_is_an_unreadable_one(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="needs the package mcp: pip install 'chathpc[mcp]'")
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "meta.db").write_bytes(b"HPCTOOLKITmeta" + bytes(10))
    assert run("mcp", "db").code == 3
