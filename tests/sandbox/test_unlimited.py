"""All addresses are no limit: ThreadSanitizer ends a program that has one."""

from __future__ import annotations

import resource
from dataclasses import replace

from chathpc.sandbox import Limits
from chathpc.sandbox.limits import ALL_ADDRESSES, resource_limits


def test_memory_is_limited_unless_all_of_it_is_asked_for() -> None:
    limits = Limits(memory=ALL_ADDRESSES - 1)
    assert (resource.RLIMIT_AS, ALL_ADDRESSES - 1) in resource_limits(limits)
    assert resource.RLIMIT_AS not in dict(resource_limits(replace(limits, memory=ALL_ADDRESSES)))
