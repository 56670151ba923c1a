"""With how many threads a program is timed."""

from __future__ import annotations

import pytest

from chathpc.fix.runner import timed_threads


@pytest.mark.parametrize(
    ("declared", "cores", "timed"),
    [
        ((1, 2, 3), 2, 2),
        ((1, 2, 3), 64, 3),
        ((4, 8), 2, 4),
        ((8, 1, 4), 4, 4),
        ((3,), 1, 3),
        ((1, 64), None, 64),
    ],
)
def test_no_more_threads_than_cores_if_that_was_declared(
    declared: tuple[int, ...], cores: int | None, timed: int
) -> None:
    assert timed_threads(declared, cores) == timed
