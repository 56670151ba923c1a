"""The first screen of all measured databases and public samples: short, and with the verdict on a small terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

import chathpc
from chathpc.errors import ChathpcError
from chathpc.fix.recipes.exact import exact_changes
from chathpc.reports import renderers, wording
from chathpc.reports.first_screen import LINES, WORDS
from chathpc.reports.style import Style
from tests.conformance.test_one_total import DATA, RUNS

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the measured profiles are not here (CHATHPC_TEST_DATA)")


@pytest.mark.parametrize("path", RUNS, ids=lambda path: str(path.relative_to(DATA)))
def test_it_is_short_and_says_the_verdict(path: Path) -> None:
    try:
        report = chathpc.explain(path, llm="none", propose=exact_changes)
    except ChathpcError:
        pytest.skip("no profile by itself")
    for height in (None, 24):
        text = renderers()["screen"](report, Style(height=height))
        assert text.count("\n") <= (LINES if height is None else height - 1)
        assert len(text.split()) <= WORDS
        assert wording.VERDICTS[report.verdict] in "\n".join(text.splitlines()[:6])
    for finding in report.findings:
        for edit in finding.change.edits if finding.change is not None else ():
            excerpt = chathpc.load(path).read_source(edit.file, 1, 10**7)
            assert excerpt is not None
            assert "\n".join(excerpt.lines).count(edit.search) == 1
