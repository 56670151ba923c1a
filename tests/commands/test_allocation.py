"""Freed memory is kept, where the C library can do that, and nothing fails where it cannot."""

from __future__ import annotations

import ctypes

import pytest

from chathpc.commands.allocation import keep_freed_memory


def test_the_c_library_is_told_to_keep_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []

    class Library:
        def mallopt(self, parameter: int, value: int) -> int:
            told.append((parameter, value))
            return 1

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    monkeypatch.setenv("NUMPY_MADVISE_HUGEPAGE", "1")
    keep_freed_memory()
    # M_MMAP_MAX, M_TRIM_THRESHOLD and M_TOP_PAD as in glibc's malloc.h.
    assert told == [(-4, 0), (-1, 2**31 - 1), (-2, 64 << 20)]
    assert __import__("os").environ["NUMPY_MADVISE_HUGEPAGE"] == "1", "what the user set stays"


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    keep_freed_memory()
