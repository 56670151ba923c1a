"""Sandboxes to test, and a folder that is not pytest's own, which an ordinary user could not enter."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from chathpc.sandbox import Sandbox, states
from chathpc.sandbox.bubblewrap import Bubblewrap
from chathpc.sandbox.landlock import Landlock
from chathpc.sandbox.supervised import Plain


@pytest.fixture(params=[Bubblewrap, Landlock, Plain], ids=["bubblewrap", "landlock", "none"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    found: Sandbox = request.param()
    if dict(states()).get(found.name):
        pytest.skip(f"{found.name} does not work here: {dict(states())[found.name]}")
    return found


@pytest.fixture
def folder() -> Iterator[Path]:
    found = Path(tempfile.mkdtemp(prefix="chathpc-test-"))
    yield found
    shutil.rmtree(found, ignore_errors=True)
