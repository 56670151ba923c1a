"""Small slow programs in the styles of many people: which recipes are proposed where the time goes. Nothing is built or run.

    python -m tests.fix.styles [-v] [NAME ...]     # all programs with what is proposed for them; -v prints the changes

`styles/*/index.yaml` says of each program what is wrong and what an expert would do. `recipe` is the one that does it, where there is
one: tests/fix/test_styles.py holds on to it. The authors knew neither the recipes nor the tasks.
"""

from __future__ import annotations

import argparse
import difflib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from chathpc.diagnosis.records import Diagnosis, Verdict
from chathpc.fix.recipes.proposer import Recipes
from chathpc.fix.records import Candidate, Problem
from tests.fix.recipes.applying import project
from tests.fix.recipes.test_proposer import finding

STYLES = Path(__file__).parent / "styles"
FLAGS = "compiler-flags"


@dataclass(frozen=True)
class Style:
    """A program with one fault: where it is, what an expert would do, and the recipe that does so (None: there is none)."""

    file: Path
    cause: str
    function: str
    line: int | None
    fault: str
    expert: str
    recipe: str | None

    @property
    def name(self) -> str:
        """Folder and file."""
        return f"{self.file.parent.name}/{self.file.name}"


@cache
def styles() -> tuple[Style, ...]:
    """All programs."""
    return tuple(
        Style(index.parent / name, one["cause"], one["function"], one.get("line"), one["fault"], one["expert"], one.get("recipe"))
        for index in sorted(STYLES.glob("*/index.yaml"))
        for name, one in yaml.safe_load(index.read_text()).items()
    )  # fmt: skip


def proposed(style: Style) -> list[Candidate]:
    """What the recipes propose for a finding at the told place, without the compiler's flags and what is several changes at once."""
    text = style.file.read_text()
    found = finding(style.cause, style.function, style.line, file=style.file.name)
    flags = "-O2 -g -fopenmp" if "omp" in text else "-O2 -g"
    problem = Problem(project(flags=flags), {style.file.name: text}, Diagnosis(Verdict.BOTTLENECK, "", (found,)))
    return [one for one in Recipes().propose(problem, ()) if one.recipe != FLAGS and "+" not in one.recipe]


def main() -> None:
    """Print the table, and how many programs have the recipe for their fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    chosen = [one for one in styles() if not given.names or one.file.stem in given.names]
    for style in chosen:
        candidates = proposed(style)
        names = list(dict.fromkeys(one.recipe for one in candidates))
        mark = " " if style.recipe else "-"
        print(f"{mark} {style.name:24} {style.cause:24} {', '.join(names) or '(nothing)'}")
        if given.verbose:
            print(f"    {style.fault}\n    -> {style.expert}")
        for one in candidates if given.verbose else ():
            before = style.file.read_text().splitlines(keepends=True)
            after = one.files[style.file.name].splitlines(keepends=True)
            print(f"    {one.recipe}: {one.title}", *difflib.unified_diff(before, after, n=1), sep="\n")
    print(f"{sum(one.recipe is not None for one in chosen)} of {len(chosen)} programs have a recipe for their fault")


if __name__ == "__main__":
    main()
