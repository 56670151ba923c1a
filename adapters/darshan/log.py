"""A Darshan log as plain records, read by Darshan's own library in a child process with limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chathpc.adapters import native
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

#: Layers of libraries between a program and its files, the outermost first, with Darshan's modules and their counters' prefixes. Those
#: of the last layer do not call one another, each of the others calls the next ones.
LAYERS: tuple[Mapping[str, str], ...] = (
    {"H5F": "H5F", "H5D": "H5D"},
    {"PNETCDF_FILE": "PNETCDF_FILE", "PNETCDF_VAR": "PNETCDF_VAR"},
    {"MPI-IO": "MPIIO"},
    {"POSIX": "POSIX", "STDIO": "STDIO", "DFS": "DFS"},
)
DEPTH = {module: depth for depth, modules in enumerate(LAYERS) for module in modules}
_PREFIX = {module: prefix for modules in LAYERS for module, prefix in modules.items()}
SIZES = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS")
_COUNTERS = (
    "OPENS", "INDEP_OPENS", "COLL_OPENS", "CREATES", "READS", "WRITES", "STATS", "FSYNCS", "FDSYNCS", "INDEP_READS",
    "INDEP_WRITES", "COLL_READS", "COLL_WRITES", "SPLIT_READS", "SPLIT_WRITES", "NB_READS", "NB_WRITES", "USE_MPIIO_COLLECTIVE",
    "BYTES_READ", "BYTES_WRITTEN", "MAX_BYTE_READ", "MAX_BYTE_WRITTEN", "SEQ_READS", "SEQ_WRITES", "FILE_NOT_ALIGNED",
    "FASTEST_RANK", "SLOWEST_RANK", "FASTEST_RANK_BYTES", "SLOWEST_RANK_BYTES",
    "F_READ_TIME", "F_WRITE_TIME", "F_META_TIME", "F_WAIT_TIME", "F_FASTEST_RANK_TIME", "F_SLOWEST_RANK_TIME",
    *(f"SIZE_{way}_{size}" for way in ("READ", "WRITE") for size in SIZES),
    *(f"SIZE_{way}_AGG_{size}" for way in ("READ", "WRITE") for size in SIZES),
)  # fmt: skip
_STRIPES = ("STRIPE_SIZE", "EXT_START", "EXT_END")

#: Limits of the child, and so much more for each byte of the log (a log unpacks to some twenty times its size).
_MEMORY, _MEMORY_PER_BYTE = 2 << 30, 64
_ANSWER, _ANSWER_PER_BYTE = 256 << 20, 64
_SECONDS, _SECONDS_PER_BYTE = 20, 2e-6
#: Records of files that are read.
MOST_RECORDS = 1_000_000
DAMAGED = "Copy the log again."


@dataclass(frozen=True, slots=True)
class Record:
    """What one rank (−1: all ranks together) did to one file, or one data set `part` of it, through one module; counters without the
    module's prefix. `id` tells files apart whose names are equal, or missing.
    """

    module: str
    rank: int
    id: int
    file: str
    values: Mapping[str, float]
    part: str = ""


@dataclass(frozen=True, slots=True)
class Stripes:
    """How Lustre spreads the bytes `first` to `last` (inf: the end) of a file: pieces of `size` bytes on the targets in turn."""

    targets: tuple[int, ...]
    size: float
    first: float
    last: float


@dataclass(slots=True)
class Log:
    """Processes and seconds of the job, the log's version, modules that recorded only a part, the records, and the stripes of files by
    their ids.
    """

    processes: int
    seconds: float
    version: str
    partial: tuple[str, ...] = ()
    records: list[Record] = field(default_factory=list)
    stripes: dict[int, tuple[Stripes, ...]] = field(default_factory=dict)


def installed() -> bool:
    """True if Darshan's package can be imported, without importing it."""
    return native.installed("darshan")


def read_log(path: Path) -> Log:
    """All records of the modules that move data; AdapterError for damage or if the package is missing."""
    if not installed():
        raise _missing(path)
    size = native.size_of(path)
    request = {
        "path": str(path.absolute()),
        "modules": [*_PREFIX, "LUSTRE"],
        "counters": [
            *(f"{prefix}_{name}" for prefix in _PREFIX.values() for name in _COUNTERS),
            *(f"LUSTRE_COMP_{name}" for name in _STRIPES),
        ],
        "records": MOST_RECORDS,
    }
    limits = native.Limits(
        memory=_MEMORY + _MEMORY_PER_BYTE * size,
        answer=_ANSWER + _ANSWER_PER_BYTE * size,
        seconds=int(_SECONDS + _SECONDS_PER_BYTE * size),
    )
    log: Log | None = None
    with native.run(Path(__file__).with_name("child.py"), request, limits, path) as child:
        for value in child.answers():
            if "missing" in value:
                raise _missing(path)
            if "error" in value:
                raise AdapterError(f"Darshan's library rejects it ({clean(value['error'])})", path=path, hint=DAMAGED)
            if "job" in value:
                log = _job(value, path)
            elif "module" in value and log is not None:
                _add(log, value)
            elif "end" in value and log is not None:
                return log
        ended = child.ended
    raise AdapterError(f"Darshan's library {ended} on it: it is damaged", path=path, hint=DAMAGED)


def _add(log: Log, row: Mapping[str, Any]) -> None:
    if row["module"] == "LUSTRE":
        log.stripes[row["id"]] = tuple(
            Stripes(tuple(part["osts"]), *(part.get(f"LUSTRE_COMP_{name}", 0.0) for name in _STRIPES))
            for part in row["components"]
        )
        return
    prefix = _PREFIX[row["module"]] + "_"
    values = {name.removeprefix(prefix).replace("_AGG", ""): amount for name, amount in row["values"].items()}
    log.records.append(Record(row["module"], row["rank"], row["id"], row["file"], values, row.get("part", "")))


def _job(value: Mapping[str, Any], path: Path) -> Log:
    processes, seconds = value["job"].get("nprocs", 0.0), value["job"].get("run_time", 0.0)
    if not 1 <= processes <= 1e8 or not 0 <= seconds < 1e10:
        raise AdapterError(f"a job of {processes:g} processes and {seconds:g} s is impossible", path=path, hint=DAMAGED)
    partial = tuple(name for name, is_partial in value["modules"] if is_partial)
    return Log(int(processes), float(seconds), clean(value["version"])[:20], partial)


def _missing(path: Path) -> AdapterError:
    return AdapterError(
        "a Darshan log, which the package darshan reads",
        path=path,
        hint="Install it: pip install 'chathpc[darshan]'.",
    )
