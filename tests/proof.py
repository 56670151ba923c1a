"""Run the tests that take long: `python -m tests.proof [--all] [--seed COMMIT] [--workers N] [--table FILE] [--kept FOLDER] [PYTEST OPTION ...]`.

Without --all a sample of each family (tests/families.py), drawn by the commit that is checked out. It says first what it runs, then what
became of it; --table writes that as Markdown. With --all each family's result is kept by commit, and a second call goes on where
the first was ended. Exit status: 0 if all passed, 1 if one did not, 2 if a family has no test.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.families import FAMILIES, Family, chosen, family_of, kind_of

ROOT = Path(__file__).parents[1]


@dataclass
class Counted:
    """What pytest collects of the families: ids and kinds of all tests, and the ids that are chosen."""

    seed: str | None
    tests: dict[str, str | None] = field(default_factory=dict)
    chosen: frozenset[str] = frozenset()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take down what was collected."""
        self.tests = {item.nodeid: kind_of(item) for item in session.items if family_of(item.nodeid)}
        self.chosen = frozenset(chosen(session.items, self.seed))


@dataclass(frozen=True, slots=True)
class Row:
    """One family: its tests, those that are run, and of both the kinds."""

    family: Family
    tests: int
    chosen: int
    kinds: int
    chosen_kinds: int


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a family's tests: how many had each outcome, and seconds of all together."""

    outcomes: Counter[str]
    seconds: float

    @property
    def passed(self) -> bool:
        """Something was run or skipped (with CHATHPC_REQUIRE_ALL=1 a skip is a failure), and nothing failed."""
        return self.outcomes.total() > 0 and not self.outcomes["failed"]


def rows(counted: Counted) -> list[Row]:
    """The families in their order."""
    found = []
    for family in FAMILIES:
        tests = {test: kind for test, kind in counted.tests.items() if family_of(test) == family}
        some = tests.keys() & counted.chosen
        found.append(Row(family, len(tests), len(some), len({*tests.values()}), len({tests[one] for one in some})))
    return found


def outcomes(reports: Sequence[Path]) -> dict[str, Ran]:
    """What pytest's reports (JUnit XML) say of each family."""
    found = {family.name: Ran(Counter(), 0.0) for family in FAMILIES}
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):
            name = next((each.get("value") for each in case.iter("property") if each.get("name") == "family"), None)
            if name is None:
                continue
            signs = {child.tag for child in case}
            outcome = "failed" if signs & {"failure", "error"} else "skipped" if "skipped" in signs else "passed"
            ran = found[name]
            ran.outcomes[outcome] += 1
            found[name] = Ran(ran.outcomes, ran.seconds + float(case.get("time", 0)))
    return found


def table(families: Sequence[Row], ran: Mapping[str, Ran], title: str, minutes: float) -> str:
    """The outcome as a page of Markdown."""
    lines = [
        "# Proof",
        "",
        f"Tests that take long, by family: {title}, {minutes:.0f} minutes. `make prove-all` writes this page"
        " ([development.md](development.md#two-tiers)).",
        "",
        "| family | what it proves | tests | kinds | passed | failed | skipped | minutes of all tests |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in families:
        one = ran[row.family.name]
        lines.append(
            f"| {row.family.name} | {row.family.proves} | {row.chosen} of {row.tests} | {row.chosen_kinds} of {row.kinds} "
            f"| {one.outcomes['passed']} | {one.outcomes['failed']} | {one.outcomes['skipped']} | {one.seconds / 60:.1f} |"
        )
    return "\n".join(lines) + "\n"


def commit() -> str:
    """The commit that is checked out; `none` outside a repository."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "none"


def main(words: Sequence[str]) -> int:
    """Collect, say what is chosen, run it: first what must run alone, then the others side by side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="all tests of the families, not a sample")
    parser.add_argument("--seed", default="", help="what the sample is drawn by (default: the commit)")
    parser.add_argument("--workers", type=int, default=2, help="test processes")
    parser.add_argument("--table", type=Path, help="write the outcome to this file")
    parser.add_argument(
        "--kept",
        type=Path,
        default=ROOT / "build" / "proof",
        help="with --all: results by family, where a run that was ended goes on",
    )
    options, more = parser.parse_known_args(words)
    seed = None if options.all else options.seed or commit()
    files = sorted({test.split("::")[0] for family in FAMILIES for test in family.tests})

    counted = Counted(seed)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = pytest.main([*files, "--collect-only", "-q", "-p", "no:cacheprovider"], plugins=[counted])
    if code != 0:
        print(said.getvalue())
        return 1
    families = rows(counted)
    title = f"all of them, commit {commit()}" if seed is None else f"a sample drawn by {seed}"
    print(f"{title}, on {options.workers} processes")
    for row in families:
        kinds = f", {row.chosen_kinds} of {row.kinds} kinds" if row.kinds > 1 else ""
        print(f"  {row.family.name:12} {row.chosen:4} of {row.tests:4} tests{kinds}", flush=True)
    if not all(row.chosen for row in families):
        print("A family has no test: correct FAMILIES in tests/families.py.")
        return 2

    reports = []
    with tempfile.TemporaryDirectory(prefix="chathpc-proof-") as scratch:
        kept = Path(scratch) if seed is not None else options.kept / commit()
        kept.mkdir(parents=True, exist_ok=True)
        groups = [[row.family] for row in families] if seed is None else _groups(families)
        for group in groups:
            reports.append(kept / f"{group[0].name}.xml")
            if reports[-1].exists():
                continue  # an earlier run of this commit got so far
            part = reports[-1].with_suffix(".part")
            command = [sys.executable, "-m", "pytest", *files, "-q", f"--junitxml={part}", *more]
            command += ["-n", "0"] if group[0].alone else ["-n", str(options.workers), "--dist", "loadgroup"]
            command += ["--prove", "all"] if seed is None else ["--prove", "sample", "--seed", seed]
            command += [word for family in group for word in ("--family", family.name)]
            ended = subprocess.run(command, cwd=ROOT, check=False).returncode
            if ended in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
                part.rename(reports[-1])
        ran = outcomes([report for report in reports if report.exists()])
        minutes = sum(_minutes(report) for report in reports if report.exists())
    text = table(families, ran, title, minutes)
    if options.table:
        options.table.write_text(text, encoding="utf-8")
    print(text)
    return 0 if all(ran[row.family.name].passed for row in families) else 1


def _groups(families: Sequence[Row]) -> list[list[Family]]:
    """The families in two: those that run alone, and the others, which run side by side."""
    return [[row.family for row in families if row.family.alone == alone] for alone in (True, False)]


def _minutes(report: Path) -> float:
    """How long a run of pytest took by its report, the start of its processes and the waiting for them included."""
    return float(next(ElementTree.parse(report).iter("testsuite")).get("time", 0)) / 60


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
