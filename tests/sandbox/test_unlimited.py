"""All addresses are no limit: ThreadSanitizer ends a program that has one."""

from __future__ import annotations

import resource
from pathlib import Path

from chathpc.sandbox import Limits, Request
from chathpc.sandbox.system import ALL_ADDRESSES, resource_limits


def _limits(memory: int) -> dict[int, int]:
    return dict(resource_limits(Request(("true",), Path("/"), limits=Limits(memory=memory))))


def test_memory_is_limited_unless_all_of_it_is_asked_for() -> None:
    assert _limits(ALL_ADDRESSES - 1)[resource.RLIMIT_AS] == ALL_ADDRESSES - 1
    assert resource.RLIMIT_AS not in _limits(ALL_ADDRESSES)
