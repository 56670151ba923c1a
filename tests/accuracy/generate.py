"""Writes the generated half of the labelled set into a folder: one folder a case, with its profiles and truth.json.

    python -m tests.accuracy.generate FOLDER [--split seen|held-out] [--seed N]

Names of folders say nothing of what is in them. The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.accuracy.draw import Draw
from tests.accuracy.recipes import RECIPES, Recipe, Truth
from tests.accuracy.truth import dump, number_of, split_of

SEED = 5
_MODULES = (
    "gpu_runs",
    "gpu_kernels",
    "gpu_samples",
    "gpu_sources",
    "parallel_runs",
    "host_runs",
    "little_data",
    "mpi_runs",
)
#: Modules whose profiles are written by a package that may be absent: then their cases are left out.
_NEEDS = {"mpi_runs": "otf2"}


@dataclass(frozen=True, slots=True)
class Case:
    """The number-th case of a recipe."""

    recipe: Recipe
    number: int
    seed: int

    @property
    def key(self) -> str:
        """The seed of all that is drawn for it."""
        return f"{self.seed}/{self.recipe.name}/{self.number}"

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"g{number_of(self.key):016x}"[:9]

    @property
    def split(self) -> str:
        """Its half. Recipes of one kind take turns, so that each kind is in both halves."""
        before = 0
        for each in RECIPES.values():
            if each.name == self.recipe.name:
                break
            before += each.count if each.kind == self.recipe.kind else 0
        return split_of(self.recipe.kind, "", before + self.number)

    def write(self, folder: Path, *, names: str = "", repeat: int = 1, wider: int = 1) -> Truth:
        """Write its profiles and its truth into `folder`, which is made."""
        folder.mkdir(parents=True)
        made = self.recipe.make(Draw.of(self.key, names=names, repeat=repeat, wider=wider), folder)
        made |= {"split": self.split, "family": self.recipe.family}
        (folder / "truth.json").write_text(dump(made))
        return made


def cases(seed: int = SEED) -> Iterator[Case]:
    """All cases, in a fixed order, but those that a package is absent for."""
    for module in _MODULES:
        if module not in _NEEDS or importlib.util.find_spec(_NEEDS[module]) is not None:
            importlib.import_module(f"tests.accuracy.{module}")
    for each in list(RECIPES.values()):
        for number in range(each.count):
            yield Case(each, number, seed)


def main() -> int:
    """Write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", choices=("seen", "held-out"), help="only this half")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    written = 0
    for case in cases(options.seed):
        if options.split in (None, case.split):
            case.write(options.folder / case.name)
            written += 1
    sys.stderr.write(f"{written} cases in {options.folder}\n")
    for module, package in _NEEDS.items():
        if importlib.util.find_spec(package) is None:
            sys.stderr.write(f"without those of {module}, which need the package {package}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
