"""Hold coverage to two floors, lines and branches apart: `python tests/coverage_floor.py [FILE]` (coverage's JSON)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

LINES, BRANCHES = 90.0, 85.0
"""Smallest share of lines and of branches, in percent, that the tests must run through."""


def verdicts(totals: dict[str, float]) -> list[tuple[bool, str]]:
    """For lines and for branches: is the floor held, and a sentence that says so.

    `totals` is the table of that name in coverage's JSON report. A package without branches holds the floor.
    """
    found = []
    for what, floor, covered, count in (
        ("lines", LINES, totals["covered_lines"], totals["num_statements"]),
        ("branches", BRANCHES, totals["covered_branches"], totals["num_branches"]),
    ):
        share = 100.0 * covered / count if count else 100.0
        held = share >= floor
        found.append((held, f"coverage of {what}: {share:.2f} % (at least {floor:.0f} %){'' if held else '  TOO LOW'}"))
    return found


def main(arguments: list[str]) -> int:
    """Print both sentences; 0 if both floors are held, else 1."""
    file = Path(arguments[0] if arguments else ".coverage.json")
    found = verdicts(json.loads(file.read_text(encoding="utf-8"))["totals"])
    print("\n".join(sentence for _, sentence in found))
    return 0 if all(held for held, _ in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
