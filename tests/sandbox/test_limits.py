"""Resource limits of a request."""

from __future__ import annotations

import resource
from pathlib import Path

from chathpc.sandbox import Limits, Request
from chathpc.sandbox.system import resource_limits


def test_address_space_is_bounded_but_for_a_gpu() -> None:
    request = Request(("true",), Path("/work"), limits=Limits(memory=1 << 30, file=1 << 20, processes=10))
    found = dict(resource_limits(request))
    assert (found[resource.RLIMIT_AS], found[resource.RLIMIT_FSIZE], found[resource.RLIMIT_CORE]) == (
        1 << 30,
        1 << 20,
        0,
    )
    # Those of the user that run already, this one among them, come on top.
    assert found[resource.RLIMIT_NPROC] > 10
    assert resource.RLIMIT_AS not in dict(resource_limits(Request(("true",), Path("/work"), gpu=True)))
