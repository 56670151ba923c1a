"""A shell of IPython in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


class Notebook:
    """Runs cells, and gives their values, how they are shown, and what was written."""

    def __init__(self, shell: Any, captured: pytest.CaptureFixture[str]) -> None:
        self.shell = shell
        self._captured = captured

    def value(self, cell: str) -> Any:
        result = self.shell.run_cell(cell)
        assert result.success, result.error_in_exec or result.error_before_exec
        return result.result

    def shown(self, cell: str) -> dict[str, str]:
        forms, _ = self.shell.display_formatter.format(self.value(cell))
        return dict(forms)

    def refused(self, cell: str) -> str:
        """What a cell that fails says; never a traceback."""
        self._captured.readouterr()
        assert not self.shell.run_cell(cell).success
        out, err = self._captured.readouterr()
        assert "Traceback" not in out + err
        return out + err


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Notebook]:
    """A shell that knows nothing of chathpc yet, and leaves nothing in the user's folders."""
    pytest.importorskip("IPython", reason="needs IPython: pip install 'chathpc[jupyter]'")
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    settings = Config()
    settings.HistoryManager.enabled = False
    shell = InteractiveShell(config=settings)
    yield Notebook(shell, capsys)
    shell.restore_sys_module_state()


@pytest.fixture
def notebook(shell: Notebook) -> Notebook:
    """A shell after `%load_ext chathpc`."""
    shell.value("%load_ext chathpc")
    return shell
