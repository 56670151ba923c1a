"""The grammars of tree-sitter by the ending of a file, loaded when the first such file is parsed."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Parser

#: Ending of a file → module of its grammar. Headers and C are read as C++ where that does no harm: it knows more.
_GRAMMARS = {
    "c": "tree_sitter_c",
    **dict.fromkeys(("cc", "cpp", "cxx", "c++", "C", "h", "hh", "hpp", "hxx", "ipp", "tpp", "inl"), "tree_sitter_cpp"),
    **dict.fromkeys(("cu", "cuh", "hip"), "tree_sitter_cuda"),
    **dict.fromkeys(("f90", "F90", "f95", "F95", "f03", "F03", "f08", "F08"), "tree_sitter_fortran"),
}
#: Distributions that this needs, and the files that cannot be read without each: for `chathpc doctor`.
DISTRIBUTIONS = {
    "tree-sitter": "any language",
    "tree-sitter-c": "C",
    "tree-sitter-cpp": "C++",
    "tree-sitter-cuda": "CUDA and HIP",
    "tree-sitter-fortran": "Fortran",
}


def grammar_of(file: str) -> str | None:
    """Name of the grammar's module for a file; None for languages without one (fixed-form Fortran among them)."""
    _, dot, ending = file.rsplit("/", 1)[-1].rpartition(".")
    return _GRAMMARS.get(ending) if dot else None


def is_fortran(file: str) -> bool:
    """True for a file of free-form Fortran."""
    return grammar_of(file) == "tree_sitter_fortran"


@cache
def parser(grammar: str) -> Parser | None:
    """A parser for the grammar; None where it or tree-sitter is absent, or where the two do not fit together."""
    try:
        from tree_sitter import Language, Parser

        return Parser(Language(importlib.import_module(grammar).language()))
    except (ImportError, ValueError, TypeError):
        return None
