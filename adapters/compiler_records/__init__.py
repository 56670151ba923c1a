"""What compilers say they did: optimisation records and messages of GCC and LLVM, output of ptxas -v, logs of builds.

Such a file has no times. It is read as a profile without values, whose `build` holds the records; joined with a profile of the
program, they tell why a hot loop is slow.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from chathpc.adapters.adapter import Adapter, reader
from chathpc.adapters.glance import Glance

_DOCUMENT = re.compile(r"\A\ufeff?\s*--- !(?:Missed|Passed|Analysis\w{0,30}|Failure)\s*\r?\nPass:")
_RECORDS = re.compile(r'\A\s*\[\s*\{\s*(?:"format"\s*:(?s:.{0,2000}?)"generator"|"generator"\s*:)')
#: Lines by which the log of a compiler is known.
_LINE = re.compile(
    r"^[^\s:][^:\n]{0,400}:\d{1,10}:\d{1,10}: (?:(?:optimized|missed): |remark: [^\n]{1,2000} \[-Rpass|note: (?:not |loop )vectorized)"
    r"|^ptxas info\s*: (?:Compiling entry|Used \d|\d+ bytes gmem|Function properties)"
    r"|^Inlined \d+ calls, eliminated \d+ functions|^Unit growth for small function inlining"
    r"|^[^\n]{0,200}DW_AT_producer[^\n]{0,60}(?:GNU|clang)",
    re.MULTILINE,
)
#: Files of a folder, by the endings that compilers give them; what they are is told by their content.
ENDINGS = (".opt.yaml", ".opt.yml", ".opt-record.json.gz", ".opt-record.json", ".opt.yaml.gz")
_LOOKED = 48 << 10
#: Folders below the given one. CMake keeps objects of `src/solver/a.c` in CMakeFiles/app.dir/src/solver.
DEEPEST = 12
#: Files that are read, and entries of folders that are looked at, in all.
MOST_FILES, MOST_ENTRIES = 5_000, 200_000
#: Entries of a folder, and of those in it, that are glanced at.
_GLANCED = 2_000


def recognises(glance: Glance) -> bool:
    """True for optimisation records, for text with messages of compilers in it, and for a folder of records."""
    if glance.is_folder:
        found = record_files(glance.path, most=4, entries=_GLANCED)
        return any(_is_records(Glance(path).text) for path in found)
    text = glance.text
    return _is_records(text) or _is_log(text)


def record_files(folder: Path, *, most: int = MOST_FILES, entries: int = MOST_ENTRIES) -> list[Path]:
    """Files of compilers' records in a folder and those in it, by name, those of upper folders first; links to folders are not
    followed, and what cannot be read is left out.
    """
    found: list[Path] = []
    level, looked = [folder], 0
    for _ in range(DEEPEST + 1):
        below: list[Path] = []
        for each in level:
            try:
                with os.scandir(each) as inside:
                    for entry in inside:
                        looked += 1
                        if looked > entries:
                            return _by_depth(found)[:most]
                        if entry.name.endswith(ENDINGS) and entry.is_file():
                            found.append(each / entry.name)
                        elif entry.is_dir(follow_symlinks=False):
                            below.append(each / entry.name)
            except OSError:
                continue
        if not below or len(found) >= most:
            break
        level = sorted(below)
    return _by_depth(found)[:most]


def _by_depth(files: list[Path]) -> list[Path]:
    """By depth, then by name: the same files in the same order, whatever order the disk has."""
    return sorted(files, key=lambda file: (len(file.parts), file))


def _is_records(text: str) -> bool:
    return bool(_DOCUMENT.match(text) or _RECORDS.match(text))


def _is_log(text: str) -> bool:
    text = text[:_LOOKED]
    if "\0" in text or text.startswith("#!"):
        return False
    if _LINE.search(text):
        return True
    from chathpc.adapters.compiler_records.commands import unit_of

    # A log with nothing but command lines: at least half of its first lines compile something.
    rows = [row for row in text.splitlines()[:40] if row.strip()]
    return bool(rows) and sum(unit_of(row) is not None for row in rows) * 2 >= len(rows)


read = reader("chathpc.adapters.compiler_records.profile")
ADAPTER = Adapter(
    name="compiler-records",
    reads="what compilers did: GCC's -fopt-info and .opt-record.json.gz, Clang's -Rpass and .opt.yaml, ptxas -v, build logs",
    recognises=recognises,
    read=read,
    order=70,
)
