"""Freed memory is kept, where the C library can do that, and nothing fails where it cannot."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import pytest

from chathpc.commands.allocation import LARGE, keep_freed_memory


@pytest.fixture
def large(tmp_path: Path) -> Path:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(LARGE)
    return tmp_path / "large"


def test_the_c_library_is_told_to_keep_memory(monkeypatch: pytest.MonkeyPatch, large: Path) -> None:
    told: list[tuple[int, int]] = []

    class Library:
        def mallopt(self, parameter: int, value: int) -> int:
            told.append((parameter, value))
            return 1

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    monkeypatch.setenv("NUMPY_MADVISE_HUGEPAGE", "1")
    keep_freed_memory([large.parent, large])
    # M_MMAP_MAX, M_TRIM_THRESHOLD and M_TOP_PAD as in glibc's malloc.h.
    assert told == [(-4, 0), (-1, 2**31 - 1), (-2, 64 << 20)]
    assert os.environ["NUMPY_MADVISE_HUGEPAGE"] == "1", "what the user set stays"


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch, large: Path) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    keep_freed_memory([large])


def test_small_files_folders_and_what_is_not_there_change_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: 1 / 0)
    (tmp_path / "small").touch()
    keep_freed_memory([tmp_path, tmp_path / "small", tmp_path / "gone", Path("a\0b")])
