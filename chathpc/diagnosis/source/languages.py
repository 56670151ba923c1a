"""The grammars of tree-sitter by the language of a file, loaded when the first such file is parsed."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

from chathpc.profile.languages import Language, kind_of, language_of

if TYPE_CHECKING:
    from tree_sitter import Parser

#: Language → module of its grammar. Headers of C are read as C++, which does no harm: it knows more.
_GRAMMARS = {
    Language.C: "tree_sitter_c",
    Language.CPP: "tree_sitter_cpp",
    Language.CUDA: "tree_sitter_cuda",
    Language.HIP: "tree_sitter_cuda",
    Language.FORTRAN: "tree_sitter_fortran",
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
    """Name of the grammar's module for a file; None for languages without one."""
    kind = kind_of(file)
    if kind is None:
        return None
    return _GRAMMARS.get(kind.language if kind.unit or kind.language != Language.C else Language.CPP)


def is_fortran(file: str) -> bool:
    """True for a file of Fortran."""
    return language_of(file) == Language.FORTRAN


def is_python(file: str) -> bool:
    """True for a file of Python."""
    return language_of(file) == Language.PYTHON


@cache
def parser(grammar: str) -> Parser | None:
    """A parser for the grammar; None where it or tree-sitter is absent, or where the two do not fit together."""
    try:
        from tree_sitter import Language, Parser

        return Parser(Language(importlib.import_module(grammar).language()))
    except (ImportError, ValueError, TypeError):
        return None
