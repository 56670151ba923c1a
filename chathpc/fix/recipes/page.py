"""The page of the documentation that lists all recipes."""

from __future__ import annotations

from chathpc.fix.recipes.recipe import Recipe
from chathpc.fix.recipes.table import GROUPS

_HEAD = """# Recipes of `chathpc fix`

Recipes change the source without a model. Each looks, at the places that the diagnosis names, for a pattern in the syntax tree, tests
whether the change is legal as far as the source shows (what is read and written, what may alias, which iterations depend
on each other, how a loop may exit), and edits only the bytes that change. What it can't prove it
leaves alone. Every change then goes through the gates of `chathpc fix` like any other.

*Exact* recipes give bit-identical results. Those that *reassociate floating point* sum in a different order; those that
*round differently* round single operations differently, by about 1e-16 of a result. Both are tried only if the project declares a
tolerance (`check: relative` or `absolute`). Compiler flags (`flags` of the project) are tried as well: `-O2` for builds
without optimisation, `-O3 -march=native` otherwise.

We keep the recipes that programs by other authors need and that take little code. 89 others were removed; the cost is listed
[with the measurements](fix-accuracy.md).

Recipes for C and C++ look at the text as written, then expand macros that are expressions, and typedefs: what they
find there is mapped back to the text, which keeps them.

What a proof rests on beyond the language's rules: all sources that may be edited are the whole program; `errno` and floating-point
exceptions are ignored; memory that a program never frees does not matter; other programs read its files only after it ends.
"""


def to_markdown() -> str:
    """All recipes as a page, by what they are for: what each does, what must hold, which causes it answers."""
    parts = [_HEAD]
    for group in GROUPS:
        parts.append(f"\n## {group.title}\n")
        parts += [_entry(one) for one in group.recipes]
    return "".join(parts)


def _entry(one: Recipe) -> str:
    return (
        f"\n### {one.name}\n\n{one.does}\n\n- **What must hold:** {one.needs}\n- **Results:** {one.semantics}\n"
        f"- **Languages:** {', '.join(_LANGUAGES[each] for each in one.languages)}\n- **Answers:** {', '.join(one.causes)}\n"
    )


_LANGUAGES = {"c": "C", "c++": "C++", "cuda": "CUDA", "fortran": "Fortran (free form)"}
