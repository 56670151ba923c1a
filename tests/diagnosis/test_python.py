"""What Python itself costs, told from where NumPy's time goes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import chathpc
from chathpc.report import Report
from tests.diagnosis.parts import causes, diagnosed, finding, source
from tests.profile.build import build, call, line

NUMPY = "/opt/lib/python3.11/site-packages/numpy/_core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so"
FRAMES = [
    {"name": "<module>", "file": "app.py", "line": 30},
    {"name": "step", "file": "app.py", "line": 7},
    {"name": "ufunc_generic_fastcall", "file": NUMPY},
    {"name": "DOUBLE_add_AVX2", "file": NUMPY},
    {"name": "cross", "file": "/opt/lib/python3.11/site-packages/numpy/_core/numeric.py", "line": 1700},
    {"name": "PyArray_NewFromDescr_int", "file": NUMPY},
    {"name": "0x7f7a6ff8bb75", "file": "?"},
    {"name": "defs_read", "file": "/project/h5py/defs.c", "line": 84},
    {"name": "relax", "file": "ext/relax.cpp", "line": 12},
]
OWN, UFUNC, ADD, CROSS, NEW, NAMELESS, PACKAGE, EXTENSION = (
    (0, 1),
    (0, 1, 2),
    (0, 1, 2, 3),
    (0, 1, 4),
    (0, 1, 4, 5),
    (0, 1, 2, 6),
    (0, 1, 7),
    (0, 1, 8),
)


def explained(tmp_path: Path, counts: dict[tuple[int, ...], int]) -> Report:
    """The report on so many samples of each stack, a hundred a second, as chathpc writes what py-spy took."""
    stacks = [list(stack) for stack, count in counts.items() for _ in range(count)]
    profile = {
        "type": "sampled", "name": "thread 1", "unit": "seconds", "startValue": 0, "endValue": len(stacks) / 100, "samples": stacks,
        "weights": [0.01] * len(stacks),
    }  # fmt: skip
    document = {
        "$schema": "https://www.speedscope.app/file-format-schema.json", "exporter": "py-spy@0.4.1", "name": "app", "clock": "wall",
        "shared": {"frames": FRAMES}, "profiles": [profile],
    }  # fmt: skip
    file = tmp_path / "app.speedscope.json"
    file.write_text(json.dumps(document))
    return chathpc.explain(file)


def test_arrays_of_few_elements_are_told_by_numpys_time_outside_its_loops(tmp_path: Path) -> None:
    report = explained(tmp_path, {OWN: 200, UFUNC: 300, CROSS: 250, NEW: 150, ADD: 100})
    found = report.findings[0]
    assert (report.verdict, found.cause, found.where.function) == ("bottleneck", "not-vectorised", "step")
    assert found.seconds == pytest.approx(9.0)
    known = {each.id: each for each in report.evidence}
    assert [known[each].value for each in found.evidence] == pytest.approx([9.0, 7.0])
    assert "8.00 s of NumPy's work for step" in known[found.evidence[1]].statement
    assert all("array" in each for each in found.advice)
    assert "cProfile" in (found.next_measurement or "")


@pytest.mark.parametrize(
    "counts",
    [
        {OWN: 50, UFUNC: 50, ADD: 900},  # whole arrays
        {OWN: 900, UFUNC: 50, ADD: 50},  # hardly any NumPy
        {OWN: 300, UFUNC: 300, ADD: 400},  # half of NumPy's time is for elements
        {OWN: 1000},
    ],
)
def test_whole_arrays_and_python_without_numpy_are_not_blamed(
    tmp_path: Path, counts: dict[tuple[int, ...], int]
) -> None:
    assert "not-vectorised" not in [found.cause for found in explained(tmp_path, counts).findings]


def test_who_works_on_whole_arrays_is_not_told_to_do_so(tmp_path: Path) -> None:
    arrays, loops = ({OWN: 50, UFUNC: 50, ADD: 500, NAMELESS: 400}, {OWN: 900, ADD: 100})
    told = [explained(tmp_path, counts).findings[0] for counts in (arrays, loops)]
    assert [found.cause for found in told] == ["hot-compute", "hot-compute"]
    assert ["works on whole arrays here" in found.advice[0] for found in told] == [True, False]


def test_an_inner_function_of_a_package_is_not_named_as_what_is_called(tmp_path: Path) -> None:
    found = explained(tmp_path, {OWN: 50, ADD: 900}).findings[0]
    assert (found.cause, found.where.line) == ("hot-compute", 7)
    assert [row.name for row in explained(tmp_path, {NAMELESS: 900, OWN: 100}).flat] == ["libraries in step", "step"]


def test_native_code_that_was_built_elsewhere_is_a_packages_and_the_programs_own_is_not(tmp_path: Path) -> None:
    for stack, function in ((PACKAGE, "step"), (EXTENSION, "relax")):
        assert explained(tmp_path, {stack: 900, OWN: 100}).findings[0].where.function == function


def of_library(name: str, at: str):
    return build(
        call("<module>", line("app.py:3", call(name, at=at, time=6.0)), line("app.py:9", time=4.0), at="app.py:1")
    )


def test_an_import_is_a_cost_of_the_start_and_no_function_that_is_called() -> None:
    found = finding(diagnosed(of_library("_find_and_load", "<frozen importlib._bootstrap>:1176")), "library-call")
    assert (found.title, found.where.line) == ("Imports have 60.0 % of the time", 3)
    assert found.summary == "Importing modules at app.py:3 has 60.0 % of the time, a cost of each start."
    assert all("numpy" not in advice for advice in found.advice)
    assert found.speedup_if_free == pytest.approx(
        1 / 0.4
    )  # 60 % are the imports', not what the module's code calls besides
    assert (found.next_measurement or "").startswith("python -X importtime app.py ")


@pytest.mark.parametrize(
    ("file", "of_arrays"), [("json/__init__.py", False), ("site-packages/scipy/linalg/_basic.py", True)]
)
def test_advice_for_a_call_is_for_the_library_that_is_called(file: str, of_arrays: bool) -> None:
    found = finding(diagnosed(of_library("__call__", f"/usr/lib/python3.11/{file}:293")), "library-call")
    assert found.summary.startswith("__call__, called at app.py:3, ")
    assert any("numpy.exp" in advice for advice in found.advice) == of_arrays


NETWORKX = "/opt/lib/python3.11/site-packages/networkx/centrality.py:9"
ROWS = "def f(t):\n    s = 0\n    for _, r in t.iterrows():\n        s += r.a\n    return s\n"
APPLIED = "def f(t):\n    t['d'] = t.apply(g, axis=1)\n\n\n\n"
GROWN = "def f(x):\n    out = np.array([])\n    for v in x:\n        out = np.append(out, v)\n    return out\n"
LISTED = "def f(x):\n    out = []\n    for v in x:\n        out.append(cost(v))\n    return out\n"
ONCE = "def f(g):\n    return nx.betweenness(g)\n\n\n\n"
OTHERS = ("inside the library", "makes a Series of each row", "copies the whole array")


@pytest.mark.parametrize(
    ("text", "at", "said"),
    [
        (ROWS, 3, "pandas"), (ROWS, 4, "pandas"), (APPLIED, 2, "pandas"), (GROWN, 4, "copies the whole array"), (LISTED, 4, ""),
        (ONCE, 2, "nx.betweenness spends the time inside the library"), ("def f(:\n", 1, ""),
    ],
)  # fmt: skip
def test_advice_at_a_hot_line_of_python_is_for_what_it_calls(text: str, at: int, said: str) -> None:
    hot = line(f"app.py:{at}", call("f.<locals>.g", at=NETWORKX, time=9.0), time=1.0)
    profile = build(
        call("<module>", call("f", hot, at="app.py:1"), at="app.py:9"), read_source=source({"app.py": text})
    )
    (found,) = diagnosed(profile).findings
    assert said in found.advice[0]
    assert bool(said) or not any(each in advice for each in OTHERS for advice in found.advice)
    assert not said or not any("njit" in advice for advice in found.advice)


def test_a_line_that_computes_itself_is_not_told_of_a_library() -> None:
    hot = line("app.py:2", call("f.<locals>.g", at=NETWORKX, time=2.0), time=8.0)
    profile = build(
        call("<module>", call("f", hot, at="app.py:1"), at="app.py:9"), read_source=source({"app.py": ONCE})
    )
    assert not any("library" in advice for advice in diagnosed(profile).findings[0].advice)


def test_strided_copies_of_numpy_are_a_matter_of_layout(tmp_path: Path) -> None:
    FRAMES[3]["name"], name = "_aligned_contig_to_strided_size8", FRAMES[3]["name"]
    try:
        found = explained(tmp_path, {OWN: 50, UFUNC: 50, ADD: 200, NAMELESS: 700}).findings[0]
    finally:
        FRAMES[3]["name"] = name
    assert "fixed index first" in found.advice[0]
    assert "fixed index" not in explained(tmp_path, {OWN: 50, UFUNC: 50, ADD: 200, NAMELESS: 700}).findings[0].advice[0]


def test_the_top_level_code_of_imported_modules_is_importing() -> None:
    """9 s of module b below that of a, 1 s of a itself: what a script does when it is started is no import, nor what runpy starts."""
    inner = call("<module>", line("b.py:2", time=9.0), at="b.py:1")
    diagnosis = diagnosed(build(call("<module>", line("a.py:1", inner), line("a.py:5", time=1.0), at="a.py:1")))
    found = finding(diagnosis, "library-call")
    assert (found.seconds, found.share, found.title) == (9.0, 0.9, "Imports have 90.0 % of the time")
    assert "Import less" in found.advice[0]
    started = call(
        "<module>", call("run_path", inner, at="/usr/lib/python3.11/runpy.py:200"), at="/usr/bin/kernprof.py:1"
    )
    assert "library-call" not in causes(build(started))
    assert "library-call" not in causes(build(inner))


LOOKED = "def f(words):\n    seen = []\n    for w in words:\n        if w not in seen:\n            seen.append(w)\n    return seen\n"


@pytest.mark.parametrize("lines", [True, False])
def test_a_search_in_a_list_is_told_with_its_time_and_what_helps(lines: bool) -> None:
    inner = [line("app.py:4", time=8.0), line("app.py:5", time=1.0)] if lines else []
    held = call("f", *inner, at="app.py:1") if lines else call("f", at="app.py:1", time=9.0)
    profile = build(call("<module>", held, at="app.py:9", time=1.0), read_source=source({"app.py": LOOKED}))
    found = finding(diagnosed(profile), "quadratic-algorithm")
    assert (found.where.function, found.where.line) == ("f", 4)
    assert found.seconds == pytest.approx(8.0 if lines else 9.0)
    assert found.advice[0].startswith("Keep the items in a set")
    assert (found.next_measurement or "").startswith("p")
    assert bool(found.against) != lines
    without = build(
        call("<module>", held, at="app.py:9", time=1.0), read_source=source({"app.py": LOOKED.replace("[]", "set()")})
    )
    assert "quadratic-algorithm" not in causes(without)


def test_several_lines_of_a_function_that_do_the_same_are_one_finding() -> None:
    text = LOOKED.replace("            seen.append(w)", "            print(seen.index(w))\n            seen.append(w)")
    held = call("f", line("app.py:4", time=5.0), line("app.py:5", time=3.0), line("app.py:6", time=1.0), at="app.py:1")
    profile = build(call("<module>", held, at="app.py:9", time=1.0), read_source=source({"app.py": text}))
    (found,) = (each for each in diagnosed(profile).findings if each.cause == "quadratic-algorithm")
    assert (found.where.line, found.seconds) == (4, pytest.approx(8.0))
    assert 3.0 in [pytest.approx(each.value) for each in diagnosed(profile).evidence if each.unit == "s"]


def test_elements_are_told_only_where_python_itself_has_the_time() -> None:
    text = "def f(p, n):\n    for i in range(n):\n        p[i] = 2 * p[i]\n"
    for own, below in ((8.0, 1.0), (1.0, 8.0)):
        inner = line("app.py:3", call("DOUBLE_multiply", at=NUMPY, time=below), time=own)
        profile = build(
            call("<module>", call("f", inner, at="app.py:1"), at="app.py:9"), read_source=source({"app.py": text})
        )
        assert ("not-vectorised" in causes(profile)) == (own > below)


def test_functions_of_numpy_in_python_begin_nothing_where_their_native_ones_are_not_told() -> None:
    """cProfile sees `solve`, with all that LAPACK does in it."""
    solve = call("solve", at="/opt/lib/python3.11/site-packages/numpy/linalg/_linalg.py:320", time=9.0)
    profile = build(call("<module>", call("march", solve, at="app.py:5", time=0.5), at="app.py:9", time=0.5))
    assert "not-vectorised" not in causes(profile)
