"""Compare a wheel with the source tree: `python -m tests.packaging.contents WHEEL` ends with 1 if they differ."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[2]


def package_files(root: Path) -> set[str]:
    """Names, relative to `root`, of all files below chathpc/, links followed; compiled files left out."""
    found = set()
    for folder, folders, names in os.walk(root / "chathpc", followlinks=True):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found |= {(Path(folder) / name).relative_to(root).as_posix() for name in names if not name.endswith(".pyc")}
    return found


def wheel_files(wheel: Path) -> set[str]:
    """Names of the files that the wheel installs; its own metadata left out."""
    with ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
    return {name for name in names if not name.split("/")[0].endswith(".dist-info")}


def differences(root: Path, wheel: Path) -> list[str]:
    """One line for each file that the wheel lacks or has too much."""
    expected, found = package_files(root), wheel_files(wheel)
    lacking = [f"not in the wheel: {name}" for name in sorted(expected - found)]
    return lacking + [f"not in the source tree: {name}" for name in sorted(found - expected)]


def main(arguments: list[str]) -> int:
    """Print the differences between the source tree and the one wheel that is named."""
    if len(arguments) != 1:
        print("usage: python -m tests.packaging.contents WHEEL", file=sys.stderr)
        return 2
    wheel = Path(arguments[0])
    found = differences(ROOT, wheel)
    print(
        "\n".join(found) or f"{wheel.name} holds all {len(package_files(ROOT))} files of the package and nothing else."
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
