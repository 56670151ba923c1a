"""Seeded damage to HPCToolkit databases, and a table of how the reader takes it.

    python -m tests.adapters.hpctoolkit.mutations --cases 10000 [--seed N] [--processes 2] [--base DIR …] [--keep DIR]

Case number N is the same damage every time: `--seed N --cases 1 --keep DIR` makes it again and leaves the database in DIR.
Allowed outcomes are a profile and an AdapterError, within 2 s of processor time and 64 MiB + 20 × size of memory.
"""

from __future__ import annotations

import argparse
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

from tests.adapters.contained import Outcome, Server
from tests.adapters.damage import DAMAGES
from tests.synthetic import programs
from tests.synthetic.hpctoolkit_v4 import Database, Options, without_structure, write, write_large
from tests.synthetic.v4_meta import Shape

#: Files that are damaged, and how often: meta.db holds most of the structures.
FILES = {"meta.db": 5, "profile.db": 4, "cct.db": 2, "trace.db": 2, "metrics/default.yaml": 2}

#: Cases that one forked child runs.
BATCH = 50

YAML_WORDS = (
    b"*x", b"&a ", b"{", b"[", b"]", b"- ", b": ", b"!!python/object:os.system ", b"\x00", b"\xff", b"\t", b"<<: ", b"? ",
    b"|\n", b"1e999", b"~", b"0x7fffffffffffffffffff", b".nan", b"{/: [1, 0]}", b"{sqrt: [-1]}", b"{^: [9e300, 9e300]}",
)  # fmt: skip


def edit_yaml(data: bytearray, random: Random, other: bytes) -> None:
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(data))
        data[place : place + random.choice((0, 0, 1, 5))] = random.choice(YAML_WORDS)


@dataclass(frozen=True, slots=True)
class Case:
    """One damaged database: which, what was done to which file of it."""

    number: int
    base: str
    file: str
    damage: str

    def __str__(self) -> str:
        return f"case {self.number}: {self.damage} of {self.file} of {self.base}"


def write_bases(folder: Path) -> list[Path]:
    """The databases that are damaged, all small: threads, GPU, all statistics, newer version, no structure, random tree."""

    def nameless() -> Database:
        database = programs.small()
        database.roots, database.traces = without_structure(database.roots), {}
        return database

    write(folder / "small", programs.small())
    write(folder / "gpu", programs.gpu(), Options(seed=3))
    write(folder / "statistics", programs.small(), Options(stats=True))
    write(folder / "newer", programs.small(), Options(shape=Shape(minor=2, grow=8)))
    write(folder / "nameless", nameless())
    write_large(folder / "random", 400, 3, seed=1, samples_traced=20)
    return sorted(folder.iterdir())


def make(number: int, bases: Sequence[Path], target: Path) -> Case:
    """Write damaged database `number` to `target`, which must not exist."""
    random = Random(number)
    base, other = random.choice(bases), random.choice(bases)
    file = random.choice([name for name in FILES if (base / name).is_file() for _ in range(FILES[name])])
    damage = random.choice((*DAMAGES, *[edit_yaml] * 12) if file.endswith(".yaml") else DAMAGES)
    shutil.copytree(base, target, copy_function=_link)
    for place in (target, *(path for path in target.rglob("*") if path.is_dir())):
        place.chmod(0o755)
    data = bytearray((base / file).read_bytes())
    donor = (other / file).read_bytes() if (other / file).is_file() else bytes(data)
    damage(data, random, donor or bytes(data))
    if random.random() < 0.1 and data:
        random.choice(DAMAGES)(data, random, donor)
    (target / file).unlink()
    (target / file).write_bytes(data)
    return Case(number, base.name, file, damage.__name__)


def _link(source: str, target: str) -> str:
    """Hard links instead of copies; only the damaged file is written anew."""
    try:
        Path(target).hardlink_to(source)
    except OSError:
        shutil.copy(source, target)
        Path(target).chmod(0o644)
    return target


def run(numbers: Sequence[int], bases: Sequence[Path], folder: Path, *, processes: int = 1,
        reader: str | None = None) -> Iterator[tuple[Case, Outcome]]:  # fmt: skip
    """Make, read and remove each case; `processes` servers work side by side, results come as they are ready."""

    def work(share: Sequence[int]) -> list[tuple[Case, Outcome]]:
        found = []
        with Server(reader, batch=BATCH) if reader else Server(batch=BATCH) as server:
            for number in share:
                target = folder / f"case-{number}"
                case = make(number, bases, target)
                found.append((case, server.run(target)))
                shutil.rmtree(target)
        return found

    shares = [numbers[begin::processes] for begin in range(processes)]
    with ThreadPoolExecutor(processes) as executor:
        for found in executor.map(work, shares):
            yield from found


def table(results: Sequence[tuple[Case, Outcome]]) -> str:
    """Outcome × file, slowest and largest case, and the numbers of those that failed, as text."""
    kinds = ("profile", "late", "refused", "error", "slow", "memory", "hang", "crash")
    counts = Counter((case.file, outcome.kind) for case, outcome in results)
    lines = ["file".ljust(24) + "".join(kind.rjust(9) for kind in kinds) + "total".rjust(9)]
    for file in (*FILES, "all"):
        row = [sum(n for (f, k), n in counts.items() if k == kind and file in (f, "all")) for kind in kinds]
        lines.append(file.ljust(24) + "".join(str(n).rjust(9) for n in (*row, sum(row))))
    slowest = max(results, key=lambda result: result[1].seconds)
    largest = max(results, key=lambda result: result[1].bytes)
    lines.append(f"slowest  {slowest[1].seconds:.3f} s  {slowest[0]}")
    lines.append(f"largest  {largest[1].bytes / 2**20:.1f} MiB  {largest[0]}")
    no_hint = sum(outcome.kind in ("late", "refused") and not outcome.hint for _, outcome in results)
    lines.append(f"refused without a hint what to do: {no_hint}")
    failed = [result for result in results if not result[1].good]
    lines.append(f"failed   {len(failed)}")
    groups: dict[str, list[Case]] = {}
    for case, outcome in failed:
        groups.setdefault(f"{outcome.kind}: {outcome.detail}", []).append(case)
    for detail, cases in sorted(groups.items(), key=lambda item: -len(item[1])):
        lines.append(f"  {len(cases)} × {detail}")
        lines += [f"      {case}" for case in cases[:4]]
    return "\n".join(lines)


def main() -> int:
    """Run the cases that the command line asks for; 1 if one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.adapters.hpctoolkit.mutations", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first case")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--base", type=Path, nargs="*", default=[], help="databases to damage instead of our own")
    parser.add_argument("--keep", type=Path, help="only make the database of case SEED there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bases").mkdir()
        bases = options.base or write_bases(folder / "bases")
        if options.keep:
            sys.stdout.write(f"{make(options.seed, bases, options.keep)}\n")
            return 0
        began = time.monotonic()
        numbers = range(options.seed, options.seed + options.cases)
        results = list(run(numbers, bases, folder, processes=options.processes))
    sys.stdout.write(f"{table(results)}\n{time.monotonic() - began:.0f} s on {options.processes} processes\n")
    return 0 if all(outcome.good for _, outcome in results) else 1


if __name__ == "__main__":
    sys.exit(main())
