"""Seeded damage to small files of any format, and a table of how the readers take it.

    python -m tests.adapters.mutations --format NAME|all --cases 10000 [--seed N] [--processes 2] [--keep DIR]
    python -m tests.adapters.mutations --base PATH … --cases 10000

What is damaged is written by `tests.adapters.samples.NAME` (dashes as underscores). Case number N of a format is the same
every time: `--seed N --keep DIR` leaves it in DIR. Allowed are a profile and an AdapterError with a hint, within 2 s of
processor time and 64 MiB + 20 × size of memory. HPCToolkit databases have a harness of their own.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import tests.adapters.samples
from tests.adapters.contained import Outcome, Server
from tests.adapters.structured_damage import damage_file

READER = "tests.adapters.everything:read_everything"
#: Cases that one forked child runs.
BATCH = 50


@dataclass(frozen=True, slots=True)
class Case:
    """One damaged input: which, what was done to which file of it."""

    number: int
    base: str
    file: str
    damage: str

    def __str__(self) -> str:
        return f"case {self.number}: {self.damage} of {self.file} of {self.base}"


def formats() -> list[str]:
    """The formats that have samples to damage."""
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(tests.adapters.samples.__path__))


def write_bases(format: str, folder: Path) -> list[Path]:
    """The undamaged inputs of a format, written to `folder`."""
    module = importlib.import_module(f"tests.adapters.samples.{format.replace('-', '_')}")
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = module.write_samples(folder)
    return written


def files_of(base: Path) -> list[Path]:
    """The files of an input, which is one or a folder."""
    return [base] if base.is_file() else sorted(path for path in base.rglob("*") if path.is_file())


def make(number: int, bases: Sequence[Path], target: Path) -> tuple[Case, Path]:
    """Write damaged input `number` into the new folder `target`; what it is, and its path."""
    random = Random(number)
    base, other = random.choice(bases), random.choice(bases)
    target.mkdir()
    copy = target / base.name
    (shutil.copytree if base.is_dir() else shutil.copyfile)(base, copy)
    file = random.choice(files_of(copy))
    donor = random.choice(files_of(other)).read_bytes()
    way = damage_file(file, random, donor)
    if random.random() < 0.1:
        way += ", " + damage_file(file, random, donor)
    if random.random() < 0.03 and copy.is_dir():
        victim = random.choice(files_of(copy))
        victim.unlink()
        way += f", without {victim.name}"
    return Case(number, base.name, str(file.relative_to(target)), way), copy


def run(
    numbers: Sequence[int], bases: Sequence[Path], folder: Path, *, processes: int = 1
) -> Iterator[tuple[Case, Outcome]]:
    """Make, read and remove each case; `processes` servers work side by side."""

    def work(share: Sequence[int]) -> list[tuple[Case, Outcome]]:
        found = []
        with Server(READER, warm=bases, batch=BATCH) as server:
            for number in share:
                target = folder / f"case-{number}"
                case, path = make(number, bases, target)
                found.append((case, server.run(path)))
                shutil.rmtree(target)
        return found

    with ThreadPoolExecutor(processes) as executor:
        for found in executor.map(work, [numbers[begin::processes] for begin in range(processes)]):
            yield from found


def failed(case: Case, outcome: Outcome) -> bool:
    """True if a case ended as it must not, or was refused without a word on what to do."""
    return not outcome.good or (outcome.kind in ("refused", "late") and not outcome.hint)


def table(results: Sequence[tuple[Case, Outcome]]) -> str:
    """Counts of the outcomes, slowest and largest case, and the cases that failed, as text."""
    counts = Counter(outcome.kind for _, outcome in results)
    lines = [", ".join(f"{count} {kind}" for kind, count in counts.most_common())]
    slowest = max(results, key=lambda result: result[1].seconds)
    largest = max(results, key=lambda result: result[1].bytes)
    lines.append(
        f"slowest {slowest[1].seconds:.2f} s ({slowest[0]}), largest {largest[1].bytes / 2**20:.1f} MiB ({largest[0]})"
    )
    groups: dict[str, list[Case]] = {}
    for case, outcome in results:
        if failed(case, outcome):
            what = outcome.kind if not outcome.good else "no hint"
            groups.setdefault(f"{what}: {outcome.detail}", []).append(case)
    lines.append(f"failed {sum(map(len, groups.values()))}")
    for detail, cases in sorted(groups.items(), key=lambda item: -len(item[1])):
        lines.append(f"  {len(cases)} × {detail}")
        lines += [f"      {case}" for case in cases[:3]]
    return "\n".join(lines)


def main() -> int:
    """Run the cases that the command line asks for; 1 if one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.adapters.mutations", description=__doc__)
    parser.add_argument("--format", help="one that has samples of ours, or all; not needed with --base")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first case")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--base", type=Path, nargs="*", default=[], help="files to damage instead of our own")
    parser.add_argument("--keep", type=Path, help="only make the input of case SEED there")
    options = parser.parse_args()
    if not options.base and options.format not in (*formats(), "all"):
        parser.error(f"--format is one of {', '.join(formats())}, all; or give files with --base")
    bad = 0
    for format in formats() if options.format == "all" else [options.format or "files"]:
        with tempfile.TemporaryDirectory() as name:
            bases = options.base or write_bases(format, Path(name) / "bases")
            if options.keep:
                sys.stdout.write(f"{make(options.seed, bases, options.keep)[0]}\n")
                return 0
            began = time.monotonic()
            results = list(
                run(range(options.seed, options.seed + options.cases), bases, Path(name), processes=options.processes)
            )
        bad += sum(failed(case, outcome) for case, outcome in results)
        sys.stdout.write(f"== {format}: {len(results)} cases in {time.monotonic() - began:.0f} s\n{table(results)}\n")
        sys.stdout.flush()
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
