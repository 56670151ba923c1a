"""Records of compilers as a profile without values: there is nothing to conclude from them alone."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

from chathpc.adapters.compiler_records import record_files
from chathpc.adapters.compiler_records.collect import Collection
from chathpc.adapters.compiler_records.gcc import read_records
from chathpc.adapters.compiler_records.llvm import read_documents
from chathpc.adapters.compiler_records.log import read_log
from chathpc.adapters.content import read_text
from chathpc.adapters.glance import Glance
from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile import numbers
from chathpc.profile.compiler import Build, alone
from chathpc.profile.profile import Profile, Source
from chathpc.profile.text import clean
from chathpc.profile.tree import NodeKind

#: How a profile to join these with is measured.
MEASURE = "hpcrun -e REALTIME -t ./app; hpcstruct MEASUREMENTS; hpcprof -o database MEASUREMENTS"


def read(path: Path) -> Profile:
    """The records in a file, or in all files of a folder; AdapterError for what is damaged or holds none."""
    collection = Collection()
    files = _files(path)
    for file in files:
        _read_file(file, collection)
    build = collection.build()
    if not len(collection) and not build.counts:
        raise AdapterError(
            "contains no record of a loop, call, kernel or file",
            path=path,
            hint="Compile with -O2 -g, and write it again.",
        )
    title = clean(path.name.split(".")[0]) or "build"
    stacks = Stacks()
    stacks.step(-1, stacks.frame(title, kind=NodeKind.REGION))
    tool = ", ".join(build.compilers)[:60] or "compiler"
    return replace(
        stacks.profile(path, (), format="compiler records", tool=tool, title=title),
        sources=tuple(Source(file, tool) for file in files[:8]),
        caveats=caveats(build),
        not_collected={"times of the program, to join the records with": f"{MEASURE}; chathpc explain database {shlex.quote(clean(path.name))}"},
        insufficient=alone(build, (path.name,)),
        build=build,
    )  # fmt: skip


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = record_files(path)
    if not found:
        raise AdapterError(
            "contains no optimisation records", path=path, hint="Give the folder with the .opt.yaml files."
        )
    return found


def _read_file(path: Path, collection: Collection) -> None:
    begin = Glance(path).text.lstrip("\ufeff \t\r\n")[:16]
    if begin.startswith("--- !"):
        read_documents(path, collection)
    elif begin.startswith("["):
        read_records(read_text(path), path, collection)
    else:
        read_log(path, collection)


def caveats(build: Build) -> tuple[str, ...]:
    """What the records cannot tell."""
    said = []
    if build.left_out:
        said.append(f"{numbers.count(build.left_out)} further compiler records were not read.")
    if build.records and not any(record.outcome.endswith("vectorised") for record in build.records):
        said.append("The compiler records cover calls, not loops.")
    return tuple(said)
