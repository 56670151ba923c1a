"""The same checks on a real device; all of them, with a table: python -m tests.fix.gpu.device_checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.errors import ChathpcError
from chathpc.fix.gpu.device import driver
from tests.fix.gpu.device_checks import CHECKS, Check

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_check_holds_on_the_device(check: Check, tmp_path: Path) -> None:
    try:
        driver()
    except ChathpcError as error:
        pytest.skip(error.message)
    outcome, said = check.run(tmp_path)
    if outcome == "skipped":
        pytest.skip(said)
    assert outcome == "ok", said
