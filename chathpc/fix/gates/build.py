"""The second gate: it builds as the original does, the build changes nothing but what it makes, and what is made takes no more from
libraries: a call that is hidden from readers of the source is still found there.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from chathpc.fix.gates.constructs import families
from chathpc.fix.records import Figure, GateResult, Verdict
from chathpc.fix.runner import Built, Runner
from chathpc.fix.workspace import entries
from chathpc.profile.text import clean

_ELF = b"\x7fELF"
#: So many programs of a tree are looked at.
_MOST = 20
#: Names in libraries that differ from those in source: prefixes of glibc and Fortran's runtime.
_DECORATED = re.compile(r"^(?:_+(?:isoc99|isoc23|libc|GI|xpg)?_?|_gfortran_)|@.*$|_chk(?=@|$)|64(?=@|$)|_i[48]$")
_FORTRAN = {
    "_gfortran_system_clock": "clock", "_gfortran_cpu_time": "clock", "_gfortran_date_and_time": "clock", "_gfortran_etime": "clock",
    "_gfortran_second": "clock", "_gfortran_secnds": "clock", "_gfortran_get_environment_variable": "surroundings",
    "_gfortran_execute_command_line": "process", "_gfortran_system": "process", "_gfortran_system_sub": "process",
    "_gfortran_sleep": "sleep", "_gfortran_getpid": "surroundings", "_gfortran_st_open": "file",
}  # fmt: skip
#: Every program has some of these for itself, or a compiler puts them in.
_COMMON = frozenset(
    {"MPI_Abort", "mpi_abort_", "abort", "exit", "signal", "open", "cxa_atexit", "__cxa_atexit", "atexit"}
)
#: C++ streams of files: `std::ofstream` and its kin, as their constructors are called in libstdc++ and libc++.
_STREAM = re.compile(r"^_ZNSt(?:3__1)?1[34]basic_(?:filebuf|fstream|[io]fstream)I")
_SINGLE = re.compile(
    r"^(?:__)?(?:sqrt|exp|exp2|expm1|log|log2|log10|log1p|pow|sin|cos|sincos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|fmod|hypot|cbrt|erf|erfc)f(?:_finite)?$"
    r"|^_ZGV\w+_(?:\w+)f$"
)
_DOUBLE = re.compile(r"^(?:sqrt|exp|log|pow|sin|cos|tan|atan2|fmod|hypot)$")


@dataclass(frozen=True, slots=True)
class Imports:
    """Names that the programs of a tree take from libraries, and how many instructions turn double into single precision."""

    names: frozenset[str]
    narrowing: int
    single: int


def imports(runner: Runner, built: Built) -> Imports | None:
    """Of all programs and libraries that the build made; None where nm and objdump are not there or say nothing."""
    made = []
    for path, status in entries(built.folder):
        if status.st_size > len(_ELF) and not path.endswith((".o", ".a")):
            try:
                with (built.folder / path).open("rb") as stream:
                    if stream.read(len(_ELF)) == _ELF:
                        made.append(path)
            except OSError:
                continue
    if not made:
        return None
    files = " ".join(shlex.quote(f"./{path}") for path in made[:_MOST])
    named = runner.tool(built, f"nm -D --undefined-only {files} 2>/dev/null")
    if not named.succeeded:
        return None
    rows = (row.split() for row in named.stdout.decode("ascii", "replace").splitlines())
    names = frozenset(row[-1].partition("@")[0] for row in rows if row[:1] in (["U"], ["w"]))
    counted = runner.tool(
        built,
        f"objdump -d --no-show-raw-insn {files} 2>/dev/null | awk '/cvts[d]2ss|cvtpd2ps/{{n++}} /(add|mul|sub|div)(ss|ps) /{{s++}} END{{print n+0, s+0}}'",
    )
    words = counted.stdout.split() if counted.succeeded else []
    narrowing, single = (int(words[0]), int(words[1])) if len(words) == 2 else (0, 0)
    return Imports(names, narrowing, single)


def family(name: str) -> str | None:
    """The family of constructs.yaml that a name from a library belongs to."""
    if name in _FORTRAN:
        return _FORTRAN[name]
    if name.startswith("_ZNSt6chrono") and "now" in name:
        return "clock"
    if _STREAM.match(name):
        return "file"
    plain = _DECORATED.sub("", name)
    for each, its in families().items():
        if (name in its.calls or plain in its.calls) and plain not in _COMMON and name not in _COMMON:
            return each
    return None


def suspicious(original: Imports, changed: Imports) -> str:
    """What the changed programs have that the original ones lack, as the end of a sentence; empty for nothing."""
    had = {family(name) for name in original.names}
    new: dict[str, list[str]] = {}
    for name in sorted(changed.names - original.names):
        its = family(name)
        if its is not None and its not in had:
            new.setdefault(its, []).append(name)
    if new:
        return "; ".join(f"{families()[each].says} ({', '.join(names)})" for each, names in new.items())
    doubles = any(_DOUBLE.match(name) for name in original.names) or not original.single
    singles = sorted(name for name in changed.names - original.names if _SINGLE.match(name))
    if singles and doubles and not any(_SINGLE.match(name) for name in original.names):
        return f"computes in lower precision than the original ({', '.join(singles)})"
    if changed.narrowing and not original.narrowing and not original.single:
        return f"converts double precision to single, unlike the original ({changed.narrowing} instructions)"
    return ""


#: Of what a compiler says the last lines are kept (characters).
_KEPT = 2000


def judge(
    original: Built,
    changed: Built,
    touched: Sequence[str],
    programs: tuple[Imports, Imports] | None,
) -> GateResult:
    """Whether the change builds. `touched` are files of the original that the build changed, `programs` what the executables of both
    sides take from libraries (None where that cannot be told).
    """
    done = changed.completed
    said = done.said
    figures: dict[str, Figure] = {
        "seconds": round(done.seconds, 3),
        "warnings": changed.warnings,
        "warnings_original": original.warnings,
        "output": "\n".join(clean(row) for row in said[-_KEPT:].split("\n")),
    }
    if not done.succeeded:
        statement = f"It does not build ({done.ending}): {first_error(said)}"
        return GateResult("build", False, statement, Verdict.BUILD_FAILED, figures)
    if touched:
        shown = ", ".join(clean(path) for path in touched[:5])
        return GateResult("build", False, f"Building it changes {shown}.", Verdict.CHEATED, figures)
    if programs is not None:
        found = suspicious(*programs)
        if found:
            return GateResult("build", False, f"The built program {clean(found)}.", Verdict.CHEATED, figures)
    more = changed.warnings - original.warnings
    warned = f" with {more} new warning{'s' if more != 1 else ''}" if more > 0 else ""
    return GateResult("build", True, f"Builds{warned}.", None, figures)


def first_error(said: str) -> str:
    """The first line that names an error, else the last line."""
    rows = [row.strip() for row in said.splitlines() if row.strip()]
    errors = [row for row in rows if "error" in row.lower()]
    return clean((errors or rows[-1:] or ["no message"])[0])[:200]
