"""The rule of tests/conftest.py: under CHATHPC_REQUIRE_ALL=1 a skipped test is a failed one, with named exceptions."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

SUITE = """
    import pytest

    def test_that_lacks_a_package():
        pytest.importorskip("a_package_that_nobody_has")

    @pytest.mark.gpu
    def test_that_needs_a_gpu():
        pytest.skip("there is no GPU here")

    @pytest.mark.xfail
    def test_that_is_known_to_fail():
        raise ValueError
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    pytester.makeini("[pytest]\nmarkers =\n    gpu: needs a GPU\n")
    pytester.makeconftest((Path(__file__).parent / "conftest.py").read_text(encoding="utf-8"))
    pytester.makepyfile(SUITE)
    pytester.mkpydir("conformance").joinpath("test_data.py").write_text(
        "import pytest\n\n\ndef test_that_needs_data():\n    pytest.skip('there is no data here')\n"
    )
    monkeypatch.delenv("CHATHPC_REQUIRE_ALL", raising=False)
    return pytester


def test_a_developer_may_lack_packages(suite: pytest.Pytester) -> None:
    suite.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(skipped=3, xfailed=1)


def test_where_everything_is_required_only_a_gpu_and_outside_data_may_be_missing(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHATHPC_REQUIRE_ALL", "1")
    result = suite.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1, skipped=2, xfailed=1)
    result.stdout.fnmatch_lines(["*CHATHPC_REQUIRE_ALL is set: this test must run.*"])


def test_a_module_that_skips_itself_fails_too(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    suite.makepyfile(test_whole_module="import pytest\npytest.importorskip('a_package_that_nobody_has')\n")
    monkeypatch.setenv("CHATHPC_REQUIRE_ALL", "1")
    result = suite.runpytest_subprocess("-p", "no:cacheprovider", "test_whole_module.py")
    result.assert_outcomes(errors=1)
