"""Languages by the ending of a source file: the one table for readers, parsers and advice."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Language(StrEnum):
    """Languages of source files, by the names that the catalogue's advice uses for them."""

    C = "c"
    CPP = "c++"
    CUDA = "cuda"
    HIP = "hip"
    FORTRAN = "fortran"
    PYTHON = "python"
    JULIA = "julia"
    RUST = "rust"


@dataclass(frozen=True, slots=True)
class SourceKind:
    """What an ending says of a file: its language, whether it is compiled by itself (no header), and for Fortran whether
    compilers take it for fixed form (GNU Fortran manual, "GNU Fortran command options").
    """

    language: Language
    unit: bool = True
    fixed_form: bool = False


_HEADER = SourceKind(Language.CPP, unit=False)
_KINDS = {
    "c": SourceKind(Language.C),
    "h": SourceKind(Language.C, unit=False),
    **dict.fromkeys(("cc", "cpp", "cxx", "c++", "cp"), SourceKind(Language.CPP)),
    **dict.fromkeys(("hh", "hpp", "hxx", "h++", "ipp", "tpp", "inl"), _HEADER),
    "cu": SourceKind(Language.CUDA),
    "cuh": SourceKind(Language.CUDA, unit=False),
    "hip": SourceKind(Language.HIP),
    **dict.fromkeys(("f90", "f95", "f03", "f08", "f18"), SourceKind(Language.FORTRAN)),
    **dict.fromkeys(("f", "for", "ftn", "f77", "fpp"), SourceKind(Language.FORTRAN, fixed_form=True)),
    "py": SourceKind(Language.PYTHON),
    "jl": SourceKind(Language.JULIA),
    "rs": SourceKind(Language.RUST),
}
#: Endings, in lower case and without the dot, of files that a compiler of C, C++, CUDA, HIP or Fortran makes an object of.
COMPILED = frozenset(
    ending
    for ending, kind in _KINDS.items()
    if kind.unit and kind.language not in (Language.PYTHON, Language.JULIA, Language.RUST)
)


def kind_of(file: str) -> SourceKind | None:
    """What the ending of a file's name says of it; None for names that end otherwise.

    Upper and lower case mean the same, but for `.C`, which is C++ (GCC manual, "Options controlling the kind of output").
    """
    _, dot, ending = file.replace("\\", "/").rsplit("/", 1)[-1].rpartition(".")
    if not dot:
        return None
    return _KINDS.get("cpp" if ending == "C" else ending.lower())


def language_of(file: str) -> Language | None:
    """The language of a file, by its name; None where that does not tell."""
    kind = kind_of(file)
    return None if kind is None else kind.language


def is_fixed_form(file: str) -> bool:
    """True for names that compilers take for fixed-form Fortran."""
    kind = kind_of(file)
    return kind is not None and kind.fixed_form
