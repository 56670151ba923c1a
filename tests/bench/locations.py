"""How long it takes to tell a hundred thousand ranks apart: `python -m tests.bench.locations [--contexts 10000] [--locations 100000]`.

Writes a database of HPCToolkit's form (once, into the benchmarks' cache; some gigabytes) with about a thousand values that are not zero
at each rank: three kinds of ranks, and one in ten thousand that takes twice as long. Then `chathpc ranks` reads it in a process of its
own. As a reference: hpcanalysis reads and summarises a database of that order in 9.7 s on a node of a cluster (its paper); this is not
the same machine, nor the same database.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.bench import databases
from tests.bench.processes import command, measured
from tests.synthetic.hpctoolkit_v4 import Database, Options, _write
from tests.synthetic.v4_columns import Contexts, Floats, Kind
from tests.synthetic.v4_random import PERIOD, random_contexts
from tests.synthetic.v4_values import Location

#: Sampled instructions of a rank: with what is above them about a thousand values.
_SAMPLED = 46
_KINDS, _ODD = 3, 10_000


def points(tree: Contexts, location: int) -> Floats:
    """Samples of one rank: those of its kind, one rank in ten thousand with twice as many."""
    leaves = np.flatnonzero(tree.kind == Kind.INSTRUCTION)
    kind = np.random.default_rng([databases.SEED, location % _KINDS])
    chosen = kind.choice(leaves, min(_SAMPLED, len(leaves)), replace=False)
    usual = kind.integers(8, 64, len(chosen))
    own = np.random.default_rng([databases.SEED, _KINDS + location])
    found = np.zeros((1, len(tree)))
    found[0, chosen] = (usual + own.integers(0, 3, len(chosen))) * PERIOD * (2 if location % _ODD == _ODD - 1 else 1)
    return found


def database(contexts: int, locations: int) -> Path:
    """The database, written if the cache does not have it."""
    path = databases.cache() / f"ranks-{databases.VERSION}-{contexts}x{locations}"
    if not path.exists():
        unfinished = Path(tempfile.mkdtemp(dir=databases.cache()))
        tree = random_contexts(contexts, np.random.default_rng(databases.SEED))
        ranks = [Location(thread=0, rank=rank, core=rank % 64, node=rank // 64) for rank in range(locations)]
        _write(unfinished, tree, Database((), ranks, title="ranks"), lambda rank: points(tree, rank), {}, Options())
        unfinished.rename(path)
    return path


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=int, default=10_000)
    parser.add_argument("--locations", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    path = database(options.contexts, options.locations)
    values = (path / "cct.db").stat().st_size / 12
    run = measured(command("ranks", str(path), "--workers", str(options.workers), "-q"))
    print(
        f"{options.locations:,} ranks × {options.contexts:,} contexts, about {values:.2g} values, {options.workers} processes"
    )
    print(f"{'seconds':>10}{'MiB':>10}")
    print(f"{run.seconds:>10.1f}{run.bytes / 2**20:>10.0f}")


if __name__ == "__main__":
    sys.exit(main())
