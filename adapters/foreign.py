"""Files that are no profile by themselves and that people give all the same: what they are, and what to give instead."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from chathpc.adapters.glance import SQLITE, Glance
from chathpc.adapters.sqlite import cut_off

_SAMPLES = "chathpc measure -- ./app"
_NO_PROFILE = "Give the file or folder that a profiler wrote; supported formats: chathpc adapters list"
_PARAMETERS = "It holds measurements of several runs, for chathpc scale; else give the profile of one run."

#: First bytes → what the file is, what to do.
_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (
        b"HPCRUN-profile",
        "the measurements of one thread by hpcrun",
        "Run hpcprof on their folder, and give the database.",
    ),
    (b"HPCRUN-trace", "the trace of one thread by hpcrun", "Run hpcprof on its folder, and give the database."),
    (
        b"HPCTOOLKIT",
        "one file of an HPCToolkit database",
        "Give the folder that contains meta.db, profile.db and cct.db.",
    ),
    (b"gmon", "gmon.out, what a program compiled with -pg leaves", "gprof PROGRAM gmon.out > profile.txt"),
    (b"\x89PNG", "an image", _NO_PROFILE),
    (b"\xff\xd8\xff", "an image", _NO_PROFILE),
    (b"GIF8", "an image", _NO_PROFILE),
    (b"%PDF", "a PDF document", _NO_PROFILE),
    (b"\x89HDF\r\n", "an HDF5 file", _NO_PROFILE),
    (b"PK\x03\x04", "a zip archive", "Unpack it with unzip, and give the profile in it."),
    (b"BZh", "data packed by bzip2", "Unpack it with bunzip2, and give the result."),
    (b"!<arch>\n", "a library of object files", "Give a profile of the program."),
    (b"\xca\xfe\xba\xbe", "a Java class or a program for macOS", "Give a profile of the program."),
    (
        b"RMRK",
        "compiler optimisation remarks of LLVM in binary form",
        "Write them as YAML: clang -O2 -g -fsave-optimization-record=yaml",
    ),
    (b"MZ", "a program for Windows", "Give a profile of the program."),
)
_ELF_CORE = 4
#: Machine of ELF files that NVIDIA's assembler writes (EM_CUDA in the registry of the System V ABI).
_CUDA = 190

#: Text at the beginning → what the file is, what to do. The first that is found.
_TEXT: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(r"\A(?:[ \t]*+(?:#[^\n]*+)?\n)*+[ \t]*PARAMETERS? \w.*\n(?s:.{0,4000}?)^[ \t]*(?:POINTS|DATA)\b", re.MULTILINE),
     "an experiment of Extra-P (text)", _PARAMETERS),
    (re.compile(r'\A(?:[ \t]*+(?:#[^\n]*+)?\n)*+\s*\{\s*"params"\s*:'), "an experiment of Extra-P (JSON lines)", _PARAMETERS),
    (re.compile(r'\A\s*\{\s*"parameters"\s*:\s*\{[^{}]*\}\s*;'), "an experiment of Extra-P (Talpas)",
     "Extra-P's other formats can be read by chathpc scale; else give the profile of one run."),
    (re.compile(r'\A\s*\{\s*"parameters"\s*:\s*\[(?s:.{0,20000}?)"(?:measurements|callpaths)"\s*:'),
     "an experiment of Extra-P (JSON)", _PARAMETERS),
    (re.compile(r"^[ \t]*Performance counter stats for ", re.MULTILINE),
     "human-readable output of perf stat", "Use machine-readable output: perf stat -x, -o counters.csv ./app"),
    (re.compile(r"^# Overhead +Command|^# To display the perf\.data header info", re.MULTILINE),
     "human-readable output of perf report", "Give perf.data, from which it was made."),
    (re.compile(r"\A[0-9a-f]{6,16} [0-9a-f]{1,8} \S"), "a list of functions that were compiled while a program ran (perf-PID.map)",
     "Give perf.data: perf finds the list where it was written."),
    (re.compile(r"\A# darshan log version:"), "what darshan-parser prints", "Give the log itself, which ends in .darshan."),
    (re.compile(r"\A\d{1,9} dynamic_trace_events"), "the events of a TAU trace",
     "chathpc reads profiles of TAU: run with TAU_PROFILE=1, and give the folder with profile.0.0.0."),
    (re.compile(r"\A==\d+== (?:Memcheck|Helgrind|DRD|Massif|Callgrind|Cachegrind)"),
     "the messages of Valgrind", "Give callgrind.out.PID, which valgrind --tool=callgrind ./app writes."),
    (re.compile(r"\Adesc: .*\ncmd: .*\ntime_unit:"), "a heap history of Valgrind's massif",
     "chathpc reads times: valgrind --tool=callgrind ./app, or " + _SAMPLES),
    (re.compile(r"<HPCToolkitStructure"), "the program structure that hpcstruct wrote",
     "Give it to hpcprof with the measurements, and the database to chathpc."),
    (re.compile(r"\A\s*<(?:!DOCTYPE html|html)\b", re.IGNORECASE), "a web page", _NO_PROFILE),
    (re.compile(r"\A\s*(?:<\?xml[^>]*>\s*)?(?:<!DOCTYPE svg[^>]*>\s*)?(?:<!--(?s:.{0,2000}?)-->\s*)?<svg\b", re.IGNORECASE),
     "a picture (SVG; perhaps a flame graph)", "Give the stacks that it was drawn from: the output of stackcollapse."),
    (re.compile(r"\A#!.*\bpython|^(?:import \w+|from [\w.]+ import |def \w+\(.*\).*:$)", re.MULTILINE),
     "Python source code", "python -m cProfile -o profile.pstats PROGRAM.py, and give profile.pstats."),
    (re.compile(r"^#SBATCH |^#PBS |^#BSUB |^#\$ -", re.MULTILINE), "a job script", "Profile what it runs: " + _SAMPLES),
    (re.compile(r"^[ \t]*#\s*include\s*[<\"]|^[ \t]*(?:int|void)\s+main\s*\(|^[ \t]*__global__\s", re.MULTILINE),
     "source code (C, C++ or CUDA)", "Compile it with -g -O2, and profile it: " + _SAMPLES),
    (re.compile(r"^[ \t]*(?:program|module|subroutine)\s+\w+\s*(?:\(.*\)\s*)?$(?s:.{0,2000}?)^[ \t]*(?:use |implicit none|integer|real|end\b)",
                re.MULTILINE | re.IGNORECASE),
     "source code (Fortran)", "Compile it with -g -O2, and profile it: " + _SAMPLES),
    (re.compile(r"\A#!"), "a script", "Profile what it runs: " + _SAMPLES),
)  # fmt: skip
#: Columns by which tables of kernels for roofline models and predictions are known.
_KERNEL_COLUMNS = frozenset({"kernel name", "kernelname", "kernel_name"})
_MEASURED = frozenset({"dpai", "spai", "traffic", "isbb", "label", "intai", "flops", "sp_flop", "dp_flop"})
#: Text beyond this is not searched.
_SEARCHED = 32 << 10


def foreign(glance: Glance) -> tuple[str, str] | None:
    """What a file is that no adapter reads (a phrase: "a job script"), and what to do (a sentence); None if that is not known."""
    if not glance.is_file:
        return None
    content = glance.content
    if not content:
        return ("an empty file", _NO_PROFILE) if not glance.head else None
    return _by_bytes(content, glance) or _by_text(glance) or _by_table(glance)


def _by_bytes(content: bytes, glance: Glance) -> tuple[str, str] | None:
    for magic, what, how in _MAGIC:
        if content.startswith(magic):
            return what, how
    if content.startswith(SQLITE):
        cut = cut_off(content, glance.path.stat().st_size)
        return f"an SQLite database{f' {cut}' if cut else ''}", "Copy or export it again." if cut else _NO_PROFILE
    if content.startswith(b"\x7fELF") and len(content) > 20:
        if int.from_bytes(content[18:20], "little") == _CUDA:
            return (
                "machine code for an NVIDIA GPU (a cubin)",
                "Disassemble it (nvdisasm -c -gi -hex FILE > FILE.sass), and pass the text together with a profile of its kernels.",
            )
        kind = int.from_bytes(content[16:18], "little" if content[5] != 2 else "big")
        if kind == _ELF_CORE:
            return (
                "a core file: the memory of a program that crashed",
                "gdb PROGRAM CORE shows where it crashed; chathpc reads profiles.",
            )
        return "a program, library or object file", "Profile it, and give the result: " + _SAMPLES
    if content[257:262] == b"ustar":
        return "a tar archive", "Unpack it with tar, and give the profile in it."
    if re.match(rb"\x80[\x02-\x05][\x95}\]cK(X]", content):
        return (
            "a Python pickle",
            "Pickles can run code and are not read; write the data with the profiler's own exporter.",
        )
    return None


def _by_text(glance: Glance) -> tuple[str, str] | None:
    text = glance.text[:_SEARCHED]
    if "\0" in text:
        return None
    for pattern, what, how in _TEXT:
        if pattern.search(text):
            return what, how
    return None


def _by_table(glance: Glance) -> tuple[str, str] | None:
    """Tables and JSON of no known tool, plain text, and bytes that say nothing."""
    text = glance.text[:_SEARCHED]
    if "\0" in text or text.count("\N{REPLACEMENT CHARACTER}") > len(text) / 50:
        return None
    if text.lstrip()[:1] in ("{", "["):
        return "JSON from no known profiler", _NO_PROFILE
    columns = _columns(text)
    if columns is None:
        return "text from no known profiler", _NO_PROFILE
    names = {column.strip().lower() for column in columns}
    if names & _KERNEL_COLUMNS and names & _MEASURED:
        how = "Give a report of Nsight Compute on one of them."
        return "a data set about kernels of many programs", how
    return "a table (CSV) from no known profiler", _NO_PROFILE


def _columns(text: str) -> list[str] | None:
    """The columns of a table with commas; None if the text is none."""
    rows = text.splitlines()[:20]
    try:
        table = [row for row in csv.reader(rows[:-1] if len(rows) > 2 else rows) if row]
    except csv.Error:
        return None
    if len(table) < 2 or len(table[0]) < 2:
        return None
    same = sum(len(row) == len(table[0]) for row in table)
    return table[0] if same >= 0.8 * len(table) else None


# -- files and folders that are a part of something which is read as a whole: what that is, and where -------------

#: Folders above a part that are looked at.
_ABOVE = 4


@dataclass(frozen=True, slots=True)
class _Whole:
    """What a person calls it, the adapter that reads its folder, paths of its parts in the folder, and the file to give, if not the folder.

    `alone`: names that no other tool gives its files, so that a part is known without the rest as well.
    """

    noun: str
    adapter: str
    parts: re.Pattern[str]
    give: str = ""
    alone: re.Pattern[str] = re.compile("(?!)")


_WHOLES = (
    _Whole("an OTF2 archive", "otf2", re.compile(r"traces(?:/.*)?|\w+\.(?:def|evt|snap|marker|thumb)|scorep\.\w+|MANIFEST\.md"), "traces.otf2",
           re.compile(r"traces\.(?:def|marker)|\d{1,18}\.(?:def|evt|snap)")),
    _Whole("a Score-P measurement", "score-p", re.compile(r"traces(?:/.*)?|(?:scorep|scout|trace|remap)\.\w+|MANIFEST\.md")),
    _Whole("an HPCToolkit database", "hpctoolkit", re.compile(r"(?:\w+\.db|FORMATS\.md|(?:metrics|src|figures)(?:/.*)?)")),
    _Whole("an HPCToolkit database", "hpctoolkit-v3", re.compile(r"experiment.*|.*\.(?:metric-db|mdb|mt|megatrace|db)|src(?:/.*)?")),
    _Whole("a TAU profile", "tau", re.compile(r"(?:MULTI__.*/)?profile\..*|(?:tautrace|events)\..*")),
    _Whole("a workload of rocprof-compute", "rocprof", re.compile(r"\w+\.(?:csv|pdf|yaml|txt)|perfmon(?:/.*)?")),
    _Whole("a Neutrino trace", "neutrino", re.compile(r"\w+\.(?:toml|log)|(?:result|kernel)(?:/.*)?")),
)  # fmt: skip


def whole_of(path: Path) -> tuple[str, str] | None:
    """What holds `path` as a part (a phrase: "a part of an OTF2 archive"), and what to do (a sentence); None if that is not known."""
    from chathpc.adapters.registry import built_in

    adapters = {adapter.name: adapter for adapter in built_in().adapters}
    place = path.absolute()
    for folder in place.parents[:_ABOVE]:
        inside = place.relative_to(folder).as_posix()
        for whole in _WHOLES:
            if whole.parts.fullmatch(inside) and adapters[whole.adapter].recognises(Glance(folder)):
                return f"a part of {whole.noun}", f"Give {_as_given(folder / whole.give, path)}."
    for whole in _WHOLES:
        if whole.alone.fullmatch(path.name):
            return (
                f"a part of {whole.noun}",
                f"Give {whole.give} of the archive, keeping all its parts in place.",
            )
    return None


def _as_given(whole: Path, path: Path) -> Path:
    """The path of the whole, from the working folder if `path` was given so."""
    return whole if path.is_absolute() or not whole.is_relative_to(Path.cwd()) else whole.relative_to(Path.cwd())
