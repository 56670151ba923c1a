"""What the sources of a folder tell about how they are built: languages, parallel models, where main is. They are only read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from chathpc.profile.languages import Language, kind_of

#: Bytes of one file and files of a folder that are read.
_LARGEST, _MOST = 1 << 20, 2_000
# Blanks at the beginning of a line are no line breaks, and what may be long has a bound: nothing here takes quadratic time.
_C_MAIN = re.compile(r"^[^\n/#*]{0,200}\bmain[ \t\n]{0,20}\([^;{}]{0,400}\)[ \t\n]{0,200}\{", re.MULTILINE)
_FORTRAN_MAIN = re.compile(r"^[ \t]*+program[ \t]++[a-z]\w{0,200}[ \t]*+(?:!.*)?$", re.MULTILINE | re.IGNORECASE)
_OPENMP = re.compile(
    r"^[ \t]*+#[ \t]*+pragma[ \t]++omp\b|^[ \t]*+[!c*]\$omp\b|^[ \t]*+use[ \t]++omp_lib\b", re.MULTILINE | re.IGNORECASE
)
_MPI = re.compile(
    r"#[ \t]*+include[ \t]*+[<\"]mpi\.h|^[ \t]*+use[ \t]*+(?:,[ \t]*+intrinsic[ \t]*+::)?[ \t]*+mpi(?:_f08)?\b|mpif\.h",
    re.MULTILINE | re.IGNORECASE,
)
_MATH = re.compile(r"#[ \t]*+include[ \t]*+<(?:math|complex|tgmath)\.h>")
_THREADS = re.compile(r"#[ \t]*+include[ \t]*+<(?:pthread\.h|thread|future)>")
_MODULE = re.compile(
    r"^[ \t]*+module[ \t]++(?!procedure\b)([a-z]\w{0,200})[ \t]*+(?:!.*)?$", re.MULTILINE | re.IGNORECASE
)
_USE = re.compile(
    r"^[ \t]*+use[ \t]*+(?:,[ \t]*+non_intrinsic[ \t]*+)?(?:::)?[ \t]*+([a-z]\w{0,200})", re.MULTILINE | re.IGNORECASE
)
_INCLUDED = re.compile(r"^[ \t]*+#?[ \t]*+include[ \t]*+[\"']([^\"'\n]{1,200})[\"']", re.MULTILINE | re.IGNORECASE)
#: A text that tells how long something took: it differs from run to run.
_TIMES = re.compile(
    r"[\"'][^\"'\n]{0,200}\b(?:time|seconds|elapsed|wall|ms/|GB/s|MB/s|[MG]FLOP)[^\"'\n]{0,200}[\"']", re.IGNORECASE
)
_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)|//[^\n]*")


@dataclass(frozen=True, slots=True)
class Source:
    """A source file (path below the folder), and what it has."""

    path: str
    language: Language
    unit: bool
    main: bool
    openmp: bool
    mpi: bool
    math: bool
    threads: bool
    times: bool
    modules: frozenset[str]
    uses: frozenset[str]
    includes: frozenset[str]


def sources(root: Path, paths: Iterable[str]) -> list[Source]:
    """The facts of those paths that are sources of a language that is compiled here; larger ones than 1 MiB are left out."""
    found = []
    for path in list(paths)[:_MOST]:
        kind = kind_of(path)
        if kind is None or kind.language in (Language.PYTHON, Language.JULIA, Language.RUST, Language.HIP):
            continue
        try:
            if (root / path).stat().st_size > _LARGEST:
                continue
            text = (root / path).read_text("utf-8", errors="replace")
        except OSError:
            continue
        found.append(_facts(path, kind.language, kind.unit, text))
    return found


def in_order(units: Iterable[Source]) -> list[Source]:
    """Fortran modules before the files that use them, as compilers want it; otherwise by path. Cycles stay by path."""
    waiting = sorted(units, key=lambda unit: unit.path)
    ours = {name for unit in waiting for name in unit.modules}
    done: set[str] = set()
    ordered: list[Source] = []
    while waiting:
        ready = next((one for one in waiting if not (one.uses & ours) - done - one.modules), waiting[0])
        waiting.remove(ready)
        ordered.append(ready)
        done |= ready.modules
    return ordered


def _facts(path: str, language: Language, unit: bool, text: str) -> Source:
    fortran = language is Language.FORTRAN
    code = text if fortran else _COMMENT.sub(" ", text)
    return Source(
        path=path,
        language=language,
        unit=unit,
        main=bool((_FORTRAN_MAIN if fortran else _C_MAIN).search(code)),
        openmp=bool(_OPENMP.search(code)),
        mpi=bool(_MPI.search(code)),
        math=bool(_MATH.search(code)),
        threads=bool(_THREADS.search(code)),
        times=bool(_TIMES.search(code)),
        modules=frozenset(name.lower() for name in _MODULE.findall(code)) if fortran else frozenset(),
        uses=frozenset(name.lower() for name in _USE.findall(code)) if fortran else frozenset(),
        includes=frozenset(name.rpartition("/")[2] for name in _INCLUDED.findall(code)),
    )
