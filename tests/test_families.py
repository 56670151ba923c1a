"""The rules of tests/families.py and tests/proof.py, on a small suite of its own."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests import proof
from tests.families import FAMILIES, Family, drawn, family_of
from tests.proof import Ran, Row, outcomes, table

ROOT = Path(__file__).parents[1]
TESTS = [(f"tests/a.py::test_it[{number}]", f"kind {number % 7}") for number in range(200)]

pytest_plugins = ["pytester"]


def test_a_sample_is_the_same_for_a_commit_and_another_for_the_next_one() -> None:
    assert drawn(TESTS, "abc", 20) == drawn(list(reversed(TESTS)), "abc", 20)
    assert drawn(TESTS, "abc", 20) != drawn(TESTS, "fed", 20)


@pytest.mark.parametrize(("size", "drawn_tests"), [(0, 7), (7, 7), (20, 20), (1000, 200)])
def test_a_sample_has_its_size_and_each_kind(size: int, drawn_tests: int) -> None:
    for seed in ("abc", "fed", ""):
        sample = drawn(TESTS, seed, size)
        assert len(sample) == drawn_tests
        assert {kind for test, kind in TESTS if test in sample} == {f"kind {number}" for number in range(7)}


def test_in_time_each_test_is_drawn() -> None:
    counts = Counter(test for seed in range(400) for test in drawn(TESTS, str(seed), 20))
    assert counts.keys() == {test for test, _ in TESTS}
    # 40 of 400 on average, with a standard deviation of 6.
    assert min(counts.values()) > 10
    assert max(counts.values()) < 80


def test_every_family_is_of_files_that_there_are() -> None:
    assert [test for family in FAMILIES for test in family.tests if not (ROOT / test.split("::")[0]).is_file()] == []
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)


def test_a_test_is_in_one_family() -> None:
    tests = [test for family in FAMILIES for test in family.tests]
    assert [one for one in tests for other in tests if one != other and one.startswith(other)] == []
    found = family_of("tests/fix/test_kill.py::test_a_killed_session_is_gone_on_with[20]")
    assert found is not None
    assert found.name == "kills"
    assert family_of("tests/fix/test_patch.py::test_a_new_file_is_made") is None


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """Ten kills and ten others, with the plug-in of this repository."""
    pytester.makeini("[pytest]\nmarkers =\n    prove: long\n    kind(name): kind\n")
    text = (
        "import pytest\n\n@pytest.mark.parametrize('number', range(10))\ndef test_it(number):\n    assert number < 9\n"
    )
    for file in ("tests/fix/test_kill.py", "tests/test_other.py"):
        (pytester.path / file).parent.mkdir(parents=True, exist_ok=True)
        (pytester.path / file).write_text(text)
    return pytester


def run(suite: pytest.Pytester, *words: str) -> dict[str, int]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.families",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(suite.path),
    ]
    done = subprocess.run(
        [*command, "-c", str(suite.path / "tox.ini"), *words, str(suite.path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return pytest.RunResult.parse_summary_nouns(done.stdout.splitlines())  # type: ignore[no-any-return]


def test_check_leaves_families_out_and_prove_all_others(suite: pytest.Pytester) -> None:
    assert run(suite) == {"passed": 18, "failed": 2}
    assert run(suite, "-m", "not prove") == {"passed": 9, "failed": 1, "deselected": 10}
    assert run(suite, "--prove", "all") == {"passed": 9, "failed": 1, "deselected": 10}
    (kills,) = [family.sample for family in FAMILIES if family.name == "kills"]
    sample = run(suite, "--prove", "sample", "--seed", "abc", "-n", "2")
    assert sum(sample.values()) - sample.get("deselected", 0) == kills


def test_for_coverage_of_a_family_one_case_is_run_if_it_covers_code(suite: pytest.Pytester) -> None:
    assert run(suite, "--cover") == {"passed": 9, "failed": 1, "deselected": 10}
    other = suite.path / "tests/fix/test_loop.py"
    other.write_text((suite.path / "tests/test_other.py").read_text())
    found = run(suite, "--cover")
    assert found["passed"] + found["failed"] == 11


def test_what_became_of_a_family_is_read_from_pytests_report(suite: pytest.Pytester) -> None:
    report = suite.path / "report.xml"
    run(suite, "--prove", "all", "-n", "2", f"--junitxml={report}")
    found = outcomes([report])
    assert found["kills"].outcomes == {"passed": 9, "failed": 1}
    assert not found["kills"].passed
    assert not found["cheats"].passed, "nothing was run"


def test_the_page_names_each_family_with_its_figures() -> None:
    family = Family("kills", "it goes on", 1, ("tests/fix/test_kill.py",))
    text = table([Row(family, 10, 2, 3, 1)], {"kills": Ran(Counter(passed=1, skipped=1), 90.0)}, "a sample", 2.0)
    assert "| kills | it goes on | 2 of 10 | 1 of 3 | 1 | 0 | 1 | 1.5 |" in text


def test_a_family_without_a_test_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = Family("none", "nothing", 1, ("tests/test_families.py::test_that_is_not_there",))
    monkeypatch.setattr(proof, "FAMILIES", (empty,))
    assert proof.main(["--seed", "abc"]) == 2
    assert "A family has no test" in capsys.readouterr().out
