"""What Python itself costs: arrays that are handled element by element, or hold so few that starting an operation takes longer than the
operation.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.command import COUNT_CALLS
from chathpc.diagnosis.draft import UNEXPLAINED, Draft, part_of, time_fact
from chathpc.diagnosis.fact import Form
from chathpc.diagnosis.facts import Facts, HotPlace, readable_function
from chathpc.diagnosis.source.hot import shortened
from chathpc.diagnosis.source.python import parts, script_of
from chathpc.profile import numbers
from chathpc.profile.activity import Activity
from chathpc.profile.tree import FloatArray

_NUMPY = re.compile(r"(?:^|/)numpy(?:\.libs)?/")
#: NumPy's functions that look at types and shapes, make arrays and scalars and choose a loop over elements; by their names in its C
#: source (numpy/_core/src/multiarray and umath), where the loops are called after types (DOUBLE_add) and what they do.
_STARTING = re.compile(
    r"_?PyArray(?!_(?:Sort|ArgSort|Choose|Take|CountNonzero|Where|Correlate))|PyUFunc_(?!\w+_\w+$)|ufunc_|[Nn]py_?[Ii]ter|array_|arraydescr_|"
    r"dispatcher_|gentype_|prepare_index|get_view_from|convert_(?:to_|ufunc)|resolve_|promote_|default_(?:malloc|free|realloc)|npy_alloc_cache|npy_free_cache|"
    r"try_trivial|execute_|validate_casting|(?:\w+_)?arrtype_|generic_wrapped|npy_(?:clear|get)_floatstatus|simple_legacy|\w+_scalar|scalar_"
)


#: What helps where NumPy works on whole arrays already.
_ARRAYS = (
    "NumPy works on whole arrays here. Avoid temporary arrays (out=, in-place operators), fuse operations in one pass with numexpr or "
    "@numba.njit(parallel=True), or hold the data in a smaller type.",
)


@dataclass(frozen=True, slots=True)
class _Numpy:
    """Time by node: in NumPy, of that in functions that begin operations, in the program's own frames of Python, and in NumPy with what
    it calls.
    """

    whole: FloatArray
    starting: FloatArray
    own: FloatArray
    below: FloatArray


def _is_numpy(path: str) -> bool:
    return _NUMPY.search(path) is not None


@lru_cache(maxsize=4)
def _numpy(facts: Facts) -> _Numpy | None:
    """Where NumPy's time goes; None for a profile without NumPy."""
    tree = facts.profile.tree
    of_numpy = tree.where_file(_is_numpy) | tree.where_module(_is_numpy)
    in_python = tree.where_file(lambda path: path.endswith(".py"))
    # Without NumPy's native functions the time of those in Python is that of all below them.
    if not (of_numpy & ~in_python).any():
        return None
    starting = tree.where_name(lambda name: _STARTING.match(name) is not None)
    own = in_python & (facts.activities.kind == Activity.COMPUTE) & (facts.activities.call < 0)
    below = tree.nearest(of_numpy) >= 0
    return _Numpy(
        *(np.where(each, facts.time, 0.0) for each in (of_numpy, of_numpy & (starting | in_python), own, below))
    )


#: NumPy's loops that copy between memory with and without gaps, by their names in its C source (lowlevel_strided_loops).
_STRIDED = re.compile(r"_\w*strided_to|_\w*to_strided")
_LAYOUT = (
    "NumPy copies from or to memory with gaps here, as it does where the last indices of a slice are fixed (F[:, :, i]): give the array the fixed index "
    "first (F[i]), so that each slice is contiguous.",
)


def array_advice(facts: Facts, label: int, cost: float) -> tuple[str, ...]:
    """What helps a function of Python for which NumPy works on whole arrays most of its time; nothing for another."""
    found = _numpy(facts)
    if found is None:
        return ()
    on_elements = facts.in_function(label, found.below - found.starting)
    if float(on_elements.sum()) < common()["most"].value * cost:
        return ()
    strided = on_elements[facts.profile.tree.where_name(lambda name: _STRIDED.match(name) is not None)]
    return (*(_LAYOUT if float(strided.sum()) >= common()["worth_a_line"].value * cost else ()), *_ARRAYS)


_ONE_CALL = (
    "{name} spends the time inside the library, and nothing around the call can save it. Ask it for less (fewer items, an approximation, a "
    "coarser tolerance), keep its result where the same is asked again, or take a faster routine or backend: the library's documentation names them.",
)


def line_advice(facts: Facts, hot: HotPlace) -> tuple[str, ...]:
    """What helps at a hot line of Python that is one call outside of all loops; nothing at another."""
    tree = facts.profile.tree
    file, line = (tree.files[tree.file[hot.line]], int(tree.line[hot.line])) if hot.line >= 0 else ("", 0)
    script = script_of(facts.profile, file)
    if script is None or script.is_repeated(line):
        return ()
    calls = [each for statement in script.at(line) for each in parts(statement) if isinstance(each, ast.Call)]
    own = facts.time[facts.at_line(hot.line) & (facts.activities.call < 0)].sum()
    if not calls or float(own) >= common()["most"].value * hot.at_line:
        return ()
    name = shortened(ast.unparse(max(calls, key=lambda each: len(ast.dump(each))).func), 60)
    return tuple(each.format(name=name) for each in _ONE_CALL)


def elementwise(facts: Facts) -> Iterable[Draft]:
    """Functions for which NumPy spends most of its time on beginning operations, so that each has one element or few."""
    found, entry = _numpy(facts), cause("not-vectorised")
    if found is None:
        return
    starting, of_numpy, own, of_all = (
        dict(zip(*(column.tolist() for column in facts.by_function(each)), strict=True))
        for each in (found.starting, found.whole, found.own, facts.time)
    )
    for label, started in starting.items():
        numpy, whole = of_numpy[label], of_all[label]
        cost, most = started + own.get(label, 0.0), common()["most"].value
        if not facts.above(cost / facts.total, entry.threshold("min_share")):
            continue
        hot = facts.hot_place(found.starting + found.own, label)
        if hot is None or cost < most * whole or started < max(most * numpy, entry.threshold("starting") * whole):
            continue
        name = readable_function(facts.label_names[label])
        yield Draft(
            cause=entry.id,
            where=hot.place,
            title="Python handles the elements of arrays one by one",
            summary=f"{name} takes {numbers.percent(cost / facts.total)} of {facts.whole} for Python's own steps and for NumPy to begin "
            "operations on one or few elements each.",
            cost=cost,
            share=cost / facts.total,
            headroom=entry.threshold("interpreted"),
            advice=tuple(each.do for each in entry.advice if "python" in each.applies),
            own_advice=True,
            next_measurement=COUNT_CALLS,
            evidence=(
                time_fact(
                    facts, cost, f"Python's steps and NumPy's beginnings in {name}",
                    "time in frames of Python, and in NumPy's functions that choose types, shapes and loops", form=Form.MANY, where=hot.place,
                ),
                time_fact(
                    facts, started, "functions that choose types, shapes and loops, or make arrays,", "time in NumPy's functions by their names",
                    of=part_of(facts, numpy, f"NumPy's work for {name}"), form=Form.MANY, where=hot.place,
                ),
            ),
            signs=2,
            replaces=UNEXPLAINED if cost >= most * facts.total else (),
        )  # fmt: skip


RULES = (elementwise,)
