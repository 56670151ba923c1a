"""Runs the command line in this process, with a made-up profile and report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import chathpc
from chathpc.commands.main import main
from tests.reports.sample import sample
from tests.reports.test_parts import small_profile


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """`run("explain", "db", …)`: exit code, stdout and stderr; no error path may ever print a traceback."""
    for name in ("CHATHPC_DEBUG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "COLUMNS", "CHATHPC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.chdir(tmp_path)

    def go(*args: str) -> Result:
        code = main(list(args))
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err or "--debug" in args
        return Result(code, captured.out, captured.err)

    return go


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Puts a small profile and the sample report in place of reading and explaining; the keywords explain was called with."""
    seen: list[dict[str, Any]] = []

    def explain(
        profile: object,
        *,
        progress: Callable[[str], None] | None = None,
        notice: Callable[[str], None] | None = None,
        **options: Any,
    ) -> object:
        seen.append(options)
        if progress is not None:
            progress("diagnose")
        return sample()

    monkeypatch.setattr(chathpc, "load", lambda *paths, format=None: small_profile(), raising=False)
    monkeypatch.setattr(chathpc, "explain", explain, raising=False)
    return seen
